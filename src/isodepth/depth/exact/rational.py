"""Exact geometry in Python's integers: slow, and right for any floats whatsoever.

A finite set of floats are integers times one power of two, so differences, products and the signs
of determinants can be had without rounding. This decides what must be decided once (the span of a
sample), and takes over where doubles would overflow or underflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from math import gcd

import numpy as np

Vector = list[int]
WeightedVector = tuple[Vector, int]


def lowest_bit(*arrays: np.ndarray) -> int:
    """The largest e such that all numbers in the arrays are integer multiples of 2**e."""
    lowest = 0
    found = False
    for array in arrays:
        mantissas, exponents = np.frexp(array[array != 0])
        if not len(mantissas):
            continue
        whole = np.ldexp(mantissas, 53).astype(np.int64)
        trailing_zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
        low = int((exponents + trailing_zeros).min()) - 53
        lowest = min(lowest, low) if found else low
        found = True
    return lowest


def products_are_exact(d: int, *arrays: np.ndarray) -> bool:
    """Whether products of d differences neither overflow nor lose digits to underflow."""
    # Differences below two cannot overflow; an error of a product is a multiple of the lowest bits.
    largest = max(float(np.abs(array).max(initial=0.0)) for array in arrays)
    return largest <= 1.0 and d * lowest_bit(*arrays) >= -1022


def as_integers(array: np.ndarray, exponent: int) -> Iterator[Vector]:
    """Rows of `array` (n, d) in units of 2**exponent, which must divide all of them."""
    for row in array.tolist():
        fractions = [x.as_integer_ratio() for x in row]
        if exponent > 0:
            yield [whole >> exponent for whole, _ in fractions]
        else:
            yield [(whole << -exponent) // below for whole, below in fractions]


@dataclass(frozen=True)
class AffineSpan:
    """The smallest flat that holds a sample.

    Attributes
    ----------
    origin : a point of the sample
    basis : vectors in echelon form: each is zero in the pivot columns of those before
    columns : the pivot column of each; these coordinates alone tell the points of the flat apart
    """

    origin: Vector
    basis: list[Vector]
    columns: list[int]

    @classmethod
    def of(cls, points: Iterable[Vector]) -> AffineSpan:
        """Span of integer points (n, d), read until they span everything."""
        following = iter(points)
        span = cls(next(following), [], [])
        for point in following:
            rest = span._reduce(point)
            column = next((k for k, value in enumerate(rest) if value), None)
            if column is not None:
                span.basis.append(rest)
                span.columns.append(column)
                if len(span.columns) == len(span.origin):
                    break
        return span

    def contains(self, point: Vector) -> bool:
        """Whether the flat goes through an integer point (d,)."""
        return not any(self._reduce(point))

    def _reduce(self, point: Vector) -> Vector:
        rest = [x - o for x, o in zip(point, self.origin, strict=True)]
        for row, column in zip(self.basis, self.columns, strict=True):
            rest = _eliminate(rest, row, column)
        return rest


def smallest_mass(vectors: Sequence[WeightedVector]) -> int:
    """Smallest mass of a closed halfspace with the origin on its boundary.

    Parameters
    ----------
    vectors : pairs of an integer vector (d,), as seen from the query, and its mass; those that are
        not zero span the space
    """
    away = [(v, mass) for v, mass in vectors if any(v)]
    at_query = sum(mass for v, mass in vectors if not any(v))
    return at_query + (_smallest_mass(away, 0) if away else 0)


def _smallest_mass(vectors: Sequence[WeightedVector], first: int) -> int:
    """The same for non-zero vectors; only those from `first` on are projected along."""
    width = len(vectors[0][0])
    if width == 1:
        ahead = sum(mass for v, mass in vectors if v[0] > 0)
        return min(ahead, sum(mass for _, mass in vectors) - ahead)
    if width == 2:
        return _planar_sweep(vectors)
    best = sum(mass for _, mass in vectors)
    for i in range(first, len(vectors)):
        along = vectors[i][0]
        column = next(k for k in range(width) if along[k])
        sides = {True: 0, False: 0}
        others: list[WeightedVector] = []
        following = 0
        for j, (v, mass) in enumerate(vectors):
            rest = _eliminate(v, along, column)
            del rest[column]
            if not any(rest):
                sides[(v[column] > 0) == (along[column] > 0)] += mass
                continue
            # Only directions matter; without this, numbers double in length at each step.
            common = gcd(*rest)
            others.append(([x // common for x in rest], mass))
            following += j < i
        spent = min(sides.values())
        if spent < best:
            best = min(best, spent + _smallest_mass(others, following))
        if best == 0:
            break
    return best


def _planar_sweep(vectors: Sequence[WeightedVector]) -> int:
    """Turn a line through the origin by pi and keep the smallest mass on one side."""
    lines = []
    for (x, y), mass in vectors:
        up = y > 0 or (y == 0 and x > 0)
        lines.append((x, y, mass) if up else (-x, -y, -mass))
    lines.sort(key=cmp_to_key(_by_angle))
    total = sum(abs(mass) for _, _, mass in lines)
    left = sum(max(mass, 0) for _, _, mass in lines)
    best = total
    before: tuple[int, int] | None = None
    for x, y, mass in lines:
        if before is None or before[0] * y != before[1] * x:
            best = min(best, left, total - left)
        left -= mass
        before = (x, y)
    return best


def _by_angle(a: tuple[int, int, int], b: tuple[int, int, int]) -> int:
    """Negative when `a` comes first; both have angles in [0, pi)."""
    return a[1] * b[0] - a[0] * b[1]


def _eliminate(vector: Vector, along: Vector, column: int) -> Vector:
    """A positive or negative multiple of `vector`, moved along `along` until `column` is zero."""
    a, b = along[column], vector[column]
    return [a * x - b * y for x, y in zip(vector, along, strict=True)]
