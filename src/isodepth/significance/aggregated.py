"""The aggregated test: location, spread, shape, dependence and regions on the same permutations.

Every part but the regions is a matrix product of labels and functions of a row that do not know the
labels: cosines of ranks along directions, products of ranks, and indicators of categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from isodepth._core import project
from isodepth.core.scaling import pooled_spread
from isodepth.significance.categories import Category
from isodepth.significance.combination import evidence, permutation_p_value
from isodepth.significance.permutations import BLOCK, Permutations

#: Weights of the statistics, from power at the cells of the study (docs/power_study.md).
WEIGHTS = {
    "directions": 0.55,
    "columns": 0.33,
    "shape": 0.05,
    "dependence": 0.04,
    "regions": 0.03,
    "categories": 0.33,
}
# Cosines of ranks: along directions, and of single functions of a row.
_WAVES, _WAVES_ALONE = 4, 6
# Beyond this many columns not all pairs are looked at, but as many as so many columns have.
_COLUMNS_IN_PAIRS = 64
_PAIRS = _COLUMNS_IN_PAIRS * (_COLUMNS_IN_PAIRS - 1) // 2
# Columns with no more values than this have no shape beside their location and spread.
_FEW_VALUES = 20
# A sample with fewer rows of a category has no mean among them.
_FEWEST_INSIDE = 5
# Rows far away count as if they were so many spreads away in the distance from the center.
_FAR = 6.0


@dataclass(frozen=True)
class Rows:
    """The rows of both samples together, without their labels, and the labelings.

    Attributes
    ----------
    points : float64 ndarray of shape (n, d)
        Numeric columns around zero in units of their spread; d may be 0.
    names : tuple of str, of length d
    directions : ndarray of shape (K, d), the axes first
    permutations : Permutations
    rng : numpy.random.Generator
        Where pairs of columns come from if there are too many.
    categories : list of Category
    n_threads : int
    """

    points: np.ndarray
    names: tuple[str, ...]
    directions: np.ndarray
    permutations: Permutations
    rng: np.random.Generator
    categories: list[Category] = field(default_factory=list)
    n_threads: int = 1

    def along(self, directions: np.ndarray) -> np.ndarray:
        """Projections of all rows on directions (k, d), of shape (k, n)."""
        return project(self.points, np.ascontiguousarray(directions), self.n_threads)

    def whole_rows(self) -> tuple[list[str], np.ndarray]:
        """Names and values (F, n) of functions of all columns: their sum, and the radius."""
        radius = np.sqrt(np.square(self.points.clip(-_FAR, _FAR)).sum(axis=1))
        if self.points.shape[1] < 2:
            return ["distance from the center"], radius[None]
        total = self.along(np.ones((1, self.points.shape[1])))
        return ["distance from the center", "sum of the columns"], np.stack([radius, total[0]])

    def pairs(self, most: int = _PAIRS) -> tuple[np.ndarray, bool]:
        """Pairs of columns (P, 2), and whether they are only some, drawn at random."""
        d = self.points.shape[1]
        every = d * (d - 1) // 2
        if every <= most:
            return np.transpose(np.triu_indices(d, 1)), False
        first = self.rng.integers(0, d, most)
        second = (first + self.rng.integers(1, d, most)) % d
        return np.sort(np.stack([first, second], axis=1), axis=1), True


@dataclass(frozen=True)
class Candidate:
    """Something that may have changed.

    Attributes
    ----------
    kind : {"location", "spread", "shape", "dependence", "shares"}
    columns : tuple of str
        The columns that carry it; empty for functions of all columns.
    text : str
        As it stands in a sentence.
    """

    kind: str
    columns: tuple[str, ...]
    text: str


def candidates_of(name: str, kinds: tuple[str, ...], single: bool = True) -> tuple[Candidate, ...]:
    """The changes of one column, or with single=False of a function of all columns."""
    columns = (name,) if single else ()
    return tuple(Candidate(kind, columns, f"the {kind} of {name}") for kind in kinds)


def pair_candidate(names: tuple[str, ...], pair: np.ndarray) -> tuple[Candidate, ...]:
    """The change of the dependence of two columns."""
    a, b = (names[j] for j in pair)
    return (Candidate("dependence", (a, b), f"the dependence between {a} and {b}"),)


def share_candidates(category: Category, strengths: np.ndarray) -> tuple[Candidate, ...]:
    """The categories that changed most: at least half of the strongest evidence, three at most."""
    order = np.argsort(-strengths, kind="stable")[:3]
    return tuple(
        Candidate(
            "shares", (category.name,), f"the share of {category.name} = {category.values[v]}"
        )
        for v in order
        if 2 * strengths[v] >= strengths[order[0]]
    )


def leading_kinds(kinds: Sequence[str], strengths: np.ndarray) -> tuple[str, ...]:
    """The kind with the strongest evidence; of location and spread both, if close to each other.

    A strong change of one kind shows a little in the others, so the second must have half of the
    evidence of the first.

    Examples
    --------
    >>> leading_kinds(("location", "spread", "shape"), np.array([9.0, 5.0, 8.0]))
    ('location', 'spread')
    >>> leading_kinds(("location", "spread", "shape"), np.array([1.0, 5.0, 8.0]))
    ('shape',)
    """
    first = int(np.argmax(strengths))
    found = [kinds[first]]
    for kind, strength in zip(kinds, strengths, strict=True):
        both = {kind, kinds[first]} == {"location", "spread"}
        if both and 2 * strength >= strengths[first]:
            found.append(kind)
    return tuple(found)


class Family:
    """Candidates whose p-values are adjusted for each other by the largest evidence of any.

    Attributes
    ----------
    candidates : list of tuples of Candidate
        What is named together where the evidence is significant.
    observed : list of float
        -log p of each under the given labels.
    largest : ndarray of shape (B + 1,)
        The largest -log p of any, for each labeling.
    """

    def __init__(self, count: int) -> None:
        self.candidates: list[tuple[Candidate, ...]] = []
        self.observed: list[float] = []
        self.largest = np.zeros(count)

    def add(self, candidates: list[tuple[Candidate, ...]], found: np.ndarray) -> None:
        """Add candidates with their evidence (F, B + 1)."""
        self.candidates += candidates
        self.observed += found[:, 0].tolist()
        np.maximum(self.largest, found.max(axis=0), out=self.largest)

    def p_values(self) -> np.ndarray:
        """Adjusted p-values of all candidates."""
        return permutation_p_value(np.array(self.observed), self.largest[1:])


class Findings:
    """What all labelings gave.

    Attributes
    ----------
    parts : dict of ndarrays of shape (B + 1,)
        Each statistic for all labelings.
    carriers : dict of str
        What carries each statistic under the given labels.
    kinds : dict of str
        What each statistic stands for.
    columns, pairs, whole : Family
        Single columns, pairs of columns, and functions of all columns.
    notes : list of str
    """

    def __init__(self, count: int) -> None:
        self.parts: dict[str, np.ndarray] = {}
        self.carriers: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self.columns, self.pairs, self.whole = (Family(count) for _ in range(3))
        self.notes: list[str] = []


def aggregated_statistics(rows: Rows) -> Findings:
    """All statistics but the regions."""
    found = Findings(rows.permutations.count)
    if rows.points.shape[1]:
        _add_functions(rows, found)
        _add_pairs(rows, found)
        _add_category_means(rows, found)
    if found.pairs.candidates:
        best = found.pairs.candidates[int(np.argmax(found.pairs.observed))][0]
        found.parts["dependence"] = found.pairs.largest
        found.kinds["dependence"] = "dependence"
        found.carriers["dependence"] = best.text.removeprefix("the dependence between ")
    if rows.categories:
        _add_categories(rows, found)
    return found


def unit_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks of each row of values (F, n) in (0, 1); equal values share their middle rank."""
    from scipy.stats import rankdata

    return (rankdata(values, axis=1) - 0.5) / values.shape[1]


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


