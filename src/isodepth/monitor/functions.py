"""Functions of a row with values 0 and 1, and the number of rows for which each is 1.

Rows are an array (m, d + C) of d numeric columns and C category columns. A category is the index of
its value in the reference, or UNSEEN. Missing values are NaN.

The functions are chosen from one part of the reference and stay fixed. A function is 1 if

- a column, its absolute deviation from the median, a projection, the distance from the center or
  the outlyingness is at most a cut point,
- the product of two centered columns is positive,
- a value is missing, equals a certain category, or equals none of the counted categories,
- the row belongs to a frequent category and a column is at most its median in this category,
- a value equals a certain number, is among the largest or smallest, or is beyond all values that
  the functions were chosen from, or the row is more outlying than all these rows, or
- a value is a whole number, a whole tenth, or a multiple of 5 or 10.

The last two families, missing values and all descriptions are those of the two-sample test. Its
function "the row occurs more than once" depends on other rows, so that a monitor cannot use it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isodepth.core.directions import unit_vectors
from isodepth.core.scaling import mad_spread
from isodepth.errors import DependenceWarning, warn_user
from isodepth.rowfunctions.families import (
    UNSEEN,
    Extremes,
    Member,
    Missing,
    Precision,
    Rows,
    SingleValues,
    row_hashes,
)

# Levels of the quantiles that serve as cut points of each kind of feature. They were tuned on the
# streams of experiments/monitoring/delays.py: more cut points find more kinds of changes, but the
# p-value is multiplied by the number of functions.
_LEVELS = {
    "column": (0.01, 0.03, *(np.arange(1, 16) / 16), 0.97, 0.99),
    "deviation": (0.3, 0.5, 0.7, 0.85, 0.95, 0.99),
    "direction": (0.02, *(np.arange(1, 10) / 10), 0.98),
    "distance": (*(np.arange(1, 10) / 10), 0.95, 0.975, 0.99, 0.997),
}
# Number of projection directions, and maximum numbers of pairs: of two numeric columns, and of a
# numeric column and a frequent category.
_DIRECTIONS, _PAIRS, _CROSSED = 30, 100, 100
# Maximum number of values per category column that are counted separately, and minimum share of a
# frequent category.
_VALUES, _FREQUENT = 50, 0.05
# Numbers that often replace missing values. They may be new in a batch.
_SENTINELS = (0.0, -1.0, -9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0)
# Fraction and maximum number of the reference rows from which functions are chosen.
_CHOOSING, _MOST_CHOOSING = 0.25, 20_000
# Maximum number of rows that are counted at once, which limits the memory, and of rows that are
# projected at once, so that the products fit into the cache.
_CHUNK, _BLOCK = 1 << 15, 1 << 12
# Standardized values are clipped to this absolute value, so that their products do not overflow.
_FAR = 1e6
# Standardized values that differ by at most this count as equal, because of rounding.
_ROUNDING = 1e-9
#: Minimum number of rows of the reference, of each group, and of a part in the check of dependence.
LEAST_ROWS = 20
# Maximum and minimum number of these parts, and approximate probability of a false warning.
_PARTS, _LEAST_PARTS, _LEVEL = 50, 5, 1e-3
# The warning ignores functions that have the same value for more than 90% of the rows, because
# their counts are not nearly normal.
_RARE = 0.1


class Counts(NamedTuple):
    """Sums over the rows of a batch, a window or the reference. The operator + joins two sets."""

    n_rows: int
    ones: np.ndarray  # (H,), number of rows for which each function is 1
    summaries: np.ndarray  # (3, d), number n of values, n * median, n * interquartile range

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))  # type: ignore[operator]

    @property
    def quartiles(self) -> np.ndarray:
        """Median and interquartile range (2, d) of each numeric column; means for added counts."""
        return self.summaries[1:] / np.where(self.summaries[0], self.summaries[0], np.nan)


class Batch(NamedTuple):
    """Counts of a batch and facts about its rows, which are not kept after the batch."""

    counts: Counts
    digest: int  # checksum of the rows in any order, by which a repeated batch is recognized
    suspicious: np.ndarray  # indices of suspicious rows, see `count_batch`
    rows: np.ndarray | None  # None without blocks
    unseen: dict[int, str]  # most frequent new value of each category column that has one


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
    cuts: tuple[np.ndarray, ...]  # cut points of each row of the result of `_features`
    single: np.ndarray  # (2, V), column and number of each function of a single number
    extreme: np.ndarray  # (3, E), feature, cut point, and 1 for values from there on or 0 up to it
    beyond: np.ndarray  # (3, B), feature, maximum or minimum, and 1 for values above or 0 below it
    farthest: float  # maximum outlyingness of the rows that the functions were chosen from

    @classmethod
    def choose(cls, rows: np.ndarray, width: int, rng: np.random.Generator) -> Functions:
        """Choose functions from rows of which the first `width` columns are numeric.

        These rows must not be counted later: their quantiles are the cut points, so that their
        counts are fixed and not exchangeable with those of other rows.
        """
        numbers, codes = rows[:, :width], rows[:, width:]
        center, scale = np.zeros(width), np.ones(width)
        for j, column in enumerate(numbers.T):
            if len(present := column[~np.isnan(column), None]):
                center[j], scale[j] = np.median(present), mad_spread(present)[0]
        directions = np.empty((0, width))
        if width > 1:
            directions = unit_vectors(width, _DIRECTIONS, "orthogonal", rng)
        pairs = np.array(np.triu_indices(width, 1), dtype=np.int64).T
        if len(pairs) > _PAIRS:
            pairs = pairs[np.sort(rng.permutation(len(pairs))[:_PAIRS])]
        z = _standardized(numbers, center, scale)
        along = _project(directions, z, np.empty((len(directions), len(z))))
        middles = np.array([np.median(along, axis=1), mad_spread(along.T)])
        features = _features(numbers, z, directions, middles)
        kinds = zip(_feature_kinds(width, len(directions)), features, strict=True)
        cuts = tuple(_cut_points(v, _LEVELS[kind], kind == "column") for (kind, _), v in kinds)
        numeric = center, scale, directions, middles, pairs
        return cls(
            *numeric, *_choose_categories(numbers, codes, center), cuts,
            *_choose_values(numbers, codes, features, cuts),
            float(features[-1].max()) if width else 0.0,
        )  # fmt: skip

    @functools.cached_property
    def members(self) -> list[Member]:
        """Description of each function, in the order of `Counts.ones`."""
        width = len(self.center)
        kinds = zip(_feature_kinds(width, len(self.directions)), self.cuts, strict=True)
        members = [Member(*kind, cut) for kind, cuts in kinds for cut in cuts.tolist()]
        members += [Member("pair", (i, j)) for i, j in self.pairs.tolist()]
        members += Missing(width + len(self.known)).members
        for c, known in enumerate(self.known, width):
            members += [Member("category", (c,), v) for v in (*known.tolist(), UNSEEN)]
        for c, v in self.crossed.tolist():
            members += [Member("crossed", (j, width + c), v) for j in range(width)]
        members += SingleValues(self.single[0].astype(np.int64), self.single[1]).members
        for kind, chosen in (("extreme", self.extreme), ("beyond", self.beyond)):
            for j, cut, upper in chosen.T.tolist():
                members.append(Member(kind, (int(j),) if j < width else (), cut, upper > 0))
        return members + self._precision.members

    @functools.cached_property
    def _precision(self) -> Precision:
        no_rows = np.empty((0, len(self.center)))
        return Precision.choose(Rows(no_rows, no_rows, no_rows))

    def count(self, rows: np.ndarray) -> Counts:
        """Count for each function the rows for which it is 1; there must be at least one row."""
        return self.count_batch([rows], {}).counts

    def count_batch(
        self, parts: Iterable[np.ndarray], unseen: dict[int, str], keep_rows: bool = False
    ) -> Batch:
        """Count the rows of a batch given in parts; there must be at least one row.

        A row is suspicious if it is more outlying than all rows that the functions were chosen
        from, or has a category value that does not occur in the reference. The counts do not depend
        on the division into parts: the value of a function depends on the bits of a row alone.
        """
        counts: list[Counts] = []
        digest, suspicious, rows = 0, [], []
        for part in parts:
            for start in range(0, len(part), _CHUNK):
                found, far = self._count_chunk(part[start : start + _CHUNK])
                suspicious.append(np.flatnonzero(far) + sum(each.n_rows for each in counts))
                counts.append(found)
            digest += int(row_hashes(part).sum())
            rows += [part] * keep_rows
        joined = np.concatenate(rows) if keep_rows else None
        return Batch(total(counts), digest % 2**63, np.concatenate(suspicious), joined, unseen)

    def _count_chunk(self, rows: np.ndarray) -> tuple[Counts, np.ndarray]:
        width, absent = len(self.center), np.isnan(rows).sum(axis=0)
        numbers, codes = rows[:, :width], rows[:, width:]
        z = _standardized(numbers, self.center, self.scale)
        features = _features(numbers, z, self.directions, self.middles)
        far = (features[-1:] > self.farthest).any(axis=0)
        suspicious = far | (codes == UNSEEN).any(axis=1)
        features.sort(axis=1)  # NaN is sorted to the end
        counts = [f.searchsorted(c, side="right") for f, c in zip(features, self.cuts, strict=True)]
        above, below = (z > 0).astype(np.float32), (z < 0).astype(np.float32)
        same = above.T @ above + below.T @ below
        counts += [same[tuple(self.pairs.T)], absent]
        for column, known in zip(np.sort(codes.T), self.known, strict=True):
            ones = column.searchsorted(known, side="right") - column.searchsorted(known)
            counts += [ones, [np.count_nonzero(~np.isnan(column)) - ones.sum()]]
        for (c, v), medians in zip(self.crossed.tolist(), self.medians, strict=True):
            counts.append((numbers[codes[:, c] == v] <= medians).sum(axis=0))
        counts += self._count_values(features, absent)
        precise = np.zeros(len(self._precision.columns))
        for start in range(0, len(rows), _BLOCK) if width else ():
            block = numbers[start : start + _BLOCK]
            with np.errstate(over="ignore", invalid="ignore"):
                precise += np.nansum(self._precision.evaluate(Rows(block, block, block)), axis=1)
        counts.append(precise)
        present, columns = len(rows) - absent[:width], np.arange(width)
        last = np.maximum(present - 1, 0)
        at = np.array([[0.25], [0.5], [0.75]]) * last
        low = at.astype(np.int64)
        below, above = features[columns, low], features[columns, np.minimum(low + 1, last)]
        with np.errstate(over="ignore", invalid="ignore"):
            first, middle, third = np.where(present > 0, below + (at - low) * (above - below), 0.0)
            summaries = present * np.array([np.ones(width), middle, third - first])
        ones = np.concatenate(counts).astype(np.int64)
        return Counts(len(rows), ones, summaries), suspicious

    def _count_values(self, features: np.ndarray, absent: np.ndarray) -> list[np.ndarray]:
        """Count single numbers, extremes and values beyond the reference in sorted features."""
        chosen = self.single, self.extreme, self.beyond
        single, extreme, beyond = (_ranks(features, each) for each in chosen)
        present = np.full(len(features), features.shape[1])
        present[: len(self.center)] -= absent[: len(self.center)]
        at_least = present[self.extreme[0].astype(np.int64)] - extreme[0]
        above = present[self.beyond[0].astype(np.int64)] - beyond[1]
        return [
            single[1] - single[0],
            np.where(self.extreme[2] > 0, at_least, extreme[1]),
            np.where(self.beyond[2] > 0, above, beyond[0]),
        ]


def _ranks(features: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return for each index of a sorted feature and value the numbers (2, F) below and up to it."""
    ranks = np.empty((2, chosen.shape[1]), np.int64)
    for index in np.unique(chosen[0]):
        own, feature = chosen[0] == index, features[int(index)]
        ranks[:, own] = [feature.searchsorted(chosen[1, own], side) for side in ("left", "right")]
    return ranks


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of counts; there must be at least one."""
    return functools.reduce(operator.add, counts)


def fit_functions(
    rows: np.ndarray, width: int, rng: np.random.Generator, names: Sequence[str], title: str
) -> tuple[Functions, Counts]:
    """Return functions chosen from a part of the reference, and the counts of the other rows.

    Warn if consecutive rows depend on each other: the sum of squared deviations of the counts in
    consecutive parts, divided by their variance, is nearly chi-squared for independent rows.
    """
    from scipy.special import chdtrc

    order = rng.permutation(len(rows))
    n_chosen = min(max(1, int(_CHOOSING * len(rows))), _MOST_CHOOSING)
    functions = Functions.choose(rows[np.sort(order[:n_chosen])], width, rng)
    rows = rows[np.sort(order[n_chosen:])]
    count = max(1, min(_PARTS, len(rows) // LEAST_ROWS))
    ends = np.linspace(0, len(rows), count + 1).astype(np.int64)
    parts = [functions.count(part) for part in np.split(rows, ends[1:-1])]
    counts = total(parts)
    share = counts.ones / counts.n_rows
    named = np.array([bool(member.columns) for member in functions.members])
    usable = np.flatnonzero(named & (share > _RARE) & (share < 1 - _RARE))
    if count < _LEAST_PARTS or not len(usable):
        return functions, counts
    expected = np.array([[part.n_rows] for part in parts], dtype=np.float64) * share[usable]
    squares = (np.array([part.ones[usable] for part in parts]) - expected) ** 2
    factors = (squares / (expected * (1 - share[usable]))).sum(axis=0) / (count - 1)
    strongest = int(factors.argmax())
    if len(usable) * chdtrc(count - 1, (count - 1) * factors[strongest]) <= _LEVEL:
        columns = " and ".join(names[c] for c in functions.members[usable[strongest]].columns)
        warn_user(
            f"consecutive rows of {title} are more alike than shuffled rows: counts in {count} "
            f"consecutive parts have {factors[strongest]:.1f} times the variance of independent "
            f"rows (strongest in {columns}). False alarms may be more frequent than stated. "
            "Pass blocks=..., such as the day or user of each row, and check whole blocks as "
            "batches. Ignore this if the order of the reference has no meaning for the batches",
            DependenceWarning,
        )
    return functions, counts


def _standardized(numbers: np.ndarray, center: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return columns (m, d) minus `center`, divided by `scale` and clipped; 0 if missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = numbers / scale
        z -= center / scale
    z[np.isnan(z)] = 0.0
    return np.clip(z, -_FAR, _FAR, out=z)


def _project(directions: np.ndarray, z: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write the projections (K, m) of rows z (m, d) on directions (K, d) to `out`, and return it.

    Products are rounded and added column by column. So the projection of a row has the same bits
    alone and among other rows, in any memory layout, after loading and on every machine. Matrix
    products of BLAS and of the compiled core do not: the core uses fused multiplications if the
    processor has them.
    """
    out[:] = 0.0
    for start in range(0, len(z), _BLOCK):
        block = out[:, start : start + _BLOCK]
        product = np.empty(block.shape)
        for weights, column in zip(directions.T, z[start : start + _BLOCK].T, strict=True):
            block += np.multiply(weights[:, None], column, out=product)
    return out


