"""Compiled: which rows belong to a sample under many relabelings, as bits in the order of a column.

A word of 64 bits holds the label of one row under 64 relabelings. Gathered in the order of the
values along a direction, and turned over in squares of 64 by 64, such words say for each relabeling
where the rows of the sample lie in that order. What stands at any rank is then found by counting
bits: nothing is sorted again, and a median costs a few words and not a walk over all rows.

Words are int64 numbers of which nothing but the bits counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.bit_operations import byte_of_rank, count_bits
from isodepth.engine.compiled.lite.loop import loop


class BitRoom(NamedTuple):
    """Room for the labels of n rows under 64 relabelings, w = ceil(n / 64)."""

    square: Any  # int64 (64,)
    bits: Any  # int64 (64, w), in the order of a column
    others: Any  # int64 (w,), the rows of one relabeling that are not in the sample
    counts: Any  # int64 (w + 1,), the rows before each word that are in the sample, and
    counts_of_others: Any  # those that are not
    places: Any  # uint8 (256, 8), which bit of a byte is the one of each rank


def bit_room(n: int) -> BitRoom:
    """Allocate for n rows."""
    w = (n + 63) // 64
    return BitRoom(
        square=np.empty(64, np.int64),
        bits=np.empty((64, w), np.int64),
        others=np.empty(w, np.int64),
        counts=np.empty(w + 1, np.int64),
        counts_of_others=np.empty(w + 1, np.int64),
        places=PLACES,
    )


#: Which bit of a byte is the one of each rank; 0 where it has not so many.
PLACES = np.array(
    [([b for b in range(8) if byte >> b & 1] + 8 * [0])[:8] for byte in range(256)], np.uint8
)


@loop
def turn_square(square):
    """Turn 64 words over, in place: bit j of word i becomes bit i of word j."""
    width = 32
    mask = 0x00000000FFFFFFFF
    while width != 0:
        low = 0
        while low < 64:
            other = low + width
            # The mask takes away what a shift of a negative number fills up with.
            crossed = ((square[low] >> width) ^ square[other]) & mask
            square[low] ^= crossed << width
            square[other] ^= crossed
            low = (other + 1) & ~width
        width >>= 1
        mask ^= mask << width


@loop
def labels_in_order(words, index, room):
    """Write to `room.bits` the labels of 64 relabelings in the order `index`.

    Parameters
    ----------
    words : int64 (n,), bit b of words[i] says whether row i belongs to the sample in relabeling b
    index : unsigned integers (n,), the rows in their order
    room : from `bit_room`; bit j of bits[b, k] is for the row index[64 k + j]
    """
    n = index.shape[0]
    square, bits = room.square, room.bits
    for column in range(bits.shape[1]):
        first = 64 * column
        there = min(64, n - first)
        for j in range(there):
            square[j] = words[index[first + j]]
        for j in range(there, 64):
            square[j] = 0
        turn_square(square)
        for b in range(64):
            bits[b, column] = square[b]


@loop
def count_before(bits, n, room):
    """Cumulated counts of the bits of one relabeling, and of those that are not set.

    Parameters
    ----------
    bits : int64 (w,)
    n : int, how many of the bits stand for rows
    room : from `bit_room`; its `others`, `counts` and `counts_of_others` are set
    """
    w = bits.shape[0]
    others, counts, counts_of_others = room.others, room.counts, room.counts_of_others
    counts[0] = 0
    counts_of_others[0] = 0
    for k in range(w):
        counts[k + 1] = counts[k] + count_bits(bits[k])
        others[k] = ~bits[k]
    there = n - 64 * (w - 1)
    if there < 64:
        others[w - 1] &= ~(-1 << there)
    for k in range(w):
        counts_of_others[k + 1] = min(64 * (k + 1), n) - counts[k + 1]


@loop
def place_of_rank(bits, counts, places, rank):
    """Where the bit of that rank, counted from 0, stands among all rows."""
    w = bits.shape[0]
    # Labels are drawn at random, so ranks lie where their share says, or a word or two away.
    k = np.int64(rank * (w / counts[w]))
    while counts[k] > rank:
        k -= 1
    while counts[k + 1] <= rank:
        k += 1
    found = byte_of_rank(bits[k], rank - counts[k])
    shift = found & 63
    return 64 * k + shift + places[(bits[k] >> shift) & 255, found >> 6]
