"""Families of functions of a row with values 0 and 1.

A family is chosen from the pooled rows of two samples, or from a part of a reference. The choice
does not depend on the labels of the rows. The two-sample test compares the means of the functions
under permutations of the labels, the test with a tolerance subtracts the allowed share of
contaminated rows, and the monitor counts the rows for which a function is 1.

The functions of a family are its `members`. The value of a function is NaN for rows in which its
column is missing, unless the function indicates missing values. `filled` replaces NaN by the mean
of the function over the other rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar, NamedTuple, Self

import numpy as np

from isodepth.functions.changes import Change

#: Value of the `Member` of a monitor for all categories that are not counted one by one.
UNSEEN = -1
#: Minimum number of pooled rows for which a function is 1, and for which it is 0. The counts of
#: rarer functions cannot differ significantly.
LEAST_ROWS = 4
# Numbers of largest values in the family of extremes: 4, 8, 16, ..., up to this fraction of rows.
_EXTREME_FRACTION = 1 / 8
# Values of a column are isolated if the gap between them and the other values is longer than _GAP
# times the distance from the median to the gap. A category is isolated if it has at most a fraction
# _RARER of the rows of every other category. At least _ISOLATED_ROWS rows are needed: if k rows
# have the property, the p-value is at least 2 ** (1 - k) for samples of equal size.
_GAP, _RARER, _ISOLATED_ROWS = 1.0, 2 / 3, 6
# Maximum number of single values per column, and minimum fraction of the rows with such a value.
# A column with at most _FEW_VALUES distinct values has no single values: its ranks detect them.
_SINGLE_VALUES, _FREQUENT, _FEW_VALUES = 4, 0.01, 20
# Units of the family of precision.
_UNITS = (0.1, 1.0, 5.0, 10.0)
# Distance from a multiple of a unit up to which a value counts as this multiple, relative to the
# value or to _SMALL if the value is smaller: a difference of equal decimals may be 1e-17.
_ROUNDING, _SMALL = 1e-9, 1e-6


class Rows(NamedTuple):
    """Rows of d numeric columns and C category columns.

    Attributes
    ----------
    numbers : float64 ndarray of shape (n, d)
        Values of the numeric columns; NaN if missing.
    codes : float64 ndarray of shape (n, C)
        Index of the category of each row among the known categories; negative if it is not among
        them, NaN if missing.
    distance : float64 ndarray of shape (n,)
        Distance of each row from the center, computed from standardized columns.
    """

    numbers: np.ndarray
    codes: np.ndarray
    distance: np.ndarray


class Member(NamedTuple):
    """Function of a row with values 0 and 1.

    Attributes
    ----------
    event : {"missing", "value", "shares", "extremes", "precision", "repeated"}
        Event that the function indicates. It is the kind of :class:`isodepth.typing.Change` that
        describes a change of the mean of the function. A monitor has other events too, see
        `isodepth.monitor.functions`.
    columns : tuple of int
        Index of the column, numeric columns first; empty for functions of all columns.
    value : float
        Cut point, single value, unit, or code of a category; NaN if the event has none.
    upper : bool
        For extremes, whether the function is 1 for values from the cut point on; else for values
        up to the cut point.
    """

    event: str
    columns: tuple[int, ...] = ()
    value: float = np.nan
    upper: bool = True

    def argument(self, rows: Rows) -> np.ndarray:
        """Return the values (n,) of the column, or `distance` for a function of all columns."""
        if not self.columns:
            return rows.distance
        j, d = self.columns[0], rows.numbers.shape[1]
        return rows.numbers[:, j] if j < d else rows.codes[:, j - d]

    def is_one(self, rows: Rows) -> np.ndarray:
        """Return a bool array (n,): whether the function is 1 for each row."""
        values = self.argument(rows)
        if self.event == "missing":
            return np.isnan(values)
        if self.event == "precision":
            return is_multiple(values, self.value)
        if self.event == "extremes":
            return values >= self.value if self.upper else values <= self.value
        return values == self.value

    def evaluate(self, rows: Rows) -> np.ndarray:
        """Return the values (n,) of the function at n rows: 0 or 1, NaN for missing values."""
        ones = self.is_one(rows).astype(np.float64)
        if self.event != "missing":
            ones[np.isnan(self.argument(rows))] = np.nan
        return ones

    @property
    def outer_first(self) -> float:
        """Key by which extremes on one side of a column are sorted, the outermost first."""
        return -self.value if self.upper else self.value

    def change(
        self,
        columns: tuple[str, ...],
        category: str | None,
        before: float,
        after: float,
        pvalue: float,
    ) -> Change:
        """Describe a change of the share of rows for which the function is 1.

        `columns` are the names of `self.columns`. `category` is the name of the category that the
        function indicates, if its event is "shares", else None.
        """
        change = Change(
            kind=self.event, columns=columns, quantity="share", before=before, after=after,
            pvalue=pvalue, value=category,
        )  # fmt: skip
        if self.event == "value":
            return replace(change, value=float(self.value))
        if self.event == "precision":
            return replace(change, multiple_of=self.value)
        if self.event == "extremes" and columns:
            return replace(change, limit=self.value, side="at least" if self.upper else "at most")
        return change


@dataclass(frozen=True, eq=False)
class Family:
    """Base class of lists of functions of a row that have values 0 and 1 and indicate one property.

    Examples of the property are a missing value, a frequent value, and an extreme value.

    Attributes
    ----------
    name : str
        Name of the statistic of a test that compares the functions. Families of one name share it.
    weight, tolerant_weight : float
        Weights of this statistic in a test without and with a tolerance.
    members : list of Member
    """

    name: ClassVar[str]
    weight: ClassVar[float]
    tolerant_weight: ClassVar[float]
    members: list[Member]

    @classmethod
    def choose(cls, rows: Rows) -> Self:
        """Return a family whose functions, for example their cut points, are chosen from `rows`."""
        return cls(list(cls._choose(rows)))

    @staticmethod
    def _choose(rows: Rows) -> Iterable[Member]:
        raise NotImplementedError

    def evaluate(self, rows: Rows) -> np.ndarray:
        """Return the values (F, n) of all functions at n rows: 0 or 1, NaN for missing values."""
        values = np.empty((len(self.members), len(rows.numbers)))
        for f, member in enumerate(self.members):
            values[f] = member.evaluate(rows)
        return values

    def count(self, rows: Rows) -> np.ndarray:
        """Return the numbers (F,) of rows for which each function is 1."""
        ones = [np.count_nonzero(member.is_one(rows)) for member in self.members]
        return np.array(ones, np.int64)


class Missing(Family):
    """Indicators of missing values, one per column."""

    name, weight, tolerant_weight = "missing", 0.10, 0.10

    @staticmethod
    def _choose(rows: Rows) -> Iterable[Member]:
        n_columns = rows.numbers.shape[1] + rows.codes.shape[1]
        return [Member("missing", (j,)) for j in range(n_columns)]


class SingleValues(Family):
    """Indicators of frequent single values of numeric columns, such as 0 or -9999.

    A column with at most 20 distinct values has none. Any other column has at most four indicators
    of its most frequent values, which at least 1% of the rows, and at least four rows, have.
    Indicators of the minimum and the maximum are added if at least four rows have them, because
    wrong values such as -9999 are often outside the range of the others.
    """

    name, weight, tolerant_weight = "values", 0.10, 0.50

    @staticmethod
    def _choose(rows: Rows) -> Iterable[Member]:
        for j, column in enumerate(rows.numbers.T):
            values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
            if len(values) > _FEW_VALUES:
                least = max(LEAST_ROWS, _FREQUENT * len(column))
                frequent = np.argsort(-counts, kind="stable")[:_SINGLE_VALUES]
                chosen = {*frequent[counts[frequent] >= least].tolist()}
                chosen |= {i for i in (0, len(values) - 1) if counts[i] >= LEAST_ROWS}
                for value in values[sorted(chosen)].tolist():
                    yield Member("value", (j,), value)


class SingleCategories(Family):
    """Indicators of all categories that at least four rows have."""

    name, weight, tolerant_weight = "values", 0.10, 0.50

    @staticmethod
    def _choose(rows: Rows) -> Iterable[Member]:
        for j, codes, _ in _category_counts(rows):
            yield from (Member("shares", (j,), code) for code in codes.tolist())

    def count(self, rows: Rows) -> np.ndarray:
        """Return the numbers (F,) of rows with each category."""
        codes = np.array([member.value for member in self.members]).astype(np.int64)
        columns = np.array([member.columns[0] for member in self.members], np.int64)
        counts = np.zeros(len(codes), np.int64)
        for j in np.unique(columns).tolist():
            members = np.flatnonzero(columns == j)
            of_rows = rows.codes[:, j - rows.numbers.shape[1]]
            known = of_rows[of_rows >= 0].astype(np.int64)
            of_code = np.bincount(known, minlength=int(codes[members].max()) + 1)
            counts[members] = of_code[codes[members]]
        return counts


def _category_counts(rows: Rows) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield each category column as a tuple: its index, its codes, and their numbers of rows.

    Indices of category columns follow those of numeric columns. Codes in fewer than four rows are
    left out.
    """
    for j, column in enumerate(rows.codes.T, rows.numbers.shape[1]):
        codes, counts = np.unique(column[column >= 0], return_counts=True)
        yield j, codes[counts >= LEAST_ROWS], counts[counts >= LEAST_ROWS]


