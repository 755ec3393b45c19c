"""The test with a tolerance: differences of shares that contaminated rows cannot explain.

For a function 0 <= h <= 1 of a row let G(h) be its mean over X less its mean over Y. If at most a
share c of the rows of each sample is contaminated, these change G(h) by at most c, whatever they
are. So |G(h)| - c under the given labels is compared with |G(h)| under permuted labels, for the
largest over many functions h that do not know the labels: half-lines and intervals (shares of rows
up to a value, or between two), and ranks cut off around the middle, of columns, directions,
distances from the center and products of columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from isodepth._core import share_differences
from isodepth.core.scaling import pooled_spread
from isodepth.significance.combination import (
    Findings,
    GammaTail,
    change_of_pair,
    changes_of,
    changes_of_shares,
    combined,
    leading_kinds,
    permutation_p_value,
)
from isodepth.significance.pooled_sample import (
    BLOCK,
    CENTER,
    TOTAL,
    Permutations,
    PooledSample,
    direction_text,
    unit_ranks,
)

#: Weights of the statistics.
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
}
# Half-lines and intervals end at so many values at most.
_CUTS = 64
# Ranks count between these, and are cut off beyond. A change of spread shows among outer rows.
_INNER, _OUTER = (0.25, 0.75), (0.5, 0.9)
# Intervals must have so many times the evidence of location and spread to speak of shape.
_SHAPE = 1.5
# Beyond so many spreads from the middle, and so many times the median distance from the center in
# the search for a direction, a row says nothing about location: it counts as one in the middle.
_FAR, _FAR_ROW = 6.0, 3.0
# Products of larger numbers would overflow.
_HUGE = 1e150
# Pairs of columns whose products are looked at.
_PAIRS = 105


@dataclass(frozen=True)
class Group:
    """Functions of a row.

    Attributes
    ----------
    name : str
        The statistic they belong to.
    values : ndarray of shape (F, n)
    labels : list of pairs of str
        What a change of the mean of each stands for, and what carries it.
    pairs : ndarray of shape (F, 2) or None
        The columns whose products they are.
    far : bool ndarray of shape (F, n) or None
        Where a value is too far away to say anything about location.
    """

    name: str
    values: np.ndarray
    labels: list[tuple[str, str]]
    pairs: np.ndarray | None = None
    far: np.ndarray | None = None


def tolerant_p_value(parts: dict[str, np.ndarray], share: float) -> float:
    """The p-value where a share of the rows of each sample may be contaminated.

    `parts` are the statistics (B + 1,) without a tolerance, from which any tolerance is judged.
    """
    scores = combined([softened(part, share) for part in parts.values()],
                      [TOLERANT_WEIGHTS[name] for name in parts])  # fmt: skip
    return float(permutation_p_value(scores[0], scores[1:]))


def smallest_tolerance(parts: dict[str, np.ndarray], alpha: float) -> float:
    """The smallest tolerance with a p-value above `alpha`, to 0.0001; at most 1."""
    low, high = 0.0, 1.0
    if tolerant_p_value(parts, low) > alpha:
        return low
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        if tolerant_p_value(parts, middle) > alpha:
            high = middle
        else:
            low = middle
    return math.ceil(1e4 * high) / 1e4


def softened(statistics: np.ndarray, share: float) -> np.ndarray:
    """-log p of statistics (..., B + 1), of the given labels less the tolerance."""
    tail = GammaTail(statistics)
    kept = statistics.copy()
    kept[..., 0] = np.maximum(kept[..., 0] - share, 0.0)
    return tail.evidence(kept)


def allowed_share(tolerance: float, n: int, m: int) -> float:
    """The larger share of whole rows of the two samples that a tolerance allows."""
    # The product of a decimal share and a number of rows may fall just short of a whole.
    return max(math.floor(tolerance * size * (1 + 1e-12)) / size for size in (n, m))


def tolerant_statistics(
    rows: PooledSample, share: float, advance: Callable[[int], None]
) -> Findings:
    """All statistics; the evidence for columns and candidates is that beyond the tolerance."""
    found = Findings(rows.permutations.count)
    columns: dict[str, np.ndarray] = {}
    for group in _groups(rows, found):
        outer = np.array([kind == "spread" for kind, _ in group.labels])
        smooth = mean_differences(rows.permutations, group.values, outer, group.far)
        found.add(group.name, smooth, group.labels)
        each = softened(smooth, share)
        if group.name == "categories":
            category = next(c for c in rows.categories if c.name == group.labels[0][1])
            found.columns.add([changes_of_shares(category, each[:, 0])], each.max(axis=0)[None])
            continue
        half_lines, intervals = share_differences(
            group.values, rows.permutations.words, rows.permutations.count, _CUTS, rows.n_threads
        )
        found.add("half-lines", half_lines, group.labels)
        found.add("intervals", intervals, [("shape", name) for _, name in group.labels])
        if group.name == "columns":
            columns["location"] = each
            # Intervals see changes of location and spread too.
            columns["shape"] = softened(intervals, share) / _SHAPE
        elif group.name == "spreads":
            columns["spread"] = each
            strengths = np.stack(list(columns.values()))
            kinds = [leading_kinds(list(columns), column) for column in strengths[:, :, 0].T]
            named = [changes_of(*pair) for pair in zip(rows.names, kinds, strict=True)]
            found.columns.add(named, strengths.max(axis=0))
        elif group.name == "whole rows":
            found.whole.add([changes_of(name, (kind,), False) for kind, name in group.labels], each)
        elif group.pairs is not None:
            family = found.pairs if group.pairs[0, 1] < len(rows.names) else found.whole
            family.add([change_of_pair(rows.names, pair) for pair in group.pairs], each)
        if group.name in ("columns", "directions"):
            advance(len(each))
    if rows.points.shape[1] > 1:
        values, text = learned_direction(rows)
        found.add("learned direction", values[None], [("location", text)])
    return found


def _groups(rows: PooledSample, found: Findings) -> Iterator[Group]:
    """Functions of a row, a few at a time."""
    if rows.points.shape[1]:
        yield from _numeric_groups(rows, found)
    for category in rows.categories:
        texts = [("shares", category.name)] * len(category.values)
        yield Group("categories", category.indicators(), texts)


def _numeric_groups(rows: PooledSample, found: Findings) -> Iterator[Group]:
    d, names = rows.points.shape[1], rows.names
    columns = np.ascontiguousarray(rows.points.T)
    far = np.abs(columns) > _FAR
    yield Group("columns", columns, [("location", name) for name in names], far=far)
    yield Group("spreads", np.abs(columns), [("spread", name) for name in names])
    outlying = np.zeros(len(rows.points))
    step = max(1, BLOCK // len(rows.points))
    for first in range(0, len(rows.directions), step):
        directions = rows.directions[first : first + step]
        values = rows.along(directions)
        away = outlyingness(values)
        np.maximum(outlying, away.max(axis=0), out=outlying)
        later = slice(max(0, d - first), None)
        if len(directions[later]):
            texts = [("location", direction_text(each, names)) for each in directions[later]]
            own = np.ascontiguousarray(values[later])
            yield Group("directions", own, texts, far=away[later] > _FAR)
    labels, whole = rows.whole_rows()
    texts = [("location" if label == TOTAL else "spread", label) for label in labels]
    values = np.concatenate([whole, outlying[None]])
    yield Group("whole rows", values, [*texts, ("spread", "outlyingness")])
    pairs, notes = rows.pairs(_PAIRS)
    found.notes += notes
    near = columns.clip(-_HUGE, _HUGE)
    for first in range(0, len(pairs), step):
        some = pairs[first : first + step]
        texts = [("dependence", f"{names[i]} and {names[j]}") for i, j in some]
        yield Group("dependence", near[some[:, 0]] * near[some[:, 1]], texts, some)
    if d > 1:
        texts = [("dependence", f"{name} and the {CENTER}") for name in names]
        products = near * (whole[0] - np.median(whole[0]))
        yield Group("dependence", products, texts, rows.pairs_with_distance())


def outlyingness(values: np.ndarray) -> np.ndarray:
    """Distances of values (F, n) from their medians, in units of their spreads."""
    center = np.median(values, axis=1, keepdims=True)
    return np.abs(values - center) / pooled_spread(values.T)[:, None]


def mean_differences(
    permutations: Permutations,
    values: np.ndarray,
    outer: np.ndarray,
    far: np.ndarray | None = None,
) -> np.ndarray:
    """|G(h)| of ranks of values (F, n), cut off and stretched to [0, 1], of shape (F, B + 1).

    `outer` (F,) says for which functions ranks count among outer rows, and not around the middle;
    `far` (F, n) which values count as one in the middle.
    """
    low, high = np.where(outer, np.transpose([_OUTER]), np.transpose([_INNER]))[:, :, None]
    ranks = unit_ranks(values).clip(low, high)
    low = ranks.min(axis=1, keepdims=True)
    width = ranks.max(axis=1, keepdims=True) - low
    scores = (ranks - low) / np.where(width > 0, width, 1.0)
    if far is not None:
        scores[far] = 0.5
    found = permutations.contrasts(scores)
    return np.abs(found) * np.sqrt(
        permutations.n_rows / (permutations.sizes[0] * permutations.sizes[1])
    )


# -- a direction found anew for every labeling ----------------------------------------------------

# Values count up to so many standard deviations where the direction is sought, and where the
# difference along it is measured.
_SOUGHT, _MEASURED = 2.5, 0.7
_STEPS = 2


def learned_direction(rows: PooledSample) -> tuple[np.ndarray, str]:
    """|G(h)| of h = clipped projection on a direction fitted to the labels, for each labeling.

    The direction of every labeling is found by the same few steps uphill, so that permuted labels
    profit from it as much as the given ones.
    """
    permutations = rows.permutations
    points, to_rows = _whitened(rows.points)
    radius = np.linalg.norm(points, axis=1)
    if radius.any():
        points[radius > _FAR_ROW * np.median(radius[radius > 0])] = 0.0
    clipped = points.clip(-_SOUGHT, _SOUGHT)
    out = np.empty(permutations.count)
    text = ""
    for labelings, labels in permutations.blocks_of_labelings(np.float32, 2 * BLOCK):
        n_x, n_y = permutations.sizes[:, labelings].astype(np.float32)
        weights = np.ascontiguousarray((labels * (1 / n_x + 1 / n_y) - 1 / n_y).T)
        start = weights @ clipped
        directions = _unit(start)
        best, leader = np.zeros(len(weights), np.float32), directions[0]
        for step in range(_STEPS + 1):
            along = directions @ points.T
            inside = np.abs(along) < _MEASURED
            np.clip(along, -_MEASURED, _MEASURED, out=along)
            value = np.abs(np.einsum("bn,bn->b", weights, along)) / (2 * _MEASURED)
            if value[0] > best[0]:
                leader = directions[0]
            np.maximum(best, value, out=best)
            if step < _STEPS:
                directions = _unit((weights * inside) @ clipped + 0.3 * start)
        out[labelings] = best
        text = text or direction_text(_unit((leader @ to_rows)[None])[0], rows.names)
    return out, text


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)


def _whitened(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, d) with about unit covariance, and the matrix that took them there."""
    n, d = points.shape
    points = points * (1 / 1.4826)
    to_rows = np.eye(d)
    if n > 10 * d:
        covariance = np.cov(points.clip(-_SOUGHT, _SOUGHT), rowvar=False)
        values, vectors = np.linalg.eigh(covariance + 1e-3 * np.eye(d))
        to_rows = (vectors / np.sqrt(values)) @ vectors.T
    # Far beyond what is clipped, and no larger than single precision can square.
    return (points.clip(-1e6, 1e6) @ to_rows).astype(np.float32), to_rows
