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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from isodepth._core import share_differences
from isodepth.core.scaling import pooled_spread
from isodepth.significance.aggregated import (
    Findings,
    Rows,
    candidates_of,
    direction_text,
    leading_kinds,
    pair_candidate,
    share_candidates,
    unit_ranks,
)
from isodepth.significance.combination import GammaTail, combined, permutation_p_value
from isodepth.significance.permutations import BLOCK, Permutations

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
    """

    name: str
    values: np.ndarray
    labels: list[tuple[str, str]]
    pairs: np.ndarray | None = None


@dataclass(frozen=True)
class Tolerant:
    """The statistics of all labelings, from which any tolerance is judged.

    Attributes
    ----------
    parts : dict of ndarrays of shape (B + 1,)
        Each statistic without a tolerance, the given labels first.
    """

    parts: dict[str, np.ndarray]

    def scores(self, share: float) -> np.ndarray:
        """Scores of all labelings (B + 1,): that of the given labels with a tolerance."""
        weights = [TOLERANT_WEIGHTS[name] for name in self.parts]
        return combined([softened(part, share) for part in self.parts.values()], weights)

    def p_value(self, share: float) -> float:
        """The p-value where a share of the rows of each sample may be contaminated."""
        scores = self.scores(share)
        return float(permutation_p_value(scores[0], scores[1:]))

    def smallest_tolerance(self, alpha: float) -> float:
        """The smallest tolerance with a p-value above `alpha`, to 0.0001; at most 1."""
        low, high = 0.0, 1.0
        if self.p_value(low) > alpha:
            return low
        while high - low > 1e-4:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.p_value(middle) > alpha else (middle, high)
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


def whole_rows(share: float, sizes: tuple[int, int]) -> float:
    """The smallest tolerance that allows at least this share of the rows of a sample.

    Examples
    --------
    >>> whole_rows(0.04, (30, 20))
    0.05
    """
    return min(math.ceil(share * size * (1 - 1e-12)) / size for size in sizes)


def tolerant_statistics(
    rows: Rows, share: float, advance: Callable[[int], None]
) -> tuple[Tolerant, Findings]:
    """All statistics; the evidence for columns and candidates is that beyond the tolerance."""
    found = Findings(rows.permutations.count)
    columns: dict[str, np.ndarray] = {}
    best: dict[str, float] = {}

    def add(name: str, statistics: np.ndarray, labels: Sequence[tuple[str, str]]) -> None:
        found.parts[name] = np.maximum(found.parts.get(name, 0.0), statistics.max(axis=0))
        leader = int(statistics[:, 0].argmax())
        if statistics[leader, 0] > best.get(name, -1.0):
            best[name] = statistics[leader, 0]
            found.kinds[name], found.carriers[name] = labels[leader]

    for group in _groups(rows, found):
        outer = np.array([kind == "spread" for kind, _ in group.labels])
        smooth = mean_differences(rows.permutations, group.values, outer)
        add(group.name, smooth, group.labels)
        each = softened(smooth, share)
        if group.name == "categories":
            category = next(c for c in rows.categories if c.name == group.labels[0][1])
            found.columns.add([share_candidates(category, each[:, 0])], each.max(axis=0)[None])
            continue
        half_lines, intervals = share_differences(
            group.values, rows.permutations.words, rows.permutations.count, _CUTS, rows.n_threads
        )
        add("half-lines", half_lines, group.labels)
        add("intervals", intervals, [("shape", name) for _, name in group.labels])
        if group.name == "columns":
            columns["location"] = each
            # Intervals see changes of location and spread too.
            columns["shape"] = softened(intervals, share) / _SHAPE
        elif group.name == "spreads":
            columns["spread"] = each
            strengths = np.stack(list(columns.values()))
            kinds = [leading_kinds(list(columns), column) for column in strengths[:, :, 0].T]
            named = [candidates_of(*pair) for pair in zip(rows.names, kinds, strict=True)]
            found.columns.add(named, strengths.max(axis=0))
        elif group.name == "whole rows":
            named = [candidates_of(name, (kind,), False) for kind, name in group.labels]
            found.whole.add(named, each)
        elif group.pairs is not None:
            found.pairs.add([pair_candidate(rows.names, pair) for pair in group.pairs], each)
        if group.name in ("columns", "directions"):
            advance(len(each))
    if rows.points.shape[1] > 1:
        found.parts["learned direction"], found.carriers["learned direction"] = learned_direction(
            rows
        )
        found.kinds["learned direction"] = "location"
    return Tolerant(found.parts), found


def _groups(rows: Rows, found: Findings) -> Iterator[Group]:
    """Functions of a row, a few at a time."""
    d, names = rows.points.shape[1], rows.names
    if d:
        columns = np.ascontiguousarray(rows.points.T)
        yield Group("columns", columns, [("location", name) for name in names])
        yield Group("spreads", np.abs(columns), [("spread", name) for name in names])
        outlying = np.zeros(len(rows.points))
        step = max(1, BLOCK // len(rows.points))
        for first in range(0, len(rows.directions), step):
            directions = rows.directions[first : first + step]
            values = rows.along(directions)
            center = np.median(values, axis=1, keepdims=True)
            spread = pooled_spread(values.T)[:, None]
            np.maximum(outlying, (np.abs(values - center) / spread).max(axis=0), out=outlying)
            later = slice(max(0, d - first), None)
            if len(directions[later]):
                texts = [("location", direction_text(each, names)) for each in directions[later]]
                yield Group("directions", np.ascontiguousarray(values[later]), texts)
        labels, whole = rows.whole_rows()
        labels.append("outlyingness")
        kinds = ["location" if label.startswith("sum") else "spread" for label in labels]
        values = np.concatenate([whole, outlying[None]])
        yield Group("whole rows", values, list(zip(kinds, labels, strict=True)))
        pairs, drawn = rows.pairs(_PAIRS)
        if drawn:
            found.notes.append(
                f"dependence was looked for in {_PAIRS} pairs of columns drawn at random"
            )
        near = columns.clip(-_HUGE, _HUGE)
        for first in range(0, len(pairs), step):
            some = pairs[first : first + step]
            products = near[some[:, 0]] * near[some[:, 1]]
            texts = [("dependence", f"{names[i]} and {names[j]}") for i, j in some]
            yield Group("dependence", products, texts, some)
    for category in rows.categories:
        texts = [("shares", category.name)] * len(category.values)
        yield Group("categories", category.indicators(), texts)


def mean_differences(
    permutations: Permutations, values: np.ndarray, outer: np.ndarray
) -> np.ndarray:
    """|G(h)| of ranks of values (F, n), cut off and stretched to [0, 1], of shape (F, B + 1).

    `outer` (F,) says for which functions ranks count among outer rows, and not around the middle.
    """
    low, high = np.where(outer, np.transpose([_OUTER]), np.transpose([_INNER]))[:, :, None]
    ranks = unit_ranks(values).clip(low, high)
    low = ranks.min(axis=1, keepdims=True)
    width = ranks.max(axis=1, keepdims=True) - low
    found = permutations.contrasts((ranks - low) / np.where(width > 0, width, 1.0))
    return np.abs(found) * np.sqrt(
        permutations.n_rows / (permutations.sizes[0] * permutations.sizes[1])
    )


# -- a direction found anew for every labeling ----------------------------------------------------

# Values count up to so many standard deviations where the direction is sought, and where the
# difference along it is measured.
_SOUGHT, _MEASURED = 2.5, 0.7
_STEPS = 2


def learned_direction(rows: Rows) -> tuple[np.ndarray, str]:
    """|G(h)| of h = clipped projection on a direction fitted to the labels, for each labeling.

    The direction of every labeling is found by the same few steps uphill, so that permuted labels
    profit from it as much as the given ones.
    """
    permutations = rows.permutations
    points, to_rows = _whitened(rows.points)
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
