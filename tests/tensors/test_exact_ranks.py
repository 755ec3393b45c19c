"""Depths of tensors along the axes have the exact ranks of the values, of any magnitude."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from isodepth.geometry.depth import BY_NAME

torch = pytest.importorskip("torch")
from isodepth.device.samples import DeviceSample  # noqa: E402

RNG = np.random.default_rng(0)
VALUES = {
    "60 orders of magnitude": 10.0 ** RNG.uniform(-60, 0, 300),
    "600 orders of magnitude": 10.0 ** RNG.uniform(-300, 300, 300),
    "single precision": (10.0 ** RNG.uniform(-38, 37, 300)).astype(np.float32),
    "beside large values": np.append(RNG.standard_normal(240), 1e17 + RNG.standard_normal(60)),
    "subnormal": (1e-44 * RNG.integers(0, 900, 300)).astype(np.float32),
    "far from zero": np.float32(1e6) + RNG.integers(0, 99, 300).astype(np.float32),
}


@pytest.mark.parametrize("depth", ["halfspace", "irw", "ai_irw"])
@pytest.mark.parametrize("kind", VALUES)
def test_ranks_are_those_of_the_values(kind: str, depth: str) -> None:
    x = VALUES[kind]
    n, low, high = len(x), rankdata(x, "min"), rankdata(x, "max")
    # In units of 1 / (2 n): twice the mid-rank minus 1, and twice the number of halfspace points.
    middle = low + high - 1
    expected = np.minimum(middle, 2 * n - middle)
    if depth == "halfspace":
        expected = 2 * np.minimum(high, n + 1 - low)
    columns = [x] if depth == "ai_irw" else [x, x[::-1].copy()]
    expected = expected if depth == "ai_irw" else [expected, expected[::-1]]
    combine = np.min if depth == "halfspace" else np.mean
    points = torch.from_numpy(np.column_stack(columns))
    sample = DeviceSample.of(points, None, "X", 2**30)
    depths = BY_NAME[depth]()._depths(sample, np.eye(len(columns))).numpy()
    wanted = combine(np.atleast_2d(expected), axis=0) / (2 * n)
    np.testing.assert_allclose(depths[sample.index_of_rows().numpy()], wanted, rtol=1e-15)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_column_of_small_spread_beside_a_large_one(dtype: torch.dtype) -> None:
    """The outlyingness along an axis is not affected by a column with much larger values."""
    rng = np.random.default_rng(1)
    small = 1e-9 if dtype == torch.float32 else 1e-18
    points = torch.from_numpy(rng.standard_normal((200, 2)) * [1.0, small]).to(dtype)
    depth = BY_NAME["projection"]()
    together = depth._depths(DeviceSample.of(points, None, "X", 2**30), np.eye(2))
    alone = [
        depth._depths(DeviceSample.of(points[:, [k]], None, "X", 2**30), np.ones((1, 1)))
        for k in range(2)
    ]
    torch.testing.assert_close(together, torch.minimum(*alone))
