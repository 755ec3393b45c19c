"""isodepth side by side with what users would pick instead, in one run: `python -m benchmarks`."""
