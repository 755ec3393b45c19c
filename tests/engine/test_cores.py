"""How many cores are used where nobody says it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from isodepth import engine
from isodepth.engine import available_cores, cpu_quota


@pytest.fixture
def eight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight cores, and nothing else that counts."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(engine, "cpu_quota", lambda: None)
    for name in ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT", "PYTEST_XDIST_WORKER_COUNT"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("eight")
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("OMP_NUM_THREADS", "3", 3),
        ("OMP_NUM_THREADS", "4,2", 4),
        ("OMP_NUM_THREADS", " 2 ", 2),
        ("OMP_NUM_THREADS", "64", 8),
        ("OMP_NUM_THREADS", "0", 8),
        ("OMP_NUM_THREADS", "", 8),
        ("OMP_NUM_THREADS", "all", 8),
        ("LOKY_MAX_CPU_COUNT", "5", 5),
        ("PYTEST_XDIST_WORKER_COUNT", "3", 2),
        ("PYTEST_XDIST_WORKER_COUNT", "100", 1),
    ],
)
def test_the_environment(
    name: str, text: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert available_cores() == 8
    monkeypatch.setenv(name, text)
    assert available_cores() == expected


@pytest.mark.usefixtures("eight")
def test_the_quota_of_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "cpu_quota", lambda: 2)
    assert available_cores() == 2


def written(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.max": "250000 100000\n"}, 3),
        ({"cpu.max": "10000 100000\n"}, 1),
        ({"cpu.max": "nonsense\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "150000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
    ],
)
def test_control_groups(files: dict[str, str], expected: int | None, tmp_path: Path) -> None:
    assert cpu_quota(written(tmp_path, files)) == expected
