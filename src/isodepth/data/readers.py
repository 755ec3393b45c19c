"""Tables of numbers from files and pipes: .csv, .parquet and .npy."""

from __future__ import annotations

import csv
import io
import math
import os
import stat
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TextIO

import numpy as np

from isodepth.data.extras import load_extra
from isodepth.data.frames import Table
from isodepth.data.npy_header import MOST_HEADER_BYTES, read_npy_header
from isodepth.errors import UnreadableFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What programs write into the cell of a value that is missing.
_MISSING = ("", "na", "n/a", "nan", "null", "none")


def read_table(path: str | os.PathLike[str], *, missing: bool = False) -> Table:
    """Read a table of numbers from a file.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in ``.csv``, ``.parquet`` or ``.npy``.

        * ``.csv``: UTF-8, separated by commas. A first row without any number is a header; every
          other cell must hold a number.
        * ``.parquet``: needs pyarrow. Every column must be of an integer or floating type and
          complete. Columns that hold a pandas index are left out, as they are for frames.
        * ``.npy``: opened as a read-only memory map; files that hold Python objects are refused.

        A pipe (``mkfifo``, ``<(...)`` of a shell, ``/dev/stdin``) is read once, into memory, as
        what its name ends in, or as ``.csv``.
    missing : bool
        Whether values may be missing: empty cells, cells that say NA or null, and missing values
        of parquet become NaN, and are refused otherwise.

    Returns
    -------
    table : Table
        A pair ``(points, columns)``: the numbers, shape (n, d), and the column names, None where
        the file has none. A ``.npy`` file keeps its shape and dtype; the others give float32
        where all columns are float32 and float64 everywhere else.

    Raises
    ------
    UnreadableFileError
        The file is missing, damaged, of an unknown kind, or holds something that is not a number.
        The message is one line and says where.
    MissingExtraError
        The file needs a package that is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "wine.csv")
    ...     _ = path.write_text("alcohol,ash\\n14.23,2.43\\n13.2,2.14\\n")
    ...     points, columns = read_table(path)
    >>> points
    array([[14.23,  2.43],
           [13.2 ,  2.14]])
    >>> columns
    ('alcohol', 'ash')
    """
    source = _source(path)
    known = {".csv": _read_csv, ".parquet": _read_parquet, ".npy": _read_npy}
    # What comes through a pipe has no name of its own.
    ending = source.file.suffix.lower() or (".csv" if source.content is not None else "")
    reader: Callable[[_Source, bool], Table] | None = known.get(ending)
    if reader is None:
        said = f"its name ends in {ending!r}" if ending else "its name has no ending"
        _refuse(source.file, f"{said}; the known ones are {', '.join(known)}")
    try:
        return reader(source, missing)
    except OSError as error:
        _refuse(source.file, error.strerror or str(error), error)


class _Source(NamedTuple):
    """A file that can be opened again and again, or what came through a pipe."""

    file: Path
    content: bytes | None

    def lines(self) -> TextIO:
        if self.content is None:
            return self.file.open(encoding="utf-8-sig", newline="")
        return io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8-sig", newline="")


def _source(path: Any) -> _Source:
    try:
        file = Path(path)
    except TypeError:
        raise UnreadableFileError(f"a file is named by a text or a path, got {path!r}") from None
    try:
        mode = file.stat().st_mode
        if stat.S_ISDIR(mode):
            _refuse(file, "it is a folder, not a file")
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            _refuse(file, "it is a device, not a file")
        # A file that the shell opened as /dev/stdin can be read once as a pipe can.
        once = not stat.S_ISREG(mode) or file.is_relative_to("/dev")
        return _Source(file, file.read_bytes() if once else None)
    except (FileNotFoundError, NotADirectoryError) as error:
        _refuse(file, "there is no such file", error)
    except OSError as error:
        _refuse(file, error.strerror or str(error), error)
    except UnreadableFileError:
        raise
    except ValueError as error:  # a path with a null byte
        _refuse(file, str(error), error)