def _add_functions(rows: Rows, found: Findings) -> None:
    d = rows.points.shape[1]
    labels, whole = rows.whole_rows()
    names = [*rows.names, *labels]
    powers = np.square(
        waves(rows.permutations, np.concatenate([rows.points.T, whole]), _WAVES_ALONE)
    )
    smooth, flat = (powers * _falling(_WAVES_ALONE)).sum(axis=0), powers.sum(axis=0)
    _add_directions(rows, powers[:_WAVES, :d], found)
    smooth, flat = evidence(smooth), evidence(flat)
    strengths = evidence(np.stack([powers[0], powers[1], powers[2:].sum(axis=0)]))[:, :, 0].T
    usual = ("location", "spread", "shape")
    kinds = [leading_kinds(usual, each) for each in strengths]
    for j in np.flatnonzero(_differs_in_shape(rows, powers[:, :d, 0].sum(axis=0))):
        kinds[j] = ("shape",)
    # A larger distance from the center is a larger spread.
    kinds[d] = leading_kinds(("spread", "shape", "shape"), strengths[d])
    for name, each in (("columns", smooth), ("shape", flat)):
        best = int(each[:, 0].argmax())
        found.parts[name] = each.max(axis=0)
        found.carriers[name] = names[best]
        found.kinds[name] = kinds[best][0]
    either = np.maximum(smooth, flat)
    candidates = [candidates_of(names[f], kinds[f], f < d) for f in range(len(names))]
    found.columns.add(candidates[:d], either[:d])
    found.whole.add(candidates[d:], either[d:])


