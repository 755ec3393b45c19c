"""Passes over the chunks of a source: what rows they see, what they do, and how they run.

A pass has a state for what has been seen, and says how two of them merge. It runs here, one thread
reading ahead, or elsewhere (`isodepth.chunked.dask`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.sources import Chunk, Source
from isodepth.core.scaling import scaled
from isodepth.data.seeds import seed_sequence
from isodepth.data.validation import OMIT_HINT, check_finite, check_weights, to_float


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
    def of(cls, source: Source, dtype: str | None, nan_policy: str, **more: Any) -> Preparation:
        """Return the preparation of the chunks of a source; dtype None for that of the source."""
        return cls(replace(source, parts=()), dtype or source.dtype, nan_policy, **more)

    def prepared(self, chunks: Iterable[Chunk], start: int = 0) -> Iterator[Rows]:
        """The rows of chunks, the first of which has the number `start`."""
        for chunk in chunks:
            rows = self.rows(chunk, start)
            yield rows
            start += len(rows.points)

    def rows(self, chunk: Chunk, start: int) -> Rows:
        """The rows of a chunk, before which so many come."""
        points, weights = self.split(chunk)
        missing = np.isnan(points)
        if missing.any():
            kept = ~missing.any(axis=1)
            points, weights = points[kept], None if weights is None else weights[kept]
        # Adding zero turns -0.0 into 0.0, and gives a copy that nobody else holds.
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
        """Checked points (n, d), which may have missing values, and weights (n,) or None."""
        (values, origin, first), source = chunk, self.source
        weights = np.array(values[:, -1], dtype=np.float64) if source.weighted else None
        points = to_float(values[:, : source.n_features], origin, self.dtype)
        if self.most_rows is not None or not len(points):
            return points, weights
        omit = self.nan_policy == "omit"
        hint = "" if omit else OMIT_HINT
        check_finite(points, origin, False, source.columns, hint, allow_nan=omit, first_row=first)
        check_weights(weights, len(points), f"the weights in {origin}", first)
        return points, weights


# -- passes ---------------------------------------------------------------------------------------


class Pass:
    """What is done with the chunks of a source; states are small whatever the size of the data."""

    def start(self) -> Any:
        """A state that has seen nothing."""
        raise NotImplementedError

    def step(self, state: Any, rows: Rows, n_threads: int) -> None:
        """Take the rows of a chunk, at least one, into a state."""
        raise NotImplementedError

    def merge(self, state: Any, other: Any) -> None:
        """Take another state into a state: arrays add up, lists are joined."""
        state += other


#: Runs a pass over all chunks; on one machine or on many.
Fold = Callable[[Pass], Any]


def run_pass(
    step: Pass, how: Preparation, prepared: Iterable[Rows] = (), advance: Any = None
) -> tuple[Any, Any]:
    """The state of a pass over prepared chunks, and their tally (see `Rows`)."""
    state: Any = step.start()
    tally: Any = 0
    for rows in prepared:
        tally = tally + rows.tally
        if how.most_rows is not None and tally[0] > how.most_rows:
            break
        if len(rows.points):
            step.step(state, rows, how.n_threads)
        if advance is not None:
            advance(1)
    return state, tally


class Runner:
    """Runs passes here, one chunk after the other.

    Parameters
    ----------
    advance : function or None
        Called with 1 after each chunk.
    """

    #: The most numbers that a state may hold for each direction, and the most rows.
    most_numbers, most_rows = 1 << 30, 1 << 20

    def __init__(self, advance: Any = None) -> None:
        self.advance = advance

    def fold(self, source: Source, step: Pass, how: Preparation) -> tuple[Any, Any]:
        """The state of a pass over the chunks of a source, and what was read."""
        prepared = how.prepared(source.chunks(how.chunk_rows))
        return run_pass(step, how, _read_ahead(prepared), self.advance)


def _read_ahead(items: Iterator[Any]) -> Iterator[Any]:
    """The items, the next of which is made by another thread meanwhile."""
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, items, None)
        while (item := waiting.result()) is not None:
            waiting = reader.submit(next, items, None)
            yield item


def row_keys(seed: int, start: int, count: int) -> np.ndarray:
    """Random numbers (count,) of rows from `start` on, however rows are cut into chunks."""
    stream = np.random.PCG64(seed_sequence(seed, "subsamples"))
    return np.random.Generator(stream.advance(start)).random(count)
