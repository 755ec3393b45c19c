"""The pipeline where the tensors are: from two samples to one number, which alone has to leave."""

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
from isodepth.tensors.gaps import mean_gaps, mean_pulls, support_rows, supports
from isodepth.tensors.passes import passes_for
from isodepth.tensors.products import budget_on, working_on
from isodepth.torch.checks import Pair
from isodepth.torch.regions import (
    DevicePlan,
    DeviceRegions,
    check_depth,
    depths_on_device,
    exact_plan,
    level_plan,
    mean_of_gaps,
    prefix_sizes_of,
    regions_of,
)
from isodepth.torch.samples import DeviceSample, check_finite_tensor


class Found(NamedTuple):
    """A distance, and its gradient by the rows of each sample where it was asked for."""

    value: torch.Tensor  # float64, without dimensions
    slopes: tuple[torch.Tensor, torch.Tensor] | None


def too_few(pair: Pair) -> bool:
    """Whether a sample may be a simplex, whose depths are no matter of directions.

    Anything that small is compared on the host.
    """
    return min(len(pair.x), len(pair.y)) <= pair.x.shape[1] + 1


def stays_on_device(metric: BaseMetric) -> bool:
    """Whether the whole distance is worked out on the device, and not the depths alone."""
    return metric.gap == "search" and metric._options()["refine"] == 0


def check_for_device(metric: BaseMetric, device: torch.device) -> None:
    """Raise for settings that only the host knows."""
    for name, known in (("region", "sample"), ("nan_policy", "raise"), ("scale", None)):
        value = getattr(metric, name)
        if value is not known and (not isinstance(value, np.ndarray) and value != known):
            raise InvalidOptionError(
                f"{name}={value!r} is not available on the device {device}; move the tensors to "
                "the host with .cpu()"
            )
    check_depth(metric._source, device)


def distance_on_device(metric: BaseMetric, pair: Pair, gradient: bool = False) -> Found | None:
    """The distance of two tensors where they are; None where a sample turns out to be a simplex."""
    with working_on(pair.device):
        fitted = _fit_both(metric, pair)
        if fitted is None:
            return None
        drawn, directions, budget, (x, y) = fitted
        eps = metric.eps
        plan = exact_plan(x, y, eps) if drawn.betas is None else level_plan(x, y, drawn.betas)
        last = torch.stack([plan.prefix_sizes_x[-1], plan.prefix_sizes_y[-1]]).tolist()
        rows = [r.sample.points[r.order[:n]] for r, n in zip((x, y), last, strict=True)]
        prefix_sizes = plan.prefix_sizes_x, plan.prefix_sizes_y
        sides = rows[0], rows[1], *prefix_sizes
        gaps, where = passes_for(rows[0], None).search_gaps(
            *sides, directions, budget, locate=gradient and math.isinf(metric.q)
        )
        unit = 1.0
        if metric.q < math.inf:
            gaps = mean_gaps(*sides, directions, metric.q, gaps, budget)
            unit = mean_of_direction(directions.shape[1], metric.q)
        length = 1.0 if metric.normalize else 1.0 - eps
        value = mean_of_gaps(gaps / unit, plan.shares, metric.p, length)
        if not gradient:
            return Found(value, None)
        slopes = _mean_slopes(gaps / unit, plan.shares, metric.p, length)
        if where is not None:
            pulls = _pulls(rows, plan, directions, where, slopes, budget)
        else:
            pulls = mean_pulls(
                rows, prefix_sizes, directions, metric.q, gaps, slopes / unit, budget
            )
        by_row = [
            _by_row(r, pull, len(given))
            for r, pull, given in zip((x, y), pulls, (pair.x, pair.y), strict=True)
        ]
        if drawn.origin.scale is not None:
            scale = torch.from_numpy(drawn.origin.scale.copy()).to(pair.device)
            by_row = [slope / scale for slope in by_row]
        return Found(value, (by_row[0], by_row[1]))


def regions_on_device(metric: BaseMetric, pair: Pair) -> tuple[DeviceRegions, DeviceRegions] | None:
    """The regions of two tensors where they are; None where a sample turns out to be a simplex."""
    with working_on(pair.device):
        fitted = _fit_both(metric, pair)
        return None if fitted is None else fitted.regions


def compare_from_device(metric: BaseMetric, pair: Pair) -> Comparison | None:
    """A comparison on the host, of regions whose depths were worked out on the device."""
    with working_on(pair.device):
        fitted = _fit_both(metric, pair)
        if fitted is None:
            return None
        tensors = [_prepared(t, fitted.drawn, pair.precision) for t in (pair.x, pair.y)]
    sides = zip(fitted.regions, tensors, pair.weights, strict=True)
    return fitted.drawn.compare(*(_host_regions(fitted.drawn, r, t, w) for r, t, w in sides))


