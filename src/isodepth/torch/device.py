"""Computation of a distance on the device of the tensors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from isodepth.core.directions import mean_of_direction
from isodepth.core.regions import Sample, TrimmedRegions
from isodepth.errors import InvalidOptionError
from isodepth.metric.base import BaseMetric
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.gradient import mean_slopes
from isodepth.tensors.gaps import mean_gap_gradient, mean_gaps, support_rows
from isodepth.tensors.host import to_host
from isodepth.tensors.passes import passes_for
from isodepth.tensors.products import budget_on, working_on
from isodepth.torch.checks import Pair
from isodepth.torch.regions import (
    DevicePlan,
    DeviceRegions,
    check_depth,
    depths_on_device,
    level_plan,
    mean_of_gaps,
    regions_of,
)
from isodepth.torch.samples import DeviceSample, check_finite_tensor


class Found(NamedTuple):
    """Distance, and its gradient by the rows of each sample if requested."""

    value: torch.Tensor  # float64, without dimensions
    slopes: tuple[torch.Tensor, torch.Tensor] | None


def check_for_device(metric: BaseMetric, device: torch.device) -> None:
    """Raise for settings that only the host knows."""
    for name, known in (("nan_policy", "raise"), ("scale", None)):
        value = getattr(metric, name)
        if value is not known and (not isinstance(value, np.ndarray) and value != known):
            raise InvalidOptionError(
                f"{name}={value!r} is not available on the device {device}; move the tensors to "
                "the host with .cpu()"
            )
    check_depth(metric.source, device)


def distance_on_device(metric: BaseMetric, pair: Pair, gradient: bool = False) -> Found | None:
    """Compute the distance of two tensors on their device; None if a sample may be a simplex."""
    with working_on(pair.device):
        fit = fit_pair(metric, pair)
        if fit is None:
            return None
        drawn, directions, budget, regions = fit
        plan = level_plan(*regions, drawn.betas, metric.eps)
        ends = torch.stack([sizes[-1] for sizes in plan.prefix_sizes]).tolist()
        x, y = (r.sample.points[r.order[:n]] for r, n in zip(regions, ends, strict=True))
        gaps, where = passes_for(x, None).search_gaps(
            x, y, *plan.prefix_sizes, directions, budget, gradient and math.isinf(metric.q)
        )
        unit = mean_of_direction(directions.shape[1], metric.q)
        if metric.q < math.inf:
            gaps = mean_gaps(x, y, *plan.prefix_sizes, directions, metric.q, gaps, budget)
        power = metric.p, 1.0 if metric.normalize else 1.0 - metric.eps
        value = mean_of_gaps(gaps / unit, plan.shares, *power)
        if not gradient:
            return Found(value, None)
        slopes = mean_slopes(gaps / unit, plan.shares, *power)
        if where is not None:
            pulls = _pulls([x, y], plan, directions, where, slopes, budget)
        else:
            sizes, slopes = plan.prefix_sizes, slopes / unit
            pulls = mean_gap_gradient([x, y], sizes, directions, metric.q, gaps, slopes, budget)
        by_x, by_y = (
            _by_row(r, pull, len(given)) / _scale(drawn, pair.device)
            for r, pull, given in zip(regions, pulls, (pair.x, pair.y), strict=True)
        )
        return Found(value, (by_x, by_y))


def compare_from_device(metric: BaseMetric, pair: Pair) -> Comparison | None:
    """A comparison on the host, of regions whose depths were worked out on the device."""
    with working_on(pair.device):
        fit = fit_pair(metric, pair)
        if fit is None:
            return None
        tensors = [_prepared(t, fit.drawn, pair.precision) for t in (pair.x, pair.y)]
    sides = zip(fit.regions, tensors, pair.weights, strict=True)
    return fit.drawn.compare(*(_host_regions(fit.drawn, *side) for side in sides))


# -- its parts ------------------------------------------------------------------------------------


class FittedPair(NamedTuple):
    """Regions of two samples, with the metric and directions of their depths."""

    drawn: FittedMetric
    directions: torch.Tensor  # (K, d)
    budget: int
    regions: tuple[DeviceRegions, DeviceRegions]


def fit_pair(metric: BaseMetric, pair: Pair) -> FittedPair | None:
    """Compute the regions of two tensors on their device; None if a sample may be a simplex."""
    check_for_device(metric, pair.device)
    drawn = metric.with_directions(pair.x.shape[1])
    # Rounded on the host, to the same numbers as there.
    kind = "float32" if pair.precision == torch.float32 else "float64"
    directions = torch.from_numpy(np.array(drawn.directions, dtype=kind)).to(pair.device)
    budget = _budget(metric, pair.x, pair.y)
    tensors = [_prepared(t, drawn, pair.precision) for t in (pair.x, pair.y)]
    for tensor, name in zip(tensors, "XY", strict=True):
        check_finite_tensor(tensor, name)
    x, y = (
        _regions(drawn, tensor, weights, name, directions, budget)
        for tensor, weights, name in zip(tensors, pair.weights, "XY", strict=True)
    )
    return None if x is None or y is None else FittedPair(drawn, directions, budget, (x, y))


def _prepared(tensor: torch.Tensor, drawn: FittedMetric, precision: torch.dtype) -> torch.Tensor:
    """Return the points in the precision of the computation, divided by the scale."""
    points = tensor.detach().to(precision)
    if drawn.origin.scale is None:
        return points
    # Divided in double precision, as on the host.
    return (points.double() / _scale(drawn, points.device)).to(precision)


def _scale(drawn: FittedMetric, device: torch.device) -> torch.Tensor | float:
    """Return the scale of the columns."""
    scale = drawn.origin.scale
    return 1.0 if scale is None else torch.from_numpy(scale.copy()).to(device)


def _budget(metric: BaseMetric, *samples: torch.Tensor) -> int:
    """Return the bytes for blocks of directions: the limit less the copies of the samples."""
    asked = budget_on(samples[0].device, metric.memory_mb)
    if metric.memory_mb is None:
        return asked
    # Rows moved or in order, and a few numbers for each of them.
    copies = sum(sample.numel() * 4 + len(sample) * 64 for sample in samples)
    return max(asked // 4, asked - copies)


def _regions(
    drawn: FittedMetric,
    points: torch.Tensor,
    weights: Any,
    name: str,
    directions: torch.Tensor,
    budget: int,
) -> DeviceRegions | None:
    sample = DeviceSample.of(points, weights, name)
    if len(sample.points) <= points.shape[1] + 1:
        return None
    depth = depths_on_device(drawn.source, sample, directions, budget)
    tolerance = drawn.source.tie_tolerance if points.dtype == torch.float64 else 0.0
    return regions_of(sample, depth, tolerance)


def _host_regions(
    drawn: FittedMetric,
    regions: DeviceRegions,
    tensor: torch.Tensor,
    weights: Any,
) -> TrimmedRegions:
    points = tensor.cpu().numpy()
    own = to_host(weights)
    sample = Sample.of(points, own)
    places = regions.sample.places(len(points)).cpu().numpy()
    depth = regions.depth.cpu().numpy()[places]
    distinct = np.empty(sample.n_points)
    distinct[sample.inverse[sample.inverse >= 0]] = depth[sample.inverse >= 0]
    absent = sample.inverse < 0
    if absent.any():
        depth[absent] = drawn.source.point_depth(  # type: ignore[attr-defined]
            sample, points[absent], drawn.along
        )
    return TrimmedRegions.from_depths(
        sample,
        distinct,
        points=points,
        depth=depth,
        weights=None if own is None else np.asarray(own, dtype=np.float64),
        tie_tolerance=drawn.source.tie_tolerance if points.dtype == np.float64 else 0.0,
        origin=drawn.origin,
    )


# -- the gradient ---------------------------------------------------------------------------------


def _pulls(
    rows: list[torch.Tensor],
    plan: DevicePlan,
    directions: torch.Tensor,
    where: torch.Tensor,
    slopes: torch.Tensor,
    budget: int,
) -> list[torch.Tensor]:
    """Return the gradient by the ordered rows of both samples, in float64."""
    place = torch.where(where >= 0, where, -1 - where)
    sign = torch.where(where >= 0, 1, -1)
    vectors = directions[place].double() * sign[:, None]
    at = [
        support_rows(own, stop, directions, place, sign, budget)
        for own, stop in zip(rows, plan.prefix_sizes, strict=True)
    ]
    away = rows[0][at[0]].double() - rows[1][at[1]].double()
    ahead = torch.where((away * vectors).sum(dim=1) >= 0, 1.0, -1.0)
    toward = (slopes * ahead)[:, None] * vectors
    return [
        torch.zeros_like(own, dtype=torch.float64).index_add_(0, index, side * toward)
        for own, index, side in zip(rows, at, (1.0, -1.0), strict=True)
    ]


def _by_row(regions: DeviceRegions, pulls: torch.Tensor, n: int) -> torch.Tensor:
    """Distribute the gradient by ordered distinct points to the rows as given (n, d)."""
    sample = regions.sample
    distinct = pulls.new_zeros(sample.points.shape)
    distinct[regions.order[: len(pulls)]] = pulls
    if sample.inverse is None:
        return distinct
    present = sample.inverse >= 0
    repeats = torch.bincount(sample.inverse[present], minlength=len(distinct))
    result = pulls.new_zeros(n, pulls.shape[1])
    result[present] = (distinct / repeats[:, None])[sample.inverse[present]]
    return result
