"""memory_mb: what all workers hold together stays inside, for any number of them, in equal bits."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import isodepth
from isodepth.engine import blocks, threads
from isodepth.engine.blocks import plan_blocks
from isodepth.engine.threads import Resources, best_of_workers, bytes_of, workers_within


@pytest.mark.parametrize("n_jobs", [1, 2, 7, 16, 64])
@pytest.mark.parametrize("memory_mb", [0.01, 1, 16, 256, 1e6])
def test_plans_stay_inside_the_budget(n_jobs: int, memory_mb: float) -> None:
    for n in (10, 1000, 54_321, 1_000_000):
        for n_directions in (1, 5, 1000):
            for held, beside in ((0, 0), (48 * n, 0), (16 * n, 8 * n)):
                resources = Resources(n_jobs, memory_mb)
                size, workers = plan_blocks(n, n_directions, 8, held, beside, resources)
                assert 1 <= size <= n_directions
                assert 1 <= workers <= n_jobs
                taken = workers * (held + size * (8 * n + beside))
                assert taken <= memory_mb * 2**20 or (size, workers) == (1, 1)


def test_plans_use_what_they_may() -> None:
    """Room for all: as many workers as are worth it, and blocks of the size of a cache."""
    assert plan_blocks(1000, 4000, 8, 48_000, 0, Resources(16, 256.0)) == (125, 16)
    # Half a megabyte for eight rows of 8 kB and 48 kB of scratch, each: three workers need less.
    assert plan_blocks(1000, 4000, 8, 48_000, 0, Resources(16, 0.2)) == (2, 3)


def test_workers_within_is_never_less_than_one() -> None:
    assert workers_within(8, 2**20, 3.5) == 3
    assert workers_within(8, 2**20, 0.1) == 1
    assert workers_within(8, 0, 0.1) == 8


def test_bytes_of_counts_nested_arrays() -> None:
    assert bytes_of((np.empty(3), (np.empty((2, 2), np.int32), None), 7)) == 24 + 16


class Counted:
    """Watches what the workers of every fold hold."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.largest, self.most_workers = 0, 0
        self._lock = threading.Lock()
        monkeypatch.setattr(blocks, "fold_blocks", self.fold)

    def fold(self, items: Any, start: Any, step: Any, workers: int) -> Any:
        held: list[int] = []

        def counted() -> Any:
            state = start()
            with self._lock:
                held.append(bytes_of(state))
            return state

        states = threads.fold_blocks(items, counted, step, workers)
        self.largest = max(self.largest, sum(held))
        self.most_workers = max(self.most_workers, workers)
        return states


@pytest.mark.parametrize("depth", ["projection", "halfspace", "irw", "ai_irw"])
def test_sixteen_workers_hold_no_more_than_they_may(
    depth: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = np.random.default_rng(0).standard_normal((2, 12_000, 3))
    results, workers = [], []
    for memory_mb in (256.0, 8.0, 2.0):
        counted = Counted(monkeypatch)
        metric = isodepth.Metric(
            depth=depth, n_directions=300, random_state=0, n_jobs=16, memory_mb=memory_mb
        )
        results.append(metric.distance(X, Y))
        assert 0 < counted.largest <= memory_mb * 2**20
        workers.append(counted.most_workers)
    assert len(set(results)) == 1
    assert workers[0] == 8 > workers[-1]


@pytest.mark.parametrize("depth", ["projection", "halfspace", "irw", "ai_irw"])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_bits_for_any_number_of_workers(depth: str, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    # Ties in the depths and in the gaps, so that it matters which worker is asked.
    X, Y = np.rint(rng.standard_normal((2, 3000, 3)) * 4)
    weights = (rng.integers(1, 4, 3000), rng.integers(1, 4, 3000)) if weighted else None
    found = []
    for n_jobs in (1, 2, 7, 16):
        for memory_mb in (0.3, 256.0):
            metric = isodepth.Metric(
                depth=depth, n_directions=400, random_state=0, n_jobs=n_jobs, memory_mb=memory_mb
            )
            result = metric.compare(X, Y, weights=weights)
            found.append((result.distance, result.gaps.tobytes(), result.direction.tobytes()))
    assert len(set(found)) == 1


def signed_place(codes: np.ndarray) -> np.ndarray:
    return np.where(codes >= 0, codes, -1 - codes)


@pytest.mark.parametrize("better", [np.less, np.greater])
@pytest.mark.parametrize("signed", [False, True])
def test_best_of_workers_against_a_loop(better: np.ufunc, signed: bool) -> None:
    rng = np.random.default_rng(2)
    for workers in (1, 2, 5):
        # Few values, so that most are tied; no direction belongs to two workers.
        values = rng.integers(0, 3, (workers, 50)).astype(float)
        places = rng.permuted(np.tile(np.arange(workers)[:, None], 50), axis=0)
        codes = np.where(rng.random(places.shape) < 0.5, places, -1 - places) if signed else places
        states = list(zip(values, codes, strict=True))
        found = best_of_workers(states, better, signed_place if signed else np.asarray)
        for i in range(50):
            best = min(values[:, i]) if better is np.less else max(values[:, i])
            first = min(
                (k for k in range(workers) if values[k, i] == best), key=lambda k: places[k, i]
            )
            assert (found[0][i], found[1][i]) == (best, codes[first, i])
        nothing = np.zeros(0, dtype=np.int64)
        alone = best_of_workers([(v, nothing) for v in values], better)
        np.testing.assert_array_equal(alone[0], found[0])
        assert len(alone[1]) == 0
