"""Guarantee 11: two samples in chunks with the same distribution, and few tested rows.

The pooled rows are exchangeable. Most rare events are not in the tested rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.guarantees.setting import Rng, Setting

_LEVEL = 0.05


def _categories(rng: Rng, n: int, count: int = 150) -> dict[str, Any]:
    shares = 1 / np.arange(1, count + 1) ** 1.2
    words = np.array([f"w{i}" for i in range(count)], dtype=object)
    return {"word": rng.choice(words, n, p=shares / shares.sum()), "a": rng.normal(size=n)}


def _one_event(rng: Rng, n: int) -> dict[str, Any]:
    """Return columns with a single rare event, a rare category.

    No correction for several events is needed in this case.
    """
    return {"word": np.where(rng.random(n) < 0.008, "rare", "usual"), "a": rng.normal(size=n)}


def _fixed_number(rng: Rng, n: int) -> dict[str, Any]:
    """Return columns with a rare category in exactly 12 of the n pooled rows, at random places."""
    return {"word": np.where(rng.permutation(n) < 12, "rare", "usual"), "a": rng.normal(size=n)}


def _sentinels(rng: Rng, n: int) -> dict[str, Any]:
    value = np.round(rng.gamma(2.0, 10.0, n), 1)
    for sentinel, share in ((-9999.0, 0.01), (0.0, 0.02), (1e6, 0.003)):
        value[rng.random(n) < share] = sentinel
    return {"value": value, "count": rng.poisson(0.05, n), "a": rng.standard_cauchy(n)}


def _missing(rng: Rng, n: int) -> dict[str, Any]:
    """Return ten columns with missing values in 0.05% to 2% of the rows, often in the same rows."""
    together, found = rng.random(n), {}
    for j, share in enumerate(np.geomspace(0.0005, 0.02, 10)):
        absent = (together if j % 2 else rng.random(n)) < share
        found[f"c{j}"] = np.where(absent, np.nan, rng.normal(size=n))
    return found


def _tied_tails(rng: Rng, n: int) -> dict[str, Any]:
    """Return two columns with ties among their extreme values, one of them with missing values."""
    tails = np.round(rng.standard_cauchy(n))
    return {"a": np.where(rng.random(n) < 0.1, np.nan, tails), "b": np.minimum(tails, 50.0)}


def _untidy(rng: Rng, n: int) -> dict[str, Any]:
    return _categories(rng, n) | _sentinels(rng, n) | {
        "flag": rng.random(n) < 0.004, "sparse": np.where(rng.random(n) < 0.995, np.nan, 1.0),
        "code": rng.choice([1, 2, 3, 99], n, p=[0.6, 0.3, 0.098, 0.002]),
    }  # fmt: skip


def _in_chunks(frame: Any, rng: Rng) -> list[Any]:
    """Return the rows as a list of chunks, divided at three random places."""
    ends = [0, *sorted(rng.integers(1, len(frame), size=3).tolist()), len(frame)]
    return [frame[a:b] for a, b in pairwise(ends) if b > a]


def _run(
    rng: Rng, number: int, make: Callable[[Rng, int], dict[str, Any]], sizes: tuple[int, int],
    max_rows: int,
) -> dict[str, float]:  # fmt: skip
    import pandas as pd

    import isodepth

    frame = pd.DataFrame(make(rng, sum(sizes)))
    parts = frame[: sizes[0]], frame[sizes[0] :].reset_index(drop=True)
    x, y = (isodepth.scan(_in_chunks(part, rng)) for part in parts)
    result = isodepth.two_sample_test(
        x, y, max_rows=max_rows, n_permutations=99, n_jobs=1,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    # The p-value of rare events is adjusted for their number, but not for the tested rows.
    rare = [each.pvalue for each in result.components if each.name == "rare events"]
    return {
        "rejected": float(result.pvalue <= _LEVEL + 1e-12),
        "rare events alone": float(min(rare, default=1.0) <= _LEVEL),
    }


SETTINGS = [
    Setting(
        f"{name}, {n:,} + {m:,}, {max_rows} tested",
        dict.fromkeys(("rejected", "rare events alone"), _LEVEL),
        partial(_run, make=make, sizes=(n, m), max_rows=max_rows),
    )
    for name, make, n, m, max_rows in (
        ("150 categories", _categories, 3000, 3000, 60),
        ("150 categories", _categories, 100, 20_000, 60),
        ("one rare category", _one_event, 3000, 3000, 60),
        ("one rare category", _one_event, 100, 20_000, 30),
        ("category of 12 rows", _fixed_number, 3000, 1500, 60),
        ("sentinels", _sentinels, 3000, 3000, 300),
        ("missing values", _missing, 3000, 5000, 60),
        ("ties in the tails", _tied_tails, 4000, 4000, 400),
        ("untidy", _untidy, 3000, 3000, 60),
        ("untidy", _untidy, 100, 20_000, 60),
        ("untidy", _untidy, 1000, 20_000, 300),
        ("untidy", _untidy, 40, 45, 10),
    )
]
