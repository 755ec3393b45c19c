"""Which row belongs to which sample, drawn anew: relabelings of a pooled sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from isodepth.data.arrays import describe, to_array
from isodepth.errors import InvalidInputError

#: Relabelings that share a word of bits.
WORD = 64


class Relabelings:
    """The labels that were given, followed by labels drawn at random.

    Whole blocks change sides, and as many of them are in each sample as before: under the
    hypothesis that blocks are exchangeable all such labels are equally likely.

    Parameters
    ----------
    n_x, n_y : int
        Rows of the two samples; those of the first come first.
    blocks : int64 ndarray of shape (n_x + n_y,) or None
        The number of the block of each row, the blocks of the first sample first, see
        :func:`check_blocks`; None where every row is one.
    """

    def __init__(self, n_x: int, n_y: int, blocks: np.ndarray | None = None) -> None:
        self.n_rows = n_x + n_y
        self._blocks = blocks
        self.n_units = self.n_rows if blocks is None else int(blocks.max()) + 1
        self.n_units_x = n_x if blocks is None else int(blocks[:n_x].max()) + 1

    def words(self, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Bits for `count` relabelings in words of 64, of shape (n_rows,) each.

        Bit b of entry i of the w-th word says whether row i is of the first sample in relabeling
        64 w + b. Relabeling 0 is the one that was given. All others are drawn from `rng` one after
        the other, so that they depend on it alone.
        """
        for first in range(0, count, WORD):
            labels = np.zeros((WORD, self.n_rows), np.uint8)
            for b in range(min(WORD, count - first)):
                labels[b] = self.draw(rng if first + b else None)
            packed = np.packbits(labels, axis=0, bitorder="little")
            yield np.ascontiguousarray(packed.T).view("<u8")[:, 0].astype(np.uint64)

    def draw(self, rng: np.random.Generator | None) -> np.ndarray:
        """Which rows (n_rows,) are of the first sample, 0 or 1; as given where `rng` is None."""
        units = np.zeros(self.n_units, np.uint8)
        if rng is None:
            units[: self.n_units_x] = 1
        else:
            units[rng.permutation(self.n_units)[: self.n_units_x]] = 1
        return units if self._blocks is None else units[self._blocks]


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
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidInputError(
            f"{name} must name the block of every row, got {int(np.isnan(array).sum())} NaN"
        )
    return array


def _numbered(labels: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Distinct labels in the order of their first rows, and the number of each row's."""
    numbers: dict[Any, int] = {}
    found = np.array(
        [numbers.setdefault(label, len(numbers)) for label in labels.tolist()], np.int64
    )
    return list(numbers), found
