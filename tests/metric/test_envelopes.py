"""Directional quantile envelopes: regions of equal depth."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from strategies import odd_pair
from twins import naive, naive_envelopes

import isodepth
from isodepth.core.directions import mean_of_direction, unit_vectors
from isodepth.errors import InvalidInputError, InvalidOptionError, SignatureError

ENVELOPE = {"region": "envelope"}


@pytest.mark.parametrize("q", [1, 2, 5, math.inf])
@pytest.mark.parametrize("kind", ["plain", "tied", "weighted", "line", "single", "flat"])
def test_distance_is_that_of_the_twin(q: float, kind: str) -> None:
    x, y, weights = odd_pair(kind)
    U = unit_vectors(x.shape[1], 11, "uniform", np.random.default_rng(5))
    unit = mean_of_direction(x.shape[1], q)
    for p, eps, levels in ((2, 0.1, "exact"), (1, 0.35, 7), (math.inf, 0.2, "exact")):
        metric = isodepth.Metric(q=q, p=p, eps=eps, directions=U, levels=levels, **ENVELOPE)
        wanted = naive_envelopes.distance(x, y, U, q, unit, weights, p, eps, levels)
        found = metric.distance(x, y, weights)
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-14)


def test_weights_without_a_common_unit() -> None:
    x, y, _ = odd_pair("plain")
    rng = np.random.default_rng(1)
    weights = (rng.random(10), rng.random(9))
    U = np.eye(3)
    found = isodepth.distance(x, y, weights=weights, directions=U, levels=9, **ENVELOPE)
    wanted = naive_envelopes.distance(x, y, U, math.inf, 1.0, weights, levels=9)
    assert found == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(InvalidInputError, match="levels=100"):
        isodepth.distance(x, y, weights=weights, **ENVELOPE)


@pytest.mark.parametrize(("n", "m"), [(9, 9), (10, 10), (7, 12), (1, 5), (200, 131)])
@pytest.mark.parametrize("levels", ["exact", 13])
@pytest.mark.parametrize("eps", [0.1, 0.3, 1.0])
def test_on_a_line_they_are_the_halfspace_regions(
    n: int, m: int, levels: object, eps: float
) -> None:
    rng = np.random.default_rng([n, m])
    x, y = rng.standard_normal((n, 1)), 2 * rng.standard_normal((m, 1)) + 1
    settings = {"levels": levels, "eps": eps}
    one = isodepth.compare(x, y, depth="halfspace", **settings)
    two = isodepth.compare(x, y, **ENVELOPE, **settings)
    assert two.distance == pytest.approx(one.distance, rel=1e-13)
    np.testing.assert_allclose(two.levels, one.levels, rtol=1e-15)
    np.testing.assert_array_equal(two.gaps, one.gaps)


def test_on_a_line_with_weights_they_are_the_regions_of_that_depth() -> None:
    # Masses 0.1, 0.2, 0.7: between the depths 0.3 and 0.1 the region is [x_2, x_3].
    x, weights = np.array([[0.0], [1.0], [5.0]]), [1, 2, 7]
    result = isodepth.compare(x, [[0.0]], weights=(weights, None), **ENVELOPE)
    depths = naive.halfspace_depth(x, [[1.0]], weights)
    for (start, _), value in zip(result.levels, result.gaps, strict=True):
        tail = (1 - Fraction(start).limit_denominator(1000)) / 2
        inside = [float(row[0]) for row, depth in zip(x, depths, strict=True) if depth >= tail]
        assert value == max(abs(min(inside)), abs(max(inside)))


@pytest.mark.parametrize("q", [1, 2, math.inf])
def test_zero_symmetry_threads_and_repeated_rows(q: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((300, 3)), rng.standard_normal((260, 3)) + 0.5
    options = {"q": q, "random_state": 0, "n_directions": 333, **ENVELOPE}
    one = isodepth.distance(x, y, n_jobs=1, **options)
    assert one > 0
    assert isodepth.distance(y, x, n_jobs=2, **options) == one
    assert isodepth.distance(x, y, n_jobs=3, memory_mb=0.5, **options) == one
    assert isodepth.distance(x, x, **options) == 0.0
    twice = isodepth.distance(np.repeat(x, 2, axis=0), y, **options)
    weighted = isodepth.distance(x, y, weights=(np.full(300, 2), None), **options)
    assert twice == weighted


@pytest.mark.parametrize("q", [2, math.inf])
def test_translation(q: float) -> None:
    x = np.random.default_rng(0).standard_normal((100, 2))
    found = isodepth.distance(
        x, x + [3, 4], q=q, directions="equispaced", n_directions=180, **ENVELOPE
    )
    # Along the nearest of the directions the supremum loses at most a share (pi / 360)^2 / 2.
    assert found == pytest.approx(5.0, rel=1e-12 if q == 2 else 4e-5)


def test_tables_neighbors_and_monitors() -> None:
    rng = np.random.default_rng(2)
    bags = [rng.standard_normal((40 + i, 3)) + 0.3 * i for i in range(6)]
    options = {"n_directions": 30, "random_state": 0, **ENVELOPE}
    for q in (2, math.inf):
        found = isodepth.pairwise(bags, q=q, **options)
        metric = isodepth.Metric(q=q, levels=20, **options)
        for i, j in ((0, 1), (2, 5)):
            assert found[i, j] == pytest.approx(metric.distance(bags[i], bags[j]), rel=1e-12)
        tables = isodepth.region_tables(bags, q=q, **options)
        assert tables.distances(tables[3]).tolist() == found[3].tolist()


def test_where_they_differ() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 800, 4))
    y[:, 1] += 1
    y[17] = [0, 0, 40, 0]
    for q in (2, math.inf):
        result = isodepth.compare(x, y, q=q, random_state=0, **ENVELOPE)
        assert result.contributions[0][0] == "column 1"
        assert result.contributions[0][1] > 0.8
        assert result.rows_outside().rows[0] == 17


def test_signature_and_settings() -> None:
    metric = isodepth.Metric(random_state=0, **ENVELOPE)
    assert metric.signature.startswith("DR|depth=none|")
    assert "|refine=0|" in metric.signature
    assert "|region=envelope|" in metric.signature
    assert isodepth.Metric.from_signature(metric.signature) == metric
    for text in ("depth=none", "depth=irw"):
        broken = isodepth.Metric(random_state=0, depth="irw").signature.replace("depth=irw", text)
        broken = broken if text == "depth=none" else metric.signature.replace("depth=none", text)
        with pytest.raises(SignatureError, match="depth="):
            isodepth.Metric.from_signature(broken)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": "halfspace"}, "need no depth, got depth='halfspace'"),
        ({"depth": isodepth.IRWDepth()}, "need no depth"),
        ({"gap": "exact"}, "gap='exact'"),
        ({"refine": 5}, "refine=5 with region='envelope'"),
    ],
)
def test_what_does_not_go_with_envelopes(options: dict, message: str) -> None:
    with pytest.raises(InvalidOptionError, match=message):
        isodepth.Metric(**ENVELOPE, **options)


@pytest.mark.parametrize("region", ["exact", "whole", None])
def test_regions_are_of_the_sample_or_envelopes(region: object) -> None:
    with pytest.raises(InvalidOptionError, match="region must be one of"):
        isodepth.Metric(region=region)
    with pytest.raises(SignatureError, match="region"):
        isodepth.Metric.from_signature(
            f"{isodepth.Metric(random_state=0).signature}|region={region}"
        )


def test_there_are_no_regions_of_sample_points() -> None:
    metric = isodepth.Metric(random_state=0, **ENVELOPE)
    x = np.ones((3, 2))
    for make in (metric.regions, metric.with_directions(2).regions):
        with pytest.raises(InvalidOptionError, match="no regions of sample points"):
            make(x)
    with pytest.raises(InvalidOptionError, match="envelopes"):
        _ = metric.compare(x, x).bracket
    with pytest.raises(InvalidInputError, match="do not fit"):
        metric.distance(isodepth.Metric(random_state=0).regions(x), x)
