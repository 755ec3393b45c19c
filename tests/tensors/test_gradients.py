"""Gradients: central differences, gradcheck, and what they must be for a translation."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError

torch = pytest.importorskip("torch")

#: One setting a row: each takes another way through the depths, the levels or the supremum.
WAYS = [
    {"depth": "projection"},
    {"depth": "halfspace", "levels": 9},
    {"depth": "irw", "p": 1},
    {"depth": "ai_irw", "p": float("inf")},
    {"depth": "projection", "gap": "exact"},
    {"depth": "halfspace", "eps": 0.5, "p": 0.5, "normalize": False},
    {"depth": "projection", "q": 2},
    {"depth": "irw", "q": 3.0, "levels": 6, "p": 1},
]


def two_samples(seed: int, n: int, m: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) * 1.5 + rng.normal(size=d)


@pytest.mark.parametrize("seed", range(200))
def test_gradients_are_central_differences(seed):
    """At 200 random points, along a random direction in the space of both samples.

    Along it the distance is smooth but for the places where the order of depths or a support
    changes, which a step of 1e-6 seldom meets; its third derivative is of the order of one.
    """
    options = {**WAYS[seed % len(WAYS)], "n_directions": 20, "random_state": seed}
    x, y = two_samples(seed, 12, 15, 1 + seed % 3)
    X, Y = (torch.tensor(rows, requires_grad=True) for rows in (x, y))
    value = isodepth.distance(X, Y, **options)
    value.backward()
    rng = np.random.default_rng(seed + 1000)
    ways = rng.normal(size=x.shape), rng.normal(size=y.shape)
    step = 1e-6
    plain = options if "gap" in options else {**options, "refine": 0}
    ends = [
        isodepth.distance(x + sign * step * ways[0], y + sign * step * ways[1], **plain)
        for sign in (1, -1)
    ]
    expected = (ends[0] - ends[1]) / (2 * step)
    found = sum(float((t.grad.numpy() * way).sum()) for t, way in zip((X, Y), ways, strict=True))
    assert value.item() == isodepth.distance(x, y, **plain)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_gradcheck(way):
    x, y = (torch.tensor(rows, requires_grad=True) for rows in two_samples(5, 8, 9, 2))

    def measure(X, Y):
        return isodepth.distance(X, Y, n_directions=15, random_state=3, **way)

    assert torch.autograd.gradcheck(measure, (x, y))


@pytest.mark.parametrize("depth", ["projection", "halfspace", "irw", "ai_irw"])
def test_a_translation_gives_its_unit_vector(depth):
    x, _ = two_samples(1, 30, 1, 3)
    shift = np.array([2.0, -1.0, 2.0])
    for options in ({"gap": "exact"}, {"directions": np.array([[1.0, 0, 0], shift])}):
        X = torch.tensor(x, requires_grad=True)
        Y = torch.tensor(x + shift, requires_grad=True)
        value = isodepth.distance(X, Y, depth=depth, **options)
        value.backward()
        # Depths of moved points are those of the points up to rounding.
        assert value.item() == pytest.approx(3.0, rel=1e-12)
        np.testing.assert_allclose(X.grad.sum(dim=0).numpy(), -shift / 3, atol=1e-12)
        np.testing.assert_allclose(Y.grad.sum(dim=0).numpy(), shift / 3, atol=1e-12)


def test_a_step_against_the_gradient_lowers_the_distance():
    x, y = (torch.tensor(rows) for rows in two_samples(2, 60, 50, 3))
    x.requires_grad_()
    before = isodepth.distance(x, y, random_state=0, n_directions=50)
    before.backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
    after = isodepth.distance(x, y, random_state=0, n_directions=50)
    assert after < before


def test_no_distance_no_gradient():
    X = torch.randn(20, 3, dtype=torch.float64, requires_grad=True)
    value = isodepth.distance(X, X, random_state=0)
    value.backward()
    assert value == 0
    assert not X.grad.any()


def test_only_what_requires_grad_gets_one_and_backward_scales_it():
    x, y = (torch.tensor(rows) for rows in two_samples(3, 20, 20, 2))
    X, Z = x.clone().requires_grad_(), x.clone().requires_grad_()
    isodepth.distance(X, y, random_state=0).backward()
    (3 * isodepth.distance(Z, y, random_state=0)).backward()
    assert y.grad is None
    torch.testing.assert_close(Z.grad, 3 * X.grad)


def test_equal_rows_share_and_rows_without_weight_have_none():
    X = torch.tensor([[0.0], [2.0], [2.0], [9.0]], dtype=torch.float64, requires_grad=True)
    Y = torch.tensor([[5.0]], dtype=torch.float64)
    weights = ([1, 1, 1, 0], None)
    # Levels below 2/3 have 2 alone, the others 0 as well: gaps of 3 and 5.
    value = isodepth.distance(X, Y, depth="halfspace", p=1, eps=0.1, weights=weights)
    value.backward()
    share = (2 / 3) / 0.9
    assert value.item() == pytest.approx(3 * share + 5 * (1 - share))
    expected = [-(1 - share), -share / 2, -share / 2, 0.0]
    np.testing.assert_allclose(X.grad.numpy().ravel(), expected, rtol=1e-12)


def test_the_gradient_of_a_gradient_is_refused():
    X = torch.randn(10, 2, dtype=torch.float64, requires_grad=True)
    for power in (1, 2):
        value = isodepth.distance(X, X.detach() + 1, random_state=0)
        (slope,) = torch.autograd.grad(value**power, X, create_graph=True)
        with pytest.raises(isodepth.InvalidOptionError, match="no second derivatives"):
            (value + (slope**2).sum()).backward()


def test_refinement_is_left_out_unless_asked_for():
    x, y = two_samples(4, 40, 40, 6)
    X, Y = torch.tensor(x, requires_grad=True), torch.tensor(y)
    options = {"random_state": 0, "n_directions": 30}
    plain = isodepth.distance(x, y, refine=0, **options)
    refined = isodepth.distance(x, y, **options)
    assert refined > plain
    assert isodepth.distance(X, Y, **options).item() == plain
    assert isodepth.distance(X.detach(), Y, **options).item() == refined
    with torch.no_grad():
        assert isodepth.distance(X, Y, **options).item() == refined
    with pytest.raises(InvalidOptionError, match="refine=20"):
        isodepth.distance(X, Y, refine=20, **options)
    with pytest.raises(InvalidOptionError, match="refine=20"):
        isodepth.compare(x, y, **options).gradient()


def test_columns_in_given_units_are_differentiated_as_they_were():
    x, y = two_samples(6, 15, 12, 2)
    X, Y = torch.tensor(x, requires_grad=True), torch.tensor(y, requires_grad=True)
    for q in (2, float("inf")):

        def measure(X, Y, q=q):
            return isodepth.distance(X, Y, scale=[0.5, 3.0], q=q, n_directions=9, random_state=0)

        assert torch.autograd.gradcheck(measure, (X, Y))


def test_a_mean_over_directions_pulls_at_many_rows():
    x, y = (torch.tensor(rows) for rows in two_samples(7, 60, 60, 3))
    touched = []
    for q in (2, float("inf")):
        X = x.clone().requires_grad_()
        isodepth.distance(X, y, q=q, n_directions=100, random_state=0).backward()
        touched.append(int((X.grad != 0).any(dim=1).sum()))
    assert touched[0] > 1.5 * touched[1]


def test_what_has_no_gradient_is_refused():
    X = torch.randn(9, 2, requires_grad=True)
    Y = torch.randn(9, 2)
    for options, said in (
        ({"scale": "pooled"}, "scale='pooled' is taken from the data"),
        ({"nan_policy": "omit"}, "nan_policy='omit'"),
        ({"region": "envelope"}, "region='envelope'"),
    ):
        with pytest.raises(InvalidOptionError, match=said):
            isodepth.distance(X, Y, **options)
    with pytest.raises(InvalidInputError, match="weights of Y require grad"):
        isodepth.distance(X, Y, weights=(None, torch.ones(9, requires_grad=True)))
