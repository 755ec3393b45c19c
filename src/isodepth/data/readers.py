"""Tables from files and pipes: what to read of them, and reading every kind that is known."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from isodepth.data import csv_files
from isodepth.data.arrays import did_you_mean, listed, numbered
from isodepth.data.frames import Names, Table, read_frame
from isodepth.data.input_file import (
    ARROW_ENDINGS,
    ENDINGS,
    TEXT_ENDINGS,
    InputFile,
    open_input,
    read_npy_header,
    refuse,
)
from isodepth.data.numerals import Numerals
from isodepth.errors import InvalidOptionError, IsodepthError

# Names are listed in a message until there are this many.
MOST_NAMED = 20
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{4}")


@dataclass(frozen=True)
class ReadOptions:
    """What to read of a table.

    Attributes
    ----------
    missing : bool
        Whether values may be missing.
    columns : sequence of str or None
        The columns to read, in this order; None for all.
    drop : sequence of str
        Columns to leave out.
    text : {"raise", "drop", "keep", "labels"}
        What becomes of columns that hold text or dates. With "labels" all columns of a text file
        are read as text.
    categories : sequence of str
        Columns that may hold numbers and texts, with ``text="keep"``.
    missing_words : sequence of str
        Cells with these strings are missing, in all columns; empty cells always are.
    lenient : bool
        Whether a column that is to be left out may be absent.
    drop_hint, text_hint, missing_hint : str
        How to leave out columns by name, all columns of text, and rows with missing values, in the
        words of Python or of a shell.
    """

    missing: bool = False
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    text: str = "raise"
    categories: Sequence[str] = ()
    missing_words: Sequence[str] = ()
    lenient: bool = False
    drop_hint: str = "drop={names!r}"
    text_hint: str = "drop_text=True"
    missing_hint: str = ""


@dataclass
class ReadResult:
    """What was read.

    Attributes
    ----------
    frame : pyarrow.Table, or ndarray of shape (n, d) for .npy and .npz
        The chosen columns in their order. With ``text="keep"`` those of text and dates are among
        them, as Arrow columns that `frame[name].to_numpy()` turns into arrays of objects.
    columns : tuple of str or None
        Their names; None where the file has none.
    left_out : list of str
        Columns that were left out: by name, or because they hold text.
    notes : list of str
        What a person should know about the file.
    absent : list of str
        Columns that were to be left out and are not there.
    path : Path
    """

    frame: Any
    columns: Names
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    path: Path = Path()

    @cached_property
    def numbers(self) -> Table:
        """The columns of numbers alone, with NaN for what is missing; none may be left."""
        if isinstance(self.frame, np.ndarray):
            return Table(self.frame, self.columns)
        kinds = {field.name: field.type for field in self.frame.schema}
        names = [name for name, kind in kinds.items() if holds_numbers(kind) and kind != "bool"]
        points, _ = read_frame(self.frame.select(names), "the table")
        return Table(points, self.columns if len(names) == self.frame.num_columns else tuple(names))

    @property
    def mixed(self) -> Any:
        """All columns: the frame where there are others than numbers, else the numbers."""
        whole = self.numbers.points.shape[1:] == self.frame.shape[1:]
        return self.numbers if whole else self.frame


class Choice(NamedTuple):
    """Places of the columns that are wanted, and what is left out."""

    kept: list[int]
    dropped: list[str]
    absent: list[str]


def choose_columns(names: Sequence[str], options: ReadOptions, file: object) -> Choice:
    """Which of the columns of a file are wanted.

    Examples
    --------
    >>> choose_columns(["a", "b", "c"], ReadOptions(drop=["b,d"], lenient=True), "t.csv")
    Choice(kept=[0, 2], dropped=['b'], absent=['d'])
    >>> choose_columns(["a", "b", "c"], ReadOptions(columns=["c,a"]), "table.csv").kept
    [2, 0]
    """
    places = {name: place for place, name in enumerate(names)}

    def parts(wanted: Sequence[str]) -> list[str]:
        # A name may hold commas itself.
        split = ([name] if name in places else name.split(",") for name in wanted)
        return list(dict.fromkeys(name for part in split for name in part))

    wanted = names if options.columns is None else parts(options.columns)
    dropped = parts(options.drop)
    for name in (*wanted, *(() if options.lenient else dropped)):
        if name not in places:
            raise unknown_column(name, names, file)
    kept = [places[name] for name in wanted if name not in dropped]
    if not kept:
        raise InvalidOptionError(f"no column of {file} is left; it has {listed(names)}")
    there = [name for name in dropped if name in places]
    return Choice(kept, there, [name for name in dropped if name not in places])


def unknown_column(name: str, names: Sequence[str], file: object) -> InvalidOptionError:
    """The error for a column that is not there."""
    hint = did_you_mean(name, names)
    return InvalidOptionError(f"{file} has no column {name!r}{hint} (it has {listed(names)})")


# -- reading --------------------------------------------------------------------------------------

EVERYTHING = ReadOptions()


def read_table(
    path: str | os.PathLike[str],
    *,
    missing: bool = False,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    drop_text: bool = False,
    keep_text: bool = False,
) -> Any:
    """Read a table from a file: numbers, or with `keep_text` a mixed one.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in one of the following, or in one of them and ``.gz``.

        * ``.csv``, ``.tsv``: UTF-8 text. The separator of a ``.csv`` file (comma, semicolon, tab or
          vertical bar) and decimal commas are detected. A first row without any number is a
          header; every other cell must hold a number, or true or false, which count 1 and 0.
        * ``.parquet``, ``.feather``: every column must be of an integer, floating, decimal or
          boolean type and complete. Columns that hold a pandas index are left out, as they are for
          frames.
        * ``.npy``: opened as a read-only memory map; files that hold Python objects are refused.
        * ``.npz``: an archive of one array, or one of several as in ``archive.npz:name``.

        A pipe (``mkfifo``, ``<(...)`` of a shell, ``/dev/stdin``) is read once, into memory, as
        what its name ends in, or as what it begins like; ``"-"`` is standard input.
    missing : bool
        Whether values may be missing: empty cells, cells that say NA or null, and missing values
        of parquet become NaN, and are refused otherwise.
    columns : sequence of str, optional
        The columns to read, in this order; all by default. Columns without names are "0", "1", ...
    drop : sequence of str
        Columns to leave out.
    drop_text : bool
        Whether to leave out every column that holds text or dates; otherwise they are refused.
    keep_text : bool
        Whether to keep them: a table that has any, or booleans, is a `pyarrow.Table`, which is
        compared like any data frame. Columns of numbers with a few cells of text are refused.

    Returns
    -------
    table : Table, or pyarrow.Table with `keep_text`
        A pair ``(points, columns)``: the numbers, shape (n, d), and the column names, None where
        the file has none. A ``.npy`` file keeps its shape and dtype; the others give float32
        where all columns are float32 and float64 everywhere else.

    Raises
    ------
    UnreadableFileError
        The file is missing, damaged, of an unknown kind, or holds something that is not a number.
        The message is one line and says where.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "wine.csv")
    ...     _ = path.write_text("alcohol;ash\\n14,23;2,43\\n13,2;2,14\\n")
    ...     points, columns = read_table(path)
    >>> points
    array([[14.23,  2.43],
           [13.2 ,  2.14]])
    >>> columns
    ('alcohol', 'ash')
    """
    if drop_text and keep_text:
        raise InvalidOptionError("drop_text and keep_text contradict each other; give one of them")
    text = "drop" if drop_text else "keep" if keep_text else "raise"
    found = read_with_options(path, ReadOptions(missing, columns, drop, text))
    return found.mixed if keep_text else found.numbers


def read_with_options(
    path: str | os.PathLike[str] | InputFile, options: ReadOptions = EVERYTHING
) -> ReadResult:
    """Read a table, with what else there is to know about it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.csv")
    ...     _ = path.write_text("site,wind\\nEWR,3.5\\nJFK,\\n")
    ...     result = read_with_options(path, ReadOptions(missing=True, text="keep"))
    >>> result.frame.schema.names, result.frame["site"].to_numpy()
    (['site', 'wind'], array(['EWR', 'JFK'], dtype=object))
    """
    file = path if isinstance(path, InputFile) else open_input(path)
    check_ending(file)
    try:
        if file.ending in TEXT_ENDINGS:
            result = _read_csv(file, options)
        elif file.ending in ARROW_ENDINGS:
            result = _read_arrow(file, options)
        else:
            result = _read_array(file, options)
    except OSError as error:
        refuse(file.path, error.strerror or str(error), error)
    result.path = file.path
    if len(result.frame.shape) == 2 and len(result.frame) == 1:
        result.notes.append(f"{file.path} has one row only")
    return result


def check_ending(file: InputFile) -> None:
    """Refuse a file whose name does not say what kind of table it is."""
    if file.ending not in ENDINGS:
        said = f"its name ends in {file.ending!r}" if file.ending else "its name has no ending"
        refuse(file.path, f"{said}; the known ones are {', '.join(ENDINGS)}, also with .gz")


# -- text and Arrow -------------------------------------------------------------------------------


def _read_csv(file: InputFile, options: ReadOptions) -> ReadResult:
    form = csv_files.csv_format(file)
    names = form.names or numbered(form.width)
    choice = choose_columns(names, options, file.path)
    frame = csv_files.read_csv_columns(
        file, form, choice.kept, options.text == "labels", options.missing_words
    )

    def where(row: int, place: int) -> str:
        return csv_files.cell_name(form, csv_files.line_of_row(file, form, row), place)

    result = _chosen_columns(file, frame, names, choice, options, where)
    result.notes[:0] = form.notes(file)
    if form.names is None:
        result.columns = None
    return result


def _read_arrow(file: InputFile, options: ReadOptions) -> ReadResult:
    try:
        frame = without_index(arrow_table(file))
        names = frame.column_names
        if not frame.num_columns or not frame.num_rows:
            refuse(file.path, f"it holds {frame.num_rows} rows and {frame.num_columns} columns")
        csv_files.check_distinct(file.path, names)
        choice = choose_columns(names, options, file.path)

        def where(row: int, place: int) -> str:
            return f"row {row}, column {names[place]!r} is of type {frame.schema.field(place).type}"

        return _chosen_columns(file, frame.select(choice.kept), names, choice, options, where)
    except Exception as error:
        refuse_damaged(file, error)


def refuse_damaged(file: InputFile, error: Exception) -> NoReturn:
    """Raise the error for a file that a library could not read; our own errors stay."""
    if isinstance(error, IsodepthError) or (isinstance(error, OSError) and error.errno):
        raise error
    if isinstance(error, MemoryError):
        refuse(file.path, f"it does not fit into memory {error}", error)
    # A flipped bit can surface as any error of pyarrow, zipfile, NumPy or Python.
    kind = file.ending.removeprefix(".")
    refuse(file.path, f"it is damaged or not a {kind} file ({error})", error)


def arrow_table(file: InputFile) -> Any:
    """All columns of a parquet or feather file as a table of pyarrow."""
    from pyarrow import feather, parquet

    with file.open() as stream:
        if file.ending == ".feather":
            return feather.read_table(stream, use_threads=False, memory_map=False)
        # Not parquet.read_table, which makes columns of the names of folders ("year=2020").
        with parquet.ParquetFile(stream) as opened:
            parquet_row_counts(opened)
            return opened.read(use_threads=False)


def without_index(table: Any) -> Any:
    """A table without the columns that hold a pandas index."""
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return table.drop_columns([name for name in index if isinstance(name, str)])


def parquet_row_counts(opened: Any) -> list[int]:
    """Rows of the row groups; counts that contradict each other are refused.

    The metadata of columns is left alone: where it is damaged, asking pyarrow for it ends the
    process, while reading the column raises an error.
    """
    metadata = opened.metadata
    counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(counts, default=0) < 0 or metadata.num_rows != sum(counts):
        raise ValueError(f"row groups of {counts[:5]} rows do not add up to {metadata.num_rows}")
    return counts


def holds_numbers(kind: Any) -> bool:
    """Whether a type of pyarrow is one of numbers; a column without any value is."""
    from pyarrow import types

    tests = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def _chosen_columns(
    file: InputFile,
    frame: Any,
    names: Sequence[str],
    choice: Choice,
    options: ReadOptions,
    where: Callable[[int, int], str],
) -> ReadResult:
    """What is made of the columns that were chosen."""
    import pyarrow as pa

    empty = {"", *options.missing_words}
    columns = {
        place: _with_nulls(column, empty)
        for place, column in zip(choice.kept, frame.columns, strict=True)
    }
    texts = [place for place in choice.kept if not holds_numbers(columns[place].type)]
    left_out, notes = list(choice.dropped), []
    if options.text in ("keep", "labels"):
        # A slip in a column of numbers would make a category of it.
        others = [] if options.text == "labels" else texts
        others = [place for place in others if names[place] not in options.categories]
        texts = [place for place in others if _mostly_numbers(columns[place])]
    if texts:
        faults = [(*_text_cells(columns[place]), place) for place in texts[:MOST_NAMED]]
        named = [names[place] for place in texts]
        if options.text != "drop":
            row, cell, _, place = min(faults, key=lambda fault: (fault[0], fault[-1]))
            kinds = " or ".join(sorted({_kind_of_text(fault[1]) for fault in faults}))
            by_name = options.drop_hint.format(names=named, joined=",".join(named))
            by_name = f"them out with {by_name}, or " if len(named) <= MOST_NAMED else "out "
            refuse(
                file.path,
                f"{where(row, place)}: {cell!r} is not a number; {kinds} in column(s) "
                f"{listed([*map(repr, named)])}: leave {by_name}all such columns with "
                f"{options.text_hint}",
            )
        about = []
        for row, cell, count, place in faults:
            total, such = len(frame) - columns[place].null_count, f", such as {cell!r}"
            if count < total:  # a slip in a column of numbers should not go unseen
                line = where(row, place).partition(",")[0]
                such = f" in {count} of {total} cells, the first {cell!r} in {line}"
            about.append(f"{names[place]!r} ({_kind_of_text(cell)}{such})")
        notes.append(f"left out of {file.path}: {listed([*about, *named[MOST_NAMED:]])}")
        left_out += named
        columns = {place: column for place, column in columns.items() if place not in texts}
        if not columns:
            refuse(file.path, "none of its columns holds numbers")
    holes = [
        (_first(column.is_null()), place)
        for place, column in columns.items()
        if column.null_count and holds_numbers(column.type)
    ]
    if holes and not options.missing:
        row, place = min(holes)
        refuse(
            file.path,
            f"{where(row, place)}: the cell is empty (empty in this column: "
            f"{columns[place].null_count} of {len(frame)}); fill in or drop incomplete rows"
            f"{options.missing_hint}",
        )
    for place, column in columns.items():
        boolean = pa.types.is_boolean(column.type) and options.text in ("raise", "drop")
        if boolean:
            said = f"column {names[place]!r} of {file.path} is boolean"
            notes.append(f"{said}: true is taken as 1")
        if boolean or pa.types.is_null(column.type):
            columns[place] = column.cast(pa.float64())
    table = pa.table({names[place]: column for place, column in columns.items()})
    return ReadResult(table, tuple(table.column_names), left_out, notes, choice.absent)


def _with_nulls(column: Any, words: Collection[str]) -> Any:
    """Return a column in which strings that stand for a missing value are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    missing = pc.is_in(column, value_set=pa.array(sorted(words), column.type))
    return pc.if_else(missing, pa.scalar(None, column.type), column)


