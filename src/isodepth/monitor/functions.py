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
function "the row occurs more than once" depends on other rows: see `isodepth.monitor.repeated`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isodepth.data.arrays import row_hashes
from isodepth.errors import DependenceWarning, warn_user
from isodepth.geometry.directions import unit_vectors
from isodepth.geometry.scaling import mad_spread
from isodepth.monitor.quartiles import PartsSummary, summary_of_rows, summary_of_sorted
from isodepth.monitor.repeated import ReferenceHashes
from isodepth.monitor.usual import UsualValues
from isodepth.rowfunctions.families import (
    UNSEEN,
    Extremes,
    Member,
    Rows,
    SingleValues,
    all_units,
    count_multiples,
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
# Maximum number of rows that are counted at once, which limits the memory, and number of rows whose
# projections fit into the cache.
_CHUNK, _FEW_ROWS = 1 << 15, 1 << 10
# Kinds of functions with a threshold, see `_choose_thresholds`.
_CUT, _VALUE, _EXTREME, _BEYOND = range(4)
# Standardized values are clipped to this absolute value, and rounded to multiples of _STEP before
# they are projected. The components of directions are multiples of _DIRECTION_STEP. See `_project`.
_FAR, _STEP, _DIRECTION_STEP = 2.0**16, 2.0**-20, 2.0**-8
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
    summaries: np.ndarray  # (3, d), see `isodepth.monitor.quartiles`

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))  # type: ignore[operator]

    @property
    def quartiles(self) -> np.ndarray:
        """Median and interquartile range (2, d) of each numeric column; NaN without values.

        For a sum of counts, such as a window of several batches, these are the means of the medians
        and ranges of the batches, weighted by their numbers of values.
        """
        return self.summaries[1:] / np.where(self.summaries[0], self.summaries[0], np.nan)

    def with_quartiles(self, numbers: np.ndarray) -> Counts:
        """Return the counts with the median and range of all rows of `numbers` (m, d) together."""
        return self._replace(summaries=summary_of_rows(numbers))


