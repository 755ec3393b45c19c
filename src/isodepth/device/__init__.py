"""Computation of depths and gaps on tensors, by torch operations or Triton kernels."""
