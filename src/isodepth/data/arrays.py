"""What a user hands over, as an array of finite floats."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth.errors import InvalidInputError, NotNumbersError

# Rows are scanned for non-finite values a block at a time, so that a memory map of any size
# never costs more than this many booleans.
_SCAN_ELEMENTS = 1 << 20
#: Columns are named in a message until there are this many.
FEW = 5


def to_array(X: Any, name: str) -> np.ndarray:
    """What NumPy makes of `X`; what it cannot take is refused with what to do instead."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InvalidInputError(
            f"{name} is a masked array with {int(np.ma.count_masked(X))} masked entries; drop or "
            "impute them first"
        )
    if getattr(type(X), "reads_in_chunks", False):
        raise InvalidInputError(
            f"{name} is read in chunks ({X!r:.80}), and here all rows are needed at once; give an "
            "array of some of them, or use distance, compare, Metric.table, tables, pairwise or "
            "DepthMonitor, which take sources"
        )
    if hasattr(X, "toarray") and not isinstance(X, np.ndarray):
        raise InvalidInputError(f"{name} is sparse ({type(X).__name__}); pass {name}.toarray()")
    try:
        return np.asarray(X)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInputError(
            f"{name} must hold numbers, got {describe(X)} that NumPy cannot read as an array "
            f"({' '.join(str(error).split())})"
        ) from None


def to_float(array: np.ndarray, name: str, dtype: str | None) -> np.ndarray:
    """Real numbers as float32 or float64; None keeps float32 and makes the rest float64."""
    if array.dtype == object:
        array = _numbers_of_objects(array, name)
    if array.dtype.kind == "c":
        raise InvalidInputError(
            f"Complex data not supported: {name} must hold real numbers, got dtype {array.dtype}; "
            f"choose a part, such as {name}.real"
        )
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{name} must hold real numbers (any float or integer dtype), got dtype "
            f"{array.dtype}; convert it with {name}.astype(float) after dropping or encoding what "
            "is not a number"
        )
    if dtype is None:
        dtype = "float32" if array.dtype == np.float32 else "float64"
    if array.dtype == dtype and array.dtype.isnative:
        return array
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def _numbers_of_objects(array: np.ndarray, name: str) -> np.ndarray:
    """Objects as floats, where every one of them is a real number: texts are not."""
    for place, value in np.ndenumerate(array):
        if not isinstance(value, numbers.Real):
            try:
                reason = f"a {type(value).__name__} is not taken for one: {float(value)!r}"
            except (TypeError, ValueError) as error:
                reason = str(error)
            raise NotNumbersError(
                f"{name} must hold real numbers, got dtype object with {value!r} at row "
                f"{place[0]}, column {place[1]} ({reason}); convert it with {name}.astype(float) "
                "after dropping or encoding what is not a number"
            )
    return array.astype(np.float64)


def check_finite(
    points: np.ndarray,
    name: str,
    any_size: bool,
    columns: tuple[str, ...] | None = None,
    hint: str = "",
    allow_nan: bool = False,
    first_row: int = 0,
) -> None:
    """Raise for NaN, infinity, and numbers so large that projections or their gaps overflow.

    Messages count rows from `first_row` on.
    """
    rows = max(1, _SCAN_ELEMENTS // points.shape[1])
    most = float(np.finfo(points.dtype).max)
    limit = most if any_size else most / (4.0 * math.sqrt(points.shape[1]))
    counts, largest, first, infinite = np.zeros(points.shape[1], np.int64), 0.0, None, False
    for start in range(0, len(points), rows):
        some = points[start : start + rows]
        # A comparison with NaN is false, and an extreme of numbers with NaN among them is NaN.
        if some.max() <= limit and some.min() >= -limit:
            continue
        sizes = np.abs(some)
        bad = np.isinf(sizes) if allow_nan else ~np.isfinite(sizes)
        infinite = infinite or bool(np.isinf(sizes).any())
        counts += bad.sum(axis=0)
        largest = max(largest, float(sizes[np.isfinite(sizes)].max(initial=0.0)))
        if first is None and bad.any():
            row, column = np.unravel_index(int(bad.argmax()), bad.shape)
            first = (start + int(row), int(column))
    if first is not None:
        labels = columns or column_labels(points.shape[1])
        at = labels[first[1]] if columns is None else f"column {labels[first[1]]!r}"
        what = "infinite" if allow_nan else "NaN or infinite"
        advice = f"drop or impute them first{hint}"
        if infinite:  # leaving out rows with missing values would not help
            advice = "some are infinite, which is not missing: drop or correct them first"
        raise InvalidInputError(
            f"{name} contains {int(counts.sum())} {what} value(s) (as {points.dtype}), in "
            f"{named_counts(zip(labels, counts.tolist(), strict=True))}, the first at row "
            f"{first_row + first[0]}, {at}; {advice}"
        )
    if largest > limit:
        other = ", or use float64" if points.dtype == np.float32 else ""
        raise InvalidInputError(
            f"{name} contains values up to {largest:.3g}, with which distances overflow in "
            f"{points.dtype} (they must not exceed {limit:.3g} with {points.shape[1]} column(s)); "
            f"divide the data by a constant{other}"
        )


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


def describe(value: Any) -> str:
    """What was received, in a few words."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"{type(value).__name__}"
