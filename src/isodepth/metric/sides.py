"""The two sides of a comparison: samples, or regions that were made before."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.core.regions import TrimmedRegions
from isodepth.data.validation import (
    check_pair,
    check_points,
    check_same_columns,
    check_same_width,
    check_weights,
    split_weights,
)
from isodepth.errors import InvalidInputError

#: What else to do about missing values, for messages of samples that have some.
OMIT_HINT = ", or leave out these rows with nan_policy='omit'"


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
                f"{name} are regions, which have taken in their weights already, got weights of "
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
