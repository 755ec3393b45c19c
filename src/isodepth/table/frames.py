"""Conversion of data frames of any library to arrays, and matching of columns by name.

All column labels count as names, also integers, with one exception. The columns of a frame with
the default labels 0, 1, ..., d - 1, which pandas gives to d columns of an array, have no names.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.messages import Message, in_code, joined
from isodepth.base.words import FEW, describe, is_missing, listed, numbered
from isodepth.errors import InvalidInputError, NotNumbersError
from isodepth.table.arrays import (
    EXACT_INTEGERS,
    float_of,
    shape_error,
    warn_of_rounded_objects,
    warn_of_rounding,
)

Names = tuple[str, ...] | None


class NamedArray(NamedTuple):
    """Array with names of its columns, accepted like a data frame.

    Attributes
    ----------
    points : ndarray, shape (n, d)
    columns : tuple of str, length d, or None
        Names of the columns; None if they have no names.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> X = NamedArray(np.array([[0.0, 1.0], [2.0, 3.0]]), ("temp", "wind"))
    >>> isodepth.compare(X, X).columns
    ('temp', 'wind')
    """

    points: np.ndarray
    columns: tuple[str, ...] | None

    def to_numpy(self) -> np.ndarray:
        """Return the array."""
        return self.points


def is_frame(X: Any) -> bool:
    """Return whether an object is a `NamedArray`, or a frame that narwhals supports."""
    if isinstance(X, NamedArray):
        return True
    if X is None or isinstance(X, np.ndarray | list | tuple):
        return False
    from narwhals import dependencies

    return (
        dependencies.is_into_dataframe(X)
        or dependencies.is_polars_lazyframe(X)
        or dependencies.is_dask_dataframe(X)
    )


def is_record_batch(X: Any) -> bool:
    """Return whether an object is a `pyarrow.RecordBatch`.

    narwhals does not support record batches, and NumPy reads them without column names.
    """
    return type(X).__name__ == "RecordBatch" and type(X).__module__.startswith("pyarrow")


def read_frame(X: Any, name: str) -> tuple[np.ndarray, Names]:
    """Return the values of a data frame as an array, and the names of its columns.

    Parameters
    ----------
    X : NamedArray, or an eager frame of a library that narwhals supports
        Columns of numbers; missing values become NaN.
    name : str
        Name of `X` in error messages.

    Returns
    -------
    points : ndarray of shape (n, d)
        float32 if all columns are float32, else float64; a view of `X` if possible. The array of a
        `NamedArray` is returned unchanged.
    columns : tuple of str, or None if the labels are the integers 0, 1, ..., d - 1

    Examples
    --------
    >>> import pandas as pd
    >>> points, columns = read_frame(pd.DataFrame({"size": [1, 2], "wait": [0.5, None]}), "X")
    >>> points.tolist(), columns
    ([[1.0, 0.5], [2.0, nan]], ('size', 'wait'))
    >>> read_frame(pd.DataFrame([[1.0, 2.0]], columns=[7, 3]), "X")[1]
    ('7', '3')
    """
    if isinstance(X, NamedArray):
        return X.points, None if X.columns is None else column_names(X.columns, name)
    frame = check_frame(X, name)
    labels = list(frame.columns)
    return _numbers(frame, name), None if is_count(labels) else column_names(labels, name)


def check_frame(X: Any, name: str) -> Any:
    """Return an eager data frame as a frame of narwhals; raise an error for any other frame."""
    import narwhals as nw

    if callable(getattr(X, "collect", None)):
        raise InvalidInputError(
            f"{name} is a lazy frame ({type(X).__name__}); pass {in_code(name)}.collect()"
        )
    try:
        frame = nw.from_native(X, eager_only=True)
    except (TypeError, ValueError) as error:
        # A possible cause of the error is two columns with the same name, which pandas allows.
        raise InvalidInputError(
            f"the {type(X).__name__} {name} cannot be read as a data frame "
            f"({' '.join(str(error).split())}); give all columns different names, or pass an array"
        ) from None
    return frame


def frame_or_list(X: Any, name: str) -> tuple[Any, Names]:
    """Return the array and the column names of a data frame.

    Any other table is returned unchanged, with None for the names. Paths, None and dictionaries
    raise an error.
    """
    refuse_other_types(X, name)
    return read_frame(X, name) if is_frame(X) else (X, None)


def refuse_other_types(X: Any, name: str) -> None:
    """Raise an error if the sample `X` is a path, None, a dictionary or a list of dictionaries.

    A `pyarrow.RecordBatch` is an error, too.
    """
    if isinstance(X, str) or hasattr(X, "__fspath__"):
        raise InvalidInputError(
            f"{name} must be a table, got the path {str(X)!r:.80}; read the file first, for "
            "example with pandas"
        )
    if is_record_batch(X):
        raise shape_error(
            name,
            f"a pyarrow.RecordBatch; pass a table: pyarrow.Table.from_batches([{in_code(name)}])",
        )
    if X is None or (isinstance(X, Mapping) and not hasattr(X, "toarray")):
        advice = "pass a data frame: pandas.DataFrame(...)" if X is not None else "pass a sample"
        raise shape_error(name, f"{describe(X)}; {advice}")
    if _are_records(X):
        raise shape_error(name, "a list of dictionaries; pass a data frame: pandas.DataFrame(...)")


def _are_records(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def with_nan(X: Any) -> Any:
    """Return `X` with NaN for masked entries, and for missing values in arrays of objects.

    Lists that NumPy reads as arrays of objects are converted to arrays. Data frames are unchanged.
    """
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(object), np.nan)
    elif is_frame(X) or _are_records(X) or (isinstance(X, np.ndarray) and X.dtype != object):
        return X
    try:
        array = np.asarray(X)
    except (TypeError, ValueError, RuntimeError):
        return X  # the conversion in `to_array`, which follows, raises an error with the reason
    if array.dtype != object or array.ndim == 0:
        return X  # `frame_or_list` describes None and dictionaries, which are not tables
    filled = array.copy()
    filled[np.reshape([is_missing(value) for value in array.flat], array.shape)] = np.nan
    return filled


# -- names of columns ----------------------------------------------------------------------------


def labels_of(X: Any) -> Names:
    """Return the labels of the columns of an eager frame as strings; None for other objects.

    None is also returned for a `NamedArray` without names.
    """
    if isinstance(X, NamedArray):
        return X.columns
    if not is_frame(X) or callable(getattr(X, "collect", None)):
        return None
    # The columns of a Dask frame are matched by name later, when its chunks are read.
    if hasattr(X, "__dask_graph__"):
        return None
    # The attribute `columns` of a pyarrow table contains arrays. `column_names` contains the names.
    labels = getattr(X, "column_names", None)
    return tuple(map(str, X.columns if labels is None else labels))


def in_order(X: Any, names: Names, name: str, like: str) -> Any:
    """Return the sample X with its columns in the order of `names`.

    X is returned unchanged if it has no names, if `names` is None, if two of its columns have the
    same name, or if columns are matched by position (see `matched_by_position`). Raise an error if
    the names differ otherwise than in their order.

    Parameters
    ----------
    X : sample
    names : tuple of str or None
        Names of the columns of another sample.
    name, like : str
        Names of `X` and of the other sample in messages.

    Returns
    -------
    X : the same object, or a NamedArray with the columns in the order of `names`

    Examples
    --------
    >>> import numpy as np
    >>> in_order(NamedArray(np.array([[1.0, 2.0]]), ("b", "a")), ("a", "b"), "Y", "X")
    NamedArray(points=array([[2., 1.]]), columns=('a', 'b'))
    >>> in_order(NamedArray(np.array([[1.0, 2.0]]), ("b", "c")), ("a", "b"), "july", "june")
    Traceback (most recent call last):
    ...
    isodepth.errors.InvalidInputError: june and july name their columns differently: 'a' is only \
