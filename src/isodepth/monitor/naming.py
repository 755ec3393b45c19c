"""Columns that changed, from the p-values of the functions of a window."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from isodepth.data.changes import Change
from isodepth.monitor.fisher import log_pvalues
from isodepth.monitor.functions import Counts, Functions

#: Largest adjusted p-value of a change that is named.
NAMED = 0.05
MOST_CHANGES = 10
# A median that moves by less than this fraction of the interquartile range is not the change, nor
# is an interquartile range that changes by a smaller factor.
_MOVED, _WIDENED = 0.1, 1.05
_TINY = float(np.finfo(np.float64).tiny)


def name_changes(
    names: Sequence[str],
    values: Sequence[Sequence[str]],
    functions: Functions,
    reference: Counts,
    window: Counts,
    logs: np.ndarray,
    unseen: Counter[tuple[int, str]],
) -> list[Change]:
    """Return the changes of a window, strongest first.

    A column is named by its own functions alone. A pair of columns is named if neither column is:
    a shift of one column changes its relation to others too. All columns together are named only
    if nothing else is.

    Parameters
    ----------
    names : names of all columns, categories last
    values : known values of each category column
    logs : ndarray of shape (H,)
        Logarithms of the p-values of the functions.
    unseen : Counter
        Rows of the last batch with unknown values, by the index of the category column.
    """
    members, count = functions.members, len(logs)
    limit = math.log(NAMED) - math.log(count)
    significant = np.flatnonzero(logs <= limit)
    width = len(functions.center)
    best: dict[tuple[str, int], int] = {}
    for h in significant[np.argsort(logs[significant], kind="stable")].tolist():
        kind, columns, _ = members[h]
        if len(columns) == 1:
            best.setdefault((kind, columns[0]), h)
    found: list[tuple[float, Change]] = []
    marginal = np.zeros(len(names), bool)
    for column in range(len(names)):
        own = {kind: best[kind, c] for kind, c in best if c == column}
        if not own:
            continue
        marginal[column] = True
        name = names[column]
        if "missing" in own:
            h = own.pop("missing")
            before, after = (c.ones[h] / c.n_rows for c in (reference, window))
            found.append(
                (logs[h], _change("missing", (name,), "missing", before, after, logs[h], count))
            )
            own = {k: g for k, g in own.items() if _among_present(g, h, reference, window) <= limit}
        if not own:
            continue
        h = min(own.values(), key=lambda each: logs[each])
        if column >= width:
            change = _category_change(
                name, values[column - width], members[h].value, h, column - width,
                reference, window, logs[h], count, unseen,
            )  # fmt: skip
        else:
            change = _number_change(name, column, h, functions, reference, window, logs[h], count)
        found.append((logs[h], change))
    pairs = [h for h in significant.tolist() if len(members[h].columns) == 2]
    for h in sorted(pairs, key=lambda each: logs[each])[:3]:
        kind, columns, value = members[h]
        if not marginal[list(columns)].any():
            own_names = (names[columns[0]], names[columns[1]])
            if kind == "pair":
                r, s = (
                    math.sin(math.pi * (c.ones[h] / c.n_rows - 0.5)) for c in (reference, window)
                )
                quantity = "quadrant correlation"
            else:
                at = _category_at(members, columns[1], value)
                r, s = (c.ones[h] / max(1, c.ones[at]) for c in (reference, window))
                quantity = f"share up to the median within {values[columns[1] - width][value]}"
            found.append(
                (logs[h], _change("dependence", own_names, quantity, r, s, logs[h], count))
            )
    if not found and len(significant):
        h = int(significant[logs[significant].argmin()])
        before, after = (c.ones[h] / c.n_rows for c in (reference, window))
        what = "distance from the center" if members[h].kind == "distance" else "direction"
        quantity = f"share of rows up to a cut point of a {what}".replace(
            "a distance", "the distance"
        )
        found.append((logs[h], _change("regions", (), quantity, before, after, logs[h], count)))
    found.sort(key=lambda each: each[0])
    return [change for _, change in found[:MOST_CHANGES]]


def _change(
    kind: str, columns: tuple[str, ...], quantity: str, before: float, after: float, log: float,
    count: int, value: str | None = None,
) -> Change:  # fmt: skip
    pvalue = max(math.exp(min(0.0, float(log) + math.log(count))), _TINY)
    return Change(kind, columns, quantity, float(before), float(after), pvalue, value)


def _among_present(h: int, missing: int, reference: Counts, window: Counts) -> float:
    """Logarithm of the p-value of a function among the rows without a missing value."""
    n, m = (c.n_rows - int(c.ones[missing]) for c in (reference, window))
    if n == 0 or m == 0:
        return 0.0
    one = slice(h, h + 1)
    return float(log_pvalues(reference.ones[one], n, window.ones[one], m)[0])


def _number_change(
    name: str, column: int, h: int, functions: Functions, reference: Counts, window: Counts,
    log: float, count: int,
) -> Change:  # fmt: skip
    (n, middle, spread), (m, now, wide) = (
        reference.summaries[:, column],
        window.summaries[:, column],
    )
    n, m = max(n, 1.0), max(m, 1.0)
    middle, now, spread, wide = middle / n, now / m, spread / n, wide / m
    if functions.members[h].kind == "deviation" and spread > 0 and wide > 0:
        if max(spread / wide, wide / spread) >= _WIDENED:
            return _change("spread", (name,), "interquartile range", spread, wide, log, count)
    elif abs(now - middle) > _MOVED * spread:
        return _change("location", (name,), "median", middle, now, log, count)
    # Every function of a column counts its present values only.
    cut = functions.cuts[h]
    if functions.members[h].kind == "deviation":
        away = cut * functions.scale[column]
        quantity = f"share of values within {away:.4g} of the median"
    else:
        quantity = f"share of values up to {cut:.4g}"
    return _change(
        "shape", (name,), quantity, reference.ones[h] / n, window.ones[h] / m, log, count
    )


def _category_change(
    name: str, values: Sequence[str], value: int, h: int, column: int, reference: Counts,
    window: Counts, log: float, count: int, unseen: Counter[tuple[int, str]],
) -> Change:  # fmt: skip
    before, after = (c.ones[h] / c.n_rows for c in (reference, window))
    if value < len(values):
        word = values[value]
    else:
        new = [(rows, text) for (c, text), rows in unseen.items() if c == column]
        word = max(new)[1] if new else "(other values)"
    return _change("shares", (name,), "share", before, after, log, count, value=word)


def _category_at(
    members: Sequence[tuple[str, tuple[int, ...], int]], column: int, value: int
) -> int:
    return next(h for h, own in enumerate(members) if own == ("category", (column,), value))
