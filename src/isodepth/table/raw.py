"""Raw rows: data frames as pyarrow tables, before the kinds of their columns are known.

This is the only module that knows the types of data frame libraries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.fold import Fold
from isodepth.base.words import numbered
from isodepth.table.arrays import shape_error, warn_of_rounded_objects
from isodepth.table.frames import (
    NamedArray,
    check_frame,
    column_names,
    is_count,
    is_frame,
    labels_of,
    object_numbers,
    period_strings,
    present_values,
)
from isodepth.table.text_columns import narrowed_type, restored, typed_column
from isodepth.table.values import strings_of

#: Rows of the i-th file, array or partition are numbered from i times this constant on. The number
#: of rows of a partition is not known in advance, so the constant exceeds any such number.
ROWS_OF_A_PART = 1 << 40
# Keys of the metadata of a column of strings: types of Python objects before their conversion, and
# the categories of an ordered categorical.
_TYPES, _WORDS, _ORDER = b"isodepth.types", b"isodepth.words", b"isodepth.order"
_DECIMAL = b"isodepth.decimal"
_LETTERS = {bool: "b", float: "f", str: "s"}


class RawChunk(NamedTuple):
    """Rows of a sample as they were read.

    Attributes
    ----------
    table : pyarrow.Table
    origin : str
        Name of the file, array or partition in messages.
    place : int
        Index of the file, array or partition.
    start : int
        Index of the first row in this file, array or partition.
    decimal : str
        Decimal mark of a text file, in which all columns are strings; "" for other data.
    """

    table: Any
    origin: str
    place: int = 0
    start: int = 0
    decimal: str = ""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.table)

    @property
    def number(self) -> int:
        """Number of the first row: 2**40 times `place`, plus `start`."""
        return self.place * ROWS_OF_A_PART + self.start

    def renamed(self, names: Sequence[str]) -> RawChunk:
        """Return the chunk with new names of the columns."""
        return self._replace(table=self.table.rename_columns(list(names)))

    @property
    def tally(self) -> np.ndarray:
        """Number of rows as an array (1,)."""
        return np.array([len(self.table)], dtype=np.uint64)


class Sample:
    """Base class of the rows of one sample, in memory or read in chunks.

    Attributes
    ----------
    _labels : tuple of str
        Names of the columns, or their indices as strings.
    _named : bool
        Whether the columns have names.
    _label : str
        Name of the data in messages.
    """

    _label: str

    @property
    def _labels(self) -> tuple[str, ...]:
        raise NotImplementedError

    @property
    def _named(self) -> bool:
        raise NotImplementedError

    def _raw_chunks(self, names: Sequence[str]) -> Iterator[RawChunk]:
        """Yield the columns `names` of all rows in chunks."""
        raise NotImplementedError

    def _run(self, fold: Fold, names: Sequence[str]) -> Any:
        """Return the result of a fold over the columns `names` of all rows."""
        return fold.run(self._raw_chunks(names))


class FrameSample(Sample):
    """Data frame in memory, or array with names of its columns.

    Parameters
    ----------
    frame : frame of a library that narwhals supports, or NamedArray
    label : str
        Name of the sample in messages.
    """

    def __init__(self, frame: Any, label: str) -> None:
        self._frame, self._label = frame, label
        self._table: Any = None
        if isinstance(frame, NamedArray):
            labels = list(frame.columns or numbered(frame.points.shape[1]))
            self._has_names = frame.columns is not None
        else:
            column_names(labels_of(frame) or (), label)  # raises an error for equal names
            labels = list(check_frame(frame, label).columns)
            self._has_names = not is_count(labels)
        self._names = column_names(labels, label)

    @property
    def _labels(self) -> tuple[str, ...]:
        return self._names

    @property
    def _named(self) -> bool:
        return self._has_names

    def _raw_chunks(self, names: Sequence[str]) -> Iterator[RawChunk]:
        if self._table is None:
            self._table = raw_table(self._frame, self._label)
        yield RawChunk(self._table.select(list(names)), self._label)


def raw_table(data: Any, origin: str) -> Any:
    """Convert an array or a data frame to a pyarrow table, without a change of types.

    Parameters
    ----------
    data : array of shape (n, d), NamedArray, or an eager frame of a library that narwhals supports
        Columns without names are named "0", "1", ...
    origin : str
        Name of the data in messages.
    """
    import pyarrow as pa

    if isinstance(data, pa.Table):
        columns, fields = [], []
        for column, field in zip(data.columns, data.schema, strict=True):
            strings, decimal = restored(column, field)
            columns.append(_plain_column(strings))
            metadata = {_DECIMAL: decimal.encode()} if decimal else None
            fields.append(pa.field(field.name, columns[-1].type, metadata=metadata))
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))
    if isinstance(data, NamedArray) or not is_frame(data):
        points, names = data if isinstance(data, NamedArray) else (np.asarray(data), None)
        if points.ndim != 2:
            raise shape_error(origin, f"an array of shape {points.shape}")
        columns = [pa.array(np.ascontiguousarray(column)) for column in points.T]
        return pa.Table.from_arrays(columns, list(names or numbered(points.shape[1])))
    frame = check_frame(data, origin)
    names = column_names(frame.columns, origin)
    arrays = [arrow_column(frame.get_column(label), origin) for label in frame.columns]
    fields = [
        pa.field(name, array.type, metadata=metadata)
        for name, (array, metadata) in zip(names, arrays, strict=True)
    ]
    return pa.Table.from_arrays([array for array, _ in arrays], schema=pa.schema(fields))


def _plain_column(column: Any) -> Any:
    """Convert times with a zone to UTC, and the periods of pandas to strings."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.tz not in (None, "UTC"):
        return column.cast(pa.timestamp(column.type.unit, "UTC"))
    strings = period_strings(column)
    return column if strings is None else strings


