"""Families of functions of a row with values 0 and 1.

A family is chosen from the pooled rows of two samples, or from a part of a reference. The choice
does not depend on the labels of the rows. The two-sample test compares the means of the functions
under permutations of the labels, the test with a tolerance subtracts the allowed share of
contaminated rows, and the monitor counts the rows for which a function is 1.

Each family has a list of `members`, which describe its functions, and a method `evaluate`, which
returns the values (F, n) of its F functions at n rows. A value is NaN if the row has no information
about the function, because the column is missing. `filled` replaces NaN by the mean of the function
over the other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np

from isodepth.data.arrays import row_hashes
from isodepth.data.results.changes import Change

#: Code of a category that the reference does not have. The code of a missing category is NaN.
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
# Units of the family of precision, and their names in descriptions.
_UNITS = {0.1: "whole tenths", 1.0: "whole numbers", 5.0: "multiples of 5", 10.0: "multiples of 10"}
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
        Index of the category of each row; UNSEEN for other categories, NaN if missing.
    distance : float64 ndarray of shape (n,)
        Distance of each row from the center, computed from standardized columns.
    """

    numbers: np.ndarray
    codes: np.ndarray
    distance: np.ndarray


class Member(NamedTuple):
    """Description of a function of a row with values 0 and 1.

    Attributes
    ----------
    kind : {"missing", "value", "category", "extreme", "precision", "repeated"}
    columns : tuple of int
        Index of the column, numeric columns first; empty for functions of all columns.
    value : float
        Cut point, single value, unit, or code of a category; NaN if the kind has none.
    upper : bool
        For extremes, whether the function is 1 for values from the cut point on; else for values
        up to the cut point.
    """

    kind: str
    columns: tuple[int, ...] = ()
    value: float = np.nan
    upper: bool = True

    def change(
        self,
        names: Sequence[str],
        category: str | None,
        before: float,
        after: float,
        pvalue: float,
    ) -> Change:
        """Describe a change of the share of rows for which the function is 1.

        `names` are the names of all columns, and `category` is the name of the category of a
        function of kind "category".
        """
        columns = tuple(names[column] for column in self.columns)
        if self.kind == "missing":
            return Change("missing", columns, "missing", before, after, pvalue)
        if self.kind == "category":
            return Change("shares", columns, "share", before, after, pvalue, value=category)
        if self.kind == "value":
            value = f"{self.value:.10g}"
            return Change("value", columns, "share", before, after, pvalue, value=value)
        if self.kind == "extreme":
            quantity = f"{'at least' if self.upper else 'at most'} {self.value:.4g}"
            if not columns:
                quantity = "rows far from the center"
            return Change("extremes", columns, quantity, before, after, pvalue)
        quantity = _UNITS[self.value] if self.kind == "precision" else "repeated rows"
        return Change(self.kind, columns, quantity, before, after, pvalue)


class Family(Protocol):
    """Functions of a row with values 0 and 1 of one kind."""

    name: ClassVar[str]

    @classmethod
    def choose(cls, rows: Rows) -> Self:
        """Choose functions from rows."""

    @property
    def members(self) -> list[Member]:
        """Description of each function."""

    def evaluate(self, rows: Rows) -> np.ndarray:
        """Return the values (F, n) of all functions at n rows: 0, 1, or NaN."""


@dataclass(frozen=True, eq=False)
class Missing:
    """Indicators of missing values, one per column."""

    name: ClassVar[str] = "missing"
    n_columns: int

    @classmethod
    def choose(cls, rows: Rows) -> Missing:
        """Choose the indicators of all columns."""
        return cls(rows.numbers.shape[1] + rows.codes.shape[1])

    @property
    def members(self) -> list[Member]:
        """Description of each function."""
        return [Member("missing", (j,)) for j in range(self.n_columns)]

    def evaluate(self, rows: Rows) -> np.ndarray:
        """Return the values (columns, n) of all functions at n rows."""
        return np.isnan(np.concatenate([rows.numbers.T, rows.codes.T])).astype(np.float64)


