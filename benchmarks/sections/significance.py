"""Time of the two-sample test with `changed_share`, and with a tolerance, relative to the test.

python -m benchmarks.sections.significance --rows 1000 100000 1000000
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.timing import FULL, QUICK, Box, alternate
from isodepth import two_sample_test

COLUMNS = 10


def measure(
    rows: Sequence[int], n_permutations: int = 199, n_jobs: int | None = None, box: Box = FULL
) -> list[dict[str, Any]]:
    """Measure a two-sample test, the test with `changed_share`, and the test with a tolerance.

    They are timed in turns, for each number of rows per sample in `rows`.
    """
    measured = []
    for n in rows:
        rng = np.random.default_rng(0)
        x, y = rng.normal(size=(2, n, COLUMNS))
        test = partial(
            two_sample_test, x, y, n_permutations=n_permutations, random_state=0, n_jobs=n_jobs
        )
        calls: dict[str, Callable[[], float]] = {
            "test": lambda test=test: test().pvalue,
            "test and changed_share": lambda test=test: test().changed_share,
            "test with tolerance=0.01": lambda test=test: test(tolerance=0.01).pvalue,
        }
        timings = alternate(calls, box)
        alone = timings["test"].seconds
        measured += [
            {"n": n, "call": name, "seconds": timing.seconds, "ratio": timing.seconds / alone}
            for name, timing in timings.items()
        ]
    return measured


def markdown(result: list[dict[str, Any]]) -> str:
    """Return the times of the tests as a Markdown table."""
    lines = [
        f"n = m, {COLUMNS} columns:",
        "",
        "| n | call | seconds | times the test |",
        "|---:|---|---:|---:|",
    ]
    lines += [
        f"| {r['n']:,} | {r['call']} | {r['seconds']:.3g} | {r['ratio']:.2f} |" for r in result
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure with command-line arguments, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 100_000])
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--jobs", type=int, default=None, help="threads; default all cores")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions; not for quoting")
    options = parser.parse_args(arguments)
    box = QUICK if options.quick else FULL
    print(markdown(measure(options.rows, options.permutations, options.jobs, box)))


if __name__ == "__main__":
    main()
