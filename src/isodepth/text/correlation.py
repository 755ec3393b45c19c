"""Agreement of metrics with people, under its public name."""

from isodepth.text.judging.correlation import (
    BetterThan,
    as_table,
    bootstrap_interval,
    correlation,
    permutation_test,
    system_level,
    text_level,
    williams_test,
)

__all__ = [
    "BetterThan",
    "as_table",
    "bootstrap_interval",
    "correlation",
    "permutation_test",
    "system_level",
    "text_level",
    "williams_test",
]
