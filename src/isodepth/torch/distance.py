"""The distance of two tensors: a tensor without dimensions, with a gradient where one is wanted.

Levels, directions and support points are found without a graph. Where they are known the gradient
is known as well, so that it is worked out together with the distance and only scaled on the way
back. On the host the tensors are arrays that share their memory; elsewhere the work is done by
`engine.arrays` where the tensors are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from isodepth.core.regions import TrimmedRegions
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.comparison import Comparison
from isodepth.metric.metric import Metric
from isodepth.metric.settings import DefaultSteps
from isodepth.torch.checks import Pair, check_tensors


def distance(metric: Metric, X: Any, Y: Any, weights: Any = None) -> Any:
    """What `Metric.distance` gives for tensors.

    Parameters
    ----------
    X, Y : tensors of shape (n, d) and (m, d) on one device
    weights : pair or None
        Tensors of that device, or anything that is an array on the host.

    Returns
    -------
    distance : tensor without dimensions, of the same device and dtype
        Integers are taken as float64. Half precision is worked on in float32.
    """
    if isinstance(X, TrimmedRegions) or isinstance(Y, TrimmedRegions):
        return _beside_regions(metric, X, Y, weights)
    pair = check_tensors(X, Y, weights, metric.dtype)
    if pair.wants_gradient:
        return _Distance.apply(X, Y, with_gradient(metric), pair)
    return _as_tensor(_on_host(metric, pair), pair)


def compare(metric: Metric, X: Any, Y: Any, weights: Any = None) -> Comparison:
    """What `Metric.compare` gives for tensors: numbers, on the host and without a graph."""
    if isinstance(X, TrimmedRegions) or isinstance(Y, TrimmedRegions):
        return metric.compare(_host_side(X, "X"), _host_side(Y, "Y"), weights)
    pair = check_tensors(X, Y, weights, metric.dtype)
    return metric.compare(*_host_arrays(pair), weights=_host_weights(pair))


def with_gradient(metric: Metric) -> Metric:
    """The same metric, if its distance has a gradient; steps that nobody asked for are left out."""
    if metric.region != "sample":
        raise InvalidOptionError(
            f"the corners of regions with region={metric.region!r} are no rows of the samples, so "
            "that there is no gradient by rows; use region='sample', or detach the tensors"
        )
    if metric.gap == "exact" or metric.refine == 0:
        return metric
    if not isinstance(metric.refine, DefaultSteps):
        raise InvalidOptionError(
            f"a distance that is refined has no gradient, got refine={metric.refine} and tensors "
            "that require grad: where it ends a support point is a mixture of many rows. Use "
            "refine=0 or gap='exact', or detach the tensors"
        )
    return replace(metric, refine=0)


class _Distance(torch.autograd.Function):
    """A distance with the gradient that was found with it."""

    @staticmethod
    def forward(
        ctx: Any, X: torch.Tensor, Y: torch.Tensor, metric: Metric, pair: Pair
    ) -> torch.Tensor:
        comparison = metric.compare(*_host_arrays(pair), weights=_host_weights(pair))
        slopes = [
            torch.from_numpy(slope).to(like.dtype)
            for slope, like in zip(comparison.gradient(), (X, Y), strict=True)
        ]
        ctx.save_for_backward(*slopes)
        return _as_tensor(comparison.distance, pair)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[Any, ...]:
        wanted = zip(ctx.saved_tensors, ctx.needs_input_grad, strict=False)
        return *(upstream.to(s.dtype) * s if needed else None for s, needed in wanted), None, None


def _on_host(metric: Metric, pair: Pair) -> float:
    return metric.distance(*_host_arrays(pair), weights=_host_weights(pair))


def _as_tensor(value: float, pair: Pair) -> torch.Tensor:
    return torch.tensor(value, dtype=pair.dtype, device=pair.device)


def _host_arrays(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """The tensors as arrays of one precision, views of the same memory where they have it."""
    x, y = (host_array(t, pair.precision) for t in (pair.x, pair.y))
    return x, y


def host_array(tensor: torch.Tensor, precision: torch.dtype) -> np.ndarray:
    """A tensor as an array of that precision, a view of the same memory where it can be one."""
    return tensor.detach().to(precision).cpu().resolve_neg().numpy()


def _host_weights(pair: Pair) -> tuple[Any, Any]:
    return tuple(w.cpu().numpy() if isinstance(w, torch.Tensor) else w for w in pair.weights)


def _beside_regions(metric: Metric, X: Any, Y: Any, weights: Any) -> torch.Tensor:
    """A tensor on the host beside regions, which are there as well."""
    tensor = X if isinstance(X, torch.Tensor) else Y
    value = metric.distance(_host_side(X, "X"), _host_side(Y, "Y"), weights)
    return torch.tensor(value, dtype=tensor.dtype if tensor.is_floating_point() else torch.float64)


def _host_side(side: Any, name: str) -> Any:
    if not isinstance(side, torch.Tensor):
        return side
    if side.device.type != "cpu" or side.requires_grad:
        raise InvalidInputError(
            f"{name} is a tensor that requires grad or lies on the device {side.device}, and is "
            f"compared with regions on the host; pass {name}.detach().cpu()"
        )
    half = side.is_floating_point() and side.dtype.itemsize < 4
    return (side.float() if half else side).numpy()
