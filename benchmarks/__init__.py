"""Benchmarks of isodepth and its alternatives in one run: `python -m benchmarks`."""
