"""The commands `compare`, `test` and `report` give the results of the functions they call."""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli.helpers import QUICK, refusal, run, run_json, sample, save

import isodepth
from isodepth.cli import compare as module
from isodepth.table.frames import NamedArray

pytest.importorskip("matplotlib")
NAMES = ("day", "temp", "wind")


@pytest.fixture
def tables() -> list[NamedArray]:
    rows = [np.column_stack([np.arange(60) // 4 + 100 * i, sample(i, 60, 0.7 * i)[:, :2]])
            for i in range(3)]  # fmt: skip
    return [NamedArray(table, NAMES) for table in rows]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: list[NamedArray]) -> list[str]:
    monkeypatch.chdir(tmp_path)
    names = ["june.csv", "july.csv", "august.csv"]
    for name, table in zip(names, tables, strict=True):
        save(tmp_path / name, table.points, NAMES)
    return names


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["--depth", "halfspace"], {"depth": "halfspace"}),
        (["--eps", "0.3", "--p", "inf"], {"eps": 0.3, "p": np.inf}),
        (["--eps", "20%"], {"eps": 0.2}),
        (["--q", "2", "--scale", "none"], {"q": 2, "scale": None}),
        (["--n-directions", "17", "--random-state", "3"], {"n_directions": 17, "random_state": 3}),
        (["--levels", "10", "--refine", "0"], {"levels": 10, "refine": 0}),
    ],
)  # fmt: skip
def test_every_setting_reaches_the_metric(
    files: list[str], tables: list[NamedArray], arguments: list[str], options: dict[str, Any]
) -> None:
    found = run_json("compare", *files[:2], *arguments)
    options = {"random_state": 0, "scale": "pooled", **options}
    wanted = isodepth.compare(*tables[:2], **options)
    assert found["signature"] == wanted.signature
    assert found["distance"] == wanted.distance
    assert found["largest_gap"] == wanted.to_dict()["largest_gap"]
    assert (found["n_rows"], found["columns"]) == ([60, 60], list(NAMES))


@pytest.mark.usefixtures("without_pictures")
def test_all_commands_agree(files: list[str], tables: list[NamedArray]) -> None:
    """The same files and options give the same p-value, default units, and distance."""
    given = (*files[:2], "--drop", "day", "--n-permutations", 49)
    compared, tested = run_json("compare", *given, *QUICK), run_json("test", *given)
    assert compared["test"]["pvalue"] == tested["pvalue"]
    assert compared["scale"] == tested["scale"] == "pooled"
    run("report", *given, *QUICK, "-o", "r.html")
    page = Path("r.html").read_text("utf-8")
    assert f"distance {compared['distance']:.3g}" in page
    assert compared["signature"] in page
    assert tested["signature"] in html.unescape(page)
    assert "in robust standard deviations of the columns" in run("compare", *given).stdout
    assert "|scale=pooled|" in tested["signature"]
    wanted = isodepth.two_sample_test(
        *(NamedArray(t.points[:, 1:], NAMES[1:]) for t in tables[:2]),
        n_permutations=49,
        random_state=0,
    )
    assert tested["pvalue"] == wanted.pvalue


def test_blocks_are_any_labels_and_need_not_be_chosen(files: list[str]) -> None:
    given = ("test", *files[:2], "--n-permutations", 49, *QUICK)
    numbered = run_json(*given, "--blocks", "day")
    for name in files[:2]:
        lines = Path(name).read_text().splitlines()
        text = [lines[0], *(f"{name}-{line}" for line in lines[1:])]
        Path(name).write_text("\n".join(text))
    named = run_json(*given, "--blocks", "day", "--columns", "temp,wind")
    assert named["pvalue"] == numbered["pvalue"]
    assert [c["column"] for c in named["column_tests"]] == [
        c["column"] for c in numbered["column_tests"]
    ]
    assert "has no column 'night'" in refusal(*given, "--blocks", "night")


