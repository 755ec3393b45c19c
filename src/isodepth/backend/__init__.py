"""The few primitives that touch many numbers: threads, blocks and compiled loops.

The modules with compiled loops import numba, so they are imported where they are first used.
"""
