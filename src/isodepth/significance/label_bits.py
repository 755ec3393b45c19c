"""Compiled: which rows belong to a sample under many relabelings, as bits in the order of a column.

A word of 64 bits holds the label of one row under 64 relabelings. Gathered in the order of the
values along a direction, and turned over in squares of 64 by 64, such words say for each relabeling
where the rows of the sample lie in that order. What stands at any rank is then found by counting
bits: nothing is sorted again, and a median costs a few words and not a walk over all rows.
"""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.jit import njit

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)
# Which bit of a byte is the one of each rank; 0 where it has not so many.
_PLACES = np.array(
    [([b for b in range(8) if byte >> b & 1] + 8 * [0])[:8] for byte in range(256)], np.uint8
)


# The compiler knows this pattern, and uses the instruction that counts bits where there is one.
@njit(nogil=True)
def count_bits(word):
    """How many bits of a word are set."""
    word = word - ((word >> _ONE) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _NIBBLES
    return np.int64((word * _BYTES) >> np.uint64(56))


@njit(nogil=True)
def turn_square(square):
    """Turn 64 words over, in place: bit j of word i becomes bit i of word j."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width != 0:
        shift = np.uint64(width)
        low = 0
        while low < 64:
            other = low + width
            crossed = ((square[low] >> shift) ^ square[other]) & mask
            square[low] ^= crossed << shift
            square[other] ^= crossed
            low = (other + 1) & ~width
        width >>= 1
        mask ^= mask << np.uint64(width)


@njit(cache=True, nogil=True)
def labels_in_order(words, index, bits):
    """Write to `bits` (64, w) the labels of 64 relabelings in the order `index`.

    Parameters
    ----------
    words : uint64 (n,), bit b of words[i] says whether row i belongs to the sample in relabeling b
    index : unsigned integers (n,), the rows in their order
    bits : uint64 (64, w), w = ceil(n / 64); bit j of bits[b, k] is for the row index[64 k + j]
    """
    n = index.shape[0]
    square = np.empty(64, np.uint64)
    for column in range(bits.shape[1]):
        first = 64 * column
        there = min(64, n - first)
        for j in range(there):
            square[j] = words[index[first + j]]
        for j in range(there, 64):
            square[j] = np.uint64(0)
        turn_square(square)
        for b in range(64):
            bits[b, column] = square[b]


@njit(cache=True, nogil=True)
def count_before(bits, n, counts, others, counts_of_others):
    """Cumulated counts of the bits of one relabeling, and of those that are not set.

    Parameters
    ----------
    bits : uint64 (w,)
    n : int, how many of the bits stand for rows
    counts : int64 (w + 1,), set to the number of bits before each word
    others : uint64 (w,), set to the bits of the rows that are not in the sample
    counts_of_others : int64 (w + 1,), the same for them
    """
    w = bits.shape[0]
    counts[0] = 0
    counts_of_others[0] = 0
    for k in range(w):
        counts[k + 1] = counts[k] + count_bits(bits[k])
        others[k] = ~bits[k]
    spare = 64 * w - n
    if spare > 0:
        others[w - 1] &= _ALL >> np.uint64(spare)
    for k in range(w):
        counts_of_others[k + 1] = min(64 * (k + 1), n) - counts[k + 1]


@njit(nogil=True)
def place_of_rank(bits, counts, rank):
    """Where the bit of that rank, counted from 0, stands among all rows."""
    w = bits.shape[0]
    # Labels are drawn at random, so ranks lie where their share says, or a word or two away.
    k = np.int64(rank * (w / counts[w]))
    while counts[k] > rank:
        k -= 1
    while counts[k + 1] <= rank:
        k += 1
    left = np.uint64(rank - counts[k])
    return 64 * k + _place_in_word(bits[k], left)


@njit(nogil=True)
def _place_in_word(word, rank):
    """Which bit of a word is the one of that rank: the byte by its counts, the bit by a table."""
    sums = word - ((word >> _ONE) & _PAIRS)
    sums = (sums & _FOURS) + ((sums >> np.uint64(2)) & _FOURS)
    # Byte i holds how many bits are set in bytes 0 to i.
    sums = ((sums + (sums >> np.uint64(4))) & _NIBBLES) * _BYTES
    # The top bit of each byte says whether all bits up to there come before.
    before = (((rank * _BYTES) | _TOPS) - sums) & _TOPS
    shift = (((before >> np.uint64(7)) * _BYTES) >> np.uint64(56)) << np.uint64(3)
    rank -= ((sums << np.uint64(8)) >> shift) & np.uint64(0xFF)
    byte = (word >> shift) & np.uint64(0xFF)
    return np.int64(shift) + np.int64(_PLACES[byte, rank])
