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
from isodepth.data.results.changes import Change
from isodepth.rowfunctions.families import cut_beyond_gap

# Maximum number of values of each sample that are used to choose a description.
_MAX_VALUES = 10_000
# An alignment explains a change if it leaves at most a fraction _EXPLAINED of the distance, or if
# the remaining distance is below the 5% critical value of the Kolmogorov-Smirnov test. Changes of
# sign and exchanges are stronger statements and must leave at most _EXACTLY. A change of the unit
# must leave at most _MULTIPLIED in samples of any size.
_EXPLAINED, _EXACTLY, _MULTIPLIED, _CRITICAL = 0.5, 0.3, 0.4, 1.36
# Factors between common units, apart from powers of ten: miles, pounds, inches, feet, weeks,
# months, hours, ounces, minutes and years. A conversion is compatible with the values if it leaves
# a distance below the 1% critical value. Any other factor is often caused by another mix of rows,
# and must leave at most _NEARLY_ALL.
_CONVERSIONS = np.array([1.609344, 2.204623, 2.54, 3.28084, 7, 12, 24, 28.34952, 60, 365.25])
_CONVERSION_CRITICAL, _NEARLY_ALL = 1.63, 0.1
# An alignment of the spreads is better than a shift if it leaves at most this fraction of the
# distance that the shift leaves.
_BETTER = 0.6
# A shift or a change of spread is preferred to a description of the shape if it leaves at most this
# fraction of the distance.
_PARTLY = 0.75
# Levels of the quantiles whose differences and ratios are tried as shifts and factors.
_LEVELS = np.arange(1, 10) / 10
# Minimum factor between the medians that is called a change of the unit.
_FACTOR = 1.25
# Minimum fraction of values with the same sign in a column that can change its sign or unit.
_SAME_SIGN = 0.75
# Minimum factor between spreads, and minimum shift in units of the spread, that are described.
_WIDENED, _MOVED = 1.1, 0.2
# Factor between spreads from which on a change of spread is named before a small shift.
_CLEARLY_WIDER = 1.3
# Fraction of values that must be multiples of the resolution of a column.
_MOST = 0.9
# The medians differ significantly if the share of a sample up to the median of the other differs
# from 1/2 by this multiple of sqrt(1/n + 1/m), the limit of a two-sided test at 5%.
_MEDIAN_CRITICAL = 0.98
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


def _distance_beyond(a: np.ndarray, b: np.ndarray, tolerance: float) -> float:
    """Return the Kolmogorov-Smirnov distance that remains if values may move by `tolerance`.

    The values a (n,) and b (m,) are sorted.
    """
    largest = 0.0
    for values, others in ((a, b), (b, a)):
        with np.errstate(over="ignore"):
            up_to = others.searchsorted(values + tolerance, side="right")
        excess = np.arange(1, len(values) + 1) / len(values) - up_to / len(others)
        largest = max(largest, float(excess.max()))
    return largest


