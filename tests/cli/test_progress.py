"""Progress on a terminal, none in a pipe."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from cli.helpers import sample, save

from isodepth.cli.main import main
from isodepth.cli.outputs import progress_wanted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [str(save(tmp_path / f"{i}.csv", sample(i))) for i in range(3)]


@pytest.mark.parametrize("command", ["test", "pairwise", "nearest", "compare"])
def test_a_bar_on_a_terminal_only(
    files: list[str], command: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    arguments = {
        "test": [*files[:2], "--resamples", "49"],
        "compare": [*files[:2], "--test", "49", "--directions", "20"],
    }.get(command, [*files, "--directions", "20"])
    assert main([command, *arguments]) == 0
    piped = capsys.readouterr()
    assert "%|" not in piped.err
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert main([command, *arguments]) == 0
    assert "%|" in terminal.getvalue()
    # The answer is the same.
    assert capsys.readouterr().out == piped.out


def test_without_tqdm_or_stderr_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    assert progress_wanted()
    monkeypatch.setattr("isodepth.cli.outputs.find_spec", lambda name: None)
    assert not progress_wanted()
    monkeypatch.setattr("sys.stderr", None)
    assert not progress_wanted()
