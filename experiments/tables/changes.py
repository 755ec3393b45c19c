"""Known changes of the second of two random halves of any table.

Each change draws the column that it affects, with the seed of the comparison, among the columns in
which the change can be made. A change that is impossible in a table returns None.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.tables.sources import numeric_columns

SENTINEL = -9999.0
GARBAGE_SHARE = 0.05
#: Factors of a change of unit: inches, pounds, miles, months, thousands, and their inverses.
UNITS = (2.54, 0.4536, 1.609, 12.0, 1000.0, 0.3937, 2.205, 0.001)

#: Mark in `Changed.detail` of a multiplication of a column whose median is about zero.
CENTERED = ", centered"


@dataclass(frozen=True)
class Changed:
    """The second sample after a change.

    Attributes
    ----------
    frame : pandas.DataFrame
    columns : tuple of str
        Changed columns; empty without a change, and if whole rows are repeated.
    rows : bool ndarray of shape (m,)
        Rows that are wrong; all False if the change concerns a whole column.
    detail : str
        Size of the change, for a reader of the results.
    """

    frame: pd.DataFrame
    columns: tuple[str, ...]
    rows: np.ndarray
    detail: str


def halves(frame: pd.DataFrame, seed: int, max_rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split the rows at random into two halves of at most `max_rows` rows each."""
    rows = np.random.default_rng([0x5EED, seed]).permutation(len(frame))[: 2 * max_rows]
    middle = len(rows) // 2
    parts = (np.sort(rows[:middle]), np.sort(rows[middle:]))
    x, y = (frame.iloc[part].reset_index(drop=True) for part in parts)
    return x, y


def change(name: str, y: pd.DataFrame, seed: int) -> Changed | None:
    """Apply one of `CHANGES` to a copy of the second sample."""
    rng = np.random.default_rng([0xC4A7, seed, zlib.crc32(name.encode())])
    return CHANGES[name](y.copy(), rng)


def add_garbage(y: pd.DataFrame, seed: int, share: float = GARBAGE_SHARE) -> pd.DataFrame:
    """Replace the numbers of a share of the rows by values far from the data."""
    rng = np.random.default_rng([0x6A4B, seed])
    frame = y.copy()
    rows = _draw(frame, share, rng)
    for name in numeric_columns(frame):
        values = frame[name].astype(float)
        spread = values.std() if values.notna().sum() > 1 else 0.0
        wild = values.median() + 10 * (spread or 1.0) * rng.standard_cauchy(int(rows.sum()))
        frame[name] = values.where(~rows, pd.Series(np.zeros(len(frame))))
        frame.loc[rows, name] = wild
    return frame


def _wide(y: pd.DataFrame) -> list[str]:
    """Return the numeric columns with over 20 values, with values in at least half of the rows."""
    return [
        name
        for name in numeric_columns(y)
        if y[name].nunique() > 20 and y[name].notna().mean() >= 0.5
    ]


def _categories(y: pd.DataFrame) -> list[str]:
    """Return columns of strings with 2 to 50 values, with values in at least half of the rows."""
    return [
        name
        for name in y.columns
        if y[name].dtype == object
        and 2 <= y[name].nunique() <= 50
        and y[name].notna().mean() >= 0.5
    ]


def _one(names: list[str], rng: np.random.Generator) -> str | None:
    return str(rng.choice(names)) if names else None


