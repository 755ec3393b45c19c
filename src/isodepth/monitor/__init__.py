"""Batches of data against a reference: counts, windows, alarms."""
