"""FittedMetric: regions of single samples, whose distances equal those of `distance`."""

from __future__ import annotations

import itertools
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth import AIIRWDepth, Metric
from isodepth.errors import DegenerateDepthWarning, InvalidInputError, InvalidOptionError
from isodepth.typing import RandomLevels

RNG = np.random.default_rng(0)
SAMPLES = [RNG.normal(size=(n, 3)) + n / 20 for n in (12, 25, 40, 18)]
BASE = {"depth": "irw", "n_directions": 20, "random_state": 0}
WEIGHTS = [None, RNG.integers(0, 3, 25) + (np.arange(25) == 0), None, RNG.uniform(0.5, 2.0, 18)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"depth": "halfspace", "refine": 0, "eps": 0.3},
        {"depth": "irw", "levels": 7, "p": 1},
        {"depth": "ai_irw", "levels": RandomLevels(5)},
        {"gap": "exact", "normalize": False},
        {"dtype": "float32"},
    ],
    ids=str,
)
def test_any_two_have_the_distance_of_the_metric(options: dict) -> None:
    metric = Metric(n_directions=30, random_state=5, **options)
    drawn = metric.with_directions(3)
    regions = drawn.all_regions(SAMPLES, weights=WEIGHTS)
    for i, j in itertools.product(range(4), repeat=2):
        weights = (WEIGHTS[i], WEIGHTS[j])
        expected = metric.compare(SAMPLES[i], SAMPLES[j], weights=weights)
        found = drawn.compare(regions[i], regions[j])
        assert drawn.distance(regions[i], regions[j]) == expected.distance
        assert (found.distance, found.signature) == (expected.distance, expected.signature)
        assert (found.gaps == expected.gaps).all()


def test_regions_one_by_one_or_together_and_with_any_threads() -> None:
    many = [RNG.normal(size=(400, 3)) for _ in range(8)]
    found = [
        Metric(n_directions=200, random_state=1, n_jobs=jobs).with_directions(3).all_regions(many)
        for jobs in (1, 2)
    ]
    one = Metric(n_directions=200, random_state=1).with_directions(3)
    for a, b, sample in zip(*found, many, strict=True):
        alone = one.regions(sample)
        assert (a._nested.order == b._nested.order).all()
        assert (a._nested.order == alone._nested.order).all()
        assert (a.depths == alone.depths).all()


def test_without_a_seed_all_share_the_directions() -> None:
    metric = Metric(n_directions=4, refine=0)
    drawn = metric.with_directions(3)
    a, b = drawn.regions(SAMPLES[0]), drawn.regions(SAMPLES[1])
    expected = Metric(directions=drawn.directions, refine=0).distance(SAMPLES[0], SAMPLES[1])
    assert drawn.distance(a, b) == expected
    assert repr(drawn).startswith("FittedMetric(4 directions, 3 columns, DR|depth=proj")
    with pytest.warns(DegenerateDepthWarning) as caught:
        drawn.all_regions([np.eye(3), 2 * np.eye(3)])
    assert len(caught) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"p": 1, "eps": 0.4},
        {"levels": 5},
        {"levels": RandomLevels(4)},
        {"gap": "exact", "normalize": False},
        {"n_jobs": 1},
    ],
    ids=str,
)
def test_settings_that_do_not_determine_the_regions_may_differ(other: dict) -> None:
    metric = Metric(**{**BASE, **other})
    x, y = (pickle.loads(pickle.dumps(Metric(**BASE).regions(rows))) for rows in SAMPLES[:2])
    assert metric.with_directions(3).distance(x, y) == metric.distance(*SAMPLES[:2]) > 0


@pytest.mark.parametrize(
    ("named", "other"),
    [
        ("depth", {"depth": "halfspace"}),
        ("depth", {"depth": AIIRWDepth(covariance="ledoit-wolf")}),
        ("depth", {"depth": lambda points: -np.abs(points).sum(axis=1)}),
        ("directions", {"n_directions": 21}),
        ("directions", {"directions": "sobol"}),
        ("directions", {"random_state": 1}),
        ("directions", {"random_state": None}),
        ("scale", {"scale": [1.0, 2.0, 3.0]}),
        ("depth, directions", {"depth": "ai_irw", "random_state": 1}),
    ],
)
def test_other_depths_directions_and_scales_are_refused(named: str, other: dict) -> None:
    regions = Metric(**{**BASE, **other}).regions(SAMPLES[0])
    drawn = Metric(**BASE).with_directions(3)
    with pytest.raises(InvalidInputError, match=f"regions of x do not fit .* differ in {named};"):
        drawn.distance(regions, regions)


@pytest.mark.parametrize("depth", ["irw", lambda points: -np.abs(points).sum(axis=1)])
def test_the_same_depth_and_directions_as_an_array_fit(depth: Any) -> None:
    metric = Metric(**{**BASE, "depth": depth})
    drawn = metric.with_directions(3)
    x, y = (Metric(depth=depth, directions=drawn.directions).regions(s) for s in SAMPLES[:2])
    assert drawn.distance(x, y) == metric.distance(*SAMPLES[:2])


