"""Several statistics on the same permutations, one exact p-value.

Statistics of all labelings, the given one among them, lie along the last axis, the given one first.
Whatever treats all labelings alike keeps the p-value exact: the rank of the given labeling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from isodepth.significance.categories import Category
from isodepth.significance.pooled_sample import BLOCK, CENTER, PooledSample
from isodepth.significance.result import Change

# Of equal statistics one may round up and the other down: so close they count as equal.
ROUNDING = 1e-6


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance along the last axis (kept), the variance as a share of the squared mean.

    The largest value is left out, so that one that stands out does not hide itself.
    """
    others = np.array(values, np.float64)
    largest = others.argmax(axis=-1)[..., None]
    n = max(1, others.shape[-1] - 1)
    np.put_along_axis(others, largest, 0.0, axis=-1)
    mean = others.sum(axis=-1, keepdims=True) / n
    np.put_along_axis(others, largest, mean, axis=-1)
    mean = np.maximum(mean, np.finfo(np.float64).tiny)
    variance = np.square(others / mean - 1.0).sum(axis=-1, keepdims=True) / n
    # Where all are equal, whatever is larger by more than rounding stands out.
    return mean, np.maximum(variance, 1e-12)


def evidence(values: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
    """-log p of each labeling, from the gamma distribution with the moments of all of them.

    By the approximation of Wilson and Hilferty: the cube root of a gamma variable is nearly normal.

    Parameters
    ----------
    values : ndarray of shape (..., B + 1), not negative
    at : ndarray of shape (..., any) or None
        Where the tail begins, if not at the values themselves.

    Examples
    --------
    >>> import numpy as np
    >>> int(evidence(np.array([9.0, 1.0, 2.0, 3.0])).argmax())
    0
    """
    from scipy.special import log_ndtr

    mean, variance = moments(values)
    deviation = np.sqrt(variance) / 3.0
    root = np.cbrt((values if at is None else at) / mean)
    return -log_ndtr((1.0 - root) / deviation - deviation)


def evidence_of_largest(values: np.ndarray) -> np.ndarray:
    """-log p of each labeling for the largest of many -log p, from the Gumbel distribution.

    The largest of K exponential variables is log K plus a Gumbel variable, nearly: a gamma
    distribution with the same moments has a shorter tail, by which such statistics would take a
    larger part of the level the more columns there are.
    """
    from scipy.special import exprel

    mean, variance = moments(values)
    scale = np.sqrt(6.0 * variance) / np.pi * mean
    z = (values - mean) / scale + np.euler_gamma
    # -log(1 - exp(-exp(-z))), which is z far out.
    return z - np.log(exprel(-np.exp(-np.maximum(z, -500.0))))


def combined(evidence: dict[str, np.ndarray], weights: dict[str, float]) -> np.ndarray:
    """The largest of -log p + log w over statistics, for each labeling."""
    return np.max([part + np.log(weights[name]) for name, part in evidence.items()], axis=0)


def permutation_pvalue(observed: Any, null: np.ndarray) -> Any:
    """(1 + how many of `null` (B,) are at least as large) / (1 + B), for one or many statistics.

    Examples
    --------
    >>> import numpy as np
    >>> permutation_pvalue(2.0, np.array([1.0, 2.0, 3.0]))
    0.75
    """
    observed = np.asarray(observed, np.float64)
    least = observed - ROUNDING * (np.abs(observed) + np.ptp(null))
    below = np.searchsorted(np.sort(null), least, side="left")
    found = (1 + len(null) - below) / (1 + len(null))
    return float(found) if observed.ndim == 0 else found


# -- what may have changed ----------------------------------------------------------------------

# What functions of a row stand for ("location", "spread", ...), and what carries each.
Labels = list[tuple[str, str]]
# The changes that one function of a row may stand for; their p-values come when all are known.
Candidate = tuple[Change, ...]


def changes_of(name: str, kinds: Sequence[str], single: bool = True) -> Candidate:
    """The changes of one column, or with single=False of a function of all columns."""
    columns = (name,) if single else ()
    return tuple(Change(kind, columns, f"the {kind} of {name}", 1.0) for kind in kinds)


def changes_of_shares(category: Category, strengths: np.ndarray) -> Candidate:
    """The categories that changed most: at least half of the strongest evidence, three at most."""
    order = np.argsort(-strengths, kind="stable")[:3]
    return tuple(
        Change(
            "shares", (category.name,), f"the share of {category.name} = {category.values[v]}", 1.0
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
    candidates : list of tuples of Change
        What is named together where the evidence is significant.
    observed : list of float
        -log p of each under the given labels.
    largest : ndarray of shape (B + 1,)
        The largest -log p of any, for each labeling.
    """

    def __init__(self, count: int) -> None:
        self.candidates: list[Candidate] = []
        self.observed: list[float] = []
        self.largest = np.zeros(count)

    def add(self, candidates: list[Candidate], found: np.ndarray) -> None:
        """Add candidates with their evidence (F, B + 1)."""
        self.candidates += candidates
        self.observed += found[:, 0].tolist()
        np.maximum(self.largest, found.max(axis=0), out=self.largest)

    def pvalues(self) -> np.ndarray:
        """Adjusted p-values of all candidates."""
        return permutation_pvalue(np.array(self.observed), self.largest[1:])

    def significant(self, alpha: float) -> list[tuple[float, Change]]:
        """Changes with adjusted p-values of at most alpha, and the evidence for each."""
        found = zip(self.candidates, self.observed, self.pvalues(), strict=True)
        return [
            (strength, change._replace(pvalue=float(p)))
            for candidate, strength, p in found
            for change in candidate
            if p <= alpha
        ]


class Findings:
    """What all labelings gave.

    Attributes
    ----------
    parts, evidence : dicts of ndarrays of shape (B + 1,)
        Each statistic for all labelings, and -log p of it.
    weights : dict of float
        Of the statistics.
    leaders : dict of pairs of str
        What each statistic stands for, and what carries it, under the given labels.
    columns, pairs, whole : Family
        Single columns, pairs of columns, and functions of all columns.
    smallest_tolerance : float or None
    notes : list of str
    """

    def __init__(self, count: int, weights: dict[str, float]) -> None:
        self.weights = weights
        self.parts: dict[str, np.ndarray] = {}
        self.evidence: dict[str, np.ndarray] = {}
        self.smallest_tolerance: float | None = None
        self.leaders: dict[str, tuple[str, str]] = {}
        self.columns, self.pairs, self.whole = (Family(count) for _ in range(3))
        self.notes: list[str] = []

    def add(self, name: str, values: np.ndarray, labels: Labels) -> None:
        """Take values (F, B + 1) into a statistic, which is the largest of all that it is given.

        `labels` are what each stands for, and what carries it.
        """
        leader, largest = int(values[:, 0].argmax()), values.max(axis=0)
        if name not in self.parts or largest[0] > self.parts[name][0]:
            self.leaders[name] = labels[leader]
        self.parts[name] = np.maximum(self.parts.get(name, 0.0), largest)

    def pairs_of(
        self, rows: PooledSample, most: int
    ) -> Iterator[tuple[np.ndarray, Labels, Family, list[Candidate]]]:
        """Pairs of columns, and of each column and the distance from the center, some at a time.

        The distance counts as column d. Inner rows on one side and outer rows on the other are seen
        in no column and no pair of them.
        """
        d = rows.points.shape[1]
        names = (*rows.names, CENTER)
        pairs, notes = rows.pairs(most)
        self.notes += notes
        with_distance = np.stack([np.arange(d), np.full(d, d)], axis=1)
        step = max(1, BLOCK // max(len(rows.points), rows.permutations.count))
        for chosen, family in ((pairs, self.pairs), (with_distance, self.whole)):
            for first in range(0, len(chosen), step):
                some = chosen[first : first + step]
                texts = [f"{names[a]} and {names[b]}" for a, b in some]
                columns = [(names[a], names[b]) if family is self.pairs else () for a, b in some]
                named: list[Candidate] = [
                    (Change("dependence", own, f"the dependence between {text}", 1.0),)
                    for own, text in zip(columns, texts, strict=True)
                ]
                yield some, [("dependence", text) for text in texts], family, named
