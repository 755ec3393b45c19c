"""Settings of results have the names and the used values of the options, and repeat a result."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.errors import InvalidOptionError


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
    seed = found.settings["random_state"]
    assert isinstance(seed, int)
    assert f"|seed={seed}|" in found.signature
    for name in ("depth", "directions", "scale"):
        assert found.settings[name] in found.signature
    assert in_json(found) == found.settings | {"q": "inf"}


def test_settings_of_a_test_are_all_options_that_affect_it() -> None:
    options: dict[str, Any] = {"n_permutations": 19, "random_state": 0}
    found = isodepth.two_sample_test(*samples(), alpha=0.1, nan_policy="raise", **options)
    assert found.settings["alpha"] == 0.1
    assert found.settings["nan_policy"] == "raise"
    names = set(inspect.signature(isodepth.two_sample_test).parameters)
    assert names - set(found.settings) == {
        "X",
        "Y",
        "kinds",
        "max_rows",
        "n_jobs",
        "progress",
        "bounds",
    }
    scaled = isodepth.two_sample_test(*samples(), scale=[1.0, 2.0], **options)
    assert scaled.settings["scale"].startswith("given:2:")
    metric = isodepth.Metric(depth=isodepth.IRWDepth(), q=float("inf"), levels=20)
    regions = isodepth.two_sample_test(*samples(), method=metric, **options)
    used = regions.settings["metric"]
    assert (regions.settings["method"], used["depth"], used["q"]) == ("regions", "irw", np.inf)
    assert in_json(regions) == regions.settings | {"metric": used | {"q": "inf"}}


def test_descriptions_of_arrays_are_refused_as_options() -> None:
    options: dict[str, Any] = {"directions": np.eye(2), "scale": [1.0, 2.0]}
    table = isodepth.Metric(levels=5, **options).region_table(samples()[0])
    for name in options:
        rest = {other: options[other] for other in options if other != name}
        with pytest.raises(InvalidOptionError, match=f"{name}='given:2:.*pass the array itself"):
            isodepth.Metric(**table.settings | rest)
    again = isodepth.Metric(**table.settings | options).region_table(samples()[0])
    assert again == table


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return samples with missing values, for which a distance needs the option `nan_policy`."""
    x, y = (pd.DataFrame(values, columns=["a", "b"]) for values in samples())
    x.loc[3, "a"] = np.nan
    return x, y


METRIC: dict[str, Any] = {
    "depth": "halfspace", "p": 1, "q": np.inf, "eps": 0.2, "n_directions": 20,
    "directions": "sobol", "normalize": False, "scale": "pooled", "nan_policy": "omit",
    "dtype": "float32", "random_state": 3,
}  # fmt: skip
TEST: dict[str, Any] = {"n_permutations": 19, "n_directions": 10, "random_state": 3}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {**METRIC, "levels": 7, "refine": 3},
        {**METRIC, "gap": "exact"},
        {**METRIC, "q": 2},
    ],
)
def test_settings_repeat_a_comparison(options: dict[str, Any]) -> None:
    options = {"nan_policy": "omit", "random_state": 0} | options
    found = isodepth.compare(*tables(), **options)
    assert found.settings.items() >= options.items()
    assert isodepth.compare(*tables(), **found.settings) == found
    assert isodepth.distance(*tables(), **found.settings) == found.distance
    assert isodepth.Metric(**found.settings).compare(*tables()).settings == found.settings
    assert isodepth.distance(*tables(), **in_json(found)) == found.distance
    assert isodepth.Metric(p="inf", q="inf") == isodepth.Metric(p=np.inf)
    # The weights of the levels.
    metric, length = found._fitted.metric, 1 if found.settings["normalize"] else 0.8
    mean = length * (found.level_widths * found.gaps**metric.p).sum()
    assert mean ** (1 / metric.p) == pytest.approx(found.distance)


def test_settings_repeat_a_comparison_of_sources() -> None:
    x, y = (isodepth.scan(each) for each in tables())
    options = {**METRIC, "levels": 7, "refine": 0}
    found = isodepth.compare(x, y, **options)
    assert found.settings.items() >= options.items()
    assert found.units == "robust standard deviations of the columns"
    again = isodepth.compare(x, y, **found.settings)
    assert (again.settings, again.distance) == (found.settings, found.distance)


def test_settings_repeat_many_distances() -> None:
    options = {**METRIC, "levels": 7}
    found = isodepth.pairwise(tables(), **options)
    assert found.settings is not None
    assert found.settings.items() >= options.items()
    assert isodepth.pairwise(tables(), **found.settings) == found
    made = isodepth.region_tables(tables(), **options)
    with pytest.raises(InvalidOptionError, match=r"description of an array .*attribute `scale`"):
        isodepth.region_tables(tables(), **made.settings)
    # Tables have the divisors of their columns.
    settings = made.settings | {"scale": made.scale}
    assert isodepth.region_tables(tables(), **settings) == made
    assert isodepth.Metric(**settings).region_table(tables()[0]) == made[0]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tolerance": 0.1, "alpha": 0.1, "scale": None, "nan_policy": "keep"},
        {"method": "regions"},
        {"method": isodepth.Metric(depth="irw", p=1, q=np.inf, eps=0.2, levels=5)},
    ],
)
def test_settings_repeat_a_test(options: dict[str, Any]) -> None:
    found = isodepth.two_sample_test(*tables(), **TEST, **options)
    settings = dict(found.settings)
    assert ("metric" in settings) == isinstance(options.get("method"), isodepth.Metric)
    if "metric" in settings:
        settings["method"] = isodepth.Metric(**settings.pop("metric"))
    again = isodepth.two_sample_test(*tables(), **settings)
    assert again == found
    assert (again.settings, again.signature) == (found.settings, found.signature)