def _mostly_numbers(column: Any) -> bool:
    """Whether more than half of the strings of a column are numbers, but not all of them."""
    from pyarrow import types

    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return False
    numerals = Numerals(column.to_pylist())
    return numerals.rows / 2 < numerals.count < numerals.rows


def _kind_of_text(cell: str) -> str:
    return "dates" if _DATE.match(cell.strip()) else "text"


def _first(mask: Any) -> int:
    return int(mask.index(True).as_py())


def _text_cells(column: Any) -> tuple[int, str, int]:
    """Return row and content of the first non-numeric cell, and the number of these cells."""
    from pyarrow import types

    if types.is_string(column.type) or types.is_large_string(column.type):
        faults = Numerals(column.to_pylist()).faults()
        if faults.any():
            row = int(faults.argmax())
            return row, column[row].as_py(), int(faults.sum())
    row = max(_first(column.is_valid()), 0)
    return row, str(column[row].as_py()), len(column) - column.null_count


# -- arrays ---------------------------------------------------------------------------------------


def _read_array(file: InputFile, options: ReadOptions) -> ReadResult:
    points = array_of(file)
    if options.columns is None and not options.drop:
        return ReadResult(points, None)
    if points.ndim != 2:
        refuse(file.path, f"it holds an array of shape {points.shape}, which has no columns")
    choice = choose_columns(numbered(points.shape[1]), options, file.path)
    # Not points[:, kept], which may lie in memory column by column.
    chosen = np.ascontiguousarray(points[:, choice.kept])
    return ReadResult(chosen, None, choice.dropped, [], choice.absent)


