"""What the two experiments on generated text share: data, metrics, tables."""
