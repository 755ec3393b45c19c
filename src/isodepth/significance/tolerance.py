"""Two-sample test with a tolerance, for differences that contaminated rows cannot explain.

For a function h of a row with values in [0, 1], let G(h) be the difference of its means over X and
Y. The given labels are those of X and Y as passed. If at most a share c of the rows of each sample
is contaminated, these rows change G(h) by at most c. The test compares |G(h)| - c under the given
labels with |G(h)| under permuted labels. It uses the maximum over many functions h that do not
depend on the labels. Some are indicators of half-lines and intervals, and clipped ranks, of
columns, directions, distances from the center and products of columns. Others are indicators of
missing values, single values, extremes and rounded values. One more function, a clipped projection,
is fitted separately to the given labels and to each permutation, always in the same way.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from isodepth._core import quantile, share_differences
from isodepth.functions.families import FAMILIES
from isodepth.geometry.scaling import mad_spread
from isodepth.geometry.weights import contaminated_rows
from isodepth.significance.permutations import (
    WORD,
    Permutations,
    critical_value,
    fewest_labelings,
    map_rows,
    neg_log_p,
)
from isodepth.significance.samples import CENTER, TOTAL, PooledSample
from isodepth.significance.statistics import (
    Advance,
    Feature,
    Findings,
    all_shares,
    combined,
    direction_feature,
    in_blocks,
)

#: Weights w of the statistics. The test statistic is the maximum of -log p + log w over all
#: statistics.
TOLERANT_WEIGHTS = {each.name: each.tolerant_weight for each in FAMILIES} | {
    "columns": 0.10,
    "spreads": 0.06,
    "whole rows": 0.22,
    "directions": 0.05,
    "dependence": 0.12,
    "half-lines": 0.20,
    "intervals": 0.12,
    "learned direction": 0.28,
}
# Number of labelings, the given one included, with which the lower bound for the share of changed
# rows is computed, if its level needs no more. More hardly change a 5% quantile.
_BOUND_LABELINGS = 128
# Maximum number of distinct end points of the half-lines and intervals whose shares of rows are
# compared, for each function of a row.
_CUTS = 64
# Ranks of values are clipped to the interval _INNER to detect changes of location. Ranks of
# distances from the median or center are clipped to _OUTER to detect changes of spread.
_INNER, _OUTER = (0.25, 0.75), (0.5, 0.9)
# The statistic of a single column is the maximum of -log p over location, spread and intervals. The
# -log p of intervals is divided by this number, because intervals also detect changes of location
# and spread.
_SHAPE = 1.5
# Far rows have no influence on changes of location: their score is that of the median. A row is far
# along a column or direction if its value is more than _FAR spreads from the median.
_FAR = 6.0
# Maximum number of pairs of columns whose products are compared.
_PAIRS = 105
# Rows whose distance from the center is more than this multiple of the median distance have no
# influence on a direction.
_FAR_ROW = 3.0
# Coordinates of whitened rows are clipped at _SOUGHT standard deviations in the search for a
# direction. Projections on the direction are clipped at _MEASURED standard deviations.
_SOUGHT, _MEASURED = 2.5, 0.7
_STEPS = 2
# Maximum number of rows to which directions are fitted. If there are more rows, a random subset is
# used.
_LEARNING_ROWS = 20_000


def allowed_share(tolerance: float, n: int, m: int) -> float:
    """Return the difference of means that contaminated rows of samples of n and m rows explain.

    The allowed number of contaminated rows of a sample is `tolerance` times its size, rounded down.
    The result is the larger of their shares, which may be below the tolerance.

    If one sample has more than 1.5 times as many rows, d / max(n, m) is added for the d
    contaminated rows of the smaller sample, but at most 1 / min(n, m). If few rows have a value,
    permutations move most of the d rows to the larger sample, which lowers a difference by this
    number. Without the addition, the given difference would exceed permuted ones that are equal for
    clean rows.
    """
    small, large = sorted((n, m))
    dirty = contaminated_rows(tolerance, small)
    share = max(dirty / small, contaminated_rows(tolerance, large) / large)
    return share + (min(dirty / large, 1 / small) if 2 * large > 3 * small else 0.0)


def beyond(differences: np.ndarray, units: Any, share: float) -> np.ndarray:
    """Return the parts of differences that contaminated rows cannot explain, divided by `units`.

    `differences` (F, B + 1) are absolute differences between the means of F functions over X and
    Y, for the given labels and B permutations. `units` is a number or an array (F,). `share`, the
    allowed share of contaminated rows, is subtracted only from the differences under the given
    labels, [:, 0], which become at least 0.
    """
    kept = differences.copy()
    kept[..., 0] = np.maximum(kept[..., 0] - share, 0.0)
    return kept / np.reshape(units, (-1, 1))


def share_units(means: np.ndarray, n_x: int, n_y: int) -> np.ndarray:
    """Return the divisors (F,) that make differences of F functions with values 0 and 1 comparable.

    A difference is that between the means of a function over X and over Y. `means` (F,) are the
    means over all rows. The divisor is the larger of two standard deviations of the difference: if
    both samples have the same distribution, and if all rows with the rarer of the values 0 and 1
    belong to the smaller sample. The share of these rows in the smaller sample counts as at most
    1/2.
    """
    rare = np.minimum(means, 1 - means)
    n, small = n_x + n_y, min(n_x, n_y)
    alone = np.minimum(rare * n / small, 0.5)
    return np.sqrt(np.maximum(rare * (1 - rare) * n / (n_x * n_y), alone * (1 - alone) / small))


def share_deviations(shares: np.ndarray, n_x: int, n_y: int) -> np.ndarray:
    """Return the standard deviations (F,) of differences of shares under permutation.

    A difference is that between the shares of rows of X and of Y with a value, and `shares` (F,)
    are the shares of all rows.
    """
    return np.sqrt(shares * (1 - shares) * (1 / n_x + 1 / n_y))


def bound_labelings(alpha: float) -> int:
    """Return the maximum number of labelings from which confidence bounds are computed.

    These are the lower bounds for the share of changed rows (`changed_share` of a result), with
    confidence 1 - `alpha`. The number is sufficient for a p-value of `alpha`.
    """
    return max(_BOUND_LABELINGS, fewest_labelings(alpha))


def lower_bounds(pool: PooledSample, alpha: float) -> Bounds:
    """Return lower bounds for the share of changed rows, after a test without a tolerance."""
    fewer = replace(pool, permutations=pool.permutations.first(bound_labelings(alpha)))
    return tolerant_statistics(fewer, 0.0, lambda count: None).lower_bounds(alpha)


class Bounds(NamedTuple):
    """Lower confidence bounds, in [0, 1], for the share of rows that changed.

    The attributes are bounds from different functions of a row.
    """

    changed_share: float  # maximum over all functions of a row
    # Maximum over the functions that depend on one column or pair of columns alone.
    columns: dict[tuple[str, ...], float]
    # Maximum over directions and distances from the center, and the function that attains it.
    joint_share: float
    joint: Feature | None


#: Bounds if nothing can be claimed.
NO_BOUNDS = Bounds(0.0, {}, 0.0, None)


class TolerantFindings(Findings):
    """Statistics of the test with a tolerance, and lower bounds for the share of rows that changed.

    G(h) is the difference of the means of a function h over X and Y. A statistic is the maximum
    over functions h of |G(h)| / u(h), with units u(h) that do not depend on the labels. Functions h
    are clipped ranks or indicators of columns, directions and products, and functions with values 0
    and 1. The attribute `parts` has the squares of these statistics. The allowed share of
    contaminated rows is not subtracted from them.
    """

    def __init__(self, pool: PooledSample, share: float) -> None:
        super().__init__(pool.permutations.count, TOLERANT_WEIGHTS)
        self.pool, self.share = pool, share  # allowed share of contaminated rows of each sample
        # For each statistic: features, |G(h)| under the given labels, the root mean square of
        # G(h) under permutation, and units.
        self.observed: dict[
            str, list[tuple[list[Feature], np.ndarray, np.ndarray, np.ndarray]]
        ] = {}

    def add_differences(
        self,
        name: str,
        differences: np.ndarray,
        features: list[Feature],
        units: Any = 1.0,
        least: Any = 0.0,
    ) -> None:
        """Update the statistic `name` by the differences of the means of F functions h.

        `differences` (F, B + 1) are the absolute differences |G(h)| between the means over X and Y,
        for the given labels and B permutations. `units` are the divisors u(h) of the class, one
        number or an array (F,). `features` describes the functions. `least`, a number or an array
        (F,), is a lower bound on the root mean square of G(h) under permutation: if few rows have a
        value, B permutations may give an estimate near 0.
        """
        units = np.broadcast_to(units, len(differences))
        self.add(name, np.square(differences / units[:, None]), features)
        permuted = np.maximum(np.sqrt(np.square(differences[:, 1:]).mean(axis=1)), least)
        found = (features, differences[:, 0].copy(), permuted, units)
        self.observed.setdefault(name, []).append(found)

    def add_functions(
        self,
        name: str,
        values: np.ndarray,
        features: list[Feature],
        limits: np.ndarray | None = None,
        outer: bool = False,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Update three statistics by F functions of a row: `name`, "half-lines" and "intervals".

        `values` (F, n) are the values of the functions, NaN if missing, and `features` describes
        each function. The statistic `name` is the maximum absolute difference of mean ranks. Ranks,
        as fractions of n, are clipped to [0.5, 0.9] if `outer`, else to [0.25, 0.75]. Values
        outside `limits` (F, 2) get the middle rank. Values between two neighboring end points of
        half-lines have the same rank. The other two statistics are the maximum differences of the
        shares of rows in half-lines and in intervals.

        Return -log p, see `neg_log_p`, of the mean ranks and of the intervals. These are two arrays
        (F, B + 1), for the given labels and B permutations. The allowed share of contaminated rows
        is subtracted from the differences under the given labels.
        """
        count = self.pool.permutations.count
        half_lines, intervals, means = found = np.empty((3, len(values), count))
        rare = np.empty(len(values))
        if limits is None:
            limits = np.full((len(values), 2), np.inf) * [-1, 1]
        largest = np.finfo(np.float64).max
        limits = limits.clip(-largest, largest)
        partly = np.isnan(values.max(axis=1))
        groups = [np.flatnonzero(~partly), *(np.array([f]) for f in np.flatnonzero(partly))]
        for group in filter(len, groups):
            words, factor = self.pool.permutations.words, np.ones(count)
            # Values that are all known are not copied, which would double the memory.
            own = values[group] if partly.any() else values
            if partly[group[0]]:
                present = np.flatnonzero(~np.isnan(own[0]))
                words, factor = _restricted(self.pool, present)
                own = own[:, present]
            found[:, group] = factor * share_differences(
                np.ascontiguousarray(own), words, count, _CUTS, _OUTER if outer else _INNER,
                limits[group], self.pool.n_threads,
            )  # fmt: skip
            rare[group] = (own != quantile(own, 0.5)[:, None]).sum(axis=1)
        rare = np.minimum(rare / values.shape[1], 0.5)
        least = share_deviations(rare, *self.pool.permutations.sizes[:, 0])
        # Clipped ranks of the values of few rows differ from that of the most frequent value by
        # this fraction of the interval.
        width = np.minimum(1.25 * (1 - rare), 1.0) if outer else 0.5
        self.add_differences(name, means, features, least=width * least)
        self.add_differences("half-lines", half_lines, features, least=least)
        self.add_differences("intervals", intervals, features, least=least)
        of_means = neg_log_p(means, beyond(means, 1.0, self.share))
        return of_means, neg_log_p(intervals, beyond(intervals, 1.0, self.share))

    def add_columns(self) -> None:
        columns, names = self.pool.columns, self.pool.names
        away = np.where(np.isnan(columns), np.nan, np.abs(self.pool.points.T))
        features = [Feature("distribution", name, (name,)) for name in names]
        with np.errstate(over="ignore"):
            reach = np.outer(np.broadcast_to(self.pool.divisors, len(columns)), [-_FAR, _FAR])
        limits = np.nanmedian(columns, axis=1)[:, None] + reach
        location, shape = self.add_functions("columns", columns, features, limits)
        spread, _ = self.add_functions("spreads", away, features, outer=True)
        self.add_tests(features, np.max([location, shape / _SHAPE, spread], axis=0))

    def add_directions(self, advance: Advance) -> np.ndarray:
        """Add projections on all directions except the axes; return the outlyingness (n,) of rows.

        The outlyingness of a row is the maximum of |projection - median| / spread over all
        directions, including the axes. `advance` is called with the number of directions after each
        block.
        """
        pool, d = self.pool, len(self.pool.names)
        largest, _ = outlyingness(pool.along(pool.directions[:d]), pool.n_threads)
        for directions in in_blocks(pool.directions[d:], pool, 3):
            values = pool.along(directions)
            away, limits = outlyingness(values, pool.n_threads)
            np.maximum(largest, away, out=largest)
            features = [direction_feature("location", each, pool.names) for each in directions]
            self.add_functions("directions", values, features, limits)
            advance(len(features))
        return largest

    def add_whole_rows(self, outlying: np.ndarray) -> None:
        functions = {**self.pool.whole_rows, "outlyingness": outlying}
        for name, values in functions.items():
            feature = Feature("location" if name == TOTAL else "spread", name)
            each, _ = self.add_functions("whole rows", values[None], [feature], outer=name != TOTAL)
            self.add_tests([feature], each)

    def add_products(self) -> None:
        """Add the products of two columns, and of a column and the distance from the center.

        The statistic "dependence" compares these products.
        """
        distance = self.pool.whole_rows[CENTER]
        columns = np.ascontiguousarray(self.pool.points.T)
        factors = [*columns, distance - np.median(distance)]
        for pairs, features in self.column_pairs(self.pool, _PAIRS):
            products = np.empty((len(pairs), len(distance)))

            def fill(k: int, pairs: np.ndarray = pairs, products: np.ndarray = products) -> None:
                np.multiply(factors[pairs[k, 0]], factors[pairs[k, 1]], out=products[k])

            map_rows(fill, len(pairs), len(distance), self.pool.n_threads)
            each, _ = self.add_functions("dependence", products, features)
            self.add_tests(features, each)

    def add_shares(self) -> None:
        """Add the functions with values 0 and 1, such as indicators of missing values."""
        n_x, n_y = self.pool.n_x, len(self.pool.points) - self.pool.n_x
        for shares in all_shares(self.pool):
            units = share_units(shares.means, n_x, n_y)
            both_sizes = self.pool.permutations.sizes.prod(axis=0)
            differences = np.abs(shares.contrasts) * np.sqrt((n_x + n_y) / both_sizes)
            rare = np.minimum(shares.means, 1 - shares.means) * shares.known
            least = share_deviations(rare, n_x, n_y)
            self.add_differences(shares.name, differences, shares.features, units, least)
            relative = beyond(differences, units, self.share)
            self.add_tests(shares.features, neg_log_p(differences / units[:, None], relative))

    def with_tolerance(self) -> dict[str, np.ndarray]:
        """Return -log p (B + 1,) of each statistic, by name.

        The allowed share of contaminated rows is subtracted from the differences under the given
        labels.
        """
        result = {}
        for name, part in self.parts.items():
            kept = part.copy()
            kept[0] = max(
                float(np.square(np.maximum(each - self.share, 0.0) / units).max())
                for _, each, _, units in self.observed[name]
            )
            result[name] = neg_log_p(part, kept)
        return result

    def lower_bounds(self, alpha: float) -> Bounds:
        """Return lower bounds, with confidence 1 - alpha, for the share of rows that changed.

        The bound is the maximum over functions h of |G(h)| minus a margin, and at least 0. G(h) and
        the unit u(h) are those of the class. For samples of equal sizes the margin is c u(h), with
        the critical value c of the statistic. The bound is then the smallest tolerance that the
        test does not reject at the level alpha. For unequal sizes see `_margins`.
        """
        if not self.parts:
            return NO_BOUNDS  # all columns are constant: no function of a row has information
        each = {name: neg_log_p(part) for name, part in self.parts.items()}
        null = np.sort(combined(each, self.weights)[1:])[::-1]
        if len(null) + 1 < fewest_labelings(alpha):
            return NO_BOUNDS
        n_x, n_y = self.pool.samples.read.n_rows
        allowed = max(0, math.floor(alpha * (len(null) + 1) * (1 + 1e-12)) - 1)
        columns: dict[tuple[str, ...], float] = {}
        largest, joint_share, joint = 0.0, 0.0, None
        for name, part in self.parts.items():
            level = null[allowed] - math.log(self.weights[name])
            critical = math.sqrt(critical_value(part, level))
            # Of few rows with a value, -log p of the critical value may be far below -log alpha.
            least = max(level, -math.log(alpha))
            for features, differences, permuted, units in self.observed[name]:
                bounds = differences - _margins(critical, least, permuted, units, n_x, n_y)
                for feature, bound in zip(features, np.minimum(bounds, 1.0).tolist(), strict=True):
                    largest = max(largest, bound)
                    if self.group_of(feature) is not self.whole:
                        if bound > columns.get(feature.columns, 0.0):
                            columns[feature.columns] = bound
                    elif bound > joint_share and not feature.columns and feature.member is None:
                        # Shares of intervals show changes of any kind.
                        kind = "shape" if name == "intervals" else feature.kind
                        joint_share, joint = bound, feature._replace(kind=kind)
        return Bounds(largest, columns, joint_share, joint)


