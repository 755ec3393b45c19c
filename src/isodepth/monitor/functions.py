"""Functions of a row with values 0 and 1, and the number of rows for which each is 1.

Rows are a `Table` of d numeric columns and C category columns. New words of a batch have codes that
no function knows.

The functions are chosen from one part of the reference and stay fixed. A function is 1 if

- a column, its absolute deviation from the median, a projection, the distance from the center or
  the outlyingness is at most a cut point,
- the product of two centered columns is positive,
- a value is missing, equals a certain category, or equals none of the counted categories,
- the row belongs to a frequent category and a column is at most its median in this category,
- a value equals a certain number, is among the largest or smallest, or is beyond all values that
  the functions were chosen from, or the row is more outlying than all these rows, or
- a value is a whole number, a whole tenth, or a multiple of 5 or 10.

The two-sample test also has indicators of missing values, categories, single numbers, largest and
smallest values, and multiples. It also has the function "the row occurs more than once", which
depends on other rows. Monitors test repeated rows in `isodepth.monitor.windows`.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from isodepth.base.fold import Fold
from isodepth.functions.conversions import last_decimal
from isodepth.functions.families import UNSEEN, Member, Precision, Rows, is_multiple
from isodepth.monitor.columns import (
    UsualValues,
    order_statistics,
    summary_of_parts,
    summary_of_rows,
    summary_of_sorted,
)
from isodepth.table.table import Table

# Maximum number of rows that are counted at once, which limits the memory.
_CHUNK = 1 << 15
# Number of values that decide whether the others are searched for a common multiple.
_FIRST = 32
# Standardized values are clipped to this absolute value, and rounded to multiples of _STEP before
# they are projected. The components of directions are multiples of DIRECTION_STEP. See `project`.
_FAR, _STEP, DIRECTION_STEP = 2.0**16, 2.0**-20, 2.0**-8
# Number of rows whose projections fit into the cache.
_FEW_ROWS = 1 << 10


class Counts(NamedTuple):
    """Numbers of rows of a set for which each of H functions is 1, and medians of d columns.

    The set of rows is the reference, a batch or a window. The sum of two objects has the counts in
    both sets together.
    """

    n_rows: int
    ones: np.ndarray  # (H,), number of rows for which each function is 1
    summaries: np.ndarray  # (3, d), see `isodepth.monitor.columns`

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))  # type: ignore[operator]

    @property
    def quartiles(self) -> np.ndarray:
        """Median and interquartile range (2, d) of each numeric column; NaN without values.

        For a sum of `Counts`, such as a window of several batches, these are the means of the
        medians and ranges of the batches, weighted by their numbers of values.
        """
        return self.summaries[1:] / np.where(self.summaries[0], self.summaries[0], np.nan)

    def with_quartiles(self, numbers: np.ndarray) -> Counts:
        """Return a copy with the exact medians and interquartile ranges of `numbers` (m, d)."""
        return self._replace(summaries=summary_of_rows(numbers))


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of counts; there must be at least one."""
    return functools.reduce(operator.add, counts)


# -- features of a row ----------------------------------------------------------------------------


def feature_names(width: int, n_directions: int) -> list[tuple[str, tuple[int, ...]]]:
    """Return the name and the columns of each row of the result of `features_of`.

    The names are "column", "deviation", "direction" and "distance". The last one is the name of
    both the distance from the center and the outlyingness. Directions and distances depend on all
    columns; their tuple of columns is empty.
    """
    names: list[tuple[str, tuple[int, ...]]] = [("column", (j,)) for j in range(width)]
    names += [("deviation", (j,)) for j in range(width)] + [("direction", ())] * n_directions
    return names + [("distance", ())] * 2 if width else []


