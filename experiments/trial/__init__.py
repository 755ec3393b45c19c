"""A new user's trial: accidents in real tables, and a check of every printed sentence."""
