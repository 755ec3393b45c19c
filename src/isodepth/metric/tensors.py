"""Distance of two tensors: a zero-dimensional tensor, with a gradient if an input requires one.

Levels, directions and support points are computed without recording operations for autograd. The
forward pass computes the gradient from them. The backward pass multiplies this gradient by the
upstream gradient.

Tensors on the host are converted to arrays, which share their memory unless the dtype changes. For
tensors on another device, depths are computed on that device. Regions are also compared on that
device, except with refinement or ``gap="exact"``, which run on the host. Samples with at most d + 1
distinct rows in d dimensions may be the vertices of a simplex and are processed on the host.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
import torch

from isodepth.device.gaps import mean_gap_gradient, mean_gaps, support_rows
from isodepth.device.host import to_host
from isodepth.device.kernels import passes_for
from isodepth.device.products import budget_on, working_on
from isodepth.device.regions import (
    DeviceRegions,
    check_depth,
    depths_on_device,
    level_plan,
    mean_of_gaps,
    regions_of,
)
from isodepth.device.samples import DeviceSample, TensorPair, check_finite_tensor, check_tensors
from isodepth.errors import InvalidOptionError
from isodepth.geometry.directions import mean_of_direction
from isodepth.geometry.regions import Sample, TrimmedRegions
from isodepth.geometry.scaling import aligned_scale
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.gradient import check_has_gradient, mean_slopes


def distance(metric: Any, X: Any, Y: Any, weights: Any = None) -> Any:
    """Compute the distance of two tensors, as `Metric.distance` does for arrays.

    Parameters
    ----------
    X, Y : tensors of shape (n, d) and (m, d) on one device
    weights : pair or None
        Weights of X and of Y: tensors on the same device, array-likes on the host, or None.

    Returns
    -------
    distance : zero-dimensional tensor on the same device
        The dtype is that of the inputs, or float64 for integers. The distance of half-precision
        inputs is computed in float32.
    """
    pair = check_tensors(X, Y, weights, metric._dtype)
    if torch.is_grad_enabled() and (X.requires_grad or Y.requires_grad):
        return _Distance.apply(X, Y, with_gradient(metric), pair)
    return _evaluate(metric, pair, gradient=False)[0]


def compare(metric: Any, X: Any, Y: Any, weights: Any = None) -> Comparison:
    """Compare two tensors, as `Metric.compare` does for arrays; the result has NumPy arrays."""
    pair = check_tensors(X, Y, weights, metric._dtype)
    comparison = compare_from_device(metric, pair) if _uses_device(pair) else None
    if comparison is None:
        return metric._compare_arrays(*_on_host(pair))
    return comparison


def _uses_device(pair: TensorPair) -> bool:
    """Return whether depths are computed on the device of the tensors, another one than the host.

    Samples with at most d + 1 rows in d dimensions are processed on the host. The rows may be the
    vertices of a simplex, whose depths are computed without directions.
    """
    return pair.device.type != "cpu" and min(len(pair.x), len(pair.y)) > pair.x.shape[1] + 1


def with_gradient(metric: Any) -> Any:
    """Return a metric whose distance has a gradient: without refinement, if `refine` is None.

    Raise an error if the value of an option does not allow a gradient.
    """
    if metric.refine is None:
        metric = replace(metric, refine=0)
    if metric.nan_policy != "raise":
        raise InvalidOptionError(
            f"nan_policy={metric.nan_policy!r} is not available for tensors that require grad; "
            "select the rows before, or detach the tensors"
        )
    check_has_gradient(scale=metric.scale, refine=metric._steps)
    return metric


class _Distance(torch.autograd.Function):
    """Autograd function that computes the distance and, in the same pass, its gradient."""

    @staticmethod
    def forward(
        ctx: Any, X: torch.Tensor, Y: torch.Tensor, metric: Any, pair: TensorPair
    ) -> torch.Tensor:
        value, slopes = _evaluate(metric, pair, gradient=True)
        ctx.save_for_backward(X, Y, *(s.to(rows) for s, rows in zip(slopes, (X, Y), strict=True)))
        return value

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[Any, ...]:
        X, Y, *slopes = ctx.saved_tensors
        sides = zip(slopes, (X, Y), ctx.needs_input_grad, strict=False)
        gradients = (
            _Gradient.apply(upstream, s, rows) if needed else None for s, rows, needed in sides
        )
        return *gradients, None, None


class _Gradient(torch.autograd.Function):
    """Gradient of the distance, as a function that raises an error if it is differentiated.

    `once_differentiable` of torch raises an error only if the upstream gradient requires a
    gradient. A penalty on the gradient of the distance would then silently have no effect.
    """

    @staticmethod
    def forward(
        ctx: Any, upstream: torch.Tensor, slope: torch.Tensor, rows: torch.Tensor
    ) -> torch.Tensor:
        return upstream.to(slope.dtype) * slope

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> NoReturn:
        raise InvalidOptionError(
            "the distance of tensors has no second derivatives, but a gradient made with "
            "create_graph=True is differentiated again; detach it"
        )


def _evaluate(metric: Any, pair: TensorPair, gradient: bool) -> tuple[torch.Tensor, Any]:
    """Return the distance and, if `gradient`, its gradient with respect to the rows of X and Y."""
    comparison = None
    if _uses_device(pair):
        if metric.gap == "search" and metric._steps == 0:
            result = distance_on_device(metric, pair, gradient)
            if result is not None:
                return result.value.to(pair.dtype), result.slopes
        comparison = compare_from_device(metric, pair)
    if comparison is None:
        drawn, x, y, _ = metric._fit_pair(*_on_host(pair))
        comparison = drawn.compare(x, y)
    slopes = map(torch.tensor, comparison.gradient()) if gradient else None
    return torch.tensor(comparison.distance, dtype=pair.dtype, device=pair.device), slopes


def _on_host(pair: TensorPair) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return X and Y as arrays on the host, and the pair of their weights.

    The arrays share the memory of the tensors if possible.
    """
    x, y = (to_host(tensor.detach().to(pair.precision)) for tensor in (pair.x, pair.y))
    return x, y, tuple(map(to_host, pair.weights))


