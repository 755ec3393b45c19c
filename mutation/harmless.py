"""Survivors that are known to be harmless, each with its reason, in `harmless.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("harmless.toml")


@cache
def read_list(path: Path = LIST) -> tuple[dict[str, str], ...]:
    """Entries with `file`, `before`, `why`, and `after` unless any change of the line is meant."""
    return tuple(tomllib.loads(path.read_text(encoding="utf-8"))["survivor"])


def why_harmless(file: str, diff: str, path: Path = LIST) -> str:
    """Why a change cannot matter, or nothing where that is not known.

    Lines are compared without regard to spaces, so that entries outlast a change of indentation.
    """
    sides = {
        mark: ["".join(line[1:].split()) for line in diff.splitlines() if line.startswith(mark)]
        for mark in "-+"
    }
    for entry in read_list(path):
        before, after = ("".join(entry.get(key, "").split()) for key in ("before", "after"))
        if entry["file"] == file and sides["-"] == [before] and after in ("", *sides["+"]):
            return entry["why"]
    return ""


def outdated(root: Path, path: Path = LIST) -> list[str]:
    """Entries about lines that are no longer there."""
    gone = []
    for entry in read_list(path):
        file = root / entry["file"]
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        if "".join(entry["before"].split()) not in {"".join(line.split()) for line in lines}:
            gone.append(f"{entry['file']}: {entry['before']}")
    return gone
