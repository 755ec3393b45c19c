"""Guarantee 8: an adversary, who has all data and functions, replaces rows of a window.

Verdicts have a bound on the share of replaced rows. In at least 95% of the verdicts, the bound must
be at most the true share.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from experiments.guarantees.setting import Rng, Setting
from experiments.monitoring.false_alarms import rows

KINDS = ("one binary column", "normal", "counts", "binary", "untidy", "categories", "mixed")
#: Rows of the reference, and fractions of the rows of a window that are replaced.
_REFERENCES, _SHARES = (60, 300, 2000), (0.02, 0.1, 0.3, 0.6)
#: Number of batches, and minimum and maximum number of rows per batch.
_BATCHES, _LEAST, _MOST = (1, 2, 4), 20, 500
_LIMIT, _ROUNDING = 0.05, 1e-9

Attack = Callable[[Any, np.ndarray, int, float, Rng], np.ndarray]


def table(kind: str, n: int, rng: Rng) -> Any:
    """Return n independent rows of the distribution `kind`.

    The names are "one binary column", "categories", and those of `false_alarms.rows`.
    """
    if kind == "one binary column":
        return (rng.random((n, 1)) < 0.3).astype(float)
    if kind == "categories":
        import pandas as pd

        shares = 0.5 ** np.arange(1, 9)
        draw = partial(rng.choice, list("abcdefgh"), n, p=shares / shares.sum())
        return pd.DataFrame({"a": draw(), "b": draw(), "c": rng.choice(["x", "y", None], n)})
    return rows(kind, n, rng)


def fitted(reference: Any, rng: Rng, **options: Any) -> Any:
    """Return a monitor that is fitted to a reference."""
    from isodepth import Monitor

    return Monitor(reference, random_state=int(rng.integers(2**31)), **options)


def as_read(monitor: Any, stream: Any) -> np.ndarray:
    """Return the numbers and codes of all rows of a stream, as the monitor reads them.

    Reading all rows at once is faster than reading each batch.
    """
    from isodepth.monitor.reading import batch_tables, open_batch

    (whole,) = batch_tables(monitor._state.schema, open_batch(stream), "keep")
    return whole.matrix


def _table(monitor: Any, rows: np.ndarray) -> Any:
    """Return rows in the form of the result of `as_read` as a table, with one new category."""
    from isodepth.table.table import Table

    schema = monitor._state.schema
    width, words = len(schema.numeric), [("new",)] * len(schema.categorical)
    codes = np.where(np.isnan(rows[:, width:]), -1, rows[:, width:]).astype(np.int32)
    return Table(rows[:, :width], codes, schema, new_words=tuple(words))


def check(monitor: Any, batch: np.ndarray, group: str | None = None) -> Any:
    """Check a batch of rows that `as_read` returned, and return the verdict.

    `group` is the group of the rows, or None.
    """
    state = monitor._state
    counted = state.groups[group].counted([_table(monitor, batch)])
    monitor._state, verdict = state.after_batch(group, counted)
    return verdict


# -- adversaries: they replace rows of the window in place, and return their indices ---------------


def _outlyingness(window: np.ndarray) -> np.ndarray:
    """Return for each row the distance (n,) of the ranks of its values from the middle ranks."""
    ranks = window.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.abs(ranks - (len(window) - 1) / 2).sum(axis=1)


def _nobody(monitor: Any, window: np.ndarray, m: int, share: float, rng: Rng) -> np.ndarray:
    return np.empty(0, np.int64)


def _central_rows(
    monitor: Any, window: np.ndarray, m: int, share: float, rng: Rng, value: float
) -> np.ndarray:
    """Replace the most central rows of a window by one row with all numbers equal to `value`.

    Its categories are new, or missing if `value` is NaN. Return the indices of the replaced rows.
    The window has batches of m rows, and `share` is the share of replaced rows.
    """
    bad = np.argsort(_outlyingness(window))[: int(share * len(window))]
    schema = monitor._state.schema
    new = [len(column.categories) for column in schema.categorical]
    width = len(schema.numeric)
    window[bad, :width] = value
    window[bad, width:] = np.nan if np.isnan(value) else new
    return bad


def _outlying_rows(monitor: Any, window: np.ndarray, m: int, share: float, rng: Rng) -> np.ndarray:
    """Replace the most outlying rows of a window by its most central row.

    Return the indices of the replaced rows. The window has batches of m rows, and `share` is the
    share of replaced rows.
    """
    order = np.argsort(-_outlyingness(window))
    bad = order[: int(share * len(window))]
    window[bad] = window[order[-1]]
    return bad


def _extreme_cell(monitor: Any, window: np.ndarray, m: int, share: float, rng: Rng) -> np.ndarray:
    """Replace rows so that the count that already deviates most by chance deviates more.

    The count is the number of rows for which one function of the monitor is 1. The replaced rows
    become copies of a row that increases the deviation. Return their indices. No adversary can
    achieve more, because the bound exceeds the share only if the p-value of an original count is
    small enough.
    """
    from isodepth.functions.fisher import log_pvalues
    from isodepth.monitor.windows import confidence_error

    group = next(iter(monitor._state.groups.values()))
    (n, a, _), found = group.reference, []
    for scale in range((len(window) // m).bit_length()):
        part = window[-(m << scale) :]
        b = group.functions.count(_table(monitor, part)).ones
        logs = log_pvalues(a, n, b, len(part)) - np.log(confidence_error(scale))
        h = int(logs.argmin())
        found.append((logs[h], len(part), h, b[h] * n > a[h] * len(part)))
    _, size, h, above = min(found)
    rows = _table(monitor, window[-size:])
    ones = np.array([group.functions.count(rows.take([i])).ones[h] for i in range(size)], bool)
    donors, others = (np.flatnonzero(ones == same) for same in (above, not above))
    bad = len(window) - size + rng.permutation(others)[: int(share * size)]
    if not len(donors):
        return bad[:0]
    window[bad] = window[len(window) - size + donors[0]]
    return bad


ATTACKS: dict[str, Attack] = {
    "no row replaced": _nobody,
    "central rows far away": partial(_central_rows, value=1e3),
    "central rows missing": partial(_central_rows, value=np.nan),
    "outlying rows to the center": _outlying_rows,
    "most deviating cell": _extreme_cell,
}


def _run(rng: Rng, number: int, kind: str, attack: str) -> dict[str, float]:
    monitor = fitted(table(kind, int(rng.choice(_REFERENCES)), rng), rng)
    count = int(rng.choice(_BATCHES))
    m = int(_LEAST * (_MOST / _LEAST) ** rng.random())
    window = as_read(monitor, table(kind, count * m, rng))
    replaced = np.zeros(len(window), bool)
    replaced[ATTACKS[attack](monitor, window, m, float(rng.choice(_SHARES)), rng)] = True
    for batch in np.split(window, count):
        verdict = check(monitor, batch)
    truth = replaced[-verdict.n_window_batches * m :].mean()
    bounds = [change.changed_share or 0.0 for change in verdict.changes]
    return {
        "bound above the share": float(verdict.changed_share > truth + _ROUNDING),
        "bound of a change above": float(max(bounds, default=0.0) > truth + _ROUNDING),
        "share": float(truth),
        "bound": float(verdict.changed_share),
    }


SETTINGS = [
    Setting(
        f"{kind}, {attack}",
        {"bound above the share": _LIMIT, "bound of a change above": _LIMIT},
        partial(_run, kind=kind, attack=attack),
    )
    for kind in KINDS
    for attack in ATTACKS
]
