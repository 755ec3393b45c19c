"""`monitor`: the numbers of the library, files that are kept, and codes for cron."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli.helpers import refusal, run, run_json, save

import isodepth

NAMES = ("size", "weight", "age")
RNG = np.random.default_rng(30)
REFERENCE = RNG.normal(size=(3000, 3))
QUIET = RNG.normal(size=(2, 40, 3))
LOUD = RNG.normal(size=(8, 40, 3)) + [0.0, 1.5, 0.0]
SETTINGS = ("--batch-size", 40, "--directions", 20, "--levels", 6)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a reference, a monitor made of it, and batches."""
    made = tmp_path_factory.mktemp("fitted")
    save(made / "reference.csv", REFERENCE, NAMES)
    for kind, batches in (("quiet", QUIET), ("loud", LOUD)):
        for i, batch in enumerate(batches):
            save(made / f"{kind}{i}.csv", batch, NAMES)
    run("monitor", "fit", made / "reference.csv", "-o", made / "m.npz", *SETTINGS)
    return made


@pytest.fixture
def folder(fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it for each test."""
    shutil.copytree(fitted, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def library(**options: object) -> isodepth.DepthMonitor:
    given = {"batch_size": 40, "n_directions": 20, "levels": 6, "random_state": 0, **options}
    return isodepth.DepthMonitor(REFERENCE, **given)  # type: ignore[arg-type]


@pytest.mark.usefixtures("without_pictures")
def test_codes_numbers_log_show_and_reset(folder: Path) -> None:
    expected = library()
    assert "No batch has been checked yet" in run("monitor", "show", "m.npz").stdout
    codes = []
    for kind, batches in (("quiet", QUIET), ("loud", LOUD)):
        for i, batch in enumerate(batches):
            verdict = expected.check(batch)
            codes.append(int(verdict.alarm))
            given = ("monitor", "check", "m.npz", f"{kind}{i}.csv", "--log", "log.jsonl")
            found = run_json(*given, code=codes[-1])
            wanted = verdict.to_dict()
            assert {**found, "columns": 0, "warnings": 0} == {**wanted, "columns": 0, "warnings": 0}
            assert [c["share"] for c in found["columns"]] == [c["share"] for c in wanted["columns"]]
    assert codes[:2] == [0, 0]
    assert codes[-1] == 1
    assert found["columns"][0]["name"] == "weight"
    lines = Path("log.jsonl").read_text().splitlines()
    assert [json.loads(line)["batch"] for line in lines] == list(range(1, 11))
    shown = run("monitor", "show", "m.npz", "--plot", "p.png", "--report", "r.html").stdout
    assert "Alarm since batch" in shown
    assert "any alarm is at most 0.01" in shown
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")
    assert "Alarm since batch" in Path("r.html").read_text("utf-8")
    again = run_json("monitor", "check", "m.npz", "loud7.csv", "--label", "Monday", code=1)
    assert (again["batch"], again["label"]) == (11, "Monday")
    again = run_json("monitor", "check", "m.npz", "loud7.csv", "--label", "Monday", code=1)
    assert again["batch"] == 11
    assert "has the label 'Monday'" in refusal(
        "monitor", "check", "m.npz", "quiet0.csv", "--label", "Monday"
    )
    assert run_json("monitor", "reset", "m.npz")["reset"]
    assert "No alarm now" in run("monitor", "show", "m.npz").stdout
    assert "no alarm" in run("monitor", "check", "m.npz", "quiet0.csv").stdout


def test_columns_of_a_batch(folder: Path) -> None:
    wanted = library().score(QUIET[0])
    turned = save(Path("turned.csv"), QUIET[0][:, [2, 0, 1]], ("age", "size", "weight"))
    more = np.column_stack([QUIET[0], np.arange(40)])
    wide = save(Path("wide.csv"), more, (*NAMES, "id"))
    np.save("plain.npy", QUIET[0])
    for batch in (turned, wide, "plain.npy"):
        assert run_json("monitor", "check", "m.npz", batch)["score"] == wanted
    save(Path("other.csv"), QUIET[0], ("size", "weight", "sex"))
    assert "'sex' is only in" in refusal("monitor", "check", "m.npz", "other.csv")


def test_groups_and_blocks_are_columns_of_text_or_numbers(folder: Path) -> None:
    site = np.array(["EWR", "JFK"])[np.arange(3000) % 2]
    rows = [f"{s},{i // 40}," + ",".join(map(repr, row)) for i, (s, row) in enumerate(
        zip(site, REFERENCE.tolist(), strict=True))]  # fmt: skip
    Path("more.csv").write_text("\n".join([",".join(("site", "week", *NAMES)), *rows]))
    given = ("monitor", "fit", "more.csv", "-o", "g.npz", "--directions", 20, "--levels", 6)
    text = run(*given, "--batch-size", 40, "--groups", "site", "--drop", "week", "--tolerance", 0.1,
               "--patience", 2, "--arl", 300).stdout  # fmt: skip
    assert "of group JFK" in text
    assert "at least 300 batches" in text
    assert "up to 10% of the rows of a batch contaminated; an alarm takes 2 batches" in text
    assert "group must be one of 'EWR', 'JFK'" in refusal("monitor", "check", "g.npz", "quiet0.csv")
    assert run_json("monitor", "check", "g.npz", "quiet0.csv", "--group", "JFK")["group"] == "JFK"
    assert "--force" in refusal(*given, "--blocks", "week", "--drop-text")
    found = run_json(*given, "--blocks", "week", "--columns", ",".join(NAMES), "--force")
    assert (found["calibration"], found["columns"]) == ("blocks", list(NAMES))


def test_every_setting_reaches_the_monitor(folder: Path) -> None:
    arguments = (
        "--alpha", 0.2, "--scale", "none", "--nan-policy", "omit", "--depth", "irw", "--q", "inf",
        "--p", 1, "--eps", 0.2, "--random-state", 4, *SETTINGS, "--batch-size", 80,
    )  # fmt: skip
    found = run_json("monitor", "fit", "reference.csv", "-o", "o.npz", *arguments)
    expected = library(
        batch_size=[40, 80], alpha=0.2, scale=None, nan_policy="omit", depth="irw", q=np.inf, p=1,
        eps=0.2, random_state=4,
    )  # fmt: skip
    assert found["signature"] == expected.signature
    assert found["null_intervals"] == expected.to_dict()["null_intervals"]
    assert found["policy"]["alpha"] == 0.2
    lines = Path("quiet0.csv").read_text().splitlines()
    Path("holes.csv").write_text("\n".join([*lines[:-1], "1.0,,2.0"]))
    assert run_json("monitor", "check", "o.npz", "holes.csv", code=1)["n_rows"] == 39
    assert "empty" in refusal("monitor", "check", "m.npz", "holes.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "reference.csv", "-o", "n.npz"], "--batch-size"),
        (["fit", "reference.csv", "-o", "n.txt", "--batch-size", "40"], "named *.npz"),
        (["fit", "absent.csv", "-o", "n.npz", "--batch-size", "40"], "no such file"),
        (["fit", "reference.csv", "-o", "n.npz", "--batch-size", "4000"], "too few"),
        (["fit", "reference.csv", "-o", "n.npz", "--blocks", "week"], "no column 'week'"),
        (["check", "absent.npz", "quiet0.csv"], "cannot read"),
        (["check", "m.npz", "absent.csv"], "no such file"),
        (["check", "m.npz", "reference.csv"], "3000 row(s)"),
        (["check", "m.npz", "quiet0.csv", "--group", "a"], "no groups"),
        (["reset", "absent.npz"], "cannot read"),
        (["forget", "m.npz"], "No such command 'forget'"),
    ],
)
def test_bad_input_changes_nothing(folder: Path, arguments: list[str], message: str) -> None:
    before = Path("m.npz").read_bytes()
    assert message in refusal("monitor", *arguments)
    assert Path("m.npz").read_bytes() == before
    assert not Path("n.npz").exists()
