"""Functions of a row with values 0 and 1, and the number of rows for which each is 1.

Rows are an array (m, d + C) of d numeric columns and C category columns. A category is the index of
its value in the reference, or a negative code of a value that the reference lacks. Missing values
are NaN.

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
depends on other rows. Monitors test repeated rows in `isodepth.monitor.repeated`.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isodepth.base.messages import Message
from isodepth.errors import DependenceWarning, warn_user
from isodepth.functions.conversions import last_decimal
from isodepth.functions.families import UNSEEN, Member, Precision, Rows, is_multiple
from isodepth.geometry.directions import unit_vectors
from isodepth.geometry.scaling import mad_spread
from isodepth.monitor.quartiles import PartsSummary, summary_of_rows, summary_of_sorted
from isodepth.monitor.repeated import ReferenceHashes
from isodepth.monitor.thresholds import (
    DIRECTION_STEP,
    Thresholds,
    choose_thresholds,
    feature_names,
    features_of,
    project,
    standardized,
)
from isodepth.monitor.usual import UsualValues
from isodepth.table.arrays import row_hashes

# Number of projection directions, and maximum numbers of pairs: of two numeric columns, and of a
# numeric column and a frequent category.
_DIRECTIONS, _PAIRS, _CROSSED = 30, 100, 100
# Maximum number of values per category column that are counted separately, and minimum share of a
# frequent category.
_VALUES, _FREQUENT = 50, 0.05
# Fraction and maximum number of the reference rows from which functions are chosen.
_CHOOSING, _MOST_CHOOSING = 0.25, 20_000
# Maximum number of rows that are counted at once, which limits the memory.
_CHUNK = 1 << 15
# Number of values that decide whether the others are searched for a common multiple.
_FIRST = 32
#: Minimum number of rows of the reference, of each group, and of a part in the check of dependence.
LEAST_ROWS = 20
# Maximum and minimum number of these parts, and approximate probability of a false warning.
_PARTS, _LEAST_PARTS, _LEVEL = 50, 5, 1e-3
# The warning ignores functions that have the same value for more than 90% of the rows, because
# their counts are not nearly normal.
_RARE = 0.1


class Counts(NamedTuple):
    """Numbers of rows of a set for which each of H functions is 1, and medians of d columns.

    The set of rows is the reference, a batch or a window. The sum of two objects has the counts in
    both sets together.
    """

    n_rows: int
    ones: np.ndarray  # (H,), number of rows for which each function is 1
    summaries: np.ndarray  # (3, d), see `isodepth.monitor.quartiles`

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


class Batch(NamedTuple):
    """Counts of the functions in a batch, with hashes and other attributes of its rows.

    The fields other than `counts` are not stored in the monitor.
    """

    counts: Counts
    hashes: np.ndarray  # (m,), uint64, hash of each row
    suspicious: np.ndarray  # indices of suspicious rows, see `UsualValues`
    rows: np.ndarray | None  # (m, d + C); None without blocks
    unseen: dict[int, Counter[str]]  # index of a category column -> counts of its new categories
    units: np.ndarray  # (d,), see `_coarsest_units`


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
    stored_thresholds: np.ndarray  # (4, L), see `Thresholds.from_array`

    @classmethod
    def choose(cls, rows: np.ndarray, width: int, rng: np.random.Generator) -> Functions:
        """Choose functions from rows (n, d + C) with d = `width` numeric columns.

        The rows determine medians, scales, the most frequent values and all thresholds. These rows
        must not be counted later: the thresholds are their quantiles, which fixes the number of
        these rows up to a threshold.
        """
        numbers, codes = rows[:, :width], rows[:, width:]
        center, scale = np.zeros(width), np.ones(width)
        for j, column in enumerate(numbers.T):
            if len(present := column[~np.isnan(column), None]):
                center[j], scale[j] = np.median(present), mad_spread(present)[0]
        directions = np.empty((0, width))
        if width > 1:
            directions = unit_vectors(width, _DIRECTIONS, directions="orthogonal", random_state=rng)
            directions = np.rint(directions / DIRECTION_STEP) * DIRECTION_STEP
        pairs = np.array(np.triu_indices(width, 1), dtype=np.int64).T
        if len(pairs) > _PAIRS:
            pairs = pairs[np.sort(rng.permutation(len(pairs))[:_PAIRS])]
        z = standardized(numbers, center, scale)
        along = project(directions, z)
        middles = np.array([np.median(along, axis=1), mad_spread(along.T)])
        features = features_of(numbers, z, directions, middles)
        thresholds = choose_thresholds(numbers, codes, features)
        return cls(
            center, scale, directions, middles, pairs, *_choose_categories(numbers, codes, center),
            np.array(thresholds, np.float64).reshape(-1, 4).T,
        )  # fmt: skip

    @functools.cached_property
    def thresholds(self) -> Thresholds:
        """Functions 0, ..., L - 1, which compare a numeric feature of a row with a threshold.

        Features, such as the value of a column, are defined in `isodepth.monitor.thresholds`.
        """
        return Thresholds.from_array(self.stored_thresholds)

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

    def count(self, rows: np.ndarray) -> Counts:
        """Count for each function the rows for which it is 1; there must be at least one row."""
        return self.count_batch([rows], {}).counts

    def count_batch(
        self,
        parts: Iterable[np.ndarray],
        unseen: dict[int, Counter[str]],
        usual: UsualValues | None = None,
        keep_rows: bool = False,
    ) -> Batch:
        """Count the rows of a batch given in parts; there must be at least one row.

        The counts do not depend on the division into parts: the value of a function depends on the
        bits of a row alone. Quartiles depend on the division if several parts have over 1000 rows,
        see `PartsSummary`.

        Parameters
        ----------
        parts : iterable of ndarrays of shape (m_i, d + C)
            Consecutive rows of the batch.
        unseen : dict
            Index of a category column -> counts of its new categories. This object becomes the
            field `unseen` of the result, and may be filled while `parts` are iterated over.
        usual : UsualValues or None
            Ranges of usual values, from which suspicious rows are found; None for no such rows.
        keep_rows : bool
            Whether the returned `Batch` has the rows of all parts, for comparisons with blocks.
        """
        counts: list[Counts] = []
        summary = PartsSummary()
        hashes, units, rows, first = [], [], [], 0
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
            units.append(_coarsest_units(numbers))
            rows += [part] * keep_rows
        joined = np.concatenate(rows) if keep_rows else None
        of_batch, of_parts = total(counts), summary.summary()
        if of_parts is not None:
            of_batch = of_batch._replace(summaries=of_parts)
        return Batch(
            of_batch, np.concatenate(hashes), np.concatenate(suspicious), joined, unseen,
            np.minimum.reduce(units),
        )  # fmt: skip

    def _count_chunk(self, rows: np.ndarray) -> Counts:
        """Return the counts of a chunk of rows (m, d + C)."""
        width, absent = len(self.center), np.isnan(rows).sum(axis=0)
        numbers, codes = rows[:, :width], rows[:, width:]
        z = standardized(numbers, self.center, self.scale)
        features = features_of(numbers, z, self.directions, self.middles)
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
            counts.append(self._precision.count(Rows(numbers, codes, np.empty(0))))
        ones = np.concatenate(counts).astype(np.int64)
        summaries = summary_of_sorted(features[:width], len(rows) - absent[:width])
        return Counts(len(rows), ones, summaries)


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of counts; there must be at least one."""
    return functools.reduce(operator.add, counts)


