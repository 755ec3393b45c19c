"""Rows of a chunk, ready for a pass: checked, without missing values, with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.sources import Chunk, Source
from isodepth.core.scaling import scaled
from isodepth.data.validation import OMIT_HINT, check_finite, to_float
from isodepth.errors import InvalidInputError


class Rows(NamedTuple):
    """Checked rows of a chunk, those of weight zero left out.

    Attributes
    ----------
    points : ndarray of shape (n, d), C-contiguous
    weights : float64 ndarray of shape (n,) or None, as given
    masses : int64 ndarray of shape (n,), or None where each is one or they are not known yet
    start : int
        How many such rows of the source come before.
    tally : uint64 ndarray of shape (3 + d,)
        What was read: rows, rows without a missing value, the sum of the bits of their values, and
        the missing values of each column.
    """

    points: np.ndarray
    weights: np.ndarray | None
    masses: np.ndarray | None
    start: int
    tally: np.ndarray


class MassUnit(NamedTuple):
    """How weights become integers in proportion: masses are weights / unit * factor, rounded.

    Where the unit is a power of two, weights of few binary digits (such as integers) are exact.

    Attributes
    ----------
    unit, factor : float
    """

    unit: float
    factor: float

    @classmethod
    def of(cls, mean: float, n_rows: int, exact: bool = False) -> MassUnit:
        """The finest with which n rows of that mean weight stay below 2**61."""
        unit = max(mean, float(np.finfo(np.float64).tiny))  # the mean of tiny weights may vanish
        if exact:
            unit = math.ldexp(1.0, math.frexp(unit)[1] - 1)
        return cls(unit, 2.0 ** (60 - n_rows.bit_length()))

    def masses(self, weights: np.ndarray) -> np.ndarray:
        """Masses (n,), int64, of positive weights (n,)."""
        return np.maximum(np.rint(weights / self.unit * self.factor), 1).astype(np.int64)


@dataclass(frozen=True)
class Preparation:
    """How raw chunks of a source become rows.

    Attributes
    ----------
    n_features : int
    columns : tuple of str or None
    dtype : {"float32", "float64"}
    weighted : bool
        Whether the last column holds weights.
    nan_policy : {"raise", "omit"}
    scale : ndarray of shape (d,) or None
    unit : MassUnit or None
        How weights become masses; None where there are none, or while that is not known.
    checked : bool
        Whether all values are known to be finite, from an earlier pass.
    """

    n_features: int
    columns: tuple[str, ...] | None
    dtype: str
    weighted: bool
    nan_policy: str
    scale: np.ndarray | None = None
    unit: MassUnit | None = None
    checked: bool = False

    @classmethod
    def of(cls, source: Source, options: Any, scale: np.ndarray | None = None) -> Preparation:
        """How the chunks of a source are prepared under the options of a metric."""
        dtype = options["dtype"] or source.dtype
        return cls(
            source.n_features, source.columns, dtype, source.weighted, options["nan_policy"], scale
        )

    def later(self, unit: MassUnit | None) -> Preparation:
        """The same for passes over data that have been looked at once."""
        return replace(self, unit=unit, checked=True)

    def rows(self, chunk: Chunk, start: int) -> Rows:
        """The rows of a chunk, before which so many come."""
        points, weights = self.split(chunk)
        n_read, missing = len(points), np.zeros(self.n_features, dtype=np.int64)
        if self.nan_policy == "omit":
            holes = np.isnan(points)
            missing = holes.sum(axis=0)
            if missing.any():
                kept = ~holes.any(axis=1)
                points, weights = points[kept], None if weights is None else weights[kept]
        # Adding zero turns -0.0 into 0.0, and gives a copy that nobody else holds.
        points = np.ascontiguousarray(points + points.dtype.type(0))
        checksum = points.view(f"u{points.itemsize}").sum(dtype=np.uint64)
        tally = np.array([n_read, len(points), checksum, *missing.tolist()], dtype=np.uint64)
        if weights is not None and not (weights > 0).all():
            points, weights = points[weights > 0], weights[weights > 0]
        if self.scale is not None and len(points):
            points = scaled(points, self.scale, chunk.origin, self.columns)
        masses = None
        if self.unit is not None:
            masses = self.unit.masses(np.ones(len(points)) if weights is None else weights)
        return Rows(points, weights, masses, start, tally)

    def split(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray | None]:
        """Checked points (n, d), which may have missing values, and weights (n,) or None."""
        values, origin, first = chunk
        width = self.n_features + self.weighted
        if values.ndim != 2 or values.shape[1] != width:
            raise InvalidInputError(
                f"{origin} has shape {values.shape}, and {width} columns are expected; all chunks "
                "must have the same columns"
            )
        weights = np.array(values[:, -1], dtype=np.float64) if self.weighted else None
        points = to_float(values[:, : self.n_features], origin, self.dtype)
        if self.checked or not len(points):
            return points, weights
        omit = self.nan_policy == "omit"
        hint = "" if omit else OMIT_HINT
        check_finite(points, origin, False, self.columns, hint, allow_nan=omit, first_row=first)
        good = True if weights is None else np.isfinite(weights) & (weights >= 0)
        if weights is not None and not np.all(good):
            at = int(np.argmin(good))
            raise InvalidInputError(
                f"the weights in {origin} must be finite and not negative, got {weights[at]} at "
                f"row {first + at}; drop these rows or give them weight 0"
            )
        return points, weights
