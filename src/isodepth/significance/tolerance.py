"""Two-sample test with a tolerance, for differences that contaminated rows cannot explain.

For a function h of a row with values in [0, 1], let G(h) be the difference of its means over X and
Y. If at most a share c of the rows of each sample is contaminated, these rows change G(h) by at
most c. The test compares |G(h)| - c under the given labels with |G(h)| under permuted labels. It
uses the maximum over many functions h that do not depend on the labels. These are indicators of
half-lines and intervals, and clipped ranks, of columns, directions, distances from the center and
products of columns. One more function, a clipped projection, is fitted separately to the given
labels and to each permutation, always in the same way.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from isodepth._core import quantile, share_differences
from isodepth.core.scaling import mad_spread
from isodepth.core.weights import contaminated_rows
from isodepth.significance.features import (
    COSINES,
    Feature,
    Findings,
    column_feature,
    column_kinds,
    in_blocks,
    shares_feature,
)
from isodepth.significance.permutations import (
    Permutations,
    combined,
    map_rows,
    neg_log_p,
    permutation_pvalue,
    precision,
    rank_groups,
)
from isodepth.significance.samples import CENTER, TOTAL, PooledSample, direction_text

#: Weights w of the statistics. The test statistic is the maximum of -log p + log w over all
#: statistics.
TOLERANT_WEIGHTS = {
    "columns": 0.10,
    "spreads": 0.06,
    "whole rows": 0.22,
    "directions": 0.05,
    "dependence": 0.06,
    "half-lines": 0.20,
    "intervals": 0.12,
    "learned direction": 0.28,
    "categories": 0.10,
    "missing": 0.10,
}
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
# Far rows have no influence on changes of location. A row is far along a column or direction if its
# value is more than _FAR spreads from the median. In the search for a direction, it is far if its
# distance from the center is more than _FAR_ROW times the median distance.
_FAR, _FAR_ROW = 6.0, 3.0
# Standardized values are clipped to this absolute value, so that the product of two values does not
# overflow.
_HUGE = 1e150
# Maximum number of pairs of columns whose products are compared.
_PAIRS = 105


def tolerant_pvalue(parts: dict[str, np.ndarray], share: float) -> float:
    """Return the p-value if a given share of the rows of each sample may be contaminated.

    `parts` has the name and the values (B + 1,) of each statistic, for the given labels and B
    permutations. A statistic is a maximum of absolute differences between sample means. The share
    is not yet subtracted.
    """
    each = {name: neg_log_p_beyond(part, share) for name, part in parts.items()}
    scores = combined(each, TOLERANT_WEIGHTS)
    return float(permutation_pvalue(scores[0], scores[1:]))


def smallest_tolerance(parts: dict[str, np.ndarray], alpha: float) -> float:
    """Return the smallest tolerance, in steps of 0.0001, for which the p-value is above `alpha`.

    The result is at most 1. `parts` are the statistics, as in `tolerant_pvalue`.
    """
    steps = 10_000

    def accepted(step: int) -> bool:
        """Return whether the p-value for the tolerance `step` / 10,000 is above alpha.

        The p-value is a nondecreasing function of the tolerance, so bisection can be used.
        """
        return tolerant_pvalue(parts, step / steps) > alpha

    return bisect_left(range(steps), True, key=accepted) / steps


def neg_log_p_beyond(statistics: np.ndarray, share: float) -> np.ndarray:
    """Return -log p of statistics (..., B + 1), with `share` subtracted from observed statistics.

    The last axis has the statistics of the given labels, which are observed, and then those of B
    permutations.
    """
    kept = statistics.copy()
    kept[..., 0] = np.maximum(kept[..., 0] - share, 0.0)
    return neg_log_p(statistics, kept)


def allowed_share(tolerance: float, n: int, m: int) -> float:
    """Return the larger of the allowed shares of contaminated rows in samples of n and m rows.

    The allowed number of contaminated rows of a sample is an integer, so the share may differ from
    the tolerance.
    """
    return max(contaminated_rows(tolerance, size) / size for size in (n, m))


def whole_row_tolerance(share: float, sizes: tuple[int, int]) -> float:
    """Return the smallest tolerance that allows at least this share of contaminated rows.

    The tolerance is a whole number of rows divided by one of the two sample sizes.

    Examples
    --------
    >>> whole_row_tolerance(0.04, (30, 20))
    0.05
    """
    return min(math.ceil(share * size * (1 - 1e-12)) / size for size in sizes)


def tolerant_statistics(
    rows: PooledSample, share: float, alpha: float, advance: Callable[[int], None]
) -> Findings:
    """Compute each statistic and its -log p for the given labels and all permutations.

    `share` is the allowed share of contaminated rows of each sample. The result also has the
    smallest tolerance for which the p-value is above `alpha`.
    """
    search = _Search(rows, share)
    findings = search.findings
    if rows.points.shape[1]:
        search.columns()
        advance(rows.points.shape[1])
        search.whole_rows(search.directions(advance))
    if rows.points.shape[1] > 1:
        search.products()
        values, text = learned_direction(rows)
        findings.add("learned direction", values[None], [Feature(("location",), text)])
    search.indicators()
    findings.neg_log_p = {
        name: neg_log_p_beyond(part, share) for name, part in findings.parts.items()
    }
    findings.smallest_tolerance = smallest_tolerance(findings.parts, alpha)
    return findings


class _Search:
    """Statistics of the test with a tolerance, which the methods add to `findings`.

    A statistic is |G(h)|, the absolute difference between the means of a function h in the two
    samples. Functions h are clipped ranks or indicators of columns, directions and products.
    """

    def __init__(self, rows: PooledSample, share: float) -> None:
        self.rows, self.share = rows, share
        self.findings = Findings(rows.permutations.count, TOLERANT_WEIGHTS)

    def add_functions(
        self, name: str, values: np.ndarray, features: list[Feature], far: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Add values (F, n) of F functions to the statistics `name`, "half-lines" and "intervals".

        The statistic `name` is the difference of mean clipped ranks, and `far` (F, n) is True for
        rows without influence on the mean rank. Return -log p of the mean ranks and of the
        intervals, of shape (F, B + 1) each, for the given labels and B permutations. The allowed
        share of contaminated rows is subtracted from the differences for the given labels.
        """
        permutations, n_threads = self.rows.permutations, self.rows.n_threads
        values = np.ascontiguousarray(values)
        half_lines, intervals, orders = share_differences(
            values, permutations.words, permutations.count, _CUTS, n_threads
        )
        outer = [feature.kinds[0] == "spread" for feature in features]
        means = mean_differences(permutations, values, outer, far, n_threads, orders)
        self.findings.add(name, means, features)
        self.findings.add("half-lines", half_lines, features)
        shapes = [feature._replace(kinds=("shape",)) for feature in features]
        self.findings.add("intervals", intervals, shapes)
        return neg_log_p_beyond(means, self.share), neg_log_p_beyond(intervals, self.share)

    def columns(self) -> None:
        columns, names, away = self.rows.columns, self.rows.names, np.abs(self.rows.points.T)
        features = [column_feature(name, "location") for name in names]
        location, shape = self.add_functions("columns", columns, features, away > _FAR)
        features = [column_feature(name, "spread") for name in names]
        spread, _ = self.add_functions("spreads", away, features)
        kinds = column_kinds(self.rows, self.rows.cosine_powers(columns, COSINES), self.share)
        features = [column_feature(name, *each) for name, each in zip(names, kinds, strict=True)]
        self.findings.columns.add(features, np.max([location, shape / _SHAPE, spread], axis=0))

    def directions(self, advance: Callable[[int], None]) -> np.ndarray:
        """Add projections on all directions except the axes; return the outlyingness (n,) of rows.

        The outlyingness of a row is the maximum of |projection - median| / spread over all
        directions, including the axes.
        """
        rows, d = self.rows, self.rows.points.shape[1]
        largest = outlyingness(rows.along(rows.directions[:d]), rows.n_threads).max(axis=0)
        for directions in in_blocks(rows.directions[d:], rows, 32):
            values = rows.along(directions)
            away = outlyingness(values, rows.n_threads)
            np.maximum(largest, away.max(axis=0), out=largest)
            labels = [direction_text(direction, rows.names) for direction in directions]
            features = [Feature(("location",), label) for label in labels]
            self.add_functions("directions", values, features, away > _FAR)
            advance(len(features))
        return largest

    def whole_rows(self, outlying: np.ndarray) -> None:
        functions = {**self.rows.whole_rows, "outlyingness": outlying}
        features = [
            Feature(("location" if name == TOTAL else "spread",), name) for name in functions
        ]
        each, _ = self.add_functions("whole rows", np.stack([*functions.values()]), features)
        self.findings.whole.add(features, each)

    def products(self) -> None:
        """Add the products of two columns, and of a column and the distance from the center.

        They detect changes of dependence.
        """
        distance = self.rows.whole_rows[CENTER]
        factors = [*self.rows.points.T.clip(-_HUGE, _HUGE), distance - np.median(distance)]
        for pairs, features, family in self.findings.column_pairs(self.rows, _PAIRS):
            products = np.stack([factors[a] * factors[b] for a, b in pairs])
            each, _ = self.add_functions("dependence", products, features)
            family.add(features, each)

    def indicators(self) -> None:
        """Add the shares of all categories, and the shares of missing values of all columns."""
        for category in self.rows.categories:
            values = mean_differences(self.rows.permutations, category.indicators())
            each = neg_log_p_beyond(values, self.share)
            feature = shares_feature(category, each[:, 0])
            self.findings.add("categories", values, [feature] * len(values))
            self.findings.columns.add([feature], each.max(axis=0)[None])
        if (missing := self.rows.missing) is not None:
            values = mean_differences(missing.permutations, missing.indicators)
            features = [column_feature(name, "missing") for name in missing.names]
            self.findings.add("missing", values, features)
            self.findings.columns.add(features, neg_log_p_beyond(values, self.share))


