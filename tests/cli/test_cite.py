"""`isodepth cite` says what CITATION.cff says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from cli.helpers import refusal, run

from isodepth import __version__
from isodepth.cli.cite import PAPER, SOFTWARE

CITATION = Path(__file__).resolve().parents[2] / "CITATION.cff"


def entries(text: str) -> dict[str, list[str]]:
    """The values of every key, wherever it stands: enough of YAML for this file."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, colon, value = line.strip().removeprefix("- ").partition(": ")
        if colon:
            found.setdefault(key, []).append(value)
    return found


def test_the_citation_file_says_the_same() -> None:
    said = entries(CITATION.read_text(encoding="utf-8"))
    names = list(zip(said["given-names"], said["family-names"], strict=True))
    assert names == PAPER["authors"]
    assert PAPER["title"] in said["title"]
    assert SOFTWARE["title"] in said["title"]
    assert said["name"] == [SOFTWARE["author"]]
    assert said["journal"] == [PAPER["journal"]]
    assert said["year"] == [str(PAPER["year"])]
    assert said["url"] == [PAPER["url"]]
    assert PAPER["note"] in said["value"]


def test_three_forms(capsys: Any) -> None:
    code, text, err = run(capsys, "cite")
    assert (code, err) == (0, "")
    assert text.startswith("Guillaume Staerman, Pavlo Mozharovskyi, ")
    assert f"isodepth, version {__version__}." in text
    entry = run(capsys, "cite", "--bibtex")[1]
    assert entry.count("@") == 2
    assert entry.count("{") == entry.count("}")
    assert PAPER["title"] in entry
    found = json.loads(run(capsys, "cite", "--json")[1])
    assert found["bibtex"] + "\n" == entry
    assert found["software"]["version"] == __version__
    assert found["paper"]["authors"][0] == "Guillaume Staerman"


def test_bad_input(capsys: Any) -> None:
    assert "--apa" in refusal(capsys, "cite", "--apa")
    assert "paper.bib" in refusal(capsys, "cite", "paper.bib")


def test_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "isodepth.cli", "cite"],
        capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 0
    assert b"isodepth, version" in done.stdout
