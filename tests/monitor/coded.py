"""Tables of numbers and codes of categories, without reading a data frame."""

from __future__ import annotations

import numpy as np

from isodepth.table.columns import Column
from isodepth.table.table import Schema, Table

#: Categories that the schema knows.
CATEGORIES = tuple(f"{i:02d}" for i in range(60))


def coded(rows: np.ndarray, width: int) -> Table:
    """Return rows (n, d + C) with d = `width` numeric columns as a table.

    The other columns are codes of known categories, negative codes of new ones, or NaN.
    """
    codes = rows[:, width:]
    new = len(CATEGORIES) - 1 - codes
    codes = np.where(np.isnan(codes), -1, np.where(codes < 0, new, codes)).astype(np.int32)
    columns = tuple(
        Column(f"c{j}", "numeric", "numeric") if j < width
        else Column(f"c{j}", "category", "category", categories=CATEGORIES)
        for j in range(rows.shape[1])
    )  # fmt: skip
    words = tuple(
        tuple(f"new {i}" for i in range(max(column.max(initial=0) + 1 - len(CATEGORIES), 0)))
        for column in codes.T
    )
    return Table(rows[:, :width], codes, Schema(columns), new_words=words)
