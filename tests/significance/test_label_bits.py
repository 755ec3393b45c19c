"""Labels as bits: squares turned over, labels in an order, ranks found by counting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isodepth.engine.compiled.bit_operations import byte_of_rank, count_bits
from isodepth.engine.compiled.lite.loop import loop
from isodepth.significance.label_bits import (
    bit_room,
    count_before,
    labels_in_order,
    place_of_rank,
    turn_square,
)


@loop
def _counted(word):
    return count_bits(word)


@loop
def _byte(word, rank):
    return byte_of_rank(word, rank)


def signed(word: int) -> int:
    """The int64 number with the bits of a word."""
    return word - 2**64 if word >= 2**63 else word


WORDS = [1, 2**63, 2**64 - 1, 0x5A5A, 0xFF << 56, 2**63 + 1, 0x8080808080808080]
WORDS += [int(w) for w in np.random.default_rng(0).integers(0, 2**64, 50, dtype=np.uint64)]


@pytest.mark.parametrize("count", [_counted, count_bits], ids=["translated", "plain"])
def test_bits_are_counted(count: Any) -> None:
    words = [0, *WORDS]
    assert [count(signed(w)) for w in words] == [w.bit_count() for w in words]


@pytest.mark.parametrize("find", [_byte, byte_of_rank], ids=["translated", "plain"])
def test_the_byte_of_a_rank_is_found(find: Any) -> None:
    for word in WORDS:
        places = [j for j in range(64) if word >> j & 1]
        for rank, place in enumerate(places):
            first = place - place % 8
            rank_there = sum(first <= j < place for j in places)
            assert find(signed(word), rank) == 64 * rank_there + first


def test_a_square_is_turned_over() -> None:
    before = np.random.default_rng(0).integers(0, 2**64, 64, dtype=np.uint64)
    square = before.copy()
    turn_square(square.view(np.int64))
    for i in range(64):
        for j in range(64):
            assert (int(square[j]) >> i) & 1 == (int(before[i]) >> j) & 1


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 127, 128, 130, 1000])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_ranks_are_found_by_counting(n: int, share: float) -> None:
    rng = np.random.default_rng(n)
    labels = rng.random((64, n)) < share
    labels[:, rng.integers(n)] = True
    words = np.zeros(n, np.uint64)
    for b in range(64):
        words |= labels[b].astype(np.uint64) << np.uint64(b)
    index = rng.permutation(n).astype(np.uint32)
    room = bit_room(n)
    labels_in_order(words.view(np.int64), index, room)
    for b in range(64):
        count_before(room.bits[b], n, room)
        in_order = labels[b][index]
        for mine, cumulated, wanted in (
            (room.bits[b], room.counts, in_order),
            (room.others, room.counts_of_others, ~in_order),
        ):
            places = np.flatnonzero(wanted)
            assert cumulated[-1] == len(places)
            found = [place_of_rank(mine, cumulated, room.places, r) for r in range(len(places))]
            assert found == places.tolist()


def test_labels_in_one_run_are_found() -> None:
    """Blocks may lie together, far from where the share of a rank says."""
    bits = np.zeros(40, np.int64)
    bits[37] = 0b1011
    counts = np.concatenate([[0], np.cumsum([int(b).bit_count() for b in bits])])
    places = bit_room(1).places
    found = [place_of_rank(bits, counts, places, r) for r in range(3)]
    assert found == [37 * 64, 37 * 64 + 1, 37 * 64 + 3]
