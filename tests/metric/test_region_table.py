"""Region tables: values, distances, files, and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from strategies import cases, eps_values, gaussian_directions, orders
from twins import naive_tables

import isodepth
from isodepth import Metric, RegionTable
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.settings import midpoint_levels
from isodepth.typing import RandomLevels

DEPTHS = ["halfspace", "projection", "irw"]
RNG = np.random.default_rng(20)
X = RNG.normal(size=(40, 3))
Y = RNG.normal(size=(55, 3)) + [1, 0, 0.5]


def odd_weights(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return random integer weights with an odd sum, so that no cumulative mass equals a level."""
    weights = rng.integers(1, 4, n)
    weights[0] += 1 - weights.sum() % 2
    return weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("number", range(6))
def test_values_are_those_of_the_plain_loops(depth: str, number: int, weighted: bool) -> None:
    rng = np.random.default_rng([number, weighted])
    d, n = int(rng.integers(1, 5)), int(2 * rng.integers(4, 12) + 1)
    points = rng.standard_t(3, (n, d))
    weights = odd_weights(rng, n) if weighted else None
    directions = gaussian_directions(rng, d, 5)
    table = Metric(depth=depth, levels=7, directions=directions).region_table(
        points, weights=weights
    )
    expected = naive_tables.table(depth, points, directions, midpoint_levels(7, 0.1), weights)
    # A support value is one dot product of at most four terms.
    np.testing.assert_allclose(table.values, expected, rtol=0, atol=1e-14 * np.abs(points).max())


@seed(5)
@settings(max_examples=150, deadline=None)
@given(
    case=cases(),
    depth=st.sampled_from(DEPTHS),
    p=orders(),
    eps=eps_values(),
    levels=st.integers(1, 9),
    normalize=st.booleans(),
)
@pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")
def test_distance_is_that_of_the_metric(case, depth, p, eps, levels, normalize) -> None:
    metric = Metric(
        depth=depth, p=p, eps=eps, levels=levels, normalize=normalize, refine=0,
        directions=case.directions,
    )  # fmt: skip
    a, b = (
        metric.region_table(case.x, weights=case.wx),
        metric.region_table(case.y, weights=case.wy),
    )
    expected = metric.distance(case.x, case.y, weights=case.weights)
    size = max(np.abs(case.x).max(), np.abs(case.y).max())
    assert a.distance_to(b) == pytest.approx(expected, rel=1e-12, abs=1e-12 * size)
    assert a.distance_to(b) == b.distance_to(a)
    assert a.distance_to(a) == 0.0


@pytest.mark.parametrize("p", [0.5, 1, 2, 3.5, math.inf])
@pytest.mark.parametrize("normalize", [True, False])
def test_distance_is_that_of_the_plain_loops(p: float, normalize: bool) -> None:
    metric = Metric(levels=6, n_directions=9, p=p, eps=0.3, normalize=normalize, random_state=1)
    a, b = metric.region_table(X), metric.region_table(Y)
    length = 1.0 if normalize else 0.7
    expected = naive_tables.distance(a.values.tolist(), b.values.tolist(), p, length)
    assert a.distance_to(b) == pytest.approx(expected, rel=1e-13)


def test_single_precision_storage_only_rounds() -> None:
    metric = Metric(levels=10, n_directions=50, random_state=0)
    fine, coarse = metric.region_table(X), metric.region_table(X, table_dtype="float32")
    assert coarse.values.dtype == np.float32
    assert (coarse.values == fine.values.astype(np.float32)).all()
    exact = fine.distance_to(metric.region_table(Y))
    other = metric.region_table(Y, table_dtype="float32")
    # Two values and their difference are rounded, each with a relative error of 2**-24.
    bound = 3 * 2.0**-24 * max(np.abs(fine.values).max(), np.abs(other.values).max())
    assert abs(coarse.distance_to(other) - exact) <= bound


def test_single_precision_data_are_computed_in_single_precision() -> None:
    metric = Metric(levels=10, n_directions=50, random_state=0, refine=0)
    a, b = metric.region_table(X.astype(np.float32)), metric.region_table(Y.astype(np.float32))
    assert "dtype=float32" in a.signature
    expected = metric.distance(X.astype(np.float32), Y.astype(np.float32))
    assert a.distance_to(b) == pytest.approx(expected, rel=1e-6)


