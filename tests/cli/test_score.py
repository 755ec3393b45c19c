"""The command `score`: scores of files, and messages about wrong input."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.helpers import refusal, run, run_json
from text_extra import needs_encoder

from isodepth.text import DepthScore

CANDIDATES = ["The cat sat on the mat.", "Markets fell on Monday.", "Nothing else."]
FIRST = ["A cat was sitting on the mat.", "The cake needs an hour.", "Something."]
SECOND = ["There is a cat.", "", ""]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("c", CANDIDATES), ("r1", FIRST), ("r2", SECOND)):
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


@needs_encoder
def test_scores_of_the_library(folder: Path) -> None:
    given = ("score", "-c", "c", "-r", "r1", "-r", "r2", "--random-state", 3, "--eps", 0.1)
    found = run_json(*given, "--batch-size", 2, "--multi-ref", "min")
    metric = DepthScore(random_state=3, eps=0.1, multi_ref="min", progress=False)
    # An empty line of the second file is not a reference.
    references = [[FIRST[0], SECOND[0]], FIRST[1], FIRST[2]]
    assert found["scores"] == pytest.approx(metric.score(CANDIDATES, references), rel=1e-4)
    assert found["signature"] == metric.signature
    assert (found["higher_is_better"], found["warnings"]) == (False, [])
    lines = run("score", "-c", "c", "-r", "c").stdout.splitlines()
    assert lines[:4] == ["0.000000"] * 3 + ["mean 0.000000"]


@needs_encoder
def test_warnings_go_to_stderr_once(folder: Path) -> None:
    Path("long").write_text(("word " * 600 + "\n") * 2)
    Path("short").write_text("word\nword\n")
    said = run("score", "-c", "long", "-r", "short").stderr
    assert said.startswith("isodepth: warning: 1 of 2 texts have more than 512 tokens")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("candidates", "options", "said"),
    [
        ("The cat sat.", (), "there is no such file"),
        ("folder", (), "it is a folder, not a file"),
        ("empty", (), "one text per line"),
        ("latin", (), "UTF-8"),
        ("half", (), "UTF-8"),
        ("short", (), "the same number of lines, got 1 and 3"),
        ("c", ("--eps", 2), "--eps must lie in (0, 1]"),
    ],
)
def test_bad_input(folder: Path, candidates: str, options: tuple, said: str) -> None:
    Path("folder").mkdir()
    Path("empty").write_text("")
    Path("short").write_text("one line\n")
    Path("latin").write_bytes(b"caf\xe9\n")
    Path("half").write_bytes(b"The cat\xed\xa0\x80\nb\nc\n")
    assert said in refusal("score", "-c", candidates, "-r", "r1", *options)
