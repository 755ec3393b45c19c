"""False alarms of the monitor on streams without a change, with and without a tolerance.

Every stream has its own reference. Batches have random sizes. With a tolerance of 5%, the allowed
number of rows of every batch is replaced: by rows far away, by rows in the center, or by equal rows
with all entries 1. The fraction of streams with any alarm must not exceed alpha by more than three
standard errors.

Run ``python -m experiments.monitoring.false_alarms --jobs 16``. The streams of one setting can be
divided among several runs by ``--first``.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

ALPHA, TOLERANCE = 0.01, 0.05
KINDS = ("normal", "lognormal", "counts", "binary", "mixed", "untidy")
#: Rows of the reference, smallest and largest batch.
SIZES = ((300, 1, 10), (2000, 20, 200), (20_000, 200, 2000))
BAD = ("far", "center", "quadrant")


def rows(kind: str, n: int, rng: np.random.Generator) -> Any:
    """Return n independent rows of the distribution `kind`, such as "lognormal" or "untidy"."""
    if kind == "normal":
        return rng.standard_normal((n, 5)) @ np.tril(np.full((5, 5), 0.5))
    if kind == "lognormal":
        return rng.lognormal(sigma=1.5, size=(n, 3))
    if kind == "counts":
        return rng.poisson([0.1, 1.0, 20.0], size=(n, 3)).astype(float)
    if kind == "binary":
        return (rng.random((n, 6)) < [0.01, 0.1, 0.3, 0.5, 0.9, 0.999]).astype(float)
    if kind == "untidy":
        # A constant, a mostly missing column, and rounded values with sentinels.
        columns = np.column_stack([np.ones(n), np.full((n, 2), np.nan), rng.gamma(2.0, 10.0, n)])
        columns[rng.random(n) < 0.02, 1], columns[rng.random(n) < 0.3, 2] = 5.0, 0.0
        columns[:, 3] = columns[:, 3].round(1)
        columns[rng.random(n) < 0.02, 3], columns[rng.random(n) < 0.01, 3] = 0.0, -9999.0
        return columns
    import pandas as pd

    frame = pd.DataFrame(
        {"a": rng.standard_normal(n), "b": rng.standard_cauchy(n), "c": rng.poisson(2.0, n) * 1.0}
    )
    frame["kind"] = rng.choice(list("uvwxyz"), n, p=[0.5, 0.3, 0.15, 0.04, 0.009, 0.001])
    frame["flag"] = rng.random(n) < 0.3
    for column in ("a", "b"):
        frame.loc[rng.random(n) < 0.1, column] = np.nan
    return frame


def contaminate(table: Any, bad: np.ndarray, how: str) -> None:
    """Replace the rows with the indices `bad`, in place.

    `how` is "far", "center" or "quadrant": all numbers become 1000, 0 or 1.
    """
    value = {"far": 1e3, "center": 0.0, "quadrant": 1.0}[how]
    if isinstance(table, np.ndarray):
        table[bad] = value
        return
    table.loc[bad, ["a", "b", "c"]] = value
    table.loc[bad, "kind"] = {"far": "new", "center": "u"}.get(how, "z")


def stream(job: tuple[str, int, float, float, int, int]) -> bool:
    """Check one stream without a change, and return whether the monitor raises any alarm.

    `job` has the settings of the stream and its number.
    """
    kind, size, alpha, tolerance, n_batches, seed = job
    from isodepth import Monitor

    n, smallest, largest = SIZES[size]
    rng = np.random.default_rng([seed, size, KINDS.index(kind), int(100 * tolerance), 2035])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monitor = Monitor(rows(kind, n, rng), alpha=alpha, tolerance=tolerance, random_state=seed)
    sizes = rng.integers(smallest, largest + 1, size=n_batches)
    ends = np.cumsum(sizes)
    table = rows(kind, int(ends[-1]), rng)
    bad = [
        end - m + np.arange(math.floor(tolerance * m + 1e-9))
        for end, m in zip(ends, sizes, strict=True)
    ]
    contaminate(table, np.concatenate(bad).astype(int), BAD[seed % len(BAD)])
    # Reading small data frames takes most of the time, so that all batches are read at once.
    (whole,), _ = monitor._state.reader.read(table)
    state = monitor._state
    for end, m in zip(ends.tolist(), sizes.tolist(), strict=True):
        batch = state.groups[None].counted([whole[end - m : end]], {})
        state, verdict = state.after_batch(None, batch)
        if verdict.alarm:
            return True
    return False


def main() -> int:
    """Print one line per setting; return 1 if any setting exceeds its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first stream")
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--alpha", type=float, default=ALPHA)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument(
        "--sizes", nargs="+", type=int, choices=range(len(SIZES)), default=[0, 1, 2]
    )
    parser.add_argument("--tolerances", nargs="+", type=float, default=[0.0, TOLERANCE])
    options = parser.parse_args()
    alpha = options.alpha
    limit = alpha + 3 * math.sqrt(alpha * (1 - alpha) / options.streams)
    failed = 0
    with ProcessPoolExecutor(options.jobs) as pool:
        for tolerance in options.tolerances:
            for kind in options.kinds:
                for size in options.sizes:
                    started = time.time()
                    jobs = [
                        (kind, size, alpha, tolerance, options.batches, seed)
                        for seed in range(options.first, options.first + options.streams)
                    ]
                    alarms = sum(pool.map(stream, jobs, chunksize=4))
                    share = alarms / options.streams
                    failed += share > limit
                    n, smallest, largest = SIZES[size]
                    print(
                        f"{kind:10} tolerance {tolerance:<5g} reference {n:6d}  batches "
                        f"{smallest} to {largest}: {alarms} of {options.streams} streams "
                        f"({share:.2%}), limit {limit:.2%}{'  EXCEEDED' if share > limit else ''} "
                        f"({time.time() - started:.0f} s)",
                        flush=True,
                    )
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
