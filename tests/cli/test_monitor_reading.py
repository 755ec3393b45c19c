"""`isodepth monitor` reads as all commands do: columns, text for groups, missing values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.helpers import refusal, run, write

import isodepth

ROWS = np.random.default_rng(0).normal(size=(800, 2))
SITES = np.where(np.arange(800) % 2, "EWR", "JFK")
QUICK = ("--directions", 10, "--levels", 5)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = ["site,a,b,id"]
    lines += [f"{site},{a!r},{b!r},{i}" for i, (site, (a, b)) in enumerate(
        zip(SITES, ROWS.tolist(), strict=True))]  # fmt: skip
    write(tmp_path / "reference.csv", "\n".join(lines))
    write(
        tmp_path / "batch.csv", "b,a\n" + "\n".join(f"{b!r},{a!r}" for a, b in ROWS[:20].tolist())
    )
    return tmp_path


def test_text_tells_groups_apart(capsys: Any, folder: Path) -> None:
    given = ("reference.csv", "--batch-size", 20, "--groups", "site", "--drop", "id", *QUICK)
    code, _, err = run(capsys, "monitor", "fit", *given, "-o", "m.npz")
    assert (code, err) == (0, "")
    code, out, _ = run(capsys, "monitor", "check", "m.npz", "batch.csv", "--group", "EWR", "--json")
    assert code == 0
    wanted = isodepth.DepthMonitor(
        ROWS, batch_size=20, groups=SITES, n_directions=10, levels=5, random_state=0
    )
    assert json.loads(out)["score"] == wanted.check(ROWS[:20], group="EWR").score


def test_chosen_columns_need_not_name_the_groups(capsys: Any, folder: Path) -> None:
    given = ("reference.csv", "--batch-size", 20, "--groups", "site", "--columns", "a,b", *QUICK)
    code, out, _ = run(capsys, "monitor", "fit", *given, "-o", "m.npz", "--json")
    assert (code, json.loads(out)["columns"]) == (0, ["a", "b"])


def test_a_batch_may_lack_values_where_the_monitor_omits_them(capsys: Any, folder: Path) -> None:
    given = ("reference.csv", "--batch-size", 20, "--columns", "a,b", *QUICK)
    assert run(capsys, "monitor", "fit", *given, "-o", "omits.npz", "--missing", "omit")[0] == 0
    assert run(capsys, "monitor", "fit", *given, "-o", "raises.npz")[0] == 0
    lines = (folder / "batch.csv").read_text().splitlines()
    write(folder / "holes.csv", "\n".join([*lines[:-1], "1.0,"]))
    assert "the cell is empty" in refusal(capsys, "monitor", "check", "raises.npz", "holes.csv")
    code, out, _ = run(capsys, "monitor", "check", "omits.npz", "holes.csv", "--json")
    assert (code, json.loads(out)["n_rows"]) == (0, 19)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent.csv", "--batch-size", "20"], "there is no such file"),
        (["reference.csv", "--batch-size", "20"], "'JFK' is not a number"),
        (["reference.csv", "--batch-size", "20", "--groups", "city"], "has no column 'city'"),
        (["reference.csv", "--drop-text"], "--batch-size N"),
        (
            ["reference.csv", "--batch-size", "20", "--drop-text", "--missing", "x"],
            "--missing must",
        ),
        (["reference.csv", "--batch-size", "20", "--drop-text", "--refine", "2"], "--refine"),
        (["holes.csv", "--batch-size", "20", "--blocks", "site"], "1 rows have no value"),
    ],
)
def test_bad_references(capsys: Any, folder: Path, arguments: list[str], said: str) -> None:
    write(folder / "holes.csv", "site,a\nEWR,1\n,2\n")
    assert said in refusal(capsys, "monitor", "fit", *arguments, "-o", "m.npz")
    assert not (folder / "m.npz").exists()


def test_reset_for_machines(capsys: Any, folder: Path) -> None:
    given = ("reference.csv", "--batch-size", 20, "--columns", "a,b", *QUICK)
    run(capsys, "monitor", "fit", *given, "-o", "m.npz")
    code, out, _ = run(capsys, "monitor", "reset", "m.npz", "--json")
    assert (code, json.loads(out)["reset"]) == (0, True)
    assert "absent.npz" in refusal(capsys, "monitor", "reset", "absent.npz")
