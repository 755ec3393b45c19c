"""Samples, weights, directions, column units, nested regions, and convex hulls."""