def _draw(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> np.ndarray:
    """Select a share of the rows at random, as a mask."""
    rows = np.zeros(len(frame), dtype=bool)
    rows[rng.choice(len(frame), max(1, round(share * len(frame))), replace=False)] = True
    return rows


def _column(y: pd.DataFrame, name: str, values: pd.Series | np.ndarray, detail: str) -> Changed:
    """Return the table with new values of one column, as a `Changed`.

    `detail` is the size of the change, for a reader of the results.
    """
    y[name] = values
    return Changed(y, (name,), np.zeros(len(y), dtype=bool), detail)


def _as_precise(values: pd.Series, like: pd.Series) -> pd.Series:
    """Round values to the number of decimals of the column `like`, at most six."""
    known = like.dropna().to_numpy(float)
    for decimals in range(7):
        if np.allclose(known, np.round(known, decimals), rtol=0, atol=1e-9):
            return values.round(decimals)
    return values


def _clean(y: pd.DataFrame, rng: np.random.Generator) -> Changed:
    return Changed(y, (), np.zeros(len(y), dtype=bool), "")


def _shift(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Add 0.3 standard deviations to a column, and round to its precision."""
    name = _one(_wide(y), rng)
    if name is None:
        return None
    by = 0.3 * float(y[name].std())
    return _column(y, name, _as_precise(y[name] + by, y[name]), f"+{by:.4g}")


def _centered(values: pd.Series) -> str:
    """Return ", centered" for values with a median near zero, else "".

    The median is at most a tenth of the interquartile range from zero. For such a column,
    multiplication of its values and multiplication of its deviations from the median are the same
    change, and the words for both are right.
    """
    spread = values.quantile(0.75) - values.quantile(0.25)
    return CENTERED if abs(values.median()) <= 0.1 * spread else ""


def _scale(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Multiply the deviations of a column from its median by 1.5, and round to its precision."""
    name = _one(_wide(y), rng)
    if name is None:
        return None
    middle = y[name].median()
    detail = f"x1.5{_centered(y[name])}"
    return _column(y, name, _as_precise(middle + 1.5 * (y[name] - middle), y[name]), detail)


def _permuted(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Permute one column, which has a rank correlation of at least 0.5 with another column.

    Only the dependence of the columns changes. Return None if there is no such column.
    """
    names = _wide(y)
    ranks = y[names].corr(method="spearman").abs().to_numpy(copy=True)
    np.fill_diagonal(ranks, 0)
    name = _one(
        [n for n, row in zip(names, ranks, strict=True) if np.nanmax(row, initial=0) >= 0.5], rng
    )
    if name is None:
        return None
    return _column(y, name, rng.permutation(y[name].to_numpy()), "permuted")


def _new_category(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Write a new category into 6% of the rows."""
    name = _one(_categories(y), rng)
    if name is None:
        return None
    rows = _draw(y, 0.06, rng)
    y.loc[rows, name] = "new"
    return Changed(y, (name,), rows, "new")


def _thousand(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Multiply a column by 1000 in 3% of the rows."""
    name = _one([n for n in _wide(y) if (y[n].fillna(0) != 0).mean() >= 0.5], rng)
    if name is None:
        return None
    rows = np.zeros(len(y), dtype=bool)
    filled = np.flatnonzero(y[name].fillna(0) != 0)
    rows[rng.choice(filled, max(1, round(0.03 * len(y))), replace=False)] = True
    y[name] = y[name].astype(float)
    y.loc[rows, name] *= 1000
    return Changed(y, (name,), rows, "x1000")


def _sentinel(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Write -9999 into a column in 8% of the rows."""
    name = _one(_wide(y), rng)
    if name is None:
        return None
    rows = _draw(y, 0.08, rng)
    y[name] = y[name].astype(float)
    y.loc[rows, name] = SENTINEL
    return Changed(y, (name,), rows, "-9999")


def _missing(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Remove the values of a column in 20% of the rows that have one."""
    name = _one(_wide(y) + _categories(y), rng)
    if name is None:
        return None
    rows = _draw(y, 0.2, rng)
    return _column(y, name, y[name].where(~rows), "20% missing")


def _repeated(y: pd.DataFrame, rng: np.random.Generator) -> Changed:
    """Replace 30% of the rows by copies of other rows."""
    order = rng.permutation(len(y))
    kept = order[round(0.3 * len(y)) :]
    rows = np.concatenate([kept, rng.choice(kept, len(y) - len(kept))])
    frame = y.iloc[rows].reset_index(drop=True)
    return Changed(frame, (), np.zeros(len(y), dtype=bool), "30% copies")


def _truncated(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Replace the values of a column above its 80% quantile by the quantile."""
    limits = {n: y[n].quantile(0.8, interpolation="lower") for n in _wide(y)}
    name = _one([n for n, limit in limits.items() if (y[n] > limit).mean() >= 0.1], rng)
    if name is None:
        return None
    return _column(y, name, y[name].clip(upper=limits[name]), f"at most {limits[name]:.4g}")


def _rounded(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Round a column to a power of ten, at least 0.1 and at most a third of its spread.

    Columns of which half of the values are rounded already are left out.
    """
    steps = {}
    for name in _wide(y):
        values = y[name].dropna().to_numpy(float)
        limit = float(np.subtract(*np.quantile(values, [0.75, 0.25]))) / 4
        if limit < 0.1:
            continue
        step = 10.0 ** np.floor(np.log10(limit))
        if np.mean(np.abs(values / step - np.round(values / step)) < 1e-9) < 0.5:
            steps[name] = step
    name = _one(list(steps), rng)
    if name is None:
        return None
    return _column(y, name, np.round(y[name] / steps[name]) * steps[name], f"to {steps[name]:g}")


def _sign(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Change the sign of a column of which at least 80% of the values have the same sign."""
    same = [n for n in _wide(y) if abs(np.sign(y[n].dropna()).sum()) >= 0.6 * y[n].notna().sum()]
    name = _one(same, rng)
    return None if name is None else _column(y, name, -y[name], "x-1")


def _unit(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Multiply a column by a factor between units."""
    name = _one([n for n in _wide(y) if (y[n].fillna(0) != 0).mean() >= 0.5], rng)
    if name is None:
        return None
    factor = float(rng.choice(UNITS))
    return _column(y, name, y[name] * factor, f"x{factor:g}{_centered(y[name])}")


def _swapped(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Exchange the values of two columns with different medians."""
    names = _wide(y)
    pairs = [
        (a, b)
        for i, a in enumerate(names)
        for b in names[:i]
        if abs(y[a].median() - y[b].median()) > 0.5 * min(y[a].std(), y[b].std())
    ]
    if not pairs:
        return None
    a, b = pairs[rng.integers(len(pairs))]
    y[a], y[b] = y[b].copy(), y[a].copy()
    return Changed(y, (a, b), np.zeros(len(y), dtype=bool), "exchanged")


def _spelling(y: pd.DataFrame, rng: np.random.Generator) -> Changed | None:
    """Spell the most frequent category of a column differently in half of its rows."""
    name = _one(_categories(y), rng)
    if name is None:
        return None
    value = str(y[name].mode()[0])
    other = next((s for s in (value.upper(), value.lower()) if s != value), value + " ")
    rows = (y[name] == value).to_numpy() & (rng.random(len(y)) < 0.5)
    y.loc[rows, name] = other
    return Changed(y, (name,), rows, f"{value!r} -> {other!r}")


CHANGES: dict[str, Callable[[pd.DataFrame, np.random.Generator], Changed | None]] = {
    "clean": _clean, "shift 0.3 sd": _shift, "permuted column": _permuted,
    "new category 6%": _new_category, "x1000 in 3%": _thousand, "-9999 in 8%": _sentinel,
    "+20% missing": _missing, "repeated 30%": _repeated, "truncated": _truncated,
    "rounded": _rounded, "sign": _sign, "swapped": _swapped, "spelling": _spelling,
    "scale": _scale, "unit": _unit,
}  # fmt: skip

#: Pattern of the words that name the change in a headline. A change without a pattern is not
#: judged by its words: several descriptions are right.
WORDS = {
    "shift 0.3 sd": r"median|mean|location|quantile|shift",
    "scale": r"interquartile|spread|deviation|standard|wider|scale",
    "sign": r"sign",
    "unit": r"unit|factor|times|multipl",
    "-9999 in 8%": r"-9999",
    "+20% missing": r"missing",
    "repeated 30%": r"repeat|duplicate|more than once",
    "new category 6%": r"new",
    "rounded": r"whole|multiples|round|tenths|precision",
    "swapped": r"swap|exchang",
    "spelling": r"spel|case|=",
}
