"""Description of a change of one column in the words that fit it best.

The functions choose between a shift, a change of spread, of shape, of sign, of the unit, and an
exchange of two columns. The choice uses the Kolmogorov-Smirnov distance D between the two samples,
and the distance that remains after an alignment of the samples. An alignment explains the change if
the remaining distance is small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from isodepth.core.scaling import mad_spread
from isodepth.data.changes import Change

# Maximum number of values of each sample that are used to choose a description.
_MAX_VALUES = 10_000
# An alignment explains a change if it leaves at most a fraction _EXPLAINED of the distance, or if
# the remaining distance is below the 5% critical value of the Kolmogorov-Smirnov test. Changes of
# sign and unit, and exchanges, are stronger statements and must leave at most _EXACTLY.
_EXPLAINED, _EXACTLY, _CRITICAL = 0.5, 0.3, 1.36
# A shift or a change of spread is preferred to a description of the shape if it leaves at most this
# fraction of the distance.
_PARTLY = 0.75
# Levels of the quantiles whose differences and ratios are tried as shifts and factors.
_LEVELS = np.arange(1, 10) / 10
# Minimum factor between the medians that is called a change of the unit.
_FACTOR = 1.25
# Minimum fraction of values with the same sign in a column that can change its sign or unit.
_SAME_SIGN = 0.95
# Minimum factor between spreads, and minimum shift in units of the spread, that are described.
_WIDENED, _MOVED = 1.1, 0.2
# Factor between spreads from which on a change of spread is named before a small shift.
_CLEARLY_WIDER = 1.3
# Aligned values that differ by at most this multiple of the spread are ties, because of rounding.
_ROUNDING = 1e-9
# A difference is described by the values beyond a point instead of those up to it if at most this
# fraction of the values lies beyond.
_TAIL = 0.25
# A description by a function with values 0 and 1 is used if it explains at least this fraction of
# the largest difference of shares.
_COMPARABLE = 0.8


def ks_distance(x: np.ndarray, y: np.ndarray) -> float:
    """Return the Kolmogorov-Smirnov distance between the values x (n,) and y (m,).

    Examples
    --------
    >>> ks_distance(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    return float(np.abs(np.subtract(*_distribution_functions(x, y)[1:])).max())


def _distribution_functions(
    x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct values of x and y, and both empirical distribution functions there."""
    values = np.unique(np.concatenate([x, y]))
    below = [np.searchsorted(np.sort(v), values, side="right") / len(v) for v in (x, y)]
    return values, below[0], below[1]


class ColumnPair:
    """Values of one column in two samples, without missing values, and their alignments.

    Parameters
    ----------
    name : str
    x, y : ndarrays of shape (n,) and (m,), not empty
    """

    def __init__(self, name: str, x: np.ndarray, y: np.ndarray) -> None:
        self.name, self.x, self.y = name, x, y
        # Values are multiplied by 0.25, so that differences of very large values do not overflow.
        self._a, self._b = (0.25 * values[:_MAX_VALUES] for values in (x, y))
        self.medians = float(np.median(self._a)), float(np.median(self._b))
        self.spreads = tuple(float(mad_spread(v[:, None])[0]) for v in (self._a, self._b))
        sizes = len(self._a), len(self._b)
        self.critical = _CRITICAL * (sum(sizes) / (sizes[0] * sizes[1])) ** 0.5
        self.distance = self._remaining(self._a, self._b)

    def _remaining(self, a: np.ndarray, b: np.ndarray) -> float:
        """Return the distance between aligned values; differences within rounding are ties."""
        unit = _ROUNDING * min(self.spreads)
        with np.errstate(over="ignore", invalid="ignore"):
            a, b = np.round(a / unit), np.round(b / unit)
        return ks_distance(np.nan_to_num(a), np.nan_to_num(b))

    def _quantiles(self) -> tuple[np.ndarray, np.ndarray]:
        x, y = (np.quantile(v, _LEVELS) for v in (self._a, self._b))
        return x, y

    def without_shift(self) -> float:
        """Return the distance that remains after the best shift by a difference of quantiles."""
        x, y = self._quantiles()
        return min(self._remaining(self._a, self._b - shift) for shift in np.unique(y - x))

    def without_spread(self) -> float:
        """Return the distance that remains after an alignment of the spreads."""
        return min(
            self._remaining(self._a, (self._b - self.medians[1]) * factor + self.medians[1])
            for factor in self._spread_factors()
        )

    def without_both(self) -> float:
        """Return the distance that remains after an alignment of the medians and the spreads."""
        return min(
            self._remaining(self._a - self.medians[0], (self._b - self.medians[1]) * factor)
            for factor in self._spread_factors()
        )

    def _spread_factors(self) -> list[float]:
        """Return the ratios of the spreads of X and Y, measured in two ways."""
        x, y = self._quantiles()
        factors = [self.spreads[0] / self.spreads[1]]
        if x[-1] > x[0] and y[-1] > y[0]:
            factors.append(float((x[-1] - x[0]) / (y[-1] - y[0])))
        return factors

    @property
    def limit(self) -> float:
        """Largest remaining distance with which an alignment explains the change."""
        return max(_EXPLAINED * self.distance, min(self.critical, 0.9 * self.distance))

    def exactly(self, remaining: float) -> bool:
        """Return whether an alignment that leaves this distance explains nearly all of it."""
        return remaining <= max(_EXACTLY * self.distance, min(self.critical, 0.9 * self.distance))

    def factor(self) -> float:
        """Return the factor between the values of Y and X of one sign that aligns them best.

        Ratios of quantiles are tried, and the nearest power of ten.
        """
        x, y = self._quantiles()
        known = (x != 0) & (y != 0)
        ratios = y[known] / x[known]
        ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
        if not len(ratios):
            return 1.0
        power = 10.0 ** round(math.log10(float(np.median(ratios))))
        candidates = [power, *np.unique(ratios).tolist()]
        return min(candidates, key=lambda each: self._remaining(self._a, self._b / each))

    def mainly_wider(self, spread: Change) -> bool:
        """Return whether a change of spread is large, and larger than that of the median."""
        low, high = sorted((spread.before, spread.after))
        moved = abs(self.medians[1] - self.medians[0]) / max(self.spreads)
        return high >= _CLEARLY_WIDER * low and moved < 0.5

    def like(self, other: ColumnPair) -> bool:
        """Return whether the values of Y in this column look like those of X in another."""
        unit = _ROUNDING * min(other.spreads)
        with np.errstate(over="ignore", invalid="ignore"):
            a, b = np.round(other._a / unit), np.round(self._b / unit)
        return self.exactly(ks_distance(np.nan_to_num(a), np.nan_to_num(b)))

    # -- descriptions ---------------------------------------------------------------------------

    def sign_or_unit(self, pvalue: float) -> Change | None:
        """Return a change of the sign or of the unit of the column, if it explains the change."""
        signs = [float(np.mean(v >= 0)) for v in (self._a, self._b)]
        before, after = (4.0 * median for median in self.medians)
        if min(signs) >= _SAME_SIGN or max(signs) <= 1 - _SAME_SIGN:
            factor = self.factor()
            similar = before and 1 / _FACTOR < after / before < _FACTOR
            if similar or 1 / _FACTOR < factor < _FACTOR:
                return None
            left = self._remaining(self._a, self._b / factor)
            if not self.exactly(left) or left > self.without_shift():
                return None
            quantity = f"values multiplied by {factor:.4g}, median"
            return Change("unit", (self.name,), quantity, before, after, pvalue)
        left = self._remaining(self._a, -self._b)
        if abs(signs[0] - signs[1]) > 0.5 and self.exactly(left):
            return Change("sign", (self.name,), "sign changed, median", before, after, pvalue)
        return None

    def shift(self, pvalue: float) -> Change | None:
        """Return the change of the median, or of the mean if the medians are nearly equal."""
        unit = 4.0 * min(self.spreads)
        before, after = float(np.median(self.x)), float(np.median(self.y))
        if abs(after - before) >= _MOVED * unit:
            return Change("location", (self.name,), "median", before, after, pvalue)
        before, after = float(np.mean(self.x)), float(np.mean(self.y))
        if abs(after - before) >= _MOVED * max(float(np.std(self.x)), float(np.std(self.y))):
            return Change("location", (self.name,), "mean", before, after, pvalue)
        return None

    def spread(self, pvalue: float) -> Change | None:
        """Return the change of the interquartile range, or of the standard deviation."""
        for quantity in ("interquartile range", "standard deviation"):
            if quantity == "interquartile range":
                both = [float(np.subtract(*np.quantile(v, [0.75, 0.25]))) for v in (self.x, self.y)]
            else:
                both = [float(np.std(v)) for v in (self.x, self.y)]
            if min(both) > 0 and max(both) >= _WIDENED * min(both):
                return Change("spread", (self.name,), quantity, both[0], both[1], pvalue)
        return None

    def shape(self, pvalue: float) -> Change:
        """Return the share of values on one side of the point with the largest difference.

        If a single value explains the difference, its share is returned.
        """
        values, before, after = _distribution_functions(self.x, self.y)
        at = int(np.abs(before - after).argmax())
        low, high = float(before[at]), float(after[at])
        x, y = np.diff(before, prepend=0.0), np.diff(after, prepend=0.0)
        single = int(np.abs(x - y).argmax())
        if abs(x[single] - y[single]) >= _COMPARABLE * abs(high - low):
            both, value = (float(x[single]), float(y[single])), f"{values[single]:.10g}"
            return Change("value", (self.name,), "share", *both, pvalue, value=value)
        if min(low, high) >= 1 - _TAIL:
            quantity, low, high = f"above {values[at]:.4g}", 1 - low, 1 - high
        elif max(low, high) <= _TAIL:
            quantity = f"at most {values[at]:.4g}"
        else:
            quantity = f"share of values up to {values[at]:.4g}"
            return Change("shape", (self.name,), quantity, low, high, pvalue)
        return Change("extremes", (self.name,), quantity, low, high, pvalue)


def describe_column(
    column: ColumnPair, ranks_changed: bool, shares: Sequence[Change], pvalue: float
) -> list[Change]:
    """Describe the change of the values of a numeric column.

    Parameters
    ----------
    column : ColumnPair
    ranks_changed : bool
        Whether the ranks of the column changed significantly.
    shares : sequence of Change
        Significant changes of functions of this column with values 0 and 1.
    pvalue : float
        Adjusted p-value of the strongest change of the column.

    Returns
    -------
    changes : list of Change
        The description that fits best, and a second one if two changes explain the difference
        together.
    """
    distance = column.distance if ranks_changed else 0.0
    sizes = {change: abs(change.after - change.before) for change in shares}
    largest = max([distance, *sizes.values()])
    best: dict[str, Change] = {}
    for each in sorted(shares, key=sizes.__getitem__):
        if sizes[each] >= _COMPARABLE * largest or each.kind == "precision":
            best[each.kind] = each
    precision = best.get("precision")
    rounded = [precision] if precision is not None and sizes[precision] > 0.5 else []
    exact = [best[kind] for kind in ("value", "precision") if kind in best]
    exact = [each for each in exact if sizes[each] >= _COMPARABLE * largest]
    moved = widened = None
    if ranks_changed:
        known = column.sign_or_unit(pvalue)
        if known is not None:
            return [known]
        moved, widened = column.shift(pvalue), column.spread(pvalue)
        shift, spread = column.without_shift(), column.without_spread()
        # A sentinel or rounding also moves quantiles. A shift or a change of spread must then
        # explain most of the difference.
        limit = _EXPLAINED * column.distance if exact else column.limit
        wider_limit = min(1.1 * shift, max(limit, _PARTLY * column.distance))
        if widened is not None and column.mainly_wider(widened) and spread <= wider_limit:
            return [widened, *rounded]
        if moved is not None and shift <= min(limit, 1.1 * spread):
            wider = shift > column.critical and column.without_both() <= _EXPLAINED * shift
            return [moved, *([widened] if widened is not None and wider else []), *rounded]
        if widened is not None and spread <= limit:
            return [widened, *rounded]
    if exact:
        return exact[:1]
    if moved is not None and widened is not None and column.without_both() <= column.limit:
        return [moved, widened]
    if moved is not None and shift <= _PARTLY * column.distance:
        return [moved]
    if widened is not None and spread <= _PARTLY * column.distance:
        return [widened]
    if "extremes" in best:
        return [best["extremes"]]
    if ranks_changed:
        return [column.shape(pvalue)]
    return [max(shares, key=sizes.__getitem__)]


def exchanged_columns(
    columns: Sequence[ColumnPair], pvalues: dict[str, float]
) -> dict[str, Change]:
    """Return the exchange of values between two columns, for the name of each such column."""
    found: dict[str, Change] = {}
    for i, first in enumerate(columns):
        for second in columns[i + 1 :]:
            if {first.name, second.name} & found.keys():
                continue
            if first.like(second) and second.like(first):
                names = (first.name, second.name)
                before, after = (4.0 * median for median in first.medians)
                pvalue = min(pvalues[name] for name in names)
                change = Change("exchange", names, "median", before, after, pvalue)
                found |= dict.fromkeys(names, change)
    return found


def dependence_change(
    names: tuple[str, str], x: np.ndarray, y: np.ndarray, pvalue: float
) -> Change:
    """Return the change of the rank correlation of two columns, from x (n, 2) to y (m, 2)."""
    from scipy.stats import rankdata

    before, after = (float(_correlation(rankdata(v.astype(float), axis=0))) for v in (x, y))
    return Change("dependence", names, "rank correlation", before, after, pvalue)


def conditional_change(
    names: tuple[str, str], value: str, x: np.ndarray, y: np.ndarray, pvalue: float
) -> Change:
    """Return the change of location of a numeric column within a category of another column.

    `names` are both columns, the numeric one first, and `value` is the category. x and y are the
    values of the numeric column in the rows with this category.
    """
    quantity, before, after = "median", float(np.median(x)), float(np.median(y))
    if before == after:
        quantity, before, after = "mean", float(np.mean(x)), float(np.mean(y))
    return Change("dependence", names, quantity, before, after, pvalue, value=value)


def _correlation(columns: np.ndarray) -> float:
    """Return the Pearson correlation of two columns (n, 2); 0 if a column is constant."""
    if not len(columns):
        return 0.0
    centered = columns - columns.mean(axis=0)
    norms = np.sqrt((centered**2).sum(axis=0))
    return 0.0 if not norms.all() else float(centered[:, 0] @ centered[:, 1] / norms.prod())
