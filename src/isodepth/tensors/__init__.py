"""Passes over tensors on any device, as operations of torch or as Triton kernels."""
