"""From the arguments of a call to checked points: missing rows left out, columns scaled."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.regions import TrimmedRegions
from isodepth.core.scaling import pooled_spread, scaled, spread_of_samples
from isodepth.data.arrays import column_labels, describe
from isodepth.data.frames import Table
from isodepth.data.matching import in_order, labels_of
from isodepth.data.missing import MissingPair, MissingReport, omit_missing
from isodepth.data.validation import (
    check_pair,
    check_points,
    check_same_columns,
    check_same_width,
    check_weights,
    split_weights,
)
from isodepth.errors import InvalidInputError, InvalidOptionError, ScaleWarning

#: What else to do about missing values, for messages about samples that have some.
OMIT_HINT = ", or leave out these rows with nan_policy='omit'"

_DASK = ("dask", "dask_expr")
# From this ratio of spreads on, a comparison warns.
_WIDE = 100.0
# A warning needs no more rows of each sample than these.
_ROWS_FOR_WARNING = 256


def is_chunked(X: Any) -> bool:
    """Whether a sample is read in chunks: what `isodepth.scan` gives, or a Dask collection."""
    kind = type(X)
    if getattr(kind, "reads_in_chunks", False):
        return True
    return kind.__module__.partition(".")[0] in _DASK and hasattr(X, "__dask_graph__")


def refuse_chunks(X: Any, what: str) -> None:
    """Raise where rows are needed that a sample read in chunks does not keep."""
    if is_chunked(X):
        raise InvalidInputError(
            f"{what} needs all rows in memory, got {X!r:.80}; use Metric.table, distance or "
            "compare, which read it in chunks"
        )


def is_tensor(X: Any) -> bool:
    """Whether this is a tensor of torch, which need not be installed."""
    return any(kind.__name__ == "Tensor" and kind.__module__ == "torch" for kind in type(X).__mro__)


def to_host(X: Any) -> Any:
    """A tensor as an array of the host, without its graph; anything else as it is."""
    if not is_tensor(X):
        return X
    values = X.detach()
    if values.is_floating_point() and values.element_size() < 4:
        values = values.float()
    return values.cpu().resolve_neg().numpy()


def _check_both_tensors(X: Any, Y: Any) -> None:
    for name, given, other in (("X", X, "Y"), ("Y", Y, "X")):
        if not is_tensor(given):
            raise InvalidInputError(
                f"{other} is a tensor and {name} is {describe(given)}; give both as tensors, or "
                f"both as arrays ({other}.detach().cpu().numpy())"
            )
        if given.device.type == "meta":
            raise InvalidInputError(f"{name} is on the device meta and has no numbers to compare")
        if str(given.layout) != "torch.strided":
            raise InvalidInputError(
                f"{name} is a tensor of layout {given.layout}; pass {name}.to_dense()"
            )


def arrays_on_host(X: Any, Y: Any, labels: Any = None) -> tuple[Any, Any, Any, str | None]:
    """Samples and labels of their rows on the host, and the device they were moved from or None."""
    if is_tensor(X) or is_tensor(Y):
        _check_both_tensors(X, Y)
    devices = {str(given.device) for given in (X, Y) if is_tensor(given)} - {"cpu"}
    if isinstance(labels, tuple | list):
        labels = type(labels)(map(to_host, labels))
    return to_host(X), to_host(Y), to_host(labels), ", ".join(sorted(devices)) or None


class PreparedSample(NamedTuple):
    """One sample, ready for its depths.

    Attributes
    ----------
    points : ndarray of shape (n, d)
    columns : tuple of str or None
    weights : ndarray of shape (n,) or None
    missing : MissingReport or None, where rows were looked through
    """

    points: np.ndarray
    columns: tuple[str, ...] | None
    weights: np.ndarray | None
    missing: MissingReport | None


def prepare(
    X: Any,
    weights: Any,
    name: str,
    *,
    dtype: str | None,
    nan_policy: str,
    scale: np.ndarray | None,
    weights_name: str = "",
) -> PreparedSample:
    """Check one sample, and do to it what `nan_policy` and `scale` (d,) ask for."""
    if nan_policy == "omit":
        points, columns, checked, _, report = omit_missing(X, weights, name, dtype)
    else:
        points, columns = check_points(X, name, dtype, hint=OMIT_HINT)
        checked = check_weights(weights, len(points), weights_name or f"weights of {name}")
        report = None
    if scale is not None:
        points = scaled(points, scale, name, columns)
    return PreparedSample(points, columns, checked, report)


def prepare_sides(
    X: Any, Y: Any, weights: Any, *, dtype: str | None, nan_policy: str, scale: Any
) -> tuple[Sides, np.ndarray | None, MissingPair | None]:
    """Check two sides of a comparison: also the scale (d,) that was used, and what was missing."""
    missing = None
    X, Y = _with_matched_columns(X, Y)
    if nan_policy == "omit":
        both = zip((X, Y), split_weights(weights), "XY", strict=True)
        (X, wx, in_x), (Y, wy, in_y) = (_without_missing(*side, dtype) for side in both)
        weights = (wx, wy)
        missing = MissingPair(in_x[0], in_y[0], kept=(in_x[1], in_y[1]))
    sides = check_sides(X, Y, weights, dtype)
    if scale is None:
        return sides, None, missing
    x, y, columns, wx, wy = sides
    if isinstance(scale, str):
        _refuse_regions((X, Y), scale)
        count = 2 if scale == "pooled" else 1
        scale = spread_of_samples([x, y][:count], [wx, wy][:count])
    # Regions have taken in their scale already, which is checked where they are compared.
    if not isinstance(X, TrimmedRegions):
        x = scaled(x, scale, "X", columns)
    if not isinstance(Y, TrimmedRegions):
        y = scaled(y, scale, "Y", columns)
    return Sides(x, y, columns, wx, wy), scale, missing


def _with_matched_columns(X: Any, Y: Any) -> tuple[Any, Any]:
    """Both sides with one order of columns: that of regions, which stay as they are, or of X."""
    if isinstance(X, TrimmedRegions) and isinstance(Y, TrimmedRegions):
        return X, Y
    if isinstance(Y, TrimmedRegions):
        return in_order(X, Y.columns, "X", "Y"), Y
    names = X.columns if isinstance(X, TrimmedRegions) else labels_of(X)
    return X, in_order(Y, names, "Y", "X")


def refuse_learned_scale(scale: Any) -> None:
    """A single sample has nothing to pool with and is no reference for another."""
    if isinstance(scale, str):
        raise InvalidOptionError(
            f"scale={scale!r} is learned from the samples of a comparison, and here is one sample "
            "alone; give one number for each column (scale=array), fit samples that share a scale "
            "with isodepth.tables(..., scale='pooled'), or watch one with isodepth.DepthMonitor("
            "..., scale='reference')"
        )


def refuse_envelopes(region: str) -> None:
    """Nested regions are made of sample points; envelopes are quantiles."""
    if region == "envelope":
        raise InvalidOptionError(
            "region='envelope' has quantiles along directions and no regions of sample points; "
            "compare samples with Metric.distance or Metric.compare, or make tables of them"
        )


def pooled_scale(
    samples: Sequence[Any], weights: Sequence[Any], name: str, dtype: str | None, nan_policy: str
) -> np.ndarray:
    """The spread (d,) of the columns in many samples together."""
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


def _without_missing(
    X: Any, weights: Any, name: str, dtype: str | None
) -> tuple[Any, Any, tuple[MissingReport, np.ndarray]]:
    """One side without its rows of missing values, their report, and which rows are left."""
    if isinstance(X, TrimmedRegions):
        nothing = tuple((label, 0) for label in X.columns or column_labels(X.n_features))
        report = MissingReport(X.n_points, 0, nothing)
        return X, weights, (report, np.ones(X.n_points, dtype=bool))
    points, columns, checked, kept, report = omit_missing(X, weights, name, dtype)
    return (points if columns is None else Table(points, columns)), checked, (report, kept)


def _refuse_regions(samples: tuple[Any, Any], scale: str) -> None:
    if any(isinstance(X, TrimmedRegions) for X in samples):
        raise InvalidOptionError(
            f"scale={scale!r} is learned from the rows of samples, got regions, which have taken "
            "in their scale already; give the samples themselves, or make the regions with "
            "scale=array"
        )


class Sides(NamedTuple):
    """Points (n, d) and (m, d) of one dtype, the names of their columns, and their weights."""

    x: np.ndarray
    y: np.ndarray
    columns: tuple[str, ...] | None
    x_weights: np.ndarray | None
    y_weights: np.ndarray | None


def check_sides(X: Any, Y: Any, weights: Any, dtype: str | None) -> Sides:
    """Check two samples, each of which may be regions, with `weights` and in `dtype`."""
    wx, wy = split_weights(weights)
    if isinstance(X, TrimmedRegions) or isinstance(Y, TrimmedRegions):
        x, y, columns = _with_regions((X, Y), (wx, wy), dtype)
    else:
        x, y, columns = check_pair(X, Y, dtype, OMIT_HINT)
    wx = check_weights(wx, len(x), "weights of X")
    wy = check_weights(wy, len(y), "weights of Y")
    return Sides(x, y, columns, wx, wy)


def _with_regions(
    samples: tuple[Any, Any], weights: tuple[Any, Any], dtype: str | None
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...] | None]:
    sides = []
    for name, given, own in zip("XY", samples, weights, strict=True):
        if not isinstance(given, TrimmedRegions):
            sides.append(check_points(given, name, dtype, hint=OMIT_HINT))
        elif own is None:
            sides.append((given.points, given.columns))
        else:
            raise InvalidInputError(
                f"{name} are regions, which already include their weights, got weights of "
                f"{name} as well; give None for them, or the sample itself"
            )
    (x, x_columns), (y, y_columns) = sides
    check_same_width(x.shape[1], y.shape[1])
    for name, given, points, other in zip("XY", samples, (x, y), (y, x), strict=True):
        wanted = dtype or str(other.dtype)
        if isinstance(given, TrimmedRegions) and points.dtype != wanted:
            raise InvalidInputError(
                f"the regions of {name} were made in {points.dtype}, and the comparison is in "
                f"{wanted}; make them again with dtype={wanted!r}"
            )
    return x, y, check_same_columns(x_columns, y_columns)


def warn_of_different_spreads(
    x: np.ndarray, y: np.ndarray, columns: tuple[str, ...] | None
) -> None:
    """Warn where one column of two samples (n, d), (m, d) spreads far more widely than another."""
    if x.shape[1] == 1:
        return
    rows = np.concatenate([part[:: -(-len(part) // _ROWS_FOR_WARNING)] for part in (x, y)])
    varied = np.flatnonzero((rows != rows[0]).any(axis=0))
    if len(varied) < 2:
        return
    spread = pooled_spread(rows[:, varied])
    if not spread.max() / _WIDE > spread.min():
        return
    labels = columns or column_labels(x.shape[1])
    widest, narrowest = (labels[varied[at]] for at in (spread.argmax(), spread.argmin()))
    warnings.warn(
        f"the columns have very different spreads: {spread.max():.3g} in {widest} and "
        f"{spread.min():.3g} in {narrowest}, so that the former decides alone; scale='pooled' "
        "compares every column in units of its own spread",
        ScaleWarning,
        stacklevel=5,
    )
