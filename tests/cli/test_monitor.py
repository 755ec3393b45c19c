"""The command `monitor`: results equal those of `Monitor`, files of monitors, exit codes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli.helpers import refusal, run, run_json, save

import isodepth
from isodepth.table.frames import NamedArray

NAMES = ("size", "weight", "age")
RNG = np.random.default_rng(30)
REFERENCE = RNG.normal(size=(3000, 3))
QUIET = RNG.normal(size=(2, 40, 3))
LOUD = RNG.normal(size=(3, 40, 3)) + [0.0, 1.5, 0.0]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a reference, a monitor fitted to it, and batches."""
    made = tmp_path_factory.mktemp("fitted")
    save(made / "reference.csv", REFERENCE, NAMES)
    for kind, batches in (("quiet", QUIET), ("loud", LOUD)):
        for i, batch in enumerate(batches):
            save(made / f"{kind}{i}.csv", batch, NAMES)
    run("monitor", "fit", made / "reference.csv", "-o", made / "m.npz")
    return made


@pytest.fixture
def folder(fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder `fitted`, which is the working directory of the test."""
    shutil.copytree(fitted, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def library(**options: object) -> isodepth.Monitor:
    table = NamedArray(REFERENCE, NAMES)
    return isodepth.Monitor(table, **{"random_state": 0, **options})  # type: ignore[arg-type]


@pytest.mark.usefixtures("without_pictures")
def test_codes_numbers_show_and_reset(folder: Path) -> None:
    expected = library()
    assert "No batch has been checked yet" in run("monitor", "show", "m.npz").stdout
    codes = []
    for kind, batches in (("quiet", QUIET), ("loud", LOUD)):
        for i, batch in enumerate(batches):
            verdict = expected.check(NamedArray(batch, NAMES))
            codes.append(int(verdict.alarm))
            found = run_json("monitor", "check", "m.npz", f"{kind}{i}.csv", code=codes[-1])
            assert found == {**verdict.to_dict(), "warnings": []}
    assert codes[:2] == [0, 0]
    assert codes[-1] == 1
    assert found["changes"][0]["columns"] == ["weight"]
    shown = run("monitor", "show", "m.npz", "-o", "r.html").stdout
    assert "Alarm since batch" in shown
    assert "any alarm is at most 0.01" in shown
    assert "Alarm since batch" in Path("r.html").read_text("utf-8")
    for _ in range(2):
        again = run_json("monitor", "check", "m.npz", "loud2.csv", "--label", "Monday", code=1)
        assert (again["batch_number"], again["label"]) == (6, "Monday")
    assert "label 'Monday'" in refusal(
        "monitor", "check", "m.npz", "quiet0.csv", "--label", "Monday"
    )
    assert run_json("monitor", "reset", "m.npz")["type"] == "reset"
    assert "No alarm now" in run("monitor", "show", "m.npz").stdout
    assert "no alarm" in run("monitor", "check", "m.npz", "quiet0.csv").stdout


def test_a_folder_of_batches_is_checked_once_in_one_call(folder: Path) -> None:
    Path("days").mkdir()
    for name, batch in (("day2", QUIET[0]), ("day10", LOUD[0]), ("day11", LOUD[1])):
        save(Path("days", f"{name}.csv"), batch, NAMES)
    for _ in range(2):
        found = run_json("monitor", "check", "m.npz", "days", code=1)
        labels = [verdict["label"] for verdict in found["verdicts"]]
        assert labels == ["day2.csv", "day10.csv", "day11.csv"]
        assert [verdict["batch_number"] for verdict in found["verdicts"]] == [1, 2, 3]
    assert "--label names one batch" in refusal("monitor", "check", "m.npz", "days", "--label", "a")


def test_columns_of_a_batch(folder: Path) -> None:
    wanted = library().check(NamedArray(QUIET[0], NAMES)).n_suspicious
    digests = set()
    turned = save(Path("turned.csv"), QUIET[0][:, [2, 0, 1]], ("age", "size", "weight"))
    more = np.column_stack([QUIET[0], np.arange(40)])
    wide = save(Path("wide.csv"), more, (*NAMES, "id"))
    for batch in (turned, wide):
        # The rows are the same, so that the label is accepted again.
        found = run_json("monitor", "check", "m.npz", batch, "--label", "same")
        assert found["n_suspicious"] == wanted
        digests.add(found["batch_number"])
    assert digests == {1}
    save(Path("other.csv"), QUIET[0], ("size", "weight", "sex"))
    np.save("plain.npy", QUIET[0])
    message = "no column names, and columns are matched by name with those of the reference: 'size'"
    assert message in refusal("monitor", "check", "m.npz", "plain.npy")
    message = "lacks the column 'age' of the reference; add it to the batch, or fit the monitor"
    assert message in refusal("monitor", "check", "m.npz", "other.csv")


def test_a_file_without_a_label_counts_again(folder: Path) -> None:
    """A file that is checked twice counts as two batches, because its rows may have changed."""
    for number in (1, 2):
        found = run_json("monitor", "check", "m.npz", "quiet0.csv")
        assert (found["batch_number"], found["label"]) == (number, None)
    assert run_json("monitor", "check", "m.npz", "quiet1.csv", "--label", "a")["batch_number"] == 3
    assert "it counts twice" in " ".join(run("monitor", "check", "--help").stdout.split())


def test_no_batch_is_counted_if_a_file_does_not_exist(folder: Path) -> None:
    said = refusal("monitor", "check", "m.npz", "quiet0.csv", "none.csv")
    assert "cannot read none.csv" in said
    assert isodepth.Monitor.load("m.npz").n_batches == 0


def test_verdicts_before_a_batch_that_cannot_be_read_are_printed(folder: Path) -> None:
    """Otherwise an alarm would be lost, and a file without a label would be counted twice."""
    save(Path("other.csv"), QUIET[0], ("size", "weight", "sex"))
    names = ("loud0.csv", "loud1.csv", "other.csv", "quiet0.csv")
    result = run("monitor", "check", "m.npz", *names, "--json", code=2)
    found = json.loads(result.stdout)
    assert [verdict["batch_number"] for verdict in found["verdicts"]] == [1, 2]
    assert found["verdicts"][1]["alarm"]
    assert found["exit_code"] == 2
    assert "lacks the column 'age'" in result.stderr
    assert "(the batch is other.csv; counted before it: 2 batches)" in result.stderr
    assert isodepth.Monitor.load("m.npz").n_batches == 2
    said = refusal("monitor", "check", "m.npz", "other.csv", "quiet0.csv")
    assert "(the batch is other.csv; counted before it: no batch)" in said


def test_an_interrupt_prints_the_verdicts_on_counted_batches(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = isodepth.Monitor.check

    def interrupted(monitor: isodepth.Monitor, *args: object, **options: object) -> object:
        if monitor.n_batches == 1:
            raise KeyboardInterrupt
        return check(monitor, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(isodepth.Monitor, "check", interrupted)
    result = run("monitor", "check", "m.npz", "loud0.csv", "loud1.csv", code=130)
    assert result.stdout.startswith("batch 1: ALARM")
    assert isodepth.Monitor.load("m.npz").n_batches == 1


def test_groups_and_blocks_are_columns_of_text_or_numbers(folder: Path) -> None:
    site = np.array(["EWR", "JFK"])[np.arange(3000) % 2]
    rows = [f"{s},{i // 40}," + ",".join(map(repr, row)) for i, (s, row) in enumerate(
        zip(site, REFERENCE.tolist(), strict=True))]  # fmt: skip
    Path("more.csv").write_text("\n".join([",".join(("site", "week", *NAMES)), *rows]))
    given = ("monitor", "fit", "more.csv", "-o", "g.npz")
    text = run(*given, "--groups", "site", "--drop", "week", "--tolerance", 0.1, "--patience", 2,
               "--arl", 300).stdout  # fmt: skip
    assert "of group JFK" in text
    assert "at least 300 batches" in text
    assert "up to 10% contaminated rows; an alarm takes 2 crossings" in text
    assert "group must be one of 'EWR', 'JFK'" in refusal("monitor", "check", "g.npz", "quiet0.csv")
    assert run_json("monitor", "check", "g.npz", "quiet0.csv", "--group", "JFK")["group"] == "JFK"
    assert "--overwrite" in refusal(*given, "--blocks", "week", "--numeric-only")
    found = run_json(*given, "--blocks", "week", "--columns", ",".join(NAMES), "--overwrite")
    assert found["groups"][0]["n_blocks"] == 75
    assert found["columns"] == list(NAMES)
    far = save(Path("far.csv"), QUIET[0] + 50, NAMES)
    said = refusal("monitor", "check", "g.npz", far, "--max-changed", "5%")
    assert "--max-changed needs a monitor without blocks" in said
    beyond = run("monitor", "check", "g.npz", far, code=1).stdout
    assert beyond.startswith("batch 1: BEYOND")


@pytest.mark.usefixtures("without_pictures")
def test_exit_codes_and_resets_of_groups(folder: Path) -> None:
    rows = [f"{'uv'[i % 2]}," + ",".join(map(repr, row)) for i, row in enumerate(
        REFERENCE.tolist())]  # fmt: skip
    Path("sites.csv").write_text("\n".join([",".join(("site", *NAMES)), *rows]))
    run("monitor", "fit", "sites.csv", "-o", "g.npz", "--groups", "site")
    check = ("monitor", "check", "g.npz")
    loud = [save(Path(f"far{i}.csv"), QUIET[i] + 9, NAMES) for i in range(2)]
    run(*check, loud[0], "--group", "u", code=1)
    assert run(*check, "quiet0.csv", "--group", "v").stdout.startswith(
        "batch 2 of group v: no alarm"
    )
    run(*check, "quiet1.csv", "--group", "u", code=1)
    shown = run("monitor", "show", "g.npz", "-o", "r.html").stdout
    assert "Alarm of group u since batch 1 of 3" in shown
    assert [line.split()[1] for line in shown.splitlines()[-3:]] == ["u", "v", "u"]
    assert "Alarm of group u since batch 1 of 3" in Path("r.html").read_text("utf-8")
    run(*check, loud[1], "--group", "v", code=1)
    shown = run("monitor", "show", "g.npz").stdout
    assert "Alarm in 2 of 2 groups: u since batch 1, v since batch 4." in shown
    assert run_json("monitor", "reset", "g.npz", "--group", "u")["group"] == "u"
    assert [each["alarm_since"] for each in run_json("monitor", "show", "g.npz")["groups"]] == [
        None, 4,
    ]  # fmt: skip
    assert "group must be one of 'u', 'v'" in refusal("monitor", "reset", "g.npz", "--group", "w")
    assert run_json("monitor", "reset", "g.npz")["group"] is None
    assert "No alarm now" in run("monitor", "show", "g.npz").stdout


@pytest.mark.parametrize("sites", [("EWR", "JFK"), ("1", "2")])
def test_rows_of_another_group_and_of_several_blocks_are_refused(
    folder: Path, sites: tuple[str, str]
) -> None:
    def write(name: str, lines: list[str]) -> None:
        Path(name).write_text("\n".join(["site,week,size", *lines]))

    rows = [f"{sites[i % 2]},{i // 40},{x!r}" for i, x in enumerate(REFERENCE[:1200, 0].tolist())]
    write("weeks.csv", rows)
    write("one.csv", rows[:40:2])
    write("both.csv", rows[:40])
    write("more.csv", rows[:1200:60])
    fit = ("monitor", "fit", "weeks.csv", "-o", "w.npz", "--groups", "site")
    for blocks in (["--drop", "week"], ["--blocks", "week"]):
        found = run_json(*fit, *blocks, "--overwrite")
        assert found["settings"]["groups"] == "site"
        assert found["columns"] == ["size"]
        check = ("monitor", "check", "w.npz")
        other = refusal(*check, "one.csv", "--group", sites[1])
        assert f"its column 'site' has the value '{sites[0]}'; pass the group" in other
        also = refusal(*check, "both.csv", "--group", sites[0])
        assert f"'site' also has the value '{sites[1]}'" in also
        assert run_json(*check, "one.csv", "--group", sites[0])["batch_number"] == 1
        assert run_json(*check, "one.csv")["group"] == sites[0]
        assert "'site' of this batch has 2 different values" in refusal(*check, "both.csv")
    several = refusal(*check, "more.csv", "--group", sites[0])
    assert "'week' of this batch has 20 different values" in several
    Path("bare.csv").write_text("\n".join(["size", *(line.split(",")[2] for line in rows[:20])]))
    assert run_json(*check, "bare.csv", "--group", sites[0])["batch_number"] == 3


def test_settings_and_missing_values(folder: Path) -> None:
    arguments = ("--alpha", 0.2, "--nan-policy", "keep", "--random-state", 4)
    found = run_json("monitor", "fit", "reference.csv", "-o", "o.npz", *arguments)
    assert found["settings"]["alpha"] == 0.2
    given = ("-o", "percent.npz", "--alpha", "20%", *arguments[2:])
    assert run_json("monitor", "fit", "reference.csv", *given)["settings"]["alpha"] == 0.2
    lines = Path("quiet0.csv").read_text().splitlines()
    Path("holes.csv").write_text("\n".join([*lines[:-1], "1.0,,2.0"]))
    expected = library(alpha=0.2, nan_policy="keep", random_state=4)
    rows = QUIET[0].copy()
    rows[-1] = [1.0, np.nan, 2.0]
    wanted = expected.check(NamedArray(rows, NAMES)).pvalue
    assert run_json("monitor", "check", "o.npz", "holes.csv")["pvalue"] == wanted
    # `check` has no option --nan-policy: the advice is to fit again.
    run("monitor", "fit", "reference.csv", "-o", "strict.npz", "--nan-policy", "raise")
    refused = refusal("monitor", "check", "strict.npz", "holes.csv")
    assert "fit the monitor with --nan-policy keep" in refused
    lines = ["size,word", *(f"{i % 7},{'ab'[i % 2] if i else ''}" for i in range(60))]
    Path("words.csv").write_text("\n".join(lines))
    refused = refusal("monitor", "fit", "words.csv", "-o", "w.npz", "--nan-policy", "raise")
    assert "column 'word' of the reference has 1 missing value; use --nan-policy keep" in refused


def test_words_for_missing_values_are_passed_to_both_commands(folder: Path) -> None:
    """Otherwise the words would be a new category of every batch."""
    lines = ["size,word", *(f"{i % 7},{'ab?'[i % 3]}" for i in range(60))]
    Path("words.csv").write_text("\n".join(lines))
    said = run("monitor", "fit", "words.csv", "-o", "w.npz", "--missing", "?").stderr
    assert "add --missing ? to monitor check" in said


def test_columns_that_are_not_selected_are_lacking_in_the_batch(folder: Path) -> None:
    lines = ["size,word,code", *(f"{i % 7},{'ab'[i % 2]},{'cd'[i % 2]}" for i in range(60))]
    Path("words.csv").write_text("\n".join(lines))
    run("monitor", "fit", "words.csv", "-o", "w.npz")
    refused = refusal("monitor", "check", "w.npz", "words.csv", "--columns", "size,word")
    assert "the batch lacks the column 'code' of the reference" in refused


def test_a_number_that_arrives_as_text_is_refused(folder: Path) -> None:
    kinds = np.array(["a", "b"])[np.arange(500) % 2]
    rows = [
        f"{value!r},{kind}" for value, kind in zip(REFERENCE[:500, 0].tolist(), kinds, strict=True)
    ]
    Path("mixed.csv").write_text("\n".join(["size,kind", *rows]))
    run("monitor", "fit", "mixed.csv", "-o", "k.npz")
    Path("odd.csv").write_text("\n".join(["size,kind", *["small,a", "large,b"] * 20]))
    assert "'size'" in refusal("monitor", "check", "k.npz", "odd.csv")
    assert run_json("monitor", "show", "k.npz")["n_batches"] == 0


def test_the_reference_decides_about_the_decimal_mark(folder: Path) -> None:
    def write(name: str, cells: list[str]) -> None:
        lines = [f'"{cell}",{at % 7}' for at, cell in enumerate(cells)]
        Path(name).write_text("\n".join(["price,size", *lines]))

    write("comma.csv", [f"{k // 100}.{k % 100}0,5" for k in range(110, 1000)])
    run("monitor", "fit", "comma.csv", "-o", "c.npz")
    write("batch.csv", [f"{k // 100}.{k % 100}0" for k in range(110, 200)])
    found = run_json("monitor", "check", "c.npz", "batch.csv", code=1)
    assert found["changes"][0]["after"] > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "reference.csv", "-o", "n.txt"], "named *.npz"),
        (["fit", "absent.csv", "-o", "n.npz"], "no such file"),
        (["fit", "reference.csv", "-o", "n.npz", "--blocks", "week"], "no column 'week'"),
        (["fit", "reference.csv", "-o", "reference.csv", "--overwrite"], "input files"),
        (["fit", "reference.csv", "-o", "m.npz"], "--overwrite"),
        (["check", "absent.npz", "quiet0.csv"], "cannot read"),
        (["check", "m.npz", "absent.csv"], "no such file"),
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


def test_thresholds_decide_about_the_exit_code(folder: Path) -> None:
    loud = save(Path("loud.csv"), LOUD[0], NAMES)
    for thresholds, code in (
        (["--max-changed", "5%"], 1), (["--max-changed", "0.9"], 0), (["--min-pvalue", 0.01], 1),
        (["--max-changed", "90%", "--min-pvalue", 1e-300], 0), ([], 1),
        (["--max-changed", 0.9, "--min-pvalue", 0.05], 1),
    ):  # fmt: skip
        found = run_json("monitor", "check", "m.npz", loud, "--label", "a", *thresholds, code=code)
        assert found["alarm"]
        assert 0.2 < found["changed_share"] < 0.6
    # An unchanged batch does not exceed 0%.
    run("monitor", "reset", "m.npz")
    quiet = run_json("monitor", "check", "m.npz", "quiet0.csv", "--max-changed", "0%")
    assert quiet["changed_share"] == 0
    assert "above 0, got 0" in refusal("monitor", "check", "m.npz", loud, "--min-pvalue", 0)
    for bad in ("5", "-1%", "a%", "nan"):
        assert "such as 5% or 0.05" in refusal(
            "monitor", "check", "m.npz", loud, "--min-pvalue", bad
        )


def test_the_warning_of_dependent_rows_names_the_flag(tmp_path: Path) -> None:
    rng = np.random.default_rng(73)
    rows = rng.normal(size=(3000, 2))
    rows[:, 1] += np.repeat(rng.normal(size=60), 50)
    save(tmp_path / "days.csv", rows, ("a", "b"))
    said = run("monitor", "fit", tmp_path / "days.csv", "-o", tmp_path / "m.npz").stderr
    assert "Pass --blocks COLUMN, such as the day" in said
    assert "blocks=" not in said


@pytest.mark.usefixtures("without_pictures")
def test_tiny_pvalues_are_bounded(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    save(tmp_path / "reference.csv", rng.normal(size=(3000, 2)), ("a", "b"))
    save(tmp_path / "batch.csv", rng.normal(9, size=(3000, 2)), ("a", "b"))
    monitor, page = tmp_path / "m.npz", tmp_path / "m.html"
    run("monitor", "fit", tmp_path / "reference.csv", "-o", monitor)
    said = run("monitor", "check", monitor, tmp_path / "batch.csv", code=1).stdout
    assert "p-value    1e-300 or less for this batch" in said
    shown = run("monitor", "show", monitor, "-o", page).stdout
    assert " <1e-300   <1e-300 " in shown
    text = page.read_text("utf-8")
    assert "&lt;1e-300</td>" in text
    assert not re.search(r"[> ]\d(\.\d+)?e-30[1-9]", text + said + shown)


def test_a_folder_as_the_reference_is_refused_with_a_remedy(folder: Path) -> None:
    said = refusal("monitor", "fit", ".", "-o", "new.npz")
    assert "a monitor is fitted to one file" in said
    assert "isodepth.Monitor(isodepth.scan('.'))" in said
    assert "it is a folder, not a file; name one of its files" in refusal("depth", ".")
