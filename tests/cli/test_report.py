"""`isodepth report`: two tables, many, a monitor; good and bad input."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

import isodepth
from isodepth.cli import main

pytest.importorskip("matplotlib")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for place, name in enumerate(("june", "july", "may")):
        rows = np.column_stack([np.arange(40) // 4 + 100 * place, rng.normal(size=(40, 2)) + place])
        np.savetxt(f"{name}.csv", rows, delimiter=",", header="day,temp,wind", comments="")
    return tmp_path


def command_of(page: str) -> list[str]:
    import html
    import re

    (command,) = re.findall(r"(isodepth report .*?)</code>", page)
    return shlex.split(html.unescape(command))


def test_two_tables(folder, capsys) -> None:
    arguments = [
        "report",
        "june.csv",
        "july.csv",
        "-o",
        "r.html",
        "--blocks",
        "day",
        "--test",
        "19",
    ]
    assert main([*arguments, "--directions", "20"]) == 0
    assert capsys.readouterr().out == "report of comparison in r.html\n"
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "july differs from june" in page
    assert "day" not in page.split("Rows that lie outside")[0].split("<h2>Columns")[1]
    # The command in the page makes the same page.
    first = page
    assert main(command_of(page)[1:]) == 0
    assert (folder / "r.html").read_text(encoding="utf-8") == first


def test_names_title_and_json(folder, capsys) -> None:
    code = main(
        ["report", "june.csv", "july.csv", "-o", "r.html", "--test", "0", "--directions", "20",
         "--names", "June", "<i>July", "--title", "A & B", "--json"]
    )  # fmt: skip
    assert code == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "comparison"
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<h1>A &amp; B</h1>" in page
    assert "&lt;i&gt;July is at distance" in page


def test_many_tables_and_a_monitor(folder, capsys) -> None:
    files = ["june.csv", "july.csv", "may.csv"]
    assert main(["report", *files, "-o", "many.html", "--directions", "20"]) == 0
    assert "are closest to each other" in (folder / "many.html").read_text(encoding="utf-8")
    rng = np.random.default_rng(0)
    isodepth.DepthMonitor(
        rng.normal(size=(2000, 2)), batch_size=30, n_directions=20, random_state=0, path="m.npz"
    ).check(rng.normal(size=(30, 2)))
    assert main(["report", "m.npz", "-o", "m.html"]) == 0
    assert "No alarm in 1 batch(es)" in (folder / "m.html").read_text(encoding="utf-8")


def test_warnings_are_in_the_page_and_on_stderr(folder, capsys) -> None:
    rows = np.random.default_rng(0).normal(size=(30, 2)) * [1, 1e6]
    for name in ("a.csv", "b.csv"):
        np.savetxt(name, rows, delimiter=",", header="x,y", comments="")
    code = main(
        ["report", "a.csv", "b.csv", "-o", "r.html", "--scale", "none", "--test", "0",
         "--directions", "20"]
    )  # fmt: skip
    assert code == 0
    assert "warning" in capsys.readouterr().err
    assert "Please note" in (folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["june.csv", "-o", "r.html"], "got june.csv alone"),
        (["june.csv", "absent.csv", "-o", "r.html"], "absent.csv"),
        (["june.csv", "july.csv", "-o", "no/r.html"], "there is no folder"),
        (["june.csv", "july.csv", "-o", "r.html", "--names", "a"], "--names must name each"),
        (["june.csv", "july.csv", "-o", "r.html", "--test", "0", "--blocks", "day"], "--blocks"),
        (["june.csv", "july.csv", "may.csv", "-o", "r.html", "--test", "9"], "--test belongs"),
        (["june.csv", "july.csv"], "-o"),
    ],
)
def test_bad_input_is_one_line_and_no_file(folder, capsys, arguments, message) -> None:
    assert main(["report", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (folder / "r.html").exists()
