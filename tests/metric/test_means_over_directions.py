"""Distances with finite q, whose gaps are means over directions instead of suprema."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from strategies import odd_pair
from twins import naive, naive_means

import isodepth
from isodepth.errors import InvalidOptionError
from isodepth.geometry.directions import mean_of_direction, unit_vectors

QS = (1.0, 1.5, 2.0, 4.0, 40.0)


# -- the slow reference ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "tied", "weighted", "line", "single", "flat"])
@pytest.mark.parametrize("depth", ["projection", "halfspace"])
@pytest.mark.parametrize("count", [1, 7, 8, 9, 37])
def test_distance_is_that_of_the_twin(kind: str, depth: str, count: int) -> None:
    x, y, weights = odd_pair(kind)
    d = x.shape[1]
    U = unit_vectors(d, count, directions="uniform", random_state=np.random.default_rng(5))
    a, b = (naive.depth_regions(depth, X, U, w) for X, w in zip((x, y), weights, strict=True))
    for q, (p, levels) in itertools.product(QS, ((2, "exact"), (1, 5))):
        unit = mean_of_direction(d, q)
        metric = isodepth.Metric(depth=depth, q=q, p=p, directions=U, levels=levels)
        wanted = naive_means.distance(a, b, U, q, unit, p=p, levels=levels)
        assert metric.distance(x, y, weights=weights) == pytest.approx(wanted, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e300])
@pytest.mark.parametrize("q", QS)
def test_units_do_not_matter(scale: float, q: float) -> None:
    x, y, _ = odd_pair("plain")
    metric = isodepth.Metric(q=q, n_directions=20, random_state=0, levels=4)
    plain = metric.distance(x, y)
    assert metric.distance(scale * x, scale * y) == pytest.approx(scale * plain, rel=1e-12)
    tables = [metric.region_table(scale * X) for X in (x, y)]
    assert tables[0].distance_to(tables[1]) == pytest.approx(scale * plain, rel=1e-12)


@pytest.mark.parametrize("q", QS)
def test_zero_symmetry_and_threads_to_the_bit(q: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((900, 4)), rng.standard_normal((700, 4)) + 0.3
    one, two, three = (
        isodepth.Metric(q=q, random_state=1, n_directions=777, n_jobs=n, memory_mb=m)
        for n, m in ((1, 256.0), (2, 256.0), (3, 1.0))
    )
    found = one.compare(x, y)
    assert found.distance > 0
    assert one.distance(x, x) == 0.0
    for other in (one.compare(y, x), two.compare(x, y), three.compare(x, y)):
        assert other.distance == found.distance
        assert other.gaps.tolist() == found.gaps.tolist()
        np.testing.assert_array_equal(other.gap_directions, found.gap_directions)


def test_float32_keeps_its_precision() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((200, 3)), rng.standard_normal((150, 3)) + 1
    metric = isodepth.Metric(q=2, random_state=0)
    single = metric.distance(x.astype(np.float32), y.astype(np.float32))
    assert single == pytest.approx(metric.distance(x, y), rel=1e-3)
    assert single != metric.distance(x, y)


# -- translations ---------------------------------------------------------------------------------

M = np.array([3.0, -1.0, 2.0, 0.5, 1.0])


@pytest.mark.parametrize("q", [1, 2, 4])
def test_a_translation_has_its_length_up_to_the_scatter_of_directions(q: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 5))
    count = 20_000
    # Relative standard error of the mean of |u_1|^q over independent directions, divided by q
    # because of the q-th root.
    spread = naive_means.moment(5, 2 * q) / naive_means.moment(5, q) ** 2 - 1
    error = math.sqrt(spread / count) / q
    found = isodepth.distance(x, x + M, q=q, n_directions=count, random_state=2, levels=3)
    length = float(np.linalg.norm(M))
    assert abs(found / length - 1) < 4 * error
    assert found != pytest.approx(length, rel=error / 100)


def test_a_translation_has_its_length_exactly_along_orthonormal_bases() -> None:
    x = np.random.default_rng(0).standard_normal((40, 5))
    for options in ({"directions": "orthogonal", "n_directions": 30}, {"directions": np.eye(5)}):
        found = isodepth.distance(x, x + M, q=2, random_state=0, **options)
        assert found == pytest.approx(float(np.linalg.norm(M)), rel=1e-13)


@pytest.mark.parametrize("q", [2, 4, 6, 18])
def test_a_translation_in_the_plane_is_exact_for_even_powers(q: float) -> None:
    x = np.random.default_rng(0).standard_normal((30, 2))
    found = isodepth.distance(x, x + [3, 4], q=q, directions="equispaced", n_directions=10)
    assert found == pytest.approx(5.0, rel=1e-13)


@pytest.mark.parametrize("q", QS)
def test_a_translation_on_the_line_is_exact(q: float) -> None:
    x = np.random.default_rng(0).standard_normal((40, 1))
    assert isodepth.distance(x, x + 3.0, q=q) == pytest.approx(3.0, rel=1e-13)


# -- settings -------------------------------------------------------------------------------------


def test_the_signature_contains_finite_q_only() -> None:
    assert "q=" not in isodepth.Metric().signature
    metric = isodepth.Metric(q=2.5, random_state=0)
    assert "|p=2|q=2.5|eps=0.1|" in metric.signature
    assert "|refine=0|" in metric.signature


def test_refine_is_chosen_by_q() -> None:
    metric = isodepth.Metric()
    for other, steps in ((metric, 20), (replace(metric, q=2), 0), (isodepth.Metric(refine=3), 3)):
        assert f"|refine={steps}|" in other.signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"q": 0.5}, r"q must lie in \[1, inf\], got 0.5"),
        ({"q": math.nan}, "q must lie"),
        ({"q": "2"}, "q must be a number"),
        ({"q": None}, "q must be a number"),
        ({"q": 2, "refine": 20}, "refine=20 with q=2"),
        ({"q": 2, "gap": "exact"}, "gap='exact'.*q=2"),
    ],
)
def test_incompatible_settings(options: dict, message: str) -> None:
    with pytest.raises(InvalidOptionError, match=message):
        isodepth.Metric(**options)


def test_the_mean_lies_below_the_supremum() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 100, 6))
    means = [
        isodepth.distance(x, y, q=q, random_state=0, refine=0) * mean_of_direction(6, q)
        for q in (1, 2, 8, 1000)
    ]
    top = isodepth.distance(x, y, random_state=0, refine=0)
    assert sorted(means) == means
    assert means[-1] == pytest.approx(top, rel=0.02)
    assert means[-1] <= top
