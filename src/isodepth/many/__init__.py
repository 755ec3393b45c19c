"""Distances and tests of all pairs of many samples, region tables and scikit-learn transformers."""
