"""Many samples: all pairs, stacks of tables, nearest neighbours, scikit-learn transformers."""