@dataclass(frozen=True, eq=False)
class SingleValues:
    """Indicators of frequent single values of numeric columns, such as 0 or -9999."""

    name: ClassVar[str] = "values"
    columns: np.ndarray  # (F,), index of the column
    values: np.ndarray  # (F,)

    @classmethod
    def choose(cls, rows: Rows) -> SingleValues:
        """Choose frequent values of each column with many distinct values.

        These are the four most frequent values, and the minimum and maximum if they are repeated:
        wrong values such as -9999 are often outside the range of the others.
        """
        columns: list[int] = []
        chosen: list[float] = []
        for j, column in enumerate(rows.numbers.T):
            values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
            if len(values) > _FEW_VALUES:
                least = max(LEAST_ROWS, _FREQUENT * len(column))
                frequent = np.argsort(-counts, kind="stable")[:_SINGLE_VALUES]
                chosen_here = {*frequent[counts[frequent] >= least].tolist()}
                chosen_here |= {i for i in (0, len(values) - 1) if counts[i] >= LEAST_ROWS}
                kept = values[sorted(chosen_here)].tolist()
                columns += [j] * len(kept)
                chosen += kept
        return cls(np.array(columns, np.int64), np.array(chosen, np.float64))

    @property
    def members(self) -> list[Member]:
        """Description of each function."""
        both = zip(self.columns.tolist(), self.values.tolist(), strict=True)
        return [Member("value", (j,), value) for j, value in both]

    def evaluate(self, rows: Rows) -> np.ndarray:
        """Return the values (F, n) of all functions at n rows."""
        columns = rows.numbers[:, self.columns].T
        return np.where(np.isnan(columns), np.nan, columns == self.values[:, None])


@dataclass(frozen=True, eq=False)
class SingleCategories:
    """Indicators of single categories."""

    name: ClassVar[str] = "values"
    n_numbers: int
    columns: np.ndarray  # (F,), index of the category column
    codes: np.ndarray  # (F,)

    @classmethod
    def choose(cls, rows: Rows) -> SingleCategories:
        """Choose all categories that are not rare."""
        columns: list[int] = []
        chosen: list[float] = []
        for c, column in enumerate(rows.codes.T):
            codes, counts = np.unique(column[column >= 0], return_counts=True)
            kept = codes[counts >= LEAST_ROWS].tolist()
            columns += [c] * len(kept)
            chosen += kept
        arrays = np.array(columns, np.int64), np.array(chosen, np.float64)
        return cls(rows.numbers.shape[1], *arrays)

    @property
    def members(self) -> list[Member]:
        """Description of each function."""
        both = zip(self.columns.tolist(), self.codes.tolist(), strict=True)
        return [Member("category", (self.n_numbers + c,), code) for c, code in both]

    def evaluate(self, rows: Rows) -> np.ndarray:
        """Return the values (F, n) of all functions at n rows."""
        columns = rows.codes[:, self.columns].T
        return np.where(np.isnan(columns), np.nan, columns == self.codes[:, None])


@dataclass(frozen=True, eq=False)
class Extremes:
    """Indicators of the largest and smallest values of a column, and of the farthest rows."""

    name: ClassVar[str] = "extremes"
    n_numbers: int
    columns: np.ndarray  # (F,), index of the column; `n_numbers` for the distance from the center
    cuts: np.ndarray  # (F,)
    upper: np.ndarray  # (F,), bool

    @classmethod
    def choose(cls, rows: Rows) -> Extremes:
        """Choose cut points with 4, 8, 16, ... values beyond them, up to an eighth of the rows."""
        chosen: list[tuple[int, float, bool]] = []
        for j, column in enumerate([*rows.numbers.T, rows.distance]):
            ordered = np.sort(column[~np.isnan(column)])
            sides = (True, False) if j < rows.numbers.shape[1] else (True,)
            for upper in sides:
                chosen += [(j, cut, upper) for cut in _extreme_cuts(ordered, upper, len(column))]
        return cls(rows.numbers.shape[1], *_cut_arrays(chosen))

    @cached_property
    def members(self) -> list[Member]:
        """Description of each function."""
        return [
            Member("extreme", () if j == self.n_numbers else (j,), cut, upper)
            for j, cut, upper in zip(
                self.columns.tolist(), self.cuts.tolist(), self.upper.tolist(), strict=True
            )
        ]

    def evaluate(self, rows: Rows) -> np.ndarray:
        """Return the values (F, n) of all functions at n rows."""
        out = np.empty((len(self.cuts), len(rows.distance)))
        for f, (j, cut, upper) in enumerate(zip(self.columns, self.cuts, self.upper, strict=True)):
            column = rows.distance if j == self.n_numbers else rows.numbers[:, j]
            out[f] = column >= cut if upper else column <= cut
            out[f, np.isnan(column)] = np.nan
        return out


