"""Functions of a row with values 0 and 1, and the number of rows for which each is 1.

The functions are chosen from one part of the reference and stay fixed: a column, its absolute
deviation, a direction, the distance from the center or the outlyingness up to a cut point; the sign
of the product of two centered columns; a missing value; a category; and, within frequent
categories, a column up to its median there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isodepth.core.directions import unit_vectors
from isodepth.core.scaling import mad_spread

# Levels of the quantiles at which functions of numbers are cut. Chosen on the streams of
# experiments/monitoring/delays.py; the number of functions enters the p-value as a factor.
COLUMN_LEVELS = (0.01, 0.03, *(np.arange(1, 16) / 16), 0.97, 0.99)
DEVIATION_LEVELS = (0.3, 0.5, 0.7, 0.85, 0.95, 0.99)
DIRECTION_LEVELS = (0.02, *(np.arange(1, 10) / 10), 0.98)
OUTLYING_LEVELS = (*(np.arange(1, 10) / 10), 0.95, 0.975, 0.99, 0.997)
_DIRECTIONS = 30
_PAIRS = 100
_CROSSED = 100
# Values of a category that are counted one by one; the others are counted together.
_VALUES = 50
_FREQUENT = 0.05
# Rows that choose the functions, as a fraction of the reference and at most.
_CHOOSING, _MOST_CHOOSING = 0.25, 20_000
_CHUNK = 1 << 15
# Standardized values are limited: products and sums of two of them must not overflow.
_FAR = 1e6
# Standardized values that differ by less may be equal values with different rounding.
_ROUNDING = 1e-9
_MOST = float(np.finfo(np.float64).max)


class Rows(NamedTuple):
    """Rows of a table."""

    #: float64 array of shape (m, d). NaN is a missing value.
    numbers: np.ndarray
    #: int64 array of shape (m, C). Index of each category among the known ones of its column, or
    #: their number for all others; -1 is a missing value.
    codes: np.ndarray

    def __len__(self) -> int:  # type: ignore[override]
        return len(self.numbers)

    def take(self, index: np.ndarray | slice) -> Rows:
        """Return some of the rows."""
        return Rows(self.numbers[index], self.codes[index])


class Counts(NamedTuple):
    """Sums over rows."""

    n_rows: int
    #: int64 array of shape (H,). Rows for which each function is 1.
    ones: np.ndarray
    #: float64 array of shape (3, d). Present values of each column, and their number times the
    #: median and times the interquartile range. Sums of batches give weighted means of both.
    summaries: np.ndarray

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        return Counts(
            self.n_rows + other.n_rows, self.ones + other.ones, self.summaries + other.summaries
        )


class Function(NamedTuple):
    """Property of a row."""

    #: "column", "deviation", "direction", "distance", "pair", "missing", "category" or "crossed".
    kind: str
    #: Columns that it belongs to, numbers first and then categories; empty if it uses all.
    columns: tuple[int, ...]
    #: Index of the category; -1 for other kinds.
    value: int = -1


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of a row, chosen from a part of the reference."""

    #: Arrays of shape (d,). Median and spread of each column.
    center: np.ndarray
    scale: np.ndarray
    #: Array of shape (K, d). Of standardized columns.
    directions: np.ndarray
    #: Array of shape (2, K). Median and spread along each direction.
    middles: np.ndarray
    #: Array of shape (sum of n_cuts,). Cut points of all features, one feature after the other.
    cuts: np.ndarray
    #: int64 array of shape (2 d + K + 2,).
    n_cuts: np.ndarray
    #: int64 array of shape (P, 2).
    pairs: np.ndarray
    #: int64 array of shape (C,). Known values of each category column.
    n_values: np.ndarray
    #: int64 array of shape (T, 2). Category column and value within which numbers are compared
    #: with `medians`.
    crossed: np.ndarray
    #: Array of shape (T, d).
    medians: np.ndarray
    #: Largest outlyingness among the rows that chose the functions.
    farthest: float

    @classmethod
    def choose(cls, rows: Rows, n_values: Sequence[int], rng: np.random.Generator) -> Functions:
        """Choose functions from rows that are not counted as reference later."""
        numbers, width = rows.numbers, rows.numbers.shape[1]
        center, scale = np.zeros(width), np.ones(width)
        for j, column in enumerate(numbers.T):
            present = column[~np.isnan(column)]
            if len(present):
                center[j], scale[j] = np.median(present), mad_spread(present[:, None])[0]
        count = 0 if width < 2 else _DIRECTIONS
        directions = np.empty((0, width))
        if count:
            directions = unit_vectors(width, count, "orthogonal", rng)
        pairs = np.array(np.triu_indices(width, 1), dtype=np.int64).T.reshape(-1, 2)
        if len(pairs) > _PAIRS:
            pairs = pairs[np.sort(rng.permutation(len(pairs))[:_PAIRS])]
        made = cls(
            center, scale, directions, np.vstack([np.zeros(count), np.ones(count)]), np.empty(0),
            np.zeros(0, np.int64), pairs, np.asarray(n_values, np.int64),
            *_frequent_values(rows, n_values, center), _MOST,
        )  # fmt: skip
        z = made._standardized(numbers)
        if count:
            along = z @ directions.T
            made.middles[0], made.middles[1] = np.median(along, axis=0), mad_spread(along)
        features = made._features(numbers, z)
        levels = [COLUMN_LEVELS] * width + [DEVIATION_LEVELS] * width
        levels += [DIRECTION_LEVELS] * count + [OUTLYING_LEVELS] * (2 * bool(width))
        cuts = [
            _cut_points(values, own, exact=j < width)
            for j, (values, own) in enumerate(zip(features, levels, strict=True))
        ]
        return replace(
            made, cuts=np.concatenate([np.empty(0), *cuts]),
            n_cuts=np.array([len(each) for each in cuts], np.int64),
            farthest=float(features[-1].max()) if width else _MOST,
        )  # fmt: skip

    @cached_property
    def members(self) -> list[Function]:
        """The functions, in the order of their counts."""
        width, found = len(self.center), []
        for j, count in enumerate(self.n_cuts.tolist()):
            kind = ("column", "deviation")[j // width] if j < 2 * width else "direction"
            if j >= len(self.n_cuts) - 2:
                kind = "distance"
            found += [Function(kind, (j % width,) if j < 2 * width else ())] * count
        found += [Function("pair", (int(i), int(j))) for i, j in self.pairs]
        found += [Function("missing", (j,)) for j in range(width + len(self.n_values))]
        for c, count in enumerate(self.n_values.tolist()):
            found += [Function("category", (width + c,), v) for v in range(count + 1)]
        for c, v in self.crossed.tolist():
            found += [Function("crossed", (j, width + c), v) for j in range(width)]
        return found

    def __len__(self) -> int:
        categories = 2 * len(self.n_values) + int(self.n_values.sum())
        return len(self.cuts) + len(self.pairs) + len(self.center) + categories + self.medians.size

    def count(self, rows: Rows) -> tuple[Counts, int]:
        """Count rows, and those that are farther out than all rows that chose the functions."""
        starts = range(0, len(rows), _CHUNK)
        chunks = [self._count_chunk(rows.take(slice(at, at + _CHUNK))) for at in starts]
        first, *others = [counts for counts, _ in chunks]
        return sum(others, first), sum(outside for _, outside in chunks)

    def _count_chunk(self, rows: Rows) -> tuple[Counts, int]:
        numbers, codes = rows
        m, width = numbers.shape
        missing = np.isnan(numbers)
        z = self._standardized(numbers)
        features = self._features(numbers, z)
        outside = int(np.count_nonzero(features[-1] > self.farthest)) if width else 0
        features.sort(axis=1)  # NaN last
        ends = np.cumsum(self.n_cuts)
        parts = [
            ordered.searchsorted(self.cuts[end - count : end], side="right")
            for ordered, count, end in zip(features, self.n_cuts, ends, strict=True)
        ]
        if width:
            above, below = (z > 0).astype(np.float32), (z < 0).astype(np.float32)
            same = above.T @ above + below.T @ below
            parts.append(same[self.pairs[:, 0], self.pairs[:, 1]].astype(np.int64))
        absent = missing.sum(axis=0)
        parts += [absent, (codes < 0).sum(axis=0)]
        for values, count in zip(codes.T, self.n_values.tolist(), strict=True):
            parts.append(np.bincount(values + 1, minlength=count + 2)[1:])
        for (c, v), medians in zip(self.crossed.tolist(), self.medians, strict=True):
            parts.append((numbers[codes[:, c] == v] <= medians).sum(axis=0))
        summaries = np.zeros((3, width))
        for j in range(width):
            present = m - int(absent[j])
            if present:
                low, middle, high = _quartiles(features[j, :present])
                summaries[:, j] = present, present * middle, present * (high - low)
        return Counts(m, np.concatenate(parts).astype(np.int64), summaries), outside

    def _standardized(self, numbers: np.ndarray) -> np.ndarray:
        """Columns in spreads from their medians, 0 for missing values."""
        with np.errstate(over="ignore", invalid="ignore"):
            z = numbers / self.scale - self.center / self.scale
        z[np.isnan(z)] = 0.0
        return np.clip(z, -_FAR, _FAR, out=z)

    def _features(self, numbers: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Columns, deviations, directions, distance from the center, outlyingness: (F, m)."""
        m, width = z.shape
        if not width:
            return np.empty((0, m))
        count = len(self.directions)
        features = np.empty((2 * width + count + 2, m))
        features[:width] = numbers.T
        deviations = np.abs(z.T, out=features[width : 2 * width])
        along = np.matmul(self.directions, z.T, out=features[2 * width : 2 * width + count])
        features[-2] = np.sqrt(np.square(np.minimum(deviations, 10.0)).sum(axis=0))
        apart = np.abs(along - self.middles[0][:, None]) / self.middles[1][:, None]
        features[-1] = np.maximum(deviations.max(axis=0), apart.max(axis=0, initial=0.0))
        # A missing value has no deviation: it must not count as a value in the center.
        deviations[np.isnan(numbers.T)] = np.nan
        return features


def split_reference(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Divide the indices of n rows into those that choose functions and those that are counted."""
    order = rng.permutation(n)
    chosen = min(max(1, int(_CHOOSING * n)), _MOST_CHOOSING)
    return np.sort(order[:chosen]), np.sort(order[chosen:])


def _quartiles(ordered: np.ndarray) -> list[float]:
    """Quartiles of increasing values."""
    at = np.array([0.25, 0.5, 0.75]) * (len(ordered) - 1)
    low = at.astype(np.int64)
    below, above = ordered[low], ordered[np.minimum(low + 1, len(ordered) - 1)]
    with np.errstate(over="ignore", invalid="ignore"):
        return (below + (at - low) * (above - below)).tolist()


def _cut_points(values: np.ndarray, levels: Sequence[float], exact: bool) -> np.ndarray:
    """Cut points near quantiles; all values but the largest, if there are few.

    Computed values (not `exact`) are cut in the middle of gaps: whether a value lies below a cut
    point must not depend on rounding.
    """
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) < 2:
        return distinct[:1] if exact else np.empty(0)
    if not exact:
        distinct = distinct[np.append(np.diff(distinct) > _ROUNDING, True)]
    if len(distinct) <= len(levels) + 1:
        cuts = distinct[:-1]
    else:
        present = values[~np.isnan(values)]
        cuts = np.unique(np.quantile(present, levels, method="inverted_cdf"))
        cuts = cuts[cuts < distinct[-1]]
    if exact:
        return cuts
    # Cut points up to rounding: the next distinct value lies beyond the gap.
    index = np.unique(np.searchsorted(distinct, cuts))
    index = index[index < len(distinct) - 1]
    return (distinct[index] + distinct[index + 1]) / 2


def _frequent_values(
    rows: Rows, n_values: Sequence[int], center: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Frequent values of categories (T, 2), and the medians of all numbers among their rows."""
    width = len(center)
    found = []
    for c, values in enumerate(rows.codes.T):
        counts = np.bincount(values[values >= 0], minlength=n_values[c] + 1)[: n_values[c]]
        found += [(int(counts[v]), c, v) for v in np.flatnonzero(counts >= _FREQUENT * len(rows))]
    crossed = [
        each[1:] for each in sorted(found, reverse=True)[: _CROSSED // width if width else 0]
    ]
    medians = np.empty((len(crossed), width))
    for at, (c, v) in enumerate(crossed):
        own = rows.numbers[rows.codes[:, c] == v]
        own = np.where(np.isnan(own), center, own)
        medians[at] = np.quantile(own, 0.5, axis=0, method="inverted_cdf")
    return np.array(crossed, np.int64).reshape(-1, 2), medians


def most_frequent(codes: np.ndarray) -> np.ndarray:
    """Return the most frequent codes, missing values (-1) excluded, in increasing order."""
    values, counts = np.unique(codes[codes >= 0], return_counts=True)
    return np.sort(values[np.argsort(-counts, kind="stable")[:_VALUES]]).astype(np.int64)
