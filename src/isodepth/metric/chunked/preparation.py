"""Validation of the chunks of a source of numbers, and their conversion to rows with masses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isodepth.geometry.scaling import scaled
from isodepth.stream.source import Chunk, Part, Source
from isodepth.table.raw import ROWS_OF_A_PART
from isodepth.table.validation import OMIT_HINT, check_finite, check_weights, to_float


class Rows(NamedTuple):
    """Validated rows of a chunk. Rows with weight zero or missing values are excluded.

    Attributes
    ----------
    points : ndarray of shape (n, d), C-contiguous
        The n rows, divided by the scale.
    weights : float64 ndarray of shape (n,) or None
        Weights of the rows as they were read.
    masses : int64 ndarray of shape (n,), or None
        Integer masses, see `MassUnit`. None without weights, or before their conversion to masses
        is known.
    start : int
        Number of the first row. In this process, it is the number of rows that were kept in the
        previous chunks. With Dask, the rows of each partition start at a multiple of 2**40.
    tally : uint64 ndarray of shape (3 + d,)
        Number of rows read, number of rows without a missing value, checksum of the rows without a
        missing value, and number of missing values per column. The sum over all chunks must be the
        same in every pass; otherwise the data have changed.
    """

    points: np.ndarray
    weights: np.ndarray | None
    masses: np.ndarray | None
    start: int
    tally: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.points)


class MassUnit(NamedTuple):
    """Conversion of weights to integer masses: weights / unit * factor, rounded, at least 1.

    If the unit is a power of two, weights with few binary digits, such as integers, are converted
    without rounding.

    Attributes
    ----------
    unit, factor : float
        Divisor and multiplier of the weights.
    """

    unit: float
    factor: float

    @classmethod
    def of(cls, mean: float, n_rows: int, exact: bool = False) -> MassUnit:
        """Return the conversion for which the sum of the masses of all rows is below 2**61.

        `mean` is the mean weight of the `n_rows` rows. If `exact`, the unit is a power of two.
        """
        # The mean weight may underflow to 0, but the unit must be positive.
        unit = max(mean, float(np.finfo(np.float64).tiny))
        if exact:
            unit = math.ldexp(1.0, math.frexp(unit)[1] - 1)
        return cls(unit, 2.0 ** (60 - n_rows.bit_length()))

    def masses(self, weights: np.ndarray) -> np.ndarray:
        """Convert positive weights (n,) to int64 masses (n,)."""
        return np.maximum(np.rint(weights / self.unit * self.factor), 1).astype(np.int64)


@dataclass(frozen=True)
class Preparation:
    """Settings for converting chunks of a source to validated rows.

    Attributes
    ----------
    source : Source
        The source without its data. Only the description of its columns is needed.
    dtype : {"float32", "float64"}
    nan_policy : {"raise", "omit", "keep"}
        "raise" refuses missing values. Otherwise the method `rows` drops the rows with missing
        values, and the method `split` keeps these rows.
    scale : ndarray of shape (d,) or None
        Units by which the columns are divided.
    chunk_rows : int
        Number of rows that are read at a time.
    n_threads : int
        Number of threads that a pass may use for a chunk.
    unit : MassUnit or None
        Conversion of weights to masses; None without weights, or before the conversion is
        known.
    most_rows : int or None
        Number of rows that the first pass read; None in the first pass itself. A later pass stops
        if it reads more rows. Only the first pass checks the values.
    """

    source: Source
    dtype: str
    nan_policy: str
    scale: np.ndarray | None
    chunk_rows: int
    n_threads: int
    unit: MassUnit | None = None
    most_rows: int | None = None

    #: Whether several threads read the parts of a source.
    is_parallel: ClassVar[bool] = False

    @classmethod
    def of(cls, source: Source, dtype: str | None, nan_policy: str, *more: Any) -> Preparation:
        """Return the settings for a source. If `dtype` is None, use the dtype of the source.

        `more` are the values of the attributes from `scale` on, in their order.
        """
        return cls(replace(source, _parts=()), dtype or source.dtype, nan_policy, *more)

    def read(self, parts: Iterable[Part], number: int = 0) -> Iterator[Rows]:
        """Yield the validated rows of parts, one chunk at a time.

        `number` is the index of the first of these parts in the source.
        """
        start = number * ROWS_OF_A_PART
        for part in parts:
            for chunk in part.read(self.chunk_rows):
                rows = self.rows(chunk, start)
                yield rows
                start += rows.n_rows

    def rows(self, chunk: Chunk, start: int) -> Rows:
        """Return the rows of a chunk after validation and division by the scale.

        Rows with missing values or weight zero are dropped. `start` is the number of the first of
        the other rows, see `Rows.start`.
        """
        points, weights = self.split(chunk)
        missing = np.isnan(points)
        if missing.any():
            kept = ~missing.any(axis=1)
            points, weights = points[kept], None if weights is None else weights[kept]
        # Adding zero turns -0.0 into 0.0, so that equal rows have equal bits, and makes a copy.
        points = np.ascontiguousarray(points + points.dtype.type(0))
        checksum = points.view(f"u{points.itemsize}").sum(dtype=np.uint64)
        counts = [len(missing), len(points), checksum, *missing.sum(axis=0).tolist()]
        if weights is not None and not (weights > 0).all():
            points, weights = points[weights > 0], weights[weights > 0]
        if self.scale is not None and len(points):
            points = scaled(points, self.scale, chunk.origin, self.source.columns)
        masses = None
        if self.unit is not None:
            masses = self.unit.masses(np.ones(len(points)) if weights is None else weights)
        return Rows(points, weights, masses, start, np.array(counts, dtype=np.uint64))

    def split(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray | None]:
        """Split a chunk into points (n, d) and weights (n,) or None.

        The first pass checks the values: missing values are kept, or are an error if `nan_policy`
        is "raise". Later passes do not check the values again.
        """
        (values, origin, first), source = chunk, self.source
        weights = np.array(values[:, -1], dtype=np.float64) if source.weighted else None
        points = to_float(values[:, : source.n_features], origin, self.dtype)
        if self.most_rows is not None or not len(points):
            return points, weights
        allow_nan = self.nan_policy != "raise"
        check_finite(
            points, origin, False, source.columns, "" if allow_nan else OMIT_HINT,
            allow_nan=allow_nan, first_row=first,
        )  # fmt: skip
        check_weights(weights, len(points), f"the weights in {origin}", first)
        return points, weights
