"""Detection of suspicious rows, which do not look like any row of the other sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.directions import rng_for
from isodepth.data.results import ResultMixin, plain
from isodepth.two_samples import TwoSamples

#: Expected fraction of the rows of a sample that are listed as suspicious if both samples have the
#: same distribution with exponential tails.
EXPECTED_SHARE = 0.005
#: Minimum number of rows of each sample for conformal p-values. Half of the n rows of the other
#: sample calibrate the scores, so a p-value is at least about 2 / n. This is too large for small n.
CONFORMAL_ROWS = 1000
RULE = (
    "The threshold is a rule, not a guarantee: it extrapolates the tail of the scores of the other "
    "sample. A listed row may be correct, and a wrong row that looks like others is not listed."
)
# Maximum number of rows from which tail quantiles are estimated (_MAX_ROWS), and to which
# regressions are fitted (_MAX_FITTED).
_MAX_ROWS, _MAX_FITTED = 20_000, 5_000
_BLOCK_NUMBERS = 1 << 21
# Each column is regressed on the others only if there are at least _ROWS_PER_TERM rows per term of
# the regression, and at most _MAX_COLUMNS columns.
_ROWS_PER_TERM, _MAX_COLUMNS = 3, 100
# Maximum distance from the median, in spreads, of all values of a row that is used to fit
# regressions. If at most 60% of the rows are this close, all rows are used. Regressions clip values
# at this distance.
_FAR = 8.0
_PENALTY = 1e-3
# Rows with scores above _CLEARLY are removed from a sample before the other sample is compared with
# it. If they are more than a fraction _MAX_REMOVED of the rows, none are removed, because the whole
# distribution differs.
_CLEARLY, _MAX_REMOVED = 1.5, 0.2
# A listed row must also be unusual relative to the ordinary rows of both samples together. Rows
# with scores up to this value are ordinary. The value is below 1, because some rows of a group of
# wrong rows may have scores slightly below 1.
_ORDINARY = 0.6
# An unusual value is reported as repeated if at least _MIN_REPEATED rows, and at least a fraction
# _REPEATED_FRACTION of the rows of a sample, have the value.
_MIN_REPEATED, _REPEATED_FRACTION = 5, 0.01


class SuspiciousRow(NamedTuple):
    """A row that does not look like the rows of the other sample.

    Attributes
    ----------
    sample : {"X", "Y"}
    row : int
        Index of the row, from 0, in the sample as the user passed it.
    score : float
        Score defined in `suspicious_rows`: how far a value of the row is outside the usual range,
        relative to a threshold. It is above 1.
    column : str
        Column with the unusual value.
    value : float
        Value of the row in this column.
    usual : pair of float
        Range of about 98% of the values of this column in the other sample. If the value is unusual
        only given the other columns, the range that a regression on these columns predicts.
    reason : {"value", "value given the other columns"}
        Whether the value is unusual by itself, or only together with the rest of the row.
    pvalue : float or None
        Conformal p-value, adjusted for the number of rows of the sample by the method of Benjamini
        and Hochberg; None if one of the samples has fewer than 1000 rows.
    """

    sample: str
    row: int
    score: float
    column: str
    value: float
    usual: tuple[float, float]
    reason: str
    pvalue: float | None

    def text(self, name: str) -> str:
        """Describe the row in one line; `name` is the name of the sample."""
        low, high = (f"{bound:.4g}" for bound in self.usual)
        value, given = f"{self.column} = {self.value:.6g}", self.reason.removeprefix("value")
        return f"{name}[{self.row}]: {value}, usually {low} to {high}{given}"


class OneSidedValue(NamedTuple):
    """A value of a category that occurs in only one sample.

    Attributes
    ----------
    sample : {"X", "Y"}
        The sample that has the value.
    column, value : str
        Name of the column, and the value.
    n_rows : int
        Number of rows with the value.
    row : int
        Index of the first row with the value.
    pvalue : float
        Probability that all rows with this value belong to this sample if rows are assigned to the
        two samples at random; not adjusted for the number of values.
    """

    sample: str
    column: str
    value: str
    n_rows: int
    row: int
    pvalue: float

    def __str__(self) -> str:
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows} rows"
        return f"only {self.sample} has {self.column} = {self.value} ({rows})"


class RepeatedValue(NamedTuple):
    """One unusual value, such as -9999, that many rows of a sample have in common.

    Attributes
    ----------
    sample : {"X", "Y"}
    value : float
    columns : tuple of str
        Columns with the maximum number of rows that have the value.
    n_rows : int
        Number of rows that have the value, in each of these columns.
    fraction : float
        `n_rows` divided by the number of rows of the sample.
    """

    sample: str
    value: float
    columns: tuple[str, ...]
    n_rows: int
    fraction: float

    def text(self, name: str) -> str:
        """Describe the rows with the value in one line; `name` is the name of the sample."""
        more = len(self.columns) - 1
        others = f" and {more} more column{'s' * (more > 1)}" if more else ""
        where = f"{self.columns[0]}{others} = {self.value:.6g}"
        return f"{self.n_rows} rows of {name} look wrong: {where}"


@dataclass(frozen=True, eq=False, repr=False)
class SuspiciousRows(ResultMixin):
    """Rows of each sample that do not look like any row of the other sample.

    Attributes
    ----------
    rows : list of SuspiciousRow
        Suspicious rows of both samples, most suspicious first.
    values : list of OneSidedValue
        Values of categories that occur in only one sample, most frequent first.
    n_rows : pair of int
        Numbers of rows of X and Y.
    skipped : tuple of str
        Columns that were not used, because more than 20% of the rows of a sample have unusual
        values in these columns. The whole distribution differs then, not single rows.
    repeated : tuple of RepeatedValue
        Unusual values that many rows have in common, see `repeated_values`.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> X = np.random.default_rng(5).normal(size=(200, 2))
    >>> Y = np.random.default_rng(6).normal(size=(100, 2))
    >>> Y[7, 1] = -9999
    >>> suspicious = isodepth.compare(X, Y, random_state=0).suspicious_rows()
    >>> len(suspicious), suspicious.indices("Y")
    (1, array([7]))
    >>> suspicious.rows[0].column, suspicious.rows[0].value
    ('column 1', -9999.0)
    """

    rows: list[SuspiciousRow]
    values: list[OneSidedValue]
    n_rows: tuple[int, int]
    skipped: tuple[str, ...] = ()
    repeated: tuple[RepeatedValue, ...] = ()

    def indices(self, sample: str) -> np.ndarray:
        """Return the row indices of one sample, "X" or "Y", most suspicious first."""
        return np.array([row.row for row in self.rows if row.sample == sample], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SuspiciousRow]:
        return iter(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain Python numbers, strings, lists and dictionaries."""
        return plain({**vars(self), "rule": RULE})

    def _rows(self) -> dict[str, list[Any]]:
        return {
            name: [getattr(row, name) for row in self.rows]
            for name in ("sample", "row", "score", "column", "value", "reason", "pvalue")
        }

    def summary(self, names: Sequence[str] = ("X", "Y")) -> str:
        """Return a phrase with the number of listed rows, such as "12 suspicious rows in July".

        `names` are the names of X and Y.
        """
        counts = [
            (len(self.indices(sample)), name) for sample, name in zip("XY", names, strict=True)
        ]
        parts = [f"{n} suspicious row{'s' * (n > 1)} in {name}" for n, name in counts if n]
        return " and ".join(parts) or "no suspicious rows"

    def __repr__(self) -> str:
        lines = [self.summary(), *(row.text(row.sample) for row in self.rows[:7])]
        if len(self.rows) > 7:
            lines.append(f"and {len(self.rows) - 7} more")
        lines += [str(value) for value in self.values[: 10 - len(lines)]]
        return "\n  ".join([*lines, RULE])