# -- computation on the device of the tensors --------------------------------------------------


class DeviceDistance(NamedTuple):
    """Distance of two samples, with its gradient.

    The gradient `slopes` has one tensor per sample, with the shape of the sample. It is None if no
    gradient was requested.
    """

    value: torch.Tensor  # distance, a zero-dimensional float64 tensor
    slopes: list[torch.Tensor] | None


def distance_on_device(
    metric: Any, pair: TensorPair, gradient: bool = False
) -> DeviceDistance | None:
    """Compute the distance of two tensors on their device, and its gradient if `gradient`.

    Return None if a sample has at most d + 1 distinct points in d dimensions. The points may then
    be the vertices of a simplex, whose depths are computed only on the host.
    """
    with working_on(pair.device):
        fit = fit_pair(metric, pair)
        if fit is None:
            return None
        drawn, directions, budget, regions = fit
        shares, sizes = level_plan(*regions, drawn._betas, metric.eps)
        ends = torch.stack([ends[-1] for ends in sizes]).tolist()
        x, y = (r.sample.points[r.order[:n]] for r, n in zip(regions, ends, strict=True))
        gaps, codes = passes_for(x, None).search_gaps(
            x, y, *sizes, directions, budget, gradient and math.isinf(metric.q)
        )
        unit = mean_of_direction(directions.shape[1], metric.q)
        if metric.q < math.inf:
            gaps = mean_gaps(x, y, *sizes, directions, metric.q, gaps, budget)
        value = mean_of_gaps(gaps / unit, shares, metric.p, metric._length)
        if not gradient:
            return DeviceDistance(value, None)
        slopes = mean_slopes(gaps / unit, shares, metric.p, metric._length)
        if codes is not None:
            ordered = _maximum_gap_gradient([x, y], sizes, directions, codes, slopes, budget)
        else:
            slopes = slopes / unit
            ordered = mean_gap_gradient([x, y], sizes, directions, metric.q, gaps, slopes, budget)
        scale = _scale(drawn, pair.device)
        sides = zip(regions, ordered, (pair.x, pair.y), strict=True)
        return DeviceDistance(value, [_by_row(r, g, len(t)) / scale for r, g, t in sides])


