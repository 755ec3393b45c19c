"""The passes over many numbers: thin wrappers of `isodepth._core`, and what they may use."""
