"""`isodepth monitor`: the numbers of the library, files that are kept, and codes for cron."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isodepth
from isodepth.cli.main import main

NAMES = ("size", "weight", "age")
RNG = np.random.default_rng(30)
REFERENCE = RNG.normal(size=(3000, 3))
QUIET = RNG.normal(size=(4, 40, 3))
LOUD = RNG.normal(size=(8, 40, 3)) + [0.0, 1.5, 0.0]
SETTINGS = ("--batch-size", 40, "--directions", 20, "--levels", 6)


def run(capsys: Any, *arguments: Any) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command."""
    code = main([str(argument) for argument in ("monitor", *arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def save(path: Path, points: np.ndarray, names: tuple[str, ...] = NAMES) -> Path:
    header = ",".join(names)
    np.savetxt(path, points, fmt="%.17g", delimiter=",", header=header, comments="")
    return path


@pytest.fixture
def folder(tmp_path: Path, capsys: Any) -> Path:
    """A folder with a reference, a monitor made of it, and batches."""
    save(tmp_path / "reference.csv", REFERENCE)
    for kind, batches in (("quiet", QUIET), ("loud", LOUD)):
        for i, batch in enumerate(batches):
            save(tmp_path / f"{kind}{i}.csv", batch)
    code, _, err = run(
        capsys, "fit", tmp_path / "reference.csv", "-o", tmp_path / "m.npz", *SETTINGS
    )
    assert (code, err) == (0, "")
    return tmp_path


def library() -> isodepth.DepthMonitor:
    return isodepth.DepthMonitor(
        REFERENCE, batch_size=40, n_directions=20, levels=6, random_state=0
    )


def test_codes_and_numbers(folder: Path, capsys: Any) -> None:
    expected = library()
    codes = []
    for kind, batches in (("quiet", QUIET), ("loud", LOUD)):
        for i, batch in enumerate(batches):
            code, out, err = run(
                capsys, "check", folder / "m.npz", folder / f"{kind}{i}.csv", "--json"
            )
            verdict = expected.check(batch)
            assert err == ""
            report = json.loads(out)
            assert report.pop("warnings") == []
            columns = {column["name"]: column["share"] for column in report.pop("columns")}
            wanted = verdict.to_dict()
            shares = [column["share"] for column in wanted.pop("columns")]
            assert report == wanted
            assert sorted(columns.values(), reverse=True) == shares
            codes.append(code)
            assert code == int(verdict.alarm)
    assert codes[:4] == [0] * 4
    assert codes[-1] == 1
    assert max(columns, key=lambda name: columns[name]) == "weight"


def test_text_for_people(folder: Path, capsys: Any) -> None:
    code, out, _ = run(capsys, "check", folder / "m.npz", folder / "quiet0.csv")
    assert code == 0
    assert out.startswith("batch 1: no alarm\n")
    for i in range(8):
        code, out, _ = run(capsys, "check", folder / "m.npz", folder / f"loud{i}.csv")
    assert code == 1
    assert out.startswith("batch 9: ALARM since batch")
    assert "weight (" in out


def test_show(folder: Path, capsys: Any) -> None:
    code, out, err = run(capsys, "show", folder / "m.npz")
    assert (code, err) == (0, "")
    assert "0 batch(es) checked, no alarm" in out
    assert "size, weight, age" in out
    for i in range(8):
        run(capsys, "check", folder / "m.npz", folder / f"loud{i}.csv")
    code, out, _ = run(capsys, "show", folder / "m.npz")
    assert code == 0
    assert "8 batch(es) checked, ALARM since batch" in out
    assert "at most 0.01" in out
    code, out, _ = run(capsys, "show", folder / "m.npz", "--json")
    report = json.loads(out)
    assert len(report["verdicts"]) == 8
    assert report["promise"] == {"alpha": 0.01, "arl": None, "tolerance": 0.0, "patience": 1}
    assert report["usual"][0]["rows"] == 40


def test_show_draws(folder: Path, capsys: Any) -> None:
    pytest.importorskip("matplotlib")
    run(capsys, "check", folder / "m.npz", folder / "quiet0.csv")
    code, _, _ = run(capsys, "show", folder / "m.npz", "--plot", folder / "stream.png")
    assert code == 0
    assert (folder / "stream.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = run(capsys, "show", folder / "absent.npz", "--plot", folder / "stream.xyz")
    assert code == 2
    assert "must end in one of" in err


def test_reset(folder: Path, capsys: Any) -> None:
    for i in range(8):
        code, _, _ = run(capsys, "check", folder / "m.npz", folder / f"loud{i}.csv")
    assert code == 1
    assert run(capsys, "reset", folder / "m.npz")[:2] == (0, "the evidence begins anew\n")
    assert run(capsys, "check", folder / "m.npz", folder / "quiet0.csv")[0] == 0


def test_log(folder: Path, capsys: Any) -> None:
    for i in range(3):
        run(capsys, "check", folder / "m.npz", folder / f"quiet{i}.csv", "--log", folder / "l")
    lines = (folder / "l").read_text().splitlines()
    assert [json.loads(line)["batch"] for line in lines] == [1, 2, 3]


def test_columns_are_matched_by_name(folder: Path, capsys: Any) -> None:
    turned = save(folder / "turned.csv", QUIET[0][:, [2, 0, 1]], ("age", "size", "weight"))
    _, out, _ = run(capsys, "check", folder / "m.npz", turned, "--json")
    assert json.loads(out)["score"] == library().score(QUIET[0])
    more = np.column_stack([QUIET[0], np.arange(40)])
    wide = save(folder / "wide.csv", more, (*NAMES, "id"))
    code, _, err = run(capsys, "check", folder / "m.npz", wide)
    assert code == 2
    assert "'id' is only in" in err
    code, out, _ = run(capsys, "check", folder / "m.npz", wide, "--without", "id", "--json")
    assert json.loads(out)["score"] == library().score(QUIET[0])
    code, _, err = run(capsys, "check", folder / "m.npz", wide, "--without", "name")
    assert code == 2
    assert "has no column 'name'" in err


def test_groups_and_blocks_are_columns(folder: Path, capsys: Any) -> None:
    site, week = np.arange(3000) % 2, np.arange(3000) // 40
    table = np.column_stack([REFERENCE + 5.0 * site[:, None], site, week])
    source = save(folder / "more.csv", table, (*NAMES, "site", "week"))
    made = folder / "g.npz"
    code, out, err = run(
        capsys, "fit", source, "-o", made, "--batch-size", 20, "--groups", "site", "--without",
        "week", "--directions", 20, "--tolerance", 0.1, "--patience", 2, "--arl", 300,
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "of group 1" in out
    assert "at least 300 batches" in out
    assert "10% of the rows" in out
    batch = save(folder / "b.csv", QUIET[0][:20] + 5.0)
    code, out, _ = run(capsys, "check", made, batch, "--group", 1, "--json")
    assert json.loads(out)["group"] == "1"
    code, _, err = run(capsys, "check", made, batch)
    assert code == 2
    assert "group must be one of '0', '1'" in err
    code, out, _ = run(
        capsys, "fit", source, "-o", made, "--blocks", "week", "--without", "site", "--json"
    )
    assert code == 0
    assert json.loads(out)["calibration"] == "blocks"


def test_every_setting_reaches_the_monitor(folder: Path, capsys: Any) -> None:
    arguments = (
        "--alpha", 0.2, "--scale", "none", "--nan-policy", "omit", "--depth", "irw", "--q", "inf",
        "--p", 1, "--eps", 0.2, "--seed", 4, *SETTINGS, "--batch-size", 80,
    )  # fmt: skip
    code, out, _ = run(
        capsys, "fit", folder / "reference.csv", "-o", folder / "o.npz", *arguments, "--json"
    )
    assert code == 0
    report = json.loads(out)
    expected = isodepth.DepthMonitor(
        REFERENCE, batch_size=[40, 80], alpha=0.2, scale=None, nan_policy="omit", depth="irw",
        q=np.inf, p=1, eps=0.2, random_state=4, n_directions=20, levels=6,
    )  # fmt: skip
    assert report["signature"] == expected.signature
    assert report["promise"]["alpha"] == 0.2
    assert report["usual"] == expected.to_dict()["usual"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "reference.csv", "-o", "n.npz"], "--batch-size"),
        (["fit", "reference.csv", "-o", "n.txt", "--batch-size", "40"], "named *.npz"),
        (["fit", "absent.csv", "-o", "n.npz", "--batch-size", "40"], "no such file"),
        (["fit", "reference.csv", "-o", "n.npz", "--batch-size", "4000"], "too few"),
        (["fit", "reference.csv", "-o", "n.npz", "--batch-size", "x"], "invalid int value"),
        (["fit", "reference.csv", "-o", "n.npz", "--blocks", "week"], "no column 'week'"),
        (["check", "absent.npz", "quiet0.csv"], "cannot read"),
        (["check", "m.npz", "absent.csv"], "no such file"),
        (["check", "m.npz", "reference.csv"], "3000 row(s)"),
        (["check", "reference.csv", "quiet0.csv"], "named *.npz"),
        (["check", "m.npz", "quiet0.csv", "--group", "a"], "no groups"),
        (["show", "absent.npz"], "cannot read"),
        (["reset", "absent.npz"], "cannot read"),
        (["forget", "m.npz"], "invalid choice"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    folder: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, arguments: list, message: str
) -> None:
    monkeypatch.chdir(folder)
    before = (folder / "m.npz").read_bytes()
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("isodepth: error: ")
    assert message in err
    assert (folder / "m.npz").read_bytes() == before
    assert not (folder / "n.npz").exists()


def test_as_a_process(folder: Path) -> None:
    command = [sys.executable, "-m", "isodepth.cli", "monitor", "check", "m.npz", "quiet0.csv"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("batch 1: no alarm")
