"""`isodepth test A B`, and `isodepth compare --test`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from isodepth import two_sample_test
from isodepth.cli.main import main


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rng = np.random.default_rng(0)
    paths = []
    for name, shift in (("a", 0.0), ("b", 0.7)):
        rows = np.column_stack([np.arange(80) // 4 + (0 if name == "a" else 100),
                                rng.normal(size=(80, 2)) + [shift, 0]])  # fmt: skip
        path = tmp_path / f"{name}.csv"
        np.savetxt(path, rows, delimiter=",", header="day,warm,wet", comments="", fmt="%.17g")
        paths.append(str(path))
    return paths[0], paths[1]


def both(files: tuple[str, str]) -> list[np.ndarray]:
    return [np.loadtxt(path, delimiter=",", skiprows=1) for path in files]


def test_a_few_lines_for_people(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", *files, "--blocks", "day", "--resamples", "99"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "p-value      0.01"
    assert lines[3].startswith("columns      warm")
    assert "blocks=40" in lines[-1]


def test_json_holds_the_result(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--resamples", "49", "--tolerance", "0.05", "--seed", "3", "--json"]
    assert main(["test", *files, *arguments]) == 0
    read = json.loads(capsys.readouterr().out)
    wanted = two_sample_test(*both(files), n_resamples=49, tolerance=0.05, random_state=3)
    assert read["statistic"] == wanted.statistic
    assert read["pvalue"] == wanted.pvalue
    assert read["files"] == list(files)


def test_compare_tests_when_asked(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *files, "--test", "49", "--scale", "pooled", "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    wanted = two_sample_test(*both(files), n_resamples=49, random_state=0)
    assert read["test"]["pvalue"] == wanted.pvalue
    assert main(["compare", *files, "--test", "49", "--scale", "pooled"]) == 0
    assert "test         p = " in capsys.readouterr().out
    assert main(["compare", *files, "--scale", "pooled", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["test"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--blocks", "night"], "--blocks must name one of several columns, got 'night'"),
        (["--resamples", "0"], "n_resamples must be an integer >= 1"),
        (["--tolerance", "0.7"], "tolerance must lie in"),
        (["--scale", "reference"], "depends on which rows are X"),
        (["--missing", "drop"], "--missing must be one of raise, omit"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    files: tuple[str, str], arguments: list[str], message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert main(["test", *files, *arguments]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_columns_as_they_are(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", *files, "--scale", "none", "--resamples", "9", "--json"]) == 0
    assert "scale=none" in json.loads(capsys.readouterr().out)["signature"]
