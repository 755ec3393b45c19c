"""Settings of results: the options by name, with the values that were used."""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy as np

import isodepth


def samples() -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(0).normal(size=(2, 40, 2))
    return x, y + 1


def in_json(result: Any) -> dict[str, Any]:
    return json.loads(result.to_json())["settings"]


def test_settings_of_a_comparison_are_the_values_that_were_used() -> None:
    found = isodepth.compare(*samples(), random_state=0)
    assert found.settings["refine"] == 20
    assert isodepth.compare(*samples(), q=2, random_state=0).settings["refine"] == 0
    assert (found.settings["q"], found.settings["random_state"]) == (float("inf"), 0)
    assert in_json(found) == found.settings | {"q": "inf"}


def test_objects_in_settings_are_the_strings_of_the_signature() -> None:
    depth = isodepth.IRWDepth()
    directions, rng = np.eye(2), np.random.default_rng(0)
    found = isodepth.compare(
        *samples(), depth=depth, directions=directions, scale=[1.0, 2.0], random_state=rng
    )
    assert found.settings["depth"] == "irw"
    assert found.settings["random_state"] == "generator"
    for name in ("depth", "directions", "scale"):
        assert found.settings[name] in found.signature
    assert in_json(found) == found.settings | {"q": "inf"}


def test_settings_of_a_test_are_all_options_that_affect_it() -> None:
    options: dict[str, Any] = {"n_permutations": 19, "random_state": 0}
    found = isodepth.two_sample_test(*samples(), confidence=0.9, nan_policy="raise", **options)
    assert found.settings["confidence"] == 0.9
    assert found.settings["nan_policy"] == "raise"
    names = set(inspect.signature(isodepth.two_sample_test).parameters)
    assert names - set(found.settings) == {"X", "Y", "kinds", "max_rows", "n_jobs", "progress"}
    scaled = isodepth.two_sample_test(*samples(), scale=[1.0, 2.0], **options)
    assert scaled.settings["scale"].startswith("given:2:")
    metric = isodepth.Metric(depth=isodepth.IRWDepth(), q=float("inf"), levels=20)
    regions = isodepth.two_sample_test(*samples(), method=metric, **options)
    assert (regions.settings["depth"], regions.settings["q"]) == ("irw", float("inf"))
    assert in_json(regions) == regions.settings | {"q": "inf"}
