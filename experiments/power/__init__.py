"""Level and power of two-sample tests, with clean and with contaminated rows."""
