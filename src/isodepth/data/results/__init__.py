"""Base classes of results, and values that results consist of."""
