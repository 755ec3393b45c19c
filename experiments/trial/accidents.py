"""Accidents of one sample: 25 changes that happen to tables, each with its true consequences.

Every accident gets the second sample and a random generator. It draws the column among those in
which the accident is possible, and returns None if there is none.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from experiments.tables.sources import numeric_columns

Rng = np.random.Generator
#: Factors between units.
FACTORS = (2.54, 0.4536, 1.609, 0.3048, 12.0, 1000.0, 0.001, 0.3937, 2.205)
SENTINELS = (-999.0, -9999.0, 9999.0, 999.0)


@dataclass(frozen=True)
class Accident:
    """The second sample after an accident.

    Attributes
    ----------
    frame : pandas.DataFrame
    columns : tuple of str
        Changed columns; empty without a change, and if rows are repeated.
    facts : dict
        Causes that sentences may state: "map", the factor and the constant of all values;
        "exchanged", a set of two columns; "copies", if rows were copied.
    share : float or None
        Upper bound on the share of rows that the accident changed; None for the share of rows that
        differ from the rows before.
    """

    frame: pd.DataFrame
    columns: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    share: float | None = None


def happen(name: str, y: pd.DataFrame, seed: int) -> Accident | None:
    """Return a copy of the sample `y` with an accident of `ACCIDENTS`; None if it is impossible."""
    rng = np.random.default_rng([0xACC1, seed, zlib.crc32(name.encode())])
    made = ACCIDENTS[name](y.copy(), rng)
    if made is None or made.share is not None:
        return made
    same = (made.frame == y) | (made.frame.isna() & y.isna())
    return Accident(made.frame, made.columns, made.facts, float((~same.all(axis=1)).mean()))


def _wide(y: pd.DataFrame, least: int = 21) -> list[str]:
    """Return the numeric columns with at least `least` values, known in half of the rows.

    Row numbers are left out.
    """
    return [
        name for name in numeric_columns(y)
        if y[name].nunique() >= least
        and y[name].notna().mean() >= 0.5
        and not (y[name].is_monotonic_increasing and y[name].is_unique)
    ]  # fmt: skip


def _categories(y: pd.DataFrame, most: int = 60) -> list[str]:
    """Return the columns of strings with 2 to `most` values, known in half of the rows."""
    return [
        name for name in y
        if y[name].dtype == object
        and 2 <= y[name].nunique() <= most
        and y[name].notna().mean() >= 0.5
    ]  # fmt: skip


def _one(names: list[str], rng: Rng) -> str | None:
    return str(rng.choice(names)) if names else None


def _some(y: pd.DataFrame, share: float, rng: Rng) -> np.ndarray:
    """Return the mask of a random share of the rows, at least one."""
    rows = np.zeros(len(y), dtype=bool)
    rows[rng.choice(len(y), max(1, round(share * len(y))), replace=False)] = True
    return rows


def _decimals(values: pd.Series) -> int:
    """Return the number of decimals of all values, at most 6."""
    known = values.dropna().to_numpy(float)
    return next((k for k in range(6) if np.allclose(known, known.round(k), rtol=0, atol=1e-9)), 6)


def _set(y: pd.DataFrame, name: str | None, values: Any, **facts: Any) -> Accident | None:
    if name is None:
        return None
    y[name] = values(y[name])
    return Accident(y, (name,), facts)


def _clean(y: pd.DataFrame, rng: Rng) -> Accident:
    return Accident(y, share=0.0)


def _unit(y: pd.DataFrame, rng: Rng) -> Accident | None:
    factor = float(rng.choice(FACTORS))
    name = _one([n for n in _wide(y) if (y[n].fillna(0) != 0).mean() >= 0.5], rng)
    return _set(y, name, lambda v: v * factor, map=(factor, 0.0))


def _unit_in_part(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Multiply 20% of the values by 1000 or 0.001."""
    factor, rows = float(rng.choice([1000.0, 0.001])), _some(y, 0.2, rng)
    name = _one([n for n in _wide(y) if (y[n].fillna(0) != 0).mean() >= 0.5], rng)
    return _set(y, name, lambda v: v.astype(float).where(~rows, v * factor))


