"""The aggregated test: location, spread, shape, dependence and regions on the same permutations.

Every part but the regions is a matrix product of labels and functions of a row that do not know the
labels: cosines of ranks along directions, products of ranks, and indicators of categories.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from isodepth._core import project
from isodepth.significance.categories import Category
from isodepth.significance.combination import evidence
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


@dataclass
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
    columns : ndarray of shape (d + categories, B + 1)
        -log p of each column by itself.
    candidates : list of Candidate
    candidate_evidence : ndarray
        -log p of each under the given labels.
    largest : ndarray of shape (B + 1,)
        The largest -log p of any candidate.
    notes : list of str
    """

    parts: dict[str, np.ndarray]
    carriers: dict[str, str]
    kinds: dict[str, str]
    columns: np.ndarray
    candidates: list[Candidate]
    candidate_evidence: np.ndarray
    largest: np.ndarray
    notes: list[str]


def aggregated_statistics(rows: Rows) -> Findings:
    """All statistics but the regions."""
    found = Collector(rows.permutations.count)
    if rows.points.shape[1]:
        _add_functions(rows, found)
        _add_pairs(rows, found)
    if rows.categories:
        _add_categories(rows, found)
    return found.findings()


class Collector:
    """Collects statistics, columns and candidates."""

    def __init__(self, count: int) -> None:
        self.parts: dict[str, np.ndarray] = {}
        self.carriers: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self.columns: list[np.ndarray] = []
        self.candidates: list[Candidate] = []
        self.observed: list[np.ndarray] = []
        self.largest = np.zeros(count)
        self.notes: list[str] = []

    def candidate(self, candidates: list[Candidate], found: np.ndarray) -> None:
        """Add candidates with their evidence (F, B + 1)."""
        self.candidates += candidates
        self.observed.append(found[:, 0])
        np.maximum(self.largest, found.max(axis=0), out=self.largest)

    def findings(self) -> Findings:
        return Findings(
            self.parts, self.carriers, self.kinds, np.concatenate(self.columns),
            self.candidates, np.concatenate(self.observed), self.largest, self.notes,
        )  # fmt: skip


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


def _add_functions(rows: Rows, found: Collector) -> None:
    d = rows.points.shape[1]
    labels, whole = rows.whole_rows()
    powers = np.square(
        waves(rows.permutations, np.concatenate([rows.points.T, whole]), _WAVES_ALONE)
    )
    smooth, flat = (powers * _falling(_WAVES_ALONE)).sum(axis=0), powers.sum(axis=0)
    names = [*rows.names, *labels]
    _add_directions(rows, powers[:_WAVES, :d], found)
    found.columns.append(np.maximum(evidence(smooth[:d]), evidence(flat[:d])))
    groups = np.stack([powers[0], powers[1], powers[2:].sum(axis=0)])
    by_kind = evidence(groups)
    usual = ("location", "spread", "shape")
    # A larger distance from the center is a larger spread.
    kinds = [*[usual] * d, ("spread", "shape", "shape"), *[usual] * (len(labels) - 1)]
    for name, values in (("columns", smooth), ("shape", flat)):
        each = evidence(values)
        best = int(each[:, 0].argmax())
        found.parts[name] = each.max(axis=0)
        found.carriers[name] = names[best]
        found.kinds[name] = kinds[best][int(by_kind[:, best, 0].argmax())]
    for f, name in enumerate(names):
        carried = (name,) if f < d else ()
        found.candidate(
            [Candidate(kind, carried, f"the {kind} of {name}") for kind in kinds[f]],
            by_kind[:, f],
        )


def _add_directions(rows: Rows, axes: np.ndarray, found: Collector) -> None:
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


def _add_pairs(rows: Rows, found: Collector) -> None:
    """The change of the rank correlation of each pair, in units of its spread over labelings."""
    pairs, drawn = rows.pairs()
    if not len(pairs):
        return
    if drawn:
        found.notes.append(
            f"dependence was looked for in {len(pairs)} pairs of columns drawn at random"
        )
    ranks = unit_ranks(rows.points.T) - 0.5
    moments = Moments(rows.permutations, ranks)
    largest, most, best = np.zeros(rows.permutations.count), -1.0, pairs[0]
    for some in _blocks(pairs, max(1, BLOCK // max(len(rows.points), rows.permutations.count))):
        change = np.square(moments.correlation_change(ranks, some))
        each = evidence(change)
        found.candidate([pair_candidate(rows.names, pair) for pair in some], each)
        np.maximum(largest, each.max(axis=0), out=largest)
        if each[:, 0].max() > most:
            most, best = each[:, 0].max(), some[each[:, 0].argmax()]
    found.parts["dependence"] = largest
    found.kinds["dependence"] = "dependence"
    found.carriers["dependence"] = " and ".join(rows.names[j] for j in best)


def _blocks(items: np.ndarray, step: int) -> Iterator[np.ndarray]:
    return (items[first : first + step] for first in range(0, len(items), step))


def pair_candidate(names: tuple[str, ...], pair: np.ndarray) -> Candidate:
    a, b = (names[j] for j in pair)
    return Candidate("dependence", (a, b), f"the dependence between {a} and {b}")


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


def _add_categories(rows: Rows, found: Collector) -> None:
    """Pearson's statistic of each column, and each category by itself."""
    largest, most = np.zeros(rows.permutations.count), -1.0
    for category in rows.categories:
        indicators = category.indicators()
        shares = indicators.mean(axis=1)[:, None]
        squares = np.square(rows.permutations.contrasts(indicators))
        whole = evidence((squares / shares).sum(axis=0))
        found.columns.append(whole[None])
        found.candidate(
            [
                Candidate("shares", (category.name,), f"the share of {category.name} = {value}")
                for value in category.values
            ],
            evidence(squares),
        )
        np.maximum(largest, whole, out=largest)
        if whole[0] > most:
            most, found.carriers["categories"] = whole[0], category.name
    found.parts["categories"] = largest
    found.kinds["categories"] = "shares"
