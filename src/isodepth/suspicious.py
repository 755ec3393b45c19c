"""Rows of one sample that do not look like any row of the other sample."""

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

#: Expected share of listed rows per sample without any change, if tails are exponential.
EXPECTED_SHARE = 0.005
#: Samples of at least this size get conformal p-values: the smallest possible one is the
#: reciprocal of half of the size.
CONFORMAL_ROWS = 1000
RULE = (
    "The threshold is a rule, not a guarantee: it extrapolates the tail of the scores of the other "
    "sample. A listed row may be correct, and a wrong row that looks like others is not listed."
)
# Rows of the other sample that the scores are fitted to, and that regressions are fitted to.
_MOST_ROWS, _MOST_FITTED = 20_000, 5_000
_BLOCK_NUMBERS = 1 << 21
# Regressions need this many rows per term, and are left out for more columns than this.
_ROWS_PER_TERM, _MOST_COLUMNS = 3, 100
# Rows beyond this many spreads in any column do not enter the regressions.
_FAR = 8.0
_PENALTY = 1e-3
# Rows with scores above the first number do not serve as a reference, unless their fraction
# exceeds the second: then the whole distribution differs.
_CLEARLY, _MOST_REMOVED = 1.5, 0.2
# Minimum number and fraction of rows with the same unusual value that are described together.
_LEAST_REPEATED, _REPEATED_SHARE = 5, 0.01


