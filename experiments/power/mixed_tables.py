"""Tables with categories: level and power of the test, false alarms and delays of the monitor.

`python -m experiments.power.mixed_tables --jobs 16` takes some minutes; `--runs 0.1` is a tenth.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from multiprocessing import Pool
from typing import Any

import numpy as np

from isodepth import Monitor, two_sample_test

#: Very different sizes: the rarest are pooled.
SIZES = [0.6, 0.29, 0.05, 0.03, 0.015, 0.01, 0.005]
CARRIERS = ["UA", "AA", "B6", "HA", "OO"]


def null_pvalue(seed: int) -> bool:
    """Test two samples of one distribution with categories, and return whether the test rejects."""
    import pandas as pd

    rng = np.random.default_rng([1, seed])
    n, m = rng.integers(40, 300, 2)
    x, y = (
        pd.DataFrame(
            {"c": rng.choice(list("abcdefg"), rows, p=SIZES), "d": rng.random(rows) < 0.02,
             "x": rng.lognormal(size=rows), "y": rng.integers(0, 4, rows)}
        )
        for rows in (n, m)
    )  # fmt: skip
    return _rejected(x, y, seed)


def _rejected(x: Any, y: Any, seed: int, **options: Any) -> bool:
    given = {"n_permutations": 199, "random_state": seed, "n_jobs": 1, **options}
    return two_sample_test(x, y, **given).pvalue <= 0.05


def flights(rng: np.random.Generator, n: int, share: float = 0.1, new: float = 0.0) -> Any:
    """Return n rows of simulated flights, with the airline (carrier) and other columns.

    One carrier has the share `share` of the flights, and a new carrier has the share `new`.
    """
    import pandas as pd

    shares = [share, 0.6, 0.4 - share - 0.03, 0.02, 0.01]
    carrier = rng.choice(CARRIERS, n, p=shares).astype(object)
    carrier[rng.random(n) < new] = "ZZ"
    origin = rng.choice(["EWR", "JFK", "LGA"], n)
    numbers = {"delay": rng.lognormal(size=n), "distance": rng.normal(size=n)}
    return pd.DataFrame({"carrier": carrier, "origin": origin, **numbers})


def moved_share(seed: int) -> bool:
    """Return whether the test rejects if the share of one category rises from 10% to 16%.

    Both samples have 1000 rows.
    """
    rng = np.random.default_rng([2, seed])
    return _rejected(flights(rng, 1000), flights(rng, 1000, 0.16), seed)


def tolerated(seed: int) -> bool:
    """Return whether a test with a tolerance of 5% rejects if 5% of Y have a new category."""
    rng = np.random.default_rng([3, seed])
    x, y = flights(rng, 1000), flights(rng, 1000)
    y.loc[:49, "carrier"] = "ZZ"
    return _rejected(x, y, seed, tolerance=0.05)


def unchanged_column(seed: int) -> bool:
    """Return whether an unchanged column is significant in a test in which all others change."""
    rng = np.random.default_rng([4, seed])
    x, y = flights(rng, 200), flights(rng, 200, 0.3)
    y["delay"] = np.where(rng.random(200) < 0.5, 0.1, 9.0)
    options = {"n_permutations": 199, "random_state": seed, "n_jobs": 1}
    columns = {each.column: each for each in two_sample_test(x, y, **options).column_tests}
    return columns["distance"].pvalue <= 0.05 or columns["origin"].pvalue <= 0.05


def stream(seed: int) -> dict[str, bool]:
    """Check one stream with a monitor, and return its alarms and whether it names the changes.

    The stream has first no change, then a changed share of a category, then a new category.
    """
    rng = np.random.default_rng([5, seed])
    monitor = Monitor(flights(rng, 40_000), alpha=0.05, random_state=seed)
    found = {"false alarm": any(monitor.check(flights(rng, 500)).alarm for _ in range(100))}
    for name, value, change in (("share", "UA", {"share": 0.16}), ("new", "ZZ", {"new": 0.02})):
        monitor.reset()
        verdicts = [monitor.check(flights(rng, 500, **change)) for _ in range(5)]
        named = {each.value for verdict in verdicts for each in verdict.changes}
        found |= {f"{name}: named": value in named, f"{name}: alarm": verdicts[-1].alarm}
    return found


PARTS: dict[str, tuple[Callable[[int], Any], int, str]] = {
    "level": (null_pvalue, 2000, "5% within three standard errors, or below"),
    "share 10% -> 16%, n = 1000": (moved_share, 500, "at least 80%"),
    "5% foreign values, tolerance 5%": (tolerated, 200, "0"),
    "unchanged columns": (unchanged_column, 1000, "5% within three standard errors, or below"),
    "streams": (stream, 500, "false alarms at most 5%; named within 5 batches"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=float, default=1.0, help="share of the runs of each part")
    parser.add_argument("--only", nargs="+", choices=list(PARTS))
    given = parser.parse_args(arguments)
    with Pool(given.jobs) as pool:
        for name in given.only or PARTS:
            run, count, wanted = PARTS[name]
            seeds = range(max(1, round(given.runs * count)))
            found = pool.map(run, seeds, chunksize=1)
            rows = found if isinstance(found[0], dict) else [{"rejected": each} for each in found]
            for key in rows[0]:
                share = np.mean([row[key] for row in rows])
                error = np.sqrt(0.05 * 0.95 / len(rows))
                print(f"{name:33}{key:14}{share:7.1%} of {len(rows)} (+-{3 * error:.1%}); {wanted}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