def table_from_device(
    metric: BaseMetric, drawn: FittedMetric, points: torch.Tensor, weights: Any, name: str
) -> np.ndarray | None:
    """The support values (L, 2K) of one sample, worked out on its device."""
    check_for_device(metric, points.device)
    with working_on(points.device):
        points = _prepared(points, drawn, points.dtype)
        check_finite_tensor(points, name)
        budget = _budget(metric, points)
        units = torch.from_numpy(np.array(drawn.directions)).to(points)
        regions = _regions(drawn, points, weights, name, units, budget)
        if regions is None:
            return None
        assert drawn.betas is not None
        prefix_sizes = prefix_sizes_of(regions, drawn.betas)
        ordered = regions.sample.points[regions.order[: int(prefix_sizes[-1])]]
        return supports(ordered, prefix_sizes, units, budget).cpu().numpy()


# -- its parts ------------------------------------------------------------------------------------


class _FittedPair(NamedTuple):
    """The regions of two samples, and what they were found with."""

    drawn: FittedMetric
    directions: torch.Tensor  # (K, d)
    budget: int
    regions: tuple[DeviceRegions, DeviceRegions]


def _fit_both(metric: BaseMetric, pair: Pair) -> _FittedPair | None:
    """None where a sample turns out to be a simplex."""
    check_for_device(metric, pair.device)
    drawn = metric.fit(pair.x.shape[1])
    # Rounded on the host, to the same numbers as there.
    kind = "float32" if pair.precision == torch.float32 else "float64"
    directions = torch.from_numpy(np.array(drawn.directions, dtype=kind)).to(pair.device)
    budget = _budget(metric, pair.x, pair.y)
    tensors = [_prepared(t, drawn, pair.precision) for t in (pair.x, pair.y)]
    for tensor, name in zip(tensors, "XY", strict=True):
        check_finite_tensor(tensor, name)
    found = []
    for tensor, weights, name in zip(tensors, pair.weights, "XY", strict=True):
        regions = _regions(drawn, tensor, weights, name, directions, budget)
        if regions is None:
            return None
        found.append(regions)
    return _FittedPair(drawn, directions, budget, (found[0], found[1]))


def _prepared(tensor: torch.Tensor, drawn: FittedMetric, precision: torch.dtype) -> torch.Tensor:
    """The points in the precision of the work and in the units asked for."""
    points = tensor.detach().to(precision)
    if drawn.origin.scale is None:
        return points
    # Divided in double precision, as on the host.
    scale = torch.from_numpy(drawn.origin.scale.copy()).to(points.device)
    return (points.double() / scale).to(precision)


def _budget(metric: BaseMetric, *samples: torch.Tensor) -> int:
    """Bytes for blocks of directions; of those that were asked for the samples' copies go off."""
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
    own = weights.detach().cpu().numpy() if isinstance(weights, torch.Tensor) else weights
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
    tolerance = drawn.source.tie_tolerance if points.dtype == np.float64 else 0.0
    checked = None if own is None else np.asarray(own, dtype=np.float64)
    return TrimmedRegions.from_depths(
        sample,
        distinct,
        points=points,
        depth=depth,
        weights=checked,
        tie_tolerance=tolerance,
        origin=drawn.origin,
    )


# -- the gradient ---------------------------------------------------------------------------------


def _mean_slopes(gaps: torch.Tensor, shares: torch.Tensor, p: float, length: float) -> torch.Tensor:
    """The derivative (L,) of the mean by each gap, as `metric.gradient.mean_slopes`."""
    largest = gaps.max()
    if bool(largest == 0):
        return torch.zeros_like(gaps)
    if math.isinf(p):
        return torch.zeros_like(gaps).index_fill_(0, gaps.argmax(), 1.0)
    ratios = gaps / largest
    total = length * (shares * ratios**p).sum()
    powers = torch.where(ratios > 0, ratios ** (p - 1.0), torch.zeros_like(ratios))
    return length * shares * powers * total ** (1.0 / p - 1.0)


def _pulls(
    rows: list[torch.Tensor],
    plan: DevicePlan,
    directions: torch.Tensor,
    where: torch.Tensor,
    slopes: torch.Tensor,
    budget: int,
) -> list[torch.Tensor]:
    """What pulls at each of the ordered rows of both samples, in float64."""
    place = torch.where(where >= 0, where, -1 - where)
    sign = torch.where(where >= 0, 1, -1)
    vectors = directions[place].double() * sign[:, None]
    prefix_sizes = (plan.prefix_sizes_x, plan.prefix_sizes_y)
    at = [
        support_rows(own, stop, directions, place, sign, budget)
        for own, stop in zip(rows, prefix_sizes, strict=True)
    ]
    away = rows[0][at[0]].double() - rows[1][at[1]].double()
    ahead = torch.where((away * vectors).sum(dim=1) >= 0, 1.0, -1.0)
    toward = (slopes * ahead)[:, None] * vectors
    return [
        torch.zeros_like(own, dtype=torch.float64).index_add_(0, index, side * toward)
        for own, index, side in zip(rows, at, (1.0, -1.0), strict=True)
    ]


def _by_row(regions: DeviceRegions, pulls: torch.Tensor, n: int) -> torch.Tensor:
    """What pulls at the ordered distinct points, shared out to the rows as given (n, d)."""
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