def array_of(file: InputFile) -> np.ndarray:
    """The array in a .npy or .npz file; a plain .npy file is mapped into memory."""
    try:
        if file.ending == ".npz":
            return _array_of_archive(file)
        with file.open() as stream:
            if stream.read(2) == b"PK":
                refuse(file.path, "it is an archive of arrays; name it .npz, or use numpy.save")
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            shape, _ = read_npy_header(stream, size)
            stream.seek(0)
            if file.plain and 0 not in shape:
                return np.load(file.path, mmap_mode="r", allow_pickle=False)
            return np.load(stream, allow_pickle=False)
    except Exception as error:
        refuse_damaged(file, error)


def _array_of_archive(file: InputFile) -> np.ndarray:
    with file.open() as stream, zipfile.ZipFile(stream) as archive:
        names = [n.removesuffix(".npy") for n in archive.namelist() if n.endswith(".npy")]
        if "header" in names and len(names) > 1:
            refuse(file.path, "it is a file of isodepth (tables or a monitor), not a table of rows")
        name = names[0] if file.member is None and len(names) == 1 else file.member
        if name not in names:
            if file.member is not None:
                refuse(file.path, f"it holds no array {file.member!r}; there are {listed(names)}")
            said = f"it holds {len(names)} arrays ({listed(names)}); say which one"
            refuse(file.path, f"{said}, such as {file.path}:{[*names, 'name'][0]}")
        with archive.open(f"{name}.npy") as member:
            about = read_npy_header(member, archive.getinfo(f"{name}.npy").file_size)
        try:
            with archive.open(f"{name}.npy") as member:
                return np.lib.format.read_array(member, allow_pickle=False)
        except MemoryError:
            raise MemoryError("(an array of shape {} and type {})".format(*about)) from None
