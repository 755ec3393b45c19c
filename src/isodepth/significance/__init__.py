"""Is the difference of two samples real: relabelings of the pooled rows."""
