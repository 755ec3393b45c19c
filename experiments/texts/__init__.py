"""Two experiments on generated text, with common data, metrics and tables."""
