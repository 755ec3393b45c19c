"""Weights as integers: sums that are exact in any order."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

# Twice the total must fit in a signed 64-bit integer (mid-ranks add two cumulative masses).
TOTAL_BITS = 61
# Weights of at most so many binary digits are taken as exact.
_EXACT_DIGITS = 14


@np.errstate(over="ignore")
def exact_masses(weights: np.ndarray) -> np.ndarray:
    """Positive weights as integers in proportion, so that their sums are exact in any order.

    Ties between regions and depths are decided by sums of weights; floating-point sums of one set
    in two orders differ, integer sums do not. So weights that are small integers up to a common
    factor and rounding (``w / w.sum()``, ``0.1 * w``) are those integers, without a common divisor.
    Other floats are dyadic rationals: a common power of two makes them integers without any
    rounding, unless they span more than about 2**8 in size with full mantissas; then they are
    rounded at 2**-61 of the total.
    """
    integral = bool((weights == np.rint(weights)).all()) and weights.sum() < 2.0**53
    # Larger integers may themselves be rounded.
    small = None if integral and weights.max() < 2.0**50 else _small_integers(weights)
    if small is not None:
        return small
    if integral:
        integers = weights.astype(np.int64)
        return integers // np.gcd.reduce(integers)
    # In [0.5, 1) for the largest weight, so that nothing below can overflow.
    scaled = np.ldexp(weights, -np.frexp(weights.max())[1])
    bits = TOTAL_BITS - int(np.frexp(scaled.sum())[1])
    mantissas, exponents = np.frexp(scaled)
    # Weights that vanish beside the largest are not exact, and take all the bits there are.
    needed = bits
    if mantissas.all():
        needed = int((53 - trailing_zeros(mantissas) - exponents).max())
    integers = np.rint(np.ldexp(scaled, min(needed, bits))).astype(np.int64)
    return np.maximum(integers, 1)


def trailing_zeros(mantissas: np.ndarray) -> np.ndarray:
    """How many of the 53 bits of each mantissa, in [0.5, 1) or (-1, -0.5], are zeros at its end."""
    whole = (mantissas * 2.0**53).astype(np.int64)
    return np.log2((whole & -whole).astype(np.float64)).astype(np.int64)


def _small_integers(weights: np.ndarray) -> np.ndarray | None:
    """Small integers without a common divisor to which positive weights are proportional, or None.

    What counts as rounding and as small goes together: two ratios of integers up to m differ by a
    share of m**-2 at least, which must be more than what rounding can do.
    """
    # Weights of few digits are not rounded, unless they were scaled to add up to one: they are
    # taken as exact.
    mantissas, exponents = np.frexp(weights)
    last_places = exponents - 53 + trailing_zeros(mantissas)
    if exponents.max() - last_places.min() <= _EXACT_DIGITS:
        integers = np.ldexp(weights, -last_places.min()).astype(np.int64)
        total = int(integers.sum())
        if total & (total - 1):
            return integers // np.gcd.reduce(integers)
    # Weights of single precision carry its rounding along when they become doubles, and then may
    # be close to larger integers by chance.
    with np.errstate(over="ignore", under="ignore"):
        single = bool((weights.astype(np.float32) == weights).all())
    for rounding, most in ((4 * 2.0**-23, 1000), (8 * 2.0**-52, 2**20))[0 if single else 1 :]:
        found = _integers_within(weights, rounding, most)
        if found is not None:
            return found
    return None


def _integers_within(weights: np.ndarray, rounding: float, most: int) -> np.ndarray | None:
    """Integers up to `most` in proportion to the weights, up to a share `rounding` of each."""
    if weights.max() > 2 * most * weights.min():
        return None
    ratios = weights / weights.min()
    unit = 1  # the integer that stands for the smallest weight
    while True:
        integers = np.rint(unit * ratios)
        away = np.abs(unit * ratios - integers) > rounding * integers
        if not away.any():
            return integers.astype(np.int64) if integers.max() <= most else None
        denominators = []
        # Random numbers fail at the first ratios; each step at least doubles the unit. No other
        # fraction with so small a denominator is as close, so the nearest is the one meant.
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
