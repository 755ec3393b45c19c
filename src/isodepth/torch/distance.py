"""The distance of two tensors: a tensor without dimensions, with a gradient where one is wanted.

Levels, directions and support points are found without a graph. Where they are known the gradient
is known as well, so that it is worked out together with the distance and only scaled on the way
back. On the host the tensors are arrays that share their memory; elsewhere the work is done by
`tensors` where the tensors are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from isodepth.data.arrays import describe
from isodepth.data.validation import check_same_width
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.base import BaseMetric
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import fit_both
from isodepth.metric.gradient import check_has_gradient
from isodepth.tensors.host import to_host
from isodepth.torch import device
from isodepth.torch.checks import Pair, check_tensor, check_tensors, precision_of, real_of


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
    """Whether the work is done on another device than the host, which takes all small samples."""
    return pair.device.type != "cpu" and not device.too_few(pair)


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
        ctx.save_for_backward(*(s.to(like) for s, like in zip(slopes, (X, Y), strict=True)))
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[Any, ...]:
        wanted = zip(ctx.saved_tensors, ctx.needs_input_grad, strict=False)
        return *(upstream.to(s.dtype) * s if needed else None for s, needed in wanted), None, None


def lie_elsewhere(samples: Any, name: str) -> bool:
    """Whether samples are tensors of another device than the host, all of one.

    Those on the host are arrays, and may stand beside arrays.
    """
    places = [s.device if isinstance(s, torch.Tensor) else torch.device("cpu") for s in samples]
    if all(place.type == "cpu" for place in places):
        return False
    for i, (sample, place) in enumerate(zip(samples, places, strict=True)):
        if place != places[0] or not isinstance(sample, torch.Tensor):
            what = (
                f"on the device {place}" if isinstance(sample, torch.Tensor) else describe(sample)
            )
            raise InvalidInputError(
                f"{name}[{i}] is {what} and {name}[0] on the device {places[0]}; move all of them "
                "to one device"
            )
    return True


def tables(
    metric: BaseMetric,
    samples: Any,
    weights: Any,
    storage: str,
    advance: Callable[[int], None],
    name: str,
) -> tuple[np.ndarray, str, int]:
    """The support values (N, L, 2K) of samples on one device, their signature and their width."""
    metric.check_for_tables(storage)
    for i, sample in enumerate(samples):
        check_tensor(sample, f"{name}[{i}]")
        check_same_width(sample.shape[1], samples[0].shape[1], f"{name}[{i}]", f"{name}[0]")
        if sample.dtype != samples[0].dtype:
            raise InvalidInputError(
                f"{name}[{i}] is {sample.dtype} and the first sample {samples[0].dtype}; bring all "
                "of them to one dtype"
            )
    precision = precision_of(real_of(samples[0]), metric.dtype)
    width = samples[0].shape[1]
    drawn = metric.fit(width)
    values = np.empty((len(samples), *drawn.table_shape), dtype=storage)
    for i, (sample, own) in enumerate(zip(samples, weights, strict=True)):
        rows = sample.detach().to(precision)
        found = device.table_from_device(metric, drawn, rows, own, f"{name}[{i}]")
        if found is None:
            found = metric.table(to_host(rows), to_host(own)).values
        values[i] = found
        advance(1)
    return values, str(drawn.table_signature(str(precision).removeprefix("torch."))), width


def _evaluate(metric: BaseMetric, pair: Pair, gradient: bool) -> tuple[torch.Tensor, Any]:
    """The distance, and where asked for its derivatives by the rows of both samples."""
    comparison = None
    if _elsewhere(pair):
        if device.stays_on_device(metric):
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
