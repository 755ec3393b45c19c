"""Every check of user input, once: what was received, and how to fix it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from isodepth.data.arrays import FEW, check_finite, describe, listed, to_array, to_float
from isodepth.data.frames import clashing_columns, default_names, looks_like_frame, read_frame
from isodepth.data.matching import differing, in_order, labels_of
from isodepth.errors import InvalidInputError, InvalidOptionError


def check_points(
    X: Any,
    name: str = "X",
    dtype: str | None = None,
    *,
    any_size: bool = False,
    hint: str = "",
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
    hint : str
        What else can be done about values that are not finite.

    Returns
    -------
    points : ndarray of shape (n, d), float32 or float64
        A view of `X` where possible.
    columns : tuple of str, or None when `X` carries no names
        The labels of a frame, integers included; a frame labeled 0, ..., d - 1 has no names.
    """
    points, columns = read_points(X, name, dtype)
    check_finite(points, name, any_size, columns, hint)
    return points, columns


def read_points(X: Any, name: str, dtype: str | None) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Like `check_points`, where values may still be missing or infinite."""
    columns = None
    if looks_like_frame(X):
        X, columns = read_frame(X, name)
    array = to_array(X, name)
    if array.ndim == 1 and hasattr(X, "to_frame"):
        raise InvalidInputError(
            f"{name} must be a table of shape (n points, d columns), got a {type(X).__name__} with "
            f"{len(array)} entries; use {name}.to_frame() for numbers on a line"
        )
    if array.ndim != 2:
        raise InvalidInputError(
            f"{name} must be a table of shape (n points, d columns), got {array.ndim} "
            f"dimension(s) with shape {array.shape}; use {name}.reshape(-1, 1) for n numbers on "
            f"a line or {name}.reshape(1, -1) for a single point"
        )
    if 0 in array.shape:
        raise InvalidInputError(
            f"{name} is empty: got {array.shape[0]} row(s) and {array.shape[1]} feature(s) "
            f"(shape={array.shape}) while a minimum of 1 is required: a sample needs at least one "
            "row and one column"
        )
    return to_float(array, name, dtype), columns


def check_pair(
    X: Any, Y: Any, dtype: str | None = None, hint: str = ""
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...] | None]:
    """Check two samples that are to be compared; both come back with one dtype.

    Columns of frames are matched by name: those of Y come in the order of X.
    """
    Y = in_order(Y, labels_of(X), "Y", "X")
    x, x_columns = check_points(X, "X", dtype, hint=hint)
    y, y_columns = check_points(Y, "Y", dtype, hint=hint)
    check_same_width(x.shape[1], y.shape[1])
    if x.dtype != y.dtype:
        x, y = x.astype(np.float64, copy=False), y.astype(np.float64, copy=False)
    # A frame without names of its own is still known not to have other integers for labels.
    x_names, y_names = x_columns, y_columns
    if x_names is None and y_names is not None and _all_integers(y_names):
        x_names = default_names(X)
    elif y_names is None and x_names is not None and _all_integers(x_names):
        y_names = default_names(Y)
    check_same_columns(x_names, y_names)
    return x, y, x_columns if x_columns is not None else y_columns


def _all_integers(names: tuple[str, ...]) -> bool:
    return all(name.removeprefix("-").isdecimal() for name in names)


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
    if clashing_columns(x_columns, y_columns):
        if x_columns and y_columns and set(x_columns) != set(y_columns):
            raise differing(x_columns, y_columns, first, second)
        both = (x_columns, y_columns)
        shown = [f"[{listed([*map(repr, n)], FEW)}]" if n else "no names" for n in both]
        raise InvalidInputError(
            f"{first} and {second} name their columns differently: {shown[0]} and {shown[1]}; "
            "select the same columns in the same order, or pass plain arrays"
        )
    return x_columns if x_columns is not None else y_columns


def check_weights(weights: Any, n: int, name: str = "weights") -> np.ndarray | None:
    """Check the weights of one sample; None stands for equal weights.

    Returns
    -------
    weights : ndarray of shape (n,), float64, not normalized, or None
    """
    if weights is None:
        return None
    array = to_array(weights, name)
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{name} must be real numbers, one for each row, got {describe(weights)} "
            f"(dtype {array.dtype})"
        )
    array = array.astype(np.float64)
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
            f"weights must be a pair (weights of X, weights of Y), got {describe(weights)}; "
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
    except OverflowError:  # an integer or a fraction beyond all floats
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


def check_n_jobs(value: Any) -> int | None:
    """Check a number of threads; None stands for all cores."""
    return None if value is None else check_integer(value, "n_jobs", 1, "; None uses all cores")


def check_levels_inside(betas: Any, name: str = "beta") -> np.ndarray:
    """Check that levels lie in [0, 1), where every region is defined."""
    array = to_array(betas, name)
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{name} must be a number in [0, 1), or an array of such numbers, got {betas!r:.80}"
        )
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
            f"at row {int((largest == 0).argmax())}; a zero vector has no direction"
        )
    scaled = rows / largest
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    # Rows of length one stay what they are, bit for bit: checking twice must not change them.
    unit = np.abs(lengths * largest - 1) <= 16 * np.finfo(np.float64).eps
    return np.where(unit, rows, scaled / lengths)