class SuspiciousRow(NamedTuple):
    """A row that does not look like the rows of the other sample.

    Attributes
    ----------
    sample : {"X", "Y"}
    row : int
        Index of the row, from 0, among the rows as given.
    score : float
        Ratio to the threshold, at least 1.
    column : str
        Column that gives the row away.
    value : float
        Value of this column.
    usual : pair of float
        Range of about 98% of the values of this column in the other sample; with the second
        reason, of the values that the other columns of the row suggest.
    reason : {"value", "value given the other columns"}
    pvalue : float or None
        Conformal p-value with the correction of Benjamini and Hochberg over all rows of the
        sample; None if one of the samples has fewer than 1000 rows.
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
        """Describe the row; `name` is the name of the sample."""
        given = " given the other columns" if "given" in self.reason else ""
        low, high = (f"{bound:.4g}" for bound in self.usual)
        return (
            f"{name}[{self.row}]: {self.column} = {self.value:.6g}, usually {low} to {high}{given}"
        )

    def __str__(self) -> str:
        return self.text(self.sample)


class OneSidedValue(NamedTuple):
    """A value of a category that occurs in only one sample.

    Attributes
    ----------
    sample : {"X", "Y"}
        The sample that has the value.
    column, value : str
    n_rows : int
        Number of rows with the value.
    row : int
        Index of the first of them.
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
    """One value, such as -9999, that many suspicious rows of a sample have in common.

    Attributes
    ----------
    sample : {"X", "Y"}
    value : float
    columns : tuple of str
        Columns in which all these rows have the value.
    n_rows : int
    fraction : float
        Fraction of the rows of the sample.
    """

    sample: str
    value: float
    columns: tuple[str, ...]
    n_rows: int
    fraction: float

    def text(self, name: str) -> str:
        """Describe the rows; `name` is the name of the sample."""
        more = len(self.columns) - 1
        others = f" and {more} more column{'s' * (more > 1)}" if more else ""
        return (
            f"{self.n_rows} rows of {name} look wrong: {self.columns[0]}{others} = {self.value:.6g}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SuspiciousRows(ResultMixin):
    """Rows of each sample that do not look like any row of the other, most suspicious first.

    Attributes
    ----------
    rows : list of SuspiciousRow
    values : list of OneSidedValue
        Values of categories that occur in only one sample, most frequent first.
    n_rows : pair of int
        Numbers of rows of X and Y as given.
    skipped : tuple of str
        Columns that were not used, because more than 20% of the rows of a sample have values unlike
        the other sample: the whole distribution differs, not single rows.
    repeated : tuple of RepeatedValue
        For each sample, a value that at least half of its suspicious rows, 1% of its rows and five
        rows have in common.

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
        """Convert to plain numbers and strings."""
        return plain(
            {"rows": self.rows, "values": self.values, "n_rows": self.n_rows,
             "skipped": self.skipped, "repeated": self.repeated, "rule": RULE}
        )  # fmt: skip

    def _rows(self) -> dict[str, list[Any]]:
        return {
            name: [getattr(row, name) for row in self.rows]
            for name in ("sample", "row", "score", "column", "value", "reason", "pvalue")
        }

    def summary(self, names: Sequence[str] = ("X", "Y")) -> str:
        """Count the rows of both samples, such as "12 suspicious rows in July"."""
        counts = [len(self.indices(sample)) for sample in "XY"]
        parts = [
            f"{count} suspicious row{'s' * (count > 1)} in {name}"
            for count, name in zip(counts, names, strict=True)
            if count
        ]
        return " and ".join(parts) or "no suspicious rows"

    def __repr__(self) -> str:
        lines = [self.summary(), *map(str, self.rows[:7])]
        if len(self.rows) > 7:
            lines.append(f"and {len(self.rows) - 7} more")
        lines += [str(value) for value in self.values[: 10 - len(lines)]]
        return "\n  ".join([*lines, RULE])


def suspicious_rows(samples: TwoSamples) -> SuspiciousRows:
    """Find the rows of each sample that do not look like any row of the other.

    Each value of a row, its logarithm for positive columns, and its residual given the other
    columns are measured by their distance from the median of the other sample, in units of the
    distance of the 1% or 99% quantile. The threshold of each extrapolates the tail of the same
    ratios in the other sample; the score is the maximum ratio to the threshold. Missing values do
    not contribute.
    """
    names, points = list(samples.columns), list(samples.points)
    skipped: list[str] = []
    scorers: list[RowScorer] = []
    references = points
    while names:
        references = _without_outliers(points[0], points[1])
        # Rows of X are compared with Y, and the other way round.
        scorers = [RowScorer(references[1]), RowScorer(references[0])]
        flagged = np.maximum(*(s.flagged(part) for s, part in zip(scorers, points, strict=True)))
        worst = int(flagged.argmax())
        if flagged[worst] <= _MOST_REMOVED:
            break
        skipped.append(names.pop(worst))
        points = [np.delete(part, worst, axis=1) for part in points]
    rows: list[SuspiciousRow] = []
    if names:
        for side, sample in enumerate("XY"):
            rows += _rows_unlike(scorers[side], references[1 - side], points[side], sample, names)
    rows.sort(key=lambda row: -row.score)
    return SuspiciousRows(
        rows, _one_sided_values(samples), samples.n_rows, tuple(skipped),
        _repeated_values(rows, points, names),
    )  # fmt: skip


def _repeated_values(
    rows: Sequence[SuspiciousRow], points: Sequence[np.ndarray], names: Sequence[str]
) -> tuple[RepeatedValue, ...]:
    repeated = []
    for sample, all_points in zip("XY", points, strict=True):
        own = [row for row in rows if row.sample == sample]
        counts = Counter(row.value for row in own if row.reason == "value")
        for value, count in counts.most_common(1):
            if count >= max(_LEAST_REPEATED, len(own) / 2, _REPEATED_SHARE * len(all_points)):
                listed = [row.row for row in own if row.value == value]
                shared = (all_points[listed] == value).all(axis=0)
                columns = tuple(name for name, every in zip(names, shared, strict=True) if every)
                fraction = count / len(all_points)
                if columns:
                    repeated.append(RepeatedValue(sample, value, columns, count, fraction))
    return tuple(repeated)


def _without_outliers(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Remove the rows far from the other sample, unless they are many, before samples are used.

    A group of wrong rows in the reference would otherwise hide wrong rows of the other sample,
    and compress the scale on which correct rows are measured.
    """
    kept = []
    for points, other in ((x, y), (y, x)):
        far = RowScorer(other).score(points) > _CLEARLY
        kept.append(points[~far] if far.mean() <= _MOST_REMOVED else points)
    return kept


def _rows_unlike(
    scorer: RowScorer,
    reference: np.ndarray,
    points: np.ndarray,
    sample: str,
    names: Sequence[str],
) -> list[SuspiciousRow]:
    scores = scorer.score(points)
    found = np.flatnonzero(scores > 1)
    if not len(found):
        return []
    pvalues = conformal_pvalues(reference, points)
    rows = []
    for i in found:
        j, usual, reason = scorer.explain(points[i])
        pvalue = None if pvalues is None else float(pvalues[i])
        score, value = float(scores[i]), float(points[i, j])
        rows.append(SuspiciousRow(sample, int(i), score, names[j], value, usual, reason, pvalue))
    return rows


def _one_sided_values(samples: TwoSamples) -> list[OneSidedValue]:
    found = []
    for column, both in samples.categories.items():
        counts = [_first_rows(values) for values in both]
        for side, sample in enumerate("XY"):
            for value, (count, row) in counts[side].items():
                if value not in counts[1 - side]:
                    chance = _chance_of_one_side(count, samples.n_rows[side], sum(samples.n_rows))
                    found.append(OneSidedValue(sample, column, value, count, row, chance))
    return sorted(found, key=lambda value: -value.n_rows)


def _first_rows(values: Sequence[str | None]) -> dict[str, tuple[int, int]]:
    """Map each value to its number of rows and its first row."""
    found: dict[str, tuple[int, int]] = {}
    for row, value in enumerate(values):
        if value is not None:
            count, first = found.get(value, (0, row))
            found[value] = (count + 1, first)
    return found


def _chance_of_one_side(count: int, size: int, total: int) -> float:
    logs = (math.lgamma(size + 1) - math.lgamma(size - count + 1)) - (
        math.lgamma(total + 1) - math.lgamma(total - count + 1)
    )
    return math.exp(logs)


def conformal_pvalues(reference: np.ndarray, points: np.ndarray) -> np.ndarray | None:
    """Return conformal p-values (m,) with the correction of Benjamini and Hochberg.

    Half of the reference defines the scores, and the other half calibrates them. None for
    samples of fewer than 1000 rows.
    """
    if min(len(reference), len(points)) < CONFORMAL_ROWS:
        return None
    order = rng_for(0, "splits").permutation(len(reference))
    middle = len(order) // 2
    scorer = RowScorer(reference[order[:middle]])
    calibration = np.sort(scorer.score(reference[order[middle:]]))
    larger = len(calibration) - np.searchsorted(calibration, scorer.score(points), side="left")
    pvalues = (1 + larger) / (1 + len(calibration))
    ranked = np.argsort(pvalues)
    steps = pvalues[ranked] * len(points) / np.arange(1, len(points) + 1)
    adjusted = np.empty(len(points))
    adjusted[ranked] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted


class _Tails(NamedTuple):
    """Medians and tail lengths (k,) of k functions of a row, in the reference sample."""

    median: np.ndarray
    below: np.ndarray
    above: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, floor: float = 0.0) -> _Tails:
        low, middle, high = np.nanquantile(values, [0.01, 0.5, 0.99], axis=0)
        least = np.maximum(spreads(values) / 2, floor)
        return cls(middle, np.maximum(middle - low, least), np.maximum(high - middle, least))

    def ratios(self, values: np.ndarray) -> np.ndarray:
        """Return the distances (m, k) from the median in tail lengths; 0 for missing values."""
        deviation = values - self.median
        ratios = np.where(deviation > 0, deviation / self.above, -deviation / self.below)
        return np.nan_to_num(ratios, nan=0.0, posinf=np.inf)