in june, 'c' is only in july; select columns that both have
    """
    if names is None:
        return X
    labels = labels_of(X)
    if labels is None or labels == names or len(set(labels)) < len(labels):
        return X
    if sorted(labels) != sorted(names):
        if matched_by_position(labels, names):
            return X
        raise differing(names, labels, like, name)
    points, _ = read_frame(X, name)
    # Selecting columns may give a column-major array, which is copied to row-major order.
    places = {name: place for place, name in enumerate(labels)}
    points = np.ascontiguousarray(points[:, [places[name] for name in names]])
    return NamedArray(points, None if _counts(names) else names)


def matched_by_position(labels: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Return whether the columns of two samples are matched by position instead of by name.

    Default labels 0, 1, ... of one sample are matched by position with the names of the other
    sample, unless all these names are other integers.
    """
    both = ((labels, names), (names, labels))
    return any(_counts(a) and (_counts(b) or not _integers(b)) for a, b in both)


def common_columns(X: Any, Y: Any) -> tuple[Any, Any, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return two samples with only the columns that both have, and the names of all other columns.

    The third result is a pair: the names of the columns that only X has, and those that only Y has.
    Samples without names, samples with the same columns, and samples whose columns are matched by
    position are returned unchanged. Raise an error if the samples have no column in common, or if
    two columns of a sample have the same name.

    Examples
    --------
    >>> import pandas as pd
    >>> X, Y = pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"c": [3], "a": [4]})
    >>> X, Y, others = common_columns(X, Y)
    >>> list(X), list(Y), others
    (['a'], ['a'], (('b',), ('c',)))
    """
    first, second = column_names(labels_of(X) or (), "X"), column_names(labels_of(Y) or (), "Y")
    in_x, in_y = set(first), set(second)
    if in_x == in_y or not in_x or not in_y or matched_by_position(first, second):
        return X, Y, ((), ())
    both = tuple(name for name in first if name in in_y)
    if not both:
        raise differing(first, second, "X", "Y")
    others = tuple(n for n in first if n not in in_y), tuple(n for n in second if n not in in_x)
    return select_columns(X, both), select_columns(Y, both), others


def select_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return a `NamedArray` or an eager data frame with only the columns `names`, in this order."""
    labels = labels_of(X) or ()
    if isinstance(X, NamedArray):
        return NamedArray(X.points[:, [labels.index(name) for name in names]], names)
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    return frame.select([frame[:, labels.index(name)] for name in names]).to_native()