def compare_from_device(metric: Any, pair: TensorPair) -> Comparison | None:
    """Compute the depths of two tensors on their device, and compare their regions on the host.

    Return None if a sample has at most d + 1 distinct points in d dimensions. The points may then
    be the vertices of a simplex, whose depths are computed only on the host.
    """
    with working_on(pair.device):
        fit = fit_pair(metric, pair)
        if fit is None:
            return None
        tensors = [_prepared(t, fit.drawn, pair.precision) for t in (pair.x, pair.y)]
    sides = zip(fit.regions, tensors, pair.weights, strict=True)
    return fit.drawn.compare(*(_host_regions(fit.drawn, *side) for side in sides))


# -- regions on the device ------------------------------------------------------------------------


class DevicePair(NamedTuple):
    """Depth-trimmed regions of two samples, with the metric and the directions that define them."""

    drawn: FittedMetric
    directions: torch.Tensor  # one direction per row, of shape (K, d)
    budget: int  # memory in bytes for blocks of directions
    regions: tuple[DeviceRegions, DeviceRegions]


def fit_pair(metric: Any, pair: TensorPair) -> DevicePair | None:
    """Compute the depth-trimmed regions of two tensors on their device.

    Return None if a sample has at most d + 1 distinct points in d dimensions. The points may then
    be the vertices of a simplex, whose depths are computed only on the host.
    """
    host_only = {"nan_policy": metric.nan_policy != "raise", "scale": isinstance(metric.scale, str)}
    for name in (name for name, used in host_only.items() if used):
        raise InvalidOptionError(
            f"{name}={getattr(metric, name)!r} is not available on the device {pair.device}; move "
            "the tensors to the host with .cpu()"
        )
    check_depth(metric._source, pair.device)
    aligned_scale(metric._units, None)  # refuses divisors with names
    drawn = metric.with_directions(pair.x.shape[1])
    # The directions are rounded to the dtype of the computation on the host, so that all devices
    # use the same directions.
    dtype = "float32" if pair.precision == torch.float32 else "float64"
    directions = torch.from_numpy(np.array(drawn.directions, dtype=dtype)).to(pair.device)
    budget = _budget(metric, pair.x, pair.y)
    tensors = [_prepared(t, drawn, pair.precision) for t in (pair.x, pair.y)]
    for tensor, name in zip(tensors, "XY", strict=True):
        check_finite_tensor(tensor, name)
    tolerance = drawn._source._tie_tolerance if pair.precision == torch.float64 else 0.0
    regions = []
    for tensor, weights, name in zip(tensors, pair.weights, "XY", strict=True):
        sample = DeviceSample.of(tensor, weights, name)
        if len(sample.points) <= tensor.shape[1] + 1:
            return None
        depth = depths_on_device(drawn._source, sample, directions, budget)
        regions.append(regions_of(sample, depth, tolerance))
    return DevicePair(drawn, directions, budget, (regions[0], regions[1]))


def _prepared(tensor: torch.Tensor, drawn: FittedMetric, precision: torch.dtype) -> torch.Tensor:
    """Divide the columns of a tensor by the scale of `drawn`, and convert it to `precision`."""
    points = tensor.detach().to(precision)
    if drawn._origin.scale is None:
        return points
    # Columns are divided in double precision, because the host does the same. The results then
    # agree.
    return (points.double() / _scale(drawn, points.device)).to(precision)


def _scale(drawn: FittedMetric, device: torch.device) -> torch.Tensor | float:
    """Return the divisors (d,) of the columns as a tensor on a device; 1.0 without a scale.

    `drawn` is the metric that contains the divisors.
    """
    scale = drawn._origin.scale
    return 1.0 if scale is None else torch.from_numpy(scale.copy()).to(device)


