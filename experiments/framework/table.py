"""Raw results as a CSV file that can be interrupted and continued, and read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np


class OtherResultsError(Exception):
    """Error if a file has results of other settings than those of this run."""


def cells(row: Sequence[Any]) -> list[str]:
    """Format a row as strings; floats are written without rounding."""
    return [repr(float(cell)) if isinstance(cell, float) else str(cell) for cell in row]


def text_of(row: Sequence[Any]) -> str:
    """Format one line of CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells(row))
    return buffer.getvalue()


def complete_rows(path: Path) -> list[list[str]]:
    """Return the complete rows of a file that may be truncated anywhere."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return list(csv.reader(io.StringIO(text[: text.rfind("\n") + 1])))


class Table:
    """Columns of equal length with selection by value.

    A column is numeric if all its cells are numbers.
    """

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        self.columns = columns

    @classmethod
    def read(cls, path: Path) -> Table:
        """Read a table from a CSV file with a header."""
        header, *rows = complete_rows(path)
        columns = zip(*rows, strict=True) if rows else ([] for _ in header)
        return cls({name: _typed(column) for name, column in zip(header, columns, strict=True)})

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def where(self, **values: Any) -> Table:
        """Select the rows in which each named column has the given value."""
        chosen = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            column = self.columns[name]
            chosen &= column == (value if column.dtype.kind == "f" else str(value))
        return Table({name: column[chosen] for name, column in self.columns.items()})

    def distinct(self, name: str) -> list[Any]:
        """Return the distinct values of a column in the order of their first occurrence."""
        return list(dict.fromkeys(self.columns[name].tolist()))

    def groups(self, name: str) -> Iterator[tuple[Any, Table]]:
        """Yield each value of a column with its rows."""
        for value in self.distinct(name):
            yield value, self.where(**{name: value})


def _typed(column: Sequence[str]) -> np.ndarray:
    try:
        return np.array([float(cell) for cell in column])
    except ValueError:
        return np.array(column, dtype=str)