def _resolution(values: np.ndarray) -> float:
    """Return the largest power of ten of which most values are multiples; 0 if there is none."""
    for power in range(3, -7, -1):
        # Values of a ColumnPair are multiplied by 0.25.
        ratios = 4.0 * values / 10.0**power
        if np.mean(np.abs(ratios - np.round(ratios)) <= 1e-6) >= _MOST:
            return 0.25 * 10.0**power
    return 0.0


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
        self._a, self._b = (0.25 * np.sort(values[:_MAX_VALUES]) for values in (x, y))
        self.medians = float(np.median(self._a)), float(np.median(self._b))
        self.spreads = tuple(float(mad_spread(v[:, None])[0]) for v in (self._a, self._b))
        sizes = len(self._a), len(self._b)
        self.noise = (sum(sizes) / (sizes[0] * sizes[1])) ** 0.5
        self.critical = _CRITICAL * self.noise
        rounding = _ROUNDING * min(self.spreads)
        self._tolerance = max(rounding, 0.499 * min(_resolution(self._a), _resolution(self._b)))
        self.distance = _distance_beyond(self._a, self._b, rounding)

    def _remaining(self, a: np.ndarray, b: np.ndarray) -> float:
        """Return the distance between aligned values.

        Values that differ by less than half of the resolution of the column are ties: rounded
        values cannot be aligned exactly.
        """
        return _distance_beyond(a, b, self._tolerance)

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
            for factor in self._spread_factors(1)
        )

    def without_both(self) -> float:
        """Return the distance that remains after an alignment of a quantile and the spreads."""
        x, y = self._quantiles()
        return min(
            self._remaining(self._a - low, (self._b - high) * factor)
            for low, high in zip(x, y, strict=True)
            for factor in self._spread_factors(3)
        )

    def median_moved(self) -> bool:
        """Return whether the median moved by more than sampling error explains.

        The median of each sample is compared with the ranks of the other sample, which also works
        for columns with ties, gaps and heavy tails.
        """
        effects = []
        for values, other in ((self._a, self.medians[1]), (self._b, self.medians[0])):
            below, up_to = np.mean(values < other), np.mean(values <= other)
            effects.append(abs(0.5 * float(below + up_to) - 0.5))
        return min(effects) > _MEDIAN_CRITICAL * self.noise

    def _spread_factors(self, n_ranges: int) -> list[float]:
        """Return the ratios of the spreads of X and Y: their MADs and ranges between quantiles."""
        x, y = self._quantiles()
        factors = [self.spreads[0] / self.spreads[1]]
        for i in range(n_ranges):
            before, after = x[-1 - i] - x[i], y[-1 - i] - y[i]
            if before > 0 and after > 0:
                factors.append(float(before / after))
        return factors

    @property
    def limit(self) -> float:
        """Largest remaining distance with which an alignment explains the change."""
        return max(_EXPLAINED * self.distance, min(self.critical, 0.9 * self.distance))

    def exactly(self, remaining: float) -> bool:
        """Return whether an alignment that leaves this distance explains nearly all of it."""
        return remaining <= max(_EXACTLY * self.distance, min(self.critical, 0.9 * self.distance))

    def factor(self) -> float | None:
        """Return the factor between the values of Y and X of one sign, if it explains the change.

        Ratios of quantiles are tried, and the nearest power of ten. The ratio that fits best is
        returned only if it explains nearly all of the change, or if a conversion of units is
        compatible with the values.
        """
        x, y = self._quantiles()
        known = (x != 0) & (y != 0)
        ratios = y[known] / x[known]
        ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
        if not len(ratios):
            return None
        power = 10.0 ** round(math.log10(float(np.median(ratios))))
        left = self._after_division([power, *np.unique(ratios).tolist()])
        factor = min(left, key=left.__getitem__)
        if left[factor] > min(_MULTIPLIED * self.distance, self.without_shift()):
            return None
        nearly_all = left[factor] <= _NEARLY_ALL * self.distance
        return factor if nearly_all or self._is_conversion(power) else None

    def _is_conversion(self, power: float) -> bool:
        """Return whether a conversion, or a power of ten, explains the change up to chance."""
        left = self._after_division([power, *_CONVERSIONS.tolist(), *(1 / _CONVERSIONS).tolist()])
        limit = min(_EXPLAINED * self.distance, _CONVERSION_CRITICAL * self.noise)
        return min(left.values()) <= limit

    def _after_division(self, factors: Sequence[float]) -> dict[float, float]:
        """Return, for each factor, the distance that remains if Y is divided by it."""
        return {each: self._remaining(self._a, self._b / each) for each in factors}

    def mainly_wider(self, spread: Change, unexplained: bool) -> bool:
        """Return whether a change of spread is named before a change of the median.

        `unexplained` is true if a shift does not explain the change, or not as well as a change of
        spread. If the median moved significantly,
        it must have moved by less than half a spread, and the spread must have changed clearly.
        """
        low, high = sorted((spread.before, spread.after))
        clearly = high >= _CLEARLY_WIDER * low
        if not self.median_moved():
            return clearly or unexplained
        near = abs(self.medians[1] - self.medians[0]) < 0.5 * max(self.spreads)
        return clearly and near and unexplained

    def isolated_shares(self) -> tuple[float, float] | None:
        """Return the shares of values beyond a gap in X and Y, if these values explain the change.

        They do if the distance between the other values is below its critical value.
        """
        for a, b in ((self._a, self._b), (-self._a, -self._b)):
            cut = cut_beyond_gap(np.sort(np.concatenate([a, b])), len(a) + len(b))
            if cut is not None:
                first, second = a[a < cut], b[b < cut]
                sizes = len(first), len(second)
                critical = _CRITICAL * (sum(sizes) / max(1, sizes[0] * sizes[1])) ** 0.5
                if min(sizes) and ks_distance(first, second) <= critical:
                    return 1 - sizes[0] / len(a), 1 - sizes[1] / len(b)
        return None

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
            if factor is not None and not 1 / _FACTOR < factor < _FACTOR:
                quantity = f"values multiplied by {factor:.4g}, median"
                return Change("unit", (self.name,), quantity, before, after, pvalue)
        left = self._remaining(self._a, -self._b[::-1])
        if abs(signs[0] - signs[1]) > 0.5 and self.exactly(left):
            return Change("sign", (self.name,), "sign changed, median", before, after, pvalue)
        return None

    def shift(self, pvalue: float, least: float = _MOVED) -> Change | None:
        """Return the change of the median, or of the mean if the medians are nearly equal.

        A change is nearly equal if it is less than `least` spreads and not significant.
        """
        medians = float(np.median(self.x)), float(np.median(self.y))
        with np.errstate(over="ignore", invalid="ignore"):
            means = float(np.mean(self.x)), float(np.mean(self.y))
            deviation = max(float(np.std(self.x)), float(np.std(self.y)))
        near = abs(medians[1] - medians[0]) < least * 4.0 * min(self.spreads)
        if not near or (medians[0] != medians[1] and self.median_moved()):
            return Change("location", (self.name,), "median", *medians, pvalue)
        if abs(means[1] - means[0]) >= least * deviation:
            return Change("location", (self.name,), "mean", *means, pvalue)
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
    isolated = column.isolated_shares() if shares else None
    if isolated is not None:
        apart = 0.1 * abs(isolated[1] - isolated[0])
        same = [
            each
            for each in shares
            if each.kind in ("value", "extremes")
            and abs(each.before - isolated[0]) + abs(each.after - isolated[1]) <= apart
        ]
        if same:
            return [max(same, key=lambda each: each.kind)]  # "value" is more exact than "extremes"
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
        shift, spread = column.without_shift(), column.without_spread()
        # A sentinel or rounding also moves quantiles. A shift or a change of spread must then
        # explain most of the difference.
        limit = _EXPLAINED * column.distance if exact else column.limit
        moved = column.shift(pvalue, _MOVED if shift > limit else 0.5 * _MOVED)
        widened = column.spread(pvalue)
        both = column.without_both() if widened is not None else np.inf
        unexplained = shift > limit or both <= _BETTER * shift
        explained = min(spread, both) <= min(1.1 * shift, limit)
        if widened is not None and explained and column.mainly_wider(widened, unexplained):
            second = [moved] if moved is not None and column.median_moved() else []
            return [widened, *second, *rounded]
        if moved is not None and shift <= min(limit, 1.1 * spread):
            wider = shift > column.critical and both <= _EXPLAINED * shift
            return [moved, *([widened] if widened is not None and wider else []), *rounded]
        if widened is not None and spread <= limit:
            return [widened, *rounded]
    if exact:
        return exact[:1]
    if moved is not None and widened is not None and both <= column.limit:
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