def outlyingness(values: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return |value - median| / spread for values (F, n); median and spread are those of a row."""

    def away(f: int) -> np.ndarray:
        center = quantile(values[f : f + 1], 0.5)
        return np.abs(values[f] - center) / mad_spread(values[f][:, None])

    return np.stack(map_rows(away, len(values), values.shape[1], n_threads))


def mean_differences(
    permutations: Permutations,
    values: np.ndarray,
    outer: Sequence[bool] | None = None,
    far: np.ndarray | None = None,
    n_threads: int = 1,
    orders: np.ndarray | None = None,
) -> np.ndarray:
    """Return absolute differences (F, B + 1) between the sample means of clipped ranks.

    The last axis has the given labels and B permutations. Ranks are computed within each row of
    `values` (F, n), clipped, and scaled to [0, 1]. Row f is clipped to an interval of large ranks
    if `outer[f]`, and otherwise to an interval around the median. Values marked by `far` (F, n) get
    the score of the median. `orders` (F, n) are the sorting orders of the rows of `values`, if they
    are known.
    """
    values = np.ascontiguousarray(values, np.float64)
    scores = np.empty(values.shape, precision(permutations.n_rows))

    def fill(f: int) -> None:
        at, sizes, ranks = rank_groups(values[f], None if orders is None else orders[f])
        clipped = ranks.clip(*(_OUTER if outer and outer[f] else _INNER))
        clipped -= clipped[0]
        # Scores are centered at 0, which reduces the rounding errors of sums in float32.
        scores[f, at] = np.repeat(clipped / (clipped[-1] or 1.0) - 0.5, sizes)
        if far is not None:
            scores[f, far[f]] = 0.0

    map_rows(fill, len(values), values.shape[1], n_threads)
    n_x, n_y = permutations.sizes
    return np.abs(permutations.contrasts(scores)) * np.sqrt(permutations.n_rows / (n_x * n_y))


# -- a direction that is fitted to the given labels and to each permutation ------------------------

# Coordinates of whitened rows are clipped at _SOUGHT standard deviations in the search for a
# direction. Projections on the direction are clipped at _MEASURED standard deviations.
_SOUGHT, _MEASURED = 2.5, 0.7
_STEPS = 2
# Maximum number of rows to which directions are fitted. If there are more rows, a random subset is
# used.
_LEARNING_ROWS = 20_000


def learned_direction(rows: PooledSample) -> tuple[np.ndarray, str]:
    """Return absolute differences (B + 1,) between the sample means of clipped projections.

    For the given labels and each of B permutations, the direction of the projections is fitted to
    the difference of the samples. Also return a description of the direction of the given labels.

    All directions are found by the same few steps of gradient ascent, so that all permutations are
    treated alike. If there are many rows, directions are fitted to a random subset, which is the
    same for all permutations. The differences always use all rows, because the tolerance is a share
    of all rows.
    """
    permutations = rows.permutations
    points, to_rows = _whitened(rows.points)
    radius = np.linalg.norm(points, axis=1)
    if radius.any():
        points[radius > _FAR_ROW * np.median(radius[radius > 0])] = 0.0
    if len(points) <= _LEARNING_ROWS:
        values, directions = _ascend(points, permutations)
    else:
        chosen = np.sort(rows.rng.choice(len(points), _LEARNING_ROWS, replace=False))
        _, directions = _ascend(points[chosen], permutations.restricted(chosen, rows.rng))
        values, _ = _ascend(points, permutations, directions, steps=0)
    return values, direction_text(_unit(directions[:1] @ to_rows)[0], rows.names)


def _ascend(
    points: np.ndarray,
    permutations: Permutations,
    start: np.ndarray | None = None,
    steps: int = _STEPS,
) -> tuple[np.ndarray, np.ndarray]:
    """Maximize the difference between the sample means of clipped projections over directions.

    Gradient ascent is used for the given labels and for each of B permutations. Return the largest
    absolute differences (B + 1,), divided by the length of the clipping interval, and their
    directions (B + 1, d). The ascent starts from the rows of `start` (B + 1, d), by default the
    differences of the sample means.
    """
    clipped = points.clip(-_SOUGHT, _SOUGHT)
    if start is None:
        start = sum(weights @ clipped[block] for block, weights in _mean_weights(permutations))
    directions = leaders = _unit(start)
    best = np.zeros(permutations.count, np.float32)
    for step in range(steps + 1):
        total, ascent = np.zeros(permutations.count), 0.3 * start
        for block, weights in _mean_weights(permutations):
            along = directions @ points[block].T
            if step < steps:
                ascent += (weights * (np.abs(along) < _MEASURED)) @ clipped[block]
            total += np.einsum("bn,bn->b", weights, along.clip(-_MEASURED, _MEASURED))
        values = np.abs(total) / (2 * _MEASURED)
        leaders = np.where((values > best)[:, None], directions, leaders)
        best = np.maximum(best, values)
        directions = _unit(ascent)
    return best, leaders


def _mean_weights(permutations: Permutations) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield slices of rows, and the weights (B + 1, rows) of these rows in a difference of means.

    Rows of the weights are the given labels and B permutations. The weight is 1 / n_x for the n_x
    rows of the first sample, and -1 / n_y for the n_y rows of the second.
    """
    n_x, n_y = permutations.sizes.astype(np.float32)
    for block in permutations.blocks_of_rows():
        labels = permutations.labels(block, dtype=np.float32)
        yield block, np.ascontiguousarray((labels * (1 / n_x + 1 / n_y) - 1 / n_y).T)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)


def _whitened(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, d) transformed to about unit covariance, and the whitening matrix (d, d).

    The matrix is the identity if there are at most 10 d rows, too few to estimate a covariance.
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
