"""Scores of rows: how unusual their values are relative to a reference sample.

Several numbers are computed for a row: values, logarithms, residuals and deviations within
categories. Each is a `Function` of the row. Its ratio is its distance from the median of the
reference, divided by the length of the tail of the reference (`Tails`). The score of the row is the
maximum of its ratios, each divided by its threshold; see `suspicious_rows` in
`isodepth.rows.suspicious.detection`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from isodepth.base.seeds import rng_for
from isodepth.rows.suspicious.groups import Groups, find_groups
from isodepth.rows.suspicious.regression import Regressions
from isodepth.rows.suspicious.tails import (
    ROUNDING,
    Tails,
    deviations,
    quantiles,
    spreads,
    tail_limits,
)

# Maximum number of rows from which tail quantiles are estimated.
_MAX_ROWS = 20_000
_BLOCK_NUMBERS = 1 << 21
# Number of rows of a block in `RowScorer.candidates`: its columns fit into the cache.
_CANDIDATE_BLOCK = 1 << 15
_MAX_VALUE = 1e150
# A column has many small values if its median is more than _WIDE times its 5% quantile. The ratio
# of both is 10 for a uniform distribution from 0 to 1.
_WIDE = 6.0
# Minimum fraction of the variance of a column that its regression explains, and minimum number of
# rows times this fraction. Variances are those of numbers clipped at _CLIPPED spreads, and
# residuals are leave-one-out residuals. If the column does not depend on q terms, the product
# exceeds 10 with about the probability that a chi-squared variable with q degrees of freedom
# exceeds 10 + 2 q, which is at most 0.001.
_EXPLAINED, _EXPLAINED_ROWS, _CLIPPED = 0.1, 10.0, 3.0
# Bound on the relative error of exp(log(x)), divided by 1 + |log(x)|.
_LOG_ERROR = 2.0**-50
# The usual values of a column with at most _DISTINCT distinct values are named if they are at most
# _NAMED. In other columns, a range is shown.
_DISTINCT, _NAMED = 10, 3


class Rows(NamedTuple):
    """Rows of a sample.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Values of the numeric columns; NaN for missing values.
    codes : int ndarray of shape (n, k)
        Values of k categories, from 0; -1 for missing values.
    """

    points: np.ndarray
    codes: np.ndarray

    def take(self, rows: np.ndarray | slice) -> Rows:
        """Return the rows that a mask or indices select."""
        return Rows(self.points[rows], self.codes[rows])

    def without_column(self, j: int) -> Rows:
        """Return the rows without one numeric column."""
        return Rows(np.delete(self.points, j, axis=1), self.codes)


class Unusual(NamedTuple):
    """Most unusual value of a row.

    Attributes
    ----------
    column : int
    usual_range : pair of float
        Range of about 98% of the values of the column in the reference.
    reason : str
        See `SuspiciousRow`.
    given : tuple of int
        Indices of the columns or categories whose values make the value unusual. The indices of
        categories follow those of the columns.
    usual_values : tuple of float or None
        Usual values of a column with few distinct values, which are named instead of the range.
    only_given : bool
        Whether the usual range depends on no other values of the row than those in `given`.
    """

    column: int
    usual_range: tuple[float, float]
    reason: str
    given: tuple[int, ...]
    usual_values: tuple[float, ...] | None = None
    only_given: bool = True


class Function(NamedTuple):
    """Function of a row whose ratio is compared with thresholds.

    Attributes
    ----------
    part : {"values", "logarithms", "residuals", "deviations"}
        Group of functions: values of columns, their logarithms, residuals of the regressions of
        columns on the others, or deviations from the medians of a category.
    column : int
        Index of the column.
    position : int
        Index among the functions of the part.
    """

    part: str
    column: int
    position: int


class RowScorer:
    """Scorer of rows: how unusual they are relative to a reference sample.

    The score of a row is defined in `suspicious_rows`. The rows and the reference may have missing
    values. Residuals of regressions and deviations within categories are scored for the columns
    `related` only, and values and logarithms for all columns.

    Attributes
    ----------
    values, logs, residuals, deviations : Tails
        Tails of the values of columns, of standardized logarithms, of residuals of regressions, and
        of deviations from the medians of categories. The last two exist if they are scored.
    floors : ndarray of shape (d,)
        Positive for columns that are positive in the reference, whose logarithms are used. Below
        its floor, the logarithm is continued linearly. The floor of other columns is 0, and their
        values are used instead of logarithms.
    center, spread : ndarrays of shape (d,)
        Medians and spreads of the logarithms, by which they are standardized.
    units : ndarray of shape (d,)
        Spreads of the values.
    related : int64 ndarray of shape (r,)
        Indices of the columns in regressions and groups, in increasing order.
    regressions : Regressions or None
    groups : list of Groups
        Columns and categories whose deviations are scored.
    functions : list of Function
        All scored functions of a row.
    below, above : ndarrays
        Threshold of the negative and of the positive ratios of each function.
    """

    def __init__(self, reference: Rows, related: Sequence[int] | None = None) -> None:
        """Fit the scorer to the rows `reference`; all columns are related if `related` is None."""
        rng = rng_for(0, "subsamples")
        if len(reference.points) > _MAX_ROWS:
            reference = reference.take(rng.choice(len(reference.points), _MAX_ROWS, replace=False))
        points = self._points = bounded(reference.points)
        self.values, self.units = Tails.of(points), spreads(points)
        columns = range(points.shape[1]) if related is None else related
        self.related = np.array(columns, dtype=np.int64)
        minima = np.fmin.reduce(points, axis=0, initial=np.inf)
        self.floors = np.where((minima > 0) & (minima < np.inf), minima / 1000, 0.0)
        transformed = self._transform(points)
        self.center, self.spread = quantiles(transformed, (0.5,))[0], spreads(transformed)
        standard = (transformed - self.center) / self.spread
        self.logs = Tails.of(standard)
        ratios = {"values": self.values.ratios(points), "logarithms": self.logs.ratios(standard)}
        self.regressions = None
        if Regressions.possible(self._of_related(standard)):
            self.regressions = Regressions(self._of_related(standard), reference.codes, rng)
            ratios["residuals"] = self._residual_ratios(
                self._of_related(standard), self.regressions.fitted_residuals
            )
        self.groups: list[Groups] = []
        if len(self.related):
            values = (points - self.values.median) / self.units
            found = find_groups(values, standard, self.floors > 0, reference.codes)
            self.groups = [each for each in found if each.column in self.related]
        if self.groups:
            deviations = [
                each.fitted_deviations(self._scaled(each, points, standard), reference.codes)
                for each in self.groups
            ]
            self.deviations = Tails.of(np.column_stack(deviations))
            ratios["deviations"] = self.deviations.ratios(np.column_stack(deviations))
        self.functions = [
            Function(part, column, i)
            for part in ratios
            for i, column in enumerate(self._columns_of(part))
        ]
        light = np.array([each.part == "deviations" for each in self.functions], dtype=bool)
        self.below, self.above = tail_limits(np.hstack([*ratios.values()]), points.shape[1], light)
        self._spare_small_values()

    def _columns_of(self, part: str) -> list[int]:
        """Return the index of the column of each function of a part, such as "residuals"."""
        if part == "deviations":
            return [each.column for each in self.groups]
        return self.related.tolist() if part == "residuals" else list(range(len(self.floors)))

    def _of_related(self, table: np.ndarray) -> np.ndarray:
        """Return the related columns of a table (m, d)."""
        return table if len(self.related) == table.shape[1] else table.take(self.related, axis=1)

    def _spare_small_values(self) -> None:
        """Raise the thresholds of small values in columns that have many small values.

        In such a column, for example with a uniform distribution from 0 to 1, the logarithm of a
        positive value near 0 is unusual by chance. Only values below the floor exceed the new
        threshold.
        """
        d = len(self.floors)
        for j in np.flatnonzero(self.floors > 0):
            low, middle = np.nanquantile(self._points[:, j], (0.05, 0.5))
            if middle > _WIDE * low:
                floor = (math.log(self.floors[j]) - self.center[j]) / self.spread[j]
                ratio = (self.logs.median[j] - floor) / self.logs.below[j]
                self.below[d + j] = max(self.below[d + j], ratio)

    def _residual_ratios(self, standard: np.ndarray, residuals: np.ndarray) -> np.ndarray:
        """Compute the tails of the residuals (n, r) of the reference, and return their ratios.

        The ratios are NaN in columns in which nearly all values are equal, and in columns that do
        not depend on the others: residuals must have a smaller variance than the columns `standard`
        (n, r), see `_EXPLAINED`.
        """
        # If a column is nearly a function of the others, its residuals are rounding errors. The
        # floor, a minimum tail length, prevents rows with such residuals from being listed.
        self.residuals = Tails.of(residuals, floor=0.1)
        ratios = self.residuals.ratios(residuals)
        # If nearly all values of a column are equal, residuals are not better than values.
        low, high = quantiles(self._of_related(self._points), (0.1, 0.9))
        known = np.count_nonzero(~np.isnan(residuals), axis=0)
        rest = deviations(np.clip(residuals, -_CLIPPED, _CLIPPED)) ** 2
        whole = deviations(np.clip(standard, -_CLIPPED, _CLIPPED)) ** 2
        needed = np.maximum(_EXPLAINED, _EXPLAINED_ROWS / np.maximum(known, 1))
        ratios[:, (low == high) | (rest > (1 - needed) * whole)] = np.nan
        return ratios

    @property
    def columns(self) -> np.ndarray:
        """Index of the column of each function in `functions`."""
        return np.array([each.column for each in self.functions], dtype=np.int64)

    @property
    def _alone(self) -> np.ndarray:
        """Whether each function depends on the value of its column only."""
        return np.array([each.part in ("values", "logarithms") for each in self.functions], bool)

    def _thresholds(self, part: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the thresholds of the functions of one part, such as "residuals".

        The two arrays contain the thresholds of negative and of positive ratios.
        """
        places = [k for k, each in enumerate(self.functions) if each.part == part]
        return self.below[places], self.above[places]

    def candidates(self, rows: Rows) -> np.ndarray:
        """Return indices of rows, in increasing order, that include all rows with scores above 1.

        The search is faster than `score`: values, logarithms, residuals and deviations are compared
        with the intervals in which their ratios are at most the thresholds. Residuals are computed
        in single precision. The intervals are smaller by bounds on the rounding errors.
        """
        found = []
        for start in range(0, len(rows.points), _CANDIDATE_BLOCK):
            outside = self._outside(rows.take(slice(start, start + _CANDIDATE_BLOCK)))
            found.append(start + np.flatnonzero(outside))
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    def _outside(self, rows: Rows) -> np.ndarray:
        """Return a bool array (m,): whether a row has a number outside its interval.

        The numbers are values, logarithms, residuals and deviations. The interval of a number has
        the values whose ratios are at most the thresholds.
        """
        outside = np.zeros(len(rows.points), dtype=bool)
        # In Fortran order: columns are written and read one by one.
        standard = np.empty(rows.points.shape, order="F")
        for j, (values, logs) in enumerate(zip(*self._intervals, strict=True)):
            column = rows.points[:, j]
            outside |= column < values[0]
            outside |= column > values[1]
            if self.floors[j] > 0:
                column = _logarithms(bounded(column), self.floors[j])
            with np.errstate(over="ignore"):  # infinite numbers are outside, too
                np.subtract(column, self.center[j], out=standard[:, j])
                standard[:, j] /= self.spread[j]
            if self.floors[j] > 0:
                outside |= standard[:, j] < logs[0]
                outside |= standard[:, j] > logs[1]
        if self.regressions is not None:
            ends = self.residuals.interval(*self._thresholds("residuals"))
            outside |= self.regressions.outside(self._of_related(standard), rows.codes, *ends)
        if self.groups:
            ends = self.deviations.interval(*self._thresholds("deviations"))
            points = bounded(rows.points)
            for each, least, most in zip(self.groups, *ends, strict=True):
                values = self._scaled(each, points, standard)
                deviations = each.deviations(values, rows.codes)
                outside |= deviations < least
                outside |= deviations > most
        return outside

    @cached_property
    def _intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Intervals of values whose ratios are at most the thresholds, narrowed by rounding errors.

        See `_intervals_of` for the two arrays.
        """
        return self._intervals_of(-ROUNDING)

    def _intervals_of(self, rounding: float) -> tuple[np.ndarray, np.ndarray]:
        """Return intervals (d, 2) of values, and intervals (d, 2) of standardized logarithms.

        Ratios are at most the thresholds inside of them. `rounding` is the option of
        `Tails.interval`. The standardized numbers of a column without logarithms are its values in
        another unit, so that the interval of the values covers both.
        """
        values = np.stack(self.values.interval(*self._thresholds("values"), rounding), axis=1)
        ends = self._thresholds("logarithms")
        standardized = Tails(
            self.center + self.spread * self.logs.median,
            self.spread * self.logs.below,
            self.spread * self.logs.above,
        )
        low, high = standardized.interval(*ends, rounding)
        plain = self.floors <= 0
        values[plain, 0] = np.maximum(values[plain, 0], low[plain])
        values[plain, 1] = np.minimum(values[plain, 1], high[plain])
        return values, np.stack(self.logs.interval(*ends, rounding), axis=1)

    def usual_values(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the range of usual values of each column, for values of 0 and for other values.

        A value is usual if its ratio to the tail of the reference, see `Tails`, is at most the
        threshold. Both arrays (2, d) have the minimum and the maximum usual value of each column.
        The first is valid for the value 0, the second for all other values. They differ in columns
        in which logarithms of the values are scored too, because the logarithm of 0 is not scored.
        The ranges are widened by rounding errors: otherwise all values of a constant column, such
        as 0.1, could be outside.
        """
        values, logs = (ends.T for ends in self._intervals_of(ROUNDING))
        nonzero = values.copy()
        for j in np.flatnonzero(self.floors > 0):
            ends = logs[:, j] * self.spread[j] + self.center[j]
            # Below the floor, `_logarithms` is linear.
            below = np.minimum(ends - math.log(self.floors[j]), 0.0)
            with np.errstate(over="ignore"):
                relative = _LOG_ERROR * (1.0 + np.abs(ends)) * np.array([-1.0, 1.0])
                ends = np.where(below < 0, self.floors[j] * (1 + below), np.exp(ends))
                ends += relative * np.abs(ends)
            nonzero[0, j], nonzero[1, j] = max(values[0, j], ends[0]), min(values[1, j], ends[1])
        return values, nonzero

    def score(self, rows: Rows) -> np.ndarray:
        """Return the scores (m,) of m rows. A row with a score above 1 is unusual."""
        blocks = [np.fmax.reduce(ratios, axis=1, initial=0.0) for ratios in self._blocks(rows)]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def value_ratios(self, values: np.ndarray, j: int) -> np.ndarray:
        """Return the ratios (m,) of values of column j, divided by their thresholds."""
        below, above = (ends[j] for ends in self._thresholds("values"))
        deviation = bounded(values) - self.values.median[j]
        return deviation / np.where(
            deviation > 0, above * self.values.above[j], below * self.values.below[j]
        )

    def far(self, points: np.ndarray, factor: float) -> np.ndarray:
        """Return whether the ratio of each value (m, d) exceeds `factor` times its threshold.

        The ratio of the logarithm of a positive value must also exceed its threshold.
        """
        below, above = self._thresholds("values")
        ends = self.values.interval(factor * below, factor * above)
        result = (points < ends[0]) | (points > ends[1])
        for j in np.flatnonzero(result.any(axis=0) & (self.floors > 0)).tolist():
            rows = np.flatnonzero(result[:, j] & (points[:, j] > 0))
            logs = _logarithms(bounded(points[rows, j]), self.floors[j])
            low, high = self._intervals[1][j] * self.spread[j] + self.center[j]
            result[rows, j] = (logs < low) | (logs > high)
        return result

    def flagged(self, rows: Rows) -> np.ndarray:
        """Return the fractions (2, d) of rows that are unusual in each column.

        A row is unusual in a column if the ratio of one of its functions of this column exceeds the
        threshold. The functions of the first line are values and logarithms, those of the second
        line are all functions.
        """
        counts, columns = np.zeros((2, rows.points.shape[1])), self.columns
        for ratios in self._blocks(rows):
            above = ratios > 1
            for j in np.unique(columns[above.any(axis=0)]):
                counts[0, j] += above[:, (columns == j) & self._alone].any(axis=1).sum()
                counts[1, j] += above[:, columns == j].any(axis=1).sum()
        return counts / max(len(rows.points), 1)

    def explain(self, rows: Rows, observed: tuple[np.ndarray, np.ndarray]) -> list[Unusual]:
        """Return for each row the column with the most unusual value, and the usual values.

        Usual ranges are clipped to `observed`, the minima and maxima (d,) of columns in rows of the
        reference that are not suspicious.
        """
        ratios = chain.from_iterable(self._blocks(rows))
        found = [self._explain_row(rows, i, np.nan_to_num(row)) for i, row in enumerate(ratios)]
        distinct = {j: np.unique(self._points[:, j]) for j in {each.column for each in found}}
        explained = []
        for each, point in zip(found, rows.points, strict=True):
            low, high = (float(ends[each.column]) for ends in observed)
            first, last = each.usual_range
            usual = min(max(first, low), high), min(max(last, low), high)
            named = _named_values(usual, float(point[each.column]), distinct[each.column])
            explained.append(each._replace(usual_range=usual, usual_values=named))
        return explained

    def _explain_row(self, rows: Rows, i: int, ratios: np.ndarray) -> Unusual:
        # If a value is unusual by itself, its relation to other values is not considered.
        if ratios[self._alone].max() > 1:
            ratios = np.where(self._alone, ratios, 0.0)
        function = self.functions[int(ratios.argmax())]
        if function.part == "residuals":
            return self._given_columns(rows.take(np.array([i])), function)
        if function.part == "deviations":
            return self._given_category(rows.codes[i], function)
        return Unusual(function.column, _range(self.values, function.column), "value", ())

    def _given_category(self, codes: np.ndarray, function: Function) -> Unusual:
        groups = self.groups[function.position]
        group = codes[groups.category]
        low, high = _range(self.deviations, function.position)
        ends = groups.median[group] + groups.spread[group] * np.array([low, high])
        j, given = groups.column, (len(self.floors) + groups.category,)
        if groups.logarithm:
            usual = self._in_units(ends, j)
        else:
            low, high = (ends * self.units[j] + self.values.median[j]).tolist()
            usual = low, high
        return Unusual(j, usual, "value within a category", given)

    def _given_columns(self, row: Rows, function: Function) -> Unusual:
        assert self.regressions is not None
        j, i = function.column, function.position
        standard = (self._transform(bounded(row.points)) - self.center) / self.spread
        standard = self._of_related(standard)
        z = standard[0]
        scale = self.regressions.scale(z)[i]
        expected = z[i] - self.regressions.residuals(standard, row.codes)[0, i] / scale
        ends = expected + np.array(_range(self.residuals, i)) / scale
        ends += [shift[0, i] for shift in self.regressions.extrapolation(standard)]
        # The columns that move the prediction away from the value; at most two, of which the second
        # is named only if it matters about as much as the first.
        pull = self.regressions.contributions(z, row.codes[0], i) * np.sign(expected - z[i])
        first, second = np.argsort(-pull)[:2].tolist()
        given = [first, second] if pull[second] > pull[first] / 2 else [first]
        # The contributions are those of related columns, followed by those of categories.
        d, codes = len(self.floors), range(row.codes.shape[1])
        indices = [*self.related.tolist(), *(d + category for category in codes)]
        others = tuple(indices[each] for each in given) if pull[first] > 0 else ()
        categories = {category for category, _ in self.regressions.indicators}
        n_predictors = np.count_nonzero(pull[: len(z)]) + len(categories)
        return Unusual(
            j, self._in_units(ends, j), "value given the other columns", others,
            only_given=0 < n_predictors == len(others),
        )  # fmt: skip

    def _in_units(self, ends: np.ndarray, j: int) -> tuple[float, float]:
        """Convert a range of a standardized column to the units of the column."""
        ends = ends * self.spread[j] + self.center[j]
        if self.floors[j] > 0:
            ends = np.exp(ends)
        return float(ends[0]), float(ends[1])

    def _scaled(self, groups: Groups, points: np.ndarray, standard: np.ndarray) -> np.ndarray:
        """Return the standardized values (m,) of the column of `groups`, or of its logarithms.

        The attribute `logarithm` of `groups` selects the logarithms. `points` (m, d) are bounded
        values, and `standard` (m, d) the standardized logarithms.
        """
        j = groups.column
        return (
            standard[:, j]
            if groups.logarithm
            else ((points[:, j] - self.values.median[j]) / self.units[j])
        )

    def _blocks(self, rows: Rows) -> Iterator[np.ndarray]:
        """Yield the ratios of rows, divided by their thresholds, in blocks of rows.

        The ratios are defined in `suspicious_rows`. Ratios of missing values are NaN.
        """
        size = max(1, _BLOCK_NUMBERS // (2 * len(self.below) + 1))
        for start in range(0, len(rows.points), size):
            ratios = self._ratios(rows.take(slice(start, start + size)))
            yield ratios / np.where(ratios > 0, self.above, -self.below)

    def _transform(self, points: np.ndarray) -> np.ndarray:
        """Return `points` (m, d), with logarithms in columns that are positive in the reference."""
        transformed = points.astype(np.float64, copy=True)
        for j in np.flatnonzero(self.floors > 0):
            transformed[:, j] = _logarithms(points[:, j], self.floors[j])
        return transformed

    def _ratios(self, rows: Rows) -> np.ndarray:
        """Return the ratios of values, logarithms, residuals and deviations from groups.

        A ratio is a difference from the median divided by a tail length; see `Tails`. The k ratios
        of m rows have the shape (m, k). Ratios of missing values are NaN.
        """
        points = bounded(rows.points)
        standard = (self._transform(points) - self.center) / self.spread
        parts = [self.values.ratios(points), self.logs.ratios(standard)]
        if self.regressions is not None:
            related = self._of_related(standard)
            residuals = self.regressions.certain_residuals(related, rows.codes)
            parts.append(self.residuals.ratios(residuals))
        if self.groups:
            deviations = [
                each.deviations(self._scaled(each, points, standard), rows.codes)
                for each in self.groups
            ]
            parts.append(self.deviations.ratios(np.column_stack(deviations)))
        return np.hstack(parts)


def bounded(points: np.ndarray) -> np.ndarray:
    """Return the points in double precision, clipped so that their squares do not overflow."""
    return np.clip(np.asarray(points, dtype=np.float64), -_MAX_VALUE, _MAX_VALUE)


def _logarithms(column: np.ndarray, floor: float) -> np.ndarray:
    """Return the logarithms of a column (m,).

    Below `floor`, a thousandth of the minimum in the reference, the logarithm is continued
    linearly, so that it is defined for negative values. The logarithm of zero is missing: a zero
    often means that there is nothing to count, and only its value is scored.
    """
    if not (column < floor).any():
        return np.log(column)
    below = np.minimum(column - floor, 0) / floor
    logarithms = np.log(np.maximum(column, floor)) + below
    return np.where(column == 0, np.nan, logarithms)


def _named_values(
    usual: tuple[float, float], value: float, distinct: np.ndarray
) -> tuple[float, ...] | None:
    """Return the usual values of a column with few distinct values; None if a range is shown.

    They are the values in the range `usual`, or the value nearest to its middle if no value is
    inside. `value` is the unusual value, and `distinct` has the sorted values of the reference.

    Examples
    --------
    >>> _named_values((0.0, 0.045), 1.0, np.array([0.0, 1.0]))
    (0.0,)
    >>> _named_values((0.9, 3.2), 7.0, np.array([0.0, 1.0, 2.0, 3.0, 4.0]))
    (1.0, 2.0, 3.0)
    """
    others = distinct[(distinct != value) & ~np.isnan(distinct)]
    if not len(others) or len(distinct) > _DISTINCT:
        return None
    inside = others[(others >= usual[0]) & (others <= usual[1])]
    if not len(inside):
        inside = others[[np.abs(others - (usual[0] / 2 + usual[1] / 2)).argmin()]]
    return None if len(inside) > _NAMED else tuple(inside.tolist())


def _range(tails: Tails, j: int) -> tuple[float, float]:
    return float(tails.median[j] - tails.below[j]), float(tails.median[j] + tails.above[j])
