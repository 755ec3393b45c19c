"""Results on a GPU equal those on the host, within the memory limit (`make test-cuda`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from agreement import rounding_bound, share_of_swapped_levels

import isodepth
from isodepth.errors import DeviceMemoryError, InvalidInputError, InvalidOptionError

torch = pytest.importorskip("torch")
from isodepth.device.products import full_precision  # noqa: E402
from isodepth.device.samples import check_tensors  # noqa: E402
from isodepth.metric.tensors import distance_on_device, fit_on_device  # noqa: E402

pytestmark = pytest.mark.cuda

DEPTHS = ["projection", "halfspace", "irw", "ai_irw"]
KINDS = ["gaussian", "heavy", "duplicated", "collinear", "flat"]


def cloud(rng, kind, n, d):
    points = rng.normal(size=(n, d)) * rng.uniform(0.5, 3.0, d) + rng.normal(0, 2.0, d)
    if kind == "heavy":
        return rng.standard_t(1.5, (n, d))
    if kind == "duplicated":
        return points[rng.integers(0, max(d + 2, 2 * n // 3), n)]
    if kind == "collinear" and d > 1:
        return rng.normal(0, 2, d) + rng.standard_normal((n, 1)) * rng.standard_normal(d)
    if kind == "flat" and d > 1:
        points[:, 0] = np.where(rng.random(n) < 0.7, 1.0, points[:, 0])
    return points


def random_case(seed):
    """Return a random metric, two samples of different sizes, and their weights or None."""
    rng = np.random.default_rng([7, seed])
    d = int(rng.integers(1, 7))
    kind = KINDS[seed % len(KINDS)]
    samples = [cloud(rng, kind, int(rng.integers(d + 6, 60)), d) for _ in range(2)]
    weights = [None, None]
    for i, which in enumerate(rng.integers(0, 4, 2)):
        n = len(samples[i])
        weights[i] = [None, rng.integers(1, 5, n), rng.uniform(0.05, 2, n), None][which]
    metric = isodepth.Metric(
        depth=DEPTHS[(seed // len(KINDS)) % 4],
        levels=["exact", 1, 7][seed % 3],
        p=[0.5, 1.0, 2.0, float("inf")][seed % 4],
        eps=[0.1, 0.3, 0.5][seed % 3],
        refine=0,
        n_directions=int(rng.integers(2, 30)),
        random_state=seed,
    )
    return metric, samples, weights


def on_host(metric, samples, weights, dtype):
    """Return the distance of two arrays, computed as CPU tensors of type `dtype`.

    It is computed by `distance_on_device`. None if that function returns None.
    """
    X, Y = (torch.from_numpy(s).to(dtype) for s in samples)
    found = distance_on_device(metric, check_tensors(X, Y, weights, None))
    return None if found is None else found[0].item()


@pytest.mark.parametrize("seed", range(300))
def test_the_gpu_agrees_with_the_host(seed):
    metric, samples, weights = random_case(seed)
    expected = on_host(metric, samples, weights, torch.float64)
    if expected is None:
        return
    X, Y = (torch.from_numpy(s).cuda() for s in samples)
    found = metric.distance(X, Y, weights=weights)
    assert found.device == X.device
    assert found.dtype == torch.float64
    assert found.item() == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.filterwarnings("ignore::isodepth.errors.ScaleWarning")
@pytest.mark.parametrize("seed", range(300))
def test_single_precision_is_within_the_documented_bound(seed):
    metric, samples, weights = random_case(seed)
    # For smaller powers there is no bound.
    metric = replace(metric, p=max(metric.p, 1.0))
    samples = [rows.astype(np.float32) for rows in samples]
    pair = check_tensors(*(torch.from_numpy(rows).cuda() for rows in samples), weights, None)
    found = distance_on_device(metric, pair)
    if found is None:
        return
    expected = metric.compare(*samples, weights=weights)
    regions = fit_on_device(metric, pair).regions
    share = share_of_swapped_levels(metric, expected.regions, regions)
    assert abs(found[0].item() - expected.distance) <= rounding_bound(metric, samples, share)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(("n", "d"), [(30_000, 10), (50_000, 64), (40_000, 2)])
def test_kernels_agree_with_plain_operations(depth, n, d, monkeypatch):
    """Triton kernels and operations of torch give equal depths, up to the rounding of products."""
    from isodepth.device import kernels, samples

    generator = torch.Generator("cuda").manual_seed(n)
    X = torch.randn(n, d, generator=generator, device="cuda")
    Y = 1.2 * torch.randn(n + 1000, d, generator=generator, device="cuda") + 0.5
    metric = isodepth.Metric(depth=depth, refine=0, random_state=0, n_directions=100)
    found = metric.distance(X, Y)
    monkeypatch.setattr(samples, "passes_for", lambda *_: kernels.PLAIN)
    expected = metric.distance(X, Y)
    # Rows whose products differ only by rounding may exchange their ranks. These are a few of tens
    # of thousands of rows, and affect as few levels.
    assert found.item() == pytest.approx(expected.item(), rel=1e-4)


@pytest.mark.parametrize("depth", ["projection", "halfspace"])
@pytest.mark.parametrize("levels", ["exact", 20])
def test_gradients_on_the_gpu(depth, levels):
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(200, 3, generator=generator).double(), torch.randn(210, 3).double() + 1
    options = {"depth": depth, "levels": levels, "n_directions": 50, "random_state": 0}
    metric = isodepth.Metric(refine=0, **options)
    expected = distance_on_device(metric, check_tensors(x, y, None, None), gradient=True)
    X, Y = x.cuda().requires_grad_(), y.cuda().requires_grad_()
    value = isodepth.distance(X, Y, **options)
    value.backward()
    assert value.item() == pytest.approx(expected[0].item(), rel=1e-12)
    for tensor, slope in zip((X, Y), expected[1], strict=True):
        torch.testing.assert_close(tensor.grad.cpu(), slope, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("size", [1.0, 1e-36, 1e36])
@pytest.mark.parametrize("shape", [(200, 3000, 16), (5000, 9, 33), (1000, 1400, 70), (33, 77, 300)])
def test_products_of_parts_are_as_accurate_as_plain_products(shape, size):
    """The errors of float32 products on tensor cores are below the bound for any order of sums.

    Products of integers are exact.
    """
    from isodepth.device.kernels.multiply import products

    a, b, d = shape
    generator = torch.Generator("cuda").manual_seed(d)
    sides = [torch.randn(n, d, generator=generator, device="cuda") for n in (a, b)]
    left, right = sides
    right *= size
    exact = left.double() @ right.double().T
    bound = d * 2.0**-24 * (left.abs().double() @ right.abs().double().T)
    with full_precision(left.device):
        plain = left @ right.T
    assert ((products(left, right) - exact).abs() <= bound).all()
    error, usual = (
        ((found - exact) / size).pow(2).mean() for found in (products(left, right), plain)
    )
    assert error < 2 * usual
    whole = torch.randint(-9, 9, (a, d), generator=generator, device="cuda").float()
    assert torch.equal(products(whole, whole), whole @ whole.T)


def test_tf32_and_autocast_change_nothing():
    generator = torch.Generator("cuda").manual_seed(1)
    X, Y = torch.randn(2, 30_000, 16, generator=generator, device="cuda")
    metric = isodepth.Metric(refine=0, random_state=0, n_directions=64)
    plain = metric.distance(X, Y + 1)
    before = torch.backends.cuda.matmul.allow_tf32
    try:
        torch.backends.cuda.matmul.allow_tf32 = True
        assert metric.distance(X, Y + 1) == plain
        assert torch.backends.cuda.matmul.allow_tf32
        with torch.autocast("cuda"):
            assert metric.distance(X, Y + 1) == plain
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def test_half_precision_tables_and_devices():
    generator = torch.Generator("cuda").manual_seed(2)
    X, Y = torch.randn(2, 500, 4, generator=generator, device="cuda")
    options = {"refine": 0, "random_state": 0, "n_directions": 40}
    half = isodepth.distance(X.half(), Y.half() + 1, **options)
    assert half.dtype == torch.float16
    tables = isodepth.region_tables([X, Y + 1], random_state=0, n_directions=40)
    assert tables.values.shape == (2, 20, 80)
    assert isodepth.pairwise([X, Y + 1], random_state=0, n_directions=40)[0, 1] > 1
    with pytest.raises(InvalidInputError, match="X is on the device cuda:0 and Y on cpu"):
        isodepth.distance(X, Y.cpu())
    with pytest.raises(InvalidInputError, match="weights of X are on the device cpu"):
        isodepth.distance(X, Y, weights=(torch.ones(500), None))
    with pytest.raises(InvalidOptionError, match=r"not available on the device cuda:0"):
        isodepth.distance(X, Y, depth=isodepth.HalfspaceDepth(algorithm="exact"))


def test_permutations_are_computed_on_the_host():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=(50, 3)) + 0.5
    options = {"n_permutations": 99, "random_state": 0}
    expected = isodepth.two_sample_test(x, y, blocks=np.arange(110) // 2, **options)
    X, Y = torch.from_numpy(x).cuda(), torch.from_numpy(y).cuda()
    blocks = torch.arange(110, device="cuda") // 2
    found = isodepth.two_sample_test(X, Y, blocks=blocks, **options)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
    assert found.device == "cuda:0"
    assert "cuda:0" in repr(found)
    both = isodepth.compare(X, Y, scale=None, refine=0, **options)
    assert both.test.device == "cuda:0"


@pytest.mark.parametrize("depth", ["projection", "halfspace", "irw"])
def test_memory_stays_below_the_limit(depth):
    n, d = 200_000, 16
    X, Y = torch.randn(2, n, d, device="cuda")
    metric = isodepth.Metric(depth=depth, refine=0, random_state=0, n_directions=500, memory_mb=128)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    metric.distance(X, Y)
    added = torch.cuda.max_memory_allocated() - before
    # The limit excludes centered and sorted copies of the samples, and a few numbers per row.
    assert added < 128 * 2**20 + 3 * X.nbytes + 200 * n


def test_samples_that_do_not_fit_raise():
    free, _ = torch.cuda.mem_get_info()
    held = torch.empty(int(free * 0.98), dtype=torch.uint8, device="cuda")
    X = torch.randn(2_000_000, 64, device="cuda") if free * 0.02 > 6e8 else torch.randn(9, 2).cuda()
    with pytest.raises(DeviceMemoryError, match="memory of cuda:0 is too small"):
        isodepth.distance(X, X + 1, refine=0, memory_mb=100_000)
    del held
