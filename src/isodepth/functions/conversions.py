"""Factors and constants between common units, and the evidence that is needed to name one of them.

A factor of all values is named exactly only if the values decide it. Otherwise it is an estimate,
which is rounded to two digits and called "about".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from isodepth.functions.families import is_multiple

# Factors between common units, apart from powers of ten: miles, pounds, inches, feet, weeks,
# months, hours, ounces, minutes and years. Their inverses are used too.
_UNITS = (1.609344, 0.45359237, 2.54, 0.3048, 7.0, 12.0, 24.0, 28.349523125, 60.0, 365.25)
#: Factors between common units, apart from powers of ten, and their inverses.
CONVERSIONS = (*_UNITS, *(1 / unit for unit in _UNITS))
#: Affine maps between common units, as pairs (factor, constant): degrees Celsius to degrees
#: Fahrenheit, and the inverse.
AFFINE_CONVERSIONS = ((1.8, 32.0), (1 / 1.8, -32.0 / 1.8))
#: Constants between common units: degrees Celsius to kelvins, and the inverse.
CONSTANTS = (273.15, -273.15)
# Numbers of digits to which a factor may be rounded before it is used, such as 0.454.
_DIGITS = (3, 4, 5, 17)
# Maximum relative length of an interval of factors, or of constants, that decides a listed one.
_DECIDED = 0.01
# Maximum absolute logarithm of the ratio between an estimate and a listed factor.
_NEAR = 0.5
# The same of an estimate and of a power of ten that is stated as an approximate factor.
_NEAR_POWER = 0.05
# Maximum probability that the distinct values of Y are on the grid of X by chance, and the
# probability for a single value that is not rounded.
_BY_CHANCE, _UNROUNDED = 1e-4, 1e-3
# Number of possible values of Y from which the probability for a single value is computed.
_GRID = 1000
# Rounding error of a product, relative to the largest value.
_PRODUCT = 1e-9
# Maximum number of decimals of a grid, and minimum ratio of its unit to the largest value.
_DECIMALS, _UNIT = 6, 1e-7


def roundings(factor: float) -> list[float]:
    """Return a factor, and the factor rounded to five, four and three digits, without duplicates.

    Examples
    --------
    >>> roundings(0.45359237)
    [0.45359237, 0.45359, 0.4536, 0.454]
    """
    return list(dict.fromkeys(float(f"{factor:.{digits}g}") for digits in reversed(_DIGITS)))


def named_factor(
    estimate: float,
    is_supported: Callable[[float], bool],
    is_decided: Callable[[float], bool] = lambda factor: False,
) -> float | None:
    """Return the factor by which all values were multiplied, if the values decide it, else None.

    Listed factors are powers of ten and factors between common units. The values decide a factor in
    two cases. Either it is the only listed one, or the only one of two digits, for which
    `is_decided` is true. Or it is the only listed one in the confidence interval of the factor, and
    the interval is shorter than 1%.

    Parameters
    ----------
    estimate : float, positive
    is_supported : function
        Whether a factor is in the confidence interval.
    is_decided : function
        Whether single values, such as their decimals, decide for a factor.

    Examples
    --------
    >>> named_factor(1001.0, lambda factor: 998 <= factor <= 1003)
    1000.0
    >>> named_factor(2.21, lambda factor: 2.1 <= factor <= 2.6) is None
    True
    """
    listed = [10.0 ** round(math.log10(estimate)), *CONVERSIONS]
    near = [each for each in listed if abs(math.log(each / estimate)) <= _NEAR]
    units = {unit: list(filter(is_supported, roundings(unit))) for unit in near}
    supported = {unit: rounded for unit, rounded in units.items() if rounded}
    decided = [next(filter(is_decided, rounded), None) for rounded in supported.values()]
    named = [factor for factor in decided if factor is not None]
    if not named:
        # Other factors, such as 2.4, are usually used with at most two digits.
        step = 10.0 ** (math.floor(math.log10(estimate)) - 1)
        around = round(estimate / step) + np.arange(-5, 6)
        others = [float(f"{each * step:.2g}") for each in around.tolist() if each > 0]
        named = [each for each in others if is_supported(each) and is_decided(each)]
    if named:
        return named[0] if len(named) == 1 else None
    if len(supported) != 1:
        return None
    (factor,) = supported
    half = math.exp(0.5 * _DECIDED)
    is_long = is_supported(factor * half) or is_supported(factor / half)
    return factor if is_supported(factor) and not is_long else None


def named_constant(
    candidates: Iterable[float],
    is_supported: Callable[[float], bool],
) -> float | None:
    """Return the constant that was added to all values, if it is a listed one, else None.

    It is named if it is the only one of `candidates` in the confidence interval of the constant,
    and if the interval is shorter than 1% of the constant. `is_supported` is whether a constant is
    in the confidence interval.

    Examples
    --------
    >>> named_constant(CONSTANTS, lambda constant: 272.5 <= constant <= 274.0)
    273.15
    >>> named_constant(CONSTANTS, lambda constant: 260 <= constant <= 280) is None
    True
    """
    supported = [each for each in candidates if is_supported(each)]
    if len(supported) != 1:
        return None
    half = 0.5 * _DECIDED * supported[0]
    is_long = is_supported(supported[0] - half) or is_supported(supported[0] + half)
    return None if is_long else supported[0]


def approximate_factor(estimate: float, is_supported: Callable[[float], bool]) -> float:
    """Return a factor for words such as "about 2.4": a near power of ten, or two digits.

    The power of ten must be in the confidence interval of the factor, see `named_factor`, and
    differ from the estimate by at most 5%.

    Examples
    --------
    >>> [approximate_factor(each, lambda factor: True) for each in (2.4371, 968)]
    [2.4, 1000.0]
    """
    power = 10.0 ** round(math.log10(estimate))
    near = abs(math.log(power / estimate)) <= _NEAR_POWER and is_supported(power)
    return power if near else float(f"{estimate:.2g}")


def last_decimal(values: np.ndarray) -> float:
    """Return the unit of the last digit of all values, such as 100 or 0.01; 0 if it is unknown.

    It is the largest power of ten of which all values are multiples. It is unknown if the values
    are not rounded, or so large that floats cannot show it.

    Examples
    --------
    >>> last_decimal(np.array([1.25, 3.5])), last_decimal(np.array([300.0, 1200.0]))
    (0.01, 100.0)
    """
    least = _UNIT * float(np.abs(values).max())
    units = (10.0**k for k in range(_DECIMALS, -_DECIMALS - 1, -1))
    return next((u for u in units if u >= least and is_multiple(values, u).all()), 0.0)


def on_same_grid(x: np.ndarray, y: np.ndarray, factor: float, constant: float = 0.0) -> bool:
    """Return whether the decimals of all values show that y is `factor` times x plus `constant`.

    (y - `constant`) / `factor` must have the decimals of x, up to the rounding of y. With other
    factors, some of the values would be between the multiples of the last decimal of x, unless y
    has too few distinct values or is rounded too much. A power of ten is also shown by a last
    decimal of y that is this power times that of x.

    Examples
    --------
    >>> inches = np.array([61.0, 64.0, 65.0, 68.0, 70.0, 73.0])
    >>> on_same_grid(inches, 2.54 * inches, 2.54), on_same_grid(inches, 2.4 * inches, 2.54)
    (True, False)
    """
    unit, new_unit = last_decimal(x), last_decimal(y)
    if not unit:
        return False
    power = 10.0 ** round(math.log10(abs(factor)))
    is_power = constant == 0.0 and math.isclose(power, factor, rel_tol=_PRODUCT)
    if is_power and new_unit and math.isclose(new_unit / unit, power, rel_tol=_PRODUCT):
        return True
    step = factor * unit  # of the grid of x after the map

    def fits(values: np.ndarray) -> np.ndarray:
        """Return whether each value is on this grid, up to the rounding of y."""
        with np.errstate(over="ignore", invalid="ignore"):
            steps = (values - constant) / step
            allowed = 0.5 * new_unit / step + _PRODUCT * np.maximum(1.0, np.abs(steps))
            return np.abs(steps - np.rint(steps)) <= allowed

    values = np.unique(y)
    if not fits(values).all():
        return False
    # Fraction of the values with the decimals of y that are on the grid.
    rounded = values[0] + new_unit * np.arange(_GRID)
    chance = max(float(fits(rounded).mean()) if new_unit else 0.0, _UNROUNDED)
    # A constant is compared with the values themselves: one of them determines its decimals.
    n_free = len(values) - (constant != 0.0)
    return chance < 1.0 and n_free * math.log(chance) <= math.log(_BY_CHANCE)
