"""The aggregated test: location, spread, shape, dependence and regions on the same permutations.

Every statistic except the regions is a matrix product of labels and functions of a row that do not
depend on the labels: cosines of ranks along directions, products of ranks, and indicators.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from isodepth import _core
from isodepth.core.directions import mean_of_direction
from isodepth.core.regions import midpoint_levels
from isodepth.errors import DegenerateDepthWarning
from isodepth.significance.combination import (
    Feature,
    Findings,
    Moments,
    column_feature,
    mean_changes,
    neg_log_p,
    neg_log_p_of_largest,
    shares_feature,
)
from isodepth.significance.naming import COSINES, column_kinds
from isodepth.significance.pooled_sample import (
    MAX_NUMBERS,
    WORD,
    PooledSample,
    direction_text,
    precision,
    rank_cosines,
    unit_ranks,
)
from isodepth.significance.settings import Settings

#: Weights of the statistics, chosen by power on samples like those of docs/power_study.md, drawn
#: with other seeds.
WEIGHTS = {
    "directions": 0.70,
    "columns": 0.08,
    "whole rows": 0.09,
    "shape": 0.05,
    "dependence": 0.06,
    "regions": 0.02,
    "categories": 0.10,
    "missing": 0.10,
}
# Statistics that are not a maximum of many -log p.
_SINGLE = ("directions", "regions")
# Number of cosines of ranks along a direction.
_DIRECTION_COSINES = 4
# Maximum number of pairs: all pairs of 64 columns.
_PAIRS = 64 * 63 // 2
# The regions, of small weight, are computed on a random subset of this size.
_REGION_ROWS = 8000
# Labelings per call of the core, between which progress is shown: whole words of labels.
_LABELINGS = 4 * WORD


def aggregated_statistics(
    rows: PooledSample, settings: Settings, advance: Callable[[int], None]
) -> Findings:
    """Compute all statistics for all labelings, and their -log p."""
    found = Findings(rows.permutations.count, WEIGHTS)
    d = rows.points.shape[1]
    if d:
        _add_functions(rows, found, advance)
    if d > 1:
        _add_pairs(rows, found)
    if d and rows.categories:
        _add_category_means(rows, found)
    for category in rows.categories:
        indicators = category.indicators()
        squares = np.square(rows.permutations.contrasts(indicators))
        # Pearson's statistic.
        each = neg_log_p((squares / indicators.mean(axis=1)[:, None]).sum(axis=0))[None]
        feature = shares_feature(category, neg_log_p(squares)[:, 0])
        found.add("categories", each, [feature])
        found.columns.add([feature], each)
    if rows.missing is not None:
        each = neg_log_p(np.square(rows.missing.permutations.contrasts(rows.missing.indicators)))
        features = [column_feature(name, "missing") for name in rows.missing.names]
        found.add("missing", each, features)
        found.columns.add(features, each)
    if d:
        feature = Feature(("regions",), "all columns")
        by_depth = region_statistics if settings.metric.depth == "projection" else depth_statistics
        if settings.method == "regions" and _may_be_simplex(rows):
            by_depth = depth_statistics
        subset = rows if settings.method == "regions" else rows.random_subset(_REGION_ROWS)
        found.add("regions", by_depth(subset, settings, advance)[None], [feature])
    found.neg_log_p = {
        name: neg_log_p(part) if name in _SINGLE else neg_log_p_of_largest(part)
        for name, part in found.parts.items()
    }
    return found


def cosine_powers(rows: PooledSample, values: np.ndarray, count: int) -> np.ndarray:
    """Square the contrasts of the first `count` cosines of the ranks of values (F, n).

    Returns
    -------
    powers : ndarray of shape (count, F, B + 1)
    """
    cosines = rank_cosines(values, count, rows.n_threads)
    contrasts = rows.permutations.contrasts(cosines.reshape(-1, values.shape[1]))
    return np.square(contrasts).reshape(count, len(values), -1)


def _smooth_weights(count: int) -> np.ndarray:
    """Return the weights 1 / j^2 of a Cramer-von Mises statistic, of shape (count, 1, 1)."""
    return 1.0 / np.square(np.arange(1.0, count + 1))[:, None, None]


def _add_functions(rows: PooledSample, found: Findings, advance: Callable[[int], None]) -> None:
    """Add single columns, functions of all columns, and the mean over directions."""
    d = rows.points.shape[1]
    labels, whole = rows.whole_rows
    step = _functions_per_block(rows, COSINES)
    functions = np.concatenate([rows.columns, whole])
    powers = np.concatenate(
        [
            cosine_powers(rows, functions[first : first + step], COSINES)
            for first in range(0, len(functions), step)
        ],
        axis=1,
    )
    advance(d)
    smooth = neg_log_p((powers * _smooth_weights(COSINES)).sum(axis=0))
    flat = neg_log_p(powers.sum(axis=0))
    _add_directions(rows, powers[:_DIRECTION_COSINES, :d], found, advance)
    kinds = column_kinds(rows, powers[:, :d])
    features = [column_feature(name, *kinds[j]) for j, name in enumerate(rows.names)]
    features += [Feature(("spread" if f == 0 else "location",), n) for f, n in enumerate(labels)]
    found.add("columns", smooth[:d], features[:d])
    found.add("whole rows", smooth[d:], features[d:])
    found.add("shape", flat, features)
    either = np.maximum(smooth, flat)
    found.columns.add(features[:d], either[:d])
    found.whole.add(features[d:], either[d:])


def _functions_per_block(rows: PooledSample, cosines: int) -> int:
    return max(1, MAX_NUMBERS // (cosines * len(rows.points)))


def _add_directions(
    rows: PooledSample, axes: np.ndarray, found: Findings, advance: Callable[[int], None]
) -> None:
    """Add the mean over directions; the powers (4, d, B + 1) along the axes are given."""
    d = rows.points.shape[1]
    weights = _smooth_weights(_DIRECTION_COSINES)
    along = (axes * weights).sum(axis=0)
    total, best = along.sum(axis=0), int(along[:, 0].argmax())
    largest, direction = along[best, 0], np.eye(d)[best]
    by_cosine = axes.sum(axis=1)
    step = _functions_per_block(rows, _DIRECTION_COSINES)
    for first in range(d, len(rows.directions), step):
        block = rows.directions[first : first + step]
        powers = cosine_powers(rows, rows.along(block), _DIRECTION_COSINES)
        along = (powers * weights).sum(axis=0)
        total += along.sum(axis=0)
        by_cosine += powers.sum(axis=1)
        if along[:, 0].max() > largest:
            largest, direction = along[:, 0].max(), block[along[:, 0].argmax()]
        advance(len(block))
    kind = ("location", "spread", "shape", "shape")[int(neg_log_p(by_cosine)[:, 0].argmax())]
    mean = total[None] / len(rows.directions)
    found.add("directions", mean, [Feature((kind,), direction_text(direction, rows.names))])


def _add_pairs(rows: PooledSample, found: Findings) -> None:
    """Add the change of the rank correlation of each pair, and of each column and the distance."""
    ranks = unit_ranks(np.concatenate([rows.columns, rows.whole_rows[1][:1]]), rows.n_threads)
    ranks = (ranks - 0.5).astype(precision(len(rows.points)))
    moments = Moments(rows.permutations, ranks)
    for pairs, features, family in found.pairs_of(rows, _PAIRS):
        each = neg_log_p(np.square(moments.correlation_change(ranks, pairs)))
        found.add("dependence", each, features)
        family.add(features, each)


def _add_category_means(rows: PooledSample, found: Findings) -> None:
    """Add the change of the mean rank of each column within each category."""
    values = [(category, v) for category in rows.categories for v in range(len(category.values))]
    pairs = [(j, at) for at in range(len(values)) for j in range(rows.points.shape[1])]
    if len(pairs) > _PAIRS:
        pairs = [pairs[k] for k in rows.rng.choice(len(pairs), _PAIRS, replace=False)]
        found.notes.append(
            f"means by category were compared in {_PAIRS} random pairs of a column and a value"
        )
    dtype = precision(len(rows.points))
    ranks = (unit_ranks(rows.columns, rows.n_threads) - 0.5).astype(dtype)
    step = _functions_per_block(rows, 4)
    for first in range(0, len(pairs), step):
        block = pairs[first : first + step]
        inside = np.array([values[at][0].codes == values[at][1] for _, at in block], dtype)
        changes = mean_changes(rows.permutations, ranks[[j for j, _ in block]], inside)
        each = neg_log_p(np.square(changes))
        features = []
        for j, at in block:
            (category, v), name = values[at], rows.names[j]
            label = f"{name} and {category.name} = {category.values[v]}"
            columns = (name, category.name)
            features.append(Feature(("dependence",), label, columns, category.values[v]))
        found.add("dependence", each, features)
        found.pairs.add(features, each)


# -- regions -----------------------------------------------------------------------------------


def region_statistics(
    rows: PooledSample, settings: Settings, advance: Callable[[int], None]
) -> np.ndarray:
    """Compute DR with the projection depth for all labelings (B + 1,).

    The caller applies the factor for which a translation by m has the distance |m|.
    """
    count, words = rows.permutations.count, rows.permutations.words
    metric = settings.metric
    betas = midpoint_levels(metric.levels, metric.eps)
    out = np.empty(count)
    for first in range(0, count, _LABELINGS):
        last = min(first + _LABELINGS, count)
        block = words[first // WORD : -(-last // WORD)]
        out[first:last] = _core.label_distances(
            rows.points, rows.directions, block, last - first, betas, metric.q, metric.p,
            rows.n_threads,
        )  # fmt: skip
        advance(last - first)
    return out


def _may_be_simplex(rows: PooledSample) -> bool:
    """Check whether a sample of some labeling can have at most d + 1 distinct rows.

    All rows of such a sample have equal projection depth, which the kernel of `region_statistics`
    does not take into account. The answer is the same for all labelings.
    """
    counts = np.unique(rows.points, axis=0, return_counts=True)[1]
    largest = np.sort(counts)[-rows.points.shape[1] - 1 :].sum()
    return bool(largest >= rows.permutations.sizes.min())


def depth_statistics(
    rows: PooledSample, settings: Settings, advance: Callable[[int], None]
) -> np.ndarray:
    """Compute DR with any depth for all labelings (B + 1,), with regions fitted to each."""
    metric = replace(
        settings.metric, directions=rows.directions, scale=None, nan_policy="raise", random_state=0
    )
    d = rows.points.shape[1]
    # Not centered, so that ranks along the axes are those of the columns.
    points = np.ascontiguousarray(rows.columns.T / rows.divisors)
    fitted = metric.with_directions(d)
    out = np.empty(rows.permutations.count)
    for b in range(len(out)):
        first = rows.permutations.labels_of(b)
        with warnings.catch_warnings():
            # Once per test is enough: the comparison of the samples warns.
            warnings.simplefilter("ignore", DegenerateDepthWarning)
            x, y = fitted.all_regions([points[first], points[~first]])
        out[b] = fitted.distance(x, y) * mean_of_direction(d, metric.q)
        advance(1)
    return out