def _refuse(file: Path, reason: str, cause: Exception | None = None) -> NoReturn:
    # Messages of other libraries may span lines; a report of ours is always one.
    raise UnreadableFileError(f"cannot read {file}: {' '.join(reason.split())}") from cause


# -- csv ------------------------------------------------------------------------------------------


def _read_csv(source: _Source, missing: bool) -> Table:
    file = source.file
    try:
        columns, header_lines, width = _csv_header(source)
        points = _csv_numbers(source, header_lines)
        if points is None and missing:
            points = _csv_numbers(source, header_lines, _number_or_nan)
        if points is not None and points.size == 0:
            _refuse(file, "it has a header but no rows")
        if points is None or points.shape[1] != width:
            _refuse(file, _csv_fault(source, columns, header_lines, width, missing))
    except UnicodeDecodeError as error:
        _refuse(file, f"it is not UTF-8 text (byte {error.start} of a block)", error)
    except csv.Error as error:
        _refuse(file, f"its quotes are damaged ({error})", error)
    return Table(points, columns)


def csv_header(path: str | os.PathLike[str]) -> tuple[tuple[str, ...] | None, int, int]:
    """Column names of a file, how many lines to skip for them, and how many cells a row has."""
    source = _source(path)
    try:
        return _csv_header(source)
    except UnicodeDecodeError as error:
        _refuse(source.file, f"it is not UTF-8 text (byte {error.start} of a block)", error)
    except csv.Error as error:
        _refuse(source.file, f"its quotes are damaged ({error})", error)


def _csv_header(source: _Source) -> tuple[tuple[str, ...] | None, int, int]:
    """Column names, how many lines to skip for them, and how many cells a row must have."""
    file = source.file
    with source.lines() as lines:
        rows = csv.reader(lines, strict=True)
        first = next((row for row in rows if row), None)
        if first is None:
            _refuse(file, "it is empty")
        if any("\0" in cell for cell in first):
            _refuse(file, "it is not a text file")
        names = [cell.strip() for cell in first]
        if any(map(_is_number, names)) and all(_is_number(name) or not name for name in names):
            return None, 0, len(names)
        _check_names(file, names)
        return tuple(names), rows.line_num, len(names)


def _check_names(file: Path, names: Sequence[str]) -> None:
    number = next(filter(_is_number, names), None)
    if number is not None:
        text = next(name for name in names if name and not _is_number(name))
        _refuse(
            file,
            f"its first row mixes numbers ({number!r}) and text ({text!r}): "
            "it is neither a header nor data",
        )
    if "" in names:
        _refuse(
            file,
            f"column {names.index('') + 1} has no name in the header; if it is a row index, "
            "save the table without it (index=False in pandas)",
        )
    _check_distinct(file, names)


