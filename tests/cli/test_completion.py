"""Shells that complete: argcomplete is asked where a shell asks, and is not imported otherwise."""

from __future__ import annotations

import argparse
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from cli.helpers import run


class Asked(Exception):
    pass


def test_a_shell_that_asks_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[argparse.ArgumentParser] = []

    def autocomplete(parser: argparse.ArgumentParser) -> None:
        asked.append(parser)
        raise Asked  # the real one ends the process

    monkeypatch.setitem(sys.modules, "argcomplete", SimpleNamespace(autocomplete=autocomplete))
    from isodepth.cli.main import main

    assert main(["cite"]) == 0
    assert not asked
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    with pytest.raises(Asked):
        main(["cite"])
    (parser,) = asked
    (commands,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    assert {"compare", "pairwise", "depth"} <= set(commands.choices)


def test_without_argcomplete_nothing_happens(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    assert run(capsys, "cite")[0] == 0


def test_a_start_is_light() -> None:
    """Help needs neither the packages of the work nor those of pictures."""
    code = (
        "import sys\n"
        "from isodepth.cli.main import main\n"
        "main(['compare', '--help'])\n"
        "heavy = {'argcomplete', 'matplotlib', 'pandas', 'polars', 'pyarrow', 'sklearn', 'numba',\n"
        "         'tqdm', 'torch', 'scipy.stats'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert done.stdout.startswith("usage: isodepth compare")
