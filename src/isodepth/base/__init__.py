"""Computations on rows that are projected on directions: by the compiled core, and on tensors."""
