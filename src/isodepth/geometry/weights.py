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
    """Return the maximum number of contaminated rows among n, for the fraction `tolerance`.

    The number is ``tolerance * n``, rounded down. A small relative margin corrects rounding:
    ``0.29 * 100`` is 28.999999999999996, but means 29 rows.
    """
    return math.floor(tolerance * n * (1 + 1e-12))


@np.errstate(over="ignore")
def exact_masses(weights: np.ndarray) -> np.ndarray:
    """Return int64 masses (n,) that are proportional to positive weights (n,), up to rounding.

    Ties between depths depend on sums of weights. Floating-point sums depend on the order of the
    terms, integer sums do not. There are three cases:

    * Integer weights below 2**50, with a sum below 2**53, are divided by their greatest common
      divisor.
    * Other weights may be proportional to integers up to 2**20, except for rounding, such as
      ``w / w.sum()`` or ``0.1 * w`` for integers w. They are converted to these integers.
    * All others are multiplied by a power of two for which all products are integers with a sum
      below 2**61. If there is none, the products are rounded to integers, and are at least 1.
    """
    integral = bool((weights == np.rint(weights)).all()) and weights.sum() < 2.0**53
    # Weights that are integers of 2**50 and above may be small integers multiplied by a factor and
    # rounded. Recover the small integers if possible.
    small = None if integral and weights.max() < 2.0**50 else _small_integers(weights)
    if small is not None:
        return small
    if integral:
        integers = weights.astype(np.int64)
        return integers // np.gcd.reduce(integers)
    # Scale the maximum weight to [0.5, 1), so that the sum of the weights does not overflow.
    scaled = np.ldexp(weights, -np.frexp(weights.max())[1])
    bits = TOTAL_BITS - int(np.frexp(scaled.sum())[1])
    mantissas, exponents = np.frexp(scaled)
    # All scaled weights are multiples of 2**-needed. If a scaled weight underflowed to 0, an exact
    # conversion is impossible, and all available bits are used.
    needed = bits
    if mantissas.all():
        needed = int((53 - trailing_zeros(mantissas) - exponents).max())
    integers = np.rint(np.ldexp(scaled, min(needed, bits))).astype(np.int64)
    return np.maximum(integers, 1)


def trailing_zeros(mantissas: np.ndarray) -> np.ndarray:
    """Return the number (n,) of trailing zero bits of 53-bit mantissas m (n,), 0.5 <= |m| < 1."""
    whole = (mantissas * 2.0**53).astype(np.int64)
    return np.log2((whole & -whole).astype(np.float64)).astype(np.int64)


def _small_integers(weights: np.ndarray) -> np.ndarray | None:
    """Return small coprime integers to which positive weights are proportional up to rounding.

    Return None if there are no such integers. Two different ratios of integers up to m have a
    relative difference of at least m**-2. The maximum integer m is chosen so that m**-2 exceeds the
    rounding error. The integers are then unique.
    """
    # Weights with few binary digits are assumed not to be rounded. If their sum is a power of two,
    # they may be normalized weights, such as w / w.sum(), which may be rounded.
    mantissas, exponents = np.frexp(weights)
    last_places = exponents - 53 + trailing_zeros(mantissas)
    if exponents.max() - last_places.min() <= _EXACT_DIGITS:
        integers = np.ldexp(weights, -last_places.min()).astype(np.int64)
        total = int(integers.sum())
        if total & (total - 1):
            return integers // np.gcd.reduce(integers)
    # Weights that are float32 numbers may have been rounded to single precision. With this larger
    # rounding error only integers up to 1000 are accepted, because larger integers may match by
    # chance.
    with np.errstate(over="ignore", under="ignore"):
        single = bool((weights.astype(np.float32) == weights).all())
    for rounding, most in ((4 * 2.0**-23, 1000), (8 * 2.0**-52, 2**20))[0 if single else 1 :]:
        integers = _integers_within(weights, rounding, most)
        if integers is not None:
            return integers
    return None


def _integers_within(weights: np.ndarray, rounding: float, most: int) -> np.ndarray | None:
    """Return integers up to `most` that are proportional to positive weights up to rounding.

    `rounding` is the maximum relative difference between the ratios of weights and the ratios of
    the integers. Return None if there are no such integers.
    """
    if weights.max() > 2 * most * weights.min():
        return None
    ratios = weights / weights.min()
    # `unit` is the integer that is assigned to the smallest weight.
    unit = 1
    while True:
        integers = np.rint(unit * ratios)
        away = np.abs(unit * ratios - integers) > rounding * integers
        if not away.any():
            return integers.astype(np.int64) if integers.max() <= most else None
        denominators = []
        # A ratio must be a fraction with a small denominator. Such fractions are far apart, so the
        # nearest fraction is unique. Only 16 ratios are converted at a time, because random weights
        # fail at the first ratios. Each iteration of the outer loop at least doubles `unit`.
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