def split_labels(X: Any, column: str, option: str, name: str) -> tuple[Any, list[Any]]:
    """Return a data frame without the column `column`, and the values of this column.

    `option` is the option that names the column, and `name` that of the sample, for messages.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [1.5, 2.5], "day": ["Mon", "Tue"]})
    >>> rest, labels = split_labels(X, "day", "blocks", "X")
    >>> list(rest), labels
    (['a'], ['Mon', 'Tue'])
    """
    labels = labels_of(X)
    if labels is None:
        raise InvalidInputError(
            f"{option}={column!r} names a column, so {name} must be a data frame in memory, got "
            f"{describe(X)}; pass a data frame, or one label per row"
        )
    if column not in column_names(labels, name):
        raise InvalidInputError(
            f"{option}={column!r} is not a column of {name}; its columns are {listed(labels)}"
        )
    rest = tuple(label for label in labels if label != column)
    if not rest:
        raise InvalidInputError(
            f"{name} has no column besides {option}={column!r}; it needs at least one to compare"
        )
    if isinstance(X, NamedArray):
        return select_columns(X, rest), X.points[:, labels.index(column)].tolist()
    import narwhals as nw

    values = nw.from_native(X, eager_only=True)[:, labels.index(column)].to_list()
    return select_columns(X, rest), values


def differing(first: tuple[str, ...], second: tuple[str, ...], one: str, other: str) -> Exception:
    """Return the error that lists the columns that occur in only one of two samples.

    `first` and `second` are the column names of the samples, and `one` and `other` the names of the
    samples. If a sample has two columns with the same name, raise the error about these columns
    instead.
    """
    first, second = column_names(first, one), column_names(second, other)
    odd = []
    for names, others, where in ((first, set(second), one), (second, set(first), other)):
        alone = [repr(name) for name in names if name not in others]
        if alone:
            verb = "is" if len(alone) == 1 else "are"
            odd.append(
                Message(f"{{names}} {verb} only in {{x}}", names=listed(alone, FEW), x=where)
            )
    advice = "select columns that both have"
    if not set(first) & set(second):
        advice = "they have no column in common; rename the columns of one of them"
    template = "{one} and {other} name their columns differently: {odd}; {advice}"
    values = {"one": one, "other": other, "odd": joined(", ", odd), "advice": advice}
    return InvalidInputError(Message(template, **values))


def _counts(names: tuple[str, ...]) -> bool:
    return list(names) == numbered(len(names))


def _integers(names: tuple[str, ...]) -> bool:
    return all(name.removeprefix("-").isdecimal() for name in names)


