"""Strings that describe arrays in messages, numbers in arrays of objects, and hashes of rows."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from isodepth.base.messages import in_code
from isodepth.errors import ColumnWarning, InvalidInputError, NotNumbersError, warn_user

#: Integers above 2**53 may be rounded if they are converted to float64.
EXACT_INTEGERS = 2**53
# Maximum number of sets of missing columns that are examined, the most frequent first.
_MOST_PATTERNS = 20
_ODD_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio


def precision_of(values: np.ndarray) -> Literal["float32", "float64"]:
    """Return the dtype of an array of floats as a string; "float64" unless it is float32."""
    return "float32" if values.dtype == np.float32 else "float64"


def column_labels(width: int) -> tuple[str, ...]:
    """Return labels of unnamed columns for messages: "column 0", "column 1", ..."""
    return tuple(f"column {j}" for j in range(width))


def warn_of_rounding(array: np.ndarray, name: str) -> None:
    """Warn if an array has integers beyond 2**53, which may be rounded in float64."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or not array.size:
        return
    largest = max(int(array.max()), -int(array.min()))
    if largest > EXACT_INTEGERS:
        _warn_of_rounding(f"{name} contains integers up to {largest}")


def warn_of_rounded_objects(values: Iterable[Any], name: str) -> None:
    """Warn if numbers beyond 2**53, such as `decimal.Decimal`, are rounded in float64.

    `values` may contain None.
    """
    sizes = [abs(value) for value in values if value is not None]
    rounded = (v for v in sizes if v > EXACT_INTEGERS and v != float_of(v) < math.inf)
    largest = max(rounded, default=0)
    if largest:
        _warn_of_rounding(f"{name} contains numbers up to {largest}")


def _warn_of_rounding(fact: str) -> None:
    warn_user(
        f"{fact}, beyond 2**53: they are rounded, and small differences are lost; subtract a "
        "common offset first, or leave out identifiers",
        ColumnWarning,
    )


def float_of(value: Any) -> float:
    """Convert a number to a float; infinity if it is beyond the range of float64."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def row_hashes(rows: np.ndarray) -> np.ndarray:
    """Return a 64-bit hash of each row of `rows` (n, d), as uint64 (n,).

    Equal rows have equal hashes. Here missing values (NaN) are equal to each other, and -0.0 equals
    0.0.
    """
    bits = np.where(np.isnan(rows), np.nan, rows + 0.0).view(np.uint64).T.copy()
    hashes = np.zeros(len(rows), np.uint64)
    with np.errstate(over="ignore"):
        for column in bits:
            # A round of a multiplicative hash per column, so that the order of columns matters.
            hashes = (hashes ^ (column ^ (column >> np.uint64(32)))) * _ODD_FACTOR
            hashes ^= hashes >> np.uint64(29)
    return hashes


def is_duplicated(rows: np.ndarray) -> np.ndarray:
    """Return a bool array (n,): whether each row of `rows` (n, d) occurs more than once.

    The result is that of ``duplicated(keep=False)`` of pandas: missing values equal each other.

    Examples
    --------
    >>> is_duplicated(np.array([[1.0, 2.0], [1.0, np.nan], [1.0, np.nan]])).tolist()
    [False, True, True]
    """
    _, index, counts = np.unique(row_hashes(rows), return_inverse=True, return_counts=True)
    return np.asarray(counts[index] > 1)


def repeated_rows(rows: np.ndarray) -> np.ndarray:
    """Return for each row of `rows` (n, d) whether it occurs more than once, as floats (n,).

    The entry is 1.0 for repeated rows and 0.0 for rows that occur once. It is NaN for repeated rows
    with missing values if a row that is not equal to them has the same values in the columns in
    which they have values: they may then be equal only because few of their values are known. It is
    also NaN for repeated rows without any value, or with a set of missing columns that is not among
    the 20 most frequent ones.

    Examples
    --------
    >>> repeated_rows(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, np.nan], [1.0, np.nan]])).tolist()
    [1.0, 1.0, nan, nan]
    """
    _, index, counts = np.unique(row_hashes(rows), return_inverse=True, return_counts=True)
    sizes = counts[index]
    repeated = (sizes > 1).astype(np.float64)
    incomplete = np.flatnonzero((sizes > 1) & np.isnan(rows).any(axis=1))
    if not len(incomplete):
        return repeated
    repeated[incomplete] = np.nan
    patterns, pattern_of, frequencies = np.unique(
        np.isnan(rows[incomplete]), axis=0, return_inverse=True, return_counts=True
    )
    for k in np.argsort(-frequencies, kind="stable")[:_MOST_PATTERNS]:
        if patterns[k].all():
            continue
        own = incomplete[pattern_of.ravel() == k]
        _, index, counts = np.unique(
            row_hashes(rows[:, ~patterns[k]]), return_inverse=True, return_counts=True
        )
        repeated[own[counts[index[own]] == sizes[own]]] = 1.0
    return repeated


def numbers_of_objects(array: np.ndarray, name: str) -> np.ndarray:
    """Convert an array of dtype object to float64; raise an error if a value is not a number."""
    for place, value in np.ndenumerate(array):
        if not isinstance(value, numbers.Real | Decimal):
            try:
                reason = f"a {type(value).__name__} is not converted to {float(value)!r}"
            except (TypeError, ValueError) as error:
                reason = str(error)
            raise NotNumbersError(
                f"{name} must hold real numbers, got dtype object with {value!r} at row "
                f"{place[0]}, column {place[1]} ({reason}); drop or encode other columns and "
                f"convert it with {in_code(name)}.astype(float)"
            )
    try:
        return array.astype(np.float64)
    except OverflowError:
        return np.vectorize(float_of, otypes=[np.float64])(array)


class ValueFaults:
    """Values of a sample that are not allowed, collected from blocks of rows for a message.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    blocks : iterable of slice
        Blocks of rows to examine. The attributes refer to these rows only.
    allow_nan : bool
        Whether NaN is allowed.

    Attributes
    ----------
    counts : int ndarray of shape (d,)
        Number of infinite values per column, and of NaN unless NaN is allowed.
    first : (int, int) or None
        Row and column of the first of these values; None if there are none.
    nan, infinite : bool
        Whether any value is NaN, and whether any value is infinite.
    largest : float
        Maximum absolute value of all finite values.
    """

    def __init__(self, points: np.ndarray, blocks: Iterable[slice], allow_nan: bool) -> None:
        self.counts = np.zeros(points.shape[1], np.int64)
        self.first: tuple[int, int] | None = None
        self.nan, self.infinite, self.largest = False, False, 0.0
        for block in blocks:
            sizes = np.abs(points[block])
            bad = np.isinf(sizes) if allow_nan else ~np.isfinite(sizes)
            self.nan = self.nan or bool(np.isnan(sizes).any())
            self.infinite = self.infinite or bool(np.isinf(sizes).any())
            self.counts += bad.sum(axis=0)
            self.largest = max(self.largest, float(sizes[np.isfinite(sizes)].max(initial=0.0)))
            if self.first is None and bad.any():
                row, column = np.unravel_index(int(bad.argmax()), bad.shape)
                self.first = (block.start + int(row), int(column))


def shape_error(name: str, received: str) -> InvalidInputError:
    """Return the error for a sample that is not a table.

    `name` is the name of the sample, and `received` describes its shape or type.
    """
    return InvalidInputError(f"{name} must be a table of shape (n rows, d columns), got {received}")