def arrow_column(series: Any, origin: str) -> tuple[Any, dict[bytes, bytes] | None]:
    """Convert a narwhals series of the data `origin` to a pyarrow array, with its metadata.

    Python objects of one type get this type. Objects of several types, and the periods and
    intervals of pandas, become strings; the metadata have the types of the objects. For an ordered
    categorical, the metadata have the categories.
    """
    import narwhals as nw
    import pyarrow as pa

    stored, series = series, object_numbers(series)
    if series is not stored and series.dtype.is_float():
        warn_of_rounded_objects(present_values(stored), f"column {series.name!r} of {origin}")
    metadata = None
    if isinstance(series.dtype, nw.Enum):
        order = [value for value in strings_of(series.dtype.categories).values if value]
        metadata = {_ORDER: "\0".join(order).encode()}
    if series.dtype == nw.Unknown:
        values = series.to_numpy()
        if values.ndim == 1 and values.dtype.kind in "biuf":
            return pa.array(values.astype(np.float64)), None
    objects = series.to_list() if series.dtype == nw.Object else []
    strings, types, words = strings_of(objects)
    if not {bool, float}.intersection(types):
        with suppress(
            pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeError
        ):
            column = series.to_arrow()
            column = _plain_column(column)
            if not isinstance(column.type, pa.BaseExtensionType):
                return column, metadata
        strings, types, words = strings_of(series.to_list())
    letters = "".join(sorted(letter for type_, letter in _LETTERS.items() if type_ in types))
    stored = {_TYPES: letters.encode(), _WORDS: "\0".join(sorted(words)).encode()}
    return pa.array(strings, pa.string()), stored


def decimal_of(field: Any) -> str:
    """Return the decimal mark of the text file of a pyarrow column; "" for other columns."""
    return (field.metadata or {}).get(_DECIMAL, b"").decode()


def value_types(field: Any) -> set[type]:
    """Return the types of the Python objects from which a pyarrow column of strings was made.

    The types are those of `isodepth.table.values.Strings`; empty for other columns.
    """
    stored = (field.metadata or {}).get(_TYPES, b"").decode()
    return {type_ for type_, letter in _LETTERS.items() if letter in stored}


def words_of(field: Any) -> set[str]:
    """Return the objects of type str from which a pyarrow column of strings was made."""
    stored = (field.metadata or {}).get(_WORDS, b"").decode()
    return {*stored.split("\0")} - {""}


def order_of(field: Any) -> list[str] | None:
    """Return the categories of a column that was an ordered categorical; None for others."""
    stored = (field.metadata or {}).get(_ORDER)
    return None if stored is None else stored.decode().split("\0")


def typed_numbers(chunk: RawChunk) -> Any:
    """Return the rows of a chunk; columns of a text file are numbers if all strings are numbers."""
    table = chunk.table
    for at, column in enumerate(table.columns if chunk.decimal else ()):
        type_ = narrowed_type(column, None, chunk.decimal)
        if type_ in ("int64", "double"):
            table = table.set_column(at, table.column_names[at], typed_column(column, type_))
    return table
