"""Distances of samples that are larger than memory and are therefore read in chunks."""
