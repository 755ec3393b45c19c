"""Settings of a metric, their checks and signature, and its results: comparisons and tables."""
