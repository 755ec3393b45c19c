"""Pairs of samples with the same distribution: constant, tied, missing, repeated, mixed.

Each setting is a function of a random generator that returns X, Y and options of the test. The rows
of both samples (or the blocks, if the options have blocks) are exchangeable.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

Rng = np.random.Generator
Samples = tuple[Any, Any, dict[str, Any]]
Setting = Callable[[Rng], Samples]


def _split(rows: Any, n: int, **options: Any) -> Samples:
    """Return the first n rows as X, the other rows as Y, and the options of the test as a dict."""
    if isinstance(rows, pd.DataFrame):
        x, y = (part.reset_index(drop=True) for part in (rows.iloc[:n], rows.iloc[n:]))
        return x, y, options
    return rows[:n], rows[n:], options


def _numbers(
    make: Callable[[Rng, int], np.ndarray], n: int = 60, m: int = 60, **options: Any
) -> Setting:
    """Return a setting with independent rows of numbers that `make` draws: n rows and m rows.

    `options` are those of the test.
    """
    return lambda rng: _split(make(rng, n + m), n, **options)


def _normal(rng: Rng, n: int, d: int = 3) -> np.ndarray:
    return rng.normal(size=(n, d))


def _with(column: Callable[[Rng, np.ndarray], Any]) -> Callable[[Rng, int], np.ndarray]:
    """Return a function that draws rows: two normal columns, and a column computed from them.

    `column` computes the third column from a generator and the other two columns (n, 2).
    """

    def make(rng: Rng, n: int) -> np.ndarray:
        rows = rng.normal(size=(n, 2))
        return np.column_stack([rows, np.broadcast_to(column(rng, rows), n)])

    return make


def _one_different(rng: Rng, rows: np.ndarray) -> np.ndarray:
    """Return a column that is constant except for one random row."""
    values = np.ones(len(rows))
    values[rng.integers(len(rows))] = 2
    return values


def _rounding_noise(rng: Rng, rows: np.ndarray) -> np.ndarray:
    """Return a column that is constant up to rounding of the last bit."""
    return np.where(rng.random(len(rows)) < 0.5, 0.1 + 0.2, 0.3)


def _blank(rng: Rng, rows: np.ndarray, share: float) -> np.ndarray:
    return np.where(rng.random(len(rows)) < share, np.nan, rng.normal(size=len(rows)))


def _blank_by_value(rng: Rng, rows: np.ndarray) -> np.ndarray:
    """Return a column whose values are missing more often in rows with a large value of another."""
    missing = rng.random(len(rows)) < 1 / (1 + np.exp(-2 * rows[:, 0]))
    return np.where(missing, np.nan, rows[:, 0] + rng.normal(size=len(rows)))


def _low_rank(rng: Rng, n: int) -> np.ndarray:
    return rng.normal(size=(n, 2)) @ np.random.default_rng(1).normal(size=(2, 6))


def _no_complete_row(rng: Rng, n: int) -> np.ndarray:
    rows = rng.normal(size=(n, 4))
    rows[np.arange(n), rng.integers(4, size=n)] = np.nan
    return rows


def _repeated(rng: Rng, n: int, distinct: int) -> np.ndarray:
    """Return n rows drawn with replacement from `distinct` random rows."""
    return rng.normal(size=(distinct, 3))[rng.integers(distinct, size=n)]


def _copies_of_some(rng: Rng, n: int) -> np.ndarray:
    """Return n rows of which half occur once, and the others are copies of a few rows."""
    rows = rng.normal(size=(n, 3))
    copies = rng.random(n) < 0.5
    rows[copies] = rows[rng.integers(5, size=int(copies.sum()))]
    return rows[rng.permutation(n)]


def _sentinel(rng: Rng, n: int) -> np.ndarray:
    rows = rng.normal(size=(n, 3))
    rows[rng.random(n) < 0.08, 1] = -9999
    return rows


def _garbage(rng: Rng, n: int) -> np.ndarray:
    rows = rng.normal(size=(n, 3))
    bad = rng.random(n) < 0.05
    rows[bad] = 1e6 * rng.standard_cauchy(size=(int(bad.sum()), 3))
    return rows


def _precision(rng: Rng, n: int) -> np.ndarray:
    """Return n values of which half are integers."""
    values = rng.normal(50, 20, size=(n, 2))
    return np.where(rng.random((n, 2)) < 0.5, np.round(values), values)


def _frame(make: Callable[[Rng, int], dict[str, Any]], n: int = 60, m: int = 60) -> Setting:
    """Return a setting with independent rows of a data frame: n rows and m rows.

    `make` draws the columns.
    """
    return lambda rng: _split(pd.DataFrame(make(rng, n + m)), n)


def _strings(rng: Rng, n: int, k: int) -> np.ndarray:
    return np.array([f"c{i}" for i in rng.integers(k, size=n)], dtype=object)


def _rare(rng: Rng, n: int) -> np.ndarray:
    shares = 0.5 ** np.arange(1, 12)
    return rng.choice([f"r{i}" for i in range(11)], n, p=shares / shares.sum()).astype(object)


def _mixed(rng: Rng, n: int) -> dict[str, Any]:
    """Return numbers, counts, categories with missing values, a constant and a sparse column."""
    a = rng.lognormal(size=n)
    city = _strings(rng, n, 4)
    city[rng.random(n) < 0.1] = None
    return {
        "a": a, "b": np.round(10 * a + rng.normal(size=n)), "count": rng.poisson(1.0, n),
        "city": city, "flag": rng.random(n) < 0.3, "constant": 2013,
        "sparse": np.where(rng.random(n) < 0.95, np.nan, rng.normal(size=n)),
        "blank": np.where(rng.random(n) < 0.3, np.nan, a),
    }  # fmt: skip


def _untidy(rng: Rng, n: int) -> dict[str, Any]:
    """Return mixed columns, an empty column, dates, keys, and a category column with one value."""
    return _mixed(rng, n) | {
        "empty": np.full(n, np.nan), "only": "same",
        "key": [f"id{i}" for i in rng.permutation(n)],
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(1000, size=n), unit="h"),
    }  # fmt: skip


def _nested(rng: Rng, n: int) -> dict[str, Any]:
    """Return a category that determines another category and the mean of a number."""
    country = rng.integers(12, size=n)
    return {
        "country": np.array([f"k{i}" for i in country], dtype=object),
        "continent": np.array([f"c{i // 4}" for i in country], dtype=object),
        "income": country + rng.normal(size=n),
    }


def _blocks(rng: Rng, frame: bool, constant: bool) -> Samples:
    """Return 30 blocks of one to five dependent rows, with random labels X or Y of the blocks.

    If `frame`, the rows are data frames. If `constant`, one column is constant.
    """
    sizes = rng.integers(1, 6, size=30)
    block = np.repeat(np.arange(30), sizes)
    rows = rng.normal(size=(30, 3))[block] + 0.3 * rng.normal(size=(len(block), 3))
    if constant:
        rows[:, 2] = 7.0
    table: Any = rows
    if frame:
        group = np.array([f"g{i}" for i in rng.integers(3, size=30)], dtype=object)[block]
        table = pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "g": group})
        table.loc[rng.random(len(block)) < 0.2, "b"] = np.nan
    first = np.isin(block, rng.permutation(30)[:15])
    x, y = table[first], table[~first]
    if frame:
        x, y = x.reset_index(drop=True), y.reset_index(drop=True)
    return x, y, {"blocks": (block[first], block[~first])}


def _sized(make: Callable[[Rng, int], Any], n: int, m: int) -> Setting:
    return _frame(make, n, m) if make in (_mixed, _untidy) else _numbers(make, n, m)


SETTINGS: dict[str, Setting] = {
    "normal, 8 + 8": _sized(_normal, 8, 8),
    "normal, 20 + 20": _sized(_normal, 20, 20),
    "normal, 15 + 150": _sized(_normal, 15, 150),
    "normal, 500 + 500": _sized(_normal, 500, 500),
    "normal, 2000 + 2000": _sized(_normal, 2000, 2000),
    "one column, 30 + 30": _numbers(partial(_normal, d=1), 30, 30),
    "40 columns, 30 + 30": _numbers(partial(_normal, d=40), 30, 30),
    "200 columns, 20 + 20": _numbers(partial(_normal, d=200), 20, 20),
    "constant column": _numbers(_with(lambda rng, rows: 1.0)),
    "constant column 2013, 300 + 300": _numbers(_with(lambda rng, rows: 2013.0), 300, 300),
    "constant column 1e300": _numbers(_with(lambda rng, rows: 1e300)),
    "nearly constant, one row differs": _numbers(_with(_one_different)),
    "constant up to rounding": _numbers(_with(_rounding_noise)),
    "rounding error of a column": _numbers(
        _with(lambda rng, rows: (rows[:, 0] + 1e8) - 1e8 - rows[:, 0])
    ),
    "copy of a column": _numbers(_with(lambda rng, rows: rows[:, 0])),
    "negative copy": _numbers(_with(lambda rng, rows: -rows[:, 0])),
    "copy in another unit": _numbers(_with(lambda rng, rows: 1.8 * rows[:, 0] + 32)),
    "sum of columns": _numbers(_with(lambda rng, rows: rows.sum(axis=1))),
    "six columns of rank two": _numbers(_low_rank),
    "empty column": _numbers(_with(lambda rng, rows: np.nan), nan_policy="keep"),
    "99% missing": _numbers(
        _with(lambda rng, rows: _blank(rng, rows, 0.99)), 200, 200, nan_policy="keep"
    ),
    "90% missing": _numbers(_with(lambda rng, rows: _blank(rng, rows, 0.9)), nan_policy="keep"),
    "half missing": _numbers(_with(lambda rng, rows: _blank(rng, rows, 0.5)), nan_policy="keep"),
    "missing by another column": _numbers(_with(_blank_by_value), nan_policy="keep"),
    "no complete row": _numbers(_no_complete_row, nan_policy="keep"),
    "no complete row, 8 + 8": _numbers(_no_complete_row, 8, 8, nan_policy="keep"),
    "counts": _numbers(lambda rng, n: rng.poisson(2.0, size=(n, 3)).astype(float)),
    "zeros and ones": _numbers(lambda rng, n: (rng.random((n, 4)) < 0.3).astype(float)),
    "mostly zero": _numbers(
        lambda rng, n: np.where(rng.random((n, 3)) < 0.9, 0, rng.exponential(size=(n, 3)))
    ),
    "Cauchy": _numbers(lambda rng, n: rng.standard_cauchy(size=(n, 3))),
    "lognormal, rounded": _numbers(lambda rng, n: np.round(rng.lognormal(1, 1.5, size=(n, 3)), 1)),
    "tiny numbers": _numbers(lambda rng, n: 5e-320 * np.round(100 * rng.normal(size=(n, 2)))),
    "huge numbers": _numbers(lambda rng, n: 1e200 * rng.normal(size=(n, 2))),
    "-9999 in both": _numbers(_sentinel),
    "garbage in both": _numbers(_garbage),
    "half of the values whole": _numbers(_precision),
    "rows from 10 distinct ones": _numbers(partial(_repeated, distinct=10)),
    "rows from 100 distinct ones": _numbers(partial(_repeated, distinct=100)),
    "half of the rows are copies": _numbers(_copies_of_some),
    "one category": _frame(lambda rng, n: {"a": rng.normal(size=n), "c": "only"}),
    "two categories": _frame(lambda rng, n: {"c": _strings(rng, n, 2), "d": _strings(rng, n, 2)}),
    "rare categories": _frame(lambda rng, n: {"c": _rare(rng, n), "a": rng.normal(size=n)}),
    "1000 categories": _frame(
        lambda rng, n: {"a": rng.normal(size=n), "c": _strings(rng, n, 1000)}, 300, 300
    ),
    "nested categories": _frame(_nested),
    "mixed table, 8 + 8": _sized(_mixed, 8, 8),
    "mixed table, 60 + 60": _sized(_mixed, 60, 60),
    "mixed table, 20 + 400": _sized(_mixed, 20, 400),
    "untidy table, 60 + 60": _sized(_untidy, 60, 60),
    "untidy table, 400 + 400": _sized(_untidy, 400, 400),
    "blocks": partial(_blocks, frame=False, constant=False),
    "blocks, constant column": partial(_blocks, frame=False, constant=True),
    "blocks, mixed table": partial(_blocks, frame=True, constant=False),
}