def _differs_in_shape(rows: Rows, powers: np.ndarray) -> np.ndarray:
    """Which columns (d,) keep most of their difference when medians and spreads are made equal.

    `powers` (d,) are the sums of squared contrasts of the columns as they are. A sum of six terms
    with variance 1/2 is 3 on average by chance.
    """
    given = rows.permutations.labels(words=slice(0, 1))[:, 0] > 0
    aligned = np.empty(rows.points.shape)
    for mine in (given, ~given):
        part = rows.points[mine]
        aligned[mine] = (part - np.median(part, axis=0)) / pooled_spread(part)
    ranks = unit_ranks(aligned.T)
    left = np.zeros(len(powers))
    size = np.sqrt(given.sum() * (~given).sum() / len(given))
    for j in range(1, _WAVES_ALONE + 1):
        cosines = np.cos(np.pi * j * ranks)
        left += np.square(size * (cosines[:, given].mean(axis=1) - cosines[:, ~given].mean(axis=1)))
    chance = _WAVES_ALONE / 2
    several = np.array([len(np.unique(column)) > _FEW_VALUES for column in rows.points.T])
    return several & (left - chance > 0.5 * (powers - chance))


def _add_directions(rows: Rows, axes: np.ndarray, found: Findings) -> None:
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
    found.parts["directions"] = total / len(rows.directions)
    found.kinds["directions"] = ("location", "spread", "shape", "shape")[
        int(evidence(by_wave)[:, 0].argmax())
    ]
    found.carriers["directions"] = direction_text(direction, rows.names)


def direction_text(direction: np.ndarray, names: tuple[str, ...]) -> str:
    """The columns that a direction leans on, at most three, such as "0.8 temp - 0.6 dewp"."""
    order = np.argsort(-np.abs(direction), kind="stable")[:3]
    kept = [j for j in order if abs(direction[j]) >= 0.1]
    terms = "".join(
        f" {'-' if direction[j] < 0 else '+'} {abs(direction[j]):.2g} {names[j]}" for j in kept
    )
    more = " ..." if np.square(direction[kept]).sum() < 0.99 else ""
    return terms.removeprefix(" + ").lstrip() + more


