"""Kinds of columns, and conversion of values to numbers and strings."""
