"""The distance of two tensors: a tensor without dimensions, with a gradient where one is wanted.

Levels, directions and support points are found without a graph. Where they are known the gradient
is known as well, so that it is worked out together with the distance and only scaled on the way
back. On the host the tensors are arrays that share their memory; elsewhere the work is done by
`tensors` where the tensors are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import torch

from isodepth.core.regions import TrimmedRegions
from isodepth.data.arrays import describe
from isodepth.data.validation import check_same_width
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.base import BaseMetric
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import fit_both
from isodepth.metric.gradient import check_has_gradient
from isodepth.progress import progress_bar
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
    if isinstance(X, TrimmedRegions) or isinstance(Y, TrimmedRegions):
        return _beside_regions(metric, X, Y, weights)
    pair = check_tensors(X, Y, weights, metric.dtype)
    if pair.wants_gradient:
        return _Distance.apply(X, Y, with_gradient(metric), pair)
    if pair.device.type != "cpu":
        return _on_device(metric, pair, gradient=False)[0]
    return _as_tensor(metric.distance(*_host_arrays(pair), weights=_host_weights(pair)), pair)


def compare(metric: BaseMetric, X: Any, Y: Any, weights: Any = None) -> Comparison:
    """What `Metric.compare` gives for tensors: numbers, on the host and without a graph."""
    if isinstance(X, TrimmedRegions) or isinstance(Y, TrimmedRegions):
        return metric.compare(_host_side(X, "X"), _host_side(Y, "Y"), weights)
    pair = check_tensors(X, Y, weights, metric.dtype)
    found = device.compare_from_device(metric, pair) if _elsewhere(pair) else None
    if found is not None:
        return found
    return metric.compare(*_host_arrays(pair), weights=_host_weights(pair))


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
        value, slopes = _on_device(metric, pair, gradient=True)
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
    metric: BaseMetric, samples: Any, weights: Any, storage: str, progress: bool, name: str
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
    with progress_bar(progress, len(samples), "regions", "sample") as advance:
        for i, (sample, own) in enumerate(zip(samples, weights, strict=True)):
            rows = sample.detach().to(precision)
            found = device.table_from_device(metric, drawn, rows, own, f"{name}[{i}]")
            if found is None:
                on_host = own.cpu().numpy() if isinstance(own, torch.Tensor) else own
                found = metric.table(rows.cpu().numpy(), on_host).values
            values[i] = found
            advance(1)
    return values, str(drawn.table_signature(str(precision).removeprefix("torch."))), width


def on_host(X: Any, Y: Any) -> tuple[np.ndarray, np.ndarray, str | None]:
    """Two tensors as arrays, for what is worked out on the host alone; and the device they lay on.

    None for the host itself, where nothing is copied. There is no graph, as in `compare`.
    """
    pair = check_tensors(X, Y, None, None)
    return *_host_arrays(pair), None if pair.device.type == "cpu" else str(pair.device)


def _on_device(metric: BaseMetric, pair: Pair, gradient: bool) -> tuple[torch.Tensor, Any]:
    """The distance, and where asked for its derivatives by the rows of both samples."""
    comparison = None
    if _elsewhere(pair):
        if device.stays_on_device(metric):
            found = device.distance_on_device(metric, pair, gradient)
            if found is not None:
                return found.value.to(pair.dtype), found.slopes
        comparison = device.compare_from_device(metric, pair)
    if comparison is None:
        given = *_host_arrays(pair), _host_weights(pair)
        drawn, x, y, _ = fit_both(metric._options(), metric._source, *given)
        comparison = drawn.compare(x, y)
    slopes = map(torch.from_numpy, comparison.gradient()) if gradient else None
    return _as_tensor(comparison.distance, pair), slopes


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
    wx, wy = (w.cpu().numpy() if isinstance(w, torch.Tensor) else w for w in pair.weights)
    return wx, wy


def _beside_regions(metric: BaseMetric, X: Any, Y: Any, weights: Any) -> torch.Tensor:
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
