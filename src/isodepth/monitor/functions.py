"""Functions of a row with values 0 and 1, and the number of rows for which each is 1.

The functions are chosen from one part of the reference and stay fixed: a column, its absolute
deviation, a direction, the distance from the center or the outlyingness up to a cut point; the sign
of the product of two centered columns; a missing value; a category; and, within frequent
categories, a column up to its median there.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from isodepth.core.directions import unit_vectors
from isodepth.core.scaling import mad_spread

# Levels of the quantiles at which functions of numbers are cut. Chosen on the streams of
# experiments/monitoring/delays.py; the number of functions enters the p-value as a factor.
_COLUMN_LEVELS = (0.01, 0.03, *(np.arange(1, 16) / 16), 0.97, 0.99)
_DEVIATION_LEVELS = (0.3, 0.5, 0.7, 0.85, 0.95, 0.99)
_DIRECTION_LEVELS = (0.02, *(np.arange(1, 10) / 10), 0.98)
_OUTLYING_LEVELS = (*(np.arange(1, 10) / 10), 0.95, 0.975, 0.99, 0.997)
_DIRECTIONS, _PAIRS, _CROSSED = 30, 100, 100
# Values of a category that are counted one by one; the others are counted together.
_VALUES = 50
# Least share of a category within which columns are compared with their medians.
_FREQUENT = 0.05
# Rows that choose the functions, as a fraction of the reference and at most.
_CHOOSING, _MOST_CHOOSING = 0.25, 20_000
_CHUNK = 1 << 15
# Standardized values are limited: products and sums of two of them must not overflow.
_FAR = 1e6
# Standardized values that differ by less may be equal values with different rounding.
_ROUNDING = 1e-9
#: Codes of missing categories, and of those that the reference does not have.
MISSING, UNSEEN = -1, -2


class Rows(NamedTuple):
    """Rows of a table."""

    #: float64 array of shape (m, d). NaN is a missing value.
    numbers: np.ndarray
    #: int64 array of shape (m, C). Indices of categories among those of the reference, or a code.
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
    #: Rows farther out than all rows that chose the functions, or with an unseen category.
    suspicious: int

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))  # type: ignore[operator]


class Function(NamedTuple):
    """Property of a row."""

    #: "column", "deviation", "direction", "distance", "pair", "missing", "category" or "crossed".
    kind: str
    #: Columns that it belongs to, numbers first and then categories; empty if it uses all.
    columns: tuple[int, ...]
    #: Index of the category among the known ones; -1 for other kinds.
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
    #: int64 array of shape (P, 2).
    pairs: np.ndarray
    #: int64 arrays, one per category column. Codes of the categories that are counted one by one.
    known: tuple[np.ndarray, ...]
    #: int64 array of shape (T, 2). Category column and index of the known value within which
    #: numbers are compared with `medians` (T, d).
    crossed: np.ndarray
    medians: np.ndarray
    #: Arrays of shapes (sum of n_cuts,) and (2 d + K + 2,). Cut points of all features, one feature
    #: after the other.
    cuts: np.ndarray
    n_cuts: np.ndarray
    #: Maximum outlyingness among the rows that chose the functions.
    farthest: float = float(np.finfo(np.float64).max)

    @classmethod
    def choose(cls, rows: Rows, rng: np.random.Generator) -> Functions:
        """Choose functions from rows that are not counted as reference later."""
        numbers, width = rows.numbers, rows.numbers.shape[1]
        center, scale = np.zeros(width), np.ones(width)
        for j, column in enumerate(numbers.T):
            present = column[~np.isnan(column)]
            if len(present):
                center[j], scale[j] = np.median(present), mad_spread(present[:, None])[0]
        directions = np.empty((0, width))
        if width > 1:
            directions = unit_vectors(width, _DIRECTIONS, "orthogonal", rng)
        count = len(directions)
        pairs = np.array(np.triu_indices(width, 1), dtype=np.int64).T.reshape(-1, 2)
        if len(pairs) > _PAIRS:
            pairs = pairs[np.sort(rng.permutation(len(pairs))[:_PAIRS])]
        known = tuple(_most_frequent(codes) for codes in rows.codes.T)
        crossed, medians = _frequent_values(rows, known, center)
        functions = cls(
            center, scale, directions, np.vstack([np.zeros(count), np.ones(count)]), pairs, known,
            crossed, medians, np.empty(0), np.zeros(0, np.int64),
        )  # fmt: skip
        z = functions._standardized(numbers)
        if count:
            along = z @ directions.T
            functions.middles[:] = np.median(along, axis=0), mad_spread(along)
        features = functions._features(numbers, z)
        levels = [_COLUMN_LEVELS] * width + [_DEVIATION_LEVELS] * width
        levels += [_DIRECTION_LEVELS] * count + [_OUTLYING_LEVELS] * (2 * bool(width))
        cuts = [
            _cut_points(values, levels[j], exact=j < width) for j, values in enumerate(features)
        ]
        functions = replace(functions, cuts=np.concatenate([np.empty(0), *cuts]),
                            n_cuts=np.array([len(each) for each in cuts], np.int64))  # fmt: skip
        return replace(functions, farthest=float(features[-1].max())) if width else functions

    @functools.cached_property
    def members(self) -> list[Function]:
        """The functions, in the order of their counts."""
        width, members = len(self.center), []
        kinds = ["column"] * width + ["deviation"] * width + ["direction"] * len(self.directions)
        kinds += ["distance"] * 2
        for j, count in enumerate(self.n_cuts.tolist()):
            members += [Function(kinds[j], (j % width,) if j < 2 * width else ())] * count
        members += [Function("pair", (i, j)) for i, j in self.pairs.tolist()]
        members += [Function("missing", (j,)) for j in range(width + len(self.known))]
        for c, known in enumerate(self.known):
            members += [Function("category", (width + c,), v) for v in range(len(known) + 1)]
        for c, v in self.crossed.tolist():
            members += [Function("crossed", (j, width + c), v) for j in range(width)]
        return members

    def count(self, rows: Rows) -> Counts:
        """Count rows, at least one."""
        starts = range(0, len(rows), _CHUNK)
        return total(self._count_chunk(rows.take(slice(at, at + _CHUNK))) for at in starts)

    def _count_chunk(self, rows: Rows) -> Counts:
        numbers, width = rows.numbers, len(self.center)
        z = self._standardized(numbers)
        features = self._features(numbers, z)
        suspicious = (rows.codes == UNSEEN).any(axis=1)
        if width:
            suspicious |= features[-1] > self.farthest
        features.sort(axis=1)  # NaN last
        ends = np.cumsum(self.n_cuts)
        parts = [
            ordered.searchsorted(self.cuts[end - count : end], side="right")
            for ordered, count, end in zip(features, self.n_cuts, ends, strict=True)
        ]
        above, below = (z > 0).astype(np.float32), (z < 0).astype(np.float32)
        same = above.T @ above + below.T @ below
        parts.append(same[self.pairs[:, 0], self.pairs[:, 1]].astype(np.int64))
        absent = np.isnan(numbers).sum(axis=0)
        parts += [absent, (rows.codes == MISSING).sum(axis=0)]
        places = [_places(codes, own) for codes, own in zip(rows.codes.T, self.known, strict=True)]
        for at, own in zip(places, self.known, strict=True):
            parts.append(np.bincount(at + 1, minlength=len(own) + 2)[1:])
        for (c, v), medians in zip(self.crossed.tolist(), self.medians, strict=True):
            parts.append((numbers[places[c] == v] <= medians).sum(axis=0))
        summaries = np.zeros((3, width))
        for j, present in enumerate((len(rows) - absent).tolist()):
            if present:
                low, middle, high = _quartiles(features[j, :present])
                summaries[:, j] = present, present * middle, present * (high - low)
        ones = np.concatenate(parts).astype(np.int64)
        return Counts(len(rows), ones, summaries, int(np.count_nonzero(suspicious)))

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
        features = np.empty((2 * width + len(self.directions) + 2, m))
        features[:width] = numbers.T
        deviations = np.abs(z.T, out=features[width : 2 * width])
        along = np.matmul(self.directions, z.T, out=features[2 * width : -2])
        features[-2] = np.sqrt(np.square(np.minimum(deviations, 10.0)).sum(axis=0))
        apart = np.abs(along - self.middles[0][:, None]) / self.middles[1][:, None]
        features[-1] = np.maximum(deviations.max(axis=0), apart.max(axis=0, initial=0.0))
        # A missing value has no deviation: it must not count as a value in the center.
        deviations[np.isnan(numbers.T)] = np.nan
        return features


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of the counts of parts, at least one."""
    return functools.reduce(operator.add, counts)


