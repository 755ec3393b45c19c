"""`isodepth.read_table`, which reads a file as the command line does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from isodepth.base.options import takes
from isodepth.errors import ColumnWarning, InvalidInputError, warn_user
from isodepth.table.readers import ReadOptions
from isodepth.table.readers import read_table as read_file


@takes()
def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    drop: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> Any:
    """Read a table from a file as the command line reads it.

    Results of the table are those of the command for the file. Text files have no types: the
    command decides the type of a column from all files together. A column of the table has the
    type of its values in this file, and remembers its strings if they are needed to compare it with
    strings of another file: ``01`` remains ``01`` if the column is a category.

    Parameters
    ----------
    path : str or path
        A ``.csv``, ``.tsv``, ``.parquet`` or ``.npy`` file, also with ``.gz``.
    columns : sequence of str or None
        Names of the columns to read, in this order; None for all.
    drop : sequence of str
        Names of columns to leave out; the file need not have these columns.
    missing : sequence of str
        Words that stand for missing values in all columns, in addition to the empty cell.

    Returns
    -------
    table : pyarrow.Table, or ndarray of shape (n, d) for .npy
        Columns of a file without a header have the names "0", "1", ...

    Warns
    -----
    ColumnWarning
        If the file has an unusual format, or integers with leading zeros.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import isodepth
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "t.csv")
    ...     _ = path.write_text("site,wind\\nEWR,3.5\\nJFK,\\n")
    ...     table = isodepth.read_table(path)
    >>> table.to_pydict()
    {'site': ['EWR', 'JFK'], 'wind': [3.5, None]}
    """
    for name, value in (("columns", columns), ("drop", drop), ("missing", missing)):
        if isinstance(value, str):
            raise InvalidInputError(
                f"{name} must be a sequence of strings, got {value!r}; write [{value!r}]"
            )
    options = ReadOptions(
        missing=True, columns=columns, drop=drop, text="keep", missing_words=missing
    )
    result = read_file(path, options)
    for note in result.notes:
        warn_user(note, ColumnWarning)
    return result.frame
