"""Studies of the monitor: false alarms, delays, named columns, other detectors.

Every module runs by itself, as ``python -m experiments.monitoring.NAME``, and prints its tables.
"""