def test_blocks_have_no_share_of_changed_rows(files: list[str]) -> None:
    given = ("test", files[0], files[2], "--n-permutations", 49, *QUICK, "--blocks", "day")
    assert "--max-changed has no guarantee for blocks" in refusal(*given, "--max-changed", "5%")
    assert run_json(*given, "--min-pvalue", "1", code=1)["changed_share"] is None


@pytest.mark.usefixtures("without_pictures")
def test_reports_are_written(files: list[str]) -> None:
    for command in ("compare", "test"):
        given = (*files[:2], "--n-permutations", 19, *QUICK, "-o", "r.html")
        assert run(command, *given).stdout.endswith("report: r.html\n")
        assert f"isodepth {command} june.csv july.csv" in Path("r.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "r.txt"], "must end in .html"),
        (["-o", "absent/r.html"], "there is no folder"),
    ],
)
def test_outputs_are_checked_before_anything_is_read(
    files: list[str], arguments: list[str], said: str
) -> None:
    for command in ("compare", "test"):
        assert said in refusal(command, "absent.csv", "absent.csv", *arguments)


def test_json_names_the_compared_columns(files: list[str]) -> None:
    quick = ("--n-permutations", 9, *QUICK)
    of_test = run_json("test", *files[:2], *quick)["columns"]
    assert of_test == run_json("compare", *files[:2], *quick)["columns"]
    kept = run_json("test", *files[:2], "--category", "wind", "--drop", "temp", *quick)["columns"]
    assert kept == [name for name in of_test if name != "temp"]


def test_json_has_the_kinds_of_numeric_columns(files: list[str]) -> None:
    """Files with numbers only have kinds, as files with other columns have."""
    tested = run_json("test", *files[:2], "--n-permutations", 9)
    compared = run_json("compare", *files[:2], *QUICK)
    fitted = run_json("monitor", "fit", files[0], "-o", "m.npz")
    for found in (tested, compared, fitted):
        assert [each["column"] for each in found["kinds"]] == list(NAMES)
        assert {each["use"] for each in found["kinds"]} == {"numeric"}


def test_errors_name_the_files(files: list[str], tmp_path: Path) -> None:
    save(tmp_path / "other.csv", sample(0, 60)[:, :2], ("a", "b"))
    for command in ("compare", "test", "report"):
        output = ("-o", "r.html") if command == "report" else ()
        message = refusal(command, "june.csv", "other.csv", *output)
        assert "X and Y" in message
        assert message.rstrip().endswith("(X is june.csv, Y is other.csv)")


@pytest.mark.parametrize("blocks", [(), ("--blocks", "day")])
@pytest.mark.usefixtures("without_pictures")
def test_a_report_can_be_repeated(files: list[str], blocks: tuple[str, ...]) -> None:
    """The command and the Python code in a report give the same result, also with missing cells."""
    for name in files[:2]:
        lines = Path(name).read_text().splitlines()
        text = [f"{line},x" for line in lines] + ["7,,1.0,x" if name == files[0] else "107,1,,x"]
        Path(name).write_text("\n".join(["note".join(text[0].rsplit("x", 1)), *text[1:]]))
    given = [*files[:2], "-o", "r.html", "--drop", "wind", "--numeric-only", "--nan-policy", "omit"]
    run("report", *given, *blocks, "--n-permutations", 19, *QUICK)
    page = Path("r.html").read_text("utf-8")
    command, code = map(html.unescape, re.findall(r"<pre><code>(.*?)</code>", page, re.DOTALL)[-2:])
    Path("r.html").unlink()
    run(*shlex.split(command)[1:])
    assert Path("r.html").read_text("utf-8") == page
    made = executed(code)
    found = run_json("compare", *given[:2], *given[4:], *blocks, "--n-permutations", 19, *QUICK)
    assert made["comparison"].distance == pytest.approx(found["distance"], rel=1e-12)
    assert made["test"].pvalue == found["test"]["pvalue"]


