"""Timing, data and machine information of the benchmarks."""
