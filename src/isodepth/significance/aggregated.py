"""The aggregated two-sample test, which combines statistics of several kinds of change.

All statistics are computed for the given labels of the pooled rows and for B permutations of the
labels. Most statistics are computed from matrix products of the labels with functions of a row that
do not depend on the labels: cosines of ranks along directions, products of ranks, and indicators.
The exception is the distance between trimmed regions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from isodepth import _core
from isodepth.errors import DegenerateDepthWarning
from isodepth.functions.families import Member
from isodepth.geometry.directions import mean_of_direction
from isodepth.metric.fitted import fit_for_one_sample
from isodepth.metric.settings import MetricSettings, check_level_memory, midpoint_levels
from isodepth.significance.features import (
    Feature,
    all_shares,
    direction_feature,
    in_blocks,
    standardized_difference,
)
from isodepth.significance.findings import Findings
from isodepth.significance.permutations import WORD, Moments, neg_log_p, neg_log_p_of_largest
from isodepth.significance.samples import CENTER, PooledSample
from isodepth.table.kinds import MISSING

#: Weights w of the statistics. The test statistic is the maximum of -log p + log w over all
#: statistics. The weights were tuned for power on samples like those of docs/power_study.md, drawn
#: with other seeds. The weight of isolated values was tuned on the set "tuning" of
#: experiments/tables. It is large, because most tables do not have isolated values.
WEIGHTS = {
    "directions": 0.55,
    "columns": 0.16,
    "whole rows": 0.09,
    "shape": 0.08,
    "dependence": 0.06,
    "regions": 0.02,
    "categories": 0.10,
    "missing": 0.10,
    "extremes": 0.10,
    "isolated values": 0.60,
    "values": 0.10,
    "precision": 0.05,
    "repeated rows": 0.03,
}
# Statistics that have a single value per labeling, which is an assignment of the rows to the two
# samples. Each of the other statistics is a maximum of -log p over many features.
_SINGLE = ("directions", "regions")
# Numbers of cosines cos(pi j R), j = 1, 2, ..., that are computed for each column and for each
# direction. R are the ranks of the values or projections, scaled to (0, 1).
_COSINES, _DIRECTION_COSINES = 6, 4
# Maximum number of pairs of columns that are compared: all pairs of 64 columns.
_PAIRS = 64 * 63 // 2
# Maximum number of rows for the statistic "regions", which is slow and has a small weight. If the
# samples have more rows, a random subset is used.
_REGION_ROWS = 8000
# Number of permutations of the labels per call of the compiled code, a multiple of WORD. The
# progress bar is updated after each call.
_LABELINGS = 4 * WORD

Advance = Callable[[int], None]


def aggregated_statistics(
    rows: PooledSample,
    metric: MetricSettings,
    advance: Advance,
    *,
    only_regions: bool,
) -> Findings:
    """Compute each statistic and its -log p for the given labels and all permutations of them.

    If `only_regions`, the distance between trimmed regions is the test statistic, and is computed
    on all rows instead of a random subset. `advance` is called with the number of completed steps.
    """
    findings = Findings(rows.permutations.count, WEIGHTS)
    d = rows.points.shape[1]
    if d:
        _add_functions(rows, findings, advance)
    if d > 1:
        _add_pairs(rows, findings)
    if d and rows.categories:
        _add_category_means(rows, findings)
    for category in rows.categories:
        indicators = category.indicators()
        squares = np.square(rows.permutations.contrasts(indicators))
        # The sum over all values of the category column is Pearson's chi-squared statistic.
        each = neg_log_p((squares / indicators.mean(axis=1)[:, None]).sum(axis=0))[None]
        each_share = category.shares(rows.n_x)
        largest = max(each_share, key=lambda s: standardized_difference(s.before, s.after))
        name, both = largest.column, (largest.before, largest.after)
        missing = largest.value == MISSING
        member = Member("missing" if missing else "shares")
        feature = Feature("shares", name, (name,), None if missing else largest.value, member, both)
        findings.add("categories", each, [feature], tested=True)
    for shares in all_shares(rows, fixed=False):
        each = neg_log_p(np.square(shares.contrasts))
        findings.add(shares.name, each, shares.features, tested=True)
    if d:
        subset = rows if only_regions else rows.random_subset(_REGION_ROWS)
        fast = metric.depth == "projection" and not (only_regions and _may_be_simplex(rows))
        values = (region_statistics if fast else depth_statistics)(subset, metric, advance)
        findings.add("regions", values[None], [Feature("regions", "all columns")])
    findings.strengths = {
        name: neg_log_p(part) if name in _SINGLE else neg_log_p_of_largest(part)
        for name, part in findings.parts.items()
    }
    return findings


def _smooth_weights(count: int) -> np.ndarray:
    """Return the weights 1 / j^2, j = 1, ..., count, as an array of shape (count, 1, 1).

    They are the weights of the cosines cos(pi j R) of the ranks R, scaled to (0, 1). Let c_j be the
    difference between the means of cosine j in the two samples. The sum of c_j^2 / j^2 over all j
    is proportional to the Cramer-von Mises statistic, and the first terms approximate it.
    """
    return 1.0 / np.square(np.arange(1.0, count + 1))[:, None, None]


def _add_functions(rows: PooledSample, findings: Findings, advance: Advance) -> None:
    """Add the rank statistics of columns, directions and functions of all columns to `findings`."""
    d = rows.points.shape[1]
    functions = np.stack([*rows.columns, *rows.whole_rows.values()])
    blocks = in_blocks(functions, rows, _COSINES)
    contrasts = [rows.permutations.cosine_contrasts(block, _COSINES) for block in blocks]
    powers = np.square(np.concatenate(contrasts, axis=1))
    advance(d)
    smooth = neg_log_p((powers * _smooth_weights(_COSINES)).sum(axis=0))
    flat = neg_log_p(powers.sum(axis=0))
    _add_directions(rows, powers[:_DIRECTION_COSINES, :d], findings, advance)
    features = [Feature("distribution", name, (name,)) for name in rows.names]
    for name in rows.whole_rows:
        features.append(Feature("spread" if name == CENTER else "location", name))
    findings.add("columns", smooth[:d], features[:d])
    findings.add("whole rows", smooth[d:], features[d:])
    findings.add("shape", flat, features)
    findings.add_tests(features, np.maximum(smooth, flat))


def _add_directions(
    rows: PooledSample, axes: np.ndarray, findings: Findings, advance: Advance
) -> None:
    """Add the mean of the Cramer-von Mises statistics over all directions to `findings`.

    `axes` (4, d, B + 1) has the terms of this mean for the d coordinate axes: the squared
    differences between the sample means of four cosines of the ranks along each axis.
    """
    d = rows.points.shape[1]
    weights = _smooth_weights(_DIRECTION_COSINES)
    along = (axes * weights).sum(axis=0)
    total, best = along.sum(axis=0), int(along[:, 0].argmax())
    largest, direction = along[best, 0], np.eye(d)[best]
    by_cosine = axes.sum(axis=1)
    for block in in_blocks(rows.directions[d:], rows, _DIRECTION_COSINES):
        contrasts = rows.permutations.cosine_contrasts(rows.along(block), _DIRECTION_COSINES)
        powers = np.square(contrasts)
        along = (powers * weights).sum(axis=0)
        total += along.sum(axis=0)
        by_cosine += powers.sum(axis=1)
        if along[:, 0].max() > largest:
            largest, direction = along[:, 0].max(), block[along[:, 0].argmax()]
        advance(len(block))
    kind = ("location", "spread", "shape", "shape")[int(neg_log_p(by_cosine)[:, 0].argmax())]
    mean = total[None] / len(rows.directions)
    findings.add("directions", mean, [direction_feature(kind, direction, rows.names)])


def _add_pairs(rows: PooledSample, findings: Findings) -> None:
    """Add the change of the rank correlation of each pair of columns to `findings`.

    The distance of a row from the center is used as an additional column.
    """
    ranks = rows.centered_ranks(np.stack([*rows.columns, rows.whole_rows[CENTER]]))
    present = rows.present
    if present is not None:
        present = np.concatenate([present, np.ones_like(present[:1])])
    moments = Moments(rows.permutations, ranks, present)
    for pairs, features in findings.column_pairs(rows, _PAIRS):
        each = neg_log_p(np.square(moments.correlation_change(pairs)))
        findings.add("dependence", each, features, tested=True)


def _add_category_means(rows: PooledSample, findings: Findings) -> None:
    """Add the change of the mean rank of each numeric column within each category to `findings`."""
    values = [(category, value) for category in rows.categories for value in category.values]
    pairs = [(j, *each) for each in values for j in range(rows.points.shape[1])]
    if len(pairs) > _PAIRS:
        pairs = [pairs[k] for k in rows.rng.choice(len(pairs), _PAIRS, replace=False)]
        findings.notes.append(
            f"means by category were compared in {_PAIRS} random pairs of a column and a value"
        )
    ranks = rows.centered_ranks(rows.columns)
    for block in in_blocks(pairs, rows, 4):
        inside = np.array([category.rows_with(value) for _, category, value in block], ranks.dtype)
        columns = [j for j, *_ in block]
        present = None if rows.present is None else rows.present[columns]
        changes = rows.permutations.mean_changes(ranks[columns], inside, present)
        each = neg_log_p(np.square(changes))
        features = []
        for j, category, value in block:
            first, second = rows.names[j], category.name
            label = f"{first} and {second} = {value}"
            features.append(Feature("dependence", label, (first, second), value))
        findings.add("dependence", each, features, tested=True)


# -- distances between trimmed regions -----------------------------------------------------------


def region_statistics(rows: PooledSample, metric: MetricSettings, advance: Advance) -> np.ndarray:
    """Return the distances DR (B + 1,) between the trimmed regions of X and Y, for all labelings.

    Regions are computed by projection depth. The constant divisor `mean_of_direction` of DR, by
    which the distance of two samples that differ by a translation m is |m|, is omitted. `advance`
    is called with the number of labelings that were completed since the last call.
    """
    count, words = rows.permutations.count, rows.permutations.words
    assert isinstance(metric.levels, int)
    # Support values of both samples at each level, per thread.
    check_level_memory(metric.levels, 32 * len(rows.directions), metric.memory_mb)
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
    """Return whether permuted labels can give a sample with at most d + 1 distinct rows.

    All rows of such a sample may have equal projection depth. `region_statistics` is not valid in
    this case. The result depends on the pooled rows only, not on their labels.
    """
    counts = np.unique(rows.points, axis=0, return_counts=True)[1]
    largest = np.sort(counts)[-rows.points.shape[1] - 1 :].sum()
    return bool(largest >= rows.permutations.sizes.min())


def depth_statistics(rows: PooledSample, metric: MetricSettings, advance: Advance) -> np.ndarray:
    """Return the distances DR (B + 1,) between the trimmed regions, by the depth of `metric`.

    The regions are computed for each labeling separately. As in `region_statistics`, the constant
    divisor `mean_of_direction` is omitted.
    """
    d = rows.points.shape[1]
    settings = replace(
        metric, directions=rows.directions, scale=None, nan_policy="raise", random_state=0
    )
    fitted = fit_for_one_sample(settings, d)
    # Columns are divided by their units, but not centered at their medians: rounding in the
    # subtraction could change the order of the values of a column.
    points = np.ascontiguousarray(rows.filled_columns.T / rows.divisors)
    out = np.empty(rows.permutations.count)
    for b, first in enumerate(rows.permutations.labels(dtype=bool).T):
        with warnings.catch_warnings():
            if b > 0:  # a warning about a permuted sample would not help the user
                warnings.simplefilter("ignore", DegenerateDepthWarning)
            x, y = fitted.all_regions([points[first], points[~first]])
        out[b] = fitted.distance(x, y) * mean_of_direction(d, metric.q)
        advance(1)
    return out
