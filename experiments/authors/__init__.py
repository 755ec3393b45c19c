"""Comparison with the code that the authors of the paper published."""
