"""Reading of one file as a table, as the command line reads it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from isodepth.errors import ColumnWarning, warn_user
from isodepth.table import readers


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> Any:
    """Read a table from a CSV, TSV, Parquet or NumPy file, as the command line reads it.

    The delimiter, the decimal mark and the header of a text file are detected.

    Parameters
    ----------
    path : str or path-like
        Name of the file, which ends in .csv, .tsv, .parquet or .npy; text files also in .gz.
    columns : sequence of str, optional
        Columns to read, in this order; all by default. Columns without names are "0", "1", ...
    drop : sequence of str
        Columns to leave out.
    missing : sequence of str
        Strings that stand for missing values, in addition to the empty string.

    Returns
    -------
    table : pyarrow.Table, or ndarray of shape (n, d)
        An array for a .npy file, and for a text file of numbers without a header.

    Examples
    --------
    >>> import isodepth
    >>> table = isodepth.read_table("examples/weather/june.csv", columns=["temp", "dewp"])
    >>> table.column_names
    ['temp', 'dewp']
    """
    options = readers.ReadOptions(
        missing=True, columns=columns, drop=drop, text="keep", missing_words=missing
    )
    result = readers.read_table(path, options)
    for text in result.notes:
        warn_user(text, ColumnWarning)
    if result.columns is None and result.numbers.points.shape[1] == result.frame.shape[1]:
        return result.numbers.points
    return result.frame
