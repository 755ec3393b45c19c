"""Alternatives to isodepth in the benchmarks."""
