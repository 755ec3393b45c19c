"""Collections of samples: their checks, common columns and common scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.api import Metric
from isodepth.core.scaling import spread_of_samples
from isodepth.data.frames import clashing_columns
from isodepth.data.matching import in_order, labels_of
from isodepth.data.validation import is_chunked
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.many.stack import TableStack
from isodepth.metric.fitted import prepare


def with_shared_scale(
    metric: Metric,
    mine: tuple[Sequence[Any], Any],
    theirs: tuple[Sequence[Any] | None, Any] = (None, None),
    name: str = "samples",
) -> Metric:
    """The metric with the spread of all samples together in place of ``scale="pooled"``."""
    if metric.scale == "reference":
        raise InvalidOptionError(
            "scale='reference' is the spread of the first of two samples, and here are many; use "
            "scale='pooled' for that of all of them, or give one number for each column"
        )
    names = columns_of(mine[0])
    samples = matched(mine[0], names, name)
    weights = list(weights_of_each(mine[1], len(mine[0]), name))
    if theirs[0] is not None:
        samples += matched(theirs[0], names, "other", f"{name}[0]")
        weights += list(weights_of_each(theirs[1], len(theirs[0]), "other"))
    if any(map(is_chunked, samples)):
        from isodepth.chunked.entry import shared_scale

        shared = shared_scale(metric, samples, weights, name)
    else:
        shared = _pooled_scale(metric, samples, weights, name)
    return replace(metric, scale=shared)


def _pooled_scale(
    metric: Metric, samples: Sequence[Any], weights: Sequence[Any], name: str
) -> np.ndarray:
    """The spread (d,) of the columns in many samples together."""
    dtype, nan_policy = metric.dtype, metric.nan_policy
    parts = [
        prepare(X, w, f"{name}[{i}]", dtype=dtype, nan_policy=nan_policy, scale=None)
        for i, (X, w) in enumerate(zip(samples, weights, strict=True))
    ]
    width = parts[0].points.shape[1]
    for i, part in enumerate(parts):
        if part.points.shape[1] != width:
            raise InvalidInputError(
                f"all samples must have the same number of columns, got {part.points.shape[1]} in "
                f"{name}[{i}] and {width} in the first"
            )
    return spread_of_samples([part.points for part in parts], [part.weights for part in parts])


def columns_of(samples: Sequence[Any]) -> tuple[str, ...] | None:
    """The names of the columns of the first sample, which give the order for the others."""
    return getattr(samples[0], "columns", None) if _aligns(samples[0]) else labels_of(samples[0])


def matched(
    samples: Sequence[Any], names: tuple[str, ...] | None, name: str, like: str = ""
) -> list[Any]:
    """Samples with their columns in one order; what has no names of columns stays as it is."""
    first = like or f"{name}[0]"
    return [
        X.aligned(names) if _aligns(X) else in_order(X, names, f"{name}[{i}]", first)
        for i, X in enumerate(samples)
    ]


def _aligns(X: Any) -> bool:
    """Whether it is a source of chunks, which orders its columns as it reads them."""
    return getattr(X, "reads_in_chunks", False) is True


def as_list(samples: Any, name: str) -> Sequence[Any]:
    """Check a collection of samples."""
    shape = getattr(samples, "shape", None)
    if isinstance(samples, Mapping):
        raise InvalidInputError(
            f"{name} is a {type(samples).__name__}, whose names are not used here; give "
            f"list({name}.values())"
        )
    if isinstance(samples, str | bytes) or not isinstance(samples, Iterable):
        raise InvalidInputError(
            f"{name} must be a sequence of samples of shape (n, d), got {type(samples).__name__}"
        )
    if shape is not None and len(shape) != 3:
        raise InvalidInputError(
            f"{name} must be a sequence of samples of shape (n, d), got one array of shape "
            f"{tuple(shape)}; for a single sample write [{name}]"
        )
    result = samples if isinstance(samples, Sequence) else list(samples)
    if len(result) == 0:
        raise InvalidInputError(f"{name} is empty: there is nothing to compare")
    return result


def check_alike(
    points: np.ndarray,
    columns: tuple[str, ...] | None,
    name: str,
    dtype: np.dtype,
    stack: TableStack,
) -> None:
    """Check that a sample fits the first: columns, their names, precision."""
    if points.shape[1] != stack.n_features:
        raise InvalidInputError(
            f"all samples must have the same number of columns, got {points.shape[1]} in {name} "
            f"and {stack.n_features} in the first"
        )
    if clashing_columns(columns, stack.columns):
        raise InvalidInputError(
            f"{name} names its columns {list(columns or ())} and the first sample "
            f"{list(stack.columns or ())}; select the same columns in the same order"
        )
    if points.dtype != dtype:
        # Converting all of them would let one sample change the distances between others.
        raise InvalidInputError(
            f"{name} is {points.dtype} and the first sample {dtype}; say which precision to "
            "compute in, such as dtype='float64'"
        )


def weights_of_each(weights: Any, count: int, name: str) -> Sequence[Any]:
    """One entry for each of `count` samples: its weights, or None."""
    if weights is None:
        return [None] * count
    if not isinstance(weights, Iterable):
        raise InvalidInputError(
            f"weights of {name} must be a sequence with one entry a sample, each an array or None; "
            f"got {type(weights).__name__}"
        )
    each = list(weights)
    if len(each) != count:
        raise InvalidInputError(
            f"weights of {name} must have one entry for each of {count} samples, got {len(each)}"
        )
    return each
