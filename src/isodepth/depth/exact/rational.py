"""Exact geometry in Python's integers: slow, and right for any floats whatsoever.

A finite set of floats are integers times one power of two, so differences, products and the signs
of determinants can be had without rounding. This decides what must be decided once: the span of a
sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from isodepth.core.weights import trailing_zeros

Vector = list[int]


def lowest_bit(*arrays: np.ndarray) -> int:
    """The largest e such that all numbers in the arrays are integer multiples of 2**e."""
    values = np.concatenate([array[array != 0] for array in arrays])
    if not len(values):
        return 0
    mantissas, exponents = np.frexp(values)
    return int((exponents + trailing_zeros(mantissas)).min()) - 53


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


def _eliminate(vector: Vector, along: Vector, column: int) -> Vector:
    """A positive or negative multiple of `vector`, moved along `along` until `column` is zero."""
    a, b = along[column], vector[column]
    return [a * x - b * y for x, y in zip(vector, along, strict=True)]
