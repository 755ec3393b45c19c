"""How well a metric agrees with people."""
