"""Reading of tables from files and pipes of all supported formats."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from isodepth.base.messages import Message
from isodepth.base.paths import read_npy_header, refuse, system_reason
from isodepth.base.words import did_you_mean, listed, numbered
from isodepth.errors import ColumnWarning, InvalidOptionError, IsodepthError
from isodepth.table import csv_files
from isodepth.table.csv_format import CsvFormat, check_distinct, csv_format
from isodepth.table.frames import NamedArray, Names, read_frame
from isodepth.table.input_file import ENDINGS, TEXT_ENDINGS, InputFile, open_input
from isodepth.table.numerals import Numerals
from isodepth.table.row_numbers import RowNumbers

# Maximum number of columns for which an error message suggests --drop with their names.
MOST_NAMED = 20


@dataclass(frozen=True)
class ReadOptions:
    """Columns to read, and the treatment of strings and missing values.

    Attributes
    ----------
    missing : bool
        Whether missing numbers are allowed; missing strings are always allowed.
    columns : sequence of str or None
        Columns to read, in this order; None for all.
    drop : sequence of str
        Columns to leave out; the file need not have these columns.
    text : {"raise", "drop", "keep"}
        Whether columns of strings, booleans or dates raise an error, are left out, or are kept.
    categories : sequence of str
        Columns that are compared as categories, in which leading zeros are not lost.
    missing_words : sequence of str
        Strings that stand for missing values in all columns, in addition to the empty string.
    """

    missing: bool = False
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    text: str = "raise"
    categories: Sequence[str] = ()
    missing_words: Sequence[str] = ()


@dataclass
class ReadResult:
    """Columns of a file, with information about the file.

    Attributes
    ----------
    frame : pyarrow.Table, or ndarray of shape (n, d) for .npy
        Selected columns in their order, with strings, booleans and dates if ``text="keep"``.
    columns : tuple of str or None
        Names of the columns; None if the file has none.
    left_out : list of str
        Columns that were left out by name, or because they are not numbers.
    notes : list of str
        Messages about the file for the user.
    absent : list of str
        Columns in the option `drop` that the file does not have.
    path : Path
    form : CsvFormat or None
        Format of a text file; None for other files.
    names : tuple of str
        Names or indices of all columns of the file.
    words : set of str
        Strings of the option `missing_words` that occur in the selected columns.
    """

    frame: Any
    columns: Names
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    path: Path = Path()
    form: CsvFormat | None = None
    names: tuple[str, ...] = ()
    words: set[str] = field(default_factory=set)

    @cached_property
    def numbers(self) -> NamedArray:
        """Numeric columns without booleans, with NaN for missing values.

        The table may have no columns.
        """
        if isinstance(self.frame, np.ndarray):
            return NamedArray(self.frame, self.columns)
        types = {field.name: field.type for field in self.frame.schema}
        names = [name for name, type_ in types.items() if holds_numbers(type_)]
        whole = len(names) == self.frame.num_columns
        with warnings.catch_warnings():
            if not whole or self._may_number_rows:  # reading the whole frame repeats the warnings
                warnings.simplefilter("ignore", ColumnWarning)
            points, _ = read_frame(self.frame.select(names), "the table")
        return NamedArray(points, self.columns if whole else tuple(names))

    @property
    def mixed(self) -> Any:
        """A `NamedArray` of all columns if they are numbers, else the whole frame.

        The frame is also returned if the columns have names, and some may number the rows.
        """
        if self.numbers.points.shape[1:] != self.frame.shape[1:] or self._may_number_rows:
            return self.frame
        return self.numbers

    @cached_property
    def _may_number_rows(self) -> bool:
        if self.columns is None:
            return False
        return any(RowNumbers.of(column) is not None for column in self.frame.columns)


class Choice(NamedTuple):
    """Columns of a file that were selected.

    Attributes
    ----------
    kept : list of int
        Positions of the selected columns.
    dropped : list of str
        Names of the columns that were left out because of the option `drop`.
    absent : list of str
        Names in the option `drop` that the file does not have.
    """

    kept: list[int]
    dropped: list[str]
    absent: list[str]


def choose_columns(names: Sequence[str], options: ReadOptions, file: object) -> Choice:
    """Return the columns of a file that the options select.

    `names` are the names of all columns, and `file` is the name of the file in messages. A string
    in `options.columns` or `options.drop` may have several names, separated by commas.

    Examples
    --------
    >>> choose_columns(["a", "b", "c"], ReadOptions(drop=["b,d"]), "t.csv")
    Choice(kept=[0, 2], dropped=['b'], absent=['d'])
    >>> choose_columns(["a", "b", "c"], ReadOptions(columns=["c,a"]), "table.csv").kept
    [2, 0]
    """
    places = {name: place for place, name in enumerate(names)}

    def parts(wanted: Sequence[str]) -> list[str]:
        # A string that is the name of a column is not split, because names may contain commas.
        split = ([name] if name in places else split_names([name]) for name in wanted)
        return list(dict.fromkeys(name for part in split for name in part))

    wanted = names if options.columns is None else parts(options.columns)
    dropped = parts(options.drop)
    unknown = next((name for name in wanted if name not in places), None)
    if unknown is not None:
        raise unknown_column(unknown, names, file)
    kept = [places[name] for name in wanted if name not in dropped]
    if not kept:
        raise InvalidOptionError(f"no column of {file} is selected; it has {listed(names)}")
    there = [name for name in dropped if name in places]
    return Choice(kept, there, [name for name in dropped if name not in places])


def split_names(texts: Sequence[str]) -> list[str]:
    """Return the names in strings of comma-separated names, as in options of the command line.

    A name that contains a comma is quoted.

    Examples
    --------
    >>> split_names(["temp,dewp", '"price, EUR",size'])
    ['temp', 'dewp', 'price, EUR', 'size']
    """
    return [
        name
        for text in texts
        for name in (next(csv.reader([text])) if '"' in text and "," in text else text.split(","))
    ]


def unknown_column(name: str, names: Sequence[str], file: object) -> InvalidOptionError:
    """Return the error for a column that a file does not have, with the most similar name."""
    hint = did_you_mean(name, names)
    return InvalidOptionError(f"{file} has no column {name!r}{hint} (it has {listed(names)})")


# -- reading of tables ----------------------------------------------------------------------------


def read_table(
    path: str | os.PathLike[str] | InputFile, options: ReadOptions | None = None
) -> ReadResult:
    """Read a table from a file or a pipe, with messages about the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.csv")
    ...     _ = path.write_text("site,wind\\nEWR,3.5\\nJFK,\\n")
    ...     result = read_table(path, ReadOptions(missing=True, text="keep"))
    >>> result.frame.schema.names, result.frame["site"].to_numpy()
    (['site', 'wind'], array(['EWR', 'JFK'], dtype=object))
    """
    file = path if isinstance(path, InputFile) else open_input(path)
    options = options or ReadOptions()
    check_ending(file)
    try:
        if file.ending in TEXT_ENDINGS:
            result = _read_csv(file, options)
        elif file.ending == ".parquet":
            result = _read_parquet(file, options)
        else:
            result = _read_array(file, options)
    except OSError as error:
        refuse(file.path, system_reason(error), error)
    except MemoryError as error:
        refuse_damaged(file, error)
    result.path = file.path
    if len(result.frame.shape) == 2 and len(result.frame) == 1:
        result.notes.append(f"{file.path} has only one row")
    return result


def check_ending(file: InputFile) -> None:
    """Raise an error if the ending of a file name does not belong to a supported format."""
    if file.ending not in ENDINGS:
        received = f"its name ends in {file.ending!r}" if file.ending else "its name has no ending"
        refuse(file.path, f"{received}; supported are {', '.join(ENDINGS)}, also with .gz")


# -- text files and Parquet files -----------------------------------------------------------------


def _read_csv(file: InputFile, options: ReadOptions) -> ReadResult:
    form = csv_format(file)
    names = form.names or numbered(form.width)
    index = int(form.has_index)
    choice = choose_columns(names[index:], options, file.path)
    choice = choice._replace(kept=[place + index for place in choice.kept])
    words, keep = options.missing_words, options.text == "keep"
    frame = csv_files.read_csv_columns(file, form, choice.kept, words, with_texts=keep)

    def where(row: int, place: int) -> str:
        return csv_files.cell_name(form, csv_files.line_of_row(file, form, row), place)

    result = _chosen_columns(file, frame, names, choice, options, where)
    result.notes += _leading_zeros(file, form, frame, options.categories)
    result.form = form
    result.names = tuple(names[index:])
    if words:
        result.words = csv_files.words_in_csv(file, form, choice.kept, words)
    result.notes[:0] = form.notes(file)
    if form.names is None:
        result.columns = None
    return result


def _leading_zeros(
    file: InputFile, form: CsvFormat, frame: Any, categories: Sequence[str]
) -> list[str]:
    """Return a note about integers with leading zeros, such as 00123, or an empty list.

    `frame` has the columns that were read, with positions as names. Only the rows in the first
    1 MB are examined, and columns that are not in `categories`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names = form.names or numbered(form.width)
    places = [int(field.name) for field in frame.schema if pa.types.is_integer(field.type)]
    integers = [place for place in places if names[place] not in categories]
    described = []
    for rows in islice(csv_files.csv_string_chunks(file, form, integers), 1 if integers else 0):
        for place, cells in zip(integers, rows.columns, strict=True):
            padded = cells.filter(pc.match_substring_regex(cells, r"^0\d"))
            if len(padded):
                described.append(f"{names[place]!r} ({padded[0]})")
    if not described:
        return []
    return [
        Message(
            "{file} has numbers with leading zeros in {columns}, read without the zeros; choose "
            "{--category} if they are codes",
            file=file.path,
            columns=listed(described),
        )
    ]


