"""Exact depths by combinatorics, with their loops."""
