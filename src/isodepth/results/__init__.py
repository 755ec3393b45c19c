"""Base classes of results, their parts, and their description in sentences."""
