"""From what a user hands over to checked points: missing rows left out, columns in their units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.regions import TrimmedRegions
from isodepth.core.scaling import scaled, spread_of_samples
from isodepth.data.arrays import column_labels
from isodepth.data.frames import Table
from isodepth.data.matching import in_order, labels_of
from isodepth.data.missing import MissingPair, MissingReport, omit_missing
from isodepth.data.validation import check_points, check_weights, split_weights
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.sides import OMIT_HINT, Sides, check_sides


class Prepared(NamedTuple):
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
) -> Prepared:
    """Check one sample, and do to it what `nan_policy` and `scale` (d,) ask for."""
    if nan_policy == "omit":
        points, columns, checked, _, report = omit_missing(X, weights, name, dtype)
    else:
        points, columns = check_points(X, name, dtype, hint=OMIT_HINT)
        checked = check_weights(weights, len(points), weights_name or f"weights of {name}")
        report = None
    if scale is not None:
        points = scaled(points, scale, name, columns)
    return Prepared(points, columns, checked, report)


def prepare_sides(
    X: Any, Y: Any, weights: Any, *, dtype: str | None, nan_policy: str, scale: Any
) -> tuple[Sides, np.ndarray | None, MissingPair | None]:
    """Check two sides of a comparison: also the scale (d,) that was used, and what was missing."""
    missing = None
    X, Y = _matched(X, Y)
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


def _matched(X: Any, Y: Any) -> tuple[Any, Any]:
    """Both sides with one order of columns: that of regions, which stay as they are, or of X."""
    if isinstance(X, TrimmedRegions) and isinstance(Y, TrimmedRegions):
        return X, Y
    if isinstance(Y, TrimmedRegions):
        return in_order(X, Y.columns, "X", "Y"), Y
    names = X.columns if isinstance(X, TrimmedRegions) else labels_of(X)
    return X, in_order(Y, names, "Y", "X")


def refuse_word_for_one(scale: Any) -> None:
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
