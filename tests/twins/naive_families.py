"""Values of functions of a row, by the definitions of their families."""

from __future__ import annotations

import math

import numpy as np

from isodepth.functions.families import Member, Rows


def value_at(member: Member, rows: Rows, i: int) -> float:
    """Return the value of a function at row i: 0, 1, or NaN.

    It is NaN if the value that the function needs is missing in this row.
    """
    d = rows.numbers.shape[1]
    both = np.concatenate([rows.numbers[i], rows.codes[i], [rows.distance[i]]])
    value = float(both[member.columns[0] if member.columns else -1])
    if member.event == "missing":
        return float(math.isnan(value))
    if math.isnan(value):
        return math.nan
    if member.event == "extremes":
        return float(value >= member.value if member.upper else value <= member.value)
    if member.event == "precision":
        quotient = value * 10 if member.value == 0.1 else value / member.value
        error = abs(quotient - round(quotient)) * member.value
        return float(error <= 1e-9 * max(1e-6, abs(value)))
    assert (member.event == "shares") == (member.columns[0] >= d)
    return float(value == member.value)
