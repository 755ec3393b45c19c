"""The distance of two tensors: a tensor without dimensions, with a gradient where one is wanted.

Levels, directions and support points are found without a graph. Where they are known the gradient
is known as well, so that it is worked out together with the distance and only scaled on the way
back. On the host the tensors are arrays that share their memory; elsewhere the work is done by
`tensors` where the tensors are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import torch

from isodepth.errors import InvalidOptionError
from isodepth.metric.base import BaseMetric
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import fit_both
from isodepth.metric.gradient import check_has_gradient
from isodepth.tensors.host import to_host
from isodepth.torch import device
from isodepth.torch.checks import Pair, check_tensors


def distance(metric: BaseMetric, X: Any, Y: Any, weights: Any = None) -> Any:
    """What `Metric.distance` gives for tensors.

    Parameters
    ----------
    X, Y : tensors of shape (n, d) and (m, d) on one device
    weights : pair or None
        Tensors of that device, or anything that is an array on the host.

    Returns
    -------
    distance : tensor without dimensions, of the same device and dtype
        Integers become float64. Half precision is computed in float32.
    """
    pair = check_tensors(X, Y, weights, metric.dtype)
    if pair.wants_gradient:
        return _Distance.apply(X, Y, with_gradient(metric), pair)
    return _evaluate(metric, pair, gradient=False)[0]


def compare(metric: BaseMetric, X: Any, Y: Any, weights: Any = None) -> Comparison:
    """What `Metric.compare` gives for tensors: numbers, on the host and without a graph."""
    pair = check_tensors(X, Y, weights, metric.dtype)
    found = device.compare_from_device(metric, pair) if _elsewhere(pair) else None
    if found is not None:
        return found
    return metric.compare(*_on_host(pair))


def _elsewhere(pair: Pair) -> bool:
    """Whether the work is done on another device than the host.

    The host takes samples that may be simplices, whose depths are no matter of directions.
    """
    return pair.device.type != "cpu" and min(len(pair.x), len(pair.y)) > pair.x.shape[1] + 1


def with_gradient(metric: BaseMetric) -> BaseMetric:
    """The same metric, if its distance has a gradient; steps that nobody asked for are left out."""
    if metric.refine is None and metric.gap != "exact":
        metric = replace(metric, refine=0)
    steps = metric._options()["refine"]
    if metric.nan_policy != "raise":
        raise InvalidOptionError(
            f"tensors that require grad are taken as they are, got nan_policy="
            f"{metric.nan_policy!r}; select the rows before, or detach the tensors"
        )
    check_has_gradient(
        region=metric.region, scale=metric.scale, refine=0 if metric.gap == "exact" else steps
    )
    return metric


class _Distance(torch.autograd.Function):
    """A distance with the gradient that was found with it."""

    @staticmethod
    def forward(
        ctx: Any, X: torch.Tensor, Y: torch.Tensor, metric: BaseMetric, pair: Pair
    ) -> torch.Tensor:
        value, slopes = _evaluate(metric, pair, gradient=True)
        ctx.save_for_backward(X, Y, *(s.to(rows) for s, rows in zip(slopes, (X, Y), strict=True)))
        return value

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[Any, ...]:
        X, Y, *slopes = ctx.saved_tensors
        wanted = zip(slopes, (X, Y), ctx.needs_input_grad, strict=False)
        found = (
            _Gradient.apply(upstream, s, rows) if needed else None for s, rows, needed in wanted
        )
        return *found, None, None


class _Gradient(torch.autograd.Function):
    """A gradient of the distance, which depends on the rows in a way that is not differentiated.

    `once_differentiable` of torch is not enough: it notices only gradients that depend on
    `upstream`, and a penalty on the gradient of the distance itself would have no effect.
    """

    @staticmethod
    def forward(
        ctx: Any, upstream: torch.Tensor, slope: torch.Tensor, rows: torch.Tensor
    ) -> torch.Tensor:
        return upstream.to(slope.dtype) * slope

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> NoReturn:
        raise InvalidOptionError(
            "the distance of tensors has no second derivatives, got a gradient that was made with "
            "create_graph=True and is differentiated again; detach it"
        )


def _evaluate(metric: BaseMetric, pair: Pair, gradient: bool) -> tuple[torch.Tensor, Any]:
    """The distance, and where asked for its derivatives by the rows of both samples."""
    comparison = None
    if _elsewhere(pair):
        if metric.gap == "search" and metric._options()["refine"] == 0:
            found = device.distance_on_device(metric, pair, gradient)
            if found is not None:
                return found.value.to(pair.dtype), found.slopes
        comparison = device.compare_from_device(metric, pair)
    if comparison is None:
        drawn, x, y, _ = fit_both(metric._options(), metric._source, *_on_host(pair))
        comparison = drawn.compare(x, y)
    slopes = map(torch.from_numpy, comparison.gradient()) if gradient else None
    return torch.tensor(comparison.distance, dtype=pair.dtype, device=pair.device), slopes


def _on_host(pair: Pair) -> tuple[Any, Any, tuple[Any, ...]]:
    """The samples as arrays, views of the same memory where they can be, and their weights."""
    x, y = (to_host(tensor.detach().to(pair.precision)) for tensor in (pair.x, pair.y))
    return x, y, tuple(map(to_host, pair.weights))