def _margins(
    critical: float, level: float, permuted: np.ndarray, units: np.ndarray, n_x: int, n_y: int
) -> np.ndarray:
    """Return the margins of error (F,) of the differences between the means of F functions.

    The margin of a function with unit u is c u if the samples have equal sizes. Otherwise, it is
    max(c u, z s), but at most sqrt(r) max(c u, z t), where

    - c is `critical`, the critical value of the statistic under permutation, in units;
    - z is the quantile of the standard normal distribution for the two-sided p-value exp(-level),
      and `level` is -log p of the critical value;
    - s is an upper bound on the standard deviation of the difference: the minimum of u and
      0.5 sqrt(1 / n_x + 1 / n_y). Functions have values in [0, 1], which gives the second bound;
    - r is the ratio of the sample sizes, at least 1;
    - t is `permuted` (F,), the root mean square of the difference under permutation.

    If the sizes and distributions differ, the variance of a difference may be up to r times its
    variance under permutation, because permutations exchange the variances of the samples. The term
    z s accounts for this. For a value of few rows, most permutations have the same difference, and
    the critical value may be far below z t.
    """
    from scipy.special import ndtri_exp

    if n_x == n_y:
        return critical * units
    deviations = np.minimum(units, 0.5 * math.sqrt(1 / n_x + 1 / n_y))
    normal = max(0.0, -float(ndtri_exp(-max(level, 0.0) - math.log(2.0))))
    ratio = max(n_x, n_y) / min(n_x, n_y)
    margins = critical * units
    most = math.sqrt(ratio) * np.maximum(margins, normal * permuted)
    return np.minimum(most, np.maximum(margins, normal * deviations))