class RowScorer:
    """Scores of rows relative to a reference sample (n, d), which may have missing values."""

    def __init__(self, reference: np.ndarray) -> None:
        rng = rng_for(0, "subsamples")
        if len(reference) > _MOST_ROWS:
            reference = reference[rng.choice(len(reference), _MOST_ROWS, replace=False)]
        reference = np.asarray(reference, dtype=np.float64)
        self.values = _Tails.of(reference)
        self.floors = _log_floors(reference)
        transformed = self._transform(reference)
        self.center, self.spread = np.nanmedian(transformed, axis=0), spreads(transformed)
        standard = (transformed - self.center) / self.spread
        self.logs = _Tails.of(standard)
        complete = ~np.isnan(standard).any(axis=1)
        self.regression = _Regressions.fit(standard[complete], rng)
        ratios = self._ratios(reference)
        if self.regression is not None:
            ratios[complete, 2 * reference.shape[1] :] = self.regression.own_ratios
        self.limits = tail_limits(ratios, reference.shape[1])

    def score(self, points: np.ndarray) -> np.ndarray:
        """Return the scores (m,) of points (m, d), as ratios to the threshold."""
        size = max(1, _BLOCK_NUMBERS // (8 * points.shape[1]))
        blocks = [
            self._relative(points[start : start + size]).max(axis=1)
            for start in range(0, len(points), size)
        ]
        return np.concatenate(blocks)

    def flagged(self, points: np.ndarray) -> np.ndarray:
        """Return the fraction (d,) of points (m, d) above the threshold of each column."""
        d = points.shape[1]
        size = max(1, _BLOCK_NUMBERS // (8 * d))
        counts = np.zeros(d)
        for start in range(0, len(points), size):
            above = self._relative(points[start : start + size]) > 1
            counts += above.reshape(len(above), -1, d).any(axis=1).sum(axis=0)
        return counts / len(points)

    def explain(self, row: np.ndarray) -> tuple[int, tuple[float, float], str]:
        """Return the column of one row (d,) with the largest score, its usual range, the reason."""
        d = len(row)
        ratios = self._relative(row[None])[0]
        # A value that is unusual by itself needs no other columns as an explanation.
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
        """Take logarithms of positive columns, continued linearly far below their minimum."""
        transformed = points.astype(np.float64, copy=True)
        for j in np.flatnonzero(self.floors > 0):
            floor = self.floors[j]
            below = np.minimum(points[:, j] - floor, 0) / floor
            transformed[:, j] = np.log(np.maximum(points[:, j], floor)) + below
        return transformed

    def _ratios(self, points: np.ndarray) -> np.ndarray:
        """Return ratios of the columns, of their logarithms, and of residuals: (m, 2d or 3d).

        Rows with missing values have no residuals.
        """
        standard = (self._transform(points) - self.center) / self.spread
        parts = [self.values.ratios(points), self.logs.ratios(standard)]
        if self.regression is not None:
            parts.append(self.regression.tails.ratios(self.regression.residuals(standard)))
        return np.hstack(parts)

    def _relative(self, points: np.ndarray) -> np.ndarray:
        return self._ratios(points) / self.limits


@dataclass(frozen=True)
class _Regressions:
    """Ridge regression of each standardized column on the others and on their squares.

    Attributes
    ----------
    coefficients : ndarray of shape (f, d)
        Terms are a constant, the columns and, with enough rows, their squares.
    squares : bool
    tails : _Tails
        Tails of the residuals in the reference.
    own_ratios : ndarray of shape (n, d)
        Ratios of the reference itself, from leave-one-out residuals.
    """

    coefficients: np.ndarray
    squares: bool
    tails: _Tails
    own_ratios: np.ndarray

    @classmethod
    def fit(cls, standard: np.ndarray, rng: np.random.Generator) -> _Regressions | None:
        """Fit to complete rows (n, d); None for too few rows, or too few or too many columns."""
        n, d = standard.shape
        near = (np.abs(standard) <= _FAR).all(axis=1)
        used = np.flatnonzero(near) if near.sum() > 0.6 * n else np.arange(n)
        if d < 2 or d > _MOST_COLUMNS or len(used) < _ROWS_PER_TERM * (d + 1):
            return None
        fitted = rng.choice(used, min(len(used), _MOST_FITTED), replace=False)
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
        # Columns that are nearly functions of the others have residuals without meaning.
        tails = _Tails.of(residuals, floor=0.1)
        return cls(coefficients, squares, tails, tails.ratios(residuals))

    def residuals(self, standard: np.ndarray) -> np.ndarray:
        """Return the residuals (m, d); NaN for rows with missing values."""
        return standard - _terms(standard, self.squares) @ self.coefficients


def _terms(standard: np.ndarray, squares: bool) -> np.ndarray:
    clipped = np.clip(standard, -_FAR, _FAR)
    parts = [np.ones((len(standard), 1)), clipped]
    return np.hstack([*parts, clipped**2 / _FAR] if squares else parts)


def _log_floors(reference: np.ndarray) -> np.ndarray:
    """Return a positive lower end (d,) for positive columns; else 0."""
    floors = np.zeros(reference.shape[1])
    for j, column in enumerate(reference.T):
        known = column[~np.isnan(column)]
        if len(known) and known.min() > 0:
            floors[j] = known.min() / 1000
    return floors


def spreads(values: np.ndarray) -> np.ndarray:
    """Return standard deviations (k,) of values cut off at their 10% and 90% quantiles.

    If more than 80% of the values are equal, the standard deviation of all values; 1 if all are.
    """
    low, high = np.nanquantile(values, [0.1, 0.9], axis=0)
    spread = np.nanstd(np.clip(values, low, high), axis=0)
    whole = np.nanstd(values, axis=0)
    return np.where(spread > 0, spread, np.where(whole > 0, whole, 1.0))


def tail_limits(ratios: np.ndarray, n_columns: int) -> np.ndarray:
    """Extrapolate the tails of ratios (n, k) beyond their 99% quantiles and their maxima.

    Each step divides the probability by ten, as from the 90% to the 99% quantile. The tail
    continues exponentially, or as a power if it is heavier than exponential. The number of steps
    and the margin above the maximum increase with the number of columns, and for small samples,
    whose quantiles vary. Both were tuned on halves of the tables of experiments/answers.
    """
    steps = math.log10(n_columns / EXPECTED_SHARE) - 1 + 2 / math.sqrt(0.01 * len(ratios))
    middle, low, high = np.quantile(ratios, [0.5, 0.9, 0.99], axis=0)
    exponential = high + steps * (high - low)
    power = high * (high / np.maximum(low, high / 10)) ** steps
    # This ratio is 1.43 for exponential tails, 0.96 for normal ones, and 3.9 for a Pareto
    # distribution of index 2.
    heaviness = (high - low) / np.maximum(low - middle, 1e-9)
    weight = np.clip((heaviness - 1.43) / 2, 0.0, 1.0)
    beyond = exponential ** (1 - weight) * power**weight
    margin = 1.2 + 0.06 * min(n_columns, 50) + 2 / math.sqrt(len(ratios))
    return np.maximum(np.maximum(beyond, margin * ratios.max(axis=0)), 1.0)