@pytest.mark.parametrize(
    "options",
    [
        {"random_state": 3},
        {"arl": 500, "tolerance": 0.01, "nan_policy": "raise"},
        {"groups": "site", "kinds": {"code": "category", "y": "omit"}},
        {"blocks": "day", "groups": "site"},
    ],
)
def test_settings_repeat_a_monitor(options: dict[str, Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    reference = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "y"])
    reference = reference.assign(code=rng.integers(3, size=200), site=np.tile(["a", "b"], 100))
    reference = reference.assign(day=np.repeat(np.arange(20), 10))
    if "groups" not in options:
        reference = reference.drop(columns="site")
    if "blocks" not in options:
        reference = reference.drop(columns="day")
    found = isodepth.Monitor(reference, path=tmp_path / "m.npz", **options)
    assert found.settings.items() >= options.items()
    loaded = isodepth.Monitor.load(tmp_path / "m.npz", autosave=False)
    assert loaded.settings == found.settings
    again = isodepth.Monitor(reference, **found.settings)
    assert again.settings == found.settings
    group = "a" if "groups" in options else None
    batch = reference[:5].assign(x=reference["x"] + 3)
    if group is not None:
        batch = batch.assign(site=group)
    assert again.check(batch, group=group) == loaded.check(batch, group=group)


def test_settings_of_a_monitor_have_the_number_of_labels() -> None:
    reference, labels = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 4
    assert isodepth.Monitor(reference, groups=labels).settings["groups"] == 4
    assert isodepth.Monitor(reference, blocks=np.arange(200) // 10).settings["blocks"] == 20


def test_tables_of_samples_with_and_without_missing_values_are_compared() -> None:
    x, y = samples()
    options: dict[str, Any] = {"n_directions": 10, "random_state": 0}
    (one,) = isodepth.region_tables([x], **options)
    (other,) = isodepth.region_tables([y], nan_policy="omit", **options)
    assert (one.settings["nan_policy"], other.settings["nan_policy"]) == ("raise", "omit")
    assert one.distance_to(other) == isodepth.pairwise([x, y], **options)[0, 1]


def test_settings_without_a_seed_repeat_the_result() -> None:
    """The settings of a result contain an integer seed, with which the result is repeated.

    A seed is drawn if none is passed, and from a generator if one is passed.
    """
    x, y = samples()
    for seed in (None, np.random.default_rng(0)):
        found = isodepth.compare(x, y, random_state=seed)
        assert isodepth.compare(x, y, **found.settings).distance == found.distance
        test = isodepth.two_sample_test(x, y, random_state=seed, n_permutations=49)
        again = isodepth.two_sample_test(x, y, **test.settings)
        assert again == test
        assert again.signature == test.signature
    seeds = {isodepth.compare(x, y).settings["random_state"] for _ in range(3)}
    assert len(seeds) == 3


@pytest.mark.parametrize("values", [np.ones(40), ["a", "b"] * 20])
def test_settings_repeat_a_test_without_directions(values: Any) -> None:
    """Without a column of different numbers there are no directions."""
    x = pd.DataFrame({"v": values})
    test = isodepth.two_sample_test(x, x, n_permutations=19, random_state=0)
    assert test.settings["n_directions"] is None
    again = isodepth.two_sample_test(x, x, **test.settings)
    assert (again.settings, again.signature) == (test.settings, test.signature)


def test_weights_and_kinds_are_settings_and_part_of_the_signature() -> None:
    x = pd.DataFrame({"a": np.arange(40.0) ** 1.3, "size": ["S", "M", "L", "M"] * 10})
    y = x.assign(a=x["a"] + 3)
    options = {"n_directions": 20, "random_state": 0}
    weights = np.arange(1.0, 41.0)
    kinds = {"size": ["S", "M", "L"]}
    usual = isodepth.compare(x, y, **options)
    weighted = isodepth.compare(x, y, weights=(weights, None), **options)
    ordered = isodepth.compare(x, y, kinds=kinds, **options)
    assert not {"weights", "kinds"} & {*usual.settings}
    assert weighted.settings["weights"].startswith("given:40:")
    assert weighted.settings["weights"].endswith(",equal")
    others = [(weights + 1, None), (None, weights), (weights, weights)]
    found = [isodepth.compare(x, y, weights=each, **options) for each in others]
    assert len({each.signature for each in (usual, weighted, ordered, *found)}) == 6
    assert ordered.settings["kinds"] == {"size": ("S", "M", "L")}  # settings are read-only
    assert isodepth.compare(x, y, **ordered.settings) == ordered
    assert isodepth.distance(x, y, **ordered.settings) == ordered.distance
    test = isodepth.two_sample_test(x, y, kinds=kinds, n_permutations=19, random_state=0)
    assert isodepth.two_sample_test(x, y, **test.settings) == test
    assert (
        test.signature
        != isodepth.two_sample_test(x, y, n_permutations=19, random_state=0).signature
    )


def test_settings_of_compared_regions_have_the_weights() -> None:
    x, y = samples()
    weights = np.arange(40.0)
    fitted = isodepth.Metric(n_directions=20, random_state=0).with_directions(2)
    weighted, usual = fitted.regions(x, weights=weights), fitted.regions(y)
    found = fitted.compare(weighted, usual)
    expected = isodepth.compare(x, y, weights=(weights, None), n_directions=20, random_state=0)
    assert found.settings == expected.settings
    assert found.signature == expected.signature
    assert "weights" not in fitted.compare(usual, usual).settings