def fit_functions(
    rows: np.ndarray, width: int, rng: np.random.Generator, names: Sequence[str], title: str
) -> tuple[Functions, Counts, Counts, ReferenceHashes]:
    """Return functions chosen from a part of the rows, and the counts and hashes of the others.

    The first counts are those of the other rows, which are compared with batches. The second are
    those of all rows, which describe changes.

    The rows (n, d + C) are those of the reference or of a group, with d = `width` numeric columns
    and column names `names`. A quarter of the rows is chosen, and at most 20,000. `title` is the
    name of the rows in messages. Warn if consecutive rows depend on each other: the sum of squared
    deviations of the counts in consecutive parts, divided by their variance, is nearly chi-squared
    for independent rows.
    """
    order = rng.permutation(len(rows))
    n_chosen = min(max(1, int(_CHOOSING * len(rows))), _MOST_CHOOSING)
    chosen, counted = rows[np.sort(order[:n_chosen])], np.sort(order[n_chosen:])
    functions = Functions.choose(chosen, width, rng)
    others, hashes = rows[counted], row_hashes(rows)
    count = max(1, min(_PARTS, len(others) // LEAST_ROWS))
    ends = np.linspace(0, len(others), count + 1).astype(np.int64)
    parts = [functions.count(part) for part in np.split(others, ends[1:-1])]
    _warn_of_dependence(functions, parts, names, title)
    counts = total(parts).with_quartiles(others[:, :width])
    of_all = (counts + functions.count(chosen)).with_quartiles(rows[:, :width])
    return functions, counts, of_all, ReferenceHashes.of_rows(hashes[counted], rng, hashes)


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
        template = (
            "consecutive rows of {title} are more alike than shuffled rows: counts in {count} "
            "consecutive parts have {factor:.1f} times the variance of independent rows (strongest "
            "in {columns}). False alarms may be more frequent than stated. Pass {--blocks=...}, "
            "such as the day or user of each row, and check whole blocks as batches. Ignore this "
            "if the order of the reference has no meaning for the batches"
        )
        values = {"title": title, "count": count, "factor": factors[strongest], "columns": columns}
        warn_user(Message(template, **values), DependenceWarning)


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


def _choose_categories(
    numbers: np.ndarray, codes: np.ndarray, center: np.ndarray
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """Return the fields `known`, `crossed` and `medians` of `Functions`.

    They list the counted categories, the frequent ones, and the medians of numeric columns in
    these. The rows have `numbers` (n, d) and codes of categories `codes` (n, C). Missing numbers
    are replaced by `center` (d,).
    """
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
