"""Metric: one frozen value that holds all settings, and what it makes: comparisons, tables."""