@pytest.mark.usefixtures("without_pictures")
def test_the_report_of_a_test_can_be_repeated(files: list[str]) -> None:
    arguments = ("test", *files[:2], "--n-permutations", 19, "--scale", "none", "--blocks", "day")
    found = run_json(*arguments, "-o", "r.html")
    made = executed(found["code"])
    assert made["test"].signature == found["signature"]
    assert made["test"].statistic == pytest.approx(found["statistic"], rel=1e-12)


def mixed_table(seed: int) -> pd.DataFrame:
    """Return a table with strings that look like numbers, booleans and missing values."""
    rng, rows = np.random.default_rng(seed), 60
    return pd.DataFrame(
        {
            "v": rng.normal(0.5 * seed, 1, rows).round(3),
            " price, EUR": rng.normal(size=rows).round(2),
            "code": [f"{code:03d}" for code in rng.integers(1, 30, rows)],
            "land": rng.choice(["NA", "x", "nan", "u", ""], rows),
            "flag": rng.choice(["1", "2", "XL"], rows),
            "when": pd.date_range("2020-01-01", periods=rows, freq="31h").strftime("%F %T"),
            "time": [f"{hour:02d}:30:00" for hour in rng.integers(0, 24, rows)],
            "late": rng.choice(["true", "false"], rows),
            "day": [f"{'ab'[seed]}{row // 4}" for row in range(rows)],
        }
    )


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ({}, ["--missing", "NA,x", "--blocks", "day"]),
        ({}, ["--category", "code", "--numeric", "late,when", "--drop", "land"]),
        ({"sep": ";", "decimal": ","}, ["--numeric", "when", "--missing", "2020-01-01 00:00:00"]),
        ({"sep": "\t"}, ["--columns", '"price, EUR",time,land,v', "--missing", "u"]),
        ({"header": False}, []),
        ({"header": False}, ["--columns", "1,0"]),
        ({"ending": ".parquet"}, ["--missing", "NA,x", "--blocks", "day"]),
        ({"ending": ".npy"}, ["--columns", "1"]),
    ],
)
@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
def test_the_code_reads_files_like_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: dict, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ending, form = form.get("ending", ".csv"), {k: form[k] for k in form if k != "ending"}
    names = [f"{name}{ending}" for name in "xy"]
    for seed, name in enumerate(names):
        table = mixed_table(seed)
        if ending == ".parquet":
            table.to_parquet(name)
        elif ending == ".npy":
            np.save(name, table.iloc[:, :2].to_numpy())
        else:
            selected = table if form.get("header", True) else table.iloc[:, :2]
            selected.to_csv(name, index=False, **form)
    check_code("test", *names, *options)


def check_code(*arguments: str) -> None:
    """Check that the code in the output of a command gives the same test and distance."""
    found = run_json(*arguments, "--n-permutations", 19)
    made, wanted = executed(found["code"]), found if found["type"] == "test" else found["test"]
    assert made["test"].pvalue == wanted["pvalue"]
    assert made["test"].statistic == pytest.approx(wanted["statistic"], rel=1e-9)
    if found["type"] == "comparison":
        assert made["comparison"].distance == pytest.approx(found["distance"], rel=1e-9)


def executed(code: str) -> dict[str, Any]:
    """Run the code of a report, at most six lines, and return its variables."""
    assert len(code.splitlines()) <= 6
    made: dict[str, Any] = {}
    exec(code, made)
    return made


