"""Distances and tests for all pairs of many samples, region tables, scikit-learn transformers."""
