"""Weights as integers, whose sums are exact in any order, and numbers of contaminated rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

# Twice the total must fit in a signed 64-bit integer (mid-ranks add two cumulative masses).
TOTAL_BITS = 61
# Maximum number of binary digits of weights that count as exact.
_EXACT_DIGITS = 14


def contaminated_rows(tolerance: float, n: int) -> int:
    """Return the maximum number of contaminated rows if they are a fraction `tolerance` of n rows.

    The product may be rounded down, and must not lose a row: 0.29 * 100 is 28.999999999999996.
    """
    return math.floor(tolerance * n * (1 + 1e-12))


@np.errstate(over="ignore")
def exact_masses(weights: np.ndarray) -> np.ndarray:
    """Return integers proportional to positive weights.

    Ties between regions and depths depend on sums of weights. Floating-point sums depend on the
    order of the terms, integer sums do not. Weights that are small integers up to a common factor
    and rounding (``w / w.sum()``, ``0.1 * w``) become these integers, without a common divisor.
    Other floats are multiplied by a power of two. This is exact unless they differ by a factor
    above about 2**8 with full mantissas; they are then rounded at 2**-61 of the total.
    """
    integral = bool((weights == np.rint(weights)).all()) and weights.sum() < 2.0**53
    # Larger integers may be rounded multiples of small integers.
    small = None if integral and weights.max() < 2.0**50 else _small_integers(weights)
    if small is not None:
        return small
    if integral:
        integers = weights.astype(np.int64)
        return integers // np.gcd.reduce(integers)
    # The largest weight is scaled to [0.5, 1), so that nothing overflows.
    scaled = np.ldexp(weights, -np.frexp(weights.max())[1])
    bits = TOTAL_BITS - int(np.frexp(scaled.sum())[1])
    mantissas, exponents = np.frexp(scaled)
    # If a weight underflows to 0, an exact conversion is impossible: use all bits.
    needed = bits
    if mantissas.all():
        needed = int((53 - trailing_zeros(mantissas) - exponents).max())
    integers = np.rint(np.ldexp(scaled, min(needed, bits))).astype(np.int64)
    return np.maximum(integers, 1)


def trailing_zeros(mantissas: np.ndarray) -> np.ndarray:
    """Count the trailing zeros among the 53 bits of mantissas in [0.5, 1) or (-1, -0.5]."""
    whole = (mantissas * 2.0**53).astype(np.int64)
    return np.log2((whole & -whole).astype(np.float64)).astype(np.int64)


def _small_integers(weights: np.ndarray) -> np.ndarray | None:
    """Return small coprime integers to which positive weights are proportional, or None.

    Two ratios of integers up to m differ by a relative m**-2 at least. The maximum m is chosen so
    that this exceeds the rounding error.
    """
    # Weights of few digits count as exact, unless they were scaled to a sum of one.
    mantissas, exponents = np.frexp(weights)
    last_places = exponents - 53 + trailing_zeros(mantissas)
    if exponents.max() - last_places.min() <= _EXACT_DIGITS:
        integers = np.ldexp(weights, -last_places.min()).astype(np.int64)
        total = int(integers.sum())
        if total & (total - 1):
            return integers // np.gcd.reduce(integers)
    # Weights that were rounded to single precision may be close to larger integers by chance.
    with np.errstate(over="ignore", under="ignore"):
        single = bool((weights.astype(np.float32) == weights).all())
    for rounding, most in ((4 * 2.0**-23, 1000), (8 * 2.0**-52, 2**20))[0 if single else 1 :]:
        integers = _integers_within(weights, rounding, most)
        if integers is not None:
            return integers
    return None


def _integers_within(weights: np.ndarray, rounding: float, most: int) -> np.ndarray | None:
    """Return integers up to `most`, proportional to the weights up to a relative `rounding`."""
    if weights.max() > 2 * most * weights.min():
        return None
    ratios = weights / weights.min()
    unit = 1  # the integer for the smallest weight
    while True:
        integers = np.rint(unit * ratios)
        away = np.abs(unit * ratios - integers) > rounding * integers
        if not away.any():
            return integers.astype(np.int64) if integers.max() <= most else None
        denominators = []
        # Random weights fail at the first ratios. Each step at least doubles the unit. Fractions
        # with small denominators are far apart, so that the nearest one is unique.
        for ratio in unit * ratios[np.flatnonzero(away)[:16]]:
            fraction = Fraction(ratio).limit_denominator(max(1, most // unit))
            if (
                abs(fraction.denominator * ratio - fraction.numerator)
                > rounding * fraction.numerator
            ):
                return None
            denominators.append(fraction.denominator)
        unit *= math.lcm(*denominators)
        if unit > most:
            return None