@pytest.mark.parametrize("labels", [["a", "NA"], ["01", "x"], [2, 10], [0.5, 1.0]])
@pytest.mark.usefixtures("without_pictures")
def test_the_code_selects_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labels: list[Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    pd.concat([mixed_table(k).assign(g=label) for k, label in enumerate(labels)]).to_csv(
        "t.csv", index=False
    )
    check_code("report", "t.csv", "--by", "g", "--missing", "u", "-o", "r.html")


def test_the_code_scans_folders(folders: list[str]) -> None:
    check_code("test", *folders, "--columns", "wind,temp")
    found = run_json("test", *folders, "--drop", "wind", "--n-permutations", 9)
    assert "cannot be repeated" in found["code"]


@pytest.mark.usefixtures("without_pictures")
def test_a_report_shows_each_note_once(tmp_path: Path) -> None:
    """The line about a doubtful column is part of the page, and few rows have one warning."""
    rng, page = np.random.default_rng(0), tmp_path / "r.html"
    paths = [tmp_path / "x.csv", tmp_path / "y.csv"]
    for path in paths:
        table = pd.DataFrame(rng.normal(size=(5, 8)), columns=list("abcdefgh"))
        table.assign(s=["1", "2", "XL", "1", "2"]).to_csv(path, index=False)
    said = run("report", *paths, "-o", page, "--n-permutations", 19).stderr
    assert said.count("cannot order") == 1
    (text,) = re.findall(r'<div class="notes".*?</div>', page.read_text("utf-8"), re.DOTALL)
    for part in ("are read as missing", "cannot order", "rows dropped: "):
        assert text.count(part) == 1


@pytest.mark.usefixtures("without_pictures")
def test_reports_of_a_monitor_and_wrong_files(files: list[str]) -> None:
    rows = np.random.default_rng(0).normal(size=(600, 2))
    isodepth.Monitor(rows, random_state=0, path="m.npz").check(rows[:20])
    assert run("report", "m.npz", "-o", "m.html").stdout == "report of monitor in m.html\n"
    page = html.unescape(Path("m.html").read_text("utf-8"))
    assert "No alarm in 1 batch " in page
    assert "isodepth.Monitor.load('m.npz')" in page
    run("monitor", "show", "m.npz", "-o", "shown.html")
    assert "Monitor.load('m.npz')" in html.unescape(Path("shown.html").read_text("utf-8"))
    said = refusal("report", "m.npz", "-o", "m.html", "--eps", 0.2)
    assert "--eps has no effect on the report of a monitor" in said
    said = refusal("report", "m.npz", "-o", "m.html", "--by", "a")
    assert "--by has no effect on the report of a monitor" in said
    said = refusal("report", "m.npz", "june.csv", "-o", "m.html")
    assert "got m.npz, june.csv; isodepth monitor check compares tables with a monitor" in said
    for wrong in (files, files[:1]):
        assert f"got {', '.join(wrong)}" in refusal("report", *wrong, "-o", "r.html")
    said = refusal("report", "june.csv", "-o", "r.html", "--by", "day")
    assert "two groups, got 15 in column 'day'" in said
    assert "isodepth pairwise --by day" in said
    Path("g.csv").write_text("g,v,w\na,1,2\na,3,4\nb,2,5\n")
    said = refusal("report", "g.csv", "-o", "r.html", "--by", "g")
    assert "Y must have at least 2 rows to be tested, got 1 (X is g a, Y is g b)" in said
    assert "Missing option '-o'" in refusal("report", *files)


# -- tables in chunks -----------------------------------------------------------------------------


@pytest.fixture
def folders(files: list[str]) -> list[str]:
    for name in files[:2]:
        folder = Path(name).with_suffix("")
        folder.mkdir()
        Path(name).rename(folder / "part.csv")
    return ["june", "july"]


@pytest.mark.usefixtures("without_pictures")
def test_folders_are_read_in_chunks(folders: list[str], tables: list[NamedArray]) -> None:
    found = run_json("compare", *folders, "--columns", "temp,wind", "--scale", "none", *QUICK)
    points = [table.points[:, 1:] for table in tables[:2]]
    options = {"n_directions": 20, "levels": 20, "refine": 0, "random_state": 0}
    assert found["distance"] == pytest.approx(isodepth.distance(*points, **options), rel=1e-12)
    assert found["columns"] == ["temp", "wind"]
    assert "read in chunks" in found["warnings"][0]
    run("compare", *folders, "-o", "r.html", *QUICK)
    assert "are at distance" in Path("r.html").read_text("utf-8")


@pytest.mark.usefixtures("without_pictures")
def test_folders_are_tested(folders: list[str]) -> None:
    """The test of folders equals that of files. (Distances differ: they use a grid of levels.)"""
    found = run_json("test", *folders, "--n-permutations", 19, *QUICK)
    files = [f"{folder}/part.csv" for folder in folders]
    expected = run_json("test", *files, "--n-permutations", 19, *QUICK)
    for name in ("pvalue", "statistic", "changes", "n_rows"):
        assert found[name] == expected[name]
    assert found["n_used_rows"] == found["n_rows"]
    run("report", *folders, "-o", "r.html", "--n-permutations", 19, *QUICK)
    assert "july differs from june" in Path("r.html").read_text("utf-8")


def test_large_files_are_read_in_chunks(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "levels=exact" in run_json("compare", *files[:2])["signature"]
    monkeypatch.setattr(module, "LARGE_BYTES", 100)
    result = run("compare", *files[:2])
    assert "levels=20" in run_json("compare", *files[:2])["signature"]
    assert "read in chunks" in result.stderr


def test_options_that_chunks_do_not_support(folders: list[str]) -> None:
    assert "--refine has no effect on folders" in refusal("compare", *folders, "--refine", 3)
    for command in ("compare", "test"):
        for options in (("--blocks", "day"), ("--numeric-only",)):
            message = refusal(command, *folders, "--n-permutations", 19, *options)
            assert f"{options[0]} is not available for folders" in message
        assert "has no column 'no'" in refusal(command, *folders, "--drop", "no")


def test_the_advice_about_missing_values_names_a_choice_of_the_command(folders: list[str]) -> None:
    for folder in folders:
        path = Path(folder, "part.csv")
        path.write_text(f"{path.read_text('utf-8').rstrip()}\n,,\n", "utf-8")
    for command, choice in (("test", "keep"), ("compare", "omit")):
        options = ("--n-permutations", 19, "--nan-policy", "raise")
        assert f"accept them with --nan-policy {choice}" in refusal(command, *folders, *options)


def test_columns_and_words_are_left_out_of_folders(folders: list[str]) -> None:
    """Options that select columns, and `--missing`, apply to folders as to files."""
    files = [f"{folder}/part.csv" for folder in folders]
    words = ",".join(Path(file).read_text("utf-8").splitlines()[1].split(",")[1] for file in files)
    for options in (
        ("--drop", "temp"),
        ("--missing", words),
        ("--drop", "wind", "--missing", words),
    ):
        found, expected = (
            run_json("test", *tables, "--n-permutations", 19, *options, *QUICK)
            for tables in (folders, files)
        )
        for name in ("pvalue", "statistic", "changes", "n_rows", "missing", "left_out"):
            assert found[name] == expected[name]
    plain = run_json("compare", *folders, "--scale", "none", *QUICK)
    without = run_json("compare", *folders, "--scale", "none", "--missing", words, *QUICK)
    assert plain["distance"] != without["distance"]
    dropped = run_json("compare", *folders, "--drop", "temp", "--scale", "none", *QUICK)
    assert "temp" not in dropped["columns"]


def test_json_has_finite_numbers_only(files: list[str]) -> None:
    text = run("compare", files[0], files[0], "--n-permutations", 9, "--json", *QUICK).stdout
    assert json.loads(text, parse_constant=pytest.fail)["distance"] == 0


@pytest.mark.parametrize(
    "option", [("--q", 2), ("--eps", 0.2), ("--depth", "irw"), ("--levels", 5), ("--refine", 3)]
)
def test_options_without_an_effect_on_the_test_are_refused(
    files: list[str], option: tuple[str, Any]
) -> None:
    # Click 8.2 writes the option without quotes.
    message = refusal("test", *files[:2], *option).replace("'", "")
    assert re.search(f"No such option:? {option[0]} ", message.replace(".", " ")), message


def test_every_option_of_the_test_has_an_effect(files: list[str]) -> None:
    given = ("test", *files[:2], "--n-permutations", 49)
    usual = run_json(*given)
    for option in (
        ("--scale", "none"),
        ("--n-directions", 7),
        ("--random-state", 5),
        ("--tolerance", 0.1),
        ("--blocks", "day"),
    ):
        other = run_json(*given, *option)
        assert other["signature"] != usual["signature"], option
        assert other["components"] != usual["components"], option
    assert "'reference' is not one of 'pooled', 'none'" in refusal(*given, "--scale", "reference")
    tested = isodepth.two_sample_test(
        *(pd.read_csv(name) for name in files[:2]), n_permutations=49, random_state=0
    )
    assert usual["pvalue"] == tested.pvalue
    assert usual["signature"] == tested.signature


def test_alpha_is_the_level_of_the_test(files: list[str], tables: list[NamedArray]) -> None:
    given = (files[0], files[1], "--drop", "day", "--n-permutations", "99")
    for alpha in (0.001, 0.5):
        test = run_json("test", *given, "--alpha", alpha)
        compared = run_json("compare", *given, "--alpha", alpha)
        for found in (test, compared["test"]):
            assert found["alpha"] == found["settings"]["alpha"] == alpha
            assert found["headline"].startswith("No sig") == (found["pvalue"] > alpha)
            assert bool(found["changes"]) == (found["pvalue"] <= alpha)
        assert f"alpha={alpha}" in test["code"]
        assert f"alpha={alpha}" in compared["code"]
    assert run_json("test", *given, "--alpha", "50%") == test
    reported = run_json("report", *given, "--alpha", "0.001", "-o", "r.html")
    assert reported["test"]["alpha"] == 0.001
    page = Path("r.html").read_text("utf-8")
    assert "99 permutations cannot give a p-value of at most 0.001, at least 999 are needed" in page
    assert "<td>alpha</td><td>0.001</td>" in page
    for command in ("test", "compare", "report"):
        said = refusal(
            command, *given, "--alpha", "95", *(("-o", "r.html") * (command == "report"))
        )
        assert "--alpha must lie in (0, 1), got 95.0; the level of a test with 95% conf" in said
    said = refusal("compare", *files[:2], "--alpha", "0.01")
    assert "--alpha has no effect without a test; add --n-permutations" in said


@pytest.mark.parametrize("command", ["compare", "test"])
def test_numbers_beyond_any_memory_are_refused(files: list[str], command: str) -> None:
    said = refusal(command, *files[:2], "--n-directions", 99999999999999999999)
    assert "please report" not in said
    assert "--n-directions must be at most 2147483647, got 99999999999999999999" in said
    assert "--n-permutations" in refusal(
        command, *files[:2], "--n-permutations", 99999999999999999999
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--max-changed", "5%"], 1), (["--max-changed", "0.99"], 0), (["--max-changed", "0"], 1),
        (["--min-pvalue", "5%"], 1), (["--min-pvalue", "0.05", "--tolerance", "30%"], 0), ([], 0),
    ],
)  # fmt: skip
def test_thresholds_set_the_exit_code(files: list[str], arguments: list[str], code: int) -> None:
    run(
        "test", files[0], files[2], "--drop", "day", "--n-permutations", "39", *arguments, code=code
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--n-permutations", "19", "--min-pvalue", "0.01"], "increase --n-permutations"),
        (["--min-pvalue", "0"], "must be above 0, got 0; no p-value is 0"),
        (
            ["--n-permutations", "19", "--min-pvalue", "0.01"],
            "error: --min-pvalue has no effect: 19 permutations cannot give a p-value of at most "
            "0.01, at least 99 are needed",
        ),
        (["--n-permutations", "18", "--max-changed", "5%"], "at least 19 are needed"),
        (
            ["--n-permutations", "98", "--alpha", "0.01", "--max-changed", "5%"],
            "error: --max-changed",
        ),
        (["--max-changed", "5"], "such as 5%"),
        (["--tolerance", "500%"], "--tolerance must lie in [0, 0.5), got 5.0; 5% is 0.05"),
    ],
)
def test_thresholds_that_no_table_can_exceed_are_refused(
    files: list[str], arguments: list[str], words: str
) -> None:
    assert words in refusal("test", *files[:2], *arguments)