def _read_parquet(file: InputFile, options: ReadOptions) -> ReadResult:
    try:
        with open_parquet(file) as opened:
            parquet_row_counts(opened)
            frame = without_index(opened.read(use_threads=False))
        names = frame.column_names
        if not frame.num_columns or not frame.num_rows:
            refuse(file.path, f"it has {frame.num_rows} rows and {frame.num_columns} columns")
        check_distinct(file.path, names)
        choice = choose_columns(names, options, file.path)

        def where(row: int, place: int) -> str:
            return f"row {row}, column {names[place]!r} is of type {frame.schema.field(place).type}"

        chosen = frame.select(choice.kept)
        result = _chosen_columns(file, chosen, names, choice, options, where)
        strings = [column for column in chosen.columns if _has_strings(column)]
        found = {value for column in strings for value in column.unique().to_pylist()}
        result.words = found.intersection(options.missing_words)
        return result
    except Exception as error:
        refuse_damaged(file, error)


def refuse_damaged(file: InputFile, error: Exception) -> NoReturn:
    """Raise the error for a damaged file in place of `error`, which occurred in reading the file.

    Errors of isodepth and of the operating system are raised unchanged.
    """
    if isinstance(error, IsodepthError) or (isinstance(error, OSError) and error.errno):
        raise error
    if isinstance(error, MemoryError):
        refuse(file.path, f"it does not fit into memory ({error})", error)
    # Exceptions of all types are converted, because a damaged file can cause any error in pyarrow,
    # zipfile, NumPy or Python.
    format_name = file.ending.removeprefix(".")
    refuse(file.path, f"it is damaged or not a {format_name} file ({error})", error)


