"""The operations of `vector_lanes` and `bit_operations` as plain loops, for numba.

They take over where a compiler cannot be trusted with the others.

Each gives the same bits as its namesake there: products are added up over the columns in their
order, with one rounding a step wherever the processor can, and ties are decided alike.
"""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.jit import njit

_ONE = np.uint64(1)
_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)


# Contraction lets the compiler round once where the processor multiplies and adds at once, as the
# vector instructions do.
@njit(nogil=True, fastmath={"contract"})
def _product(tiles, tile, lane, rows, row):
    total = tiles.dtype.type(0)
    for k in range(tiles.shape[1]):
        total = rows[row, k] * tiles[tile, k, lane] + total
    return total


@njit(nogil=True)
def _multiply(tiles, tile, rows, row, height, out, place, stride):
    flat = out.reshape(-1)
    for i in range(height):
        for lane in range(tiles.shape[2]):
            flat[place + i * stride + lane] = _product(tiles, tile, lane, rows, row + i)


@njit(nogil=True)
def multiply_four(tiles, tile, rows, row, out, place, stride):
    _multiply(tiles, tile, rows, row, 4, out, place, stride)


@njit(nogil=True)
def multiply_one(tiles, tile, rows, row, out, place, stride):
    _multiply(tiles, tile, rows, row, 1, out, place, stride)


@njit(nogil=True)
def _follow(tiles, tile, rows, row, height, range_, tops, lows, moves, place):
    for i in range(row, row + height):
        wider = False
        for lane in range(tiles.shape[2]):
            x = _product(tiles, tile, lane, rows, i)
            if x > range_[1, lane]:
                range_[1, lane] = x
                wider = True
            if x < range_[0, lane]:
                range_[0, lane] = x
                wider = True
        if wider:
            moves[place] = i
            place += 1
            for lane in range(tiles.shape[2]):
                lows[place, lane] = range_[0, lane]
                tops[place, lane] = range_[1, lane]
    return place


@njit(nogil=True)
def follow_four(tiles, tile, rows, row, range_, tops, lows, moves, place):
    return _follow(tiles, tile, rows, row, 4, range_, tops, lows, moves, place)


@njit(nogil=True)
def follow_one(tiles, tile, rows, row, range_, tops, lows, moves, place):
    return _follow(tiles, tile, rows, row, 1, range_, tops, lows, moves, place)


@njit(nogil=True)
def widest_gap(tops, lows, one, other, gaps):
    largest = tops.dtype.type(0)
    for lane in range(tops.shape[1]):
        above = abs(tops[one, lane] - tops[other, lane])
        below = abs(lows[one, lane] - lows[other, lane])
        gaps[lane] = above if above > below else below
        largest = gaps[lane] if gaps[lane] > largest else largest
    return largest


@njit(nogil=True)
def nearest(values, place, center, target):
    smallest = abs(values[place] - target)
    for i in range(place + 1, place + 64 // values.itemsize):
        away = abs(values[i] - target)
        smallest = away if away < smallest else smallest
    return smallest


@njit(nogil=True)
def nearest_folded(values, place, center, target):
    smallest = abs(abs(values[place] - center) - target)
    for i in range(place + 1, place + 64 // values.itemsize):
        away = abs(abs(values[i] - center) - target)
        smallest = away if away < smallest else smallest
    return smallest


@njit(nogil=True)
def _bits_of_bytes(word):
    word = np.uint64(word)
    word = word - ((word >> _ONE) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    return (word + (word >> np.uint64(4))) & _NIBBLES


@njit(nogil=True)
def count_bits(word):
    return np.int64((_bits_of_bytes(word) * _BYTES) >> np.uint64(56))


@njit(nogil=True)
def byte_of_rank(word, rank):
    sums = _bits_of_bytes(word) * _BYTES
    wanted = np.uint64(rank)
    before = (((wanted * _BYTES) | _TOPS) - sums) & _TOPS
    shift = (((before >> np.uint64(7)) * _BYTES) >> np.uint64(56)) << np.uint64(3)
    left = wanted - (((sums << np.uint64(8)) >> shift) & np.uint64(0xFF))
    return np.int64((left << np.uint64(6)) | shift)


# Others must not count at the same time: see `turns`.
@njit(nogil=True)
def take_next(counter):
    counter[0] += 1
    return counter[0] - 1
