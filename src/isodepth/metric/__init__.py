"""Metrics: their settings and signatures, and their results, comparisons and region tables."""