def test_tables_without_a_complete_row_are_tested(tmp_path: Path) -> None:
    rows = sample(0, 80, 0.0)[:, :2]
    rows[::2, 0], rows[1::2, 1] = np.nan, np.nan
    x, y = tmp_path / "x.csv", tmp_path / "y.csv"
    pd.DataFrame(rows, columns=["a", "b"]).to_csv(x, index=False)
    pd.DataFrame(sample(1, 80, 0.0)[:, :2], columns=["a", "b"]).to_csv(y, index=False)
    found = run_json("test", x, y, "--n-permutations", "39")
    assert {change["columns"][0] for change in found["changes"]} == {"a", "b"}
    run("monitor", "fit", y, "-o", tmp_path / "m.npz")
    assert run_json("monitor", "check", tmp_path / "m.npz", x, code=1)["changes"]


def test_messages_of_a_test_advise_options_of_the_command(files: list[str]) -> None:
    Path("a.csv").write_text("u,v,w\n1,2,3\n4,5,7\n2,8,1\n")
    Path("b.csv").write_text("u,v,w\n1,2,5\n4,6,7\n3,8,2\n")
    assert run("test", "a.csv", "b.csv").stderr == ""  # no advice to use another depth
    Path("c.csv").write_text('u\n"1,5"\n' + "".join(f"{i}.5\n" for i in range(12)))
    said = refusal("test", "c.csv", "c.csv")
    assert "compare the column as a category (--category u), or leave it out (--drop u)" in said


