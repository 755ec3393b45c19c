"""Distances of tensors on the host equal those of arrays, and are tensors."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError

torch = pytest.importorskip("torch")

OPTIONS = {"random_state": 0, "n_directions": 40}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch deprecates quantized tensors
    QUANTIZED = torch.quantize_per_tensor(torch.ones(3, 2), 1, 0, torch.qint8)


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 3)), rng.normal(size=(60, 3)) + 1


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "int16"])
def test_tensors_and_arrays_agree(pair, kind):
    x, y = ((5 * rows).astype(kind) for rows in pair)
    found = isodepth.distance(torch.from_numpy(x), torch.from_numpy(y), **OPTIONS)
    assert found.shape == ()
    assert str(found.dtype) == f"torch.{'float32' if kind == 'float32' else 'float64'}"
    assert found.item() == pytest.approx(isodepth.distance(x, y, **OPTIONS), rel=1e-7)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_half_precision_is_computed_in_single(pair, kind):
    X, Y = (torch.from_numpy(rows).to(getattr(torch, kind)) for rows in pair)
    X.requires_grad_()
    found = isodepth.distance(X, Y, **OPTIONS)
    expected = isodepth.distance(X.detach().float(), Y.float(), refine=0, **OPTIONS)
    assert found.dtype == X.dtype
    assert found == expected.to(X.dtype)
    found.backward()
    assert X.grad.dtype == X.dtype


def test_two_precisions_are_promoted(pair):
    X, Y = torch.from_numpy(pair[0]).float(), torch.from_numpy(pair[1])
    assert isodepth.distance(X, Y, **OPTIONS).dtype == torch.float64
    assert isodepth.distance(X, Y, dtype="float32", **OPTIONS).dtype == torch.float64


def test_views_need_no_copy(pair):
    x, y = pair
    wide = torch.full((100, 6), float("nan"), dtype=torch.float64)
    wide[::2, ::2] = torch.from_numpy(x)
    expected = isodepth.distance(x, y, **OPTIONS)
    assert isodepth.distance(wide[::2, ::2], torch.from_numpy(y), **OPTIONS).item() == expected
    across = torch.from_numpy(np.ascontiguousarray(x.T)).T
    assert isodepth.distance(across, torch.from_numpy(y), **OPTIONS).item() == expected


def test_memory_is_shared_with_the_host():
    from isodepth.device.host import to_host

    rows = torch.zeros(4, 2, dtype=torch.float64)
    array = to_host(rows.requires_grad_())
    with torch.no_grad():
        rows[1, 1] = 7
    assert array[1, 1] == 7


def test_weights_of_any_kind(pair):
    x, y = pair
    w = np.arange(1, 51)
    expected = isodepth.distance(x, y, weights=(w, None), **OPTIONS)
    X, Y = torch.from_numpy(x), torch.from_numpy(y)
    for weights in (w, w.tolist(), torch.from_numpy(w)):
        assert isodepth.distance(X, Y, weights=(weights, None), **OPTIONS).item() == expected


def test_compare_returns_numbers(pair):
    X, Y = (torch.from_numpy(rows) for rows in pair)
    found = isodepth.compare(X.requires_grad_(), Y, scale=None, refine=0, **OPTIONS)
    assert found.distance == isodepth.distance(*pair, refine=0, **OPTIONS)
    isodepth.distance(X, Y, **OPTIONS).backward()
    np.testing.assert_array_equal(found.gradient().x, X.grad.numpy())


def test_tables_pairs_and_regions_take_tensors(pair):
    X, Y = (torch.from_numpy(rows) for rows in pair)
    np.testing.assert_array_equal(
        isodepth.region_tables([X, Y], **OPTIONS).values,
        isodepth.region_tables(pair, **OPTIONS).values,
    )
    np.testing.assert_array_equal(
        isodepth.pairwise([X, Y], **OPTIONS), isodepth.pairwise(pair, **OPTIONS)
    )
    half = isodepth.region_tables([X.half().requires_grad_()], **OPTIONS)
    assert half.values.shape == (1, 20, 80)
    stacked = torch.stack([X, X + 1])
    assert isodepth.pairwise(stacked, **OPTIONS).shape == (2, 2)
    regions = isodepth.Metric(**OPTIONS).regions(X)
    np.testing.assert_array_equal(regions.points, pair[0])


@pytest.mark.parametrize(
    ("X", "Y", "match"),
    [
        (torch.ones(3, 2), np.ones((3, 2)), r"X is a tensor and Y is an array.*torch\.as_tensor"),
        ([[1.0, 2.0]], torch.ones(3, 2), "Y is a tensor and X is a list"),
        (torch.ones(3, 2), torch.ones(3, 2).to_sparse(), r"layout torch\.sparse_coo.*to_dense"),
        (torch.ones(3, 2, dtype=torch.complex64), torch.ones(3, 2), "Complex data not supported"),
        (QUANTIZED, torch.ones(3, 2), "quantized"),
        (torch.ones(3, 2, device="meta"), torch.ones(3, 2), "device meta"),
        (torch.ones(3), torch.ones(3, 2), r"got 1 dimension"),
        (torch.ones(3, 2), torch.ones(0, 2), "Y is empty"),
        (torch.ones(3, 2), torch.ones(3, 4), "2 in X and 4 in Y"),
        (torch.full((3, 2), float("nan")), torch.ones(3, 2), "X contains 6 NaN"),
        (torch.ones(3, 2), torch.full((3, 2), float("inf")).half(), "Y contains 6 infinite values"),
    ],
)
def test_invalid_tensors_are_refused(X, Y, match):
    for call in (isodepth.distance, isodepth.compare):
        with pytest.raises(InvalidInputError, match=match):
            call(X, Y, **OPTIONS)


def test_torch_and_cuda_are_only_used_for_tensors():
    code = (
        "import sys, numpy as np, isodepth\n"
        "x = np.random.default_rng(0).normal(size=(20, 2))\n"
        "isodepth.distance(x, x + 1, n_directions=9)\n"
        "assert 'torch' not in sys.modules\n"
        "import torch\n"
        "X = torch.from_numpy(x).requires_grad_()\n"
        "isodepth.distance(X, X.detach() + 1, n_directions=9).backward()\n"
        "assert not torch.cuda.is_initialized()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_centered_and_scaled_by_a_power_of_two(weighted):
    from isodepth.device.samples import DeviceSample
    from isodepth.device.spread import typical_sizes

    rng = np.random.default_rng(5)
    points = 1e6 + 3 * rng.normal(size=(5000, 3))
    weights = rng.integers(1, 30, 5000) ** 2 if weighted else None
    moved = DeviceSample.of(torch.from_numpy(points), weights, "X", 2**20).standardized()
    unit = np.ptp(points, axis=0) / np.ptp(moved.numpy(), axis=0)
    assert (unit == unit[0]).all()
    assert np.frexp(unit[0])[0] == 0.5
    sizes = np.abs(moved.numpy()).max(axis=1)
    assert 0.25 < np.median(sizes) < 4
    expected = np.median(np.abs(moved.numpy()), axis=0)
    # Four standard errors of a median of the 255 values that are used: 4 * 1.17 / sqrt(255).
    assert typical_sizes(moved).numpy() == pytest.approx(expected, rel=0.3)
