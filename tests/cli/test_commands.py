"""Exit codes, error messages, flags, help and completion of commands."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli.helpers import QUICK, refusal, run, run_json, sample, save

import isodepth
from isodepth.cli import main
from isodepth.cli.commands import progress_wanted

COMMAND = [sys.executable, "-m", "isodepth"]
posix = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX systems")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [str(save(tmp_path / f"{i}.csv", sample(i, shift=i))) for i in range(2)]


def test_version_and_missing_commands() -> None:
    assert run("--version").stdout == f"isodepth {isodepth.__version__}\n"
    assert "Missing command. (see isodepth --help)" in refusal()
    assert "No such command 'nearest'" in refusal("nearest")
    assert "Missing argument 'Y'. (see isodepth compare --help)" in refusal("compare", "a.csv")
    assert "No such option" in refusal("compare", "a", "b", "--nonsense")
    assert "did you mean '--random-state'?" in refusal("test", "a", "b", "--seed", "1")
    assert "did you mean '--n-permutations'?" in refusal("test", "a", "b", "--n-resamples", "1")
    hint = "No such option '--confidence'; did you mean '--alpha' (1 - confidence)?"
    assert hint in refusal("test", "a", "b", "--confidence", "0.95")
    assert "standard input can be read only once" in refusal("compare", "-", "-")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--eps", "2"], "--eps must lie in (0, 1], got 2.0"),
        (["--eps", "x"], "Invalid value for '--eps': must be a share such as 5% or 0.05, got x"),
        (["--eps", "200%"], "--eps must lie in (0, 1], got 2.0"),
        (["--n-permutations", "99", "--alpha", "200%"], "--alpha must lie in (0, 1), got 2.0"),
        (["--p", "nan"], "--p must"),
        (["--n-directions", "0"], "--n-directions must be an integer >= 1"),
        (["--levels", "few"], "must be exact or a number of levels, got few"),
        (["--refine", "-1"], "--refine must"),
        (["--random-state", "-1"], "--random-state must be an integer >= 0, got -1\n"),
        (
            ["--refine", "3", "--q", "2"],
            "--refine needs --q inf, the supremum over directions; got "
            "--refine 3 with --q 2, a mean over directions; remove --refine\n",
        ),
        (
            ["--n-permutations", "9", "--tolerance", "5%", "--blocks", "temp"],
            "remove --tolerance or --blocks\n",
        ),
        (["--depth", "tukey"], "'--depth': 'tukey' is not one of 'projection', 'halfspace'"),
        (["--nan-policy", "drop"], "'--nan-policy'"),
        (["--n-permutations", "-1"], "--n-permutations must be an integer >= 0, got -1"),
        (["--tolerance", "0.1"], "--tolerance has no effect without a test"),
    ],
)
def test_messages_name_the_options_of_the_command_line(
    files: list[str], arguments: list[str], said: str
) -> None:
    assert said in refusal("compare", *files, *arguments)


def test_messages_about_kinds_name_the_options(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"v": rng.normal(size=40), "k": ["a", "b"] * 20, "n": ["1", "x"] * 20})
    paths = [tmp_path / "x.csv", tmp_path / "y.csv"]
    for path in paths:
        frame.to_csv(path, index=False)
    for arguments, flag in (
        (["--category", "k", "--drop", "k"], "--drop"),
        (["--category", "k", "--columns", "v"], "--columns"),
        (["--category", "k", "--numeric-only"], "--numeric-only"),
        (["--category", "k", "--blocks", "k"], "the option for labels"),
    ):
        said = refusal("test", *paths, *arguments)
        assert f"--category k has no effect, because {flag} leaves out this column" in said
    said = refusal("compare", *paths, "--columns", "k")
    assert "compares categories (isodepth test) (X is" in said
    frame["n"] = [*map(str, range(39)), "x"]
    frame.to_csv(paths[0], index=False)
    result = run("compare", *paths, "--n-permutations", 9, *QUICK)
    for text in (result.stdout, result.stderr):
        assert "choose --category if they are" in text
    array = tmp_path / "x.npy"
    np.save(array, rng.normal(size=(20, 2)))
    for arguments in (["test", array, array], ["monitor", "fit", array, "-o", tmp_path / "m.npz"]):
        said = refusal(*arguments, "--category", "0")
        assert "--category and --numeric have no effect on" in said
        assert "x.npy, because its columns are numbers" in said
    folder = tmp_path / "folder"
    folder.mkdir()
    frame.to_csv(folder / "a.csv", index=False)
    said = refusal("test", folder, folder, "--category", "z")
    assert f"{folder} has no column 'z' (it has v, k, n)" in said


@posix
def test_outputs_that_are_inputs_are_refused(tmp_path: Path, files: list[str]) -> None:
    x, y = files
    before = Path(x).read_bytes()
    link, hard, folder = tmp_path / "link.csv", tmp_path / "hard.csv", tmp_path / "all"
    link.symlink_to(x)
    os.link(x, hard)
    folder.mkdir()
    os.link(x, folder / "x.csv")
    page = tmp_path / "page.html"
    os.link(x, page)
    for command in (
        ("pairwise", x, y, "-o", x),
        ("pairwise", x, y, "-o", link),
        ("pairwise", link, y, "-o", hard),
        ("pairwise", folder, "-o", x),
        ("depth", x, "-o", x),
        ("depth", x, "--reference", y, "-o", y),
        ("compare", x, y, "-o", page),
        ("report", x, y, "-o", page),
        ("monitor", "fit", x, "-o", link),
    ):
        assert "is one of the input files" in refusal(*command)
    assert Path(x).read_bytes() == before


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    names = ["\x1b[31mred", "b\u202eb", "c"]
    path = save(tmp_path / "a.csv", sample(0), names)
    result = run("compare", path, save(tmp_path / "b.csv", sample(1), names), *QUICK)
    assert "\\x1b[31mred" in result.stdout
    assert not set(result.output) & {"\x1b", "\u202e"}


def test_unexpected_errors_are_one_line(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for error, code, said in (
        (ZeroDivisionError("by 0"), 2, "unexpected ZeroDivisionError: by 0; please report this\n"),
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 2, "there is not enough memory"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
    ):
        monkeypatch.setattr("isodepth.cli.compare.compare_tables", _raise(error))
        result = run("compare", *files, code=code)
        assert result.stderr.count("\n") == 1
        assert said in result.stderr


def _raise(error: BaseException) -> Any:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    return fail


def test_an_exponent_beyond_any_power(files: list[str]) -> None:
    found = run_json("compare", *files, "--q", "1e308", "--refine", 0, *QUICK)
    assert "|q=1e+308|" in found["signature"]
    assert 0 < found["distance"] < np.inf


@posix
@pytest.mark.usefixtures("without_pictures")
def test_names_of_files_that_are_not_utf_8(tmp_path: Path) -> None:
    names = [os.fsdecode(os.fsencode(tmp_path / "t") + end) for end in (b"\xff.csv", b"\xfe.csv")]
    for i, name in enumerate(names):
        save(Path(name), sample(i))
    page, matrix = tmp_path / "r.html", tmp_path / "d.csv"
    run("compare", *names, "-o", page, *QUICK)
    run("pairwise", *names, "-o", matrix, *QUICK)
    assert "t\\udcff" in page.read_text("utf-8")
    assert "t\\udcff" in matrix.read_text("utf-8")


@posix
def test_a_closed_pipe_and_a_full_disk_have_the_code_of_errors(files: list[str]) -> None:
    arguments = [*COMMAND, "compare", *files, "--n-directions", "20"]
    read, write = os.pipe()
    os.close(read)
    for command in (arguments, [*COMMAND, "--help"]):
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=300)
        assert done.returncode == 2
        assert b"Traceback" not in done.stderr
    os.close(write)
    if Path("/dev/full").exists():
        with open("/dev/full", "wb") as full:
            done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, timeout=300)
        assert done.returncode == 2
        assert b"No space left on device" in done.stderr


@posix
def test_interrupted_while_it_reads(tmp_path: Path, files: list[str]) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    # A shell without job control lets its background processes ignore the signal.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    command = [*COMMAND, "compare", files[0], str(pipe)]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=heed)
    with open(pipe, "wb", buffering=0) as end:  # opens once the command waits for it
        end.write(b"1,2\n")
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=120)
    assert (child.returncode, b"Traceback" in said) == (130, False)


def test_interrupted_while_modules_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "isodepth.cli.program")
    monkeypatch.setattr("isodepth.cli.compare.compare", None)
    monkeypatch.setattr("click.Group.add_command", _raise(KeyboardInterrupt()))
    assert main(["--version"]) == 130


def test_completion() -> None:
    environment = {
        **os.environ, "_ISODEPTH_COMPLETE": "bash_complete", "COMP_WORDS": "isodepth compare --sc",
        "COMP_CWORD": "2",
    }  # fmt: skip
    code = "from isodepth.cli import main; raise SystemExit(main())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.stdout.split() == [b"plain,--scale"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_only(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["test", *files, "--n-permutations", "19", "--n-directions", "20"]
    assert "%|" not in run(*arguments).stderr
    monkeypatch.setattr("sys.stderr", Terminal())
    assert main(arguments) == 0
    assert "%|" in sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert progress_wanted()
    monkeypatch.setattr("isodepth.cli.commands.find_spec", lambda name: None)
    assert not progress_wanted()