def _cut_arrays(
    chosen: list[tuple[int, float, bool]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns, cut points and sides of functions as arrays."""
    columns, cuts, upper = np.array(chosen, np.float64).reshape(-1, 3).T
    return columns.astype(np.int64), cuts, upper.astype(bool)


class IsolatedValues(Extremes):
    """Indicators of the values of a column beyond a gap, such as -9999 or values in a wrong unit.

    Most columns have no such gap. With few functions, the correction for multiple testing is small.
    """

    name: ClassVar[str] = "isolated values"

    @classmethod
    def choose(cls, rows: Rows) -> IsolatedValues:
        """Choose the longest gap on each side of each column with at most an eighth of the rows."""
        chosen: list[tuple[int, float, bool]] = []
        for j, column in enumerate(rows.numbers.T):
            ordered = np.sort(column[~np.isnan(column)])
            for upper in (True, False):
                cut = cut_beyond_gap(ordered if upper else -ordered[::-1], len(column))
                if cut is not None:
                    chosen.append((j, cut if upper else -cut, upper))
        return cls(rows.numbers.shape[1], *_cut_arrays(chosen))


def cut_beyond_gap(ordered: np.ndarray, n: int) -> float | None:
    """Return the minimum of the sorted values beyond the longest gap; None without a gap.

    The length of a gap is measured relative to the distance between the median and the gap. There
    are at most n / 8 values beyond it.
    """
    most = min(int(_EXTREME_FRACTION * n), len(ordered) // 2 - 1)
    beyond = np.arange(_ISOLATED_ROWS, most + 1)
    if not len(beyond):
        return None
    # Values are multiplied by 0.25, so that differences of very large values do not overflow.
    ordered = 0.25 * ordered
    inside = ordered[-beyond - 1]
    distance = inside - np.median(ordered)
    ratios = np.zeros(len(beyond))
    with np.errstate(over="ignore"):
        np.divide(ordered[-beyond] - inside, distance, out=ratios, where=distance > 0)
    longest = int(ratios.argmax())
    return float(4.0 * ordered[-beyond[longest]]) if ratios[longest] > _GAP else None


class IsolatedCategories(SingleCategories):
    """Indicators of the rarest category of a column, if all others are much more frequent."""

    name: ClassVar[str] = "isolated values"

    @classmethod
    def choose(cls, rows: Rows) -> IsolatedCategories:
        """Choose the rarest category with at most an eighth of the rows of each column."""
        columns: list[int] = []
        chosen: list[float] = []
        for c, column in enumerate(rows.codes.T):
            codes, counts = np.unique(column[column >= 0], return_counts=True)
            codes, counts = codes[counts >= LEAST_ROWS], counts[counts >= LEAST_ROWS]
            if len(codes) < 2:
                continue
            rarest, second = np.argsort(counts, kind="stable")[:2]
            most = min(_RARER * counts[second], _EXTREME_FRACTION * len(column))
            if _ISOLATED_ROWS <= counts[rarest] <= most:
                columns.append(c)
                chosen.append(float(codes[rarest]))
        arrays = np.array(columns, np.int64), np.array(chosen, np.float64)
        return cls(rows.numbers.shape[1], *arrays)


def _extreme_cuts(ordered: np.ndarray, upper: bool, n: int) -> list[float]:
    """Return cut points of sorted values with 4, 8, 16, ... values beyond them.

    With ties, the number of values beyond a cut point differs; it is at most a quarter of the n
    rows.
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


@dataclass(frozen=True, eq=False)
class Precision:
    """Indicators of values that are whole numbers, whole tenths, or multiples of 5 or 10."""

    name: ClassVar[str] = "precision"
    columns: np.ndarray  # (F,)
    units: np.ndarray  # (F,)

    @classmethod
    def choose(cls, rows: Rows) -> Precision:
        """Choose all units for all numeric columns, except 5 and 10 for columns of smaller values.

        The only multiple of 10 among values below 10 is 0, which is not a matter of precision.
        Without rows, all units are chosen.
        """
        d = rows.numbers.shape[1]
        columns, units = np.repeat(np.arange(d), len(_UNITS)), np.tile([*_UNITS], d)
        if len(rows.numbers):
            largest = np.fmax.reduce(np.abs(rows.numbers), axis=0, initial=1.0)
            used = units <= largest[columns]
            columns, units = columns[used], units[used]
        return cls(columns, units)

    @property
    def members(self) -> list[Member]:
        """Description of each function."""
        both = zip(self.columns.tolist(), self.units.tolist(), strict=True)
        return [Member("precision", (j,), unit) for j, unit in both]

    def evaluate(self, rows: Rows) -> np.ndarray:
        """Return the values (F, n) of all functions at n rows."""
        out = np.empty((len(self.columns), len(rows.numbers)))
        for j in np.unique(self.columns):
            column = rows.numbers[:, j]
            # All multiples of the other units are whole tenths, which are few in most columns.
            tenths = np.flatnonzero(_is_multiple(column, 0.1))
            for f in np.flatnonzero(self.columns == j):
                out[f] = np.where(np.isnan(column), np.nan, 0.0)
                out[f, tenths[_is_multiple(column[tenths], float(self.units[f]))]] = 1.0
        return out

    def count(self, numbers: np.ndarray) -> np.ndarray:
        """Return the number of rows (F,) of `numbers` (n, d) for which each function is 1."""
        with np.errstate(over="ignore", invalid="ignore"):
            rows, columns = np.nonzero(_is_multiple(numbers, 0.1))
            values, counts = numbers[rows, columns], np.empty(len(self.columns), np.int64)
            for unit in np.unique(self.units):
                ones = np.bincount(columns[_is_multiple(values, unit)], minlength=numbers.shape[1])
                own = self.units == unit
                counts[own] = ones[self.columns[own]]
        return counts


def _is_multiple(values: np.ndarray, unit: float) -> np.ndarray:
    """Return whether values (n,) are multiples of a unit, up to rounding; False for NaN."""
    # Values are multiplied by 10 and not divided by 0.1, which is not a binary fraction.
    ratios, small = (
        (values * 10.0, _SMALL * 10.0) if unit == 0.1 else (values / unit, _SMALL / unit)
    )
    return np.abs(ratios - np.rint(ratios)) <= _ROUNDING * np.maximum(small, np.abs(ratios))


@dataclass(frozen=True, eq=False)
class Repeated:
    """Indicator of rows that occur more than once among the rows.

    The indicator depends on the other rows, so it is used for pooled rows only: a monitor and a
    tolerance need functions of a single row.
    """

    name: ClassVar[str] = "repeated rows"

    @classmethod
    def choose(cls, rows: Rows) -> Repeated:
        """Return the family, which has one function."""
        return cls()

    @property
    def members(self) -> list[Member]:
        """Description of the function."""
        return [Member("repeated")]

    def evaluate(self, rows: Rows) -> np.ndarray:
        """Return the values (1, n) of the function at n rows."""
        keys = row_hashes(np.concatenate([rows.numbers, rows.codes], axis=1))
        _, index, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return (counts[index] > 1).astype(np.float64)[None]


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
    """Replace NaN in each row of values (F, n) by the mean of the other values of the row."""
    absent = np.isnan(values)
    if not absent.any():
        return values
    counts = np.maximum(1, (~absent).sum(axis=1, keepdims=True))
    means = np.where(absent, 0.0, values).sum(axis=1, keepdims=True) / counts
    return np.where(absent, means, values)