@contextmanager
def open_parquet(file: InputFile) -> Iterator[Any]:
    """Open a Parquet file; folder names such as "year=2020" do not become columns."""
    from pyarrow import parquet

    with file.open() as stream, parquet.ParquetFile(stream) as opened:
        if not _registers_periods(opened.schema_arrow):
            yield opened
            return
    with file.open() as stream, parquet.ParquetFile(stream) as opened:
        yield opened


def _registers_periods(schema: Any) -> bool:
    """Register the type of periods of pandas, and return whether a file must be opened again.

    pyarrow reads them as integers until pandas has registered their type, which it does when it
    converts periods for the first time. Return False if a file has no periods, and without pandas.
    """
    key = b"ARROW:extension:name"
    # After the type has been registered, the metadata of the fields do not have the key.
    if not any((field.metadata or {}).get(key) == b"pandas.period" for field in schema):
        return False
    try:
        import pandas as pd
    except ImportError:
        return False
    import pyarrow as pa

    pa.array(pd.period_range("2000-01", periods=1, freq="M"))
    return True


def without_index(table: Any) -> Any:
    """Return a table without the columns that store the index of a pandas data frame."""
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return table.drop_columns([name for name in index if isinstance(name, str)])


def parquet_row_counts(opened: Any) -> list[int]:
    """Return the number of rows of each row group of a Parquet file.

    Raise an error if their sum is not the number of rows of the file. The metadata of
    columns is not used, because pyarrow crashes if this metadata is damaged.
    """
    metadata = opened.metadata
    counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(counts, default=0) < 0 or metadata.num_rows != sum(counts):
        raise ValueError(f"row groups of {counts[:5]} rows do not add up to {metadata.num_rows}")
    return counts


