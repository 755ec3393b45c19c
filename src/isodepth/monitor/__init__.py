"""Monitor a stream: compare each batch of rows with a reference, and raise alarms."""
