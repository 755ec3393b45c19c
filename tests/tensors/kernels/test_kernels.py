"""The Triton kernels agree with operations of torch, on a GPU or else in the interpreter.

Run by ``make test-cuda``; skipped if Triton is not installed.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    # Before Triton is imported: its own functions are interpreted or not from then on.
    os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("triton")

from isodepth.device import gaps, ranks, spread  # noqa: E402
from isodepth.device.kernels import halfspace, middles, walk  # noqa: E402
from isodepth.device.products import full_precision  # noqa: E402

pytestmark = pytest.mark.kernels
BUDGET = 1 << 26


@pytest.fixture(autouse=True)
def _exact_products():
    with full_precision(torch.device(DEVICE)):
        yield


def cloud(seed, n, d, kind="gaussian"):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    if kind == "lattice":
        points = np.unique(rng.integers(-4, 5, (3 * n, d)), axis=0)[:n].astype(float)
    if kind == "heavy":
        points = rng.standard_t(1.5, (n, d))
    if kind == "lumps":
        points[: n // 2] *= 1e-3
        points[n // 2 :] += 5
    return torch.tensor(points, dtype=torch.float32, device=DEVICE)


def units(seed, count, d, *, axes=False):
    rng = np.random.default_rng(seed + 1)
    rows = np.eye(d) if axes else rng.normal(size=(count, d))
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return torch.tensor(rows, dtype=torch.float32, device=DEVICE)


def prefix_sizes(seed, n, levels):
    rng = np.random.default_rng(seed + 2)
    found = np.sort(rng.integers(1, n + 1, levels))
    return torch.tensor(found, device=DEVICE)


@pytest.mark.parametrize("seed", range(6))
def test_walk(seed, monkeypatch):
    dtype = torch.float32 if seed % 2 else torch.float64
    monkeypatch.setattr(walk, "_CHUNK_ROWS", 7)
    monkeypatch.setattr(walk, "_TILE", 2)
    monkeypatch.setattr(walk, "_GROUP", 16)
    monkeypatch.setattr(walk, "_DIRECTIONS", 16)
    rng = np.random.default_rng(seed)
    n, m, d = (int(k) for k in rng.integers([20, 20, 1], [40, 40, 5]))
    levels = int(rng.integers(1, 25))
    kind = "lattice" if seed % 3 == 0 else "gaussian"
    x, y = cloud(seed, n, d, kind).to(dtype), cloud(seed + 50, m, d, kind).to(dtype)
    u = units(seed, 20, d, axes=kind == "lattice").to(dtype)
    ends = prefix_sizes(seed, len(x), levels), prefix_sizes(seed + 9, len(y), levels)
    expected, codes = gaps.search_gaps(x, y, *ends, u, BUDGET, locate=True)
    for budget in (BUDGET, 4_000):
        found, mine = walk.search_gaps(x, y, *ends, u, budget, locate=True)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
        if kind == "lattice":
            assert torch.equal(mine, codes)
        plain, nowhere = walk.search_gaps(x, y, *ends, u, budget)
        assert torch.equal(plain, found)
        assert nowhere is None


@pytest.mark.parametrize(("d", "dtype"), [(20, "float32"), (70, "float32"), (70, "float64")])
def test_walk_with_many_columns(d, dtype, monkeypatch):
    """Triton kernels for gaps are correct for rows with more columns than a block has.

    Products are computed from parts of float32 numbers.
    """
    monkeypatch.setattr(walk, "_GROUP", 16)
    monkeypatch.setattr(walk, "_DIRECTIONS", 16)
    x, y = (cloud(seed, 50, d).to(getattr(torch, dtype)) for seed in (1, 2))
    u = units(3, 20, d).to(x.dtype)
    ends = prefix_sizes(4, 50, 12), prefix_sizes(5, 50, 12)
    expected, codes = gaps.search_gaps(x, y, *ends, u, BUDGET, locate=True)
    found, mine = walk.search_gaps(x, y, *ends, u, BUDGET, locate=True)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    assert torch.equal(mine, codes)


def test_equal_regions_have_no_gap():
    """The gaps of two equal samples are zero along all directions, none of which can be skipped."""
    x, u = cloud(0, 60, 3), units(0, 40, 3)
    ends = prefix_sizes(0, 60, 20)
    found, _ = walk.search_gaps(x, x, ends, ends, u, BUDGET)
    assert (found == 0).all()


@pytest.mark.parametrize("kind", ["gaussian", "lattice", "heavy", "lumps"])
@pytest.mark.parametrize("n", [400, 301])
def test_outlyingness(kind, n, monkeypatch):
    monkeypatch.setattr(middles, "_BLOCK", 256)
    monkeypatch.setattr(middles, "_SELECTED", 256)
    monkeypatch.setattr(middles, "_BRACKETED", 256)
    monkeypatch.setattr(middles, "_ROWS", 256)
    points = cloud(n, n, 3, kind)
    u = units(n, 4, 3, axes=kind == "lattice")
    expected = spread.largest_outlyingness(points, None, n, u, BUDGET)
    for budget in (BUDGET, 15_000):
        found = middles.largest_outlyingness(points, None, n, u, budget)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("narrow", [False, True])
def test_medians_are_exact_whatever_the_bracket(narrow, monkeypatch):
    """A median is exact, or NaN if it is not in its bracket or the bracket has too many values.

    A bracket is an interval that contains the median of a subset of the values.
    """
    monkeypatch.setattr(middles, "_BLOCK", 128)
    monkeypatch.setattr(middles, "_SELECTED", 128)
    monkeypatch.setattr(middles, "_BRACKETED", 128)
    rng = np.random.default_rng(0)
    values = torch.tensor(rng.normal(size=(9, 301)), dtype=torch.float32, device=DEVICE)
    values[3] = values[3].round()
    values[4] = 0.0
    pilot = values[:, :100].contiguous()
    pilot[5] += 100.0
    center = torch.linspace(-1, 1, 9, device=DEVICE)
    cap = 10 if narrow else 301
    folded = (values - center[:, None]).abs()
    for around, rows in ((None, values), (center, folded)):
        found = middles.middles(values, pilot, around, cap)
        known = ~found.isnan()
        assert torch.equal(found[known], spread.medians(rows, None, 301)[known])
        assert not known[5]
        assert bool(known.sum() == 8) != narrow


@pytest.mark.parametrize("sure", [0.01, 0.5])
def test_outlyingness_where_brackets_miss(sure, monkeypatch):
    monkeypatch.setattr(middles, "_SURE", sure)
    points, u = cloud(3, 301, 3), units(3, 6, 3)
    expected = spread.largest_outlyingness(points, None, 301, u, BUDGET)
    found = middles.largest_outlyingness(points, None, 301, u, BUDGET)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("folded", [False, True])
def test_brackets_are_order_statistics(folded):
    rng = np.random.default_rng(0)
    values = torch.tensor(rng.normal(size=(7, 50)), dtype=torch.float32, device=DEVICE)
    values[1] = -values[1].abs()
    values[2, ::2] = 0.0
    values[2, 1::2] = -0.0
    values[3] = values[3].round()
    values[4, 3] = 1e30
    values[5, :40] = 2.0
    center = torch.linspace(-1, 1, 7, device=DEVICE)
    rows = (values - center[:, None]).abs() if folded else values
    ordered = rows.sort(dim=1).values
    for first, last in ((0, 49), (7, 8), (24, 25), (30, 48)):
        bracket = values.new_empty(2, 7)
        middles._bracket[(7, 2)](
            values, 50, first, last, center, bracket, 7, FOLDED=folded, BLOCK=16, num_warps=1
        )
        assert torch.equal(bracket[0], ordered[:, first])
        assert torch.equal(bracket[1], ordered[:, last])


@pytest.mark.parametrize("kind", ["gaussian", "lattice", "heavy", "lumps", "equal", "huge"])
@pytest.mark.parametrize(
    ("d", "K", "sizes"),
    [
        (2, 4, {"_PER_BIN": 2}),
        (6, 4, {"_PER_BIN": 8, "_DEEPER": 0.0}),
        (15, 40, {"_PER_BIN": 2, "_PILOT": 200, "_DEEPER": 1.0}),
        (3, 4, {"_PER_BIN": 200, "_PILOT": 1}),
    ],
)
def test_halfspaces(kind, d, K, sizes, monkeypatch):
    """Halfspace depths are exact for bins and tails of all sizes, and for equal values.

    Values are sorted into bins. Bins with few values and bins with nearly all occur.
    """
    for name, size in ({"_BLOCK": 256, "_RANKED": 128, "_PILOT": 64} | sizes).items():
        monkeypatch.setattr(halfspace, name, size)
    points = cloud(d, 300, d, kind)
    points[7:11] = points[3]
    if kind == "equal":
        points[:200] = points[0]
    if kind == "huge":
        points[::50] *= 1e37
    n = len(points)
    u = units(d, K, d, axes=kind == "lattice")
    expected = ranks.smallest_halfspace(points, None, n, u, BUDGET)
    for budget in (BUDGET, 10_000):
        assert torch.equal(halfspace.smallest_halfspace(points, None, n, u, budget), expected)
