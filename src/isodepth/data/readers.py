"""Tables of numbers from files and pipes, of every kind that is known."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence

from isodepth.data.array_files import read_array
from isodepth.data.arrow_tables import read_arrow
from isodepth.data.file_source import ENDINGS, Source, open_source, refuse
from isodepth.data.frames import Table
from isodepth.data.text_tables import header_of, read_text
from isodepth.data.wishes import Found, Wish

_READERS: dict[str, Callable[[Source, Wish], Found]] = {
    ".csv": read_text,
    ".tsv": read_text,
    ".parquet": read_arrow,
    ".feather": read_arrow,
    ".npy": read_array,
    ".npz": read_array,
}


def read_table(
    path: str | os.PathLike[str],
    *,
    missing: bool = False,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    drop_text: bool = False,
) -> Table:
    """Read a table of numbers from a file.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in one of the following, or in one of them and ``.gz``.

        * ``.csv``, ``.tsv``: UTF-8, separated by commas or tabs. A first row without any number is
          a header; every other cell must hold a number, or true or false, which count 1 and 0.
        * ``.parquet``, ``.feather``: need pyarrow. Every column must be of an integer, floating or
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
    wish = Wish(missing=missing, columns=columns, drop=drop, drop_text=drop_text)
    return read_file(path, wish).table


def read_file(path: str | os.PathLike[str] | Source, wish: Wish) -> Found:
    """Read a table, with what else there is to know about it."""
    source = path if isinstance(path, Source) else open_source(path)
    try:
        found = reader_of(source)(source, wish)
    except OSError as error:
        refuse(source.file, error.strerror or str(error), error)
    points = found.table.points
    if points.ndim == 2 and len(points) == 1:
        found.notes.append(f"{source.file} has one row only")
    return found


def reader_of(source: Source) -> Callable[[Source, Wish], Found]:
    """What reads files of that kind."""
    reader = _READERS.get(source.ending)
    if reader is None:
        ending = source.ending
        said = f"its name ends in {ending!r}" if ending else "its name has no ending"
        refuse(source.file, f"{said}; the known ones are {', '.join(ENDINGS)}, also with .gz")
    return reader


def csv_header(path: str | os.PathLike[str]) -> tuple[tuple[str, ...] | None, int, int]:
    """Column names of a file, how many lines to skip for them, and how many cells a row has."""
    source = open_source(path)
    try:
        return header_of(source)
    except UnicodeDecodeError as error:
        refuse(source.file, f"it is not UTF-8 text (byte {error.start} of a block)", error)
    except csv.Error as error:
        refuse(source.file, f"its quotes are damaged ({error})", error)
