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
from typing import Any, NoReturn

import torch

from isodepth.device.host import to_host
from isodepth.errors import InvalidOptionError
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import compare_arrays, fit_both
from isodepth.metric.gradient import check_has_gradient
from isodepth.metric.settings import MetricSettings
from isodepth.torch import device
from isodepth.torch.samples import TensorPair, check_tensors


def distance(metric: MetricSettings, X: Any, Y: Any, weights: Any = None) -> Any:
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


def compare(metric: MetricSettings, X: Any, Y: Any, weights: Any = None) -> Comparison:
    """Compare two tensors, as `Metric.compare` does for arrays; the result has NumPy arrays."""
    pair = check_tensors(X, Y, weights, metric._dtype)
    comparison = device.compare_from_device(metric, pair) if _uses_device(pair) else None
    if comparison is None:
        return compare_arrays(metric, *_on_host(pair))
    return comparison


def _uses_device(pair: TensorPair) -> bool:
    """Return whether depths are computed on the device of the tensors, another one than the host.

    Samples with at most d + 1 rows in d dimensions are processed on the host. The rows may be the
    vertices of a simplex, whose depths are computed without directions.
    """
    return pair.device.type != "cpu" and min(len(pair.x), len(pair.y)) > pair.x.shape[1] + 1


def with_gradient(metric: MetricSettings) -> MetricSettings:
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
        ctx: Any, X: torch.Tensor, Y: torch.Tensor, metric: MetricSettings, pair: TensorPair
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


def _evaluate(metric: MetricSettings, pair: TensorPair, gradient: bool) -> tuple[torch.Tensor, Any]:
    """Return the distance and, if `gradient`, its gradient with respect to the rows of X and Y."""
    comparison = None
    if _uses_device(pair):
        if metric.gap == "search" and metric._steps == 0:
            result = device.distance_on_device(metric, pair, gradient)
            if result is not None:
                return result.value.to(pair.dtype), result.slopes
        comparison = device.compare_from_device(metric, pair)
    if comparison is None:
        drawn, x, y, _ = fit_both(metric, *_on_host(pair))
        comparison = drawn.compare(x, y)
    slopes = map(torch.tensor, comparison.gradient()) if gradient else None
    return torch.tensor(comparison.distance, dtype=pair.dtype, device=pair.device), slopes


def _on_host(pair: TensorPair) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return X and Y as arrays on the host, and the pair of their weights.

    The arrays share the memory of the tensors if possible.
    """
    x, y = (to_host(tensor.detach().to(pair.precision)) for tensor in (pair.x, pair.y))
    return x, y, tuple(map(to_host, pair.weights))
