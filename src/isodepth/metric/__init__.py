"""Metrics with their settings, and their results: comparisons, gradients and region tables."""
