"""Comparison of results with recorded ones: strings exactly, numbers up to rounding."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest


def near(value: Any, scale: float = 0.0) -> Any:
    """Return a recorded value that equals values with the same numbers, up to rounding.

    Processors round sums in single precision differently. The rounding error of a number is
    relative to its scale if the number is smaller: the largest number of a list, such as a null
    distribution, the largest statistic of the components of a test, and 1 for shares of rows.
    """
    if isinstance(value, dict):
        scales = {"statistic": scale, "changed_share": 1.0}
        return {key: near(each, scales.get(key, 0.0)) for key, each in value.items()}
    if isinstance(value, list) and value and all(isinstance(each, float) for each in value):
        return pytest.approx(value, rel=1e-5, abs=1e-5 * max(map(abs, value)))
    if isinstance(value, list):
        records = [each for each in value if isinstance(each, dict)]
        largest = max((abs(each.get("statistic") or 0.0) for each in records), default=0.0)
        return [near(each, largest) for each in value]
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-5, abs=max(1e-300, 1e-5 * scale))
    return value


def assert_recorded(found: dict[str, Any], path: Path) -> None:
    """Compare with the JSON file at `path`, which RECORD=1 in the environment writes first."""
    if os.environ.get("RECORD") == "1":
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
        path.write_text("{\n" + lines + "\n}\n")
    assert json.loads(json.dumps(found)) == near(json.loads(path.read_text()))
