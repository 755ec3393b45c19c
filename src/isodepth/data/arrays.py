"""What arrays and their columns are called in messages."""

from __future__ import annotations

from typing import Any

import numpy as np

# Columns are named in a message until there are this many.
_NAMED = 5


def column_labels(width: int) -> tuple[str, ...]:
    """How to call columns without names."""
    return tuple(f"column {j}" for j in range(width))


def named_counts(counts: Any) -> str:
    """The columns with missing values and how many they have, most first."""
    there = sorted((item for item in counts if item[1]), key=lambda item: -item[1])
    text = ", ".join(f"{label} ({count})" for label, count in there[:_NAMED])
    more = len(there) - _NAMED
    return f"{text} and {more} more column{'s' if more > 1 else ''}" if more > 0 else text


def describe(value: Any) -> str:
    """What was received, in a few words."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"{type(value).__name__}"
