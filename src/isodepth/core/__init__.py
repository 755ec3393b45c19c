"""The nouns: samples, directions, regions, levels."""