def split_reference(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Divide the indices of n rows into those that choose functions and those that are counted."""
    order = rng.permutation(n)
    chosen = min(max(1, int(_CHOOSING * n)), _MOST_CHOOSING)
    return np.sort(order[:chosen]), np.sort(order[chosen:])


def _quartiles(ordered: np.ndarray) -> list[float]:
    """Quartiles of increasing values; much faster than np.quantile, which sorts again."""
    at = np.array([0.25, 0.5, 0.75]) * (len(ordered) - 1)
    low = at.astype(np.int64)
    below, above = ordered[low], ordered[np.minimum(low + 1, len(ordered) - 1)]
    with np.errstate(over="ignore", invalid="ignore"):
        return (below + (at - low) * (above - below)).tolist()


def _cut_points(values: np.ndarray, levels: Sequence[float], exact: bool) -> np.ndarray:
    """Cut points near quantiles, or all values if there are few.

    A cut point at the maximum shows new values above it. Computed values (not `exact`) are cut in
    the middle of gaps: whether a value lies below a cut point must not depend on rounding.
    """
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    if len(distinct) < 2:
        return distinct[:1] if exact else np.empty(0)
    if not exact:
        distinct = distinct[np.append(np.diff(distinct) > _ROUNDING, True)]
    cuts = distinct if exact else distinct[:-1]
    if len(distinct) > len(levels) + 1:
        cuts = np.unique(np.quantile(present, levels, method="inverted_cdf"))
        cuts = cuts[cuts < distinct[-1]]
    if exact:
        return cuts
    # Cut points up to rounding: the next distinct value lies beyond the gap.
    index = np.unique(np.searchsorted(distinct, cuts))
    index = index[index < len(distinct) - 1]
    return (distinct[index] + distinct[index + 1]) / 2


def _most_frequent(codes: np.ndarray) -> np.ndarray:
    """Most frequent codes of known categories, in increasing order."""
    values, counts = np.unique(codes[codes >= 0], return_counts=True)
    return np.sort(values[np.argsort(-counts, kind="stable")[:_VALUES]]).astype(np.int64)


def _places(codes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the index of each code in `known`; len(known) if unknown, and -1 if missing."""
    at = np.searchsorted(known, codes)
    at[~np.isin(codes, known)] = len(known)
    at[codes == MISSING] = -1
    return at


def _frequent_values(
    rows: Rows, known: Sequence[np.ndarray], center: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Frequent values of categories (T, 2), and the medians of all numbers among their rows."""
    width, frequent = len(center), []
    for c, (codes, own) in enumerate(zip(rows.codes.T, known, strict=True)):
        counts = np.count_nonzero(codes[:, None] == own, axis=0)
        often = np.flatnonzero(counts >= _FREQUENT * len(rows)).tolist()
        frequent += [(int(counts[v]), c, v) for v in often]
    most = _CROSSED // width if width else 0
    crossed = [(c, v) for _, c, v in sorted(frequent, reverse=True)[:most]]
    medians = np.empty((len(crossed), width))
    for at, (c, v) in enumerate(crossed):
        own = rows.numbers[rows.codes[:, c] == known[c][v]]
        own = np.where(np.isnan(own), center, own)
        medians[at] = np.quantile(own, 0.5, axis=0, method="inverted_cdf")
    return np.array(crossed, np.int64).reshape(-1, 2), medians
