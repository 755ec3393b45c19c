"""Studies of the answers for real tables with known changes."""
