"""The aggregated test: location, spread, shape, dependence and regions on the same permutations.

Every part but the regions is a matrix product of labels and functions of a row that do not know the
labels: cosines of ranks along directions, products of ranks, and indicators of categories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from isodepth import _core
from isodepth.core.directions import mean_of_direction
from isodepth.core.regions import midpoint_levels
from isodepth.core.scaling import mad_spread
from isodepth.significance.combination import (
    Feature,
    Findings,
    column_feature,
    leading_kinds,
    neg_log_p,
    neg_log_p_of_largest,
    shares_feature,
)
from isodepth.significance.pooled_sample import (
    BLOCK,
    WORD,
    Permutations,
    PooledSample,
    direction_text,
    unit_ranks,
)
from isodepth.significance.settings import Settings

#: Weights of the statistics, from power with samples like those of docs/power_study.md, drawn with
#: other seeds.
WEIGHTS = {
    "directions": 0.70,
    "columns": 0.08,
    "whole rows": 0.09,
    "shape": 0.05,
    "dependence": 0.06,
    "regions": 0.02,
    "categories": 0.10,
}
# The others are the largest of many -log p.
_PLAIN = ("directions", "regions")
# Cosines of ranks: along directions, and of single functions of a row.
_WAVES, _WAVES_ALONE = 4, 6
# So many pairs are looked at: all of 64 columns.
_PAIRS = 64 * 63 // 2
# Columns with no more values than this have no shape beside their location and spread.
_FEW_VALUES = 20
# A sample with fewer rows of a category has no mean among them.
_FEWEST_INSIDE = 5
# Labelings of one call, between which progress is shown: whole words of labels.
_LABELINGS = 4 * WORD


def aggregated_statistics(
    rows: PooledSample, given: Settings, advance: Callable[[int], None]
) -> Findings:
    """All statistics for all labelings, and the evidence of each."""
    found = Findings(rows.permutations.count, WEIGHTS)
    if rows.points.shape[1]:
        _add_functions(rows, found)
    if rows.points.shape[1] > 1:
        _add_pairs(rows, found)
    if rows.points.shape[1] and rows.categories:
        _add_category_means(rows, found)
    for category in rows.categories:
        indicators = category.indicators()
        squares = np.square(rows.permutations.contrasts(indicators))
        # Pearson's statistic.
        each = neg_log_p((squares / indicators.mean(axis=1)[:, None]).sum(axis=0))[None]
        feature = shares_feature(category, neg_log_p(squares)[:, 0])
        found.add("categories", each, [feature])
        found.columns.add([feature], each)
    if rows.points.shape[1]:
        by_depth = region_statistics if given.metric.depth == "projection" else depth_statistics
        feature = Feature(("regions",), "all columns")
        found.add("regions", by_depth(rows, given, advance)[None], [feature])
    found.neg_log_p = {
        name: neg_log_p(part) if name in _PLAIN else neg_log_p_of_largest(part)
        for name, part in found.parts.items()
    }
    return found


def waves(permutations: Permutations, values: np.ndarray, count: int) -> np.ndarray:
    """Contrasts of cos(pi j R), R the ranks of values (F, n), of shape (count, F, B + 1)."""
    n_functions, n = values.shape
    out = np.empty((count, n_functions, permutations.count))
    step = max(1, BLOCK // (count * n))
    for first in range(0, n_functions, step):
        some = values[first : first + step]
        cosines = np.empty((count, *some.shape))
        cosines[0] = np.cos(np.pi * unit_ranks(some))
        for j in range(1, count):
            cosines[j] = 2 * cosines[0] * cosines[j - 1] - (cosines[j - 2] if j > 1 else 1.0)
        contrasts = permutations.contrasts(cosines.reshape(-1, n))
        out[:, first : first + step] = contrasts.reshape(count, len(some), -1)
    return out


def _falling(count: int) -> np.ndarray:
    """Weights 1 / j^2 of a Cramer-von Mises statistic, of shape (count, 1, 1)."""
    return 1.0 / np.square(np.arange(1.0, count + 1))[:, None, None]


def _add_functions(rows: PooledSample, found: Findings) -> None:
    d = rows.points.shape[1]
    labels, whole = rows.whole_rows()
    names = [*rows.names, *labels]
    powers = np.square(
        waves(rows.permutations, np.concatenate([rows.points.T, whole]), _WAVES_ALONE)
    )
    smooth = neg_log_p((powers * _falling(_WAVES_ALONE)).sum(axis=0))
    flat = neg_log_p(powers.sum(axis=0))
    _add_directions(rows, powers[:_WAVES, :d], found)
    strengths = neg_log_p(np.stack([powers[0], powers[1], powers[2:].sum(axis=0)]))[:, :, 0].T
    kinds = [leading_kinds(("location", "spread", "shape"), each) for each in strengths]
    for j in np.flatnonzero(_differs_in_shape(rows, powers[:, :d, 0].sum(axis=0))):
        kinds[j] = ("shape",)
    # A larger distance from the center is a larger spread.
    kinds[d] = leading_kinds(("spread", "shape", "shape"), strengths[d])
    features = [column_feature(name, *kinds[f]) for f, name in enumerate(names[:d])]
    features += [Feature(kinds[d + f], name) for f, name in enumerate(names[d:])]
    found.add("columns", smooth[:d], features[:d])
    found.add("whole rows", smooth[d:], features[d:])
    found.add("shape", flat, features)
    either = np.maximum(smooth, flat)
    found.columns.add(features[:d], either[:d])
    found.whole.add(features[d:], either[d:])


def _differs_in_shape(rows: PooledSample, powers: np.ndarray) -> np.ndarray:
    """Which columns (d,) keep most of their difference when medians and spreads are made equal.

    `powers` (d,) are the sums of squared contrasts of the columns as they are. A sum of six terms
    with variance 1/2 is 3 on average by chance.
    """
    n, n_x = len(rows.points), rows.permutations.n_x
    aligned = np.concatenate(
        [
            (part - np.median(part, axis=0)) / mad_spread(part)
            for part in (rows.points[:n_x], rows.points[n_x:])
        ]
    )
    given = Permutations(n_x, n - n_x, 0, rows.rng)
    left = np.square(waves(given, aligned.T, _WAVES_ALONE)).sum(axis=0)[:, 0]
    chance = _WAVES_ALONE / 2
    several = np.array([len(np.unique(column)) > _FEW_VALUES for column in rows.points.T])
    return several & (left - chance > 0.5 * (powers - chance))


def _add_directions(rows: PooledSample, axes: np.ndarray, found: Findings) -> None:
    """The mean over directions; of the axes the powers (4, d, B + 1) are known already."""
    d = rows.points.shape[1]
    weights = _falling(_WAVES)
    along = (axes * weights).sum(axis=0)
    total, best = along.sum(axis=0), int(along[:, 0].argmax())
    most, direction = along[best, 0], np.eye(d)[best]
    by_wave = axes.sum(axis=1)
    step = max(1, BLOCK // (_WAVES * len(rows.points)))
    for first in range(d, len(rows.directions), step):
        some = rows.directions[first : first + step]
        powers = np.square(waves(rows.permutations, rows.along(some), _WAVES))
        along = (powers * weights).sum(axis=0)
        total += along.sum(axis=0)
        by_wave += powers.sum(axis=1)
        if along[:, 0].max() > most:
            most, direction = along[:, 0].max(), some[along[:, 0].argmax()]
    kind = ("location", "spread", "shape", "shape")[int(neg_log_p(by_wave)[:, 0].argmax())]
    mean = total[None] / len(rows.directions)
    found.add("directions", mean, [Feature((kind,), direction_text(direction, rows.names))])


def _add_pairs(rows: PooledSample, found: Findings) -> None:
    """The change of the rank correlation of each pair, and of each column and the distance."""
    ranks = unit_ranks(np.concatenate([rows.points.T, rows.whole_rows()[1][:1]])) - 0.5
    moments = Moments(rows.permutations, ranks)
    for pairs, features, family in found.pairs_of(rows, _PAIRS):
        each = neg_log_p(np.square(moments.correlation_change(ranks, pairs)))
        found.add("dependence", each, features)
        family.add(features, each)


def _add_category_means(rows: PooledSample, found: Findings) -> None:
    """The change of the mean rank of each column among the rows of each category."""
    values = [(category, v) for category in rows.categories for v in range(len(category.values))]
    pairs = [(j, at) for at in range(len(values)) for j in range(rows.points.shape[1])]
    if len(pairs) > _PAIRS:
        pairs = [pairs[k] for k in rows.rng.choice(len(pairs), _PAIRS, replace=False)]
        found.notes.append(
            f"means by category were compared in {_PAIRS} pairs of a column and a value at random"
        )
    ranks, draws = unit_ranks(rows.points.T) - 0.5, rows.permutations
    step = max(1, BLOCK // max(len(rows.points), draws.count))
    for first in range(0, len(pairs), step):
        some = pairs[first : first + step]
        inside = np.array([values[at][0].codes == values[at][1] for _, at in some], np.float64)
        each = neg_log_p(np.square(mean_changes(draws, ranks[[j for j, _ in some]], inside)))
        features = []
        for j, at in some:
            (category, v), name = values[at], rows.names[j]
            label = f"{name} and {category.name} = {category.values[v]}"
            columns = (name, category.name)
            features.append(Feature(("dependence",), label, columns, category.values[v]))
        found.add("dependence", each, features)
        found.pairs.add(features, each)


def mean_changes(draws: Permutations, values: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """How the means of values (F, n) inside of sets, less those of all rows, differ, (F, B + 1).

    `inside` (F, n) is 0 or 1. In units of the error of such a mean; 0 where a sample has fewer than
    five rows in the set.
    """
    inner, counts, whole = (draws.both_sums(part) for part in (values * inside, inside, values))
    sizes = np.maximum(counts, 1.0)
    apart = inner / sizes - whole / draws.sizes[:, None]
    change = (apart[0] - apart[1]) * np.sqrt(sizes[0] * sizes[1] / (sizes[0] + sizes[1]))
    return np.where(counts.min(axis=0) < _FEWEST_INSIDE, 0.0, change)


class Moments:
    """Means and variances of centered functions of a row (F, n) in both parts of all labelings."""

    def __init__(self, permutations: Permutations, values: np.ndarray) -> None:
        self._permutations = permutations
        self.means = self._both(values)
        self.variances = self._both(np.square(values)) - np.square(self.means)

    def _both(self, values: np.ndarray) -> np.ndarray:
        """Means in the two samples, of shape (2, F, B + 1)."""
        return self._permutations.both_sums(values) / self._permutations.sizes[:, None]

    def correlation_change(self, values: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """The correlation of pairs (P, 2) of functions in X less that in Y, (P, B + 1)."""
        a, b = pairs.T
        covariance = self._both(values[a] * values[b]) - self.means[:, a] * self.means[:, b]
        # Constant in one of the samples: no correlation. Ranks are of size one, so that less than
        # this is rounding.
        flat = np.minimum(self.variances[:, a], self.variances[:, b]) <= 1e-15
        product = np.where(flat, 1.0, self.variances[:, a] * self.variances[:, b])
        found = np.where(flat, 0.0, covariance / np.sqrt(product))
        return found[0] - found[1]


# -- regions -----------------------------------------------------------------------------------


def region_statistics(
    rows: PooledSample, given: Settings, advance: Callable[[int], None]
) -> np.ndarray:
    """DR with the projection depth for all labelings (B + 1,).

    The mean over directions is a plain one: the factor that makes a translation by m have distance
    |m| is the caller's.
    """
    count, words = rows.permutations.count, rows.permutations.words
    metric = given.metric
    betas = midpoint_levels(metric.levels, metric.eps)
    out = np.empty(count)
    for first in range(0, count, _LABELINGS):
        last = min(first + _LABELINGS, count)
        out[first:last] = _core.label_distances(
            rows.points, rows.directions, words[first // WORD :], last - first, betas, metric.q,
            metric.p, rows.n_threads,
        )  # fmt: skip
        advance(last - first)
    return out


def depth_statistics(
    rows: PooledSample, given: Settings, advance: Callable[[int], None]
) -> np.ndarray:
    """DR with any depth for all labelings (B + 1,): regions are fitted anew for every one."""
    metric = replace(
        given.metric, directions=rows.directions, scale=None, nan_policy="raise", random_state=0
    )
    d = rows.points.shape[1]
    drawn = metric.fit(d)
    out = np.empty(rows.permutations.count)
    for labelings, labels in rows.permutations.blocks_of_labelings(bool):
        for b, mine in zip(range(labelings.start, labelings.stop), labels.T, strict=True):
            x, y = drawn.all_regions([rows.points[mine], rows.points[~mine]])
            out[b] = drawn.distance(x, y) * mean_of_direction(d, metric.q)
            advance(1)
    return out
