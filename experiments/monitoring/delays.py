"""Delays of the monitor and of other detectors after a change, at equal false-alarm probability.

Every stream has its own reference and 60 clean batches before the change. The delay is the number
of batches from the change to the first alarm, 1 for the first changed batch; "never" means more
than 60. The monitor of version 0.2.0 is included if it is installed in place of this version.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import math
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from experiments.monitoring.streams import CHANGES, SETTINGS, Batch, contaminated, normal

CLEAN, WATCHED, REFERENCE = 60, 60, 10_000
TOLERANCE = 0.05

#: A detector takes a reference and a seed, and returns a function from a batch to an alarm.
Detector = Callable[[np.ndarray, int, float], Callable[[np.ndarray], bool]]


def monitor(reference: np.ndarray, seed: int, tolerance: float) -> Callable[[np.ndarray], bool]:
    """Return a detector: a function of a batch that returns whether `Monitor` raises an alarm.

    Other detectors of this module are functions of this kind too.
    """
    from isodepth import Monitor

    made = Monitor(reference, tolerance=tolerance, random_state=seed)
    return lambda rows: made.check(rows).alarm


def prototype(path: Path) -> Detector:
    """Return a detector that uses the class `CountMonitor` of the Python file `path`.

    The class is a minimal implementation of the monitor.
    """
    spec = importlib.util.spec_from_file_location("count_monitor", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def make(reference: np.ndarray, seed: int, tolerance: float) -> Callable[[np.ndarray], bool]:
        made = module.CountMonitor(reference, tolerance=tolerance, seed=seed)
        return lambda rows: bool(made.check(rows)[0])

    return make


def former(reference: np.ndarray, seed: int, tolerance: float) -> Callable[[np.ndarray], bool]:
    """Return the monitor of 0.2.0 as a detector; it must be installed in place of this version."""
    from isodepth import DepthMonitor  # type: ignore[attr-defined]

    state: dict[str, Any] = {}

    def check(rows: np.ndarray) -> bool:
        if not state:
            state["monitor"] = DepthMonitor(
                reference, batch_size=len(rows), tolerance=tolerance, random_state=seed
            )
        return bool(state["monitor"].check(rows).alarm)

    return check


@functools.cache
def _largest_distance(n: int, m: int, d: int) -> float:
    """Return the critical value of the Kolmogorov-Smirnov distance of n and m values.

    The level has a Bonferroni correction for d columns and all batches of a stream.
    """
    from scipy.stats import kstwo

    return float(kstwo.isf(0.01 / (d * (CLEAN + WATCHED)), round(n * m / (n + m))))


def kolmogorov_smirnov(
    reference: np.ndarray, seed: int, tolerance: float
) -> Callable[[np.ndarray], bool]:
    """Return a Kolmogorov-Smirnov test by column as a detector.

    The critical value has a Bonferroni correction over columns and all batches of the study.
    """
    n, d = reference.shape
    ordered = np.sort(reference, axis=0)

    def check(rows: np.ndarray) -> bool:
        m, apart = len(rows), 0.0
        for old, new in zip(ordered.T, np.sort(rows, axis=0).T, strict=True):
            below = [old.searchsorted(new, side) / n for side in ("left", "right")]
            place = np.arange(m + 1) / m
            apart = max(apart, np.max(place[1:] - below[0]), np.max(below[1] - place[:-1]))
        return bool(apart >= _largest_distance(n, m, d))

    return check


def chi_square(reference: np.ndarray, seed: int, tolerance: float) -> Callable[[np.ndarray], bool]:
    """Return a chi-squared test of decile counts by column as a detector.

    The critical value has a Bonferroni correction over columns and all batches of the study. This
    is a population stability index with a calibrated threshold.
    """
    from scipy.stats import chi2

    n, d = reference.shape
    edges = np.quantile(reference, np.arange(1, 10) / 10, axis=0)
    limit = chi2.isf(0.01 / (d * (CLEAN + WATCHED)), 9)

    def counts(rows: np.ndarray) -> np.ndarray:
        places = [np.searchsorted(edges[:, j], rows[:, j]) for j in range(d)]
        return np.array([np.bincount(each, minlength=10) for each in places])

    old = counts(reference)

    def check(rows: np.ndarray) -> bool:
        m, new = len(rows), counts(rows)
        expected = (old + new) * (m / (n + m))
        statistics = ((new - expected) ** 2 / expected).sum(axis=1) * ((n + m) / n)
        return bool(statistics.max() >= limit)

    return check


def normed_wasserstein(
    reference: np.ndarray, seed: int, tolerance: float
) -> Callable[[np.ndarray], bool]:
    """Return the default rule of evidently for references over 1000 rows as a detector.

    A numeric column drifts if its Wasserstein distance is at least 0.1 standard deviations. Any
    drifted column is an alarm.
    """
    from scipy.stats import wasserstein_distance

    deviations = reference.std(axis=0)

    def check(rows: np.ndarray) -> bool:
        return any(
            wasserstein_distance(old, new) >= 0.1 * deviation
            for old, new, deviation in zip(reference.T, rows.T, deviations, strict=True)
        )

    return check


def delay(detector: Detector, batch: Batch, d: int, m: int, seed: int, tolerance: float) -> float:
    """Return the number of batches from a change to the first alarm of `detector`, on one stream.

    It is 0 for an alarm before the change, and inf without an alarm.
    """
    rng = np.random.default_rng([seed, d, m, 35])
    clean: Batch = normal
    if tolerance:
        clean, batch = contaminated(normal, tolerance), contaminated(batch, tolerance)
    reference = normal(rng, REFERENCE, d)
    check = detector(reference, seed, tolerance)
    for _ in range(CLEAN):
        if check(clean(rng, m, d)):
            return 0.0
    for number in range(1, WATCHED + 1):
        if check(batch(rng, m, d)):
            return float(number)
    return math.inf


def _job(job: tuple[Any, ...]) -> float:
    name, path, change, d, m, seed, tolerance = job
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return delay(detectors(path)[name], CHANGES[change], d, m, seed, tolerance)


def detectors(prototype_path: str | None) -> dict[str, Detector]:
    """Return the detectors by name, with that of the file `prototype_path` unless it is None."""
    found: dict[str, Detector] = {
        "monitor": monitor,
        "KS by column": kolmogorov_smirnov,
        "chi-squared by column": chi_square,
        "evidently": normed_wasserstein,
        "0.2.0": former,
    }
    if prototype_path is not None:
        found["prototype"] = prototype(Path(prototype_path))
    return found


def main() -> None:
    """Print a table of median delays."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--prototype", help="file with a minimal version of the method, the class CountMonitor"
    )
    parser.add_argument("--detectors", nargs="+", default=["monitor", "KS by column"])
    parser.add_argument("--changes", nargs="+", default=list(CHANGES))
    options = parser.parse_args()
    started = time.time()
    with ProcessPoolExecutor(options.jobs) as pool:
        for tolerance, settings in ((0.0, SETTINGS), (TOLERANCE, ((5, 200),))):
            for change in options.changes:
                for d, m in settings:
                    cells = []
                    for name in options.detectors:
                        jobs = [
                            (name, options.prototype, change, d, m, seed, tolerance)
                            for seed in range(options.streams)
                        ]
                        found = np.array(list(pool.map(_job, jobs, chunksize=4)))
                        after = found[found > 0]
                        median = float(np.median(after)) if len(after) else math.nan
                        text = "never" if math.isinf(median) else f"{median:g}"
                        cells.append(f"{name} {text} (false {int((found == 0).sum())})")
                    print(f"tolerance {tolerance:g}  d={d:<3} m={m:<4} {change:16} ",
                          "  ".join(cells), flush=True)  # fmt: skip
    print(f"{time.time() - started:.0f} s on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
