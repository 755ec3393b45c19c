"""Which row belongs to which sample, drawn anew: permuted labels of a pooled sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from isodepth.data.arrays import describe
from isodepth.data.validation import to_array
from isodepth.errors import InvalidInputError

#: Permutations that share a word of bits.
WORD = 64
# Numbers in a block of labels or of functions of the rows: 32 MB.
BLOCK = 1 << 22


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
        :func:`check_blocks`; None where every row is one.

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

    def contrasts(self, values: np.ndarray) -> np.ndarray:
        """Differences of the means of values (F, n), of shape (F, labelings).

        The mean of the first sample less that of the second, times sqrt(n m / (n + m)): the
        variance under permutation is that of the values.
        """
        centered = values - values.mean(axis=1, keepdims=True)
        return self.sums(centered) * np.sqrt(self.n_rows / (self.sizes[0] * self.sizes[1]))


def check_blocks(
    blocks: Any, n_x: int, n_y: int, kept: tuple[np.ndarray, np.ndarray] | None = None
) -> np.ndarray | None:
    """Numbers of the blocks of all rows, those of the first sample first.

    Parameters
    ----------
    blocks : array-like of n_x + n_y labels, pair of array-likes of n_x and n_y labels, or None
        Labels of any kind: numbers, texts, dates.
    kept : pair of bool ndarrays of shape (n_x,) and (n_y,), or None
        The rows that are not left out.

    Returns
    -------
    numbers : int64 ndarray with one entry for each row that is kept, or None
    """
    if blocks is None:
        return None
    x_labels, y_labels = _two_parts(blocks, n_x, n_y)
    if kept is not None:
        x_labels, y_labels = x_labels[kept[0]], y_labels[kept[1]]
    x_names, x_numbers = _numbered(x_labels)
    y_names, y_numbers = _numbered(y_labels)
    shared = [name for name in y_names if name in set(x_names)]
    if shared:
        raise InvalidInputError(
            f"a block must lie in one sample, got {len(shared)} block(s) with rows in both, the "
            f"first {shared[0]!r}: blocks change sides as a whole. If these are different groups "
            "with one label, such as the days of two months, make their labels differ"
        )
    if len(x_names) == len(y_names) == 1:
        raise InvalidInputError(
            "blocks must be more than one in at least one sample, got one block in each: "
            "exchanging them does not change how far apart they are"
        )
    return np.concatenate([x_numbers, y_numbers + len(x_names)])


def _two_parts(blocks: Any, n_x: int, n_y: int) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(blocks, tuple | list) and len(blocks) == 2 and n_x + n_y != 2:
        parts = [_labels(part, f"blocks[{i}]") for i, part in enumerate(blocks)]
        for i, (part, n) in enumerate(zip(parts, (n_x, n_y), strict=True)):
            if part.shape != (n,):
                raise InvalidInputError(
                    f"blocks[{i}] must hold one label for each of the {n} rows of {'XY'[i]}, got "
                    f"shape {part.shape}"
                )
        return parts[0], parts[1]
    labels = _labels(blocks, "blocks")
    if labels.shape != (n_x + n_y,):
        raise InvalidInputError(
            f"blocks must hold one label for each of the {n_x} + {n_y} rows of X and Y, or be a "
            f"pair (labels of X, labels of Y), got {describe(labels)}"
        )
    return labels[:n_x], labels[n_x:]


def _labels(labels: Any, name: str) -> np.ndarray:
    try:
        array = labels if isinstance(labels, np.ndarray) else np.asarray(labels)
    except ValueError:
        array = to_array(labels, name)
    if array.dtype.kind in "fcmM":
        missing = np.isnan(array) if array.dtype.kind in "fc" else np.isnat(array)
    else:
        missing = np.array([_is_missing(label) for label in array.ravel().tolist()], bool)
    if missing.any():
        raise InvalidInputError(
            f"{name} must name the block of every row, got {int(missing.sum())} missing label(s)"
        )
    return array


def _is_missing(label: Any) -> bool:
    """Whether an object stands for a missing value: None, NaN, NaT, and pandas' NA."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def _numbered(labels: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Distinct labels in the order of their first rows, and the number of each row's."""
    numbers: dict[Any, int] = {}
    found = np.array(
        [numbers.setdefault(label, len(numbers)) for label in labels.tolist()], np.int64
    )
    return list(numbers), found
