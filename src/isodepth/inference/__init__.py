"""Is a difference real: batches watched against a reference."""
