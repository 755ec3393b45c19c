"""The passes on tensors, on any device: plain operations of torch, and kernels beside them."""
