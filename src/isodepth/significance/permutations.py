"""Permuted labels of rows, statistics of both samples for all permutations, and their p-values.

A labeling assigns each row to the first or to the second sample. The last axis of an array of
statistics has one entry per labeling: the given labels first, then B random permutations of them.
The rank of the first entry among all entries gives the p-value. The p-value remains exact after any
transformation of the statistics that treats all labelings alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth._core import order
from isodepth.base.compiled import thread_map
from isodepth.base.options import MOST

if TYPE_CHECKING:
    from isodepth.device.labels import DeviceLabels

#: Number of bits of an integer. The bits of one integer are the labels of one row in 64 labelings.
WORD = 64
#: Maximum number of bytes of the labels, in float32, of a block of rows.
BLOCK = 1 << 22
# Labels are first drawn independently, with a probability that is rounded to this number of bits.
# A rounded probability is sufficient, because the sample sizes are corrected afterwards.
_PROBABILITY_BITS = 16
# Labels that need at most this number of bytes in float64 are converted from bits only once, and
# are then kept in memory.
_KEPT_LABELS = 1 << 26
# Number of groups of blocks of rows that threads process. It does not depend on the number of
# threads, and so the order of the additions does not either.
_GROUPS_OF_BLOCKS = 32
# Number of rows of which a thread counts the labels at a time.
_ROWS_PER_COUNT = 1 << 16
# Minimum number of rows for using threads, and number of rows above which float32 is used. Threads
# and float32 save time for large samples only.
_ROWS_FOR_THREADS, _ROWS_FOR_FLOAT32 = 10_000, 20_000
# Range of the values of a function, relative to their largest absolute value, up to which the
# function counts as constant.
_CONSTANT = 1e-6
# Number of rows that are inspected first in the search for constant functions.
_FIRST_ROWS = 256
# Minimum number of rows of each sample in a category for comparing means within the category.
_MIN_INSIDE = 5
# Relative difference below which two statistics count as tied, because of rounding.
_ROUNDING = 1e-6
# Maximum ratio of a statistic to the mean of the others.
_LARGEST_RATIO = 1e60
# Number of labelings above which statistics are evaluated one by one. Ctrl-C is noticed only
# between calls of NumPy, and the tail probabilities of a million labelings take about 0.1 s.
_LONG_ROW = 100_000


def precision(n: int) -> Any:
    """Return the dtype of functions of n rows: float32 for more than 20,000 rows, else float64."""
    return np.float32 if n > _ROWS_FOR_FLOAT32 else np.float64


class Permutations:
    """Given labels of rows, followed by random permutations of these labels, stored as bits.

    Parameters
    ----------
    words : uint64 ndarray of shape (W, n)
        Bit b of words[w, i] is 1 if row i belongs to the first sample in labeling 64 w + b.
        Labeling 0 is the given one.
    count : int
        Number of labelings.
    n_threads : int
        Number of threads that compute sums.
    device : str or None
        Device of torch on which sums are computed, such as "cuda:0"; None for the host.

    Attributes
    ----------
    n_rows, n_x : int
        Numbers of all rows, and of the rows of the first sample under the given labels.
    sizes : float64 ndarray of shape (2, count)
        Numbers of rows of the first and of the second sample in each labeling.
    """

    def __init__(
        self, words: np.ndarray, count: int, n_threads: int = 1, device: str | None = None
    ) -> None:
        self.words, self.count, self.n_rows = words, count, words.shape[1]
        self.n_threads, self.device = n_threads, device
        sizes = np.concatenate([_bit_counts(row, n_threads) for row in words])[:count]
        self.sizes = np.stack([sizes, self.n_rows - sizes]).astype(np.float64)
        self.n_x = int(sizes[0])
        self._kept: np.ndarray | None = None
        self._moved: DeviceLabels | None = None

    @classmethod
    def draw(
        cls,
        n_x: int,
        n_y: int,
        n_permutations: int,
        rng: np.random.Generator,
        blocks: np.ndarray | None = None,
        *,
        n_threads: int = 1,
        device: str | None = None,
    ) -> Permutations:
        """Draw permutations of the labels of n_x rows of the first sample and n_y of the second.

        The rows of the first sample come first. Blocks are groups of rows that depend on each
        other, with indices (n_x + n_y,) as in `isodepth.significance.samples.check_blocks`. They
        are permuted as a whole, and each sample keeps its number of blocks. If the blocks are
        exchangeable, all permutations are equally likely. `n_threads` and `device` are those of the
        class.

        Examples
        --------
        >>> import numpy as np
        >>> permutations = Permutations.draw(2, 1, 9, np.random.default_rng(0))
        >>> permutations.labels().sum(axis=0)
        array([2., 2., 2., 2., 2., 2., 2., 2., 2., 2.])
        """
        n_units = n_x + n_y if blocks is None else int(blocks.max()) + 1
        n_units_x = n_x if blocks is None else int(blocks[:n_x].max()) + 1
        words = random_subsets(n_units, n_units_x, n_permutations + 1, rng, n_threads)
        words[0] &= ~np.uint64(1)
        words[0, :n_units_x] |= np.uint64(1)
        words = words if blocks is None else words.take(blocks, axis=1)
        return cls(words, n_permutations + 1, n_threads, device)

    def restricted(self, rows: np.ndarray, rng: np.random.Generator) -> Permutations:
        """Return the labels of a subset of the rows, given by increasing indices.

        The subset must not depend on the labels. P-values then remain exact, because the given
        labels and all permutations are restricted in the same way. If a labeling has fewer than two
        rows of a sample in the subset, a random half of the subset becomes its first sample.
        """
        words = self.words.take(rows, axis=1)
        for b in np.flatnonzero(Permutations(words, self.count).sizes.min(axis=0) < 2):
            word, bit = words[b // WORD], np.uint64(1) << np.uint64(b % WORD)
            word &= ~bit
            word[rng.permutation(len(rows))[: len(rows) // 2]] |= bit
        return Permutations(words, self.count, self.n_threads, self.device)

    def first(self, count: int) -> Permutations:
        """Return the first `count` labelings, which start with the given labels.

        The bits of the labels are copied, so that the other labelings are not kept in memory.
        """
        count = min(count, self.count)
        words = self.words[: -(-count // WORD)].copy()
        return Permutations(words, count, self.n_threads, self.device)

    def labels(self, rows: slice = slice(None), dtype: Any = np.float64) -> np.ndarray:
        """Return the labels (r, count) of the r rows in a slice: 1 for the first sample, else 0."""
        return _bits(self.words[:, rows].T, self.count).astype(dtype)

    def blocks_of_rows(self) -> list[slice]:
        """Return slices that divide the rows into blocks with a few megabytes of labels each.

        Examples
        --------
        >>> Permutations(np.zeros((16, 2000), np.uint64), 1000).blocks_of_rows()
        [slice(0, 1048, None), slice(1048, 2096, None)]
        """
        step = max(1, BLOCK // (4 * self.count))
        return [slice(first, first + step) for first in range(0, self.n_rows, step)]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sums (F, count) of F functions over the rows of the first sample, in float64.

        `values` (F, n) are the values of the functions at all rows. Large arrays are multiplied in
        blocks of rows, in float32 for more than 20,000 rows. The results of the blocks are added in
        float64.
        """
        dtype = precision(self.n_rows)
        if self.device is not None:
            return self._on_device().sums(values.astype(dtype, copy=False))
        if self.n_rows <= _ROWS_FOR_FLOAT32 and 8 * self.n_rows * self.count <= _KEPT_LABELS:
            if self._kept is None:
                self._kept = self.labels()
            return values @ self._kept
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        blocks = self.blocks_of_rows()
        step = -(-len(blocks) // _GROUPS_OF_BLOCKS)

        def of_group(first: int) -> np.ndarray:
            out = np.zeros((len(values), self.count))
            for rows in blocks[first : first + step]:
                out += values[:, rows].astype(dtype, copy=False) @ self.labels(rows, dtype=dtype)
            return out

        with threadpool_limits(1, "blas"):
            groups = thread_map(of_group, range(0, len(blocks), step), self.n_threads)
        return np.sum(groups, axis=0)

    def _on_device(self) -> DeviceLabels:
        """Return the labels on `device`, which are copied to it at the first call."""
        from isodepth.device.labels import DeviceLabels

        assert self.device is not None
        if self._moved is None:
            self._moved = DeviceLabels(self.words, self.count, self.device)
        return self._moved

    def weighted_sums(self, function: Callable[[slice, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the sum of function(rows, weights) over blocks of rows.

        `rows` is a slice of row indices. `weights` (count, length of the slice) are the weights of
        these rows in a difference of sample means, for every labeling: 1 / n_x for the n_x rows of
        the first sample, and -1 / n_y for the n_y rows of the second.
        """
        n_x, n_y = self.sizes.astype(np.float32)
        blocks = self.blocks_of_rows()

        def part(k: int) -> np.ndarray:
            labels = self.labels(blocks[k], dtype=np.float32)
            weights = np.ascontiguousarray((labels * (1 / n_x + 1 / n_y) - 1 / n_y).T)
            return function(blocks[k], weights)

        parts = map_rows(part, len(blocks), self.n_rows, self.n_threads)
        return np.stack(parts).sum(axis=0, dtype=np.float64)

    def subset_counts(self, rows: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Count the rows of the first sample among the first rows of a list, for every labeling.

        Entry (f, b) of the result (F, count) is the number of rows among the first ends[f] of the
        list that belong to the first sample in labeling b. The list `rows` (k,) has indices of
        rows, and `ends` (F,) is positive and increasing, the last equal to k.
        """
        counts = np.zeros((len(ends), self.count))
        step = max(1, BLOCK // self.count)
        starts = np.concatenate([[0], ends[:-1]])
        for f, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            for first in range(start, end, step):
                part = rows[first : min(first + step, end)]
                bits = _bits(self.words.take(part, axis=1).T, self.count)
                counts[f] += bits.sum(axis=0, dtype=np.int64)
        return counts.cumsum(axis=0)

    def repeated_counts(self, rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Count the rows that occur more than once in their own sample, for every labeling.

        `rows` (k,) are the indices of the rows that equal another row of either sample, one group
        of equal rows after the other. `sizes` are the numbers of rows of the groups, at least one
        group. The result (2, count) has the counts in the first and in the second sample.
        """
        steps = _merging_steps(sizes)
        counts = np.empty((2, len(self.words), WORD), np.int64)

        def count(w: int) -> None:
            word = self.words[w].take(rows)
            counts[0, w] = _bit_counts(word, 1)
            counts[1, w] = len(rows) - counts[0, w]
            for sample, labels in enumerate((word, ~word)):
                counts[sample, w] -= _bit_counts(_alone_in_group(labels, steps), 1)

        map_rows(count, len(self.words), len(rows), self.n_threads)
        return counts.reshape(2, -1)[:, : self.count]

    def both_sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sums (2, F, count) of F functions over the first and over the second sample.

        `values` (F, n) are the values of the functions at all rows. The last axis has the
        labelings.
        """
        first = self.sums(values)
        return np.stack([first, values.sum(axis=1, dtype=np.float64)[:, None] - first])

    def contrasts(self, values: np.ndarray) -> np.ndarray:
        """Return the scaled differences (F, count) of the sample means of values (F, n).

        The scaled difference is the mean over the first sample minus the mean over the second,
        times sqrt(n m / (n + m)) for samples of n and m rows. Its variance under permutation of the
        labels is the variance of the values.
        The result is exactly 0 for values that are constant up to rounding: the rounding errors of
        their sums depend on the labels, and would otherwise be compared with each other.
        """
        contrasts = self.scaled_contrasts(self.sums(values), values.mean(axis=1, dtype=np.float64))
        # Most functions differ among the first rows already.
        maybe = np.flatnonzero(_are_constant(values[:, :_FIRST_ROWS]))
        contrasts[maybe[_are_constant(values[maybe])]] = 0.0
        return contrasts

    def cosine_contrasts(self, values: np.ndarray, count: int) -> np.ndarray:
        """Return the scaled differences (count, F, B + 1) of sample means of cosines of ranks.

        The cosines are cos(pi j R) for j = 1, ..., count, where R are the ranks within each row of
        values (F, n), scaled to (0, 1).
        """
        shape = count, len(values), self.count
        if self.device is None:
            cosines = rank_cosines(values, count, self.n_threads)
            return self.contrasts(cosines.reshape(-1, self.n_rows)).reshape(shape)
        sums, means, ranges = self._on_device().cosine_sums(values, count, precision(self.n_rows))
        contrasts = self.scaled_contrasts(sums, means)
        contrasts[ranges <= _CONSTANT] = 0.0
        return contrasts.reshape(shape)

    def scaled_contrasts(self, sums: np.ndarray, means: np.ndarray) -> np.ndarray:
        """Return the scaled differences (F, count) of sample means, as in `contrasts`.

        `sums` (F, count) are the sums of the functions over the first sample, and `means` (F,)
        their means over all rows.
        """
        centered = sums - means[:, None] * self.sizes[0]
        return centered * np.sqrt(self.n_rows / (self.sizes[0] * self.sizes[1]))

    def mean_changes(
        self,
        values: np.ndarray,
        inside: np.ndarray,
        present: np.ndarray | None = None,
        *,
        relative: bool = True,
    ) -> np.ndarray:
        """Return the scaled differences (F, count) of sample means in subsets of rows.

        `values` (F, n) are the values of F functions at all rows, 0 if missing. `inside` (F, n) is
        1 for the rows of the subset of each function, else 0. `present` (F, n) is 1 for the rows
        that have a value, else 0; None if no value is missing.

        For each sample, the mean within the subset minus the mean of all rows is computed, or the
        mean within the subset alone if `relative` is false. The result is the difference of these
        numbers between the samples, times sqrt(k l / (k + l)) for samples with k and l rows in the
        subset. The result for a labeling is 0 if k or l is less than five. It is 0 for all
        labelings if this is so in at least half of them.
        """
        all_sizes = self.sizes[:, None]
        if present is not None:
            inside = inside * present
            all_sizes = np.maximum(self.both_sums(present), 1.0)
        inner, counts, whole = (self.both_sums(v) for v in (values * inside, inside, values))
        sizes = np.maximum(counts, 1.0)
        means = inner / sizes - (whole / all_sizes if relative else 0.0)
        change = (means[0] - means[1]) * np.sqrt(sizes[0] * sizes[1] / (sizes[0] + sizes[1]))
        enough = counts.min(axis=0) >= _MIN_INSIDE
        # A statistic that is 0 for most labelings would be extreme for the others.
        enough &= enough.mean(axis=1, keepdims=True) > 0.5
        return np.where(enough, change, 0.0)


def _are_constant(values: np.ndarray) -> np.ndarray:
    """Return a bool array (F,): whether each row of values (F, n) is constant up to rounding."""
    low, high = values.min(axis=1), values.max(axis=1)
    return high - low <= _CONSTANT * np.maximum(np.abs(low), np.abs(high))


def random_subsets(
    n: int, size: int, count: int, rng: np.random.Generator, n_threads: int = 1
) -> np.ndarray:
    """Draw `count` random subsets of `size` out of n rows, as bits of words (W, n).

    Bit b of words[w, i] is 1 if row i belongs to subset 64 w + b.

    Rows are first included independently with probability about size / n, for 64 subsets at once.
    Random rows are then added or removed until each subset has the right size. By symmetry all
    subsets of this size are equally likely.
    """
    words = np.zeros((-(-count // WORD), n), np.uint64)
    probability = min(round(size / n * 2**_PROBABILITY_BITS), 2**_PROBABILITY_BITS - 1)
    for w, word in enumerate(words):
        for i in range(_PROBABILITY_BITS):
            one = probability >> i & 1
            if one or word.any():
                random = rng.integers(0, 2**WORD, n, np.uint64)
                word[:] = word | random if one else word & random
        _correct_sizes(word, size, min(WORD, count - w * WORD), rng, n_threads)
    return words


def _correct_sizes(
    word: np.ndarray, size: int, count: int, rng: np.random.Generator, n_threads: int
) -> None:
    """Set or clear random bits until exactly `size` of the n rows belong to each subset.

    `word` (n,) has one 64-bit integer per row, which is changed in place. Its bit b is set if the
    row belongs to subset b, for b < `count`.
    """
    numbers = _bit_counts(word, n_threads)[:count]
    bits = np.flatnonzero(numbers != size).tolist()
    chosen = []
    for b in bits:
        number = int(numbers[b])
        candidates = number if number > size else len(word) - number
        chosen.append(rng.choice(candidates, abs(number - size), replace=False, shuffle=False))

    def rows_to_change(k: int) -> np.ndarray:
        is_set = (word & (np.uint64(1) << np.uint64(bits[k]))) > 0
        return np.flatnonzero(is_set if numbers[bits[k]] > size else ~is_set)[chosen[k]]

    for k, rows in enumerate(map_rows(rows_to_change, len(bits), len(word), n_threads)):
        word[rows] ^= np.uint64(1) << np.uint64(bits[k])


def _bit_counts(words: np.ndarray, n_threads: int) -> np.ndarray:
    """Return for each of the 64 bits the number of integers in which it is set, as an array (64,).

    `words` (n,) are 64-bit integers.
    """
    parts = np.array_split(words, -(-len(words) // _ROWS_PER_COUNT))

    def count(k: int) -> np.ndarray:
        return _bits(parts[k][:, None], WORD).sum(axis=0, dtype=np.int64)

    return np.sum(map_rows(count, len(parts), len(words), n_threads), axis=0)


def _merging_steps(sizes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the steps that reduce each group of rows to one entry, by merging adjacent entries.

    The groups have the given `sizes` and lie one after the other. A step has the indices of the
    entries that remain, the indices of the other entries, and the positions among the remaining
    entries with which the other entries are merged.
    """
    steps = []
    while sizes.max() > 1:
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        remains = (np.arange(len(starts)) - starts) % 2 == 0
        merged = np.flatnonzero(~remains)
        steps.append((np.flatnonzero(remains), merged, np.cumsum(remains)[merged] - 1))
        sizes = (sizes + 1) // 2
    return steps


def _alone_in_group(
    labels: np.ndarray, steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
) -> np.ndarray:
    """Return the bits that are set in exactly one row of a group, as an integer per group.

    `labels` has a 64-bit integer per row, and `steps` are those of `_merging_steps`.
    """
    once, twice = labels, np.zeros_like(labels)
    for kept, merged, at in steps:
        next_once, next_twice = once[kept], twice[kept]
        next_twice[at] |= twice[merged] | (next_once[at] & once[merged])
        next_once[at] |= once[merged]
        once, twice = next_once, next_twice
    return once & ~twice


def _bits(words: np.ndarray, count: int) -> np.ndarray:
    """Return the first `count` bits of each row of 64-bit integers (n, W), as uint8 (n, count)."""
    packed = np.ascontiguousarray(words, "<u8").view(np.uint8)
    return np.unpackbits(packed, axis=1, count=count, bitorder="little")


class Moments:
    """Means of F functions and of their squares in both samples, for all labelings.

    Changes of correlations are computed from them. `values` (F, n) of the functions are centered at
    about 0, which keeps rounding errors small. Missing values are 0. `present` (F, n) is 1 for the
    rows that have a value, else 0; None if no value is missing.
    """

    def __init__(
        self, permutations: Permutations, values: np.ndarray, present: np.ndarray | None = None
    ) -> None:
        self._permutations, self._values, self._present = permutations, values, present
        # (2, 2, F, B + 1), means of the functions and of their squares in both samples.
        self._moments = np.stack([self._both(values), self._both(np.square(values))])
        # Variances below this are rounding errors, which depend on the labels.
        self._flat = 1e-15 + 1e-5 * np.square(values).mean(axis=1, dtype=np.float64)

    def _both(self, values: np.ndarray) -> np.ndarray:
        """Return the means of functions (F, n) in each sample, as an array (2, F, B + 1).

        The first axis has the first and the second sample.
        """
        return self._permutations.both_sums(values) / self._permutations.sizes[:, None]

    def correlation_change(self, pairs: np.ndarray) -> np.ndarray:
        """Return the correlation in X minus that in Y for P pairs of functions, (P, B + 1).

        `pairs` (P, 2) has the indices of two functions each. Rows in which a function of the pair
        is missing are not used. The correlation in a sample is 0 if one of the two functions is
        constant in this sample.
        """
        out = np.empty((len(pairs), self._permutations.count))
        complete = np.ones(len(pairs), bool)
        if self._present is not None:
            complete = np.asarray(self._present.all(axis=1))[pairs].all(axis=1)
        # Pairs with missing values are evaluated one by one, because they use different rows.
        groups = [np.flatnonzero(complete), *np.flatnonzero(~complete)[:, None]]
        for group in filter(len, groups):
            a, b = pairs[group].T
            u, v = self._values[a], self._values[b]
            if complete[group[0]]:
                of_a, of_b = self._moments[:, :, a], self._moments[:, :, b]
                products = self._both(u * v)
            else:
                assert self._present is not None
                inside = self._present[a] * self._present[b]
                u, v = u * inside, v * inside
                sums = self._permutations.both_sums(
                    np.concatenate([inside, u, u * u, v, v * v, u * v])
                )
                sizes, parts = np.maximum(sums[:, :1], 1.0), np.split(sums[:, 1:], 5, axis=1)
                means = np.stack([part / sizes for part in parts])
                of_a, of_b, products = means[:2], means[2:4], means[4]
            variances = [squares - np.square(mean) for mean, squares in (of_a, of_b)]
            flat = [each <= self._flat[f, None] for each, f in zip(variances, (a, b), strict=True)]
            constant = flat[0] | flat[1]
            product = np.where(constant, 1.0, variances[0] * variances[1])
            covariance = products - of_a[0] * of_b[0]
            correlations = np.where(constant, 0.0, covariance / np.sqrt(product))
            out[group] = correlations[0] - correlations[1]
        return out


# -- functions for ranks ---------------------------------------------------------------------------


def map_rows(function: Callable[[int], Any], count: int, n: int, n_threads: int) -> list[Any]:
    """Return the list of function(0), ..., function(count - 1).

    `n` is the number of values that each call processes. Threads are used if `n` is at least
    10,000.
    """
    if n < _ROWS_FOR_THREADS:
        return [function(i) for i in range(count)]
    return thread_map(function, range(count), n_threads)


def rank_groups(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the order that sorts values (n,), and the sizes and mean ranks of G groups of ties.

    The order is an array (n,) of indices. Sizes and ranks (G,) are in increasing order of the
    values. Ranks are scaled to (0, 1). A value without ties is a group of one.
    """
    at = order(values)
    ordered = values[at]
    is_bound = np.ones(len(values) + 1, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_bound[1:-1])
    bounds = np.flatnonzero(is_bound)
    starts, ends = bounds[:-1], bounds[1:]
    return at, ends - starts, (starts + ends) * 0.5 / len(values)


def unit_ranks(values: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return the ranks within each row of values (F, n), scaled to (0, 1); mean ranks for ties.

    The rank of a missing value (NaN) is 1/2, the mean of the ranks of the other values.
    """
    values = np.ascontiguousarray(values, np.float64)
    ranks = np.full(values.shape, 0.5)

    def fill(f: int) -> None:
        rows, present = _present(values[f])
        if len(rows):
            at, sizes, of_groups = rank_groups(present)
            ranks[f, rows[at]] = np.repeat(of_groups, sizes)

    map_rows(fill, len(values), values.shape[1], n_threads)
    return ranks


def _present(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the values (n,) that are not missing, and these values."""
    rows = np.flatnonzero(~np.isnan(values))
    return rows, values if len(rows) == len(values) else values[rows]


def rank_cosines(values: np.ndarray, count: int, n_threads: int = 1) -> np.ndarray:
    """Return cos(pi j R) for j = 1, ..., count, of shape (count, F, n).

    R are the ranks within each row of values (F, n), scaled to (0, 1). Missing values (NaN) are not
    ranked; their cosine is the mean of the other cosines of the row, so that they have no
    information.
    """
    values = np.ascontiguousarray(values, np.float64)
    n = values.shape[1]
    frequencies = np.pi * np.arange(1, count + 1)[:, None]
    without_ties = np.cos(frequencies * ((np.arange(n) + 0.5) / n)).astype(precision(n))
    cosines = np.empty((count, *values.shape), precision(n))

    def fill(f: int) -> None:
        rows, present = _present(values[f])
        at, sizes, ranks = rank_groups(present)
        ordered = without_ties
        if len(ranks) < n:
            ordered = np.repeat(np.cos(frequencies * ranks), sizes, axis=1)
        for j, of_frequency in enumerate(ordered):
            if len(rows) < n:
                cosines[j, f] = of_frequency.mean()
            cosines[j, f, rows[at]] = of_frequency

    map_rows(fill, len(values), n, n_threads)
    return cosines


# -- p-values --------------------------------------------------------------------------------------


def fewest_labelings(level: float, factor: float = 1.0) -> int:
    """Return the smallest number of labelings with which a p-value can be at most `level`.

    P-values are multiplied by `factor`, an adjustment for multiple testing. The number includes the
    given labels. A rounding error of `level` has no effect.

    Examples
    --------
    >>> fewest_labelings(0.05), fewest_labelings(1 - 0.999)
    (20, 1000)
    """
    # Fractions do not overflow if `level` is tiny.
    return math.ceil(Fraction((1.0 - 1e-12) * factor) / Fraction(level))


def too_few_permutations(n_permutations: int, alpha: float, factor: float = 1.0) -> str:
    """Return a phrase with the number of permutations that is needed; "" if there are enough.

    There are enough if a p-value can be at most `alpha`. P-values are multiplied by `factor`.

    Examples
    --------
    >>> too_few_permutations(19, 0.01)
    '19 permutations cannot give a p-value of at most 0.01, at least 99 are needed'
    >>> too_few_permutations(99, 0.01)
    ''
    """
    needed = fewest_labelings(alpha, factor) - 1
    if n_permutations >= needed:
        return ""
    permutations = "1 permutation" if n_permutations == 1 else f"{n_permutations} permutations"
    pvalue = "a p-value" if factor == 1.0 else "an adjusted p-value"
    least = str(needed) if needed <= MOST else f"{Decimal(needed):.3g}"
    return f"{permutations} cannot give {pvalue} of at most {alpha}, at least {least} are needed"


def too_few_labelings(n_x: int, n_y: int, alpha: float, units: str = "rows") -> str:
    """Return a phrase if n_x and n_y units have too few labelings for a p-value of at most alpha.

    The phrase is "" if they have enough. A labeling assigns n_x of the units, such as rows or
    blocks, to X and the others to Y. If all C(n_x + n_y, n_x) labelings were compared, a p-value
    would be at least 1 / C(n_x + n_y, n_x). It would be at least twice this number for n_x = n_y,
    because statistics do not change if X and Y are exchanged. A p-value from random permutations
    estimates the p-value from all labelings. `units` is the noun for the units.

    Examples
    --------
    >>> too_few_labelings(2, 2, 0.05, "blocks")
    '4 blocks have only 6 labelings: over all of them, a p-value is at least 2/6, above 0.05'
    >>> too_few_labelings(3, 4, 0.05)
    ''
    """
    n, ties, count = n_x + n_y, 1 + (n_x == n_y), 1
    for i in range(min(n_x, n_y)):
        count = count * (n - i) // (i + 1)
        if count > MOST or Fraction(alpha) * count >= Fraction((1.0 - 1e-12) * ties):
            return ""
    return (
        f"{n} {units} have only {count} labelings: over all of them, a p-value is at least "
        f"{ties}/{count}, above {alpha}"
    )


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of statistics over the last axis, and their variance divided by mean^2.

    The last axis of both results has length 1. The maximum is excluded: an outlier would otherwise
    inflate the moments that it is compared with.
    """
    others = np.array(values, np.float64)
    largest = others.argmax(axis=-1)[..., None]
    n = max(1, others.shape[-1] - 1)
    np.put_along_axis(others, largest, 0.0, axis=-1)
    # Values are multiplied by a power of two, which is exact, so that their sum does not overflow.
    mean = (others * 2.0**-64).sum(axis=-1, keepdims=True) / n * 2.0**64
    np.put_along_axis(others, largest, mean, axis=-1)
    mean = np.maximum(mean, np.finfo(np.float64).tiny)
    variance = np.square(others / mean - 1.0).sum(axis=-1, keepdims=True) / n
    # If all values except the maximum are equal, their variance is 0. The lower limit 1e-12 ensures
    # that a maximum that is larger only by rounding does not count as an outlier.
    return mean, np.maximum(variance, 1e-12)


def neg_log_p(values: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
    """Return -log p of statistics, where p is the upper tail probability of a gamma distribution.

    The gamma distribution has the mean and the variance of all `values` (..., B + 1) along the last
    axis except the maximum; see `moments`. Tail probabilities are computed by the approximation of
    Wilson and Hilferty: the cube root of a gamma variable is nearly normal. -log p is returned for
    the statistics `at`, of any length along the last axis, or for `values` if `at` is None. All
    statistics must be at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> int(neg_log_p(np.array([9.0, 1.0, 2.0, 3.0])).argmax())
    0
    """
    from scipy.special import log_ndtr

    if at is None and values.ndim > 1 and values.shape[-1] > _LONG_ROW:
        return np.stack([neg_log_p(row) for row in values])
    mean, variance = moments(values)
    deviation = np.sqrt(variance) / 3.0
    # If all other statistics are 0, the ratio would be infinite, and statistics that are infinite
    # for different labelings could not be compared.
    with np.errstate(over="ignore"):
        root = np.cbrt(np.minimum((values if at is None else at) / mean, _LARGEST_RATIO))
    return -log_ndtr((1.0 - root) / deviation - deviation)


def critical_value(values: np.ndarray, level: float) -> float:
    """Return the statistic whose -log p is `level`, the inverse of `neg_log_p` for values (B + 1,).

    Examples
    --------
    >>> values = np.array([9.0, 1.0, 2.0, 3.0])
    >>> round(critical_value(values, neg_log_p(values)[0]), 6)
    9.0
    """
    from scipy.special import ndtri_exp

    mean, variance = moments(values)
    deviation = np.sqrt(variance) / 3.0
    root = 1.0 - deviation * (ndtri_exp(min(-level, -1e-300)) + deviation)
    return float((mean * np.maximum(root, 0.0) ** 3)[0])


def neg_log_p_of_largest(values: np.ndarray) -> np.ndarray:
    """Return -log p (B + 1,) of a statistic (B + 1,) that is itself a maximum of many -log p.

    A Gumbel distribution is fitted, because the maximum of K exponential variables is nearly log K
    plus a Gumbel variable. A gamma distribution has a shorter tail and would give too large -log p.
    Maxima over many columns would then dominate the other statistics of the test.
    """
    from scipy.special import exprel

    mean, variance = moments(values)
    z = (values - mean) / (np.sqrt(6.0 * variance) / np.pi * mean) + np.euler_gamma
    # The result is -log(1 - exp(-exp(-z))), the -log of the Gumbel tail probability at z. It is
    # about z for large z.
    return z - np.log(exprel(-np.exp(-np.maximum(z, -500.0))))


def permutation_pvalue(observed: Any, null: np.ndarray) -> Any:
    """Return (1 + number of `null` values >= `observed`) / (1 + B), where `null` has shape (B,).

    `observed` may be an array of statistics. Values that differ by rounding errors count as equal.

    Examples
    --------
    >>> import numpy as np
    >>> permutation_pvalue(2.0, np.array([1.0, 2.0, 3.0]))
    0.75
    """
    observed = np.asarray(observed, np.float64)
    # The median is a typical size of the statistic. A few permutations may have huge statistics.
    least = observed - _ROUNDING * (np.abs(observed) + np.median(np.abs(null)))
    below = np.searchsorted(np.sort(null), least, side="left")
    pvalues = (1 + len(null) - below) / (1 + len(null))
    return float(pvalues) if observed.ndim == 0 else pvalues
