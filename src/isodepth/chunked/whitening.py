"""Whitening of samples in chunks: sums of products that do not depend on the order of rows.

Numbers are integers here: in units of 2**-52 of the largest of a column, cut into four digits of 13
bits.
Products of digits add up without rounding in doubles for a block of rows, and blocks in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from isodepth.chunked.passes import Fold
from isodepth.chunked.rows import Frame, Rows
from isodepth.depth.whitening import inverse_root, stretch_of

_BITS = 13
_DIGITS = 4
# Sums of so many products of three digits stay below 2**53.
_BLOCK = 1 << 13


@dataclass(frozen=True)
class ExtremePass:
    """The smallest and the largest entries (2, d) of the columns of standardized rows."""

    frame: Frame

    def start(self) -> np.ndarray:
        return np.full((2, len(self.frame.center)), [[np.inf], [-np.inf]])

    def step(self, state: np.ndarray, rows: Rows) -> None:
        moved = self.frame.moved(rows.points)
        self.merge(state, np.stack([moved.min(axis=0), moved.max(axis=0)]))

    def merge(self, state: np.ndarray, other: np.ndarray) -> None:
        np.minimum(state[0], other[0], out=state[0])
        np.maximum(state[1], other[1], out=state[1])


@dataclass(frozen=True)
class MomentPass:
    """Sums of the products of digits, and of 1 in the last place, of standardized rows.

    The state is an object ndarray of shape (4 d + 1, 4 d + 1) of integers. Entries of the columns
    are at most 2**exponents (d,).
    """

    frame: Frame
    exponents: np.ndarray

    def start(self) -> np.ndarray:
        size = _DIGITS * len(self.exponents) + 1
        return np.zeros((size, size), dtype=object)

    def step(self, state: np.ndarray, rows: Rows) -> None:
        points = self.frame.moved(rows.points).astype(np.float64)
        for first in range(0, len(points), _BLOCK):
            some = slice(first, first + _BLOCK)
            digits = digits_of(points[some], self.exponents)
            if not len(rows.masses):
                state += _whole(digits.T @ digits)
                continue
            masses = rows.masses[some]
            place = 0
            while masses.any():
                own = (masses & ((1 << _BITS) - 1)).astype(np.float64)
                state += _whole((digits.T * own) @ digits) << place
                masses, place = masses >> _BITS, place + _BITS

    def merge(self, state: np.ndarray, other: np.ndarray) -> None:
        state += other


def digits_of(points: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Signed digits (n, 4 d + 1), whole numbers, of points (n, d), the first ones first, and 1."""
    left = np.rint(np.ldexp(points, _BITS * _DIGITS - exponents))
    found = []
    for place in range(_DIGITS - 1, -1, -1):
        digit = np.rint(np.ldexp(left, -_BITS * place))
        left = left - np.ldexp(digit, _BITS * place)
        found.append(digit)
    return np.hstack([*found, np.ones((len(points), 1))])


def _whole(sums: np.ndarray) -> np.ndarray:
    return sums.astype(np.int64).astype(object)


def whitening_matrix(fold: Fold, frame: Frame) -> np.ndarray:
    """That of `isodepth.depth.whitening` for the empirical covariance, up to rounding."""
    low, high = fold(ExtremePass(frame))
    exponents = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    mean, covariance = moments(fold(MomentPass(frame, exponents)), exponents)
    stretch = stretch_of(np.maximum(high - mean, mean - low), low == high)
    return inverse_root(covariance * stretch * stretch[:, None]) * stretch


def moments(products: np.ndarray, exponents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean (d,) and the covariance (d, d) of all rows, rounded once."""
    width = len(exponents)
    places = [_BITS * (_DIGITS - 1 - k // width) for k in range(_DIGITS * width)]
    total = int(products[-1, -1])
    sums = [0] * width
    squares: list[list[Any]] = [[0] * width for _ in range(width)]
    for i, own in enumerate(places):
        sums[i % width] += int(products[i, -1]) << own
        for j, other in enumerate(places):
            squares[i % width][j % width] += int(products[i, j]) << (own + other)
    units = [Fraction(2) ** (int(one) - _BITS * _DIGITS) for one in exponents]
    mean = np.array([float(one * unit / total) for one, unit in zip(sums, units, strict=True)])
    covariance = np.empty((width, width))
    for i in range(width):
        for j in range(width):
            exact = total * squares[i][j] - sums[i] * sums[j]
            covariance[i, j] = float(exact * units[i] * units[j] / total**2)
    return mean, covariance