def _check_distinct(file: Path, names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        _refuse(file, f"two columns are named {twice!r}; give every column a name of its own")


def _csv_numbers(
    source: _Source, header_lines: int, convert: Any = None
) -> NDArray[np.float64] | None:
    """The numbers below the header, or None where something among them is not a number."""
    with source.lines() as lines, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*input contained no data.*")
        try:
            return np.loadtxt(
                lines,
                delimiter=",",
                comments=None,
                quotechar='"',
                skiprows=header_lines,
                ndmin=2,
                converters=convert,
            )
        except UnicodeDecodeError:
            raise
        except ValueError:
            return None


def _number_or_nan(cell: str) -> float:
    if cell.strip().lower() in _MISSING:
        return math.nan
    if not _is_number(cell):
        raise ValueError(cell)
    return float(cell)


def _csv_fault(
    source: _Source,
    columns: tuple[str, ...] | None,
    header_lines: int,
    width: int,
    missing: bool,
) -> str:
    """Say where a table that NumPy refused goes wrong: it is walked again, cell by cell."""
    with source.lines() as lines:
        rows = csv.reader(lines, strict=True)
        for row in rows:
            if not row or rows.line_num <= header_lines:
                continue
            if len(row) != width:
                return f"line {rows.line_num} has {len(row)} cells where {width} are expected"
            for position, cell in enumerate(row, start=1):
                if _is_number(cell) or (missing and cell.strip().lower() in _MISSING):
                    continue
                where = f"line {rows.line_num}, column {position}"
                where += f" ({columns[position - 1]!r})" if columns else ""
                if not cell.strip():
                    return f"{where}: the cell is empty; fill in or drop incomplete rows"
                separator = next((mark for mark in ";\t" if mark in cell), None)
                if width == 1 and separator:
                    return f"{where}: cells must be separated by commas, not by {separator!r}"
                return f"{where}: {cell!r} is not a number"
    return "its cells cannot be told apart; check quotes and line ends"


def _is_number(cell: str) -> bool:
    # float() takes "1_000", which no program writes into a table and NumPy refuses.
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


# -- parquet --------------------------------------------------------------------------------------


def _read_parquet(source: _Source, missing: bool) -> Table:
    file = source.file
    pa = load_extra("pyarrow", "frames", f"reading {file}")
    pq = load_extra("pyarrow.parquet", "frames", f"reading {file}")
    given = str(file) if source.content is None else pa.BufferReader(source.content)
    try:
        # Not pq.read_table, which makes columns of the names of folders such as "year=2020".
        with pq.ParquetFile(given) as opened:
            _check_parquet_rows(opened.metadata)
            return _parquet_table(opened.read(use_threads=False), file, missing)
    except UnreadableFileError:
        raise
    except Exception as error:
        # A flipped bit in the metadata can surface as any error of pyarrow or of Python.
        _refuse(file, f"it is damaged or not a parquet file ({error})", error)


def _check_parquet_rows(metadata: Any) -> None:
    """Refuse counts that contradict each other, before room is made for that many rows.

    The metadata of columns is left alone: where it is damaged, asking pyarrow for it ends the
    process, while reading the column raises an error.
    """
    counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(counts, default=0) < 0 or metadata.num_rows != sum(counts):
        raise ValueError(f"row groups of {counts} rows do not add up to {metadata.num_rows}")


def _parquet_table(table: Any, file: Path, missing: bool) -> Table:
    from pyarrow import types

    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    table = table.drop_columns([name for name in index if isinstance(name, str)])
    if not table.num_columns or not table.num_rows:
        _refuse(file, f"it holds {table.num_rows} rows and {table.num_columns} columns")
    for field, column in zip(table.schema, table.columns, strict=True):
        if not (types.is_floating(field.type) or types.is_integer(field.type)):
            _refuse(file, f"column {field.name!r} is of type {field.type}, not a number type")
        if column.null_count and not missing:
            _refuse(
                file,
                f"column {field.name!r} has {column.null_count} missing values; "
                "fill in or drop incomplete rows",
            )
    _check_distinct(file, table.column_names)
    single = all(types.is_float32(field.type) for field in table.schema)
    points = np.empty((table.num_rows, table.num_columns), np.float32 if single else np.float64)
    for position, column in enumerate(table.columns):
        points[:, position] = column.to_numpy()
    return Table(points, tuple(table.column_names))


# -- npy ------------------------------------------------------------------------------------------


def _read_npy(source: _Source, missing: bool) -> Table:
    file = source.file
    if source.content is None:
        size = file.stat().st_size
        with file.open("rb") as opened:
            start = opened.read(MOST_HEADER_BYTES)
    else:
        size, start = len(source.content), source.content[:MOST_HEADER_BYTES]
    if start.startswith(b"PK"):
        _refuse(file, "it is an archive of arrays; save one of them with numpy.save")
    try:
        dtype, order, shape, offset = read_npy_header(start)
        needed = math.prod(shape) * dtype.itemsize
        if needed != size - offset:
            raise ValueError(
                f"an array of shape {shape} and type {dtype} takes {needed} bytes, there are "
                f"{size - offset}"
            )
        if source.content is not None or not needed:
            content = source.content or b""
            flat = np.frombuffer(content, dtype, math.prod(shape), offset if needed else 0)
            return Table(flat.reshape(shape, order=order), None)
        return Table(np.memmap(file, dtype, "r", offset, shape, order), None)
    except (ValueError, TypeError) as error:
        _refuse(file, f"it is not a .npy file of numbers, or is damaged ({error})", error)