def clashing_columns(first: Names, second: Names) -> bool:
    """Return whether two tuples of column names differ, in the names or in their order.

    If only one sample has names, the columns differ only if these names are the default labels
    0, 1, ... of pandas in another order, such as those of `frame[[1, 0]]`.

    Examples
    --------
    >>> clashing_columns(("a", "b"), ("b", "a")), clashing_columns(("a", "b"), None)
    (True, False)
    >>> clashing_columns(None, ("1", "0")), clashing_columns(None, ("7", "3"))
    (True, False)
    """
    if first is not None and second is not None:
        return first != second
    named = first if first is not None else second
    if named is None:
        return False
    count = numbered(len(named))
    return list(named) != count and sorted(named) == sorted(count)


def is_count(labels: list[Any]) -> bool:
    """Return whether the labels are 0, 1, ... in this order; True and 1.0 are not integers here."""
    return all(
        isinstance(label, numbers.Integral) and not isinstance(label, bool) and label == place
        for place, label in enumerate(labels)
    )


def column_names(labels: Any, name: str) -> tuple[str, ...]:
    """Return the labels of the columns of the sample `name` as strings.

    Raise an error if two labels are equal as strings, or if a label contains a lone surrogate.
    """
    names = tuple(str(label) for label in labels)
    seen: set[str] = set()
    for position, label in enumerate(names):
        if label in seen:
            raise InvalidInputError(
                f"two columns of {name} are named {label!r}; give all columns different names"
            )
        seen.add(label)
        try:
            label.encode()
        except UnicodeEncodeError:
            raise InvalidInputError(
                f"the name of column {position} of {name} is not valid text: {label!a} contains a "
                "lone surrogate; rename the column"
            ) from None
    return names


def _numbers(frame: Any, name: str) -> np.ndarray:
    import narwhals as nw

    kinds = set(frame.schema.values())
    if kinds in ({nw.Float64}, {nw.Float32}):
        whole = frame.to_numpy()
        if whole.dtype.kind == "f":
            return whole
    # get_column is used, because frame[label] would select a row if the label is an integer.
    stored = [frame.get_column(label) for label in frame.columns]
    columns = [values for series in stored if (values := _column(series, name)) is not None]
    if len(columns) < len(stored):
        raise _not_numbers([each for each in stored if _column(each, name) is None], name)
    single = columns and all(column.dtype == np.float32 for column in columns)
    points = np.empty((len(frame), len(columns)), np.float32 if single else np.float64)
    for position, column in enumerate(columns):
        points[:, position] = column
    return points


def object_numbers(series: Any) -> Any:
    """Convert a narwhals series of Python objects to a type of numbers, durations or strings.

    Times with a time zone are converted to UTC. Numbers become Float64; values of type
    `decimal.Decimal` count as numbers, booleans do not. Missing values are allowed. A series is
    converted to Int64 if no value is missing, all are integers, one is beyond 2**53, so that floats
    may round it, and all fit into Int64. Python durations become durations. Periods of pandas in
    frames of other libraries become strings, as `str` writes them. Any other series is returned
    unchanged.
    """
    import narwhals as nw

    series = in_utc(series)
    if series.dtype == nw.Unknown:
        return _periods_as_strings(series)
    if series.dtype != nw.Object:
        return series
    values = [None if is_missing(value) else value for value in series.to_list()]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, timedelta) for value in known):
        with suppress(ValueError, OverflowError):  # beyond the range of 64-bit durations
            return nw.new_series(series.name, values, nw.Duration, backend=series.implementation)
    real = all(isinstance(value, numbers.Real | Decimal) for value in known)
    if not known or not real or any(isinstance(value, bool | np.bool_) for value in known):
        return series
    if len(known) == len(values) and all(isinstance(value, numbers.Integral) for value in known):
        largest = max(max(known), -min(known))
        if EXACT_INTEGERS < largest < 2**63:
            return nw.new_series(series.name, values, nw.Int64, backend=series.implementation)
    floats = [None if value is None else float_of(value) for value in values]
    return nw.new_series(series.name, floats, nw.Float64, backend=series.implementation)


def time_zone(series: Any) -> str | None:
    """Return the time zone of a narwhals series of times; None if it has none."""
    zone = getattr(series.dtype, "time_zone", None)
    # narwhals does not know the types of pandas for zones such as "America/New_York".
    zone = zone or getattr(getattr(series.to_native(), "dtype", None), "tz", None)
    return None if zone is None else str(zone)


