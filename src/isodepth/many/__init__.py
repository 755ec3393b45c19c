"""Many samples: all pairs, stacks of tables, nearest neighbors, scikit-learn transformers."""
