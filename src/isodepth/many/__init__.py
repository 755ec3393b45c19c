"""Many samples: distances and tests of all pairs, region tables, scikit-learn transformers."""