def suspicious_rows(samples: TwoSamples) -> SuspiciousRows:
    """Find the rows of each sample that do not look like any row of the other.

    Three kinds of numbers are computed for a row: its values, the logarithms of its values in
    positive columns, and the residuals of a regression of each column on the others. Each number is
    converted to a ratio: its distance from the median of the other sample, divided by the distance
    of the 1% or 99% quantile from this median. The threshold for a ratio is extrapolated from the
    tail of the ratios of the other sample's rows. The score of a row is the maximum of its ratios,
    each divided by its threshold. Missing values are ignored.

    A row is listed if its score exceeds 1, both relative to the other sample and relative to the
    ordinary rows of both samples together. Rows with scores up to 0.6 are ordinary. This second
    reference has about twice as many rows, so fewer correct rows are listed.
    """
    names, points = list(samples.columns), list(samples.points)
    rows: list[SuspiciousRow] = []
    skipped: list[str] = []
    while names:
        references = _without_outliers(points[0], points[1])
        # The first scorer compares rows of X with the reference Y, the second rows of Y with X.
        scorers = [RowScorer(references[1]), RowScorer(references[0])]
        flagged = np.maximum(*(s.flagged(part) for s, part in zip(scorers, points, strict=True)))
        worst = int(flagged.argmax())
        if flagged[worst] <= _MAX_REMOVED:
            rows = _rows_unlike(scorers, references, points, names)
            break
        skipped.append(names.pop(worst))
        points = [np.delete(part, worst, axis=1) for part in points]
    rows.sort(key=lambda row: -row.score)
    values, repeated = _one_sided_values(samples), repeated_values(samples)
    return SuspiciousRows(rows, values, samples.n_rows, tuple(skipped), repeated)


