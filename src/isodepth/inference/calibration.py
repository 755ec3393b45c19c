"""What undrifted batches score: rows set aside, made into batches, and compared with the rest.

The rows of the reference are shared out. One part makes the table; of the others, batches of the
declared sizes are made, and no row is in two of them where there are enough. Given the table, the
scores of these batches and of undrifted batches to come are then exchangeable, which is all that
p-values and alarms rest on. Where rows do not suffice, batches are drawn from the held-out ones
with replacement: their scores depend on each other and are not exchangeable with those to come, so
that every promise becomes an approximation, which the results say.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.inference.table_gauge import between

#: Disjoint batches of each size that are enough to say what is usual.
ENOUGH = 20
#: More calibration scores than this say little more; further rows make a better table.
MOST = 1000
RESAMPLED = 200
#: Where the batches of a calibration come from.
WAYS = ("disjoint", "resampled", "blocks")
# A table of this many batches has little noise beside that of one batch.
_TABLE_BATCHES = 4
#: Blocks of the reference may be so many times smaller or larger than a batch.
_BLOCK_MARGIN = 2.0


class Split(NamedTuple):
    """Which rows of a reference do what.

    Attributes
    ----------
    table : int ndarray
    batches : list of lists of int ndarrays
        For each size the rows of its batches.
    way : {"disjoint", "resampled", "blocks"}
    """

    table: np.ndarray
    batches: list[list[np.ndarray]]
    way: str


def split_rows(n: int, sizes: tuple[int, ...], rng: np.random.Generator) -> Split:
    """Share out n rows for batches of `sizes`, one of each size at a time."""
    together, largest = sum(sizes), max(sizes)
    most_held = n - min(n // 2, max(_TABLE_BATCHES * largest, n // 5))
    if n < max(4, 2 * largest):
        raise InvalidInputError(
            f"the reference has {n} row(s), too few for batches of {largest}: half of them make "
            f"the table, and the others must hold a batch; give at least {max(4, 2 * largest)} "
            "rows or a smaller batch_size"
        )
    order = rng.permutation(n)
    count = min(most_held // together, MOST)
    if count >= ENOUGH:
        held = order[: count * together].reshape(count, together)
        ends = np.cumsum((0, *sizes))
        batches = [list(held[:, a:b]) for a, b in itertools.pairwise(ends)]
        return Split(order[count * together :], batches, "disjoint")
    held = order[:most_held]
    batches = [[rng.choice(held, size) for _ in range(RESAMPLED)] for size in sizes]
    return Split(order[most_held:], batches, "resampled")


def split_blocks(blocks: np.ndarray, rng: np.random.Generator) -> Split:
    """Share out whole blocks of rows: each is a batch, or a part of the table."""
    labels, places = np.unique(blocks, return_inverse=True)
    if len(labels) < 4:
        raise InvalidInputError(
            f"blocks has {len(labels)} different label(s); a reference of at least 4 blocks is "
            "needed, of which one makes the table"
        )
    order = rng.permutation(len(labels))
    count = min(len(labels) - max(1, len(labels) // 4), MOST)
    table = np.flatnonzero(np.isin(places, order[count:]))
    return Split(table, [[np.flatnonzero(places == b) for b in order[:count]]], "blocks")


@dataclass(frozen=True)
class Stratum:
    """The usual scores of batches of one size in one group.

    Attributes
    ----------
    group : str or None
    size : int
        Rows of a batch; with blocks, the largest.
    smallest : int
        The same as `size`; with blocks, the smallest.
    scores : ndarray of shape (n,), rising
    """

    group: str | None
    size: int
    smallest: int
    scores: np.ndarray


class Usual(NamedTuple):
    """What a batch is compared with.

    Attributes
    ----------
    stratum : int
        Which stratum it belongs to.
    scores : ndarray of shape (n,), rising
        What undrifted batches of its size score.
    interpolated : bool
    """

    stratum: int
    scores: np.ndarray
    interpolated: bool

    def pvalue(self, score: float) -> float:
        """Rank of a score among the usual ones: the share that is at least as large, never 0."""
        return (1 + self.rank(score)) / (len(self.scores) + 1)

    def rank(self, score: float) -> int:
        """How many usual scores are at least as large."""
        return int(len(self.scores) - np.searchsorted(self.scores, score, side="left"))


class Calibration:
    """The usual scores of every size and group.

    Parameters
    ----------
    strata : list of Stratum
    way : {"disjoint", "resampled", "blocks"}
        Where the batches came from. With "resampled" p-values and promises are approximations.
    """

    def __init__(self, strata: list[Stratum], way: str) -> None:
        self.strata = strata
        self.way = way

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many scores each stratum has."""
        return tuple(len(stratum.scores) for stratum in self.strata)

    def usual(self, n_rows: int, group: str | None) -> Usual:
        """What undrifted batches of so many rows of a group score, or an error."""
        mine = [i for i, stratum in enumerate(self.strata) if stratum.group == group]
        if not mine:
            raise _unknown_group(group, {stratum.group for stratum in self.strata})
        if self.way == "blocks":
            return self._usual_block(mine[0], n_rows)
        mine.sort(key=lambda i: self.strata[i].size)
        sizes = [self.strata[i].size for i in mine]
        if n_rows in sizes:
            found = mine[sizes.index(n_rows)]
            return Usual(found, self.strata[found].scores, False)
        if not sizes[0] < n_rows < sizes[-1]:
            raise InvalidInputError(
                f"the batch has {n_rows} row(s), and the monitor is calibrated for "
                f"{_sizes_text(sizes)}: a score of another size cannot be judged; declare its size "
                f"(batch_size={sorted({*sizes, n_rows})}), or collect batches of a declared size"
            )
        at = int(np.searchsorted(sizes, n_rows))
        return self._between(mine[at - 1], mine[at], n_rows)

    def _usual_block(self, stratum: int, n_rows: int) -> Usual:
        kept = self.strata[stratum]
        low, high = kept.smallest / _BLOCK_MARGIN, kept.size * _BLOCK_MARGIN
        if not low <= n_rows <= high:
            raise InvalidInputError(
                f"the batch has {n_rows} row(s), and the blocks of the reference had "
                f"{kept.smallest} to {kept.size}: a score of so different a size cannot be judged"
            )
        return Usual(stratum, kept.scores, False)

    def _between(self, smaller: int, larger: int, n_rows: int) -> Usual:
        """Each quantile of the scores, linear in the noise of a mean of so many rows."""
        a, b = self.strata[smaller], self.strata[larger]
        share = between(a.size, n_rows, b.size)
        scores = (1 - share) * a.scores + share * b.scores
        return Usual(smaller if share < 0.5 else larger, scores, True)

    def as_of_stratum(self, score: float, usual: Usual) -> float:
        """A score in the units of its stratum, where it is of a size between the declared ones."""
        if not usual.interpolated:
            return score
        known = self.strata[usual.stratum].scores
        if usual.scores[0] <= score <= usual.scores[-1]:
            return float(np.interp(score, usual.scores, known))
        end = 0 if score < usual.scores[0] else -1
        # Beyond all usual scores, by the ratio of the outermost.
        return score * known[end] / usual.scores[end] if usual.scores[end] > 0 else score