def test_one_dimension_has_two_directions() -> None:
    table = Metric(levels=3, random_state=0).region_table([[1.0], [2.0], [4.0], [8.0], [16.0]])
    assert table.values.shape == (3, 2)
    assert (table.values[:, 0] >= -table.values[:, 1]).all()


def test_values_cannot_be_changed() -> None:
    table = Metric(levels=3, random_state=0).region_table(X)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1.0


def test_a_table_is_not_refined() -> None:
    table = Metric(levels=4, n_directions=30, random_state=9, eps=0.2, refine=50).region_table(X)
    assert "refine=0" in table.signature
    assert "4 levels, 2 x 30 directions, 3 columns" in repr(table)
    assert table.signature in repr(table)


BASE = {"levels": 4, "n_directions": 20, "random_state": 0}


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("p", {"p": 1}),
        ("eps", {"eps": 0.2}),
        ("depth", {"depth": "halfspace"}),
        ("levels", {"levels": 5}),
        ("n_directions", {"n_directions": 21}),
        ("directions", {"directions": "sobol"}),
        ("n_directions, directions", {"directions": np.eye(3), "n_directions": 3}),
        ("random_state", {"random_state": 1}),
        ("normalize", {"normalize": False}),
        ("dtype", {"dtype": "float32"}),
    ],
)
def test_tables_made_differently_refuse_and_say_why(field: str, other: dict) -> None:
    a, b = Metric(**BASE).region_table(X), Metric(**{**BASE, **other}).region_table(X)
    with pytest.raises(InvalidInputError, match=rf"differ in {field} \("):
        a.distance_to(b)


def test_tables_of_other_data_refuse() -> None:
    pd = pytest.importorskip("pandas")
    metric = Metric(**BASE)
    a = metric.region_table(X)
    with pytest.raises(InvalidInputError, match="columns differ: 3 and 2"):
        a.distance_to(metric.region_table(X[:, :2]))
    with pytest.raises(InvalidInputError, match="dtype differ: float64 and float32"):
        a.distance_to(metric.region_table(X, table_dtype="float32"))
    with pytest.raises(InvalidInputError, match="must be a RegionTable, got ndarray"):
        a.distance_to(X)  # type: ignore[arg-type]
    abc, xyz = (
        metric.region_table(pd.DataFrame(X, columns=list(names))) for names in ("abc", "xyz")
    )
    with pytest.raises(InvalidInputError, match="different columns"):
        abc.distance_to(xyz)
    assert abc.distance_to(a) == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"random_state": 0}, "got levels='exact'"),
        ({"levels": RandomLevels(4), "random_state": 0}, r"levels=RandomLevels\(n_levels=4\)"),
        ({"levels": 4}, "got random_state=None"),
        ({"levels": 4, "random_state": np.random.default_rng(0)}, "got random_state"),
        ({"levels": 4, "random_state": 0, "gap": "exact"}, "gap='exact'"),
    ],
)
def test_settings_that_cannot_make_comparable_tables(options: dict, message: str) -> None:
    with pytest.raises(InvalidOptionError, match=message):
        Metric(**options).region_table(X)


def test_fixed_directions_need_no_seed() -> None:
    for directions, points in ((np.eye(3), X), ("equispaced", X[:, :2])):
        first, second = (
            Metric(levels=4, directions=directions).region_table(points) for _ in range(2)
        )
        assert first.distance_to(second) == 0.0


def test_bad_storage_and_bad_data() -> None:
    metric = Metric(**BASE)
    with pytest.raises(InvalidOptionError, match="table_dtype must be one of"):
        metric.region_table(X, table_dtype="float16")
    with pytest.raises(InvalidInputError, match="NaN values"):
        metric.region_table(np.where(X > 0, np.nan, X))
    with pytest.raises(InvalidInputError, match="one number for each of the 40 rows"):
        metric.region_table(X, weights=np.ones(3))


def test_a_depth_that_cannot_order_warns() -> None:
    with pytest.warns(isodepth.errors.DegenerateDepthWarning):
        Metric(**BASE).region_table(np.eye(3))


def test_unit_directions_stay_bit_for_bit() -> None:
    rows = gaussian_directions(np.random.default_rng(0), 5, 1000)
    once = Metric(directions=rows * 7.0).directions
    assert (Metric(directions=once).directions == once).all()


def test_made_by_hand_a_table_is_a_table() -> None:
    made = Metric(**BASE).region_table(X)
    copied = RegionTable(
        values=made.values * 1.0, settings=made.settings, n_features=made.n_features
    )
    assert copied.distance_to(made) == 0.0
