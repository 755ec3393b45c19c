"""Dependence of consecutive rows of a reference, which breaks the guarantee of counted rows."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
from scipy.special import chdtrc

from isodepth.errors import DependenceWarning
from isodepth.monitor.functions import Counts, Functions, Rows

_PARTS, _LEAST_ROWS, _LEAST_PARTS = 50, 20, 5
# Approximate probability of a warning if the rows are in random order.
_LEVEL = 1e-3
# Functions that are 1 for a smaller fraction of rows have counts that are not nearly normal.
_RARE = 0.1


def count_in_parts(functions: Functions, rows: Rows) -> list[Counts]:
    """Count about 50 consecutive parts of the rows."""
    count = max(1, min(_PARTS, len(rows) // _LEAST_ROWS))
    ends = np.linspace(0, len(rows), count + 1).astype(np.int64).tolist()
    return [functions.count(rows.take(slice(a, b)))[0] for a, b in itertools.pairwise(ends)]


def warn_of_dependence(
    parts: list[Counts], functions: Functions, names: tuple[str, ...], group: str | None
) -> None:
    """Warn if counts in consecutive parts of the rows vary more than those of shuffled rows.

    For shuffled rows the sum over parts of squared deviations from the expected count, divided by
    the variance of a count, is nearly chi-squared. Its mean per degree of freedom is the factor by
    which the variance of counts is inflated.
    """
    count = len(parts)
    if count < _LEAST_PARTS:
        return
    ones = np.array([part.ones for part in parts])
    sizes = np.array([part.n_rows for part in parts], dtype=np.float64)[:, None]
    n = sizes.sum()
    share = ones.sum(axis=0) / n
    named = np.array([bool(member.columns) for member in functions.members])
    usable = np.flatnonzero(named & (share > _RARE) & (share < 1 - _RARE))
    if not len(usable):
        return
    share = share[usable]
    variance = sizes * share * (1 - share)
    factors = ((ones[:, usable] - sizes * share) ** 2 / variance).sum(axis=0) / (count - 1)
    strongest = int(factors.argmax())
    if len(usable) * chdtrc(count - 1, (count - 1) * factors[strongest]) > _LEVEL:
        return
    columns = functions.members[usable[strongest]].columns
    where = " and ".join(names[c] for c in columns)
    of_group = "" if group is None else f" of group {group}"
    warnings.warn(
        f"consecutive rows of the reference{of_group} are more alike than shuffled rows: counts in "
        f"{count} consecutive parts have {factors[strongest]:.1f} times the variance of "
        f"independent rows (strongest in {where}). False alarms are then more frequent than "
        "promised. Give blocks=..., such as the day or user of each row, and check whole blocks as "
        "batches. Ignore this if the order of the reference has no meaning for the batches",
        DependenceWarning,
        stacklevel=5,
    )
