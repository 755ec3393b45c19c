"""Basic types and functions for samples, directions, regions, levels, weights and column units."""
