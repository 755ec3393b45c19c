"""One sample in the plane, read and ordered by depth: what contours and bagplots have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth.api import Metric
from isodepth.core.regions import TrimmedRegions
from isodepth.data.arrays import column_labels
from isodepth.data.validation import check_points
from isodepth.errors import InvalidInputError, InvalidOptionError

_DIRECTIONS = 360


def planar_regions(
    sample: Any, columns: Sequence[Any] | None, depth: Any
) -> tuple[TrimmedRegions, tuple[str, ...]]:
    """The regions of two columns of a sample, and the names of the columns."""
    points, names = check_points(sample, "sample")
    known = names or column_labels(points.shape[1])
    if columns is not None:
        points = points[:, [_place(column, known) for column in _two(columns)]]
        known = tuple(known[_place(column, known)] for column in columns)
    elif points.shape[1] != 2:
        raise InvalidInputError(
            f"a plane has two columns, and the sample has {points.shape[1]}; say which to draw: "
            f"columns=({known[0]!r}, {known[-1]!r})"
        )
    metric = Metric(depth=depth, directions="equispaced", n_directions=_DIRECTIONS, refine=0)
    return metric.regions(np.ascontiguousarray(points)), tuple(known)


def _two(columns: Sequence[Any]) -> Sequence[Any]:
    if isinstance(columns, str) or len(columns) != 2:
        raise InvalidOptionError(f"columns must be two names or places, got {columns!r}")
    return columns


def _place(column: Any, known: tuple[str, ...]) -> int:
    if isinstance(column, int) and 0 <= column < len(known):
        return column
    if column in known:
        return known.index(column)
    raise InvalidOptionError(
        f"there is no column {column!r}; the columns are {', '.join(map(repr, known[:20]))}"
    )
