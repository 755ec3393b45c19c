"""Results of the recorded calls have not changed."""

from __future__ import annotations

import json

import numpy as np
from recorded.cases import VALUES, cases, kept, numbers

RECORDED = json.loads(VALUES.read_text())
CASES = dict(cases())

# Products of another processor round differently. What that does to a value is far below this;
# a level entered by another point, or a direction too few, is far above.
ROUNDING = {"float64": 1e-9, "float32": 1e-4}


def test_every_setting_is_recorded() -> None:
    assert list(CASES) == list(RECORDED)
    assert len(CASES) >= 300


def test_the_numbers_are_the_recorded_ones() -> None:
    others = {}
    for name, case in CASES.items():
        found = [float.fromhex(value) for value in kept(numbers(case))]
        expected = [float.fromhex(value) for value in RECORDED[name]]
        near = ROUNDING["float32" if "float32" in name else "float64"]
        atol = near * np.abs(expected).max()
        same_size = len(found) == len(expected)
        if not (same_size and np.allclose(found, expected, rtol=near, atol=atol)):
            others[name] = found, expected
    assert not others