def tolerant_statistics(pool: PooledSample, share: float, advance: Advance) -> TolerantFindings:
    """Compute each statistic and its -log p for the given labels and all permutations.

    `share` is the allowed share of contaminated rows of each sample. `advance` is called with the
    number of completed steps, one per direction.
    """
    findings = TolerantFindings(pool, share)
    if len(pool.names):
        findings.add_columns()
        advance(len(pool.names))
        findings.add_whole_rows(findings.add_directions(advance))
    if len(pool.names) > 1:
        findings.add_products()
        values, direction = learned_direction(pool)
        feature = direction_feature("location", direction, pool.names)
        findings.add_differences("learned direction", values[None], [feature])
    findings.add_shares()
    findings.strengths = findings.with_tolerance()
    return findings


def _restricted(pool: PooledSample, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the rows `present` as bits of words (W, rows), and factors (B + 1,).

    See `Permutations.words` for the bits. A function has a value at these rows, and is missing at
    the others. In the other rows, the missing value is replaced by the mean of the function over
    the rows with a value. The difference between the sample means over all rows then equals the
    difference between those over the rows with a value, multiplied by a factor. For a and b rows
    with a value among n and m rows, the factor is (1 / n + 1 / m) / (1 / a + 1 / b). It is 0 if all
    rows with a value are in one sample.
    """
    words = pool.permutations.words.take(present, axis=1)
    known = Permutations(words, pool.permutations.count).sizes
    with np.errstate(divide="ignore"):
        factors = (1 / pool.permutations.sizes).sum(axis=0) / (1 / known).sum(axis=0)
    # If all these rows are in one sample, the factor is 0. The core needs a row in each sample.
    for b in np.flatnonzero(known.min(axis=0) == 0):
        words[b // WORD, 0] ^= np.uint64(1) << np.uint64(b % WORD)
    return words, factors


def outlyingness(values: np.ndarray, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return the outlyingness (n,) of rows, and the limits (F, 2) outside which values are far.

    `values` (F, n) are projections on F directions. The outlyingness of a row is the maximum over
    the directions of |value - median| / spread. The spread is the MAD without a consistency factor;
    see `mad_spread` for a MAD of zero. Values more than six spreads from the median are far.
    """
    limits, largest_number = np.empty((len(values), 2)), np.finfo(np.float64).max
    parts = np.array_split(np.arange(len(values)), min(n_threads, len(values)))

    def largest(part: int) -> np.ndarray:
        out = np.zeros(values.shape[1])
        for f in parts[part]:
            center = quantile(values[f : f + 1], 0.5)[0]
            spread = mad_spread(values[f][:, None])[0]
            limits[f] = center - _FAR * spread, center + _FAR * spread
            with np.errstate(over="ignore"):
                away = np.minimum(np.abs(values[f] - center) / spread, largest_number)
            np.maximum(out, away, out=out)
        return out

    found = map_rows(largest, len(parts), values.shape[1], n_threads)
    return reduce(np.maximum, found), limits


# -- a direction that is fitted to the difference between the samples ------------------------------


def learned_direction(pool: PooledSample) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences (B + 1,) between the samples along directions that are fitted to them.

    The first entry belongs to the given labels, the others to B permutations. Each labeling has its
    own direction, which `_ascend` fits to the difference of its samples. Projections on it are
    clipped to [-0.7, 0.7]. An entry is the absolute difference of their sample means, divided by
    the length 1.4 of this interval. Also return the direction (d,) of the given labels.

    All directions are found by the same few steps, so that all labelings are treated alike. If
    there are more than 20,000 rows, directions are fitted to a random subset, which is the same for
    all labelings. The differences always use all rows, because the tolerance is a share of all
    rows.
    """
    permutations = pool.permutations
    points, to_rows = _whitened(pool.points)
    radius = np.linalg.norm(points, axis=1)
    if radius.any():
        points[radius > _FAR_ROW * np.median(radius[radius > 0])] = 0.0
    if len(points) <= _LEARNING_ROWS:
        values, directions = _ascend(points, permutations)
    else:
        chosen = np.sort(pool.rng.choice(len(points), _LEARNING_ROWS, replace=False))
        fewer = permutations.restricted(chosen, pool.rng)
        _, directions = _ascend(points[chosen], fewer)
        values, _ = _ascend(points, permutations, directions, steps=0)
    return values, _unit(directions[:1] @ to_rows)[0]


def _ascend(
    points: np.ndarray,
    permutations: Permutations,
    start: np.ndarray | None = None,
    steps: int = _STEPS,
) -> tuple[np.ndarray, np.ndarray]:
    """Approximate the unit vector whose clipped projections have the most different sample means.

    Projections of `points` (n, d) are clipped to [-0.7, 0.7]. The search is separate for the given
    labels and for each of B permutations. The first direction is the row of `start` (B + 1, d), by
    default the difference of the sample means of the coordinates, clipped to [-2.5, 2.5]. In each
    of `steps` steps, the next direction is the gradient at the present one plus 0.3 times the row
    of `start`, scaled to length one.

    Return the largest absolute differences that were found (B + 1,), divided by the length 1.4 of
    the interval, and their directions (B + 1, d).
    """
    clipped = points.clip(-_SOUGHT, _SOUGHT)
    if start is None:
        start = permutations.weighted_sums(lambda block, weights: weights @ clipped[block])
    directions = best_directions = _unit(start)
    best = np.zeros(permutations.count)
    for step in range(steps + 1):

        def differences(
            block: slice, weights: np.ndarray, directions: np.ndarray = directions, step: int = step
        ) -> np.ndarray:
            along = directions @ points[block].T
            values = np.einsum("bn,bn->b", weights, along.clip(-_MEASURED, _MEASURED))
            if step == steps:
                return values[:, None]
            ascent = (weights * (np.abs(along) < _MEASURED)) @ clipped[block]
            return np.column_stack([values, ascent])

        found = permutations.weighted_sums(differences)
        values = np.abs(found[:, 0]) / (2 * _MEASURED)
        best_directions = np.where((values > best)[:, None], directions, best_directions)
        best = np.maximum(best, values)
        if step < steps:
            directions = _unit(0.3 * start + found[:, 1:])
    return best, best_directions


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Divide vectors (k, d) by their lengths; the result is float32."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    return (vectors / lengths).astype(np.float32)


def _whitened(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, d) divided by 1.4826 and whitened, and the whitening matrix (d, d).

    The number 1.4826 is the standard deviation of a normal distribution with MAD 1. The covariance
    of the whitened points is about the identity, if points far from the median are clipped. The
    matrix is the identity if there are at most 10 d rows, too few to estimate a covariance.
    """
    n, d = points.shape
    points = points * (1 / 1.4826)
    to_rows = np.eye(d)
    if n > 10 * d:
        covariance = np.cov(points.clip(-_SOUGHT, _SOUGHT), rowvar=False)
        values, vectors = np.linalg.eigh(covariance + 1e-3 * np.eye(d))
        to_rows = (vectors / np.sqrt(values)) @ vectors.T
    # Clipping at 1e6 prevents overflow of squares in float32. It has no effect on the result,
    # because projections are later clipped at much smaller values.
    return (points.clip(-1e6, 1e6) @ to_rows).astype(np.float32), to_rows