class Batch(NamedTuple):
    """Counts of a batch and facts about its rows, which are not kept after the batch."""

    counts: Counts
    hashes: np.ndarray  # (m,), hash of each row
    suspicious: np.ndarray  # indices of suspicious rows, see `UsualValues`
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
    thresholds: np.ndarray  # (4, L), see `_choose_thresholds`

    @classmethod
    def choose(cls, rows: np.ndarray, width: int, rng: np.random.Generator) -> Functions:
        """Choose functions from rows (n, d + C) with d = `width` numeric columns.

        The rows determine medians, scales, the most frequent values and all thresholds. They must
        not be counted later. A quantile of these rows is a threshold, so that exactly this fraction
        of these rows is below it. In other rows the number below the threshold is random.
        """
        numbers, codes = rows[:, :width], rows[:, width:]
        center, scale = np.zeros(width), np.ones(width)
        for j, column in enumerate(numbers.T):
            if len(present := column[~np.isnan(column), None]):
                center[j], scale[j] = np.median(present), mad_spread(present)[0]
        directions = np.empty((0, width))
        if width > 1:
            directions = unit_vectors(width, _DIRECTIONS, "orthogonal", rng)
            directions = np.rint(directions / _DIRECTION_STEP) * _DIRECTION_STEP
        pairs = np.array(np.triu_indices(width, 1), dtype=np.int64).T
        if len(pairs) > _PAIRS:
            pairs = pairs[np.sort(rng.permutation(len(pairs))[:_PAIRS])]
        z = _standardized(numbers, center, scale)
        along = _project(directions, z)
        middles = np.array([np.median(along, axis=1), mad_spread(along.T)])
        features = _features(numbers, z, directions, middles)
        return cls(
            center, scale, directions, middles, pairs, *_choose_categories(numbers, codes, center),
            _choose_thresholds(numbers, codes, features),
        )  # fmt: skip

    @functools.cached_property
    def members(self) -> list[Member]:
        """Description of each function, in the order of `Counts.ones`."""
        width = len(self.center)
        features = _feature_kinds(width, len(self.directions))
        members: list[Member] = []
        for feature, kind, value, upper in self.thresholds.T.tolist():
            name, columns = features[int(feature)]
            if kind != _CUT:
                name = ("column", "value", "extremes", "beyond")[int(kind)]
            members.append(Member(name, columns, value, upper > 0))
        members += [Member("pair", (i, j)) for i, j in self.pairs.tolist()]
        members += [Member("missing", (c,)) for c in range(width + len(self.known))]
        for c, known in enumerate(self.known, width):
            members += [Member("shares", (c,), v) for v in (*known.tolist(), UNSEEN)]
        for c, v in self.crossed.tolist():
            members += [Member("crossed", (j, width + c), v) for j in range(width)]
        return members + all_units(width)

    @functools.cached_property
    def missing(self) -> dict[int, int]:
        """Index of the function that is 1 for missing values, for each column."""
        return {m.columns[0]: h for h, m in enumerate(self.members) if m.kind == "missing"}

    def direction_of(self, h: int) -> np.ndarray:
        """Return the direction (d,) of function h, a cut point of a projection."""
        return self.directions[int(self.thresholds[0, h]) - 2 * len(self.center)]

    def median_within(self, member: Member) -> float:
        """Return the median that a function of a frequent category compares a column with."""
        column, category = member.columns
        same = (self.crossed == (category - len(self.center), member.value)).all(axis=1)
        return float(self.medians[same.argmax(), column])

    @functools.cached_property
    def _intervals(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Sorted ends of intervals for each feature, and the indices (2, L) of the ends of each.

        A function with a threshold is 1 if its feature is in a half-open interval (low, high].
        The indices count the ends of all features together.
        """
        feature, kind, value, upper = self.thresholds
        before = np.nextafter(value, -np.inf)
        # The interval ends at the threshold, or begins there. Which of both excludes the threshold
        # itself depends on the kind: "beyond" does, the others include it.
        low = np.where(kind == _VALUE, before, -np.inf)
        high = np.where(kind == _BEYOND, before, value)
        above = (upper > 0) & ((kind == _EXTREME) | (kind == _BEYOND))
        low[above] = np.where(kind == _BEYOND, value, before)[above]
        high[above] = np.inf
        ends, index, first = [], np.empty((2, len(value)), np.int64), 0
        for f in range(len(_feature_kinds(len(self.center), len(self.directions)))):
            own = feature == f
            distinct = np.unique([low[own], high[own]])
            index[:, own] = first + distinct.searchsorted([low[own], high[own]])
            ends.append(distinct)
            first += len(distinct)
        return ends, index

    def count(self, rows: np.ndarray) -> Counts:
        """Count for each function the rows for which it is 1; there must be at least one row."""
        return self.count_batch([rows], {}).counts

    def count_batch(
        self,
        parts: Iterable[np.ndarray],
        unseen: dict[int, str],
        usual: UsualValues | None = None,
        keep_rows: bool = False,
    ) -> Batch:
        """Count the rows of a batch given in parts; there must be at least one row.

        Suspicious rows are found if `usual` is given. The counts do not depend on the division into
        parts: the value of a function depends on the bits of a row alone. Medians do, if a part has
        many rows, see `PartsSummary`.
        """
        counts: list[Counts] = []
        summary = PartsSummary()
        hashes, rows, first = [], [], 0
        suspicious = [np.empty(0, np.int64)]
        for part in parts:
            chunks = []
            for start in range(0, len(part), _CHUNK):
                chunk = part[start : start + _CHUNK]
                chunks.append(self._count_chunk(chunk))
                if usual is not None:
                    suspicious.append(np.flatnonzero(usual.suspicious(chunk)) + first + start)
            numbers = part[:, : len(self.center)]
            summary.add(numbers)
            if len(chunks) > 1:
                chunks = [total(chunks).with_quartiles(numbers)]
            counts, first = counts + chunks, first + len(part)
            hashes.append(row_hashes(part))
            rows += [part] * keep_rows
        joined = np.concatenate(rows) if keep_rows else None
        of_batch, of_parts = total(counts), summary.summary()
        if of_parts is not None:
            of_batch = of_batch._replace(summaries=of_parts)
        return Batch(of_batch, np.concatenate(hashes), np.concatenate(suspicious), joined, unseen)

    def _count_chunk(self, rows: np.ndarray) -> Counts:
        """Return the counts of a chunk of rows."""
        width, absent = len(self.center), np.isnan(rows).sum(axis=0)
        numbers, codes = rows[:, :width], rows[:, width:]
        z = _standardized(numbers, self.center, self.scale)
        features = _features(numbers, z, self.directions, self.middles)
        features.sort(axis=1)  # NaN is sorted to the end
        ends, (low, high) = self._intervals
        ranks = [f.searchsorted(e, side="right") for f, e in zip(features, ends, strict=True)]
        up_to = np.concatenate([*ranks, np.empty(0, np.int64)])
        above, below = (z > 0).astype(np.float32), (z < 0).astype(np.float32)
        same = above.T @ above + below.T @ below
        counts = [up_to[high] - up_to[low], same[tuple(self.pairs.T)], absent]
        for column, known in zip(np.sort(codes.T), self.known, strict=True):
            ones = column.searchsorted(known, side="right") - column.searchsorted(known)
            counts += [ones, [np.count_nonzero(~np.isnan(column)) - ones.sum()]]
        for (c, v), medians in zip(self.crossed.tolist(), self.medians, strict=True):
            counts.append((numbers[codes[:, c] == v] <= medians).sum(axis=0))
        if width:
            counts.append(count_multiples(numbers))
        ones = np.concatenate(counts).astype(np.int64)
        summaries = summary_of_sorted(features[:width], len(rows) - absent[:width])
        return Counts(len(rows), ones, summaries)


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of counts; there must be at least one."""
    return functools.reduce(operator.add, counts)


def fit_functions(
    rows: np.ndarray, width: int, rng: np.random.Generator, names: Sequence[str], title: str
) -> tuple[Functions, Counts, ReferenceHashes]:
    """Return functions chosen from a part of the reference, and the counts of the other rows.

    Also return hashes of other rows. Warn if consecutive rows depend on each other: the sum of
    squared deviations of the counts in consecutive parts, divided by their variance, is nearly
    chi-squared for independent rows.
    """
    order = rng.permutation(len(rows))
    n_chosen = min(max(1, int(_CHOOSING * len(rows))), _MOST_CHOOSING)
    functions = Functions.choose(rows[np.sort(order[:n_chosen])], width, rng)
    rows = rows[np.sort(order[n_chosen:])]
    count = max(1, min(_PARTS, len(rows) // LEAST_ROWS))
    ends = np.linspace(0, len(rows), count + 1).astype(np.int64)
    parts = [functions.count(part) for part in np.split(rows, ends[1:-1])]
    _warn_of_dependence(functions, parts, names, title)
    counts = total(parts).with_quartiles(rows[:, :width])
    return functions, counts, ReferenceHashes.of_rows(row_hashes(rows), rng)


def _warn_of_dependence(
    functions: Functions, parts: list[Counts], names: Sequence[str], title: str
) -> None:
    from scipy.special import chdtrc

    counts, count = total(parts), len(parts)
    share = counts.ones / counts.n_rows
    named = np.array([bool(member.columns) for member in functions.members])
    usable = np.flatnonzero(named & (share > _RARE) & (share < 1 - _RARE))
    if count < _LEAST_PARTS or not len(usable):
        return
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


def _standardized(numbers: np.ndarray, center: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return columns (m, d) minus `center`, divided by `scale` and clipped; 0 if missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = numbers / scale
        z -= center / scale
    z[np.isnan(z)] = 0.0
    return np.clip(z, -_FAR, _FAR, out=z)


def _project(directions: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the projections (K, m) of standardized rows z (m, d) on directions (K, d).

    The values z are rounded to multiples of a power of 2, and the directions are such multiples.
    All products and their sums are then exact in float64, for at most 2**18 columns. So the
    projection of a row has the same bits alone and among other rows, in any memory layout, with any
    library for matrix products, and on every machine.
    """
    return (directions / _DIRECTION_STEP) @ np.rint(z.T / _STEP) * (_STEP * _DIRECTION_STEP)


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


def _choose_thresholds(numbers: np.ndarray, codes: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return the field `thresholds` of `Functions`, which describes L functions of one feature.

    The rows are the index of the feature in the result of `_features`, the kind of the function,
    the threshold t, and 1 if the function is 1 for large values of the feature, else 0. Kinds:

    - _CUT: the feature is at most t, a quantile;
    - _VALUE: the feature equals t, a frequent value, the minimum, the maximum, or a value of
      _SENTINELS;
    - _EXTREME: the feature is at least t, or at most t, which few values are;
    - _BEYOND: the feature is larger than t, the maximum, or smaller than t, the minimum.

    A column whose values are all cut points has no extremes. Of the other extremes only those with
    fewer rows than the outermost cut points of the column are used. The last threshold is the
    maximum of the outlyingness.
    """
    width = numbers.shape[1]
    if not width:
        return np.empty((4, 0))
    kinds = zip(_feature_kinds(width, len(features) - 2 * width - 2), features, strict=True)
    cuts = [_cut_points(v, _LEVELS[kind], kind == "column") for (kind, _), v in kinds]
    rows = Rows(numbers, codes, features[-2])
    extremes = Extremes.choose(rows)
    single = {(each.columns[0], each.value) for each in SingleValues.choose(rows).members}
    beyond: list[tuple[int, int, float, bool]] = []
    for j, column in enumerate(numbers.T):
        single |= {(j, value) for value in _SENTINELS}
        if len(present := column[~np.isnan(column)]):
            low, high = float(present.min()), float(present.max())
            single |= {(j, low), (j, high)}
            if cuts[j][-1] < high:
                beyond.append((j, _BEYOND, high, True))
            beyond.append((j, _BEYOND, low, False))
    last = len(features) - 1
    beyond.append((last, _BEYOND, float(features[last].max()), True))
    chosen = [(f, _CUT, cut, True) for f, own in enumerate(cuts) for cut in own.tolist()]
    chosen += [(j, _VALUE, value, True) for j, value in sorted(single)]
    least, ones = _LEVELS["column"][0] * len(numbers), np.nansum(extremes.evaluate(rows), axis=1)
    for (_, columns, cut, upper), count in zip(extremes.members, ones.tolist(), strict=True):
        if columns and count < least and cuts[columns[0]][-1] < np.nanmax(numbers[:, columns[0]]):
            chosen.append((columns[0], _EXTREME, cut, upper))
    return np.array(chosen + beyond, np.float64).T


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
    along = features[2 * width : -2]
    along[:] = _project(directions, z)
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
