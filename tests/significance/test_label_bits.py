"""Labels as bits: squares turned over, labels in an order, ranks found by counting."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.significance.label_bits import (
    count_before,
    count_bits,
    labels_in_order,
    place_of_rank,
    turn_square,
)


def test_bits_are_counted() -> None:
    words = [0, 1, 2**63, 2**64 - 1, 0x5A5A]
    assert [count_bits(np.uint64(w)) for w in words] == [w.bit_count() for w in words]


def test_a_square_is_turned_over() -> None:
    square = np.random.default_rng(0).integers(0, 2**64, 64, dtype=np.uint64)
    before = square.copy()
    turn_square(square)
    for i in range(64):
        for j in range(64):
            assert (int(square[j]) >> i) & 1 == (int(before[i]) >> j) & 1


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 130, 1000])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_ranks_are_found_by_counting(n: int, share: float) -> None:
    rng = np.random.default_rng(n)
    labels = rng.random((64, n)) < share
    labels[:, rng.integers(n)] = True
    words = np.zeros(n, np.uint64)
    for b in range(64):
        words |= labels[b].astype(np.uint64) << np.uint64(b)
    index = rng.permutation(n).astype(np.uint32)
    w = (n + 63) // 64
    bits = np.empty((64, w), np.uint64)
    labels_in_order(words, index, bits)
    counts, others_counts = np.empty((2, w + 1), np.int64)
    others = np.empty(w, np.uint64)
    for b in range(64):
        count_before(bits[b], n, counts, others, others_counts)
        in_order = labels[b][index]
        for mine, cumulated, wanted in (
            (bits[b], counts, in_order),
            (others, others_counts, ~in_order),
        ):
            places = np.flatnonzero(wanted)
            assert cumulated[-1] == len(places)
            found = [place_of_rank(mine, cumulated, rank) for rank in range(len(places))]
            assert found == places.tolist()


def test_labels_in_one_run_are_found() -> None:
    """Blocks may lie together, far from where the share of a rank says."""
    bits = np.zeros(40, np.uint64)
    bits[37] = np.uint64(0b1011)
    counts = np.concatenate([[0], np.cumsum([int(b).bit_count() for b in bits])])
    assert [place_of_rank(bits, counts, r) for r in range(3)] == [37 * 64, 37 * 64 + 1, 37 * 64 + 3]
