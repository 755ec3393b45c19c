"""The rows of both samples together: their units, functions of a row, and permuted labels.

Units, directions and functions do not know which row belongs to which sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isodepth._core import project
from isodepth.core.directions import unit_vectors
from isodepth.core.scaling import check_scale_width, column_units, mad_spread
from isodepth.data.validation import check_finite
from isodepth.errors import InvalidOptionError
from isodepth.significance.categories import Category

#: Permutations that share a word of bits.
WORD = 64
#: Numbers in a block of labels or of functions of the rows: 32 MB.
BLOCK = 1 << 22
#: Names of the functions of all columns.
CENTER, TOTAL = "distance from the center", "sum of the columns"
OUTLYINGNESS = "outlyingness"
# Rows far away count as if they were so many spreads away in the distance from the center.
_FAR = 6.0
# About so many directions, in whole frames of orthonormal vectors: more cost time in proportion
# and add little power.
_DIRECTIONS = 100


def units_of(x: np.ndarray, y: np.ndarray, scale: Any, eps: float) -> np.ndarray | None:
    """Return the unit of each column, from both samples together."""
    if scale is None:
        return None
    if isinstance(scale, str):
        return column_units(np.concatenate([x, y]), None, eps)
    check_scale_width(scale, x.shape[1])
    return scale


def standardized(
    x: np.ndarray, y: np.ndarray, units: np.ndarray | None, names: tuple[str, ...]
) -> tuple[np.ndarray, float]:
    """All rows around zero with size about one, and the power of two they were divided by."""
    # Frames give columns that lie one after the other.
    points = np.ascontiguousarray(np.concatenate([x, y]), dtype=np.float64)
    points -= np.median(points, axis=0)
    size = 1.0
    if units is None:
        size = 2.0 ** math.frexp(float(mad_spread(points).max(initial=0.0)))[1]
        points /= size
    else:
        with np.errstate(over="ignore"):
            points /= units
    if names:
        check_finite(points, "X or Y divided by scale", False, names)
    points += 0.0  # no negative zeros: equal numbers are equal bits
    return points, size


def directions_with_axes(d: int, n_directions: int | None, random_state: Any) -> np.ndarray:
    """The axes, followed by frames of random orthonormal vectors, of shape (K, d)."""
    if d < 2:
        return np.eye(d)
    if n_directions is None:
        n_directions = d * max(2, math.ceil(_DIRECTIONS / d))
    if n_directions < d:
        raise InvalidOptionError(
            f"n_directions must be at least the number of columns, {d}, since the axes are among "
            f"them; got {n_directions}"
        )
    if n_directions == d:
        return np.eye(d)
    return np.concatenate(
        [np.eye(d), unit_vectors(d, n_directions - d, "orthogonal", random_state)]
    )


class Permutations:
    """The labels that were given, followed by labels drawn at random.

    Whole blocks change sides, and as many of them are in each sample as before: under the
    hypothesis that blocks are exchangeable all such labels are equally likely. Labels are held as
    bits.

    Parameters
    ----------
    n_x, n_y : int
        Rows of the two samples; those of the first come first.
    n_permutations : int
    rng : numpy.random.Generator
    blocks : int64 ndarray of shape (n_x + n_y,) or None
        The number of the block of each row, the blocks of the first sample first, see
        :func:`isodepth.significance.settings.check_blocks`; None where every row is one.

    Attributes
    ----------
    words : uint64 ndarray of shape (W, n_x + n_y)
        Bit b of words[w, i] says whether row i is of the first sample in labeling 64 w + b.
        Labeling 0 is the one that was given.
    sizes : float64 ndarray of shape (2, n_permutations + 1)
        Rows of the first and of the second sample in each labeling.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = Permutations(2, 1, 9, np.random.default_rng(0))
    >>> drawn.labels().sum(axis=0)
    array([2., 2., 2., 2., 2., 2., 2., 2., 2., 2.])
    """

    def __init__(
        self,
        n_x: int,
        n_y: int,
        n_permutations: int,
        rng: np.random.Generator,
        blocks: np.ndarray | None = None,
    ) -> None:
        self.n_x, self.n_rows = n_x, n_x + n_y
        self.count = n_permutations + 1
        n_units = self.n_rows if blocks is None else int(blocks.max()) + 1
        n_units_x = n_x if blocks is None else int(blocks[:n_x].max()) + 1
        self.words = np.empty((-(-self.count // WORD), self.n_rows), np.uint64)
        self.sizes = np.empty((2, self.count))
        for w, words in enumerate(self.words):
            labels = np.zeros((WORD, self.n_rows), np.uint8)
            for b in range(min(WORD, self.count - w * WORD)):
                units = np.zeros(n_units, np.uint8)
                given = w == b == 0
                units[:n_units_x] = given
                if not given:
                    units[rng.permutation(n_units)[:n_units_x]] = 1
                labels[b] = units if blocks is None else units[blocks]
                self.sizes[0, w * WORD + b] = labels[b].sum(dtype=np.int64)
            packed = np.packbits(labels, axis=0, bitorder="little")
            words[:] = np.ascontiguousarray(packed.T).view("<u8")[:, 0]
        self.sizes[1] = self.n_rows - self.sizes[0]

    def labels(
        self, rows: slice = slice(None), words: slice = slice(None), dtype: Any = np.float64
    ) -> np.ndarray:
        """Which rows are of the first sample, 0 or 1, of shape (rows, labelings)."""
        some = np.ascontiguousarray(self.words[words, rows], "<u8")
        bits = np.unpackbits(
            some.view(np.uint8).reshape(*some.shape, 8), axis=-1, bitorder="little"
        )
        there = self.count - WORD * (words.start or 0)
        return bits.transpose(1, 0, 2).reshape(some.shape[1], -1)[:, :there].astype(dtype)

    def blocks_of_labelings(
        self, dtype: Any, size: int = BLOCK
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """All labelings, some at a time, and the labels (n, some) of all rows."""
        step = max(1, size // (WORD * self.n_rows))
        for first in range(0, len(self.words), step):
            words = slice(first, first + step)
            labels = self.labels(words=words, dtype=dtype)
            yield slice(WORD * first, WORD * first + labels.shape[1]), labels

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of values (F, n) over the rows of the first sample, of shape (F, labelings)."""
        out = np.zeros((len(values), self.count))
        step = max(1, BLOCK // self.count)
        for first in range(0, self.n_rows, step):
            rows = slice(first, first + step)
            out += values[:, rows] @ self.labels(rows)
        return out

    def both_sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of values (F, n) over the rows of each sample, of shape (2, F, labelings)."""
        first = self.sums(values)
        return np.stack([first, values.sum(axis=1)[:, None] - first])

    def contrasts(self, values: np.ndarray) -> np.ndarray:
        """Differences of the means of values (F, n), of shape (F, labelings).

        The mean of the first sample less that of the second, times sqrt(n m / (n + m)): the
        variance under permutation is that of the values.
        """
        centered = values - values.mean(axis=1, keepdims=True)
        return self.sums(centered) * np.sqrt(self.n_rows / (self.sizes[0] * self.sizes[1]))


@dataclass(frozen=True)
class PooledSample:
    """The rows of both samples together, and the labelings.

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
        """Names and values (F, n) of functions of all columns: the distance, and the sum."""
        distance = np.sqrt(np.square(self.points.clip(-_FAR, _FAR)).sum(axis=1))
        if self.points.shape[1] < 2:
            return [CENTER], distance[None]
        total = self.along(np.ones((1, self.points.shape[1])))
        return [CENTER, TOTAL], np.stack([distance, total[0]])

    def pairs(self, most: int) -> tuple[np.ndarray, list[str]]:
        """Pairs of columns (P, 2), and a note where they are only some, drawn at random."""
        d = self.points.shape[1]
        if d * (d - 1) // 2 <= most:
            return np.transpose(np.triu_indices(d, 1)), []
        first = self.rng.integers(0, d, most)
        second = (first + self.rng.integers(1, d, most)) % d
        note = f"dependence was looked for in {most} pairs of columns drawn at random"
        return np.sort(np.stack([first, second], axis=1), axis=1), [note]


def unit_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks of each row of values (F, n) in (0, 1); equal values share their middle rank."""
    from scipy.stats import rankdata

    return (rankdata(values, axis=1) - 0.5) / values.shape[1]


def direction_text(direction: np.ndarray, names: tuple[str, ...]) -> str:
    """The columns that a direction leans on, at most three, such as "0.8 temp - 0.6 dewp"."""
    order = np.argsort(-np.abs(direction), kind="stable")[:3]
    kept = [j for j in order if abs(direction[j]) >= 0.1]
    terms = "".join(
        f" {'-' if direction[j] < 0 else '+'} {abs(direction[j]):.2g} {names[j]}" for j in kept
    )
    more = " ..." if np.square(direction[kept]).sum() < 0.99 else ""
    return terms.removeprefix(" + ").lstrip() + more