def features_of(
    numbers: np.ndarray, z: np.ndarray, directions: np.ndarray, middles: np.ndarray
) -> np.ndarray:
    """Return numeric features (F, m) of m rows, to be compared with cut points.

    In this order: the columns `numbers` (m, d), the absolute values of the standardized columns `z`
    (m, d), projections of `z` on `directions` (K, d), the distance from the center, and the
    outlyingness, which is the maximum standardized deviation over all columns and directions.
    `middles` (2, K) has the median and the MAD of each projection.
    """
    m, width = z.shape
    if not width:
        return np.empty((0, m))
    features = np.empty((2 * width + len(directions) + 2, m))
    features[:width] = numbers.T
    deviations = np.abs(z.T, out=features[width : 2 * width])
    along = features[2 * width : -2]
    along[:] = project(directions, z)
    features[-2] = np.sqrt(sum(np.minimum(values, 10.0) ** 2 for values in deviations))
    features[-1] = deviations.max(axis=0)
    # A few rows at a time: the allocation of larger arrays takes longer than the computation.
    for start in range(0, m if len(directions) else 0, _FEW_ROWS):
        part = slice(start, start + _FEW_ROWS)
        apart = np.abs(along[:, part] - middles[0, :, None])
        apart /= middles[1, :, None]
        np.maximum(features[-1, part], apart.max(axis=0), out=features[-1, part])
    # Standardized missing values are 0: they must not count as values in the center.
    deviations[np.isnan(numbers.T)] = np.nan
    return features


