"""Known changes of a table, which a comparison should find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.answers.tables import RealTable

SENTINEL = -9999.0
GARBAGE_SHARE = 0.05


@dataclass(frozen=True)
class Changed:
    """The second sample after a change.

    Attributes
    ----------
    frame : pandas.DataFrame
    columns : tuple of str
        Changed columns; empty without a change.
    rows : bool ndarray of shape (m,)
        Rows that are wrong; all False if the change concerns the whole distribution.
    kind : str or None
        Kind of change that a report should name.
    """

    frame: Any
    columns: tuple[str, ...]
    rows: np.ndarray
    kind: str | None


def change(name: str, table: RealTable, y: Any, seed: int) -> Changed:
    """Apply the change with the name `name`, a key of `CHANGES`, to the second sample of a table.

    `y` is the second sample.
    """
    rng = np.random.default_rng([0xC4A7, seed, list(CHANGES).index(name)])
    return CHANGES[name](table, y.copy(), rng)


def add_garbage(table: RealTable, frame: Any, seed: int, share: float = GARBAGE_SHARE) -> Any:
    """Replace the numbers in a share of the rows by values far from the data.

    If both samples have the same share of such rows, their distributions differ only by the change.
    """
    rng = np.random.default_rng([0x6A4B, seed])
    frame = frame.copy()
    rows = _draw(frame, share, rng)
    for column in table.numeric:
        values = table.frame[column]
        wild = values.median() + 10 * values.std() * rng.standard_cauchy(int(rows.sum()))
        frame[column] = frame[column].astype(float)
        frame.loc[rows, column] = wild
    return frame


def _none(table: RealTable, y: Any, rng: np.random.Generator) -> Changed:
    return Changed(y, (), _no_rows(y), None)


def _shift(table: RealTable, y: Any, rng: np.random.Generator) -> Changed:
    """Shift `table.column` in `y` by 0.6 standard deviations of this column in the table."""
    y[table.column] = y[table.column] + 0.6 * table.frame[table.column].std()
    return Changed(y, (table.column,), _no_rows(y), "location")


def _scale(table: RealTable, y: Any, rng: np.random.Generator) -> Changed:
    """Multiply the deviations of one column from its median by 1.5."""
    middle = table.frame[table.column].median()
    y[table.column] = middle + 1.5 * (y[table.column] - middle)
    return Changed(y, (table.column,), _no_rows(y), "spread")


def _correlation(table: RealTable, y: Any, rng: np.random.Generator) -> Changed:
    """Permute one of two dependent columns: only the dependence of the columns changes."""
    column = table.pair[1]
    y[column] = rng.permutation(y[column].to_numpy())
    return Changed(y, table.pair, _no_rows(y), "dependence")


def _new_category(table: RealTable, y: Any, rng: np.random.Generator) -> Changed:
    """Give 6% of the rows a category that did not exist before."""
    rows = _draw(y, 0.06, rng)
    y[table.category] = y[table.category].astype(object)
    y.loc[rows, table.category] = "NEW"
    return Changed(y, (str(table.category),), rows, "shares")


def _shares(table: RealTable, y: Any, rng: np.random.Generator) -> Changed:
    """Replace half of the rows of the most frequent category by rows of other categories."""
    values = y[table.category]
    first = values == values.mode()[0]
    drop = first & (rng.random(len(y)) < 0.5)
    other = rng.choice(np.flatnonzero(~first.to_numpy()), int(drop.sum()))
    y.loc[drop, :] = y.iloc[other].to_numpy()
    return Changed(y.infer_objects(), (str(table.category),), _no_rows(y), "shares")


def _missing(table: RealTable, y: Any, rng: np.random.Generator) -> Changed:
    """Remove 15% of the values of one column."""
    y[table.column] = y[table.column].astype(float)
    y.loc[_draw(y, 0.15, rng), table.column] = np.nan
    return Changed(y, (table.column,), _no_rows(y), "missing")


def _units(table: RealTable, y: Any, rng: np.random.Generator) -> Changed:
    """Record 3% of the values of one column in wrong units."""
    column, factor, offset, _ = table.units
    rows = _draw(y, 0.03, rng) & y[column].notna().to_numpy()
    y[column] = y[column].astype(float)
    y.loc[rows, column] = y.loc[rows, column] * factor + offset
    return Changed(y, (column,), rows, None)


def _sentinel(table: RealTable, y: Any, rng: np.random.Generator) -> Changed:
    """Write -9999 into all numeric columns of 8% of the rows."""
    rows = _draw(y, 0.08, rng)
    for column in table.numeric:
        y[column] = y[column].astype(float)
        y.loc[rows, column] = SENTINEL
    return Changed(y, tuple(table.numeric), rows, None)


def _draw(frame: Any, share: float, rng: np.random.Generator) -> np.ndarray:
    """Select a share of the rows at random, as a mask."""
    rows = _no_rows(frame)
    rows[rng.choice(len(frame), max(1, round(share * len(frame))), replace=False)] = True
    return rows


def _no_rows(y: Any) -> np.ndarray:
    return np.zeros(len(y), dtype=bool)


CHANGES: dict[str, Callable[[RealTable, Any, np.random.Generator], Changed]] = {
    "none": _none, "shift": _shift, "scale": _scale, "correlation": _correlation,
    "new category": _new_category, "shares": _shares, "missing": _missing, "units": _units,
    "sentinel": _sentinel,
}  # fmt: skip
