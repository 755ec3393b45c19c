"""Batches of data against a reference: scores, p-values, alarms over time."""