def _temperature(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Convert a column as degrees Celsius to degrees Fahrenheit or to kelvins."""
    factor, offset = [(1.8, 32.0), (1.0, 273.15)][rng.integers(2)]
    name = _one(_wide(y), rng)
    return _set(y, name, lambda v: v * factor + offset, map=(factor, offset))


def _sentinel(y: pd.DataFrame, rng: Rng) -> Accident | None:
    value, rows = float(rng.choice(SENTINELS)), _some(y, 0.05, rng)
    name = _one(_wide(y), rng)
    return _set(y, name, lambda v: v.astype(float).where(~rows, value))


def _rare_sentinel(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Write -999 or a huge value in three rows."""
    rows = np.zeros(len(y), dtype=bool)
    rows[rng.choice(len(y), 3, replace=False)] = True
    value = float(rng.choice([-999.0, 1e9]))
    return _set(y, _one(_wide(y), rng), lambda v: v.astype(float).where(~rows, value))


def _zeros(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Replace missing values by 0, or 10% of the values if none is missing."""
    name = _one([n for n in _wide(y) if (y[n] == 0).mean() < 0.05], rng)
    if name is None:
        return None
    rows = y[name].isna().to_numpy()
    rows = rows if rows.mean() > 0.03 else _some(y, 0.1, rng)
    return _set(y, name, lambda v: v.astype(float).where(~rows, 0.0))


def _censored(y: pd.DataFrame, rng: Rng) -> Accident | None:
    limits = {n: float(y[n].quantile(0.85, interpolation="lower")) for n in _wide(y)}
    name = _one([n for n, limit in limits.items() if (y[n] > limit).mean() >= 0.08], rng)
    return _set(y, name, lambda v: v.clip(upper=limits[v.name]))


def _rounded(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Round to a power of ten, at most a quarter of the interquartile range."""
    steps = {}
    for each in _wide(y):
        spread = float(y[each].quantile(0.75) - y[each].quantile(0.25))
        step = 10.0 ** np.floor(np.log10(max(spread, 1e-9) / 4))
        values = y[each].dropna() / step
        if step >= 0.1 and (abs(values - values.round()) < 1e-9).mean() < 0.5:
            steps[each] = step
    return _set(y, _one(list(steps), rng), lambda v: (v / steps[v.name]).round() * steps[v.name])


def _constant(y: pd.DataFrame, rng: Rng) -> Accident | None:
    value = {n: y[n].dropna().iloc[0] for n in [*_wide(y), *_categories(y)]}
    name = _one(list(value), rng)
    return _set(y, name, lambda v: v.where(v.isna(), value[v.name]))


def _decimal_comma(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Write the numbers of a column as strings with a decimal comma."""
    name = _one([n for n in _wide(y) if _decimals(y[n]) > 0], rng)
    return _set(
        y, name,
        lambda v: v.map(lambda a: None if pd.isna(a) else f"{a:.10g}".replace(".", ","))
        .astype(object).where(v.notna(), None),
    )  # fmt: skip


def _shuffled(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Permute the values of one column of the three with the strongest rank correlations."""
    names = _wide(y)
    if len(names) < 2:
        return None
    strength = y[names].corr("spearman").abs().fillna(0.0).to_numpy(copy=True)
    np.fill_diagonal(strength, 0.0)
    largest = strength.max(axis=0)
    strong = [
        n for n, r in sorted(zip(names, largest, strict=True), key=lambda e: -e[1]) if r > 0.4
    ]
    order = rng.permutation(len(y))
    return _set(y, _one(strong[:3], rng), lambda v: v.to_numpy()[order])


def _sign(y: pd.DataFrame, rng: Rng) -> Accident | None:
    same = [n for n in _wide(y) if (y[n] > 0).sum() >= 0.8 * y[n].notna().sum()]
    return _set(y, _one(same, rng), lambda v: -v, map=(-1.0, 0.0))


def _missing(y: pd.DataFrame, rng: Rng) -> Accident | None:
    rows = _some(y, 0.15, rng)
    names = [n for n in [*_wide(y), *_categories(y)] if y[n].notna().mean() > 0.7]
    return _set(
        y, _one(names, rng),
        lambda v: (v if v.dtype == object else v.astype(float)).mask(rows, None),
    )  # fmt: skip


def _shift(y: pd.DataFrame, rng: Rng) -> Accident | None:
    name = _one(_wide(y), rng)
    if name is None:
        return None
    by = round(0.4 * float(y[name].std()), _decimals(y[name]))
    return _set(y, name, lambda v: v + by, map=(1.0, by))


def _within(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Add a standard deviation to a column within one category."""
    found = [
        (c, str(value)) for c in _categories(y)
        for value, count in y[c].value_counts().items() if 40 <= count <= 0.5 * len(y)
    ]  # fmt: skip
    name = _one(_wide(y), rng)
    if name is None or not found:
        return None
    category, value = found[rng.integers(len(found))]
    rows, by = (y[category] == value).to_numpy(), round(float(y[name].std()), _decimals(y[name]))
    made = _set(y, name, lambda v: v.where(~rows, v + by))
    assert made is not None
    return Accident(made.frame, (name, category), {"within": value})


def _swapped(y: pd.DataFrame, rng: Rng) -> Accident | None:
    names = _wide(y)
    pairs = [
        (a, b) for i, a in enumerate(names) for b in names[:i]
        if abs(y[a].median() - y[b].median()) > 0.3 * min(y[a].std(), y[b].std())
    ]  # fmt: skip
    if not pairs:
        return None
    a, b = pairs[rng.integers(len(pairs))]
    y[a], y[b] = y[b].copy(), y[a].copy()
    return Accident(y, (a, b), {"exchanged": {a, b}})


def _mangled(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """In 4% of the rows, move the numbers by one column to the right."""
    names = _wide(y, 5)
    if len(names) < 3:
        return None
    rows = np.flatnonzero(_some(y, 0.04, rng))
    values = y[names].astype(float)
    y[names] = values
    y.loc[rows, names] = np.roll(values.to_numpy()[rows], 1, axis=1)
    return Accident(y, tuple(names))


def _truncated(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Cut the strings of a category to three characters."""
    names = [n for n in _categories(y) if (y[n].str.len() > 3).mean() > 0.1]
    return _set(y, _one(names, rng), lambda v: v.str[:3].astype(object).where(v.notna(), None))


def _rotated(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Move the values of a column to the next row."""
    name = _one(_wide(y), rng)
    return _set(y, name, lambda v: np.roll(v.to_numpy(), 1))


def _case(y: pd.DataFrame, rng: Rng) -> Accident | None:
    def changed(v: pd.Series) -> pd.Series:
        upper = v.str.upper() if (v.str.upper() != v).mean() > 0.5 else v.str.lower()
        return upper.astype(object).where(v.notna(), None)

    names = [n for n in _categories(y) if (changed(y[n]) != y[n]).mean() > 0.2]
    return _set(y, _one(names, rng), changed)


def _code(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Add 1 to a column of at most 15 integers."""
    names = [
        n for n in numeric_columns(y)
        if 2 <= y[n].nunique() <= 15 and (y[n].dropna() % 1 == 0).all() and y[n].notna().any()
    ]  # fmt: skip
    return _set(y, _one(names, rng), lambda v: v + 1, map=(1.0, 1.0))


def _duplicates(y: pd.DataFrame, rng: Rng) -> Accident:
    """Replace 25% of the rows by copies of other rows."""
    order = rng.permutation(len(y))
    kept = order[round(0.25 * len(y)) :]
    rows = np.concatenate([kept, rng.choice(kept, len(y) - len(kept))])
    frame = y.iloc[rng.permutation(rows)].reset_index(drop=True)
    return Accident(frame, (), {"copies": True}, 1 - len(kept) / len(y))


def _join(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Triple the rows of one category, as a join with repeated keys does."""
    found = [
        (c, value) for c in _categories(y)
        for value, count in y[c].value_counts().items() if 0.05 <= count / len(y) <= 0.6
    ]  # fmt: skip
    if not found:
        return None
    name, value = found[rng.integers(len(found))]
    rows = (y[name] == value).to_numpy()
    frame = y.iloc[np.repeat(np.arange(len(y)), np.where(rows, 3, 1))].reset_index(drop=True)
    return Accident(frame, (name,), {"copies": True}, 1 - len(y) / len(frame))


def _bias(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Lose two thirds of the rows with values above the median."""
    name = _one(_wide(y), rng)
    if name is None:
        return None
    high = (y[name] > y[name].median()).to_numpy()
    frame = y[~high | (rng.random(len(y)) < 1 / 3)].reset_index(drop=True)
    share = float(high.mean() - (frame[name] > y[name].median()).mean())
    return Accident(frame, (name,), {}, share)


def _sorted(y: pd.DataFrame, rng: Rng) -> Accident | None:
    """Sort one column without the others."""
    return _set(y, _one(_wide(y), rng), lambda v: v.sort_values().to_numpy())


ACCIDENTS: dict[str, Callable[[pd.DataFrame, Rng], Accident | None]] = {
    "clean": _clean, "unit": _unit, "unit in part": _unit_in_part, "temperature": _temperature,
    "sentinel": _sentinel, "rare sentinel": _rare_sentinel, "zeros": _zeros, "censored": _censored,
    "rounded": _rounded, "constant": _constant, "decimal comma": _decimal_comma,
    "shuffled": _shuffled, "sign": _sign, "missing": _missing, "shift": _shift,
    "within a category": _within, "swapped": _swapped, "mangled rows": _mangled,
    "truncated strings": _truncated, "rotated": _rotated, "case": _case, "code + 1": _code,
    "duplicates": _duplicates, "join": _join, "bias": _bias, "sorted": _sorted,
}  # fmt: skip
