"""Whatever the number of threads, and with plain loops as with vectors, the bits are the same."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import isodepth
from isodepth import Metric

N_JOBS = (1, 2, 7, 16)
DEPTHS = ("halfspace", "projection", "irw", "ai_irw")


def digest(*arrays: object) -> str:
    found = hashlib.blake2b(digest_size=8)
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def pair(kind: str, n: int, m: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X, Y = rng.standard_normal((n, 3)), rng.standard_normal((m, 3)) + 0.5
    if kind == "tied":
        X, Y = np.rint(4 * X) / 4, np.rint(4 * Y) / 4
    return X.astype(dtype), Y.astype(dtype)


def everything(
    depth: str, kind: str, n_jobs: int, dtypes: tuple[str, ...] = ("float32", "float64")
) -> list[str]:
    """A comparison, its regions, a table and a matrix, each as a digest."""
    result = []
    for dtype in dtypes:
        # Enough rows for every step that is divided among threads, and unequally many.
        X, Y = pair(kind, 36_000, 9000, dtype)
        metric = Metric(depth=depth, n_directions=16, refine=0, random_state=0, n_jobs=n_jobs)
        c = metric.compare(X, Y)
        result.append(digest(c.distance, c.gaps, c.direction))
        for side in c.regions:
            result.append(digest(side.order, side.ordered, side.masses, side.depth))
        table = Metric(depth=depth, n_directions=40, levels=9, random_state=0, n_jobs=n_jobs)
        result.append(digest(table.table(X[:8000]).values))
        bags = [X[k : k + 2000] for k in range(0, 8000, 2000)]
        options = {"depth": depth, "n_directions": 100, "random_state": 0, "n_jobs": n_jobs}
        result.append(digest(isodepth.pairwise(bags, **options)))
        # Many directions, so that blocks of them are what is divided.
        many = Metric(depth=depth, n_directions=700, refine=0, random_state=0, n_jobs=n_jobs)
        c = many.compare(X[:1500], Y[:1000])
        result.append(digest(c.distance, c.gaps, c.direction))
    return result


@pytest.mark.parametrize("kind", ["random", "tied"])
@pytest.mark.parametrize("depth", DEPTHS)
def test_same_bits(depth: str, kind: str) -> None:
    expected = everything(depth, kind, 1)
    for n_jobs in N_JOBS[1:]:
        assert everything(depth, kind, n_jobs) == expected


PLAIN = """
from properties.test_same_bits_for_any_threads import DEPTHS, everything
for depth in DEPTHS:
    print(*everything(depth, "tied", 16, ("float32",)))
"""


def test_same_bits_with_plain_loops() -> None:
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    source = os.path.dirname(os.path.dirname(os.path.abspath(isodepth.__file__)))
    env = {**os.environ, "ISODEPTH_PLAIN_LOOPS": "1"}
    env["PYTHONPATH"] = os.pathsep.join([source, tests])
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], capture_output=True, text=True, env=env, timeout=600
    )
    assert done.returncode == 0, done.stderr
    found = [line.split() for line in done.stdout.splitlines()]
    assert found == [everything(depth, "tied", 2, ("float32",)) for depth in DEPTHS]