def in_utc(series: Any) -> Any:
    """Convert a narwhals series of times with a time zone to UTC; return others unchanged."""
    import narwhals as nw

    if time_zone(series) in (None, "UTC"):
        return series
    if series.dtype == nw.Unknown:
        return nw.from_native(series.to_native().dt.tz_convert("UTC"), series_only=True)
    return series.dt.convert_time_zone("UTC")


def _periods_as_strings(series: Any) -> Any:
    """Convert periods of pandas that pyarrow or polars store as integers to strings.

    Any other series is returned unchanged.
    """
    import narwhals as nw

    native = series.to_native()
    column = native.to_arrow() if series.implementation.is_polars() else native
    strings = period_strings(column) if hasattr(column, "type") else None
    if strings is None:
        return series
    return nw.new_series(series.name, strings.to_pylist(), nw.String, backend=series.implementation)


def period_strings(column: Any) -> Any:
    """Return the periods of pandas in a pyarrow column as strings; None for any other column.

    pyarrow knows these periods if pandas is imported, and stores the number of each period.
    """
    import pyarrow as pa

    if getattr(column.type, "extension_name", "") != "pandas.period":
        return None
    periods = column.to_pandas()
    return pa.array([None if is_missing(each) else str(each) for each in periods], pa.string())


def holds_times(series: Any) -> bool:
    """Return whether a narwhals series contains Python objects that are all times or durations."""
    import narwhals as nw

    if series.dtype != nw.Object:
        return False
    known = present_values(series)
    return bool(known) and all(isinstance(value, time | timedelta) for value in known)


def present_values(series: Any) -> list[Any]:
    """Return the values of a narwhals series that are not missing."""
    return [value for value in series.to_list() if not is_missing(value)]


def _column(series: Any, name: str) -> np.ndarray | None:
    """Return a column of the sample `name` as an array; None if it does not contain numbers."""
    import narwhals as nw

    stored, series = series, object_numbers(series)
    if series is not stored and series.dtype.is_numeric():
        warn_of_rounded_objects(present_values(stored), f"column {series.name!r} of {name}")
    known = series.dtype.is_numeric()
    # NumPy converts types that narwhals does not know: sparse columns of pandas, and long doubles.
    if known or series.dtype == nw.Unknown:
        values = series.to_numpy()
        if known and values.dtype.kind not in "biuf":
            # NumPy has Python objects for decimals. The conversion of pyarrow is often wrong in the
            # last bit, so that decimals would differ from equal floats.
            objects = series.to_list()
            warn_of_rounded_objects(present_values(series), f"column {series.name!r} of {name}")
            values = np.array([np.nan if is_missing(v) else float_of(v) for v in objects])
        if values.dtype.kind in "iuf" and values.ndim == 1:
            warn_of_rounding(values, f"column {series.name!r} of {name}")
            return values
    return None


def _type_text(series: Any) -> str:
    """Return the type of the values of a series for a message, such as "strings"."""
    import narwhals as nw

    if series.dtype.is_temporal() or holds_times(series):
        return "dates or times"
    names: dict[Any, str] = {
        nw.String: "strings", nw.Boolean: "booleans", nw.Categorical: "categories",
        nw.Enum: "categories", nw.Object: "Python objects",
    }  # fmt: skip
    return names.get(type(series.dtype), str(getattr(series.to_native(), "dtype", series.dtype)))


def _not_numbers(columns: Sequence[Any], name: str) -> NotNumbersError:
    """Return the error for columns of the sample `name` that do not contain numbers."""
    described = [f"{each.name!r} ({_type_text(each)})" for each in columns]
    noun = "column" if len(columns) == 1 else "columns"
    return NotNumbersError(
        f"{name} must have columns of real numbers, got the {noun} {listed(described, FEW)}; "
        "select other columns, or convert them to numbers"
    )


def column_type(series: Any) -> str:
    """Return the type of a series: "number", "date", "boolean", "category" or "text"."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal() or holds_times(series):
        return "date"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    # narwhals does not know sparse columns of pandas, long doubles and complex numbers. The values
    # of an interval of pandas in a frame of polars are rows of an array.
    values = series.to_numpy() if dtype == nw.Unknown else None
    unknown = values is not None and values.ndim == 1 and values.dtype.kind in "biufc"
    return "number" if unknown else "text"
