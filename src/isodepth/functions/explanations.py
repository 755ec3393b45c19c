"""Explanations of a change of one column, ordered by how well they fit.

A shift, a change of spread, of the unit or of the sign is an affine map from X to Y. A change of
the share of a single value, of extreme values or of rounded values concerns a part of the rows. For
each explanation, the supposed change is undone, and the two samples are compared again in bins by
the deviance G^2. Explanations are ordered by the deviance plus a penalty for each parameter
(Schwarz 1978), the smallest sum first. A change of sign precedes all others if it explains the
change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isodepth.functions.changes import Change
from isodepth.functions.conversions import (
    AFFINE_CONVERSIONS,
    CONSTANTS,
    CONVERSIONS,
    approximate_factor,
    last_decimal,
    named_constant,
    named_factor,
    on_same_grid,
    roundings,
)
from isodepth.functions.families import Member, is_multiple
from isodepth.geometry.scaling import mad_spread

# Maximum number of values of each sample that are used to choose a description.
_MAX_VALUES = 10_000
# Levels of the quantiles that separate the bins in which samples are compared, and number of values
# that a bin must have.
_BIN_LEVELS = np.array(
    [0.01, 0.02, 0.05, *np.arange(0.1, 0.91, 0.1).round(1).tolist(), 0.95, 0.98, 0.99]
)
_BIN_VALUES = 4
# Units of rounded values, the largest first.
_COARSE_UNITS = [m * 10.0**k for k in range(6, -1, -1) for m in (5.0, 1.0)]
# Half of the width of the bin of the only value of a constant sample, relative to the value.
_ONE_VALUE = 1e-9
# Minimum fraction of a sample for a frequent value.
_FREQUENT = 0.1
# Levels of the quantiles whose differences and ratios are tried as shifts and factors.
_LEVELS = np.arange(1, 20) / 20
# A change of sign or unit, and an exchange of columns, are strong statements. They are made if the
# deviance that they leave has a p-value of at least 0.1%, or is at most a fraction _NEARLY_ALL of
# the deviance without them.
_LEAST_PVALUE, _NEARLY_ALL = 0.001, 0.05
# Factors between common units, which are not estimated from the values.
_ROUNDED_CONVERSIONS = sorted({rounded for unit in CONVERSIONS for rounded in roundings(unit)})
# Maximum difference between the logarithms of an estimated factor, or of a factor between common
# units, and of the ratio of the medians.
_NEAR_MEDIANS, _NEAR_COMMON = 0.05, 0.3
# Minimum share of the values of Y that are multiples of values of X, relative to the estimated
# share of values in Y that X has too, and minimum of this estimate for checking single values.
_KNOWN_VALUES, _DISCRETE = 0.9, 0.5
# Number of standard errors by which this share may be smaller by chance.
_ERRORS = 2.0
# Maximum number of decimals to which values may be rounded after a change of the unit, and relative
# rounding error of a product.
_DECIMALS, _PRODUCT = 6, 1e-9
# Minimum difference of the shares of values of at least 0 that is called a change of sign.
_OTHER_SIGN = 0.5
# Maximum share of the values of X with the sign of most values of Y for which a change of sign is
# preferred to a shift that fits as well.
_SAME_SIGN = 0.05
# Maximum distance from a half of the share of values of X up to the negated median of Y. With 0.2,
# normal values may also move by half of their standard deviation, as with _NEARLY_ALL.
_MEDIAN_RANK = 0.2
# Minimum factor between the values that is called a change of the unit.
_FACTOR = 1.25
# A discrete column determines its factor exactly if a factor _OTHER times as large does not map its
# values to each other.
_OTHER = 1.03
# Logarithm of a number near the largest float64.
_LARGEST_LOG = 709.0
# Minimum number of distinct values of a column of codes, and of rows with its minimum and with its
# maximum. If fewer rows have them, a new sample may have other values by chance.
_FEWEST_CODES, _END_ROWS = 5, 7
# Number of constants with the same fraction that are tried on each side of the estimated shift.
_STEPS = 20
# Two columns exchanged their values only if each of four columns, both in X and in Y, has more than
# _MANY_VALUES distinct values, and if each column changed by at least _EXCHANGED times the deviance
# up to which two samples count as equal. Other changes, such as two shifts, then rarely result in
# the values of the other column by chance.
_MANY_VALUES, _EXCHANGED = 20, 3.0


def ks_distance(x: np.ndarray, y: np.ndarray) -> float:
    """Return the Kolmogorov-Smirnov distance between the values x (n,) and y (m,).

    Examples
    --------
    >>> ks_distance(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    return float(np.abs(np.subtract(*distribution_functions(x, y)[1:])).max())


def distribution_functions(
    x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct values of x and y, and both empirical distribution functions at them."""
    values = np.unique(np.concatenate([x, y]))
    below = [np.searchsorted(np.sort(v), values, side="right") / len(v) for v in (x, y)]
    return values, below[0], below[1]


def deviance_of_counts(first: np.ndarray, second: np.ndarray) -> float:
    """Return the deviance G^2 between counts (K,) of two samples in K bins.

    G^2 is twice the log likelihood ratio between separate and common probabilities of the bins.
    """
    counts = np.stack([first, second]).astype(float)
    expected = counts.sum(axis=0) * counts.sum(axis=1, keepdims=True) / max(1.0, counts.sum())
    ratios = np.divide(counts, expected, out=np.ones_like(counts), where=counts > 0)
    return float(2.0 * (counts * np.log(ratios)).sum())


def _deviance_limit(degrees: int) -> float:
    """Return the 0.999 quantile of the chi-squared distribution with these degrees of freedom."""
    from scipy.special import chdtri

    return float(chdtri(degrees, _LEAST_PVALUE))


def _precision_deviance(a: np.ndarray, b: np.ndarray, unit: float) -> float:
    """Return the deviance between the shares of multiples of a unit in a (n,) and in b (m,)."""
    ones = [np.count_nonzero(is_multiple(values, unit)) for values in (a, b)]
    counts = [np.array([k, len(v) - k]) for k, v in zip(ones, (a, b), strict=True)]
    return deviance_of_counts(counts[0], counts[1])


def _order_statistics(values: np.ndarray) -> np.ndarray:
    """Return the sorted values (n,), or at most `_MAX_VALUES` evenly spaced order statistics."""
    ordered = np.sort(values)
    if len(ordered) <= _MAX_VALUES:
        return ordered
    return ordered[np.linspace(0, len(ordered) - 1, _MAX_VALUES).astype(np.int64)]


def _bin_edges(ordered: np.ndarray) -> np.ndarray:
    """Return the edges (K - 1,) of K bins for a sorted sample, near its quantiles.

    An edge is in the middle between two distinct values, so that rounding errors do not move a
    value to another bin. An edge beside a frequent value, which at least a fraction `_FREQUENT` of
    the sample has, is at most half of the median gap away from it. A small shift of a frequent
    value is then visible in the counts, even if the next value is far away.
    """
    values, counts = np.unique(ordered, return_counts=True)
    if len(values) < 2:
        # Two points enclose the only value: values above it differ from it, as do those below.
        half = np.maximum(_ONE_VALUE * np.abs(values), np.finfo(np.float64).tiny)
        return np.concatenate([values - half, values + half])
    up_to = np.cumsum(counts)[:-1] / len(ordered)
    levels = _BIN_LEVELS[np.minimum(_BIN_LEVELS, 1 - _BIN_LEVELS) * len(ordered) >= _BIN_VALUES]
    if not len(levels):
        levels = np.array([0.5])
    nearest = np.unique(np.abs(up_to[:, None] - levels).argmin(axis=0))
    half_gaps = 0.5 * np.diff(values)
    limits = np.where(counts >= _FREQUENT * len(ordered), np.median(half_gaps), np.inf)
    above = values[:-1] + np.minimum(half_gaps, limits[:-1])
    below = values[1:] - np.minimum(half_gaps, limits[1:])
    points = np.where(counts[:-1] >= counts[1:], above, below)[nearest]
    # Two more points separate the values outside of the range of the sample.
    low = values[0] - min(half_gaps[0], limits[0])
    high = values[-1] + min(half_gaps[-1], limits[-1])
    return np.array([low, *points, high])


def binned_deviance(a: np.ndarray, b: np.ndarray, edges: np.ndarray) -> float:
    """Return the deviance between the counts of two sorted samples in the bins given by edges.

    The first and the last bin are unbounded.
    """
    counts = [np.diff(np.searchsorted(v, edges), prepend=0, append=len(v)) for v in (a, b)]
    return deviance_of_counts(counts[0], counts[1])


def _deviance_after_rounding(a: np.ndarray, b: np.ndarray, edges: np.ndarray) -> float:
    """Return the deviance of `binned_deviance` for two samples of which one may be rounded.

    A value on an edge counts half in each of both bins, because rounding moves values up or down.
    """
    counts = []
    for values in (a, b):
        below = np.searchsorted(values, edges) + np.searchsorted(values, edges, side="right")
        counts.append(np.diff(0.5 * below, prepend=0, append=len(values)))
    return deviance_of_counts(counts[0], counts[1])


def _have_same_range(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether the ranges of two sorted samples differ only by chance.

    If k values of one sample are beyond an end of the other sample, the probability of at least k
    such values is computed for two samples of the same continuous distribution.
    """
    ends = []
    for values, others in ((a, b), (b, a)):
        share = len(values) / (len(values) + len(others))
        beyond = np.count_nonzero(values < others[0]), np.count_nonzero(values > others[-1])
        ends += [share**k for k in beyond]
    return bool(min(ends) >= _LEAST_PVALUE)


class Explanation(NamedTuple):
    """Explanation of a change, and the deviance between both samples after the change is undone.

    Attributes
    ----------
    kind : str
        Kind of the change, as in `Change`, or "both" for location and spread.
    n_parameters : int
        Number of parameters that were fitted to the values. A combination counts as one more,
        because a single change is more likely.
    deviance : float
    factor, shift : float
        The values of Y are `factor` times those of X plus `shift`.
    is_exact : bool
        Whether the values decide the factor of a change of the unit, see `named_factor`. Otherwise
        it is an estimate.
    share_change : Change or None
        Change of the share of rows with some property, such as a single value. If all values are
        mapped by `factor` and `shift`, it is an additional change of the share of rounded values.
    """

    kind: str
    n_parameters: int
    deviance: float
    factor: float = 1.0
    shift: float = 0.0
    share_change: Change | None = None
    is_exact: bool = True


class ColumnPair:
    """Values of one column in samples X and Y, and explanations of its change.

    Parameters
    ----------
    name : str
    x, y : ndarrays of shape (n,) and (m,), not empty
        Values that are not missing, of at most a quarter of the largest float64, so that
        differences do not overflow.
    shares : sequence of (Member, Change)
        Significant changes of functions of this column with values 0 and 1.

    Attributes
    ----------
    has_values : bool
        Whether `x` and `y` are the values themselves, see `isodepth.functions.counted`.
    """

    has_values = True

    def __init__(
        self,
        name: str,
        x: np.ndarray,
        y: np.ndarray,
        shares: Sequence[tuple[Member, Change]] = (),
    ) -> None:
        self.name, self.x, self.y, self.shares = name, x, y, list(shares)
        self.medians = float(np.median(x)), float(np.median(y))
        self._a, self._b = _order_statistics(x), _order_statistics(y)
        # Bins are chosen from the sample with fewer distinct values, which may be rounded.
        self._from_y = len(np.unique(self._b)) < len(np.unique(self._a))
        self._edges = _bin_edges(self._b if self._from_y else self._a)
        # Change of the precision with the largest difference of shares.
        rounded = [each for each in shares if each[0].event == "precision"]
        self._precision = None
        if rounded:
            self._precision = self._coarsest(*max(rounded, key=lambda each: size_of(each[1])))
            others = [each for each in shares if each[0].event != "precision"]
            self.shares = [*others, self._precision]
        self.deviance = self._after(1.0, 0.0) + self._after_precision(1.0, 0.0)

    def _coarsest(self, member: Member, change: Change) -> tuple[Member, Change]:
        """Return a change of precision with the largest unit that divides all values of Y.

        If not all values of Y are multiples of the unit of `member`, both are returned unchanged.
        """
        largest = float(np.abs(self.y).max())
        units = [u for u in _COARSE_UNITS if member.value < u <= largest]
        unit = next((u for u in units if is_multiple(self.y, u).all()), None)
        if change.after < 1.0 or unit is None:
            return member, change
        before = float(is_multiple(self.x, unit).mean())
        return member._replace(value=unit), replace(change, before=before, multiple_of=unit)

    @cached_property
    def locations(self) -> list[tuple[str, tuple[float, float]]]:
        """Names and values in X and Y of the measures of location, the preferred one first."""
        with np.errstate(over="ignore", invalid="ignore"):
            means = float(np.mean(self.x)), float(np.mean(self.y))
        return [("median", self.medians), ("mean", means)]

    @cached_property
    def spreads(self) -> list[tuple[str, tuple[float, float]]]:
        """Names and values in X and Y of the measures of spread, the preferred one first.

        The standard deviation has the denominator n - 1, as in pandas; it is 0 for one value.
        """
        both = (self.x, self.y)
        x, y = (float(np.subtract(*np.quantile(v, [0.75, 0.25]))) for v in both)
        with np.errstate(over="ignore", invalid="ignore"):
            s, t = (float(np.std(v, ddof=min(1, len(v) - 1))) for v in both)
        return [("interquartile range", (x, y)), ("standard deviation", (s, t))]

    def distribution_functions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distinct values, and both empirical distribution functions at them."""
        return distribution_functions(self.x, self.y)

    def ks_distance(self) -> float:
        """Return the Kolmogorov-Smirnov distance between X and Y."""
        return float(np.abs(np.subtract(*self.distribution_functions()[1:])).max())

    def has_median_of(self, explanation: Explanation) -> bool:
        """Return whether the median of Y differs only by chance from the one that is expected.

        The expected median is that of X after the map of the explanation.
        """
        expected = explanation.factor * self.medians[0] + explanation.shift
        rank = 0.5 * float(np.mean(self._b < expected) + np.mean(self._b <= expected))
        error = 0.5 * math.sqrt(1 / len(self._a) + 1 / len(self._b))
        return abs(rank - 0.5) <= _ERRORS * error

    def approximate(self, factor: float) -> float:
        """Return an estimated factor as it is stated, see `approximate_factor`."""
        return approximate_factor(factor, self.supports)

    @property
    def penalty(self) -> float:
        """Penalty of one parameter of an explanation, as a deviance."""
        return math.log(len(self._a) + len(self._b))

    def explains(self, deviance: float) -> bool:
        """Return whether a change is explained, given the deviance that remains after it is undone.

        The deviance may be due to chance, or is at most 5% of `self.deviance`, that between X and
        Y.
        """
        return deviance <= max(_deviance_limit(len(self._edges)), _NEARLY_ALL * self.deviance)

    def _after(self, factor: float, shift: float) -> float:
        """Return the deviance between X and Y after the map x -> factor x + shift is undone."""
        a, b, order = self._a, self._b, 1 if factor > 0 else -1
        with np.errstate(over="ignore", invalid="ignore"):
            if self._from_y:
                a = (a * factor + shift)[::order]
            else:
                b = ((b - shift) / factor)[::order]
        return binned_deviance(a, b, self._edges)

    def _after_precision(self, factor: float, shift: float) -> float:
        """Return the deviance between the shares of rounded values after the map is undone in Y.

        The map is x -> factor x + shift. If Y has more rounded values than X, X is mapped instead,
        because the inverse map usually leaves no rounded values in Y. 0 if the precision did not
        change.
        """
        if self._precision is None:
            return 0.0
        a, b, (member, change) = self._a, self._b, self._precision
        with np.errstate(over="ignore", invalid="ignore"):
            if change.after > change.before:
                a = a * factor + shift
            else:
                b = (b - shift) / factor
        return _precision_deviance(a, b, member.value)

    def _after_rounding(self) -> float:
        """Return the deviance between X and Y of which one may be rounded."""
        return _deviance_after_rounding(self._a, self._b, self._edges)

    def _deviance_of_precision(
        self, a: np.ndarray, b: np.ndarray, removed: Member | None = None
    ) -> float:
        """Return the deviance between the shares of rounded values in parts a of X and b of Y.

        The other values are those for which the function `removed` is 1.
        """
        if self._precision is None:
            return 0.0
        return _precision_deviance(a, b, self._precision[0].value)

    def _keeps_whole_numbers(self, factor: float) -> bool:
        """Return whether X times a factor has about the same share of whole numbers as Y.

        A factor such as 1.5 turns counts into fractions. It does not explain a change if Y has
        whole numbers only.
        """
        with np.errstate(over="ignore"):
            deviance = _precision_deviance(self._a * factor, self._b, 1.0)
        return deviance <= _deviance_limit(1)

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, float]:
        """Distinct values of X, and the estimated share of rows of a new sample with these values.

        This share is 1 minus the fraction of values that occur only once (Good 1953). It is 0 for
        continuous columns. Zeros are excluded, because every factor keeps them.
        """
        values, counts = np.unique(self._a[self._a != 0], return_counts=True)
        once = np.count_nonzero(counts == 1)
        return values, 1.0 - once / max(1, counts.sum())

    @cached_property
    def _half_unit(self) -> float:
        """Half of the unit of the last decimal of Y, such as 0.05; 0 if values are not rounded."""
        units = (10.0**-k for k in range(_DECIMALS + 1))
        return 0.5 * next((unit for unit in units if is_multiple(self._b, unit).all()), 0.0)

    def _keeps_values(self, factor: float) -> bool:
        """Return whether most values of Y are values of X times a factor, if X is discrete.

        Products may be rounded to the decimals of Y. If the values 1 to 5 become 1 to 10, they were
        not multiplied by 2, because half of the new values are odd.
        """
        values, expected = self._distinct
        new_values = self._b[self._b != 0]
        if expected < _DISCRETE or not len(values) or not len(new_values):
            return True
        with np.errstate(over="ignore"):
            products = values * factor
        after = np.searchsorted(products, new_values).clip(1, max(1, len(values) - 1))
        near = products[[after - 1, np.minimum(after, len(values) - 1)]]
        allowed = self._half_unit + _PRODUCT * np.abs(new_values)
        known = (np.abs(near - new_values) <= allowed).any(axis=0)
        sizes = 1 / len(self._a) + 1 / len(new_values)
        error = math.sqrt(expected * (1.0 - expected) * sizes)
        return bool(known.mean() >= _KNOWN_VALUES * expected - _ERRORS * error)

    def _fits(self, factor: float, *, common: bool = False) -> bool:
        """Return whether the factor agrees with the ratio of the medians of Y and X.

        A factor of a discrete column agrees always, because it is exact, see `_keeps_values`. If
        `common`, the factor is one between two common units, such as miles and kilometers. It may
        then differ more, and may agree with the ratio of the means instead.
        """
        if self._distinct[1] >= _DISCRETE:
            return True
        pairs = [self.medians]
        if common:
            pairs.append((float(self._a.mean()), float(self._b.mean())))
        limit = _NEAR_COMMON if common else _NEAR_MEDIANS
        return any(
            before * after > 0
            and abs(math.log(factor) - math.log(abs(after)) + math.log(abs(before))) <= limit
            for before, after in pairs
        )

    def _quantiles(self) -> tuple[np.ndarray, np.ndarray]:
        """Return 19 quantiles of X and of Y, which are values of the samples, not interpolated."""
        x, y = (np.quantile(v, _LEVELS, method="nearest") for v in (self._a, self._b))
        return x, y

    # -- explanations ---------------------------------------------------------------------------

    def explanations(self) -> list[Explanation]:
        """Return the candidate explanations, the best one first.

        The best one has the smallest sum of deviance and penalties. A change of sign precedes it,
        if it explains the change, and if a shift fits worse or nearly all values change their sign.
        Without this condition, a shift of symmetric values from -1 to 1 would be ambiguous. A
        change of the unit that the values decide precedes it, too.
        """
        maps = list(self._maps())
        found = sorted([*self._of_shares(), *maps, *self._units()], key=self._cost)
        shares = float(np.mean(self._a >= 0)), float(np.mean(self._b >= 0))
        sign, negated = self._best("sign", 0, [(-1.0, 0.0)]), -self.medians[1]
        is_sign = is_negated(
            shares,
            float(np.mean(self._a > 0 if shares[1] > 0.5 else self._a < 0)),
            (float(np.mean(self._a < negated)), float(np.mean(self._a <= negated))),
            fits=self.explains(sign.deviance),
            shift_is_worse=maps[0].deviance > sign.deviance + _deviance_limit(1),
        )
        return [*([sign] if is_sign else self._decided()), *found]

    def _ratios(self) -> np.ndarray:
        """Return the positive finite ratios of quantiles of Y to quantiles of X."""
        x, y = self._quantiles()
        same = (np.sign(x) == np.sign(y)) & (x != 0)
        with np.errstate(over="ignore", under="ignore"):
            ratios = y[same] / x[same]
        return ratios[np.isfinite(ratios) & (ratios > 0)]

    def _cost(self, explanation: Explanation) -> float:
        return explanation.deviance + self.penalty * explanation.n_parameters

    def _best(
        self, kind: str, n_parameters: int, maps: Iterable[tuple[float, float]]
    ) -> Explanation:
        """Return the best explanation of the kind `kind` among pairs (factor, shift) in `maps`.

        The best explanation has the smallest sum of deviance and penalties.
        """
        found = []
        for each in maps:
            left, rounded = self._after(*each), self._after_precision(*each)
            found.append(Explanation(kind, n_parameters, left + rounded, *each))
            if self._precision is not None:
                # The share of rounded values is a parameter too, and this is a combination.
                share = self._precision[1]
                found.append(Explanation(kind, n_parameters + 2, left, *each, share))
        return min(found, key=self._cost)

    def _of_shares(self) -> Iterator[Explanation]:
        """Yield the explanations by a change of the share of rows with some property.

        The rows without the property are compared. For example, if 8% of the rows of Y became
        -9999, all rows with -9999 are removed from X and Y. The change is explained if the deviance
        between the other rows is small. No row is removed for a change of the share of rounded
        values ("precision").

        The share is a parameter. For extremes, each bin from which values were removed is a
        parameter too.
        """
        if self._precision is not None:
            yield Explanation(
                "precision", 1, self._after_rounding(), share_change=self._precision[1]
            )
        for member, change in self.shares:
            parts, bins = [], set()
            if member.event == "precision":
                continue
            for values in (self._a, self._b):
                if member.event == "value":
                    removed = values == member.value
                elif member.upper:
                    removed = values >= member.value
                else:
                    removed = values <= member.value
                parts.append(values[~removed])
                bins |= set(np.searchsorted(self._edges, values[removed]).tolist())
            if member.event == "extremes" and 2 * len(parts[1]) < len(self._b):
                continue  # most values of Y changed
            left = binned_deviance(parts[0], parts[1], self._edges)
            left += self._deviance_of_precision(parts[0], parts[1], member)
            n_parameters = 1 if member.event == "value" else 1 + len(bins)
            yield Explanation(change.kind, n_parameters, left, share_change=change)

    def _maps(self) -> Iterator[Explanation]:
        """Yield the explanations by a shift, by a change of spread about the median, and by both.

        If a spread cannot be estimated, only the first is yielded.
        """
        x, y = self._quantiles()
        yield self._best("location", 1, [(1.0, shift) for shift in np.unique(y - x).tolist()])
        factors = self._spread_factors()
        if factors:
            yield self._spread_about(self.medians[1])
            anchors = [*zip(x[1::4].tolist(), y[1::4].tolist(), strict=True)]
            maps = [(f, high - f * low) for low, high in anchors for f in factors]
            yield self._best("both", 3, maps)

    def _spread_about(self, middle: float) -> Explanation:
        """Return the explanation by a change of spread about the center `middle`."""
        return self._best("spread", 1, [(f, middle - f * middle) for f in self._spread_factors()])

    def _units(self) -> Iterator[Explanation]:
        """Yield the explanations "all values were multiplied by a factor" that leave little change.

        The factor is a power of ten, which does not count as a parameter, or another number, which
        counts as one. Only powers of ten are considered if more than a quarter of the values of X
        are negative and more than a quarter are not, or if the medians of X and Y are equal. The
        effect of any other factor is then described as a change of spread.
        """
        ratios = self._ratios()
        if not len(ratios):
            return
        # The median of the logarithms does not overflow.
        power = 10.0 ** round(float(np.median(np.log10(ratios))))
        both = self._is_centered
        # A factor multiplies differences of values too, and one of these ratios may be exact.
        estimated = [*ratios.tolist(), *self._spread_factors()]
        others = [factor for factor in _ROUNDED_CONVERSIONS if self._fits(factor, common=True)]
        others += [factor for factor in estimated if self._fits(factor)]
        others = [factor for factor in others if self._keeps_whole_numbers(factor)]
        for factors, n_parameters in (([power], 0), ([] if both else others, 1)):
            large = [factor for factor in factors if not 1 / _FACTOR < factor < _FACTOR]
            maps = [(factor, 0.0) for factor in large if self._keeps_values(factor)]
            best = self._best("unit", n_parameters, maps) if maps else None
            if best is not None and self.explains(best.deviance):
                yield self._with_stated_factor(best)

    @property
    def _is_centered(self) -> bool:
        """Whether ratios of medians say little about a factor.

        More than a quarter of the values of X are negative, and more than a quarter are not, or the
        medians of X and Y are equal.
        """
        return bool(self.medians[0] == self.medians[1] or 0.25 < np.mean(self._a >= 0) < 0.75)

    @cached_property
    def _estimated_factor(self) -> float:
        """Estimate of a factor of all values: the ratio of the medians of Y and X.

        If it disagrees with the median ratio of spreads, it is the latter. It is 1 if no ratio of
        quantiles or spreads is known.
        """
        ratios = self._spread_factors() or self._ratios()
        log = float(np.median(np.log(ratios))) if len(ratios) else 0.0
        before, after = self.medians
        if before * after > 0 and not self._is_centered:
            of_medians = math.log(abs(after)) - math.log(abs(before))
            if abs(of_medians - log) <= _NEAR_COMMON:
                log = of_medians
        return math.exp(max(-_LARGEST_LOG, min(log, _LARGEST_LOG)))

    @cached_property
    def _named_factor(self) -> float | None:
        """Factor that the values decide, see `named_factor`; None if they do not decide it."""
        return named_factor(self._estimated_factor, self.supports, self._has_grid)

    def _has_grid(self, factor: float, constant: float = 0.0) -> bool:
        """Return whether the decimals show that Y is `factor` times X plus `constant`.

        The decimals of Y are compared with those of X after the map. For maps between common units,
        the decimals of X are also compared with those of Y after the inverse map.
        """
        if on_same_grid(self._a, self._b, factor, constant):
            return True
        listed = bool(constant) or factor in _ROUNDED_CONVERSIONS
        return listed and on_same_grid(self._b, self._a, 1.0 / factor, -constant / factor)

    def _decided(self) -> Iterator[Explanation]:
        """Yield the changes of the unit that the values decide, and that leave no change.

        They are multiplications by a factor, and maps such as from degrees Celsius to degrees
        Fahrenheit, which the decimals of the values must decide.
        """
        maps = [each for each in AFFINE_CONVERSIONS if self._has_grid(*each)]
        factor = self._named_factor
        if factor is not None and not 1 / _FACTOR < factor < _FACTOR:
            maps.append((factor, 0.0))
        for each in maps:
            best = self._best("unit", 0, [each])
            if best.deviance <= _deviance_limit(len(self._edges)):
                yield best

    def _with_stated_factor(self, explanation: Explanation) -> Explanation:
        """Return a change of the unit with the factor to be stated.

        It is exact if the values decide it, or if a discrete column determines it. Otherwise it is
        an estimate.
        """
        factor = self._named_factor
        if factor is None and self._distinct[1] >= _DISCRETE:
            factor = explanation.factor if self._determines(explanation.factor) else None
        if factor is None:
            return explanation._replace(factor=self._estimated_factor, is_exact=False)
        return explanation._replace(factor=factor)

    def _determines(self, factor: float) -> bool:
        """Return whether a discrete column determines `factor` up to half a percent.

        All values of Y are values of X times the factor, and the interval of factors is short.
        """
        with np.errstate(over="ignore"):
            products = np.unique(self._a) * factor
        values = np.unique(self._b)
        nearest = np.abs(values[:, None] - products).min(axis=1)
        others = factor * _OTHER, factor * 1.005, factor / 1.005
        return bool(
            (nearest <= _PRODUCT * np.maximum(1.0, np.abs(values))).all()
            and not self._keeps_values(others[0])
            and not any(map(self.supports, others[1:]))
        )

    def named_constant(self) -> float | None:
        """Return the constant that was added to all values, if the values decide it, else None.

        They decide it in three cases: Y has the decimals of X plus a fraction; frequent values at
        both ends of a column of codes moved by the same constant; or the constant is the only one
        between common units in a short confidence interval.
        """
        a, b = self._a, self._b
        unit = last_decimal(a)
        shift = self.medians[1] - self.medians[0]
        candidates: list[float] = []
        if unit and not is_multiple(b, unit).all():
            # All candidates have the fraction of the first value of Y.
            first = b[0] - unit * round((b[0] - shift) / unit)
            around = [first + k * unit for k in range(-_STEPS, _STEPS + 1)]
            candidates = [float(f"{each:.10g}") for each in around if self._shifted(each)]
            listed = [each for each in CONSTANTS if self._shifted(each)]
            candidates = [each for each in listed or candidates if self._has_grid(1.0, each)]
        elif self._has_moved_codes():
            candidates = [float(b[0] - a[0])]
        named = candidates[0] if len(candidates) == 1 else None
        if named is None:
            named = named_constant(CONSTANTS, self._shifted)
        left = 0.0 if named is None else self._after(1.0, named)
        return named if left <= _deviance_limit(len(self._edges)) else None

    def _has_moved_codes(self) -> bool:
        """Return whether X and Y have 5 to 20 values, all moved by one constant.

        Several rows have the minimum and the maximum. The ranges of X and Y must overlap: those of
        two periods of time do not.
        """
        a, b = self._a, self._b
        codes = [np.unique(values) for values in (a, b)]
        if not len(codes[0]) == len(codes[1]) in range(_FEWEST_CODES, _MANY_VALUES + 1):
            return False
        ends = [np.count_nonzero(v == end) for v in (a, b) for end in (v[0], v[-1])]
        overlap = max(a[0], b[0]) <= min(a[-1], b[-1])
        moved = codes[1] - codes[0]
        return bool(overlap and min(ends) >= _END_ROWS and (moved == moved[0]).all())

    def _shifted(self, constant: float) -> bool:
        """Return whether a constant is in the 99.9% confidence interval of a shift."""
        from scipy.stats import mannwhitneyu

        return bool(
            mannwhitneyu(self._a + constant, self._b, method="asymptotic").pvalue >= _LEAST_PVALUE
        )

    def supports(self, factor: float) -> bool:
        """Return whether a factor is in the 99.9% confidence interval.

        The interval has the factors that a Mann-Whitney test of absolute values does not reject.
        """
        from scipy.stats import mannwhitneyu

        with np.errstate(over="ignore"):
            before, after = np.abs(self._a * factor), np.abs(self._b)
        return bool(mannwhitneyu(before, after, method="asymptotic").pvalue >= _LEAST_PVALUE)

    def _spread_factors(self) -> list[float]:
        """Return the ratios of MADs and of interquantile ranges, Y to X."""
        x, y = self._quantiles()
        before, after = (float(mad_spread(v[:, None])[0]) for v in (self._a, self._b))
        pairs = [(before, after)]
        for i in range(len(x) // 2):
            pairs.append((float(x[-1 - i] - x[i]), float(y[-1 - i] - y[i])))
        ratios = [high / low for low, high in pairs if low > 0]
        # Numbers near the limits of floating point have ratios of 0 or infinity.
        return [ratio for ratio in ratios if 0 < ratio < math.inf]

    def is_rather_a_shift(self) -> bool:
        """Return whether a shift explains at least as much as a change of spread.

        The change of spread is about the median of X.
        """
        # A change of spread about the median of Y would also reduce a shift.
        location, spread = next(self._maps()), self._spread_about(self.medians[0])
        return location.deviance <= spread.deviance

    def like(self, other: ColumnPair) -> bool:
        """Return whether Y in this column has the distribution of X in the column `other`.

        The difference may be due to chance, the ranges and the last decimals agree, and both have
        many distinct values.
        """
        a, b = other._a, self._b
        if min(len(np.unique(a)), len(np.unique(b))) <= _MANY_VALUES:
            return False
        deviance, limit = self.deviance_from(other), _deviance_limit(len(_bin_edges(a)))
        same_decimals = last_decimal(a) == last_decimal(b)
        return deviance <= limit and same_decimals and _have_same_range(a, b)

    def deviance_from(self, other: ColumnPair) -> float:
        """Return the deviance between Y in this column and X in the column `other`."""
        return binned_deviance(other._a, self._b, _bin_edges(other._a))

    @property
    def is_far(self) -> bool:
        """Whether X and Y differ so much that another change hardly results in a third column."""
        return self.deviance >= _EXCHANGED * _deviance_limit(len(self._edges))


def are_exchanged(first: ColumnPair, second: ColumnPair, others: Iterable[ColumnPair] = ()) -> bool:
    """Return whether two columns exchanged their values, rather than changed independently.

    Their distributions, ranges and last decimals are exchanged, both columns have many distinct
    values and changed much, and no column in `others` has values like those that one of them has
    now, or had before.
    """
    if not (first.is_far and second.is_far and first.like(second) and second.like(first)):
        return False
    pair = first, second
    return not any(
        each.like(other) or other.like(each) for each in pair for other in others
        if other.name not in (first.name, second.name)
    )  # fmt: skip


def is_negated(
    shares: tuple[float, float],
    same_sign: float,
    median_ranks: tuple[float, float],
    *,
    fits: bool,
    shift_is_worse: bool,
) -> bool:
    """Return whether the values of X were multiplied by -1, rather than shifted.

    Parameters
    ----------
    shares : (float, float)
        Shares of values of at least 0 in X and in Y. They must differ by more than a half. A shift
        by little more than the median, which also reverses the sign of the median, is then not
        called a change of sign.
    same_sign : float
        Share of values of X with the sign of most values of Y.
    median_ranks : (float, float)
        Shares of values of X below, and up to, the negated median of Y. If the values were
        multiplied by -1, a half is between them.
    fits : bool
        Whether negated values of X have about the distribution of Y.
    shift_is_worse : bool
        Whether shifted values of X fit less well, beyond chance. This is required unless nearly all
        values change their sign.
    """
    low, high = median_ranks
    same_median = low - _MEDIAN_RANK <= 0.5 <= high + _MEDIAN_RANK
    possible = abs(shares[0] - shares[1]) > _OTHER_SIGN and same_median
    return possible and fits and (shift_is_worse or same_sign <= _SAME_SIGN)


def size_of(change: Change) -> float:
    """Return the absolute difference between the shares of rows before and after a change."""
    return abs(change.after - change.before)
