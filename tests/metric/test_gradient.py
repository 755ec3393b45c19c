"""Gradients with respect to rows agree with central differences and with values by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isodepth

#: Settings with different depths, levels, means over levels, and means over directions.
WAYS: list[dict[str, Any]] = [
    {"depth": "projection", "q": float("inf")},
    {"depth": "halfspace", "levels": 9},
    {"depth": "irw", "p": 1},
    {"depth": "ai_irw", "p": float("inf")},
    {"depth": "projection", "gap": "exact"},
    {"depth": "halfspace", "eps": 0.5, "p": 0.5, "normalize": False},
    {"depth": "projection", "q": 2},
    {"depth": "irw", "q": 3.0, "levels": 6, "p": 1},
    {"depth": "irw", "q": 2, "p": float("inf")},
    {"depth": "projection", "q": 1.5, "p": float("inf"), "levels": 5},
]


def two_samples(seed: int, n: int, m: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) * 1.5 + rng.normal(size=d)


@pytest.mark.parametrize("seed", range(96))
def test_gradients_are_central_differences(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The derivative along a random direction agrees with a central difference of step 1e-6.

    The distance is smooth unless the order of depths or a support point changes within the step,
    which is rare. Its third derivative is of the order of 1, so the error is about 1e-12.
    """
    options = {**WAYS[seed % len(WAYS)], "n_directions": 20, "random_state": seed}
    if "gap" not in options:
        options["refine"] = 0
    if seed % 3 == 1:
        # Directions are processed in several blocks.
        monkeypatch.setattr("isodepth.geometry.regions._HELD_NUMBERS", 100)
        options["scale"] = [0.5, 3.0]
    x, y = two_samples(seed, 12, 15, 1 + seed % 3)
    result = isodepth.compare(x, y, **{"scale": None, **options})
    rng = np.random.default_rng(seed + 1000)
    ways = rng.normal(size=x.shape), rng.normal(size=y.shape)
    ends = [
        isodepth.distance(x + step * ways[0], y + step * ways[1], **options)
        for step in (1e-6, -1e-6)
    ]
    found = sum(float((own * way).sum()) for own, way in zip(result.gradient(), ways, strict=True))
    assert result.distance == isodepth.distance(x, y, **options)
    assert found == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-6)


def test_equal_rows_share_and_rows_without_weight_have_none() -> None:
    x, y = np.array([[0.0], [2.0], [2.0], [9.0]]), np.array([[5.0]])
    weights = ([1, 1, 1, 0], None)
    # The regions of X have the value 2 for levels below 2/3, with gap 3, and else 0 and 2, gap 5.
    result = isodepth.compare(x, y, scale=None, depth="halfspace", p=1, eps=0.1, weights=weights)
    share = (2 / 3) / 0.9
    assert result.distance == pytest.approx(3 * share + 5 * (1 - share))
    expected = [-(1 - share), -share / 2, -share / 2, 0.0]
    np.testing.assert_allclose(result.gradient().x.ravel(), expected, rtol=1e-12)
    with_holes = np.array([[0.0], [np.nan], [2.0], [2.0]])
    omitted = isodepth.compare(with_holes, y, scale=None, depth="halfspace", p=1, nan_policy="omit")
    np.testing.assert_allclose(omitted.gradient().x.ravel(), [*expected[:1], 0.0, *expected[1:3]])
    equal = isodepth.compare(x, x, scale=None, depth="halfspace").gradient()
    assert not np.concatenate(equal).any()
