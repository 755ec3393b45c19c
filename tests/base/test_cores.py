"""Default number of threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import joblib
import pytest

from isodepth.base.compiled import Resources, available_cores, thread_map


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    available_cores.cache_clear()
    yield
    available_cores.cache_clear()


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("3", 3), ("4,2", 4), (" 2 ", 2), ("64", 8), ("0", 8), ("", 8), ("all", 8)],
)
def test_openmp_limits_the_cores_of_joblib(
    limit: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert available_cores() == Resources.of().n_threads == expected


def test_n_jobs_is_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert Resources.of(3).n_threads == 3


@pytest.mark.parametrize("n", [1, 2, 3, 30])
def test_at_most_n_items_are_processed_at_the_same_time(n: int) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def square(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return number**2

    assert thread_map(square, range(20), n) == [number**2 for number in range(20)]
    assert most <= n
    assert most > 1 or n == 1


@pytest.mark.parametrize("bad", [0, 1, 7])
def test_no_item_is_started_after_an_error(bad: int) -> None:
    started: list[int] = []

    def fail(number: int) -> None:
        started.append(number)
        if number == bad:
            raise ValueError(number)
        time.sleep(0.02)

    with pytest.raises(ValueError, match=str(bad)):
        thread_map(fail, range(100), 3)
    n_started = len(started)
    assert n_started < 20
    time.sleep(0.1)
    assert len(started) == n_started
