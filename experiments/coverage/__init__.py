"""Coverage of the lower bound for the share of changed rows, with known total variation."""