def holds_numbers(type_: Any) -> bool:
    """Return whether a pyarrow type is numeric or null (a column without values)."""
    from pyarrow import types

    tests = (types.is_floating, types.is_integer, types.is_decimal, types.is_null)
    return any(test(type_) for test in tests)


def _chosen_columns(
    file: InputFile,
    frame: Any,
    names: Sequence[str],
    choice: Choice,
    options: ReadOptions,
    where: Callable[[int, int], str],
) -> ReadResult:
    """Apply the options about strings and missing values to the selected columns of a file.

    `frame` has the columns that `choice` selects, and `names` are the names of all columns.
    `where(row, place)` describes a cell for messages, given the index of its row and the position
    of its column.
    """
    import pyarrow as pa

    null_words = {"", *options.missing_words}
    columns = {
        place: _with_nulls(column, null_words)
        for place, column in zip(choice.kept, frame.columns, strict=True)
    }
    numeric = {place: c for place, c in columns.items() if holds_numbers(c.type)}
    left_out, notes = list(choice.dropped), []
    if options.text != "keep" and len(numeric) < len(columns):
        text = {place: _first_text(c) for place, c in columns.items() if place not in numeric}
        if options.text == "raise":
            _refuse_text(file, columns, names, text, where)
        about = [f"{names[place]!r} (text such as {cell!r})" for place, (_, cell) in text.items()]
        notes.append(f"left out of {file.path}: {listed(about)}")
        left_out += [names[place] for place in text]
        columns = numeric
    if not columns:
        refuse(file.path, "none of its columns is numeric")
    if not options.missing:
        _refuse_missing(file, numeric, where)
    # A column without values is numeric.
    empty = {p: c.cast(pa.float64()) for p, c in numeric.items() if pa.types.is_null(c.type)}
    chosen = columns | empty
    stored = dict(zip(choice.kept, frame.schema, strict=True))
    fields = [pa.field(names[p], c.type, metadata=stored[p].metadata) for p, c in chosen.items()]
    table = pa.Table.from_arrays([*chosen.values()], schema=pa.schema(fields))
    labels = tuple(table.column_names)
    return ReadResult(table, labels, left_out, notes, choice.absent, names=tuple(names))


