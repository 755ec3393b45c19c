"""Triton kernels with the same results as the operations of torch."""
