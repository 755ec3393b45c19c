"""`isodepth score`: files in, scores out, and one clear line on bad input."""

from __future__ import annotations

import json

import pytest
from text_extra import needs_encoder

from isodepth.cli.main import main
from isodepth.text import DepthScore

CANDIDATES = ["The cat sat on the mat.", "Markets fell on Monday.", ""]
FIRST = ["A cat was sitting on the mat.", "The cake needs an hour.", "Something."]
SECOND = ["There is a cat.", "", ""]


def run(capsys, *arguments):
    """Exit code, stdout and stderr of the command."""
    try:
        code = main(["score", *(str(argument) for argument in arguments)])
    except SystemExit as stop:  # argparse leaves this way
        code = stop.code
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.fixture
def files(tmp_path):
    paths = {}
    for name, lines in (("c", CANDIDATES), ("r1", FIRST), ("r2", SECOND)):
        paths[name] = tmp_path / f"{name}.txt"
        paths[name].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


@needs_encoder
def test_json_holds_what_the_library_finds(capsys, files):
    code, out, err = run(
        capsys, "-c", files["c"], "-r", files["r1"], "-r", files["r2"], "--json", "--seed", 3,
        "--eps", 0.1, "--batch-size", 2, "--multi-ref", "min",
    )  # fmt: skip
    assert (code, err) == (0, "")
    report = json.loads(out)
    metric = DepthScore(random_state=3, eps=0.1, multi_ref="min", progress=False)
    # Empty lines of the second file are no references.
    references = [[FIRST[0], SECOND[0]], FIRST[1], FIRST[2]]
    assert report["scores"] == pytest.approx(metric.score(CANDIDATES, references), rel=1e-4)
    assert report["mean"] == pytest.approx(sum(report["scores"]) / 3)
    assert report["signature"] == metric.signature
    assert report["higher_is_better"] is False
    assert report["warnings"] == []


@needs_encoder
def test_text_has_a_score_a_line(capsys, files):
    code, out, err = run(capsys, "-c", files["c"], "-r", files["r1"], "--layer", 2)
    assert (code, err) == (0, "")
    *scores, mean, signature = out.splitlines()
    assert len(scores) == 3
    assert all(float(score) > 0 for score in scores)
    assert mean.startswith("mean ")
    assert "|layer=2|" in signature
    _, out, _ = run(capsys, "-c", files["c"], "-r", files["c"], "--similarity")
    assert out.splitlines()[:3] == ["1.000000"] * 3


@needs_encoder
def test_warnings_go_to_stderr_once(capsys, tmp_path):
    for name in ("long", "short"):
        text = "word " * (600 if name == "long" else 1)
        (tmp_path / name).write_text(f"{text}\n{text}x\n", encoding="utf-8")
    code, _, err = run(capsys, "-c", tmp_path / "long", "-r", tmp_path / "short")
    assert code == 0
    assert err == (
        "isodepth: warning: 2 of 4 text(s) have more than 512 tokens and were cut there\n"
    )


@needs_encoder
def test_depths_by_name(capsys, files):
    given = ("-c", files["r1"], "-r", files["c"])
    code, _, err = run(capsys, *given, "--depth", "dual", "--json")
    assert (code, err) == (0, "")
    code, _, err = run(capsys, *given, "--depth", "ai_irw", "--covariance", "ledoit-wolf")
    assert code == 0
    assert "cannot order" not in err
    code, _, err = run(capsys, *given, "--depth", "ai_irw")
    assert code == 0
    assert "isodepth: warning: the ai_irw depth cannot order" in err


def test_missing_files_are_errors_never_texts(capsys, files):
    code, out, err = run(capsys, "-c", files["c"], "-r", "no such file.txt")
    assert (code, out) == (2, "")
    assert err == "isodepth: error: there is no file no such file.txt\n"
    code, _, err = run(capsys, "-c", "The cat sat.", "-r", files["r1"])
    assert code == 2
    assert "there is no file The cat sat." in err


def test_lines_must_match_in_number(capsys, files, tmp_path):
    short = tmp_path / "short.txt"
    short.write_text("one line\n", encoding="utf-8")
    code, out, err = run(capsys, "-c", files["c"], "-r", files["r1"], "-r", short)
    assert (code, out) == (2, "")
    assert "has 3 line(s) and" in err
    assert "short.txt has 1" in err


def test_odd_files_are_errors(capsys, files, tmp_path):
    code, _, err = run(capsys, "-c", tmp_path, "-r", files["r1"])
    assert code == 2
    assert "is a folder" in err
    (tmp_path / "empty").write_text("")
    code, _, err = run(capsys, "-c", tmp_path / "empty", "-r", files["r1"])
    assert code == 2
    assert "one text a line" in err
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    code, _, err = run(capsys, "-c", tmp_path / "latin", "-r", files["r1"])
    assert code == 2
    assert "UTF-8" in err


def test_bad_settings_are_one_line(capsys, files):
    code, out, err = run(capsys, "-c", files["c"], "-r", files["r1"], "--eps", 2)
    assert (code, out) == (2, "")
    assert err.startswith("isodepth: error: eps must lie in (0, 1]")
    assert run(capsys, "-c", files["c"])[0] == 2


def test_a_device_that_is_not_there_is_one_line(capsys, files):
    pytest.importorskip("torch")
    code, out, err = run(capsys, "-c", files["c"], "-r", files["r1"], "--device", "cuda:77")
    assert (code, out) == (2, "")
    assert err.startswith("isodepth: error: cannot run on device 'cuda:77'")
    assert err.count("\n") == 1


def test_files_with_half_of_a_surrogate_pair_are_refused(capsys, files, tmp_path):
    (tmp_path / "half").write_bytes(b"The cat\xed\xa0\x80\nb\nc\n")
    code, out, err = run(capsys, "-c", tmp_path / "half", "-r", files["r1"])
    assert (code, out) == (2, "")
    assert "is not a text file in UTF-8" in err
    assert err.count("\n") == 1


def test_paths_that_cannot_be_are_one_line(capsys, files, tmp_path):
    for path in ("a\0b", tmp_path / ("a" * 300), files["c"] / "below"):
        code, _, err = run(capsys, "-c", path, "-r", files["r1"])
        assert code == 2
        assert err.startswith("isodepth: error: ")
        assert err.count("\n") == 1