def _refuse_text(
    file: InputFile,
    columns: Mapping[int, Any],
    names: Sequence[str],
    text: Mapping[int, tuple[int, str]],
    where: Callable[[int, int], str],
) -> NoReturn:
    """Raise the error about non-numeric columns of a table that must be numeric.

    `columns` has the selected columns by position, and `names` the names of all columns. `text` has
    the result of `_first_text` for each non-numeric column, by position. The message describes the
    cell with the smallest row index by `where(row, place)`, given its row and position.
    """
    place = min(text, key=lambda place: text[place][0])
    row, cell = text[place]
    named = [names[place] for place in text]
    advice = "leave out such columns with --numeric-only"
    is_mark = not any(letter.isalnum() for letter in cell)
    if is_mark or _is_mostly_numbers(columns[place]):
        missing = f"read them as missing values with --missing {cell}"
        advice = f"correct the values, or {missing}, or {advice}"
    if len(named) <= MOST_NAMED:
        advice += f" or --drop {','.join(named)}"
    others = f"text, booleans or dates in {listed([*map(repr, named)])}"
    refuse(file.path, f"{where(row, place)}: {cell!r} is not a number ({others}); {advice}")


def _refuse_missing(
    file: InputFile, columns: Mapping[int, Any], where: Callable[[int, int], str]
) -> None:
    """Raise an error if a column of numbers has a missing value.

    `columns` has the columns by position. `where(row, place)` describes a cell for the message,
    given the index of its row and the position of its column.
    """
    for place, column in columns.items():
        if column.null_count:
            at = where(_first(column.is_null()), place)
            count = f"{column.null_count} of {len(column)} in this column"
            advice = "impute the values, or remove --nan-policy raise"
            refuse(file.path, f"{at}: the value is missing ({count}); {advice}")


def _with_nulls(column: Any, words: Collection[str]) -> Any:
    """Return a column of strings in which the strings in `words` are replaced by null.

    Other columns are returned unchanged.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _has_strings(column):
        return column
    missing = pc.is_in(column, value_set=pa.array(sorted(words), column.type))
    return pc.if_else(missing, pa.scalar(None, column.type), column)


def _has_strings(column: Any) -> bool:
    from pyarrow import types

    return types.is_string(column.type) or types.is_large_string(column.type)


def _first(mask: Any) -> int:
    return int(mask.index(True).as_py())


def _first_text(column: Any) -> tuple[int, str]:
    """Return the row index and the content of a non-numeric cell of a column, for a message.

    It is the first string that is not a number. In a column without such a string, for example of
    dates, it is the first cell that is not missing.
    """
    row = max(_first(column.is_valid()), 0)
    if _has_strings(column):
        faults = Numerals(column.to_pylist()).faults()
        row = int(faults.argmax()) if faults.any() else row
    return row, str(column[row].as_py())


def _is_mostly_numbers(column: Any) -> bool:
    """Return whether more than half of the strings of a column are numbers."""
    if not _has_strings(column):
        return False
    numerals = Numerals(column.to_pylist())
    return 2 * numerals.count > numerals.rows


# -- .npy files -----------------------------------------------------------------------------------


def _read_array(file: InputFile, options: ReadOptions) -> ReadResult:
    points = array_of(file)
    names = tuple(numbered(np.atleast_2d(points).shape[1]))
    if options.columns is None and not options.drop:
        return ReadResult(points, None, names=names)
    if points.ndim != 2:
        refuse(file.path, f"it contains an array of shape {points.shape}, which has no columns")
    choice = choose_columns(names, options, file.path)
    # Selecting columns may give a column-major array, which is copied to row-major order.
    chosen = np.ascontiguousarray(points[:, choice.kept])
    return ReadResult(chosen, None, choice.dropped, [], choice.absent, names=names)


def array_of(file: InputFile) -> np.ndarray:
    """Return the array in a .npy file, memory-mapped if it is on disk and not compressed."""
    try:
        with file.open() as stream:
            if stream.read(2) == b"PK":
                refuse(file.path, "it is an archive of arrays; save one of them with numpy.save")
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            shape, _ = read_npy_header(stream, size)
            stream.seek(0)
            if file.plain and 0 not in shape:
                return np.load(file.path, mmap_mode="r", allow_pickle=False)
            return np.load(stream, allow_pickle=False)
    except Exception as error:
        refuse_damaged(file, error)
