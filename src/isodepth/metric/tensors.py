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

from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
import torch

from isodepth.device.host import to_host
from isodepth.device.products import budget_on, working_on
from isodepth.device.samples import DeviceSample, TensorPair, check_finite_tensor, check_tensors
from isodepth.errors import InvalidOptionError
from isodepth.geometry.depth.base import depth_text
from isodepth.geometry.regions import Nested, Sample
from isodepth.geometry.scaling import aligned_scale
from isodepth.geometry.trimmed import TrimmedRegions
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.gradient import check_has_gradient, gradients_of_rows


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
    comparison = compare_on_device(metric, pair) if _uses_device(pair) else None
    return metric._compare_arrays(*_on_host(pair)) if comparison is None else comparison


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
    found = distance_on_device(metric, pair, gradient) if _uses_device(pair) else None
    if found is not None:
        return found
    fitted, x, y, _ = metric._fit_pair(*_on_host(pair))
    return _distance_of_regions(fitted, x, y, pair, gradient)


def _distance_of_regions(
    fitted: FittedMetric, x: Nested, y: Nested, pair: TensorPair, gradient: bool
) -> tuple[torch.Tensor, Any]:
    """Return the distance between nested regions as a tensor, and its gradient if `gradient`."""
    gaps = fitted._gaps(x, y)
    value = fitted._mean(gaps.values, gaps.plan)
    slopes = None
    if gradient:
        slopes = [torch.as_tensor(each) for each in gradients_of_rows(x, y, gaps, fitted.metric)]
        scale = fitted._origin.scale
        if scale is not None:
            slopes = [each / torch.from_numpy(scale.copy()).to(each) for each in slopes]
    return torch.tensor(value, dtype=pair.dtype, device=pair.device), slopes


class DeviceFit(NamedTuple):
    """Depths of two samples on their device, with the metric and its directions."""

    fitted: FittedMetric
    sides: list[tuple[DeviceSample, torch.Tensor]]  # each sample, and the depths of its points

    @property
    def regions(self) -> list[Nested]:
        """Nested regions of both samples, on the host if the device cannot compare them."""
        metric, width = self.fitted.metric, self.fitted.directions.shape[1]
        if metric.gap == "exact" or (metric._steps and width > 1):
            return [_host_regions(self.fitted, *side)._nested for side in self.sides]
        return [self.fitted._source._nested(*side) for side in self.sides]


def distance_on_device(
    metric: Any, pair: TensorPair, gradient: bool = False
) -> tuple[torch.Tensor, Any] | None:
    """Compute the distance of two tensors on their device, and its gradient if `gradient`.

    Return None if a sample has at most d + 1 distinct points in d dimensions. The points may then
    be the vertices of a simplex, whose depths are computed only on the host.
    """
    with working_on(pair.device):
        fit = fit_on_device(metric, pair, gradient)
        if fit is None:
            return None
        x, y = fit.regions
        return _distance_of_regions(fit.fitted, x, y, pair, gradient)


def compare_on_device(metric: Any, pair: TensorPair) -> Comparison | None:
    """Compute the depths of two tensors on their device, and compare their regions on the host.

    Return None as `distance_on_device` does.
    """
    with working_on(pair.device):
        fit = fit_on_device(metric, pair)
    if fit is None:
        return None
    return fit.fitted.compare(*(_host_regions(fit.fitted, *side) for side in fit.sides))


def fit_on_device(metric: Any, pair: TensorPair, gradient: bool = False) -> DeviceFit | None:
    """Compute the depths of two tensors with torch, or return None as `distance_on_device` does.

    `gradient` is whether the gradient of the distance is needed.
    """
    host_only = {"nan_policy": metric.nan_policy != "raise", "scale": isinstance(metric.scale, str)}
    for name in (name for name, used in host_only.items() if used):
        raise InvalidOptionError(
            f"{name}={getattr(metric, name)!r} is not available on the device {pair.device}; move "
            "the tensors to the host with .cpu()"
        )
    source = metric._source
    if source._primitive is None:
        raise InvalidOptionError(
            f"the depth {depth_text(source)} is not available on the device {pair.device}: use "
            "projection, halfspace, irw or ai_irw (with its empirical covariance), without "
            "refinement, or move the tensors to the host with .cpu()"
        )
    aligned_scale(metric._units, None)  # refuses divisors with names
    fitted = metric.with_directions(pair.x.shape[1])
    budget = _budget(metric, pair.x, pair.y)
    tensors = [_prepared(t, fitted, pair.precision) for t in (pair.x, pair.y)]
    for tensor, name in zip(tensors, "XY", strict=True):
        check_finite_tensor(tensor, name)
    sides = []
    for tensor, weights, name in zip(tensors, pair.weights, "XY", strict=True):
        sample = replace(DeviceSample.of(tensor, weights, name, budget), locates=gradient)
        if len(sample.points) <= tensor.shape[1] + 1:
            return None
        sides.append((sample, source._depths(sample, fitted.directions)))
    return DeviceFit(fitted, sides)


def _prepared(tensor: torch.Tensor, fitted: FittedMetric, precision: torch.dtype) -> torch.Tensor:
    """Divide the columns of a tensor by the scale of a metric, and convert it to `precision`."""
    points, scale = tensor.detach().to(precision), fitted._origin.scale
    if scale is None:
        return points
    # Columns are divided in double precision, because the host does the same. The results then
    # agree.
    return (points.double() / torch.from_numpy(scale.copy()).to(points.device)).to(precision)


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
    fitted: FittedMetric, device_sample: DeviceSample, device_depths: torch.Tensor
) -> TrimmedRegions:
    """Copy a sample with its depths to the host, and return its regions.

    The depths are reordered, because the host stores the distinct rows in another order. Depths of
    rows of weight zero, which the device does not compute, are computed here.
    """
    points, weights = device_sample.rows.cpu().numpy(), device_sample.weights
    sample = Sample.of(points, weights, resources=fitted._resources)
    depths = device_depths.cpu().numpy()[device_sample.index_of_rows().cpu().numpy()]
    distinct, present = np.empty(sample.n_points), sample.inverse >= 0
    distinct[sample.inverse[present]] = depths[present]
    if not present.all():
        source: Any = fitted._source
        depths[~present] = source._depths(sample, fitted.directions, points[~present])
    nested = fitted._source._nested(sample, distinct)
    return TrimmedRegions.of(nested, depths, None, fitted._origin)


def _on_host(pair: TensorPair) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return X and Y as arrays on the host, and the pair of their weights.

    The arrays share the memory of the tensors if possible.
    """
    x, y = (to_host(tensor.detach().to(pair.precision)) for tensor in (pair.x, pair.y))
    return x, y, tuple(map(to_host, pair.weights))