class Extremes(Family):
    """Indicators of the largest and smallest values of a column, and of the farthest rows.

    The cut points have 4, 8, 16, ... values at or beyond them, up to an eighth of the rows. If
    values are tied, more values are at or beyond a cut point, but at most a quarter of the rows.
    """

    name, weight, tolerant_weight = "extremes", 0.10, 0.10

    @staticmethod
    def _choose(rows: Rows) -> Iterable[Member]:
        columns = [((j,), column, (True, False)) for j, column in enumerate(rows.numbers.T)]
        for at, column, sides in [*columns, ((), rows.distance, (True,))]:
            ordered = np.sort(column[~np.isnan(column)])
            for upper in sides:
                for cut in _extreme_cuts(ordered, upper, len(column)):
                    yield Member("extremes", at, cut, upper)

    def sides(self) -> Iterator[Side]:
        """Yield the sides of the columns, smallest values of a column before the largest."""
        ordered = sorted(
            enumerate(self.members),
            key=lambda each: (each[1].columns or (math.inf,), each[1].upper, each[1].outer_first),
        )
        for _, group in groupby(ordered, lambda each: (each[1].columns, each[1].upper)):
            indices, members = zip(*group, strict=True)
            yield Side(list(indices), list(members))

    def count(self, rows: Rows) -> np.ndarray:
        """Return the numbers (F,) of rows at or beyond each cut point."""
        counts = np.empty(len(self.members), np.int64)
        for side in self.sides():
            values, cuts = side.argument(rows)
            # Few values are beyond the innermost cut point, so that sorting them is fast.
            beyond = np.sort(values[values >= cuts[-1]])
            counts[side.indices] = len(beyond) - beyond.searchsorted(cuts)
        return counts


