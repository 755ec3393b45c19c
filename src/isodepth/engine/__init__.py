"""Passes over rows along directions: by the compiled core, and on tensors."""
