"""Data frames of any library, as numbers and the names of their columns, by way of narwhals.

All labels of columns count as names, integers included, with one exception: a frame whose labels
are 0, 1, ..., d - 1 in this order is what pandas makes of a plain array, and has no names, as the
array has none.
"""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isodepth.data.arrays import is_missing, numbered, warn_of_rounding
from isodepth.errors import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Names = tuple[str, ...] | None


class Table(NamedTuple):
    """Numbers and the names of their columns; it passes wherever a data frame does.

    Attributes
    ----------
    points : ndarray, shape (n, d)
    columns : tuple of str, length d, or None

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> X = Table(np.array([[0.0, 1.0], [2.0, 3.0]]), ("temp", "wind"))
    >>> isodepth.compare(X, X).columns
    ('temp', 'wind')
    """

    points: NDArray[Any]
    columns: tuple[str, ...] | None

    def to_numpy(self) -> NDArray[Any]:
        """Return the numbers; the name is that of pandas and polars."""
        return self.points


def is_frame(X: Any) -> bool:
    """Whether an object is a `Table` or a data frame, eager or lazy, that narwhals supports."""
    if isinstance(X, Table):
        return True
    if X is None or isinstance(X, np.ndarray | list | tuple):
        return False
    from narwhals import dependencies

    return (
        dependencies.is_into_dataframe(X)
        or dependencies.is_polars_lazyframe(X)
        or dependencies.is_dask_dataframe(X)
    )


looks_like_frame = is_frame


def read_frame(X: Any, name: str) -> tuple[np.ndarray, Names]:
    """Numbers and names of a data frame.

    Parameters
    ----------
    X : Table, or an eager frame of pandas, polars, pyarrow or whatever else narwhals knows
        Numbers and booleans of any width; what is missing becomes NaN.
    name : str
        How to call `X` in error messages.

    Returns
    -------
    points : ndarray of shape (n, d)
        float32 where all columns are, a view of `X` where possible.
    columns : tuple of str, or None where the labels are 0, 1, ..., d - 1

    Examples
    --------
    >>> import pandas as pd
    >>> points, columns = read_frame(pd.DataFrame({"size": [1, 2], "fits": [True, False]}), "X")
    >>> points.tolist(), columns
    ([[1.0, 1.0], [2.0, 0.0]], ('size', 'fits'))
    >>> read_frame(pd.DataFrame([[1.0, 2.0]], columns=[7, 3]), "X")[1]
    ('7', '3')
    """
    if isinstance(X, Table):
        return X.points, None if X.columns is None else _names(X.columns, name)
    import narwhals as nw

    if callable(getattr(X, "collect", None)):
        raise InvalidInputError(
            f"{name} is a lazy frame ({type(X).__name__}); pass {name}.collect()"
        )
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise InvalidInputError(
            f"{name} is a {type(X).__name__}, which is not a data frame of a known library; pass "
            "its numbers as an array of shape (n points, d columns)"
        ) from None
    except ValueError as error:
        # Two columns of one name, where the library allows them.
        raise InvalidInputError(
            f"the columns of {name} cannot be told apart ({' '.join(str(error).split())}); give "
            "every column a name of its own"
        ) from None
    labels = list(frame.columns)
    return _numbers(frame, name), None if _is_count(labels) else _names(labels, name)


def clashing_columns(first: Names, second: Names) -> bool:
    """Whether the columns of two samples are known not to be the same ones in the same order.

    Columns without names clash with nothing but the labels 0, ..., d - 1 in another order: what
    `frame[[1, 0]]` is to `frame`.

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


def _is_count(labels: list[Any]) -> bool:
    """Whether labels are the integers 0, 1, ..., d - 1; True and 1.0 are equal to 1 and are not."""
    return all(
        isinstance(label, numbers.Integral) and not isinstance(label, bool) and label == place
        for place, label in enumerate(labels)
    )


def _names(labels: Any, name: str) -> tuple[str, ...]:
    names = tuple(str(label) for label in labels)
    seen: set[str] = set()
    for position, label in enumerate(names):
        if label in seen:
            raise InvalidInputError(
                f"two columns of {name} are named {label!r}; give every column a name of its own"
            )
        seen.add(label)
        try:
            label.encode()
        except UnicodeEncodeError:
            raise InvalidInputError(
                f"the name of column {position} of {name} is not valid text: {label!a} holds half "
                "of a surrogate pair; rename the column"
            ) from None
    return names


def _numbers(frame: Any, name: str) -> np.ndarray:
    import narwhals as nw

    kinds = set(frame.schema.values())
    if kinds in ({nw.Float64}, {nw.Float32}):
        whole = frame.to_numpy()
        if whole.dtype.kind == "f":
            return whole
    # Not frame[label]: a label that is an integer would be taken for a row.
    columns = [_column(frame.get_column(label), label, name) for label in frame.columns]
    single = columns and all(column.dtype == np.float32 for column in columns)
    points = np.empty((len(frame), len(columns)), np.float32 if single else np.float64)
    for position, column in enumerate(columns):
        points[:, position] = column
    return points


def object_numbers(series: Any) -> Any:
    """Return a narwhals series of Python numbers as Float64; any other series unchanged."""
    import narwhals as nw

    if series.dtype != nw.Object:
        return series
    values = [None if is_missing(value) else value for value in series.to_list()]
    known = [value for value in values if value is not None]
    if not known or not all(map(is_number, known)):
        return series
    floats = [None if value is None else float(value) for value in values]
    return nw.new_series(series.name, floats, nw.Float64, backend=series.implementation)


def is_number(value: Any) -> bool:
    """Whether an object is a real number, `decimal.Decimal` included, and not a boolean."""
    return isinstance(value, numbers.Real | Decimal) and not isinstance(value, bool | np.bool_)


def _column(series: Any, label: Any, name: str) -> np.ndarray:
    import narwhals as nw

    series = object_numbers(series)
    known = series.dtype.is_numeric() or series.dtype == nw.Boolean
    # NumPy supports some types that narwhals does not: sparse columns of pandas, long doubles.
    if known or series.dtype == nw.Unknown:
        values = series.to_numpy()
        if known and values.dtype.kind not in "biuf":
            # Decimals and booleans with missing values are Python objects in NumPy.
            values = series.cast(nw.Float64).to_numpy()
        if values.dtype.kind in "biuf":
            warn_of_rounding(values, f"column {label!r} of {name}")
            return values
    raise InvalidInputError(
        f"column {label!r} of {name} must contain real numbers, got "
        f"{getattr(series.to_native(), 'dtype', series.dtype)}; drop or encode it"
    )