def test_regions_that_do_not_fit_are_refused() -> None:
    drawn = Metric(n_directions=4).with_directions(3)
    a = drawn.regions(SAMPLES[0])
    with pytest.raises(InvalidInputError, match=r"must be TrimmedRegions .* got ndarray"):
        drawn.distance(a, SAMPLES[1])
    with pytest.raises(InvalidInputError, match="float64 and those of Y float32"):
        drawn.distance(a, drawn.regions(SAMPLES[1].astype(np.float32)))
    abc, bac = (drawn.regions(pd.DataFrame(SAMPLES[0], columns=list(n))) for n in ("abc", "bac"))
    with pytest.raises(InvalidInputError, match="name their columns differently"):
        drawn.distance(abc, bac)
    with pytest.raises(InvalidInputError, match="2 in X and 3 in the directions"):
        drawn.regions(SAMPLES[0][:, :2])
    with pytest.raises(InvalidInputError, match="1 entries for 2 samples"):
        drawn.all_regions(SAMPLES[:2], weights=[None])
    with pytest.raises(InvalidInputError, match=r"weights of samples\[1\] must have one number"):
        drawn.all_regions(SAMPLES[:2], weights=[None, [1.0]])
    for bad in (0, 1.5, "3"):
        with pytest.raises(InvalidOptionError, match="n_features must be an integer >= 1"):
            Metric().with_directions(bad)


def test_directions_in_the_precision_of_the_samples() -> None:
    metric = Metric(n_directions=20, random_state=0, depth="irw")
    single = [sample.astype(np.float32) for sample in SAMPLES]
    plain, rounded = metric.with_directions(3), metric.with_directions(3, dtype="float32")
    for drawn in (plain, rounded):
        a, b = drawn.all_regions(single[:2])
        assert drawn.distance(a, b) == pytest.approx(metric.distance(*single[:2]), rel=1e-6)
    with pytest.raises(InvalidInputError, match="float64, and the directions were sampled for"):
        rounded.regions(SAMPLES[0])
    with pytest.raises(InvalidOptionError, match="dtype must be one of"):
        metric.with_directions(3, dtype="float16")


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (lambda x, **options: isodepth.distance(x, x, **options), 1_677_721),
        (lambda x, **options: isodepth.compare(x, x, **options), 1_677_721),
        (lambda x, **options: isodepth.pairwise([x, x], **options), 16_777),
        (lambda x, **options: isodepth.Metric(**options, random_state=0).region_table(x), 16_777),
        (lambda x, **options: isodepth.distance(isodepth.scan(x), x, **options), 16_777),
        (lambda x, **options: isodepth.two_sample_test(x, x + 1, method=Metric(**options)), 83_886),
    ],
)
def test_levels_beyond_the_memory_are_refused(call: Callable[..., Any], most: int) -> None:
    """A number of levels that needs more than `memory_mb` is an error before memory is allocated.

    2**31 - 1 levels would need 320 GB.
    """
    x = np.random.default_rng(0).normal(size=(30, 2))
    for levels in (most + 1, 2**31 - 1):
        with pytest.raises(InvalidOptionError, match=r"MB of memory, more than memory_mb=256"):
            call(x, levels=levels)
    with pytest.raises(InvalidOptionError, match=rf"use at most {most} levels"):
        call(x, levels=most + 1)


def test_levels_are_limited_by_the_memory_only_beyond_a_thousand() -> None:
    x = np.random.default_rng(0).normal(size=(30, 2))
    assert isodepth.distance(x, x, levels=1000, memory_mb=0.001) == 0.0
    with pytest.raises(InvalidOptionError, match=r"levels=1001 needs 0\.2 MB.*at most 1000 levels"):
        isodepth.distance(x, x, levels=1001, memory_mb=0.001)
    assert isodepth.distance(x, x, levels=6553, memory_mb=1) == 0.0
    with pytest.raises(InvalidOptionError, match="use at most 6553 levels"):
        isodepth.distance(x, x, levels=6554, memory_mb=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda samples, metric: isodepth.pairwise(samples, **metric),
        lambda samples, metric: isodepth.region_tables(samples, **metric),
        lambda samples, metric: Metric(**metric).with_directions(2).all_regions(samples),
        lambda samples, metric: isodepth.distance(*samples[:2], **metric),
    ],
)
def test_a_depth_function_is_not_called_by_several_threads_at_once(
    call: Callable[..., Any],
) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def depth(points: np.ndarray) -> np.ndarray:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return -np.abs(points - np.median(points, axis=0)).sum(axis=1)

    samples = [np.random.default_rng(i).normal(size=(2000, 2)) for i in range(8)]
    call(samples, {"depth": depth, "n_jobs": 4, "random_state": 0})
    assert most == 1