class Side(NamedTuple):
    """Functions of a family of extremes on one side of a column, the outermost cut point first.

    They are nested: each function is 1 for all rows for which the function before it is 1.
    """

    indices: list[int]  # in the list of all functions of the family
    members: list[Member]

    def argument(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the values (n,) of the column and the cut points, negated on the lower side.

        The functions are 1 for values from the cut point on.
        """
        sign = 1.0 if self.members[0].upper else -1.0
        cuts = np.array([member.value for member in self.members])
        return sign * self.members[0].argument(rows), sign * cuts


class IsolatedValues(Extremes):
    """Indicators of the values of a column beyond a gap, such as -9999 or values in a wrong unit.

    A gap is an interval between two consecutive sorted values. A column has at most one such gap on
    each side, see `cut_beyond_gap`: at least 6 rows and at most an eighth of the rows are beyond
    it, and it is longer than the distance from the median to the gap. Most columns have no such
    gap. With few functions, the correction for multiple testing is small.
    """

    name, weight, tolerant_weight = "isolated values", 0.60, 0.10

    @staticmethod
    def _choose(rows: Rows) -> Iterable[Member]:
        for j, column in enumerate(rows.numbers.T):
            ordered = np.sort(column[~np.isnan(column)])
            for upper in (True, False):
                cut = cut_beyond_gap(ordered if upper else -ordered[::-1], len(column))
                if cut is not None:
                    yield Member("extremes", (j,), cut if upper else -cut, upper)


def cut_beyond_gap(ordered: np.ndarray, n: int) -> float | None:
    """Return the minimum of the values above the longest gap between consecutive sorted values.

    The length of a gap is relative to the distance between the median and the gap. At least 6 and
    at most n / 8 values are above the gap, where n is the number of rows, including those in which
    the value is missing. None if the relative length of all such gaps is at most 1.
    """
    most = min(int(_EXTREME_FRACTION * n), len(ordered) // 2 - 1)
    beyond = np.arange(_ISOLATED_ROWS, most + 1)
    if not len(beyond):
        return None
    # Values are multiplied by 0.25, so that differences of very large values do not overflow.
    scaled = 0.25 * ordered
    inside = scaled[-beyond - 1]
    distance = inside - np.median(scaled)
    ratios = np.zeros(len(beyond))
    with np.errstate(over="ignore"):
        np.divide(scaled[-beyond] - inside, distance, out=ratios, where=distance > 0)
    longest = int(ratios.argmax())
    # The value itself: 0.25 times a value in the denormal range is rounded.
    return float(ordered[-beyond[longest]]) if ratios[longest] > _GAP else None


class IsolatedCategories(Family):
    """Indicators of the rarest category of a column, if all others are much more frequent.

    Only categories of at least four rows are considered. The rarest one has at least 6 rows, at
    most an eighth of all rows, and at most 2/3 of the rows of every other category.
    """

    name, weight, tolerant_weight = "isolated values", 0.60, 0.10

    @staticmethod
    def _choose(rows: Rows) -> Iterable[Member]:
        for j, codes, counts in _category_counts(rows):
            if len(codes) > 1:
                rarest, second = np.argsort(counts, kind="stable")[:2]
                most = min(_RARER * counts[second], _EXTREME_FRACTION * len(rows.codes))
                if _ISOLATED_ROWS <= counts[rarest] <= most:
                    yield Member("shares", (j,), float(codes[rarest]))


def _extreme_cuts(ordered: np.ndarray, upper: bool, n: int) -> list[float]:
    """Return cut points of sorted values, with 4, 8, 16, ... values at or beyond each.

    If `upper`, these are the largest values, else the smallest. With ties, more values are at or
    beyond a cut point, but at most a quarter of the n rows.
    """
    cuts: dict[int, float] = {}
    k = LEAST_ROWS
    while k <= _EXTREME_FRACTION * n and k < len(ordered):
        cut = ordered[-k] if upper else ordered[k - 1]
        beyond = len(ordered) - ordered.searchsorted(cut) if upper else (
            ordered.searchsorted(cut, side="right")
        )  # fmt: skip
        if beyond <= 2 * _EXTREME_FRACTION * n and beyond < len(ordered):
            cuts.setdefault(int(beyond), float(cut))
        k *= 2
    return list(cuts.values())


class Precision(Family):
    """Indicators of values that are whole numbers, whole tenths, or multiples of 5 or 10.

    A column has no indicator of a unit (5 or 10) that is larger than all of its absolute values:
    the only multiple would be 0, which says nothing about precision.
    """

    name, weight, tolerant_weight = "precision", 0.05, 0.05

    @classmethod
    def _choose(cls, rows: Rows) -> Iterable[Member]:
        largest = np.fmax.reduce(np.abs(rows.numbers), axis=0, initial=1.0)
        all_units = cls.of_columns(len(largest)).members
        return [m for m in all_units if m.value <= largest[m.columns[0]]]

    @classmethod
    def of_columns(cls, n_columns: int) -> Self:
        """Return the functions of all units of the first column, then of the second, and so on."""
        return cls([Member("precision", (j,), unit) for j in range(n_columns) for unit in _UNITS])

    def count(self, rows: Rows) -> np.ndarray:
        """Return the numbers (F,) of rows with a multiple of each unit."""
        # All multiples of the other units are whole tenths, which are few in most columns.
        at, columns = np.nonzero(is_multiple(rows.numbers, 0.1))
        values, d = rows.numbers[at, columns], rows.numbers.shape[1]
        of_unit = {
            unit: np.bincount(columns[is_multiple(values, unit)], minlength=d) for unit in _UNITS
        }
        return np.array([of_unit[m.value][m.columns[0]] for m in self.members], np.int64)


def is_multiple(values: np.ndarray, unit: float) -> np.ndarray:
    """Return whether values are multiples of a unit, up to rounding, as a bool array."""
    # Values are multiplied by 10 and not divided by 0.1, which is not a binary fraction.
    with np.errstate(over="ignore", invalid="ignore"):
        ratios, small = (
            (values * 10.0, _SMALL * 10.0) if unit == 0.1 else (values / unit, _SMALL / unit)
        )
        return np.abs(ratios - np.rint(ratios)) <= _ROUNDING * np.maximum(small, np.abs(ratios))


#: Families of functions of a single row. They are fixed once they are chosen.
FAMILIES: tuple[type[Family], ...] = (
    Missing,
    SingleValues,
    SingleCategories,
    Extremes,
    IsolatedValues,
    IsolatedCategories,
    Precision,
)


def filled(values: np.ndarray) -> np.ndarray:
    """Replace NaN in each row of values (F, n) by the mean of the other values, or by 0 if none."""
    absent = np.isnan(values)
    if not absent.any():
        return values
    counts = np.maximum(1, (~absent).sum(axis=1, keepdims=True))
    means = np.where(absent, 0.0, values).sum(axis=1, keepdims=True) / counts
    return np.where(absent, means, values)
