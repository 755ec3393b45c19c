"""Guarantees 9 and 10: false alarms with patience, groups and blocks, and with resets.

Every stream has its own reference, and no batch changes. The monitor is reset after every alarm,
and in some settings also before randomly chosen batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.guarantees.bounds import as_read, check, fitted, table
from experiments.guarantees.setting import Rng, Setting

WINDOW_BATCHES, BLOCK_BATCHES = 100, 300
#: Probability of a reset before a batch.
_RESET = 0.03
#: Rows of the reference, smallest and largest batch.
_SIZES = ((300, 1, 10), (1000, 20, 200))
_KINDS = ("one binary column", "normal", "counts", "untidy", "mixed")
#: Fractions of the rows of the reference that belong to each group.
_GROUPS = (0.7, 0.2, 0.1)


def _shifted(rows: Any, shift: float) -> Any:
    """Return rows with `shift` added to the numeric columns, so that groups differ."""
    if isinstance(rows, np.ndarray):
        return rows + shift
    return rows.assign(**{name: rows[name] + shift for name in ("a", "b", "c")})


def _joined(tables: Sequence[Any]) -> Any:
    if isinstance(tables[0], np.ndarray):
        return np.concatenate(tables)
    import pandas as pd

    return pd.concat(tables, ignore_index=True)


def _watch(
    monitor: Any, batches: Sequence[tuple[np.ndarray, str | None]], reset: float, rng: Rng
) -> dict[str, float]:
    """Check the batches of one stream, and return the numbers of alarms and of crossed thresholds.

    `batches` are pairs of rows and a group or None. Before each batch, the monitor is reset with
    the probability `reset`. It is also reset after an alarm. "any alarm" is 1 or 0.
    """
    alarms = crossings = 0
    for batch, group in batches:
        if rng.random() < reset:
            monitor.reset()
        verdict = check(monitor, batch, group)
        crossings += verdict.crossed
        if verdict.alarm:
            alarms += 1
            monitor.reset()
    return {"any alarm": float(alarms > 0), "alarms": float(alarms), "crossings": float(crossings)}


def _windows(
    rng: Rng, number: int, alpha: float, patience: int, grouped: bool, reset: float, n_batches: int
) -> dict[str, float]:
    kind, (n, smallest, largest) = _KINDS[number % len(_KINDS)], _SIZES[number % len(_SIZES)]
    counts = [int(share * n) for share in _GROUPS] if grouped else [n]
    reference = _joined([_shifted(table(kind, c, rng), 3.0 * g) for g, c in enumerate(counts)])
    names = [str(g) for g in range(len(counts))] if grouped else [None]
    options = {"groups": np.repeat(names, counts)} if grouped else {}
    monitor = fitted(reference, rng, alpha=alpha, patience=patience, **options)
    sizes = rng.integers(smallest, largest + 1, size=n_batches)
    streams = [
        as_read(monitor, _shifted(table(kind, int(sizes.sum()), rng), 3.0 * g))
        for g in range(len(counts))
    ]
    which = rng.integers(len(counts), size=n_batches).tolist()
    ends = np.cumsum(sizes).tolist()
    batches = [
        (streams[g][end - m : end], names[g])
        for g, end, m in zip(which, ends, sizes.tolist(), strict=True)
    ]
    found = _watch(monitor, batches, reset, rng)
    # The proof bounds the expected number of crossings by `patience` times alpha.
    return found | {"crossings / patience": found["crossings"] / patience}


def _window_setting(alpha: float, patience: int, grouped: bool, reset: float) -> Setting:
    words = f"alpha {alpha:.0%}, patience {patience}{', 3 groups' if grouped else ''}"
    run = partial(
        _windows, alpha=alpha, patience=patience, grouped=grouped, reset=reset,
        n_batches=WINDOW_BATCHES,
    )  # fmt: skip
    limits = dict.fromkeys(("any alarm", "alarms", "crossings / patience"), alpha)
    return Setting(words + (", random resets" if reset else ""), limits, run)


WINDOW_SETTINGS = [
    _window_setting(alpha, patience, grouped, reset)
    for alpha in (0.05, 0.2)
    for patience, grouped, reset in (
        (2, False, _RESET), (5, False, 0.0), (1, True, 0.0), (2, True, _RESET),
    )
]  # fmt: skip


# -- blocks ---------------------------------------------------------------------------------------


def days(kind: str, count: int, rng: Rng) -> tuple[Any, np.ndarray]:
    """Return the rows of `count` days, and the day of each row.

    Rows of the same day depend on each other, and rows of different days do not. All days have the
    same number of rows. `kind` is the name of the distribution, such as "Cauchy".
    """
    size = 5 if kind == "counts" else 20
    day = np.repeat(np.arange(count), size)
    noise, rare = rng.normal(size=(len(day), 2)), (rng.random(count) < 0.05)[day]
    if kind == "Cauchy":
        return noise[:, :1] + rng.standard_cauchy(count)[day, None], day
    if kind == "counts":
        return rng.poisson(rng.gamma(0.5, 2.0, (count, 1))[day], (len(day), 2)).astype(float), day
    if kind == "rare constant":
        # The scores of all other days are tied.
        return np.where(rare[:, None], 5.0, 0.0) + np.zeros(2), day
    if kind == "missing days":
        noise[rare, 0] = np.nan
        return noise, day
    if kind == "rare categories":
        import pandas as pd

        word = np.where(rare & (rng.random(len(day)) < 0.5), "r", rng.choice(["u", "v"], len(day)))
        return pd.DataFrame({"a": noise[:, 0], "word": word}), day
    return noise + rng.normal(size=(count, 1))[day], day


def _sites(rng: Rng, number: int, n_sites: int, n_batches: int) -> dict[str, float]:
    """Check a stream of `n_sites` groups of rows, the sites, and return the numbers of alarms.

    The effects of a day are the same at all sites, so that groups depend on each other.
    """
    known, size, count = (20, 60)[number % 2], 10, n_batches // n_sites
    level = rng.normal(size=(1, known + count, 1, 1))
    rows = level + 0.3 * rng.normal(size=(n_sites, known + count, size, 1))
    sites = np.arange(n_sites)
    monitor = fitted(
        rows[:, :known].reshape(-1, 1), rng, alpha=_ALPHA, groups=np.repeat(sites, known * size),
        blocks=np.tile(np.repeat(np.arange(known), size), n_sites),
    )  # fmt: skip
    batches = [(rows[g, t], str(g)) for t in range(known, known + count) for g in sites]
    return _watch(monitor, batches, 0.0, rng)


_ALPHA = 0.1


def _blocks(rng: Rng, number: int, kind: str, reset: float, n_batches: int) -> dict[str, float]:
    known = (8, 20, 60)[number % 3]
    rows, day = days(kind, known + n_batches, rng)
    # Batches are read with the reference: the categories of the reference are known.
    first = day < known
    monitor = fitted(rows[first], rng, alpha=_ALPHA, blocks=day[first])
    batches = [(batch, None) for batch in np.split(as_read(monitor, rows[~first]), n_batches)]
    return _watch(monitor, batches, reset, rng)


_BLOCK_LIMITS = dict.fromkeys(("any alarm", "alarms"), _ALPHA)
BLOCK_SETTINGS = [
    Setting(
        f"{kind}{', random resets' if reset else ''}",
        _BLOCK_LIMITS,
        partial(_blocks, kind=kind, reset=reset, n_batches=BLOCK_BATCHES),
    )
    for kind, reset in (
        ("normal", 0.0), ("normal", _RESET), ("Cauchy", 0.0), ("rare categories", 0.0),
        ("rare categories", _RESET), ("counts", 0.0), ("rare constant", 0.0), ("missing days", 0.0),
    )
]  # fmt: skip
BLOCK_SETTINGS.append(
    Setting(
        "3 groups with the same days", _BLOCK_LIMITS,
        partial(_sites, n_sites=3, n_batches=BLOCK_BATCHES),
    )
)  # fmt: skip
