"""Levels and exponents shared by the formulas."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from isodepth.data.validation import check_number


def check_p(p: Any) -> float:
    """Exponent in (0, inf]."""
    return check_number(p, "p", 0.0, low_open=True)


def check_eps(eps: Any) -> float:
    """Trimming share in (0, 1]."""
    return check_number(eps, "eps", 0.0, 1.0, low_open=True)


def kept_mass(eps: float) -> Fraction:
    """1 - eps for the decimal number that was typed: eps=0.7 keeps 3/10, and no rounding more."""
    return 1 - Fraction(repr(eps))
