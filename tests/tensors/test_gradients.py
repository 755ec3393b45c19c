"""Gradients of tensors: gradcheck of torch, and the gradient of a translation."""

from __future__ import annotations

import numpy as np
import pytest
from metric.test_gradient import WAYS, two_samples

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError

torch = pytest.importorskip("torch")


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
        # A translation changes depths only by rounding errors.
        assert value.item() == pytest.approx(3.0, rel=1e-12)
        np.testing.assert_allclose(X.grad.sum(dim=0).numpy(), -shift / 3, atol=1e-12)
        np.testing.assert_allclose(Y.grad.sum(dim=0).numpy(), shift / 3, atol=1e-12)


def test_the_gradient_of_distance_zero_is_zero():
    X = torch.randn(20, 3, dtype=torch.float64, requires_grad=True)
    value = isodepth.distance(X, X, random_state=0)
    value.backward()
    assert value == 0
    assert not X.grad.any()


def test_gradients_of_tensors_that_require_one_are_scaled_by_backward():
    x, y = (torch.tensor(rows) for rows in two_samples(3, 20, 20, 2))
    X, Z = x.clone().requires_grad_(), x.clone().requires_grad_()
    isodepth.distance(X, y, random_state=0).backward()
    (3 * isodepth.distance(Z, y, random_state=0)).backward()
    assert y.grad is None
    torch.testing.assert_close(Z.grad, 3 * X.grad)


def test_the_gradient_of_a_gradient_is_refused():
    X = torch.randn(10, 2, dtype=torch.float64, requires_grad=True)
    for power in (1, 2):
        value = isodepth.distance(X, X.detach() + 1, random_state=0)
        (slope,) = torch.autograd.grad(value**power, X, create_graph=True)
        with pytest.raises(isodepth.errors.InvalidOptionError, match="no second derivatives"):
            (value + (slope**2).sum()).backward()


def test_refinement_is_off_unless_requested():
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
        isodepth.compare(x, y, scale=None, **options).gradient()


def test_gradients_are_in_the_units_of_the_unscaled_columns():
    x, y = two_samples(6, 15, 12, 2)
    X, Y = torch.tensor(x, requires_grad=True), torch.tensor(y, requires_grad=True)
    for q in (2, float("inf")):

        def measure(X, Y, q=q):
            return isodepth.distance(X, Y, scale=[0.5, 3.0], q=q, n_directions=9, random_state=0)

        assert torch.autograd.gradcheck(measure, (X, Y))


def test_a_mean_over_directions_has_a_dense_gradient():
    x, y = (torch.tensor(rows) for rows in two_samples(7, 60, 60, 3))
    touched = []
    for q in (2, float("inf")):
        X = x.clone().requires_grad_()
        isodepth.distance(X, y, q=q, n_directions=100, random_state=0).backward()
        touched.append(int((X.grad != 0).any(dim=1).sum()))
    assert touched[0] > 1.5 * touched[1]


def test_options_without_a_gradient_are_refused():
    X = torch.randn(9, 2, requires_grad=True)
    Y = torch.randn(9, 2)
    for options, match in (
        ({"scale": "pooled"}, "scale='pooled' is estimated from the data"),
        ({"nan_policy": "omit"}, "nan_policy='omit'"),
    ):
        with pytest.raises(InvalidOptionError, match=match):
            isodepth.distance(X, Y, **options)
    with pytest.raises(InvalidInputError, match="weights of Y require grad"):
        isodepth.distance(X, Y, weights=(None, torch.ones(9, requires_grad=True)))
