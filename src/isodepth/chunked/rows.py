"""Rows of a chunk, ready for a pass: checked, without missing values, with integer weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
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
    """How raw chunks of a source become rows, and how many of them at a time.

    Attributes
    ----------
    source : Source
        What it says about columns and weights, without its parts.
    dtype : {"float32", "float64"}
    nan_policy : {"raise", "omit"}
    scale : ndarray of shape (d,) or None
    chunk_rows : int
        Rows that are read at a time.
    n_threads : int
    unit : MassUnit or None
        How weights become masses; None where there are none, or while that is not known.
    most_rows : int or None
        How many rows an earlier pass has found, all values finite; reading ends where there are
        more.
    """

    source: Source
    dtype: str
    nan_policy: str
    scale: np.ndarray | None = None
    chunk_rows: int = 1 << 15
    n_threads: int = 1
    unit: MassUnit | None = None
    most_rows: int | None = None

    @classmethod
    def of(cls, source: Source, options: Any, **more: Any) -> Preparation:
        """How the chunks of a source are prepared under the options of a metric."""
        dtype = options["dtype"] or source.dtype
        return cls(replace(source, parts=()), dtype, options["nan_policy"], **more)

    def prepared(self, chunks: Iterable[Chunk], start: int = 0) -> Iterator[Rows]:
        """The rows of chunks, the first of which has the number `start`."""
        for chunk in chunks:
            rows = self.rows(chunk, start)
            yield rows
            start += len(rows.points)

    def rows(self, chunk: Chunk, start: int) -> Rows:
        """The rows of a chunk, before which so many come."""
        points, weights = self.split(chunk)
        n_read, missing = len(points), np.zeros(self.source.n_features, dtype=np.int64)
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
            points = scaled(points, self.scale, chunk.origin, self.source.columns)
        masses = None
        if self.unit is not None:
            masses = self.unit.masses(np.ones(len(points)) if weights is None else weights)
        return Rows(points, weights, masses, start, tally)

    def split(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray | None]:
        """Checked points (n, d), which may have missing values, and weights (n,) or None."""
        (values, origin, first), source = chunk, self.source
        width = source.n_features + source.weighted
        if values.shape[1] != width:
            raise InvalidInputError(
                f"{origin} has shape {values.shape}, and {width} columns are expected; all chunks "
                "must have the same columns"
            )
        weights = np.array(values[:, -1], dtype=np.float64) if source.weighted else None
        points = to_float(values[:, : source.n_features], origin, self.dtype)
        if self.most_rows is not None or not len(points):
            return points, weights
        omit = self.nan_policy == "omit"
        hint = "" if omit else OMIT_HINT
        check_finite(points, origin, False, source.columns, hint, allow_nan=omit, first_row=first)
        good = True if weights is None else np.isfinite(weights) & (weights >= 0)
        if weights is not None and not np.all(good):
            at = int(np.argmin(good))
            raise InvalidInputError(
                f"the weights in {origin} must be finite and not negative, got {weights[at]} at "
                f"row {first + at}; drop these rows or give them weight 0"
            )
        return points, weights