def _add_pairs(rows: Rows, found: Findings) -> None:
    """The change of the rank correlation of each pair."""
    pairs, drawn = rows.pairs()
    if not len(pairs):
        return
    if drawn:
        found.notes.append(
            f"dependence was looked for in {len(pairs)} pairs of columns drawn at random"
        )
    ranks = unit_ranks(rows.points.T) - 0.5
    moments = Moments(rows.permutations, ranks)
    step = max(1, BLOCK // max(len(rows.points), rows.permutations.count))
    for first in range(0, len(pairs), step):
        some = pairs[first : first + step]
        each = evidence(np.square(moments.correlation_change(ranks, some)))
        found.pairs.add([pair_candidate(rows.names, pair) for pair in some], each)


def _add_category_means(rows: Rows, found: Findings) -> None:
    """The change of the mean rank of each column among the rows of each category."""
    values = [(category, v) for category in rows.categories for v in range(len(category.values))]
    pairs = [(j, at) for at in range(len(values)) for j in range(rows.points.shape[1])]
    if len(pairs) > _PAIRS:
        pairs = [pairs[k] for k in rows.rng.choice(len(pairs), _PAIRS, replace=False)]
        found.notes.append(
            f"means by category were looked at in {_PAIRS} pairs of a column and a value at random"
        )
    ranks, draws = unit_ranks(rows.points.T) - 0.5, rows.permutations
    step = max(1, BLOCK // max(len(rows.points), draws.count))
    for first in range(0, len(pairs), step):
        some = pairs[first : first + step]
        inside = np.array([values[at][0].codes == values[at][1] for _, at in some], np.float64)
        own = ranks[[j for j, _ in some]]
        change = mean_changes(draws, own, inside)
        named: list[tuple[Candidate, ...]] = []
        for j, at in some:
            (category, v), name = values[at], rows.names[j]
            text = f"the dependence between {name} and {category.name} = {category.values[v]}"
            named.append((Candidate("dependence", (name, category.name), text),))
        found.pairs.add(named, evidence(np.square(change)))


def mean_changes(draws: Permutations, values: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """How the means of values (F, n) inside of sets, less those of all rows, differ, (F, B + 1).

    `inside` (F, n) is 0 or 1. In units of the error of such a mean; 0 where a sample has fewer than
    five rows in the set.
    """
    sides = []
    for part in (values * inside, inside, values):
        first = draws.sums(part)
        sides.append(np.stack([first, part.sum(axis=1)[:, None] - first]))
    inner, counts, whole = sides
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
        first = self._permutations.sums(values)
        both = np.stack([first, values.sum(axis=1)[:, None] - first])
        return both / self._permutations.sizes[:, None]

    def correlation_change(self, values: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """The correlation of pairs (P, 2) of functions in X less that in Y, (P, B + 1)."""
        a, b = pairs.T
        covariance = self._both(values[a] * values[b]) - self.means[:, a] * self.means[:, b]
        # Constant in one of the samples: no correlation. Ranks are of size one.
        product = self.variances[:, a] * self.variances[:, b]
        flat = product <= 1e-24
        found = np.where(flat, 0.0, covariance / np.sqrt(np.where(flat, 1.0, product)))
        return found[0] - found[1]


def _add_categories(rows: Rows, found: Findings) -> None:
    """Pearson's statistic of each column."""
    whole = []
    for category in rows.categories:
        indicators = category.indicators()
        squares = np.square(rows.permutations.contrasts(indicators))
        whole.append(evidence((squares / indicators.mean(axis=1)[:, None]).sum(axis=0)))
        named = share_candidates(category, evidence(squares)[:, 0])
        found.columns.add([named], whole[-1][None])
    found.parts["categories"] = np.max(whole, axis=0)
    found.kinds["categories"] = "shares"
    best = int(np.argmax([each[0] for each in whole]))
    found.carriers["categories"] = rows.categories[best].name
