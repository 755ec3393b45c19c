"""`isodepth compare` of folders and large files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from chunked.streaming import small_scale

import isodepth
from isodepth.cli import main, streaming

X = np.random.default_rng(0).normal(size=(500, 3))
Y = np.random.default_rng(1).normal(size=(400, 3)) + [2, 0, 0]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name, points in (("a", X), ("b", Y)):
        (tmp_path / name).mkdir()
        frame = pd.DataFrame(points, columns=["x", "y", "z"])
        # Columns in another order are the same columns.
        frame = frame[["z", "x", "y"]] if name == "b" else frame
        frame[:150].to_parquet(tmp_path / name / "1.parquet", row_group_size=40)
        frame[150:].to_parquet(tmp_path / name / "2.parquet")
    return tmp_path / "a", tmp_path / "b"


def test_folders(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", *map(str, folders), "--directions", "40", "--json"]
    assert main(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    options = {"n_directions": 40, "levels": 20, "random_state": 0, "refine": 0}
    assert report["distance"] == isodepth.distance(X, Y, **options)
    assert report["columns"] == ["x", "y", "z"]
    assert [sample["rows"] for sample in report["samples"]] == [500, 400]
    assert report["column_shares"][0]["name"] == "x"
    assert report["distance_bounds"] == [report["distance"], report["distance"]]
    assert "levels=20" in report["signature"]


def test_depths_that_are_bounded(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isodepth.chunked.limits.COPIES_IN_MEMORY", 10**9)
    arguments = ["compare", *map(str, folders), "--directions", "9", "--depth", "halfspace"]
    with small_scale():
        assert main(arguments) == 0
        text = capsys.readouterr().out
        assert main([*arguments, "--json"]) == 0
    low, high = json.loads(capsys.readouterr().out)["distance_bounds"]
    assert f"between      {low:.6g} and {high:.6g}, had all depths been exact" in text


def test_large_files_are_read_in_chunks(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [str(folder / "2.parquet") for folder in folders]
    assert main(["compare", *files]) == 0
    assert "levels=exact" in capsys.readouterr().out
    monkeypatch.setattr(streaming, "LARGE_BYTES", 100)
    assert main(["compare", *files]) == 0
    assert "levels=20" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("extra", "match"),
    [
        (["--refine", "3"], "cannot be refined"),
        (["--levels", "monte-carlo", "--n-levels", "5"], "on a grid of levels"),
        (["--scheduler", "tcp://127.0.0.1:1"], "no Dask scheduler answers there"),
    ],
)
def test_what_does_not_go_with_chunks(
    folders: tuple[Path, Path], extra: list[str], match: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(streaming, "SCHEDULER_SECONDS", 0.5)
    assert main(["compare", *map(str, folders), *extra]) == 2
    assert match in capsys.readouterr().err


def test_columns_that_differ(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for file in folders[1].iterdir():
        pd.read_parquet(file).rename(columns={"z": "w"}).to_parquet(file)
    assert main(["compare", *map(str, folders)]) == 2
    error = capsys.readouterr().err
    assert "'z' is only in" in error
    assert "'w' is only in" in error


def test_the_bar_counts_passes_and_chunks() -> None:
    import io

    import tqdm

    from isodepth.chunked.entry import compare
    from isodepth.chunked.runner import Runner

    seen: list[tuple[str, int]] = []

    class Bar(streaming.PassBar):
        def __call__(self, count: int) -> None:
            super().__call__(count)
            seen.append((self.bar.desc, self.bar.n))

    with tqdm.tqdm(file=io.StringIO()) as bar:
        runner = Runner(Bar(bar))
        source = isodepth.scan([X[:100], X[100:]])
        compare(isodepth.Metric(n_directions=5, random_state=0), source, source, None, runner)
    assert seen[:2] == [("list of 2, pass 1: ", 1), ("list of 2, pass 1: ", 2)]
    assert ("list of 2, pass 2: ", 2) in seen


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_stops_within_a_second(tmp_path: Path) -> None:
    """In the middle of a pass, while the reader waits for the workers."""
    code = f"""
import signal, sys, time
import numpy as np
import isodepth
from isodepth.chunked.entry import compare
from isodepth.chunked.runner import Runner

# A process that was started in the background ignores this signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
isodepth.distance([[0.0], [1.0]], [[1.0], [3.0]])  # so that everything is loaded
points = np.random.default_rng(0).normal(size=(30_000, 4))

def advance(count):
    open({str(tmp_path / "begun")!r}, "w").close()

def chunks():
    for _ in range(10_000):
        yield points

source = isodepth.scan(chunks)
metric = isodepth.Metric(n_directions=200, random_state=0)
try:
    compare(metric, source, source, None, Runner(advance))
except KeyboardInterrupt:
    print(time.time())
"""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    # A second, and as much again for a machine that has other things to do.
    assert float(out) - sent < 2.0