def test_tables_without_complete_rows_are_tested_without_a_distance(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    folders = []
    for name, shift in (("june", 0.0), ("july", 1.5)):
        rows = rng.normal(size=(60, 3)) + shift
        rows[np.arange(60), np.arange(60) % 3] = np.nan
        (tmp_path / name).mkdir()
        folders.append(tmp_path / name)
        cells = [",".join("" if np.isnan(v) else f"{v:.6f}" for v in row) for row in rows]
        (tmp_path / name / "rows.csv").write_text("\n".join(["a,b,c", *cells]) + "\n")
    files = [folder / "rows.csv" for folder in folders]
    expected = run_json("test", *files, "--n-permutations", 19)
    page = tmp_path / "page.html"
    for inputs in (files, folders):
        said = run_json("compare", *inputs, "--n-permutations", 19)
        assert (said["pvalue"], said["changes"]) == (expected["pvalue"], expected["changes"])
        assert "the distance is left out" in said["warnings"][-1]
        run("report", *inputs, "--n-permutations", 19, "-o", page)
        assert page.exists()
        page.unlink()
        assert "; or use isodepth test, which does not need" in refusal("compare", *inputs)


@pytest.mark.parametrize("command", ["compare", "test"])
def test_a_column_has_one_kind(files: list[str], command: str) -> None:
    said = refusal(command, *files[:2], "--numeric", "dewp,temp", "--category", "wind,temp")
    assert "column 'temp' has two kinds: it is in --category and in --numeric; remove it" in said


@pytest.mark.parametrize("command", ["report", "compare"])
def test_a_constant_column_is_no_obstacle_to_a_report(tmp_path: Path, command: str) -> None:
    files = [save(tmp_path / f"{i}.csv", sample(i) * [1, 1, 0] + 7) for i in range(2)]
    page = tmp_path / "page.html"
    run(command, *files, "-o", page, "--n-permutations", 19, *QUICK)
    assert "wind is constant (7)" in page.read_text("utf-8")


def test_labels_that_are_equal_as_numbers_are_refused(files: list[str]) -> None:
    lines = Path(files[0]).read_text().splitlines()
    at = lines[0].split(",").index("day")
    cells = [line.split(",") for line in lines]
    cells[1][at], cells[2][at] = "1", "01"
    Path(files[0]).write_text("\n".join(map(",".join, cells)))
    said = refusal("test", *files[:2], "--n-permutations", 19, "--blocks", "day")
    assert "labels '1' and '01', which are equal as numbers" in said
