"""Time of the tests side by side, in one run: `python -m experiments.power.speed`.

999 permutations of two samples of 1000 rows and 6 columns: `two_sample_test`, its statistic one
relabeling at a time by `Metric.distance`, and hyppo's energy test where hyppo is installed. The
last two take minutes, and are timed for fewer permutations and multiplied.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

from isodepth import Metric, two_sample_test
from isodepth.directions import unit_vectors

RESAMPLES = 999


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The least of some times."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.power.speed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, help="default: all cores, for all but hyppo")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 1000, 6))

    def test(n_resamples: int, tolerance: float = 0.0) -> object:
        return two_sample_test(
            x, y, n_resamples=n_resamples, tolerance=tolerance, random_state=0,
            n_jobs=options.threads,
        )  # fmt: skip

    directions = np.vstack([np.eye(6), unit_vectors(6, 96, "orthogonal", rng)])
    metric = Metric(directions=directions, levels=20, q=2, n_jobs=options.threads)
    for warm in (lambda: test(1), lambda: test(1, 0.05), lambda: metric.distance(x, y)):
        warm()
    ours = seconds(lambda: test(RESAMPLES), options.repeats)
    print(f"two_sample_test, {RESAMPLES} relabelings        {ours:8.3f} s")
    tolerant = seconds(lambda: test(RESAMPLES, 0.05), options.repeats)
    print(f"the same with a tolerance of 0.05      {tolerant:8.3f} s")
    many = 10 * seconds(lambda: [metric.distance(x, y) for _ in range(100)], options.repeats)
    print(f"Metric.distance 1000 times             {many:8.3f} s, {many / ours:.1f} times as long")
    try:
        from hyppo.ksample import Energy
    except ImportError:
        print("hyppo is not installed")
        return 0
    few = 20
    Energy().test(x[:50], y[:50], reps=2, workers=1, auto=False)
    found = seconds(lambda: Energy().test(x, y, reps=few, workers=1, auto=False), 1)
    alone = seconds(lambda: Energy().test(x, y, reps=1, workers=1, auto=False), 1)
    energy = alone + (found - alone) * (RESAMPLES - 1) / (few - 1)
    print(
        f"hyppo's energy test, one worker        {energy:8.3f} s, {energy / ours:.0f} times as long"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
