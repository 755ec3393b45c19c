"""region="exact": full halfspace-depth regions of the plane instead of hulls of sample points."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth import HalfspaceDepth
from isodepth.depth.exact.planar import halfspace_region_vertices
from isodepth.errors import InvalidInputError, InvalidOptionError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
Y = RNG.standard_normal((25, 2)) * [1, 2] + 0.4
TURN = np.column_stack([np.cos(a := np.linspace(0, 2 * np.pi, 2000)), np.sin(a)])


def full_support(regions: isodepth.TrimmedRegions, beta: float) -> np.ndarray:
    sample = regions.sample
    corners = halfspace_region_vertices(sample.points, sample.unit_masses, regions.alpha(beta))
    return (TURN @ corners.T).max(axis=1)


def test_gaps_are_those_of_the_full_regions() -> None:
    result = isodepth.compare(X, Y, depth="halfspace", region="exact", eps=0.2)
    for (start, stop), gap in zip(result.levels[::4], result.gaps[::4], strict=True):
        hx, hy = (full_support(regions, (start + stop) / 2) for regions in result.regions)
        found = np.abs(hx - hy).max()
        # A grid of directions misses at most half a step times the size of the regions.
        assert found <= gap * (1 + 1e-12)
        assert gap - found <= np.pi / 2000 * 2 * np.abs(np.vstack([X, Y])).max() * 2


def test_a_full_region_contains_the_hull_of_its_points() -> None:
    regions = isodepth.Metric(depth=HalfspaceDepth(method="exact")).regions(X)
    for beta in (0.0, 0.3, 0.7):
        assert (full_support(regions, beta) >= regions.support(TURN, beta) - 1e-12).all()


def test_it_is_a_symmetric_distance() -> None:
    metric = isodepth.Metric(depth="halfspace", region="exact", levels=10)
    assert metric.distance(X, X) == 0
    assert metric.distance(X, Y) == pytest.approx(metric.distance(Y, X), rel=1e-12)
    assert metric.distance(X + 3, Y + 3) == pytest.approx(metric.distance(X, Y), rel=1e-9)
    low, high = metric.compare(X, Y).bracket
    assert low == high == metric.distance(X, Y)


def test_on_the_line_nothing_changes() -> None:
    options = {"depth": "halfspace", "refine": 0}
    full = isodepth.distance(X[:, :1], Y[:, :1], region="exact", **options)
    assert full == isodepth.distance(X[:, :1], Y[:, :1], **options)


def test_signature_keeps_it() -> None:
    metric = isodepth.Metric(depth="halfspace", region="exact", random_state=3)
    assert "region=exact" in metric.signature
    assert isodepth.Metric.from_signature(metric.signature) == metric


def test_what_it_needs() -> None:
    with pytest.raises(InvalidOptionError, match=r"exact halfspace depth.*irw"):
        isodepth.Metric(depth="irw", region="exact")
    with pytest.raises(InvalidOptionError, match=r"region must be one of.*whole"):
        isodepth.Metric(region="whole")
    with pytest.raises(InvalidInputError, match="one or two columns, got 3"):
        isodepth.distance(np.eye(3), np.eye(3), depth="halfspace", region="exact")
