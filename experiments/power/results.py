"""What the study has found so far, as it lies on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class Rate(NamedTuple):
    """How often a method rejected in a cell."""

    rejected: int
    tests: int

    @property
    def share(self) -> float:
        """Rejections over tests."""
        return self.rejected / self.tests


def finished(folder: Path) -> list[dict]:
    """The batches on disk; a line that was cut off does not count."""
    lines = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue
    return lines
