"""Two-sample tests of tensors equal those of arrays, without copies of the tensors."""

from __future__ import annotations

import json

import numpy as np
import pytest

import isodepth
from isodepth.device.host import arrays_on_host
from isodepth.errors import InvalidInputError

torch = pytest.importorskip("torch")

OPTIONS = {"n_permutations": 49, "random_state": 0}


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)), rng.normal(size=(50, 3)) + 0.4


@pytest.mark.parametrize("kind", ["float64", "float32", "int16"])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_tensors_and_arrays_agree(pair, kind, tolerance):
    x, y = ((9 * rows).astype(kind) for rows in pair)
    expected = isodepth.two_sample_test(x, y, tolerance=tolerance, **OPTIONS)
    X, Y = torch.from_numpy(x), torch.from_numpy(y)
    found = isodepth.two_sample_test(X, Y, tolerance=tolerance, **OPTIONS)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
    assert np.array_equal(found.null_distribution, expected.null_distribution)
    assert found.signature == expected.signature
    assert found.device is None


def test_tensors_on_the_host_are_not_copied(pair):
    X, Y = (torch.from_numpy(rows) for rows in pair)
    x, y, labels, place = arrays_on_host(X, Y.requires_grad_(), (torch.arange(40), None))
    assert np.shares_memory(x, pair[0])
    assert np.shares_memory(y, pair[1])
    assert np.array_equal(labels[0], np.arange(40))
    assert labels[1] is None
    assert place is None
    nothing = object()
    assert arrays_on_host(*pair, nothing) == (*pair, nothing, None)


def test_blocks_may_be_tensors(pair):
    blocks = np.arange(40) // 2, np.arange(50) // 2 + 100
    expected = isodepth.two_sample_test(*pair, blocks=blocks, **OPTIONS)
    X, Y = (torch.from_numpy(rows) for rows in pair)
    tensors = [torch.from_numpy(labels) for labels in blocks]
    assert isodepth.two_sample_test(X, Y, blocks=tensors, **OPTIONS).pvalue == expected.pvalue
    joint = torch.cat(tensors)
    assert isodepth.two_sample_test(X, Y, blocks=joint, **OPTIONS).pvalue == expected.pvalue


def test_mixtures_are_refused(pair):
    X = torch.from_numpy(pair[0])
    with pytest.raises(InvalidInputError, match="X is a tensor and Y is an array"):
        isodepth.two_sample_test(X, pair[1], **OPTIONS)
    with pytest.raises(InvalidInputError, match="Y is on the device meta"):
        isodepth.two_sample_test(X, torch.zeros(50, 3, device="meta"), **OPTIONS)
    with pytest.raises(InvalidInputError, match="layout"):
        isodepth.two_sample_test(X, X.to_sparse(), **OPTIONS)


def test_the_result_names_the_device_of_the_rows(pair):
    found = isodepth.two_sample_test(*pair, **OPTIONS)
    assert "copied" not in repr(found)
    assert found.to_dict()["device"] is None
    moved = found._with(device="cuda:1")
    assert "copied from cuda:1" in repr(moved)
    assert json.loads(moved.to_json())["device"] == "cuda:1"
