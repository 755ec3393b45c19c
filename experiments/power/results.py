"""Reading of the result files (JSON lines) of the power study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class Rate(NamedTuple):
    """Number of rejections of a method in a cell, and number of tests."""

    rejected: int
    tests: int

    @property
    def share(self) -> float:
        """Fraction of tests that rejected."""
        return self.rejected / self.tests


def finished(folder: Path) -> list[dict]:
    """Return the finished batches of tests in a folder, without an incomplete last line."""
    lines = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue
    return lines