def _choose_categories(
    numbers: np.ndarray, codes: np.ndarray, center: np.ndarray
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """Return the fields `known`, `crossed` and `medians` of `Functions`."""
    known, frequent, width = [], [], len(center)
    for c, column in enumerate(codes.T):
        values, counts = np.unique(column[column >= 0], return_counts=True)
        kept = np.sort(np.argsort(-counts, kind="stable")[:_VALUES])
        known.append(values[kept].astype(np.int64))
        both = zip(counts[kept].tolist(), known[-1].tolist(), strict=True)
        frequent += [(n, c, v) for n, v in both if n >= _FREQUENT * len(codes)]
    most = _CROSSED // max(1, width)
    crossed = np.array(sorted(frequent, reverse=True)[:most], np.int64).reshape(-1, 3)[:, 1:]
    filled = np.where(np.isnan(numbers), center, numbers)
    medians = np.empty((len(crossed), width))
    for at, (c, v) in enumerate(crossed.tolist()):
        medians[at] = np.quantile(filled[codes[:, c] == v], 0.5, axis=0, method="inverted_cdf")
    return tuple(known), crossed, medians


def _choose_values(
    numbers: np.ndarray, codes: np.ndarray, features: np.ndarray, cuts: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the fields `single`, `extreme` and `beyond` of `Functions`.

    A column whose values are all cut points has no extremes. Of the other extremes only those with
    fewer rows than the outermost cut points of the column are used.
    """
    width = numbers.shape[1]
    if not width:
        return np.empty((2, 0)), np.empty((3, 0)), np.empty((3, 0))
    rows = Rows(numbers, codes, features[-2])
    frequent, extremes = SingleValues.choose(rows), Extremes.choose(rows)
    single = {*zip(frequent.columns.tolist(), frequent.values.tolist(), strict=True)}
    beyond: list[tuple[int, float, float]] = []
    for j, column in enumerate(numbers.T):
        single |= {(j, value) for value in _SENTINELS}
        if len(present := column[~np.isnan(column)]):
            low, high = float(present.min()), float(present.max())
            single |= {(j, low), (j, high)}
            beyond += [(j, high, 1.0)] * bool(cuts[j][-1] < high) + [(j, low, 0.0)]
    last = len(features) - 1
    beyond.append((last, float(features[last].max()), 1.0))
    least, chosen = _LEVELS["column"][0] * len(numbers), []
    ones = np.nansum(extremes.evaluate(rows), axis=1).tolist()
    for (_, columns, cut, upper), count in zip(extremes.members, ones, strict=True):
        if columns and count < least and cuts[columns[0]][-1] < np.nanmax(numbers[:, columns[0]]):
            chosen.append((columns[0], cut, float(upper)))
    return (
        np.array(sorted(single)).reshape(-1, 2).T,
        np.array(chosen, np.float64).reshape(-1, 3).T,
        np.array(beyond).T,
    )


def _feature_kinds(width: int, n_directions: int) -> list[tuple[str, tuple[int, ...]]]:
    """Return the kind and the columns of each row of the result of `_features`."""
    kinds: list[tuple[str, tuple[int, ...]]] = [("column", (j,)) for j in range(width)]
    kinds += [("deviation", (j,)) for j in range(width)] + [("direction", ())] * n_directions
    return kinds + [("distance", ())] * 2 if width else []


def _features(
    numbers: np.ndarray, z: np.ndarray, directions: np.ndarray, middles: np.ndarray
) -> np.ndarray:
    """Return numeric features (F, m) of m rows, to be compared with cut points.

    In this order: the columns `numbers` (m, d), their absolute deviations from the medians,
    projections of the standardized columns `z` (m, d), the distance from the center, and the
    outlyingness, which is the maximum standardized deviation over all columns and directions.
    """
    m, width = z.shape
    if not width:
        return np.empty((0, m))
    features = np.empty((2 * width + len(directions) + 2, m))
    features[:width] = numbers.T
    deviations = np.abs(z.T, out=features[width : 2 * width])
    along = _project(directions, z, features[2 * width : -2])
    # One feature at a time: the allocation of larger arrays takes longer than the computation.
    features[-2] = np.sqrt(sum(np.minimum(values, 10.0) ** 2 for values in deviations))
    apart = (np.abs(v - middle) / spread for v, middle, spread in zip(along, *middles, strict=True))
    features[-1] = functools.reduce(np.maximum, apart, deviations.max(axis=0))
    # Standardized missing values are 0: they must not count as values in the center.
    deviations[np.isnan(numbers.T)] = np.nan
    return features


def _cut_points(values: np.ndarray, levels: Sequence[float], exact: bool) -> np.ndarray:
    """Return the quantiles of `levels` as cut points, or all distinct values if there are few.

    For few values the maximum is a cut point too, which detects larger values. Computed features
    (not `exact`) are rounded: their cut points are midpoints between consecutive distinct values.
    """
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    if not exact:
        distinct = distinct[np.diff(distinct, append=np.inf) > _ROUNDING]
    cuts = distinct
    if len(distinct) > len(levels) + 1:
        cuts = np.unique(np.quantile(present, levels, method="inverted_cdf"))
        cuts = cuts[cuts < distinct[-1]]
    if exact:
        return cuts
    midpoints, index = (distinct[:-1] + distinct[1:]) / 2, np.unique(distinct.searchsorted(cuts))
    return midpoints[index[index < len(midpoints)]]
