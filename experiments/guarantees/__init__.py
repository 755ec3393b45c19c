"""Attacks on the guarantees of monitors, and of rare events of data in chunks."""
