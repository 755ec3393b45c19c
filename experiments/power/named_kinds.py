"""Fraction of tests that name the right kind of change.

`python -m experiments.power.named_kinds` runs the study. Rows belong to groups of different means,
which a category column names. One column is shifted or rescaled, or the correlation of two columns
changes. A result is right if all changes that it names have the right kind and the right column or
pair.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

SHIFTS = (0.5, 0.8, 2.0, 5.0, 20.0)
SCALES = (1.5, 2.0, 3.0, 5.0)


class Case(NamedTuple):
    """One change of the second sample, and the options of the test."""

    kind: str
    size: float
    tolerance: float | None = None
    n: int = 500


class Outcome(NamedTuple):
    """Result of one test: detection of the change, and correctness of the named changes.

    `dependence` is whether a change of dependence is named.
    """

    detected: bool
    first_right: bool
    all_right: bool
    dependence: bool


def cases() -> list[Case]:
    """Return all cases, with and without a tolerance."""
    changes = [("location", size) for size in SHIFTS] + [("spread", size) for size in SCALES]
    plain = [Case(*change) for change in changes]
    tolerant = [case._replace(tolerance=0.05) for case in plain]
    return [*plain, *tolerant, Case("dependence", 0.6), Case("dependence", 0.6, 0.05, 1000)]


def sample(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw three columns (n, 3) of unit variance, and the group of each row."""
    groups = rng.integers(0, 4, n)
    means = np.array([[-1.5, 1, 0], [-0.5, -1, 0], [0.5, 0, 1], [1.5, 0, -1]])
    points = means[groups] + rng.normal(size=(n, 3))
    return points / np.sqrt(1 + means.var(axis=0)), groups


def outcome(case: Case, seed: int) -> Outcome:
    """Draw two samples of a case and test them."""
    import pandas as pd

    from isodepth import two_sample_test

    rng = np.random.default_rng([seed, 977])
    frames = []
    for number in range(2):
        points, groups = sample(rng, case.n)
        if case.kind == "dependence":
            # Columns 0 and 1, without groups, have the correlation 0 or `size`.
            points[:, :2] = rng.normal(size=(case.n, 2))
            if number:
                points[:, 1] = case.size * points[:, 0] + np.sqrt(1 - case.size**2) * points[:, 1]
        elif number:
            if case.kind == "location":
                points[:, 0] += case.size
            else:
                points[:, 0] *= case.size
        frame = pd.DataFrame(points, columns=["a", "b", "c"])
        frames.append(frame.assign(group=[f"g{g}" for g in groups]))
    result = two_sample_test(
        *frames, n_permutations=199, random_state=seed, tolerance=case.tolerance, n_jobs=1
    )
    columns = ("a", "b") if case.kind == "dependence" else ("a",)
    named = [(change.kind, change.columns) for change in result.changes]
    about_a = [change for change in named if "a" in change[1]]
    return Outcome(
        result.significant,
        bool(named) and named[0] == (case.kind, columns),
        set(about_a) == {(case.kind, columns)},
        any(kind == "dependence" for kind, _ in named),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.power.named_kinds")
    parser.add_argument("--sets", type=int, default=200, help="data sets per case")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    print(f"{options.sets} data sets each; percentages of the significant results")
    print("change      size  tolerance  significant  first right  all right  dependence named")
    with ProcessPoolExecutor(options.jobs) as pool:
        for case in cases():
            found = list(pool.map(partial(outcome, case), range(options.sets), chunksize=10))
            detected = [each for each in found if each.detected]
            shares = [
                np.mean([getattr(each, name) for each in detected] or [0])
                for name in ("first_right", "all_right", "dependence")
            ]
            print(
                f"{case.kind:10s} {case.size:5g}  {case.tolerance or 0:9g}  "
                f"{len(detected) / options.sets:11.1%}  {shares[0]:11.1%}  {shares[1]:9.1%}  "
                f"{shares[2]:16.1%}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
