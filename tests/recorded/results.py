"""Comparison of results with recorded ones: strings exactly, numbers up to rounding."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest


def near(value: Any) -> Any:
    """Return a recorded value that equals values with the same numbers, up to rounding.

    Processors round sums in single precision differently. The rounding error of a number in a list,
    such as a null distribution, is relative to the largest number of the list.
    """
    if isinstance(value, dict):
        return {key: near(each) for key, each in value.items()}
    if isinstance(value, list) and value and all(isinstance(each, float) for each in value):
        return pytest.approx(value, rel=1e-5, abs=1e-5 * max(map(abs, value)))
    if isinstance(value, list):
        return [near(each) for each in value]
    return pytest.approx(value, rel=1e-5, abs=1e-300) if isinstance(value, float) else value


def assert_recorded(found: dict[str, Any], path: Path) -> None:
    """Compare with the JSON file at `path`, which RECORD=1 in the environment writes first."""
    if os.environ.get("RECORD") == "1":
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
        path.write_text("{\n" + lines + "\n}\n")
    assert json.loads(json.dumps(found)) == near(json.loads(path.read_text()))
