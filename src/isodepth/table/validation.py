"""Checks of user input; error messages have the received value, the allowed values and advice."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from copy import copy, deepcopy
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from isodepth.base.messages import Message, in_code
from isodepth.base.words import FEW, describe, listed, named_counts, value_noun
from isodepth.errors import InvalidInputError
from isodepth.table.arrays import (
    ValueFaults,
    column_labels,
    numbers_of_objects,
    shape_error,
    warn_of_rounding,
)
from isodepth.table.frames import (
    Names,
    clashing_columns,
    differing,
    frame_or_list,
    in_order,
    is_frame,
    labels_of,
    with_nan,
)
from isodepth.table.missing import MissingReport, find_missing

# Approximate number of elements per block in the search for non-finite values. Blocks limit the
# memory for memory-mapped arrays.
_SCAN_ELEMENTS = 1 << 20
#: Advice at the end of error messages about missing values.
OMIT_HINT = Message(", or drop these rows with {--nan_policy='omit'}")
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_DASK = ("dask", "dask_expr")


def is_chunked(X: Any) -> bool:
    """Return whether X is read in chunks: a source of `isodepth.scan`, or a Dask collection."""
    class_ = type(X)
    if getattr(class_, "_reads_in_chunks", False):
        return True
    return class_.__module__.partition(".")[0] in _DASK and hasattr(X, "__dask_graph__")


def refuse_chunks(X: Any, what: str) -> None:
    """Raise an error if the sample X is read in chunks.

    `what` is the name of the function or option that needs all rows, for the message.
    """
    if is_chunked(X):
        raise InvalidInputError(
            f"{what} needs all rows in memory, got {X!r:.80}; pass an array of some rows, or use "
            "distance, compare, Metric.region_table, region_tables, pairwise or Monitor"
        )


def is_tensor(X: Any) -> bool:
    """Return whether an object is a torch tensor; torch need not be installed."""
    return not isinstance(X, np.ndarray) and any(
        class_.__name__ == "Tensor" and class_.__module__ == "torch" for class_ in type(X).__mro__
    )


def copy_of_sample(X: Any) -> Any:
    """Return a copy of a sample in memory.

    Read-only arrays, samples that are read in chunks, and objects of unknown classes are returned
    without a copy.
    """
    if is_chunked(X):
        return X
    if isinstance(X, np.ndarray):
        return X.copy() if X.flags.writeable else X
    if is_tensor(X):
        return X.detach().clone()
    if type(X) in (list, tuple):
        return deepcopy(X)
    # Frames of pandas have a method `copy`. Other frames are immutable or copied on write.
    return (X.copy() if hasattr(X, "copy") else copy(X)) if is_frame(X) else X


def check_points(
    X: Any, name: str = "X", dtype: str | None = None, *, any_size: bool = False, hint: str = ""
) -> tuple[np.ndarray, Names]:
    """Convert a sample to a matrix of finite floats, and return it with its column names.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
    name : str
        Name of `X` in error messages.
    dtype : {"float32", "float64"} or None
        None keeps float32 and converts all other types to float64.
    any_size : bool
        Whether to allow finite values so large that their projections may overflow.
    hint : str
        Additional advice about non-finite values.

    Returns
    -------
    points : ndarray of shape (n, d), float32 or float64
        A view of `X` if possible.
    columns : tuple of str, or None if `X` has no names
        A frame with the labels 0, ..., d - 1 has no names; other integers are names.
    """
    points, columns = read_points(X, name, dtype)
    check_finite(points, name, any_size, columns, hint)
    return points, columns


def read_points(X: Any, name: str, dtype: str | None) -> tuple[np.ndarray, Names]:
    """Convert a sample to a matrix of floats, and return it with its column names.

    NaN, infinite and huge values are allowed. `name` is the name of `X` in messages. `dtype` is
    "float32" or "float64"; None keeps float32 and converts all other types to float64.
    """
    if isinstance(X, np.ndarray):
        columns = None
    else:
        X, columns = frame_or_list(X, name)
    array = to_array(X, name)
    if array.ndim == 0:
        raise shape_error(name, describe(X))
    if array.ndim == 1 and hasattr(X, "to_frame"):
        entries = f"{describe(X)} with {len(array)} entries"
        raise shape_error(name, f"{entries}; use {in_code(name)}.to_frame() for one column")
    check_table_shape(array.shape, name)
    return to_float(array, name, dtype), columns


def check_table_shape(shape: tuple[int, ...], name: str) -> None:
    """Check that the shape of a sample has two dimensions, none of size 0.

    `name` is the name of the sample in messages.
    """
    if len(shape) != 2:
        dimensions = "1 dimension" if len(shape) == 1 else f"{len(shape)} dimensions"
        code = in_code(name)
        advice = f"use {code}.reshape(-1, 1) for one column or {code}.reshape(1, -1) for one row"
        if len(shape) > 2:
            advice = f"use {code}.reshape(len({code}), -1) for one row per entry of the first axis"
        raise shape_error(name, f"{dimensions} with shape {shape}; {advice}")
    # The estimator checks of scikit-learn require the wording of the message about empty tables.
    if 0 in shape:
        raise InvalidInputError(
            f"{name} is empty: got 0 {'sample' if not shape[0] else 'feature'}(s) (shape={shape}) "
            "while a minimum of 1 is required; give at least one."
        )


class SampleRows(NamedTuple):
    """Rows of a checked sample: k of its n rows, which are all rows unless rows were dropped.

    Attributes
    ----------
    points : ndarray of shape (k, d)
    columns : tuple of str or None
        Names of the columns; None if they have no names.
    weights : ndarray of shape (k,) or None
        Weights of the rows; None for equal weights.
    missing : MissingReport or None
        Numbers of dropped rows and of missing values; None unless ``nan_policy="omit"``.
    kept : bool ndarray of shape (n,) or None
        True for each row that was kept; None unless ``nan_policy="omit"``.
    absent : bool ndarray of shape (n, d) or None
        True for each missing value; None unless ``nan_policy="omit"``.
    """

    points: np.ndarray
    columns: Names
    weights: np.ndarray | None = None
    missing: MissingReport | None = None
    kept: Any = None
    absent: Any = None


def read_sample(
    X: Any,
    weights: Any = None,
    name: str = "X",
    dtype: str | None = None,
    nan_policy: str = "raise",
    *,
    weights_name: str = "",
    hint: str = OMIT_HINT,
) -> SampleRows:
    """Read one sample with its weights.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
    weights : array-like of shape (n,) or None
    name, weights_name : str
        Names in error messages.
    dtype : {"float32", "float64"} or None
    nan_policy : {"raise", "omit", "keep"}
        "raise" refuses missing values, "omit" drops their rows and the weights of these rows, and
        "keep" converts missing values to NaN. Missing values are NaN, None, NA and NaT of data
        frames, and masked entries. Infinite values are always refused.
    hint : str
        Additional advice about missing values.

    Returns
    -------
    rows : SampleRows

    Examples
    --------
    >>> sample = read_sample([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]], nan_policy="omit")
    >>> sample.points.tolist(), sample.missing.n_dropped
    ([[1.0, 2.0], [4.0, 5.0]], 1)
    """
    weights_name = weights_name or f"weights of {name}"
    raises = nan_policy == "raise"
    points, columns = read_points(X if raises else with_nan(X), name, dtype)
    # Values and weights are checked before rows are dropped, so that row numbers in messages are
    # those of the whole sample.
    check_finite(points, name, False, columns, hint, allow_nan=not raises)
    weights = check_weights(weights, len(points), weights_name)
    if nan_policy != "omit":
        return SampleRows(points, columns, weights)
    absent, kept, report = find_missing(points, columns, name)
    if report.n_dropped:
        points = points[kept]
        if weights is not None:
            which = f"{weights_name} without its rows of missing values"
            weights = check_weights(weights[kept], len(points), which)
    return SampleRows(points, columns, weights, report, kept, absent)


def read_pair(X: Any, Y: Any, nan_policy: str = "raise") -> tuple[SampleRows, SampleRows]:
    """Read two samples with the same columns, and convert both to a common dtype.

    If both samples have names, the columns of Y are put in the order of those of X.
    """
    Y = in_order(Y, labels_of(X), "Y", "X")
    x, y = (
        read_sample(side, None, name, nan_policy=nan_policy) for side, name in ((X, "X"), (Y, "Y"))
    )
    return as_pair(x, y)


def as_pair(x: SampleRows, y: SampleRows) -> tuple[SampleRows, SampleRows]:
    """Check that two samples have the same columns, and return both with a common dtype.

    If only one sample has column names, the other gets these names.
    """
    check_same_width(x.points.shape[1], y.points.shape[1])
    columns = check_same_columns(x.columns, y.columns)
    dtype = np.result_type(x.points, y.points)
    return (
        x._replace(points=x.points.astype(dtype, copy=False), columns=columns),
        y._replace(points=y.points.astype(dtype, copy=False), columns=columns),
    )


def to_array(X: Any, name: str) -> np.ndarray:
    """Convert `X` to an array.

    Raise an error if `X` has masked entries, is sparse, is a source of `isodepth.scan`, or is not
    array-like. `name` is the name of `X` in the message.
    """
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        template = (
            "{sample} is a masked array with {count} masked entries; drop or impute them first, or "
            "drop their rows with {--nan_policy='omit'}"
        )
        raise InvalidInputError(Message(template, sample=name, count=np.ma.count_masked(X)))
    if getattr(type(X), "_reads_in_chunks", False):
        refuse_chunks(X, name)
    if hasattr(X, "toarray") and not isinstance(X, np.ndarray):
        raise InvalidInputError(
            f"{name} is sparse ({type(X).__name__}); pass {in_code(name)}.toarray()"
        )
    try:
        array = np.asarray(X)
        # The compiled core needs numbers at multiples of their size.
        return array if array.flags.aligned else array.copy()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInputError(
            f"{name} must hold numbers, got {describe(X)} that NumPy cannot read as an array "
            f"({' '.join(str(error).split())})"
        ) from None


def to_float(array: np.ndarray, name: str, dtype: str | None) -> np.ndarray:
    """Convert an array of real numbers to `dtype`, "float32" or "float64".

    If `dtype` is None, float32 is kept and other types are converted to float64. Raise an error for
    complex numbers and for strings.
    """
    if array.dtype == object:
        array = numbers_of_objects(array, name)
    if array.dtype.kind == "c":
        raise InvalidInputError(
            f"Complex data not supported: {name} must hold real numbers, got dtype {array.dtype}; "
            f"choose a part, such as {in_code(name)}.real"
        )
    if array.dtype.kind not in "biuf":
        received = "strings" if array.dtype.kind in "US" else f"dtype {array.dtype}"
        raise InvalidInputError(
            f"{name} must hold real numbers (any float or integer dtype), got "
            f"{received}; drop or encode other columns and convert it with "
            f"{in_code(name)}.astype(float)"
        )
    if dtype is None:
        dtype = "float32" if array.dtype == np.float32 else "float64"
    if array.dtype == dtype and array.dtype.isnative:
        return array
    warn_of_rounding(array, name)
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def check_finite(
    points: np.ndarray,
    name: str,
    any_size: bool,
    columns: Names = None,
    hint: str = "",
    allow_nan: bool = False,
    first_row: int = 0,
) -> None:
    """Raise an error for NaN, infinity, and numbers so large that projections may overflow.

    NaN is allowed if `allow_nan`, and large finite numbers are allowed if `any_size`. The row
    number in a message is the index in `points` plus `first_row`. `name`, the names `columns`, and
    the advice `hint` about missing values are used in messages.
    """
    rows = max(1, _SCAN_ELEMENTS // points.shape[1])
    most = float(np.finfo(points.dtype).max)
    limit = most if any_size else most / (4.0 * math.sqrt(points.shape[1]))
    # The comparison of the minimum with the limit also detects NaN: the minimum of values with NaN
    # is NaN, and a comparison with NaN is false.
    blocks = [slice(start, start + rows) for start in range(0, len(points), rows)]
    faulty = [at for at in blocks if not -limit <= points[at].min() <= points[at].max() <= limit]
    if not faulty:
        return
    faults = ValueFaults(points, faulty, allow_nan)
    if faults.first is not None:
        row, column = faults.first
        labels = columns or column_labels(points.shape[1])
        at = labels[column] if columns is None else f"column {labels[column]!r}"
        faulty_values = {"NaN": faults.nan and not allow_nan, "infinite": faults.infinite}
        what = " or ".join(name for name, found in faulty_values.items() if found)
        advice: str = Message("drop or impute them first{hint}", hint=hint)
        if faults.infinite:  # nan_policy="omit" does not drop infinite values
            advice = "infinite values are not missing values: drop or correct them first"
        total, counts = int(faults.counts.sum()), faults.counts.tolist()
        counted = named_counts(zip(labels, counts, strict=True))
        where = ", at" if total == 1 else f": {counted}, the first at"
        single = " in float32" if points.dtype == np.float32 else ""
        fault = f"contains {total} {what} {value_noun(total)}{single}{where} row {first_row + row}"
        parts = {"sample": name, "fault": fault, "at": at, "advice": advice}
        raise InvalidInputError(Message("{sample} {fault}, {at}; {advice}", **parts))
    if faults.largest > limit:
        other = ", or use float64" if points.dtype == np.float32 else ""
        raise InvalidInputError(
            f"{name} contains values up to {faults.largest:.3g}, for which distances overflow in "
            f"{points.dtype} (the limit is {limit:.3g} for {points.shape[1]} columns); use smaller "
            f"numbers, such as the data divided by a constant{other}"
        )


def check_same_width(x_width: int, y_width: int, first: str = "X", second: str = "Y") -> None:
    """Check that two tables, with the names `first` and `second`, have equally many columns."""
    if x_width != y_width:
        raise InvalidInputError(
            f"{first} and {second} must have the same number of columns, got {x_width} in "
            f"{first} and {y_width} in {second}"
        )


def check_same_columns(x: Names, y: Names, first: str = "X", second: str = "Y") -> Names:
    """Check that two samples have the same column names in the same order, and return the names.

    If only one sample has names, these are returned. The result is None if neither has names.
    """
    if x is None and y is None:
        return None
    if clashing_columns(x, y):
        if x and y and set(x) != set(y):
            raise differing(x, y, first, second)
        shown = [f"[{listed([*map(repr, n)], FEW)}]" if n else "no names" for n in (x, y)]
        raise InvalidInputError(
            f"{first} and {second} name their columns differently: {shown[0]} and {shown[1]}; "
            "select the same columns in the same order, or pass plain arrays"
        )
    return x if x is not None else y


def check_weights(
    weights: Any, n: int, name: str = "weights", first_row: int | None = None
) -> np.ndarray | None:
    """Check the weights of the n rows of a sample; None means equal weights.

    If `first_row` is given, the n rows are a block of a sample that starts at this row. The weights
    of a block may all be zero.

    Returns
    -------
    weights : ndarray of shape (n,), float64, not normalized, or None
    """
    if weights is None:
        return None
    pair = weights if isinstance(weights, list | tuple) and len(weights) == 2 else ()
    if any(each is None or np.ndim(each) for each in pair):
        raise InvalidInputError(
            f"{name} must have one number for each of the {n} rows, got a pair of arrays or None; "
            "pass one array for one sample"
        )
    array = to_array(weights, name)
    if array.dtype.kind not in "biuf" or array.shape != (n,):
        raise InvalidInputError(
            f"{name} must have one number for each of the {n} rows, real numbers of shape ({n},); "
            f"got {describe(array)}"
        )
    array = array.astype(np.float64)
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        at = int(bad.argmax())
        raise InvalidInputError(
            f"{name} must be finite and not negative, got {int(bad.sum())} other "
            f"{value_noun(bad.sum())}, the first {array[at]:g} at position "
            f"{at + (first_row or 0)}; drop these rows or use the weight 0"
        )
    if first_row is None and not (array > 0).any():
        raise InvalidInputError(f"{name} are all zero; at least one row needs a positive weight")
    return array


def split_weights(weights: Any) -> tuple[Any, Any]:
    """Check that the option `weights` is a pair (weights of X, weights of Y), and return the pair.

    Each element of the pair may be None. The option None gives (None, None).
    """
    if weights is None:
        return None, None
    bare = isinstance(weights, np.ndarray) or not isinstance(weights, Iterable)
    pair = () if bare else tuple(weights)
    if len(pair) != 2 or all(isinstance(w, numbers.Number) for w in pair):
        raise InvalidInputError(
            f"weights must be a pair (weights of X, weights of Y), got {describe(weights)}"
            f"{'' if bare else f' of length {len(pair)}'}; either of the two may be None"
        )
    return pair
