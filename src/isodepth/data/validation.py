"""Every check of user input, once: what was received, and how to fix it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from isodepth.errors import InvalidInputError, InvalidOptionError

# Rows are scanned for non-finite values a block at a time, so that a memory map of any size
# never costs more than this many booleans.
_SCAN_ELEMENTS = 1 << 20


def check_points(
    X: Any, name: str = "X", dtype: str | None = None, *, any_size: bool = False
) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Turn what a user calls a sample into a finite float matrix and its column names.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
    name : str
        How to call `X` in error messages.
    dtype : {"float32", "float64"} or None
        None keeps float32 and turns everything else into float64.
    any_size : bool
        Whether values may be so large that their projections overflow.

    Returns
    -------
    points : ndarray of shape (n, d), float32 or float64
        A view of `X` where possible.
    columns : tuple of str, or None when `X` carries no names
    """
    array, columns = _to_array(X, name)
    if array.ndim != 2:
        raise InvalidInputError(
            f"{name} must be a table of shape (n points, d columns), got {array.ndim} "
            f"dimension(s) with shape {array.shape}; use {name}.reshape(-1, 1) for n numbers on "
            f"a line or {name}.reshape(1, -1) for a single point"
        )
    if 0 in array.shape:
        raise InvalidInputError(
            f"{name} is empty: got shape {array.shape}; a sample needs at least one row and one "
            "column"
        )
    points = _to_float(array, name, dtype)
    _check_finite(points, name, any_size)
    return points, columns


def check_pair(
    X: Any, Y: Any, dtype: str | None = None
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...] | None]:
    """Check two samples that are to be compared; both come back with one dtype."""
    x, x_columns = check_points(X, "X", dtype)
    y, y_columns = check_points(Y, "Y", dtype)
    check_same_width(x.shape[1], y.shape[1])
    if x.dtype != y.dtype:
        x, y = x.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
    return x, y, check_same_columns(x_columns, y_columns)


def check_same_width(x_width: int, y_width: int, first: str = "X", second: str = "Y") -> None:
    """Two tables can only be compared column by column."""
    if x_width != y_width:
        raise InvalidInputError(
            f"{first} and {second} must have the same number of columns, got {x_width} in "
            f"{first} and {y_width} in {second}"
        )


def check_same_columns(
    x_columns: tuple[str, ...] | None,
    y_columns: tuple[str, ...] | None,
    first: str = "X",
    second: str = "Y",
) -> tuple[str, ...] | None:
    """The names that the columns of both samples have; None where neither has any."""
    if x_columns is not None and y_columns is not None and x_columns != y_columns:
        raise InvalidInputError(
            f"{first} and {second} name their columns differently: {list(x_columns)} and "
            f"{list(y_columns)}; select the same columns in the same order, or pass plain arrays"
        )
    return x_columns if x_columns is not None else y_columns


def check_weights(weights: Any, n: int, name: str = "weights") -> np.ndarray | None:
    """Check the weights of one sample; None stands for equal weights.

    Returns
    -------
    weights : ndarray of shape (n,), float64, not normalised, or None
    """
    if weights is None:
        return None
    try:
        array = np.asarray(weights)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"dtype {array.dtype}")
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{name} must be real numbers, one for each row, got {_describe(weights)} ({error})"
        ) from None
    if array.shape != (n,):
        raise InvalidInputError(
            f"{name} must hold one number for each of the {n} rows, got shape {array.shape}"
        )
    bad = ~np.isfinite(array)
    if bad.any():
        raise InvalidInputError(
            f"{name} must be finite, got {int(bad.sum())} non-finite value(s), the first at "
            f"position {int(bad.argmax())}; drop these rows or give them weight 0"
        )
    if (array < 0).any():
        raise InvalidInputError(
            f"{name} must not be negative, got {array.min():g} at position {int(array.argmin())}"
        )
    if not (array > 0).any():
        raise InvalidInputError(f"{name} are all zero; at least one row needs a positive weight")
    return array


def split_weights(weights: Any) -> tuple[Any, Any]:
    """Take `weights=(wx, wy)` apart; either of the two may be None."""
    if weights is None:
        return None, None
    if isinstance(weights, np.ndarray) or not isinstance(weights, Iterable):
        raise InvalidInputError(
            f"weights must be a pair (weights of X, weights of Y), got {_describe(weights)}; "
            "either of the two may be None"
        )
    pair = tuple(weights)
    if len(pair) != 2 or all(isinstance(w, numbers.Number) for w in pair):
        raise InvalidInputError(
            "weights must be a pair (weights of X, weights of Y), got a sequence of length "
            f"{len(pair)}; either of the two may be None"
        )
    return pair


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """Check that `value` is one of a few words."""
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        raise InvalidOptionError(f"{name} must be one of {', '.join(names)}; got {value!r}")
    return value


