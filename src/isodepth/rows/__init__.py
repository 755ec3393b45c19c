"""Single rows and columns of two samples: checks, suspicious rows, typical rows."""
