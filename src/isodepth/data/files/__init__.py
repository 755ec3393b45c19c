"""File formats of tables and results."""
