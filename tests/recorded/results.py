"""Comparison of results with recorded ones: strings exactly, numbers up to rounding."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any


def differences(found: Any, expected: Any, place: str = "") -> list[str]:
    """Return the places at which two results differ."""
    if isinstance(expected, dict | list) and isinstance(found, type(expected)):
        keys, others = (
            [*each] if isinstance(each, dict) else [*range(len(each))] for each in (expected, found)
        )
        if keys == others:
            both = [(found[key], expected[key], f"{place}/{key}") for key in keys]
            return [each for one in both for each in differences(*one)]
    if isinstance(expected, float) and isinstance(found, float):
        # Other processors round sums in single precision differently.
        same = math.isclose(found, expected, rel_tol=1e-5, abs_tol=1e-9 * (expected > 1e-3))
    else:
        same = found == expected
    return [] if same else [f"{place}: {found} instead of {expected}"]


def assert_recorded(found: dict[str, Any], path: Path) -> None:
    """Compare with the JSON file at `path`; if RECORD=1 is set, write the file instead."""
    found = json.loads(json.dumps(found))
    if os.environ.get("RECORD") == "1":
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
        path.write_text("{\n" + lines + "\n}\n")
    assert not differences(found, json.loads(path.read_text()))
