"""Tensors on the CPU are accepted as arrays; other tensors raise an error with advice."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError
from isodepth.table.validation import check_points, check_weights

torch = pytest.importorskip("torch")


def test_plain_tensors_are_arrays():
    tensor = torch.arange(6, dtype=torch.float32).reshape(3, 2)
    points, columns = check_points(tensor)
    assert points.dtype == np.float32
    assert columns is None
    np.testing.assert_array_equal(points, tensor.numpy())
    assert isodepth.distance(tensor, tensor, n_directions=5) == 0


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (torch.ones(3, 2, requires_grad=True), r"requires grad.*detach\(\)"),
        # An example of a device other than the host.
        (torch.ones(3, 2, device="meta"), r"X must hold numbers, got a Tensor .* meta"),
        (torch.ones(3, 2).to_sparse(), r"to_dense\(\)"),
        (torch.ones(3, 2, dtype=torch.bfloat16), "BFloat16"),
        ([torch.ones(2, requires_grad=True)] * 3, r"detach\(\)"),
    ],
)
def test_other_tensors_are_refused(tensor, said):
    with pytest.raises(InvalidInputError, match=said):
        check_points(tensor)
    with pytest.raises(InvalidInputError):
        isodepth.distance(tensor, np.ones((3, 2)))


def test_weights_that_require_grad_are_refused():
    with pytest.raises(InvalidInputError, match=r"weights must hold numbers.*detach\(\)"):
        check_weights(torch.ones(3, requires_grad=True), 3)
    np.testing.assert_array_equal(check_weights(torch.ones(3), 3), np.ones(3))