def calibrate(
    split: Split,
    sizes: tuple[int, ...],
    group: str | None,
    score: Callable[[np.ndarray], float],
) -> list[Stratum]:
    """Score the batches of a split; `score` is given the places of their rows."""
    strata = []
    for size, batches in zip(sizes or (0,), split.batches, strict=True):
        scores = np.sort([score(rows) for rows in batches])
        rows = [len(batch) for batch in batches]
        declared = (size, size) if sizes else (max(rows), min(rows))
        strata.append(Stratum(group, *declared, scores))
    return strata


def check_sizes(batch_size: Any) -> tuple[int, ...]:
    """The declared sizes of batches, rising."""
    from isodepth.data.validation import check_integer

    given = [batch_size] if np.ndim(batch_size) == 0 else list(batch_size)
    if not given:
        raise InvalidOptionError("batch_size must be a number of rows, or several; got none")
    return tuple(sorted({check_integer(size, "batch_size", 1) for size in given}))


def _sizes_text(sizes: list[int]) -> str:
    if len(sizes) == 1:
        return f"batches of {sizes[0]}"
    return f"batches of {sizes[0]} to {sizes[-1]} (declared: {', '.join(map(str, sizes))})"


def _unknown_group(group: str | None, known: set[str | None]) -> InvalidInputError:
    if known == {None}:
        return InvalidInputError(f"the monitor has no groups, got group={group!r}; leave it out")
    names = ", ".join(sorted(repr(name) for name in known))
    return InvalidInputError(f"group must be one of {names}, got {group!r}")
