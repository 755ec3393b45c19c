"""What arrays and their columns are called in messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Columns are named in a message until there are this many.
FEW = 5


def column_labels(width: int) -> tuple[str, ...]:
    """How to call columns without names."""
    return tuple(f"column {j}" for j in range(width))


def named_counts(counts: Any) -> str:
    """The columns with missing values and how many they have, most first."""
    there = sorted((item for item in counts if item[1]), key=lambda item: -item[1])
    return listed([f"{label} ({count})" for label, count in there], FEW)


def listed(names: Sequence[str], most: int = 20) -> str:
    """The first names of a message, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def numbered(width: int) -> list[str]:
    """What columns without names are called in options."""
    return [str(place) for place in range(width)]


def is_missing(value: Any) -> bool:
    """Whether an object stands for a missing value: None, NaN, NaT, and pandas' NA."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def describe(value: Any) -> str:
    """What was received, in a few words."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"{type(value).__name__}"