def standardized(numbers: np.ndarray, center: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return `numbers` (m, d) minus `center`, divided by `scale` and clipped; 0 if missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = numbers / scale
        z -= center / scale
    z[np.isnan(z)] = 0.0
    return np.clip(z, -_FAR, _FAR, out=z)


def project(directions: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the projections (K, m) of standardized rows z (m, d) on directions (K, d).

    The values z are rounded to multiples of a power of 2, and the directions are such multiples.
    All products and their sums are then exact in float64, for at most 2**18 columns. So the
    projection of a row has the same bits alone and among other rows, in any memory layout, with any
    library for matrix products, and on every machine.
    """
    return (directions / DIRECTION_STEP) @ np.rint(z.T / _STEP) * (_STEP * DIRECTION_STEP)


# -- functions ------------------------------------------------------------------------------------


class Relation(IntEnum):
    """Relation between a feature and a threshold; files of monitors contain these numbers."""

    CUT = 0  # at most the threshold, which is a quantile
    EQUAL = 1  # equal to the threshold: a frequent value, minimum, maximum or one of _SENTINELS
    EXTREME = 2  # one of the few values that are at least the threshold, or at most the threshold
    BEYOND = 3  # above the threshold, which is the maximum, or below it, if it is the minimum


# Value of `Member.event` for the relations other than CUT, whose event is the name of the feature.
_EVENTS = {Relation.EQUAL: "value", Relation.EXTREME: "extremes", Relation.BEYOND: "beyond"}


class Thresholds(NamedTuple):
    """L functions that are 1 if a feature of a row has a `Relation` to a number, the threshold."""

    feature: np.ndarray  # (L,), index of the feature in the result of `features_of`
    relation: np.ndarray  # (L,), integers of `Relation`
    value: np.ndarray  # (L,), thresholds
    upper: (
        np.ndarray
    )  # (L,), 1 or 0: for EXTREME and BEYOND, whether large values have the relation

    def members(self, width: int, n_directions: int) -> list[Member]:
        """Return the L functions as `Member` objects.

        There are `width` numeric columns and `n_directions` projections.
        """
        features, members = feature_names(width, n_directions), []
        for feature, relation, value, upper in zip(*(each.tolist() for each in self), strict=True):
            name, columns = features[feature]
            members.append(Member(_EVENTS.get(relation, name), columns, value, upper > 0))
        return members

    def intervals(self, n_features: int) -> tuple[list[np.ndarray], np.ndarray]:
        """Return sorted ends of intervals for each feature, and indices (2, L) of these ends.

        A function is 1 if its feature is in a half-open interval (low, high]. The two rows are the
        indices of low and high in the concatenated ends of all features.
        """
        beyond, extreme = self.relation == Relation.BEYOND, self.relation == Relation.EXTREME
        before = np.nextafter(self.value, -np.inf)
        # The interval ends or begins at the threshold. BEYOND excludes the threshold, the other
        # relations include it.
        low = np.where(self.relation == Relation.EQUAL, before, -np.inf)
        high = np.where(beyond, before, self.value)
        above = (self.upper > 0) & (extreme | beyond)
        low[above] = np.where(beyond, self.value, before)[above]
        high[above] = np.inf
        ends, index, first = [], np.empty((2, len(self.value)), np.int64), 0
        for f in range(n_features):
            own = self.feature == f
            distinct = np.unique([low[own], high[own]])
            index[:, own] = first + distinct.searchsorted([low[own], high[own]])
            ends.append(distinct)
            first += len(distinct)
        return ends, index


@dataclass(frozen=True, eq=False)
class Functions:
    """Set of H functions of a row with values 0 and 1, chosen from a part of the reference."""

    center: np.ndarray  # (d,), medians of the numeric columns
    scale: np.ndarray  # (d,), median absolute deviations of the numeric columns, positive
    directions: np.ndarray  # (K, d), directions on which standardized rows are projected
    middles: np.ndarray  # (2, K), median and median absolute deviation of each projection
    pairs: np.ndarray  # (P, 2), indices of pairs of numeric columns
    known: tuple[np.ndarray, ...]  # for each category column, the codes that are counted separately
    crossed: np.ndarray  # (T, 2), category column and code of each frequent category
    medians: np.ndarray  # (T, d), medians of the numeric columns within each frequent category
    thresholds: Thresholds  # functions 0, ..., L - 1

    @functools.cached_property
    def members(self) -> list[Member]:
        """Description of each function, in the order of `Counts.ones`."""
        width = len(self.center)
        members = self.thresholds.members(width, len(self.directions))
        members += [Member("pair", (i, j)) for i, j in self.pairs.tolist()]
        members += [Member("missing", (c,)) for c in range(width + len(self.known))]
        for c, known in enumerate(self.known, width):
            members += [Member("shares", (c,), v) for v in (*known.tolist(), UNSEEN)]
        for c, v in self.crossed.tolist():
            members += [Member("crossed", (j, width + c), v) for j in range(width)]
        return members + self._precision.members

    @functools.cached_property
    def _precision(self) -> Precision:
        return Precision.of_columns(len(self.center))

    @functools.cached_property
    def missing(self) -> dict[int, int]:
        """Map from the index of a column to the index of the function for its missing values."""
        return {m.columns[0]: h for h, m in enumerate(self.members) if m.event == "missing"}

    def direction_of(self, h: int) -> np.ndarray:
        """Return the direction (d,) of function h, which compares a projection with a cut point."""
        return self.directions[self.thresholds.feature[h] - 2 * len(self.center)]

    def median_within(self, member: Member) -> float:
        """Return the median of a numeric column within a frequent category.

        `member` is the function that compares the column with this median.
        """
        column, category = member.columns
        same = (self.crossed == (category - len(self.center), member.value)).all(axis=1)
        return float(self.medians[same.argmax(), column])

    @functools.cached_property
    def _intervals(self) -> tuple[list[np.ndarray], np.ndarray]:
        return self.thresholds.intervals(len(feature_names(len(self.center), len(self.directions))))

    def count(self, rows: Table) -> Counts:
        """Count for each function the rows for which it is 1; there must be at least one row."""
        return Counts(len(rows), self.ones(rows), summary_of_rows(rows.numbers))

    def ones(self, rows: Table) -> np.ndarray:
        """Return the number of rows (H,) for which each function is 1."""
        chunks = [slice(start, start + _CHUNK) for start in range(0, len(rows), _CHUNK)]
        return np.sum([self._ones(rows.numbers[c], rows.codes[c]) for c in chunks], axis=0)

    def _ones(self, numbers: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the number of rows (H,) for which each function is 1.

        The m rows have `numbers` (m, d) and codes of categories `codes` (m, C).
        """
        z = standardized(numbers, self.center, self.scale)
        features = features_of(numbers, z, self.directions, self.middles)
        features.sort(axis=1)  # NaN is sorted to the end
        ends, (low, high) = self._intervals
        ranks = [f.searchsorted(e, side="right") for f, e in zip(features, ends, strict=True)]
        up_to = np.concatenate([*ranks, np.empty(0, np.int64)])
        above, below = (z > 0).astype(np.float32), (z < 0).astype(np.float32)
        same = above.T @ above + below.T @ below
        counts = [up_to[high] - up_to[low], same[tuple(self.pairs.T)]]
        counts += [np.isnan(numbers).sum(axis=0), (codes < 0).sum(axis=0)]
        for column, known in zip(np.sort(codes.T), self.known, strict=True):
            ones = column.searchsorted(known, side="right") - column.searchsorted(known)
            counts += [ones, [np.count_nonzero(column >= 0) - ones.sum()]]
        for (c, v), medians in zip(self.crossed.tolist(), self.medians, strict=True):
            counts.append((numbers[codes[:, c] == v] <= medians).sum(axis=0))
        if numbers.shape[1]:
            counts.append(self._precision.count(Rows(numbers, codes, np.empty(0))))
        return np.concatenate(counts).astype(np.int64)


# -- batches --------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """Counts of the functions in a batch, with hashes and other attributes of its rows.

    The fields other than `counts` are not stored in the monitor.
    """

    counts: Counts
    hashes: np.ndarray  # (m,), uint64, hash of each row
    suspicious: np.ndarray  # indices of suspicious rows, see `UsualValues`
    numbers: np.ndarray | None  # (m, d), numeric columns; None without blocks
    unseen: dict[int, Counter[str]]  # index of a category column -> counts of its new categories
    units: np.ndarray  # (d,), see `_coarsest_units`


class _ChunkOfBatch(NamedTuple):
    """Batch that is one chunk, with attributes for combining it with other chunks."""

    first_row: int  # number of the first row
    batch: Batch
    order_statistics: list[np.ndarray]  # of each numeric column


@dataclass(frozen=True)
class BatchFold(Fold):
    """Fold that counts the rows of a batch, whose chunks are tables; the result is a `Batch`.

    The counts do not depend on the division into chunks: the value of a function depends on the
    bits of a row alone. Quartiles depend on the division if several chunks have over 1000 rows, see
    `PartsSummary`.

    Attributes
    ----------
    functions : Functions
    usual : UsualValues
        Ranges of usual values, from which suspicious rows are found.
    keep_numbers : bool
        Whether the result has the numbers of all rows, for comparisons with blocks.
    """

    functions: Functions
    usual: UsualValues
    keep_numbers: bool = False

    def start(self) -> list[_ChunkOfBatch]:
        return []

    def step(self, state: list[_ChunkOfBatch], chunk: Table, n_threads: int) -> None:
        numbers = chunk.numbers
        columns, present = np.sort(numbers.T), np.count_nonzero(~np.isnan(numbers), axis=0)
        counts = Counts(len(chunk), self.functions.ones(chunk), summary_of_sorted(columns, present))
        unseen = {}
        for c, column in enumerate(chunk.schema.categorical):
            codes, first = chunk.codes[:, c], len(column.categories)
            if len(new := codes[codes >= first]):
                words = zip(chunk.words(c)[first:], np.bincount(new)[first:].tolist(), strict=True)
                unseen[numbers.shape[1] + c] = Counter(dict(words))
        batch = Batch(
            counts, chunk.hashes(), np.flatnonzero(self.usual.suspicious(chunk)),
            numbers if self.keep_numbers else None, unseen, _coarsest_units(numbers),
        )  # fmt: skip
        first_row = int(chunk.origin.row_numbers(len(chunk))[0])
        state.append(_ChunkOfBatch(first_row, batch, order_statistics(columns, present)))

    def finish(self, state: list[_ChunkOfBatch]) -> Batch:
        state.sort(key=lambda chunk: chunk.first_row)
        batches = [chunk.batch for chunk in state]
        if len(batches) == 1:
            return batches[0]
        counts = total(batch.counts for batch in batches)
        summaries = summary_of_parts([chunk.order_statistics for chunk in state])
        ends = np.cumsum([0, *(batch.counts.n_rows for batch in batches)]).tolist()
        unseen: dict[int, Counter[str]] = {}
        for batch in batches:
            for column, words in batch.unseen.items():
                unseen.setdefault(column, Counter()).update(words)
        return Batch(
            counts._replace(summaries=summaries),
            np.concatenate([batch.hashes for batch in batches]),
            np.concatenate([b.suspicious + end for b, end in zip(batches, ends, strict=False)]),
            np.concatenate([b.numbers for b in batches]) if self.keep_numbers else None,
            unseen,
            np.minimum.reduce([batch.units for batch in batches]),
        )


def _coarsest_units(numbers: np.ndarray) -> np.ndarray:
    """Return the largest power of ten (d,) of which all values of each column are multiples.

    It is 0 if it is below 10, and infinite if all values are 0 or missing.
    """
    units = np.full(numbers.shape[1], np.inf)
    for j, column in enumerate(numbers.T):
        values = column[~np.isnan(column) & (column != 0)]
        if len(values):
            # The first values decide for most columns.
            is_coarse = is_multiple(values[:_FIRST], 10.0).all() and is_multiple(values, 10.0).all()
            units[j] = last_decimal(values) if is_coarse else 0.0
    return units