def repeated_values(samples: TwoSamples) -> tuple[RepeatedValue, ...]:
    """Find unusual values, such as -9999, that many rows of a sample have in common.

    An unusual value is the minimum or maximum of a column, and at least five rows have it. Consider
    the interval of the central 90% of the other values of the column, in both samples together. The
    distance of the unusual value from this interval is more than three times the interval's length.
    For each sample, only the most frequent unusual value is considered. It is returned if 1% to 20%
    of the rows have it.
    """
    repeated = []
    for side, sample in enumerate("XY"):
        points = samples.points[side]
        counts: Counter[float] = Counter()
        for j in range(points.shape[1]):
            column = points[:, j]
            for value in {float(np.fmin.reduce(column)), float(np.fmax.reduce(column))}:
                count = int((column == value).sum())
                both = np.concatenate([part[:, j] for part in samples.points])
                others = both[(both != value) & ~np.isnan(both)]
                if count >= _MIN_REPEATED and len(others):
                    low, high = np.quantile(others, [0.05, 0.95])
                    if max(low - value, value - high) > 3 * (high - low) > 0:
                        counts[value] = max(counts[value], count)
        for value, count in counts.most_common(1):
            if _REPEATED_FRACTION * len(points) <= count <= _MAX_REMOVED * len(points):
                equal = points == value
                columns = tuple(np.array(samples.columns)[equal.sum(axis=0) == count].tolist())
                fraction = count / len(points)
                repeated.append(RepeatedValue(sample, value, columns, count, fraction))
    return tuple(repeated)


