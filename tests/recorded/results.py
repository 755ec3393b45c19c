"""Comparison of results with recorded ones: strings exactly, numbers up to rounding."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest


def near(value: Any, scale: float = 0.0) -> Any:
    """Return an object that equals `value`, a recorded result, up to rounding of its numbers.

    Processors round sums in single precision differently. The tolerance is 1e-5 times a number or,
    if this is larger, 1e-5 times its scale. The scale is the largest number of a list, such as a
    null distribution, the largest statistic of the components of a test, and 1 for shares of rows.
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
    """Check that `found` equals the JSON file at `path` up to rounding.

    With RECORD=1 in the environment, the file is first written.
    """
    if os.environ.get("RECORD") == "1":
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
        path.write_text("{\n" + lines + "\n}\n")
    assert json.loads(json.dumps(found)) == near(json.loads(path.read_text()))
