"""Null scores: rows are set aside, made into batches, and scored against the others.

One part of the reference makes the scorer; of the other rows, batches of the declared sizes are
made, and no row is in two of them where there are enough. Given the scorer, the scores of these
batches and of undrifted batches to come are then exchangeable, which is all that p-values and
alarms rest on. Where rows do not suffice, batches are drawn from the held-out ones with
replacement: their scores depend on each other and are not exchangeable with those to come, so that
every promise becomes an approximation, which the results say.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.validation import check_integer
from isodepth.errors import InvalidInputError, InvalidOptionError

#: Disjoint batches of each size that are enough for a calibration.
ENOUGH = 20
#: More calibration scores than this say little more; further rows make a better scorer.
MOST = 1000
RESAMPLED = 200
#: Where the batches of a calibration come from.
SAMPLINGS = ("disjoint", "resampled", "blocks")
# A scorer of this many batches has little noise beside that of one batch.
_SCORER_BATCHES = 4
# Batches may be so many times larger than all blocks: their scores have less noise. Smaller ones
# have more, and would raise false alarms.
_LARGER = 1.1


class Split(NamedTuple):
    """Which rows of a reference do what.

    Attributes
    ----------
    scorer : int ndarray
    batches : list of lists of int ndarrays
        For each size the rows of its batches.
    sizes : list of (int, int)
        The smallest and the largest number of rows of these batches; with blocks, of all blocks.
    sampling : {"disjoint", "resampled", "blocks"}
    """

    scorer: np.ndarray
    batches: list[list[np.ndarray]]
    sizes: list[tuple[int, int]]
    sampling: str


def split_rows(n: int, sizes: tuple[int, ...], rng: np.random.Generator) -> Split:
    """Share out n rows for batches of `sizes`, one of each size at a time."""
    together, largest = sum(sizes), max(sizes)
    most_held = n - min(n // 2, max(_SCORER_BATCHES * largest, n // 5))
    if n < max(4, 2 * largest):
        raise InvalidInputError(
            f"the reference has {n} row(s), too few for batches of {largest}: half of them are "
            "what batches are compared with, and the others must hold a batch; give at least "
            f"{max(4, 2 * largest)} rows, or make batches smaller"
        )
    order, each = rng.permutation(n), [(size, size) for size in sizes]
    count = min(most_held // together, MOST)
    if count >= ENOUGH:
        held = order[: count * together].reshape(count, together)
        ends = np.cumsum((0, *sizes))
        batches = [list(held[:, a:b]) for a, b in itertools.pairwise(ends)]
        return Split(order[count * together :], batches, each, "disjoint")
    held = order[:most_held]
    batches = [[rng.choice(held, size) for _ in range(RESAMPLED)] for size in sizes]
    return Split(order[most_held:], batches, each, "resampled")


def split_blocks(blocks: np.ndarray, rng: np.random.Generator) -> Split:
    """Share out whole blocks of rows: a batch each, or a part of what these are compared with."""
    labels, indices, rows = np.unique(blocks, return_inverse=True, return_counts=True)
    if len(labels) < 4:
        raise InvalidInputError(
            f"blocks has {len(labels)} different label(s); a reference of at least 4 blocks is "
            "needed, of which one is what batches are compared with"
        )
    order = rng.permutation(len(labels))
    count = min(len(labels) - max(1, len(labels) // 4), MOST)
    scorer = np.flatnonzero(np.isin(indices, order[count:]))
    batches = [np.flatnonzero(indices == b) for b in order[:count]]
    return Split(scorer, [batches], [(int(rows.min()), int(rows.max()))], "blocks")


@dataclass(frozen=True)
class Stratum:
    """The null scores of batches of one size in one group.

    Attributes
    ----------
    group : str or None
    size : int
        Rows of a batch; with blocks, the largest.
    smallest : int
        The same as `size`; with blocks, the smallest.
    scores : ndarray of shape (n,), increasing
    """

    group: str | None
    size: int
    smallest: int
    scores: np.ndarray


class NullScores(NamedTuple):
    """What a batch is compared with.

    Attributes
    ----------
    stratum : int
        Which stratum it belongs to.
    scores : ndarray of shape (n,), increasing
        Scores of undrifted batches of its size.
    interpolated : bool
    exact : bool
        Whether undrifted scores are exchangeable with these. Of blocks of different sizes it is
        only known that the batch is not smaller than all of them.
    """

    stratum: int
    scores: np.ndarray
    interpolated: bool = False
    exact: bool = True

    def pvalue(self, score: float) -> float:
        """Rank of a score: the share of (n + 1) that is at least as large, never 0."""
        return (1 + self.rank(score)) / (len(self.scores) + 1)

    def rank(self, score: float) -> int:
        """How many null scores are at least as large."""
        return int(len(self.scores) - np.searchsorted(self.scores, score, side="left"))


def central_interval(scores: np.ndarray) -> tuple[float, float]:
    """Between these of the increasing scores lie 98% of them."""
    aside = len(scores) // 100
    return float(scores[aside]), float(scores[len(scores) - 1 - aside])


@dataclass(frozen=True)
class Calibration:
    """The null scores of every size and group.

    Attributes
    ----------
    strata : list of Stratum
    sampling : {"disjoint", "resampled", "blocks"}
        Where the batches came from. With "resampled" p-values and promises are approximations.
    """

    strata: list[Stratum]
    sampling: str

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many scores each stratum has."""
        return tuple(len(stratum.scores) for stratum in self.strata)

    def null_scores(self, n_rows: int, group: str | None) -> NullScores:
        """The scores of undrifted batches of so many rows of a group, or an error."""
        mine = [i for i, stratum in enumerate(self.strata) if stratum.group == group]
        mine.sort(key=lambda i: self.strata[i].size)
        if self.sampling == "blocks":
            return self._of_blocks(mine[0], n_rows)
        sizes = [self.strata[i].size for i in mine]
        if n_rows in sizes:
            found, exact = mine[sizes.index(n_rows)], self.sampling == "disjoint"
            return NullScores(found, self.strata[found].scores, exact=exact)
        if not sizes[0] < n_rows < sizes[-1]:
            declared = f"batches of {sizes[0]}"
            if len(sizes) > 1:
                declared += f" to {sizes[-1]} (declared: {', '.join(map(str, sizes))})"
            raise InvalidInputError(
                f"the batch has {n_rows} row(s), and the monitor is calibrated for {declared}: a "
                "score of another size cannot be compared; collect batches of such a size, or make "
                f"a monitor for {min(sizes[0], n_rows)} to {max(sizes[-1], n_rows)} rows"
            )
        at = int(np.searchsorted(sizes, n_rows))
        return self._between(mine[at - 1], mine[at], n_rows)

    def _of_blocks(self, index: int, n_rows: int) -> NullScores:
        known = self.strata[index]
        if not known.smallest <= n_rows <= _LARGER * known.size:
            rows = f"{known.smallest} to {known.size}"
            raise InvalidInputError(
                f"the batch has {n_rows} row(s), and the blocks of the reference had "
                f"{rows if known.smallest < known.size else known.size}: a score of another size "
                "cannot be compared; collect batches of these sizes, or make a monitor with blocks "
                "of such sizes"
            )
        return NullScores(index, known.scores, exact=known.smallest == known.size == n_rows)

    def _between(self, smaller: int, larger: int, n_rows: int) -> NullScores:
        """Each quantile of the scores, linear in the noise of a mean of so many rows."""
        a, b = self.strata[smaller], self.strata[larger]
        share = position_between(a.size, n_rows, b.size)
        scores = (1 - share) * a.scores + share * b.scores
        return NullScores(
            smaller if share < 0.5 else larger, scores, interpolated=True, exact=False
        )

    def as_of_stratum(self, score: float, null: NullScores) -> float:
        """A score in the units of its stratum, where it is of a size between the declared ones."""
        if not null.interpolated:
            return score
        known = self.strata[null.stratum].scores
        if null.scores[0] <= score <= null.scores[-1]:
            return float(np.interp(score, null.scores, known))
        end = 0 if score < null.scores[0] else -1
        # Beyond all null scores, by the ratio of the outermost.
        return score * known[end] / null.scores[end] if null.scores[end] > 0 else score


def position_between(smaller: int, size: int, larger: int) -> float:
    """Where a size lies between two others, 0 to 1, by the noise of a mean of so many rows."""
    low, here, high = (rows**-0.5 for rows in (smaller, size, larger))
    return (low - here) / (low - high)


def calibrate(
    split: Split, group: str | None, score: Callable[[np.ndarray], float]
) -> list[Stratum]:
    """Score the batches of a split; `score` is given the indices of their rows."""
    return [
        Stratum(group, largest, smallest, np.sort([score(rows) for rows in batches]))
        for (smallest, largest), batches in zip(split.sizes, split.batches, strict=True)
    ]


def check_sizes(batch_size: Any) -> tuple[int, ...]:
    """The declared sizes of batches, increasing."""
    given = [batch_size] if np.ndim(batch_size) == 0 else list(batch_size)
    if not given:
        raise InvalidOptionError("batch_size must be a number of rows, or several; got none")
    return tuple(sorted({check_integer(size, "batch_size", 1) for size in given}))