def _budget(metric: Any, *samples: torch.Tensor) -> int:
    """Return the number of bytes available for blocks of projections.

    The number is the option `memory_mb` minus the memory for copies of the samples, but at least a
    quarter of `memory_mb`. If the option is None, the number is the default of `budget_on`.
    """
    limit = budget_on(samples[0].device, metric.memory_mb)
    if metric.memory_mb is None:
        return limit
    # Bytes for a float32 copy of the rows, and for eight numbers of eight bytes per row.
    copies = sum(sample.numel() * 4 + len(sample) * 64 for sample in samples)
    return max(limit // 4, limit - copies)


def _host_regions(
    drawn: FittedMetric, regions: DeviceRegions, tensor: torch.Tensor, weights: Any
) -> TrimmedRegions:
    """Convert the depth-trimmed regions of a tensor from the device to the host.

    `drawn` is the metric with its directions, `tensor` (n, d) the sample as `_prepared` returns it,
    and `weights` (n,) its weights or None. The depths are reordered, because the host stores the
    distinct rows in another order. Depths of rows of weight zero, which the device does not
    compute, are computed here.
    """
    points, weights = tensor.cpu().numpy(), to_host(weights)
    sample = Sample.of(points, weights)
    depth = regions.depth.cpu().numpy()[regions.sample.index_of_rows(len(points)).cpu().numpy()]
    distinct, present = np.empty(sample.n_points), sample.inverse >= 0
    distinct[sample.inverse[present]] = depth[present]
    if not present.all():
        depth[~present] = drawn._source._point_depth(  # type: ignore[attr-defined]
            sample, points[~present], drawn._along
        )
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    tolerance = drawn._source._tie_tolerance if points.dtype == np.float64 else 0.0
    return TrimmedRegions._from_depths(
        sample, distinct, points, depth, weights, tolerance, origin=drawn._origin
    )


# -- gradient of the distance ---------------------------------------------------------------------


def _maximum_gap_gradient(
    rows: list[torch.Tensor],
    sizes: tuple[torch.Tensor, torch.Tensor],
    directions: torch.Tensor,
    codes: torch.Tensor,
    slopes: torch.Tensor,
    budget: int,
) -> list[torch.Tensor]:
    """Compute the gradient of the distance with respect to the rows of both samples, for q=inf.

    At each of the L levels only two rows contribute: the support points of both regions in the
    direction that maximizes the gap.

    Parameters
    ----------
    rows : tensors of shape (n, d) and (m, d)
        Distinct rows of each sample in its largest region, deepest first.
    sizes : pair of int64 tensors of shape (L,)
        Number of rows of each sample in the region of each level.
    directions : tensor of shape (K, d)
    codes : int64 tensor of shape (L,)
        Maximizing direction of each level: k for direction k, and -1 - k for its opposite.
    slopes : tensor of shape (L,)
        Derivatives of the distance with respect to the gaps of the levels.
    budget : int
        Memory in bytes for blocks of directions.

    Returns
    -------
    gradients : float64 tensors of shape (n, d) and (m, d)
    """
    place = torch.where(codes >= 0, codes, -1 - codes)
    sign = torch.where(codes >= 0, 1, -1)
    vectors = directions[place].double() * sign[:, None]
    at = [
        support_rows(side, ends, directions, place, sign, budget)
        for side, ends in zip(rows, sizes, strict=True)
    ]
    away = rows[0][at[0]].double() - rows[1][at[1]].double()
    ahead = torch.where((away * vectors).sum(dim=1) >= 0, 1.0, -1.0)
    toward = (slopes * ahead)[:, None] * vectors
    return [
        torch.zeros_like(side, dtype=torch.float64).index_add_(0, index, outward * toward)
        for side, index, outward in zip(rows, at, (1.0, -1.0), strict=True)
    ]


def _by_row(regions: DeviceRegions, ordered: torch.Tensor, n: int) -> torch.Tensor:
    """Distribute a gradient with respect to distinct points over the n input rows.

    `ordered` has one row per distinct point, deepest first. The gradient of a point is divided
    equally among the input rows that are equal to it. Rows of weight zero have gradient zero. The
    result has shape (n, d).
    """
    sample = regions.sample
    distinct = ordered.new_zeros(sample.points.shape)
    distinct[regions.order[: len(ordered)]] = ordered
    if sample.inverse is None:
        return distinct
    present = sample.inverse >= 0
    repeats = torch.bincount(sample.inverse[present], minlength=len(distinct))
    result = ordered.new_zeros(n, ordered.shape[1])
    result[present] = (distinct / repeats[:, None])[sample.inverse[present]]
    return result
