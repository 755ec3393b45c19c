"""The passes on a processor, compiled by numba."""