def _without_outliers(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Return the rows of `x` and of `y` without clear outliers, as references for the other sample.

    Rows of a sample that are far from the other sample are removed, unless they are more than 20%
    of the rows. If wrong rows remained in a reference, similar wrong rows of the other sample would
    look usual. Wrong rows would also move the quantiles that define usual values.
    """
    kept = []
    for points, other in ((x, y), (y, x)):
        far = RowScorer(other).score(points) > _CLEARLY
        kept.append(points[~far] if far.mean() <= _MAX_REMOVED else points)
    return kept


def _rows_unlike(
    scorers: Sequence[RowScorer],
    references: Sequence[np.ndarray],
    points: Sequence[np.ndarray],
    names: Sequence[str],
) -> list[SuspiciousRow]:
    """Return the rows whose scores exceed 1, relative to the other sample and to pooled rows.

    The pooled rows are those of both samples with small scores. `points` are the rows of X and of
    Y, and `references` the same rows without outliers. The first entry of `scorers` scores rows of
    X relative to Y, and the second scores rows of Y relative to X.
    """
    scores = [scorer.score(part) for scorer, part in zip(scorers, points, strict=True)]
    if max(part.max() for part in scores) <= 1:
        return []
    ordinary = [part[score <= _ORDINARY] for part, score in zip(points, scores, strict=True)]
    pooled = RowScorer(np.concatenate(ordinary))
    rows = []
    for side, sample in enumerate("XY"):
        listed = (scores[side] > 1) & (pooled.score(points[side]) > 1)
        pvalues = conformal_pvalues(references[1 - side], points[side]) if listed.any() else None
        for i in np.flatnonzero(listed):
            j, usual, reason = scorers[side].explain(points[side][i])
            score, value = float(scores[side][i]), float(points[side][i, j])
            p = None if pvalues is None else float(pvalues[i])
            rows.append(SuspiciousRow(sample, int(i), score, names[j], value, usual, reason, p))
    return rows


def _one_sided_values(samples: TwoSamples) -> list[OneSidedValue]:
    values = []
    for column, both in samples.categories.items():
        counts = [Counter(value for value in part if value is not None) for part in both]
        for side, sample in enumerate("XY"):
            for value in counts[side].keys() - counts[1 - side].keys():
                count, row = counts[side][value], both[side].index(value)
                before = np.arange(count)
                size, total = samples.n_rows[side], sum(samples.n_rows)
                chance = float(np.prod((size - before) / (total - before)))
                values.append(OneSidedValue(sample, column, value, count, row, chance))
    return sorted(values, key=lambda each: (-each.n_rows, each.column, each.value))


def conformal_pvalues(reference: np.ndarray, points: np.ndarray) -> np.ndarray | None:
    """Return conformal p-values (m,) of points (m, d) relative to a reference sample.

    A scorer is fitted to one half of the reference and scores the n rows of the other half. If k of
    these scores are at least the score of a point, its p-value is (1 + k) / (1 + n). The p-values
    are then adjusted by the method of Benjamini and Hochberg. Return None if the reference or
    `points` has fewer than 1000 rows.
    """
    if min(len(reference), len(points)) < CONFORMAL_ROWS:
        return None
    from scipy.stats import false_discovery_control

    order = rng_for(0, "splits").permutation(len(reference))
    middle = len(order) // 2
    scorer = RowScorer(reference[order[:middle]])
    calibration = np.sort(scorer.score(reference[order[middle:]]))
    larger = len(calibration) - np.searchsorted(calibration, scorer.score(points), side="left")
    return false_discovery_control((1 + larger) / (1 + len(calibration)))


class _Tails(NamedTuple):
    """Medians and tail lengths (k,) of k functions of a row, in a reference sample.

    `below` is the distance from the median to the 1% quantile, and `above` the distance to the 99%
    quantile. Both are at least half of the spread, a clipped standard deviation; see `spreads`.
    """

    median: np.ndarray
    below: np.ndarray
    above: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, floor: float = 0.0) -> _Tails:
        low, middle, high = np.nanquantile(values, [0.01, 0.5, 0.99], axis=0)
        least = np.maximum(spreads(values) / 2, floor)
        return cls(middle, np.maximum(middle - low, least), np.maximum(high - middle, least))

    def ratios(self, values: np.ndarray) -> np.ndarray:
        """Return the distances (m, k) of values (m, k) from the medians, divided by tail lengths.

        Values above the median are divided by `above`, and other values by `below`. The results for
        missing values are 0.
        """
        deviation = values - self.median
        ratios = np.where(deviation > 0, deviation / self.above, -deviation / self.below)
        return np.nan_to_num(ratios, nan=0.0, posinf=np.inf)


class RowScorer:
    """Object that computes how unusual rows are relative to a reference sample (n, d).

    The score of a row is defined in `suspicious_rows`. The rows and the reference may have missing
    values.
    """

    def __init__(self, reference: np.ndarray) -> None:
        rng = rng_for(0, "subsamples")
        if len(reference) > _MAX_ROWS:
            reference = reference[rng.choice(len(reference), _MAX_ROWS, replace=False)]
        reference = np.asarray(reference, dtype=np.float64)
        self.values = _Tails.of(reference)
        # For columns that are positive in the reference, logarithms are computed. Below `floors`,
        # the logarithm is replaced by a linear function. The floor of the other columns is 0, which
        # means that they are not transformed.
        minima = np.fmin.reduce(reference, axis=0)
        self.floors = np.where(minima > 0, minima / 1000, 0.0)
        transformed = self._transform(reference)
        self.center, self.spread = np.nanmedian(transformed, axis=0), spreads(transformed)
        standard = (transformed - self.center) / self.spread
        self.logs = _Tails.of(standard)
        complete = ~np.isnan(standard).any(axis=1)
        self.regression = _Regressions.fit(standard[complete], rng)
        ratios = self._ratios(reference)
        if self.regression is not None:
            ratios[complete, 2 * reference.shape[1] :] = self.regression.fitted_ratios
        self.limits = tail_limits(ratios, reference.shape[1])

    def score(self, points: np.ndarray) -> np.ndarray:
        """Return the scores (m,) of points (m, d). A row with a score above 1 is unusual."""
        return np.concatenate([ratios.max(axis=1) for ratios in self._blocks(points)])

    def flagged(self, points: np.ndarray) -> np.ndarray:
        """Return, for each column, the fraction of points (m, d) that are unusual in this column.

        A point is unusual if the ratio of its value, logarithm or residual exceeds its threshold;
        see `suspicious_rows`.
        """
        d = points.shape[1]
        above = [
            (ratios > 1).reshape(-1, ratios.shape[1] // d, d) for ratios in self._blocks(points)
        ]
        return np.concatenate(above).any(axis=1).mean(axis=0)

    def _blocks(self, points: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the ratios of points (m, d), divided by their thresholds, in blocks of rows.

        The ratios are defined in `suspicious_rows`.
        """
        size = max(1, _BLOCK_NUMBERS // (8 * points.shape[1]))
        for start in range(0, len(points), size):
            yield self._ratios(points[start : start + size]) / self.limits

    def explain(self, row: np.ndarray) -> tuple[int, tuple[float, float], str]:
        """Return the index of the most unusual column of a row (d,), and the column's usual range.

        Also return the reason why the value is unusual; see `SuspiciousRow`.
        """
        d = len(row)
        ratios = next(self._blocks(row[None]))[0]
        # If a value is unusual by itself, the residuals of regressions are not considered.
        best = int((ratios[: 2 * d] if ratios[: 2 * d].max() > 1 else ratios).argmax())
        if best >= 2 * d:
            j = best - 2 * d
            return j, self._conditional_range(row, j), "value given the other columns"
        j, tails = best % d, self.values
        low, high = tails.median[j] - tails.below[j], tails.median[j] + tails.above[j]
        return j, (float(low), float(high)), "value"

    def _conditional_range(self, row: np.ndarray, j: int) -> tuple[float, float]:
        assert self.regression is not None
        z = (self._transform(row[None]) - self.center) / self.spread
        expected = z[0, j] - self.regression.residuals(z)[0, j]
        tails = self.regression.tails
        ends = expected + tails.median[j] + np.array([-tails.below[j], tails.above[j]])
        ends = ends * self.spread[j] + self.center[j]
        if self.floors[j] > 0:
            ends = np.exp(ends)
        return float(ends[0]), float(ends[1])

    def _transform(self, points: np.ndarray) -> np.ndarray:
        """Take logarithms of the columns of `points` (m, d) that are positive in the reference.

        Below a thousandth of a column's minimum in the reference, the logarithm is continued
        linearly, so that it is defined for zero and negative values.
        """
        transformed = points.astype(np.float64, copy=True)
        for j in np.flatnonzero(self.floors > 0):
            floor = self.floors[j]
            below = np.minimum(points[:, j] - floor, 0) / floor
            transformed[:, j] = np.log(np.maximum(points[:, j], floor)) + below
        return transformed

    def _ratios(self, points: np.ndarray) -> np.ndarray:
        """Return the ratios of the values, logarithms and residuals of points (m, d) side by side.

        A ratio is a distance from the median divided by a tail length; see `_Tails`. The shape is
        (m, 3d), or (m, 2d) without regressions. Ratios of missing values, and of the residuals of
        rows with missing values, are 0.
        """
        standard = (self._transform(points) - self.center) / self.spread
        parts = [self.values.ratios(points), self.logs.ratios(standard)]
        if self.regression is not None:
            parts.append(self.regression.tails.ratios(self.regression.residuals(standard)))
        return np.hstack(parts)


@dataclass(frozen=True)
class _Regressions:
    """Ridge regression of each standardized column on the other columns and on their squares.

    Attributes
    ----------
    coefficients : ndarray of shape (f, d)
        Coefficients of f terms for each column. The terms are a constant, the columns and, if there
        are enough rows, their squares.
    squares : bool
        Whether squares are used.
    tails : _Tails
        Medians and tail lengths of the residuals in the reference.
    fitted_ratios : ndarray of shape (n, d)
        Distances of the leave-one-out residuals of the reference rows from their medians, divided
        by tail lengths.
    """

    coefficients: np.ndarray
    squares: bool
    tails: _Tails
    fitted_ratios: np.ndarray

    @classmethod
    def fit(cls, standard: np.ndarray, rng: np.random.Generator) -> _Regressions | None:
        """Fit the regressions to standardized rows (n, d) without missing values.

        Return None if there are too few rows, fewer than two columns, or too many columns.
        """
        n, d = standard.shape
        near = (np.abs(standard) <= _FAR).all(axis=1)
        used = np.flatnonzero(near) if near.sum() > 0.6 * n else np.arange(n)
        if d < 2 or d > _MAX_COLUMNS or len(used) < _ROWS_PER_TERM * (d + 1):
            return None
        fitted = rng.choice(used, min(len(used), _MAX_FITTED), replace=False)
        squares = len(fitted) >= 2 * _ROWS_PER_TERM * (2 * d + 1)
        terms = _terms(standard[fitted], squares)
        gram = terms.T @ terms
        coefficients = np.zeros((terms.shape[1], d))
        leverage = np.zeros((n, d))
        for j in range(d):
            kept = np.delete(np.arange(terms.shape[1]), [1 + j, 1 + d + j] if squares else 1 + j)
            ridge = _PENALTY * len(fitted) * np.eye(len(kept))
            inverse = np.linalg.inv(gram[np.ix_(kept, kept)] + ridge)
            part = terms[:, kept]
            target = np.clip(standard[fitted, j], -_FAR, _FAR)
            coefficients[kept, j] = inverse @ (part.T @ target)
            leverage[fitted, j] = ((part @ inverse) * part).sum(axis=1)
        residuals = standard - _terms(standard, squares) @ coefficients
        residuals /= np.maximum(1 - leverage, 0.05)
        # If a column is nearly a function of the others, its residuals are rounding errors. The
        # floor, a minimum tail length, prevents rows with such residuals from being listed.
        tails = _Tails.of(residuals, floor=0.1)
        return cls(coefficients, squares, tails, tails.ratios(residuals))

    def residuals(self, standard: np.ndarray) -> np.ndarray:
        """Return the residuals (m, d) of standardized rows (m, d); NaN if a value is missing."""
        return standard - _terms(standard, self.squares) @ self.coefficients


def _terms(standard: np.ndarray, squares: bool) -> np.ndarray:
    clipped = np.clip(standard, -_FAR, _FAR)
    parts = [np.ones((len(standard), 1)), clipped]
    return np.hstack([*parts, clipped**2 / _FAR] if squares else parts)


def spreads(values: np.ndarray) -> np.ndarray:
    """Return the standard deviations (k,) of columns clipped at their 10% and 90% quantiles.

    If most values of a column are equal and the clipped values are constant, the standard deviation
    without clipping is returned. The result for a constant column is 1. Missing values are ignored.
    """
    low, high = np.nanquantile(values, [0.1, 0.9], axis=0)
    spread = np.nanstd(np.clip(values, low, high), axis=0)
    whole = np.nanstd(values, axis=0)
    return np.where(spread > 0, spread, np.where(whole > 0, whole, 1.0))


def tail_limits(ratios: np.ndarray, n_columns: int) -> np.ndarray:
    """Return thresholds (k,) for k ratios, extrapolated from the tails of reference ratios (n, k).

    From the 90% to the 99% quantile, the tail probability decreases by a factor of ten. The
    extrapolation repeats this step. A step adds the difference of both quantiles (exponential tail)
    or, for heavier tails, multiplies by their ratio (power law). The threshold is also at least 1,
    and at least the maximum of the reference ratios times a factor. The number of steps and the
    factor are larger for many columns, and for small samples, whose quantiles vary. Both were tuned
    on random halves of the tables in experiments/answers.
    """
    steps = math.log10(n_columns / EXPECTED_SHARE) - 1 + 2 / math.sqrt(0.01 * len(ratios))
    middle, low, high = np.quantile(ratios, [0.5, 0.9, 0.99], axis=0)
    exponential = high + steps * (high - low)
    power = high * (high / np.maximum(low, high / 10)) ** steps
    # `heaviness` measures how heavy the tail is: 1.43 for an exponential variable, 0.96 for the
    # absolute value of a normal variable, and 3.9 for a Pareto variable of index 2.
    heaviness = (high - low) / np.maximum(low - middle, 1e-9)
    weight = np.clip((heaviness - 1.43) / 2, 0.0, 1.0)
    beyond = exponential ** (1 - weight) * power**weight
    margin = 1.2 + 0.06 * min(n_columns, 50) + 2 / math.sqrt(len(ratios))
    return np.maximum(np.maximum(beyond, margin * ratios.max(axis=0)), 1.0)
