"""The rows of both samples together: their units, functions of a row, and permuted labels.

Units, directions and functions of a row do not depend on the labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from isodepth._core import order, project
from isodepth.core.directions import unit_vectors
from isodepth.core.scaling import check_scale_width, column_units, mad_spread
from isodepth.data.validation import check_finite
from isodepth.errors import InvalidOptionError
from isodepth.significance.settings import Category

#: Permutations that share a word of bits.
WORD = 64
#: Numbers in a block of labels: 32 MB.
BLOCK = 1 << 22
#: Maximum numbers in a block of functions of all rows: 512 MB in float32.
MAX_NUMBERS = 1 << 27
#: Names of the functions of all columns.
CENTER, TOTAL = "distance from the center", "sum of the columns"
OUTLYINGNESS = "outlyingness"
# Values are clipped at this number of spreads in the distance from the center.
_FAR = 6.0
# Labels of at most this number of bytes are converted from bits only once.
_KEPT_LABELS = 1 << 26
# Below these numbers of rows, threads and float32 save no time.
_ROWS_FOR_THREADS, _ROWS_FOR_FLOAT32 = 10_000, 20_000
# Approximate number of directions, in whole orthonormal bases. More directions add little power.
_DIRECTIONS = 100


def precision(n: int) -> Any:
    """Return the type of functions of n rows: the rounding is far below the error of a contrast."""
    return np.float32 if n > _ROWS_FOR_FLOAT32 else np.float64


def standardized(
    columns: np.ndarray, scale: Any, eps: float, names: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray | float]:
    """Return all rows (n, d) of columns (d, n), centered and divided by a scale, and the divisors.

    Without a scale the divisor is a power of two.
    """
    points = np.array(columns.T, order="C")
    divisors: np.ndarray | float
    if isinstance(scale, str):
        divisors = column_units(points, None, eps)
    points -= np.median(points, axis=0)
    if scale is None:
        divisors = 2.0 ** math.frexp(float(mad_spread(points).max(initial=0.0)))[1]
    elif not isinstance(scale, str):
        check_scale_width(scale, len(columns))
        divisors = scale
    with np.errstate(over="ignore"):
        points /= divisors
    if names:
        check_finite(points, "X or Y divided by scale", False, names)
    points += 0.0  # no negative zeros: equal numbers are equal bits
    return points, divisors


def directions_with_axes(d: int, n_directions: int | None, random_state: Any) -> np.ndarray:
    """Return the axes, followed by random orthonormal bases, of shape (K, d)."""
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
    others = unit_vectors(d, n_directions - d, "orthogonal", random_state)
    return np.concatenate([np.eye(d), others])


class Permutations:
    """Given labels of rows, followed by random permutations of them.

    Blocks are permuted as a whole, and the number of blocks in each sample stays the same. If
    blocks are exchangeable, all these labelings are equally likely. Labels are stored as bits.

    Parameters
    ----------
    n_x, n_y : int
        Rows of the two samples; those of the first come first.
    n_permutations : int
    rng : numpy.random.Generator
    blocks : int64 ndarray of shape (n_x + n_y,) or None
        Index of the block of each row, the blocks of the first sample first, see
        :func:`isodepth.significance.settings.check_blocks`. None if every row is a block.

    Attributes
    ----------
    words : uint64 ndarray of shape (W, n_x + n_y)
        Bit b of words[w, i] is 1 if row i belongs to the first sample in labeling 64 w + b.
        Labeling 0 is the given one.
    count : int
        Number of labelings, n_permutations + 1.
    sizes : float64 ndarray of shape (2, count)
        Rows of the first and of the second sample in each labeling.

    Examples
    --------
    >>> import numpy as np
    >>> permutations = Permutations(2, 1, 9, np.random.default_rng(0))
    >>> permutations.labels().sum(axis=0)
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
        n_units = n_x + n_y if blocks is None else int(blocks.max()) + 1
        n_units_x = n_x if blocks is None else int(blocks[:n_x].max()) + 1
        words = random_subsets(n_units, n_units_x, n_permutations + 1, rng)
        words[0] &= ~np.uint64(1)
        words[0, :n_units_x] |= np.uint64(1)
        self._set_words(words if blocks is None else words.take(blocks, axis=1), n_permutations + 1)

    def _set_words(self, words: np.ndarray, count: int) -> None:
        self.words, self.count, self.n_rows = words, count, words.shape[1]
        sizes = np.concatenate([_bit_counts(row) for row in words])[:count]
        self.sizes = np.stack([sizes, self.n_rows - sizes]).astype(np.float64)
        self.n_x = int(sizes[0])
        self._kept: np.ndarray | None = None

    def restricted(self, rows: np.ndarray, rng: np.random.Generator) -> Permutations:
        """Return the same labelings of a subset of the rows, given by increasing indices.

        The subset must not depend on the labels. Then every labeling of the subset is obtained by
        the same function from a labeling of all rows, and p-values stay exact. This function
        replaces a labeling with fewer than two rows in a sample by a random division in halves.
        """
        words = self.words.take(rows, axis=1)
        result = object.__new__(Permutations)
        result._set_words(words, self.count)
        for b in np.flatnonzero(result.sizes.min(axis=0) < 2):
            word, bit = words[b // WORD], np.uint64(1) << np.uint64(b % WORD)
            word &= ~bit
            word[rng.permutation(len(rows))[: len(rows) // 2]] |= bit
        result._set_words(words, self.count)
        return result

    def labels(self, rows: slice = slice(None), dtype: Any = np.float64) -> np.ndarray:
        """Return 1 for rows of the first sample, else 0, of shape (rows, labelings)."""
        return _bits(self.words[:, rows].T, self.count).astype(dtype)

    def labels_of(self, b: int) -> np.ndarray:
        """Return the rows of the first sample in labeling b, as a bool array."""
        return (self.words[b // WORD] >> np.uint64(b % WORD) & np.uint64(1)).astype(bool)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return sums of values (F, n) over the first sample, float64 of shape (F, labelings).

        Many rows are multiplied in blocks in float32, and the blocks are added in float64.
        """
        if self.n_rows <= _ROWS_FOR_FLOAT32 and 8 * self.n_rows * self.count <= _KEPT_LABELS:
            if self._kept is None:
                self._kept = self.labels()
            return values @ self._kept
        out = np.zeros((len(values), self.count))
        dtype = precision(self.n_rows)
        for rows in self.blocks_of_rows():
            out += values[:, rows].astype(dtype, copy=False) @ self.labels(rows, dtype=dtype)
        return out

    def blocks_of_rows(self) -> list[slice]:
        """Return slices of all rows, with a few megabytes of labels each."""
        step = max(1, BLOCK // (4 * self.count))
        return [slice(first, first + step) for first in range(0, self.n_rows, step)]

    def both_sums(self, values: np.ndarray) -> np.ndarray:
        """Return sums of values (F, n) over the rows of each sample, (2, F, labelings)."""
        first = self.sums(values)
        return np.stack([first, values.sum(axis=1, dtype=np.float64)[:, None] - first])

    def contrasts(self, values: np.ndarray) -> np.ndarray:
        """Return scaled differences of the means of values (F, n), of shape (F, labelings).

        The mean of the first sample minus that of the second, times sqrt(n m / (n + m)), has the
        variance of the values under permutation.
        """
        means = values.mean(axis=1, dtype=np.float64)[:, None]
        centered = self.sums(values) - means * self.sizes[0]
        return centered * np.sqrt(self.n_rows / (self.sizes[0] * self.sizes[1]))


# Bits of the probability with which labels are drawn before their number is corrected.
_PROBABILITY_BITS = 16


def random_subsets(n: int, size: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw uniform subsets of `size` of n rows, as bits of words (W, n), see :class:`Permutations`.

    Independent labels with probability about size / n, in 64 labelings at once. Random rows of the
    more frequent label are then exchanged until the sizes are right. By symmetry all subsets are
    equally likely.
    """
    words = np.zeros((-(-count // WORD), n), np.uint64)
    probability = round(size / n * 2**_PROBABILITY_BITS)
    for w, word in enumerate(words):
        for i in range(_PROBABILITY_BITS):
            one = probability >> i & 1
            if one or word.any():
                random = rng.integers(0, 2**WORD, n, np.uint64)
                word[:] = word | random if one else word & random
        if probability == 2**_PROBABILITY_BITS:
            word[:] = ~np.uint64(0)
        excess = _bit_counts(word) - size
        for b in range(min(WORD, count - w * WORD)):
            if excess[b]:
                bit = np.uint64(1) << np.uint64(b)
                rows = np.flatnonzero((word & bit) > 0 if excess[b] > 0 else (word & bit) == 0)
                chosen = rng.choice(len(rows), abs(int(excess[b])), replace=False, shuffle=False)
                word[rows[chosen]] ^= bit
    return words


def _bit_counts(words: np.ndarray) -> np.ndarray:
    """Return the number of words (n,) with each bit set, of shape (64,)."""
    return _bits(words[:, None], WORD).sum(axis=0, dtype=np.int64)


def _bits(words: np.ndarray, count: int) -> np.ndarray:
    """Return the first bits of rows of words (n, W) as uint8 of shape (n, count)."""
    packed = np.ascontiguousarray(words, "<u8").view(np.uint8)
    return np.unpackbits(packed, axis=1, count=count, bitorder="little")


class MissingValues(NamedTuple):
    """Indicators of missing values on all rows, complete or not.

    Attributes
    ----------
    names : list of str
        Columns with missing values.
    indicators : float64 ndarray of shape (columns, n)
        1 for a missing value, else 0.
    permutations : Permutations
        Labelings of all n rows.
    """

    names: list[str]
    indicators: np.ndarray
    permutations: Permutations


@dataclass(frozen=True)
class PooledSample:
    """The complete rows of both samples together, and their labelings.

    Attributes
    ----------
    columns : float64 ndarray of shape (d, n)
        Values of the numeric columns as they are; d may be 0. Ranks are those of these values,
        since differences from a median make small values equal.
    points : float64 ndarray of shape (n, d)
        The same, centered and in units of their spread.
    divisors : float64 ndarray of shape (d,) or float
        Units of `points`.
    names : tuple of str, of length d
    directions : ndarray of shape (K, d), the axes first
    permutations : Permutations
    rng : numpy.random.Generator
        Source of random pairs of columns and random subsets of rows.
    categories : list of Category
    n_threads : int
    missing : MissingValues or None
    """

    columns: np.ndarray
    points: np.ndarray
    divisors: np.ndarray | float
    names: tuple[str, ...]
    directions: np.ndarray
    permutations: Permutations
    rng: np.random.Generator
    categories: list[Category] = field(default_factory=list)
    n_threads: int = 1
    missing: MissingValues | None = None

    def along(self, directions: np.ndarray) -> np.ndarray:
        """Return projections of all rows on directions (k, d), of shape (k, n)."""
        return project(self.points, np.ascontiguousarray(directions), self.n_threads)

    def random_subset(self, size: int) -> PooledSample:
        """Return a random subset of the rows, chosen without regard to the labels."""
        n = len(self.points)
        if n <= size:
            return self
        rows = np.sort(self.rng.choice(n, size, replace=False))
        permutations = self.permutations.restricted(rows, self.rng)
        categories = [replace(each, codes=each.codes[rows]) for each in self.categories]
        return replace(
            self, columns=self.columns[:, rows], points=self.points[rows],
            permutations=permutations, categories=categories,
        )  # fmt: skip

    @cached_property
    def whole_rows(self) -> tuple[list[str], np.ndarray]:
        """Names and values (F, n) of functions of all columns: the distance, and the sum."""
        distance = np.sqrt(np.square(self.points.clip(-_FAR, _FAR)).sum(axis=1))
        if self.points.shape[1] < 2:
            return [CENTER], distance[None]
        total = self.along(np.ones((1, self.points.shape[1])))
        return [CENTER, TOTAL], np.stack([distance, total[0]])

    def pairs(self, most: int) -> tuple[np.ndarray, list[str]]:
        """Return pairs of columns (P, 2), and a note if they are a random selection."""
        d = self.points.shape[1]
        if d * (d - 1) // 2 <= most:
            return np.transpose(np.triu_indices(d, 1)), []
        first = self.rng.integers(0, d, most)
        second = (first + self.rng.integers(1, d, most)) % d
        note = f"dependence was compared in {most} random pairs of columns"
        return np.sort(np.stack([first, second], axis=1), axis=1), [note]


def map_rows(function: Callable[[int], Any], count: int, n: int, n_threads: int) -> list[Any]:
    """Call a function for 0 .. count - 1, in threads if a call handles many (n) values."""
    if n_threads == 1 or n < _ROWS_FOR_THREADS:
        return [function(i) for i in range(count)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, range(count)))


def tie_groups(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of values (n,), and the first positions of groups of ties in this order."""
    at = order(values)
    ordered = values[at]
    return at, np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))


def ks_distance(values: np.ndarray, n_x: int) -> float:
    """Return the maximum difference of the empirical distribution functions of two samples.

    The first n_x values belong to the first sample.
    """
    at, starts = tie_groups(values)
    steps = np.where(at < n_x, 1 / n_x, -1 / (len(values) - n_x))
    return float(np.abs(np.cumsum(steps)[np.append(starts[1:], len(values)) - 1]).max())


def unit_ranks(values: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return ranks of each row of values (F, n) in (0, 1); ties have their mean rank."""
    values = np.ascontiguousarray(values, np.float64)
    n = values.shape[1]
    ranks = np.empty(values.shape)

    def rank(f: int) -> None:
        at, starts = tie_groups(values[f])
        sizes = np.diff(starts, append=n)
        ranks[f, at] = np.repeat((starts + 0.5 * sizes) / n, sizes)

    map_rows(rank, len(values), n, n_threads)
    return ranks


def rank_cosines(values: np.ndarray, count: int, n_threads: int = 1) -> np.ndarray:
    """Return cos(pi j R), j = 1 .. count, of the unit ranks R of values (F, n): (count, F, n)."""
    values = np.ascontiguousarray(values, np.float64)
    n = values.shape[1]
    cosines = np.empty((count, *values.shape), precision(n))
    waves = np.pi * np.arange(1, count + 1)[:, None]
    # Large arrays are not cached.
    table = _ordered_cosines if n <= 1 << 18 else _ordered_cosines.__wrapped__
    without_ties = table(n, count, cosines.dtype.char)

    def fill(f: int) -> None:
        at, starts = tie_groups(values[f])
        if len(starts) == n:
            of_ranks = without_ties
        else:
            sizes = np.diff(starts, append=n)
            of_groups = np.cos(waves * ((starts + 0.5 * sizes) / n)).astype(cosines.dtype)
            of_ranks = np.repeat(of_groups, sizes, axis=1)
        for j in range(count):
            cosines[j, f, at] = of_ranks[j]

    map_rows(fill, len(values), n, n_threads)
    return cosines


@lru_cache(maxsize=2)
def _ordered_cosines(n: int, count: int, dtype: str) -> np.ndarray:
    """Return the cosines (count, n) of the ranks of n values without ties, in their order."""
    waves = np.pi * np.arange(1, count + 1)[:, None]
    return np.cos(waves * ((np.arange(n) + 0.5) / n)).astype(dtype)


def direction_text(direction: np.ndarray, names: tuple[str, ...]) -> str:
    """Return the largest entries of a direction, at most three, as "0.8 temp - 0.6 dewp"."""
    order = np.argsort(-np.abs(direction), kind="stable")[:3]
    kept = [j for j in order if abs(direction[j]) >= 0.1]
    terms = "".join(
        f" {'-' if direction[j] < 0 else '+'} {abs(direction[j]):.2g} {names[j]}" for j in kept
    )
    more = " ..." if np.square(direction[kept]).sum() < 0.99 else ""
    return terms.removeprefix(" + ").lstrip() + more
