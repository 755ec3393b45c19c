"""Kernels in Triton beside the plain operations: the same numbers in a fraction of the time."""
