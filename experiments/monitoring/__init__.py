"""Studies of the monitor: false alarms, delays, named columns, other detectors.

Every module is run separately, as ``python -m experiments.monitoring.NAME``, and prints its tables.
"""