def check_number(
    value: Any,
    name: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    low_open: bool = False,
    high_open: bool = False,
) -> float:
    """Check that `value` is a real number in an interval."""
    interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high_open else ']'}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InvalidOptionError(f"{name} must be a number in {interval}, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise InvalidOptionError(
            f"{name} must lie in {interval}, got a number too large for a float"
        ) from None
    too_low = number <= low if low_open else number < low
    too_high = number >= high if high_open else number > high
    if math.isnan(number) or too_low or too_high:
        raise InvalidOptionError(f"{name} must lie in {interval}, got {value!r}")
    return number


def check_boolean(value: Any, name: str) -> bool:
    """Check that `value` is True or False, and not something that merely counts as one."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidOptionError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_integer(value: Any, name: str, low: int, hint: str = "") -> int:
    """Check that `value` is an integer no smaller than `low`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral) or value < low:
        raise InvalidOptionError(f"{name} must be an integer >= {low}, got {value!r}{hint}")
    return int(value)


def check_levels_inside(betas: Any, name: str = "beta") -> np.ndarray:
    """Check that levels lie in [0, 1), where every region is defined."""
    try:
        array = np.asarray(betas)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(f"{name} must be a number or an array of numbers, got {betas!r}")
    array = array.astype(np.float64)
    if not ((array >= 0) & (array < 1)).all():
        raise InvalidInputError(
            f"{name} must lie in [0, 1): no region holds more than all the mass; got {betas!r}"
        )
    return array


def check_direction_rows(directions: Any, d: int | None = None) -> np.ndarray:
    """Check an explicit array of directions and scale its rows to length one."""
    rows, _ = check_points(directions, "directions", "float64", any_size=True)
    # Sums along a row round differently for other layouts of memory.
    rows = np.ascontiguousarray(rows)
    if d is not None and rows.shape[1] != d:
        raise InvalidInputError(
            f"directions must have one column for each column of the data, got {rows.shape[1]} "
            f"columns for data of width {d}"
        )
    # Dividing by the largest entry first keeps the squares from overflowing or vanishing.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise InvalidInputError(
            f"directions must not contain zero rows, got {int((largest == 0).sum())}, the first "
            f"at row {int((largest == 0).argmax())}; a zero vector points nowhere"
        )
    scaled = rows / largest
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    # Rows of length one stay what they are, bit for bit: checking twice must not change them.
    unit = np.abs(lengths * largest - 1) <= 16 * np.finfo(np.float64).eps
    return np.where(unit, rows, scaled / lengths)


def _to_array(X: Any, name: str) -> tuple[np.ndarray, tuple[str, ...] | None]:
    columns = None
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        labels = list(X.columns)
        if not all(isinstance(label, numbers.Integral) for label in labels):
            columns = tuple(str(label) for label in labels)
        frame, X = X, X.to_numpy()
        if X.dtype == object and all(_is_numeric(t) for t in frame.dtypes):
            X = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InvalidInputError(
            f"{name} is a masked array with {int(np.ma.count_masked(X))} masked entries; drop or "
            "impute them first"
        )
    if hasattr(X, "toarray") and not isinstance(X, np.ndarray):
        raise InvalidInputError(f"{name} is sparse ({type(X).__name__}); pass {name}.toarray()")
    try:
        return np.asarray(X), columns
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{name} must be a table of numbers, got {_describe(X)} that NumPy cannot read as one "
            f"({error})"
        ) from None


def _is_numeric(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "biuf"


def _to_float(array: np.ndarray, name: str, dtype: str | None) -> np.ndarray:
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


def _check_finite(points: np.ndarray, name: str, any_size: bool) -> None:
    """Raise for NaN, infinity, and numbers so large that projections or their gaps overflow."""
    rows = max(1, _SCAN_ELEMENTS // points.shape[1])
    most = float(np.finfo(points.dtype).max)
    limit = most if any_size else most / (4.0 * math.sqrt(points.shape[1]))
    count, largest, first = 0, 0.0, None
    for start in range(0, len(points), rows):
        sizes = np.abs(points[start : start + rows])
        # A comparison with NaN is false.
        if (sizes <= limit).all():
            continue
        bad = ~np.isfinite(sizes)
        count += int(bad.sum())
        largest = max(largest, float(sizes[~bad].max(initial=0.0)))
        if first is None and bad.any():
            row, column = np.unravel_index(int(bad.argmax()), bad.shape)
            first = (start + int(row), int(column))
    if first is not None:
        raise InvalidInputError(
            f"{name} contains {count} NaN or infinite value(s) (as {points.dtype}), the first at "
            f"row {first[0]}, column {first[1]}; drop or impute them first"
        )
    if largest > limit:
        other = ", or use float64" if points.dtype == np.float32 else ""
        raise InvalidInputError(
            f"{name} contains values up to {largest:.3g}, with which distances overflow in "
            f"{points.dtype} (they must not exceed {limit:.3g} with {points.shape[1]} column(s)); "
            f"divide the data by a constant{other}"
        )


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"{type(value).__name__}"
