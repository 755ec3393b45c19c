"""Pairs of distributions with known total variation distance, and samples from them.

A setting draws two frames. `tv` is the total variation distance of the rows, and `margins` has the
distances of single columns that differ. Other columns have the same distribution in both samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.special import ndtr

Rng = np.random.Generator
Frames = tuple[pd.DataFrame, pd.DataFrame]


@dataclass(frozen=True)
class Setting:
    """Two distributions with known total variation distances, and a function that draws rows."""

    name: str
    n: int
    draw: Callable[[Rng, int], Frames]
    tv: float
    margins: dict[str, float] = field(default_factory=dict)


def _frame(rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[f"c{j}" for j in range(rows.shape[1])])


def _normals(rng: Rng, n: int, d: int) -> Frames:
    return _frame(rng.normal(size=(n, d))), _frame(rng.normal(size=(n, d)))


def shift_tv(delta: float) -> float:
    """Return the total variation distance of N(0, 1) and N(delta, 1)."""
    return float(2 * ndtr(delta / 2) - 1)


def scale_tv(factor: float) -> float:
    """Return the total variation distance of N(0, 1) and N(0, factor^2), for `factor` > 1."""
    cross = factor * np.sqrt(2 * np.log(factor) / (factor**2 - 1))
    return float(2 * (ndtr(cross) - ndtr(cross / factor)))


@cache
def correlation_tv(rho: float) -> float:
    """Return the total variation distance of bivariate normals with correlations 0 and `rho`."""
    t = np.linspace(-8, 8, 1601)
    x, y = np.meshgrid(t, t)
    p = np.exp(-(x**2 + y**2) / 2)
    q = np.exp(-(x**2 - 2 * rho * x * y + y**2) / (2 * (1 - rho**2))) / np.sqrt(1 - rho**2)
    return float(np.abs(p - q).sum() / (4 * np.pi) * (t[1] - t[0]) ** 2)


def _rounded_tv(delta: float) -> float:
    """Return the total variation distance of N(0, 4) and N(delta, 4) after rounding to integers."""
    edges = np.arange(-40.5, 41)
    return float(np.abs(np.diff(ndtr(edges / 2)) - np.diff(ndtr((edges - delta) / 2))).sum() / 2)


def _poisson_tv(a: float, b: float) -> float:
    from scipy.stats import poisson

    k = np.arange(200)
    return float(np.abs(poisson.pmf(k, a) - poisson.pmf(k, b)).sum() / 2)


def _shift(rng: Rng, n: int, d: int, delta: float, columns: int) -> Frames:
    x, y = _normals(rng, n, d)
    y.iloc[:, :columns] += delta
    return x, y


def _scale(rng: Rng, n: int, d: int, factor: float) -> Frames:
    x, y = _normals(rng, n, d)
    y["c0"] *= factor
    return x, y


def _correlation(rng: Rng, n: int, d: int, rho: float) -> Frames:
    x, y = _normals(rng, n, d)
    y["c0"] = rho * y["c1"] + np.sqrt(1 - rho**2) * y["c0"]
    return x, y


def _rounded(rng: Rng, n: int, delta: float) -> Frames:
    x, y = _normals(rng, n, 3)
    x, y = 2 * x, 2 * y
    y["c0"] += delta
    return x.round(), y.round()


def _poisson(rng: Rng, n: int, a: float, b: float) -> Frames:
    x, y = (_frame(rng.poisson(a, size=(n, 3)).astype(float)) for _ in "xy")
    y["c0"] = rng.poisson(b, n).astype(float)
    return x, y


def _binary(rng: Rng, n: int, p: float, q: float) -> Frames:
    x, y = (_frame((rng.random((n, 4)) < p).astype(float)) for _ in "xy")
    y["c0"] = (rng.random(n) < q).astype(float)
    return x, y


def _mixed_rows(rng: Rng, n: int, shares: tuple[float, ...]) -> pd.DataFrame:
    """Return a table with a category, a number that depends on it, a sparse and a constant column.

    `shares` are the probabilities of the categories. Most values of the sparse column are equal.
    """
    group = rng.choice(len(shares), n, p=shares)
    return pd.DataFrame({
        "c0": np.array([f"g{i}" for i in group], dtype=object),
        "c1": group + rng.normal(size=n),
        "c2": np.where(rng.random(n) < 0.7, np.nan, rng.normal(size=n)),
        "c3": 7.0,
    })  # fmt: skip


def _groups(rng: Rng, n: int, p: tuple[float, ...], q: tuple[float, ...]) -> Frames:
    return _mixed_rows(rng, n, p), _mixed_rows(rng, n, q)


def _normal_rows(rng: Rng, n: int, d: int) -> pd.DataFrame:
    return _frame(rng.normal(size=(n, d)))


#: Changed rows. Each function changes the rows `bad` of a frame of normal columns, so that they
#: lie where unchanged rows lie with probability 0.
def _sentinel(rng: Rng, y: pd.DataFrame, bad: np.ndarray) -> None:
    y.loc[bad, "c0"] = -9999.0


def _missing(rng: Rng, y: pd.DataFrame, bad: np.ndarray) -> None:
    y.loc[bad, "c0"] = np.nan


def _cloud(rng: Rng, y: pd.DataFrame, bad: np.ndarray) -> None:
    y.loc[bad] = 30 + rng.normal(size=(int(bad.sum()), y.shape[1]))


def _at_median(rng: Rng, y: pd.DataFrame, bad: np.ndarray) -> None:
    """Replace the rows `bad` of `y` by the center 0.

    No quantile of a column changes except the median.
    """
    y.loc[bad] = 0.0


def _at_quantile(rng: Rng, y: pd.DataFrame, bad: np.ndarray) -> None:
    """Replace the first column of the rows `bad` by a value just above its upper quartile."""
    y.loc[bad, "c0"] = 0.675


def _below_all(rng: Rng, y: pd.DataFrame, bad: np.ndarray) -> None:
    """Move the rows `bad` to the maximum along the first principal axis of the sample."""
    values = y.to_numpy()
    _, _, axes = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    y.loc[bad] = values[np.argmax(values @ axes[0])] + 1e-9


def _whole(rng: Rng, y: pd.DataFrame, bad: np.ndarray) -> None:
    y.loc[bad, "c0"] = np.round(2 * y.loc[bad, "c0"])


def _copies(rng: Rng, y: pd.DataFrame, bad: np.ndarray) -> None:
    """Replace the rows `bad` by copies of one fixed row."""
    y.loc[bad] = np.linspace(-1, 1, y.shape[1])


PLACES = {
    "sentinel": _sentinel, "missing": _missing, "cloud": _cloud, "at the median": _at_median,
    "at a quantile": _at_quantile, "at the maximum": _below_all, "whole numbers": _whole,
    "copies of one row": _copies,
}  # fmt: skip
#: Changes that concern one column.
ONE_COLUMN = ("sentinel", "missing", "at a quantile", "whole numbers")


def _replaced(rng: Rng, n: int, d: int, place: str, share: float, both: bool) -> Frames:
    """Draw two normal samples of the same distribution, and change random rows.

    Each row of the second sample is changed with probability `share`, by the function
    `PLACES[place]`. If `both`, rows of the first sample are changed with the same probability, in
    another way.
    """
    x, y = _normals(rng, n, d)
    PLACES[place](rng, y, rng.random(n) < share)
    if both:
        x.loc[rng.random(n) < share, "c0"] = 9999.0
    return x, y


def _unequal(rng: Rng, n: int, draw: Callable[[Rng, int], Frames], factor: int) -> Frames:
    """Return `factor` * n rows of X, and n rows of Y, which contains the changed rows."""
    x, y = draw(rng, factor * n)
    return x, y.iloc[:n].reset_index(drop=True)


def _settings() -> list[Setting]:
    found = []

    def add(name: str, n: int, draw: Callable[[Rng, int], Frames], tv: float, **margins: float):
        found.append(Setting(f"{name}, n = {n}", n, draw, tv, margins))

    for n, d, delta in (
        (50, 1, 0.3), (50, 5, 0.6), (50, 5, 2.0), (200, 1, 0.6), (200, 10, 1.0), (200, 40, 1.0),
        (1000, 5, 0.3), (1000, 1, 2.0), (1000, 20, 1.0), (10_000, 5, 0.1), (10_000, 2, 1.0),
    ):  # fmt: skip
        tv = shift_tv(delta)
        add(f"shift {delta}, d = {d}", n, partial(_shift, d=d, delta=delta, columns=1), tv, c0=tv)
    for n, d, delta in ((50, 10, 0.3), (200, 5, 0.3), (1000, 40, 0.1), (1000, 5, 0.5)):
        each = shift_tv(delta)
        add(f"shift {delta} of all columns, d = {d}", n,
            partial(_shift, d=d, delta=delta, columns=d), shift_tv(delta * np.sqrt(d)),
            **{f"c{j}": each for j in range(d)})  # fmt: skip
    for n, d, factor in ((50, 2, 2.0), (200, 5, 1.5), (200, 1, 3.0), (1000, 10, 1.3)):
        tv = scale_tv(factor)
        add(f"scale {factor}, d = {d}", n, partial(_scale, d=d, factor=factor), tv, c0=tv)
    for n, rho in ((50, 0.8), (200, 0.6), (200, 0.9), (1000, 0.8)):
        add(f"correlation {rho}", n, partial(_correlation, d=3, rho=rho), correlation_tv(rho))
    for n, delta in ((50, 1.0), (200, 1.0), (1000, 0.5), (1000, 2.0)):
        tv = _rounded_tv(delta)
        add(f"rounded shift {delta}", n, partial(_rounded, delta=delta), tv, c0=tv)
    for n, a, b in ((50, 0.5, 1.0), (200, 1.0, 1.5), (1000, 3.0, 3.3)):
        tv = _poisson_tv(a, b)
        add(f"Poisson {a} and {b}", n, partial(_poisson, a=a, b=b), tv, c0=tv)
    for n, p, q in ((50, 0.5, 0.8), (200, 0.02, 0.1), (1000, 0.01, 0.03)):
        tv = abs(p - q)
        add(f"binary {p} and {q}", n, partial(_binary, p=p, q=q), tv, c0=tv)
    p, mixed_tv = (0.5, 0.3, 0.2), 0.2
    for n in (50, 200, 1000):
        add("mixed table, groups", n, partial(_groups, p=p, q=(0.3, 0.3, 0.4)), mixed_tv,
            c0=mixed_tv, c1=mixed_tv)  # fmt: skip
        add("mixed table, new group", n, partial(_groups, p=(0.5, 0.5, 0.0), q=(0.47, 0.47, 0.06)),
            0.06, c0=0.06, c1=0.06)  # fmt: skip
    for place in PLACES:
        margin = place in ONE_COLUMN
        for n, d, share in ((50, 2, 0.2), (200, 5, 0.05), (200, 3, 0.7), (1000, 5, 0.02)):
            names = ["c0"] if margin else [f"c{j}" for j in range(d)]
            add(f"{share:.0%} {place}, d = {d}", n,
                partial(_replaced, d=d, place=place, share=share, both=False), share,
                **dict.fromkeys(names, share))  # fmt: skip
    for place in ("sentinel", "at the maximum"):
        add(f"8% {place}, d = 5", 10_000,
            partial(_replaced, d=5, place=place, share=0.08, both=False), 0.08,
            **{f"c{j}": 0.08 for j in range(1 if place == "sentinel" else 5)})  # fmt: skip
    for n, share in ((200, 0.1), (1000, 0.05)):
        # Independent replacements: both samples keep the rest, and the parts are disjoint.
        draw = partial(_replaced, d=3, place="sentinel", share=share, both=True)
        add(f"{share:.0%} in both, opposite ends", n, draw, share, c0=share)
    for place in ("sentinel", "missing", "whole numbers", "at the maximum"):
        for n, factor in ((100, 20), (200, 3)):
            rare = partial(_replaced, d=2, place=place, share=0.1, both=False)
            margins = dict.fromkeys(["c0"] if place in ONE_COLUMN else ["c0", "c1"], 0.1)
            add(f"10% {place} in the smaller sample, {factor} times as many rows of the other", n,
                partial(_unequal, draw=rare, factor=factor), 0.1, **margins)  # fmt: skip
    binary = partial(_binary, p=0.0, q=0.1)
    add("binary 0 and 0.1 in the smaller sample, 20 times as many rows of the other", 100,
        partial(_unequal, draw=binary, factor=20), 0.1, c0=0.1)  # fmt: skip
    for n, d in ((50, 3), (200, 10), (200, 40), (1000, 5)):
        add(f"equal normal, d = {d}", n, partial(_shift, d=d, delta=0.0, columns=0), 0.0)
    add("equal mixed table", 200, partial(_groups, p=p, q=p), 0.0)
    add("equal counts", 200, partial(_poisson, a=1.0, b=1.0), 0.0)
    return found


SETTINGS = {setting.name: setting for setting in _settings()}

#: Rows of the table of issue 45: normal, d = 5, change of one column.
TABLE: dict[str, tuple[Callable[[Rng, int], Frames], float]] = {
    **{
        f"shift {delta:g}": (partial(_shift, d=5, delta=delta, columns=1), shift_tv(delta))
        for delta in (0.3, 0.6, 1.0, 2.0)
    },
    "correlation 0 -> 0.8": (partial(_correlation, d=5, rho=0.8), correlation_tv(0.8)),
    "8% of the rows at -9999": (
        partial(_replaced, d=5, place="sentinel", share=0.08, both=False), 0.08,
    ),
    "2% of the rows at -9999": (
        partial(_replaced, d=5, place="sentinel", share=0.02, both=False), 0.02,
    ),
}  # fmt: skip
