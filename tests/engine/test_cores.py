"""Default number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import joblib
import pytest

from isodepth.engine.compiled import Resources, available_cores


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
    assert available_cores() == Resources().n_threads == expected


def test_n_jobs_is_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert Resources(n_jobs=3).n_threads == 3
