"""`isodepth warm-up`: everything is compiled, once, and kept where it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from isodepth.depth import BY_NAME

DISTANCES = """
import numpy as np
import isodepth
from isodepth.engine.compiled.lite.entries import journal
rng = np.random.default_rng(0)
for dtype in ("float64", "float32"):
    for n in (30, 300):
        X, Y = rng.standard_normal((2, n, 3)).astype(dtype)
        for depth in isodepth.depth.BY_NAME:
            isodepth.distance(X, Y, depth=depth, n_directions=20)
X, Y = rng.standard_normal((2, 300, 3))
for tolerance in (0.0, 0.05):
    isodepth.two_sample_test(X, Y, n_resamples=2, tolerance=tolerance)
print(sum(not one.found for one in journal), len(journal))
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], env=os.environ | environment, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warm")


@pytest.fixture(scope="module")
def first(folder: Path) -> dict:
    done = run("-m", "isodepth.cli", "warm-up", "--json", NUMBA_CACHE_DIR=str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_it_says_what_it_did(first: dict, folder: Path) -> None:
    assert first["depths"] == list(BY_NAME)
    assert first["dtypes"] == ["float64", "float32"]
    assert first["functions"] > first["compiled"] > 10
    assert first["folders"] == [str(folder / "isodepth")]
    assert len(list((folder / "isodepth").glob("*.code"))) == first["compiled"]
    assert first["seconds"] > 0
    assert not first["by_numba"]


@pytest.mark.usefixtures("first")
def test_a_second_run_finds_all_of_it(folder: Path) -> None:
    done = run("-m", "isodepth.cli", "warm-up", NUMBA_CACHE_DIR=str(folder))
    assert done.returncode == 0
    assert " 0 loops (0 functions) compiled" in done.stdout
    assert f"kept in {folder / 'isodepth'}" in done.stdout


@pytest.mark.usefixtures("first")
def test_nothing_is_left_to_compile_for_distances_and_tests(folder: Path) -> None:
    done = run("-c", DISTANCES, NUMBA_CACHE_DIR=str(folder))
    assert done.returncode == 0, done.stderr
    compiled, ready = map(int, done.stdout.split())
    assert compiled == 0
    assert ready > 10


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    done = run("-m", "isodepth.cli", "warm-up", NUMBA_CACHE_DIR=str(blocked))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("isodepth: error: compiled code cannot be kept")
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_help_has_an_example() -> None:
    done = run("-m", "isodepth.cli", "warm-up", "--help")
    assert done.returncode == 0
    assert "RUN pip install isodepth && isodepth warm-up" in " ".join(done.stdout.split())
