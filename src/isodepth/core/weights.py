"""Conversion of weights to integers, whose sums are exact in any order."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

# Maximum number of bits of the total mass. Mid-ranks add two cumulative masses, so twice the total
# must fit in a signed 64-bit integer.
TOTAL_BITS = 61
# Weights with at most this number of binary digits are assumed not to be rounded.
_EXACT_DIGITS = 14


def contaminated_rows(tolerance: float, n: int) -> int:
    """Return the maximum number of contaminated rows out of n, for a fraction `tolerance`.

    A small relative margin corrects rounding: 0.29 * 100 is 28.999999999999996, but means 29 rows.
    """
    return math.floor(tolerance * n * (1 + 1e-12))


@np.errstate(over="ignore")
def exact_masses(weights: np.ndarray) -> np.ndarray:
    """Return integers proportional to positive weights (n,).

    Ties between depths depend on sums of weights. Floating-point sums depend on the order of the
    terms, integer sums do not. Weights that are small integers up to a common factor and rounding,
    such as ``w / w.sum()`` or ``0.1 * w``, are converted to these integers, without a common
    divisor. Other weights are multiplied by a power of two. The result is exact unless weights that
    need all 53 bits differ by a factor above about 2**8. In this case all weights are rounded to
    multiples of 2**-61 of the total, and small weights become at least 1.
    """
    integral = bool((weights == np.rint(weights)).all()) and weights.sum() < 2.0**53
    # Integers of 2**50 and above may be small integers multiplied by a factor and rounded. Recover
    # the small integers if possible.
    small = None if integral and weights.max() < 2.0**50 else _small_integers(weights)
    if small is not None:
        return small
    if integral:
        integers = weights.astype(np.int64)
        return integers // np.gcd.reduce(integers)
    # Scale the maximum weight to [0.5, 1), so that no sum overflows.
    scaled = np.ldexp(weights, -np.frexp(weights.max())[1])
    bits = TOTAL_BITS - int(np.frexp(scaled.sum())[1])
    mantissas, exponents = np.frexp(scaled)
    # `needed` bits represent all weights exactly. If a weight underflowed to 0, this is impossible,
    # and all available bits are used.
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

    Weights may be rounded. Two different ratios of integers up to m have a relative difference of
    at least m**-2. The maximum m is chosen so that this exceeds the rounding error, and the
    integers are unique.
    """
    # Weights with few binary digits are not rounded, unless their sum is a power of two: they may
    # then be normalized weights, such as w / w.sum().
    mantissas, exponents = np.frexp(weights)
    last_places = exponents - 53 + trailing_zeros(mantissas)
    if exponents.max() - last_places.min() <= _EXACT_DIGITS:
        integers = np.ldexp(weights, -last_places.min()).astype(np.int64)
        total = int(integers.sum())
        if total & (total - 1):
            return integers // np.gcd.reduce(integers)
    # Weights that are float32 numbers may have been rounded to single precision. With this larger
    # rounding error only integers up to 1000 are accepted, because larger ones may match by chance.
    with np.errstate(over="ignore", under="ignore"):
        single = bool((weights.astype(np.float32) == weights).all())
    for rounding, most in ((4 * 2.0**-23, 1000), (8 * 2.0**-52, 2**20))[0 if single else 1 :]:
        integers = _integers_within(weights, rounding, most)
        if integers is not None:
            return integers
    return None


def _integers_within(weights: np.ndarray, rounding: float, most: int) -> np.ndarray | None:
    """Return integers up to `most` that are proportional to the weights, or None.

    `rounding` is the maximum relative error of the proportion.
    """
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
        # Only 16 ratios are tried at a time, because random weights already fail at the first
        # ones. Each step at least doubles the unit. Fractions with small denominators are far
        # apart, so that the nearest one is unique.
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
