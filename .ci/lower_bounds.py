"""Print the lower bounds that pyproject.toml states as exact versions, one requirement a line.

`python .ci/lower_bounds.py plot frames` covers the dependencies and the named extras, so that what
`make lowest` installs is what the project says it works with, and nothing is written down twice.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
_BOUND = re.compile(r"(?P<name>[\w.-]+)\s*>=\s*(?P<version>[\w.]+)")


def pinned(requirement: str) -> str:
    """`name==1.2` for `name>=1.2`, whatever else is said; a requirement without a bound fails."""
    match = _BOUND.match(requirement)
    if match is None:
        raise SystemExit(f"{PROJECT.name}: {requirement!r} has no lower bound (name>=version)")
    return f"{match['name']}=={match['version']}"


def lower_bounds(project: dict, extras: Iterable[str]) -> list[str]:
    """The pins of the dependencies and of these extras."""
    stated = list(project["dependencies"])
    for extra in extras:
        stated += project["optional-dependencies"][extra]
    return [pinned(requirement) for requirement in stated]


def main(extras: list[str]) -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(lower_bounds(project, extras)))


if __name__ == "__main__":
    main(sys.argv[1:])
