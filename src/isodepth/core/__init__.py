"""Basic types: samples, directions, regions, levels, weights and units of columns."""
