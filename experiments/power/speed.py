"""Time of several tests in one run: `python -m experiments.power.speed`.

The tests have 999 permutations of two samples of 1000 rows and 10 columns: `two_sample_test`, its
statistic computed for one permutation at a time by `Metric.distance`, and hyppo's energy test if
hyppo is installed. The last two take minutes, so they are timed for fewer permutations and
extrapolated. Both wall-clock time and processor time are printed; other programs disturb the latter
less. A separate process then tests two samples of 100000 rows, to measure the memory.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from isodepth import Metric, two_sample_test
from isodepth.geometry.directions import unit_vectors

PERMUTATIONS = 999


class Cost(NamedTuple):
    """Wall-clock seconds, and processor seconds of all threads together."""

    clock: float
    processor: float

    def times(self, factor: float) -> Cost:
        """Return the cost multiplied by a factor."""
        return Cost(self.clock * factor, self.processor * factor)

    def __str__(self) -> str:
        return f"{self.clock:9.3f} s {self.processor:9.3f} s"


def cost(work: Callable[[], object], repeats: int) -> Cost:
    """Return the minimum wall-clock and the minimum processor time of `repeats` calls of `work`."""
    found = []
    for _ in range(repeats):
        clock, processor = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - clock, time.process_time() - processor))
    clocks, processors = zip(*found, strict=True)
    return Cost(min(clocks), min(processors))


def against(other: Cost, ours: Cost) -> str:
    """Return a string with the ratios of the cost of another method to ours.

    There is one ratio for wall-clock time, and one for processor time.
    """
    return f"{other.clock / ours.clock:.1f} and {other.processor / ours.processor:.1f} times"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.power.speed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, help="default: all cores, for all but hyppo")
    parser.add_argument("--rows", type=int, default=100_000, help="of the large samples (100000)")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 1000, 10))

    def test(n_permutations: int, tolerance: float | None = None) -> object:
        return two_sample_test(
            x, y, n_permutations=n_permutations, tolerance=tolerance, random_state=0,
            n_jobs=options.threads,
        )  # fmt: skip

    def regions() -> object:
        return two_sample_test(
            x, y, method="regions", n_permutations=PERMUTATIONS, random_state=0,
            n_jobs=options.threads,
        )  # fmt: skip

    directions = np.vstack(
        [np.eye(10), unit_vectors(10, 90, directions="orthogonal", random_state=rng)]
    )
    metric = Metric(directions=directions, levels=20, q=2, n_jobs=options.threads)
    print(f"{'':40s}      clock   processor")
    ours = cost(lambda: test(PERMUTATIONS), options.repeats)
    print(f"two_sample_test, {PERMUTATIONS} permutations        {ours}")
    print(f"the distance of regions alone           {cost(regions, options.repeats)}")
    tolerant = cost(lambda: test(PERMUTATIONS, 0.05), options.repeats)
    print(f"the same with a tolerance of 0.05       {tolerant}")
    many = cost(lambda: [metric.distance(x, y) for _ in range(100)], options.repeats).times(10)
    print(f"Metric.distance 1000 times              {many}  {against(many, ours)}")
    _energy(x, y, ours)
    _large(options.rows)
    return 0


def _energy(x: np.ndarray, y: np.ndarray, ours: Cost) -> None:
    try:
        from hyppo.ksample import Energy
    except ImportError:
        print("hyppo is not installed")
        return
    few = 20
    Energy().test(x[:50], y[:50], reps=2, workers=1, auto=False)
    found = cost(lambda: Energy().test(x, y, reps=few, workers=1, auto=False), 1)
    alone = cost(lambda: Energy().test(x, y, reps=1, workers=1, auto=False), 1)
    share = (PERMUTATIONS - 1) / (few - 1)
    energy = Cost(*(one + (all_ - one) * share for one, all_ in zip(alone, found, strict=True)))
    print(f"hyppo's energy test, one worker         {energy}  {against(energy, ours)}")


_LARGE = """
import resource, sys
import numpy as np
import isodepth
n = int(sys.argv[1])
x, y = np.random.default_rng(0).standard_normal((2, n, 6))
isodepth.two_sample_test(x, y, n_permutations=99, random_state=0)
try:
    # Peak memory of this process; `resource` may return that of the parent process.
    with open("/proc/self/status") as lines:
        most = next(float(line.split()[1]) / 2**10 for line in lines if line.startswith("VmHWM"))
except OSError:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(most)
"""


def _large(rows: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LARGE, str(rows)], capture_output=True, text=True, check=True
    )
    print(f"{rows} rows against {rows}, 99 permutations: {float(done.stdout):.0f} MB at most")


if __name__ == "__main__":
    raise SystemExit(main())
