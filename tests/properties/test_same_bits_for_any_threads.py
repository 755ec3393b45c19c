"""Results have the same bits for any number of threads."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from strategies import ESTIMATORS

import isodepth
from isodepth import Metric

N_JOBS = (1, 3, 16)


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
    """Return digests of comparisons, regions, tables, matrices and depths, for each dtype.

    `kind` is the name of the distribution of the samples.
    """
    result = []
    for dtype in dtypes:
        # Enough rows for every step that is divided among threads, in samples of unequal size.
        X, Y = pair(kind, 36_000, 9000, dtype)
        metric = Metric(depth=depth, n_directions=16, refine=0, random_state=0, n_jobs=n_jobs)
        c = metric.compare(X, Y)
        result.append(digest(c.distance, c.gaps, c.gap_directions))
        for side in c.regions:
            result.append(
                digest(
                    side.indices(0.5), side.support(np.eye(3), [0.2, 0.8]), side.masses, side.depths
                )
            )
        table = Metric(depth=depth, n_directions=40, levels=9, random_state=0, n_jobs=n_jobs)
        result.append(digest(table.region_table(X[:8000]).values))
        bags = [X[k : k + 2000] for k in range(0, 8000, 2000)]
        options = {"depth": depth, "n_directions": 100, "random_state": 0, "n_jobs": n_jobs}
        result.append(digest(isodepth.pairwise(bags, **options)))
        fitted = ESTIMATORS[depth](n_directions=300, random_state=0, n_jobs=n_jobs).fit(X[:700])
        result.append(digest(fitted.depth_, fitted.score_samples(Y[:500])))
        # Many directions, so that blocks of directions are divided among threads.
        many = Metric(depth=depth, n_directions=700, random_state=0, n_jobs=n_jobs)
        c = many.compare(X[:1500], Y[:1000])
        result.append(digest(c.distance, c.gaps, c.gap_directions))
    return result


@pytest.mark.parametrize("kind", ["random", "tied"])
@pytest.mark.parametrize("depth", ESTIMATORS)
def test_same_bits(depth: str, kind: str) -> None:
    expected = everything(depth, kind, 1)
    for n_jobs in N_JOBS[1:]:
        assert everything(depth, kind, n_jobs) == expected
