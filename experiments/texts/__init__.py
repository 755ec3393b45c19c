"""Two experiments on generated text, with common metrics and tables."""
