"""Passes over the chunks of a source, in this process or with Dask.

A pass is a computation that reads all chunks once. It updates a state with each chunk, and defines
how two states are merged.

In this process, chunks of numbers (`Preparation`) are processed one after the other, while a second
thread reads the next chunk. Chunks with columns of any type (`FrameReading`) are read and processed
by several threads. Each thread has a state of its own, and the states are merged at the end.

With Dask, there is one task per part of the source, such as a file or a partition. Each task uses
one thread and returns a small state. The states are merged in a tree. Data that all tasks share are
one node of the task graph, which Dask sends once to each worker.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.compiled import available_cores
from isodepth.base.extras import load_extra
from isodepth.base.fold import Fold
from isodepth.base.seeds import seed_sequence
from isodepth.geometry.scaling import scaled
from isodepth.stream.source import Chunk, Part, Source
from isodepth.table.validation import OMIT_HINT, check_finite, check_weights, to_float

# Maximum number of threads that read chunks of any types. Each needs memory for a chunk.
_MOST_THREADS = 8
# Maximum number of intermediate results that one Dask task merges.
_FAN_IN = 8
# With Dask, the rows of the i-th partition are numbered from i times this constant on. The number
# of rows of a partition is not known in advance, so the constant exceeds any such number.
_ROWS_OF_A_PART = 1 << 40


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


class FrameRows(NamedTuple):
    """Rows of a chunk with columns of any type.

    Attributes
    ----------
    table : pyarrow.Table
    origin : str
        Name of the file, array or partition in messages.
    place : int
        Index of the file, array or partition.
    start : int
        Index of the first row in this file, array or partition.
    tally : uint64 ndarray of shape (1,)
        Number of rows.
    """

    table: Any
    origin: str
    place: int
    start: int
    tally: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.table)

    @property
    def number(self) -> int:
        """Number of the first row.

        The number of a row is 2**40 times the index `place` of its file, array or partition, plus
        the index of the row in it.
        """
        return self.place * _ROWS_OF_A_PART + self.start

    def indices_of(self, numbers: np.ndarray) -> np.ndarray:
        """Return the indices in `table` of the rows whose numbers are in `numbers`, a sorted array.

        See `number`.
        """
        ends = np.searchsorted(numbers, [self.number, self.number + self.n_rows])
        return numbers[slice(*ends)] - self.number


@dataclass(frozen=True)
class FrameReading:
    """Settings for reading the chunks of a source as pyarrow tables, without validation.

    Attributes
    ----------
    chunk_rows : int
        Number of rows that are read at a time.
    n_threads : int
        Number of threads that a pass may use for a chunk.
    most_rows : int or None
        Maximum number of rows that a pass reads, see `Preparation`.
    names : tuple of str or None
        New names of the columns; None to keep the names in the source.
    """

    chunk_rows: int = 1 << 16
    n_threads: int = 1
    most_rows: int | None = None
    names: tuple[str, ...] | None = None

    def read(self, parts: Iterable[Part], number: int = 0) -> Iterator[FrameRows]:
        """Yield the rows of parts, one chunk at a time.

        `number` has no effect. It is a parameter only because `Preparation.read`, which is called
        in the same way, needs it.
        """
        for part in parts:
            start = part.offset
            for table, origin, _ in part.frames(self.chunk_rows):
                if self.names is not None:
                    table = table.rename_columns(list(self.names))
                tally = np.array([len(table)], dtype=np.uint64)
                yield FrameRows(table, origin, part.place, start, tally)
                start += len(table)


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
        start = number * _ROWS_OF_A_PART
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


# -- passes ---------------------------------------------------------------------------------------


#: Type of the settings with which a pass reads chunks.
Reading = Preparation | FrameReading
#: Type of functions that run a pass over all chunks of a sample and return the final state.
RunFold = Callable[[Fold], Any]


def run_pass(
    step: Fold, how: Reading, prepared: Iterable[Any] = (), advance: Any = None
) -> tuple[Any, Any]:
    """Run the pass `step` over `prepared`, the `Rows` or `FrameRows` that `how.read` yields.

    Return the final state of the pass, and the sum of the tallies of all chunks, see `Rows.tally`.
    Stop if more than `how.most_rows` rows were read. `advance` is called with 1 after each chunk,
    to report progress.
    """
    state: Any = step.start()
    tally: Any = 0
    for rows in prepared:
        tally = tally + rows.tally
        if how.most_rows is not None and tally[0] > how.most_rows:
            break
        if rows.n_rows:
            step.step(state, rows, how.n_threads)
        if advance is not None:
            advance(1)
    return state, tally


class Runner:
    """Object that runs passes in this process.

    Parameters
    ----------
    advance : function or None
        Called with 1 after each chunk, to report progress.
    n_threads : int or None
        Maximum number of threads that read chunks of any types; None for all available cores. At
        most 8 are used. The results do not depend on it.
    """

    #: Maximum number of values per direction that a pass may collect, and maximum number of rows in
    #: the random subset that the first pass keeps.
    most_numbers, most_rows = 1 << 30, 1 << 20

    def __init__(self, advance: Any = None, n_threads: int | None = None) -> None:
        self.advance = advance
        self.n_threads = n_threads

    def fold(self, source: Source, step: Fold, how: Reading) -> tuple[Any, Any]:
        """Run the pass `step` over a source, whose chunks are read with the settings `how`.

        Return the final state, and the sum of the tallies of all chunks, see `Rows.tally`.
        """
        how = _within(how, source)
        count = min(self.n_threads or available_cores(), _MOST_THREADS, len(source._parts))
        if isinstance(how, FrameReading) and count > 1:
            return self._fold_with_threads(source, step, how, count)
        return run_pass(step, how, _read_ahead(how.read(source._parts)), self.advance)

    def _fold_with_threads(
        self, source: Source, step: Fold, how: FrameReading, count: int
    ) -> tuple[Any, Any]:
        """Run the pass `step` as `fold` does, with `count` threads that take parts one by one."""
        parts, lock, stopped = iter(source._parts), Lock(), Event()

        def next_part() -> Part | None:
            with lock:
                return None if stopped.is_set() else next(parts, None)

        def chunks() -> Iterator[FrameRows]:
            while (part := next_part()) is not None:
                for rows in how.read([part]):
                    if stopped.is_set():
                        return
                    yield rows

        def advance(n_chunks: int) -> None:
            with lock:
                self.advance(n_chunks)

        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        report = None if self.advance is None else advance
        # Matrix products with further threads take twice the processor time.
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(count) as pool:
            runs = [pool.submit(run_pass, step, how, chunks(), report) for _ in range(count)]
            try:
                done, _ = wait(runs, return_when=FIRST_EXCEPTION)
                for run in done:
                    run.result()  # raises the error of a thread, while others still run
                return _merged(step, how, [run.result() for run in runs])
            finally:
                # After an error or an interrupt, the other threads stop after their chunks.
                stopped.set()


def _within(how: Reading, source: Source) -> Reading:
    """Return the settings `how` with at most `source.chunk_rows` rows per chunk."""
    return replace(how, chunk_rows=min(how.chunk_rows, source.chunk_rows or how.chunk_rows))


def _read_ahead(items: Iterator[Any]) -> Iterator[Any]:
    """Yield the items of an iterator. Another thread computes the next item in the meantime."""
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, items, None)
        while (item := waiting.result()) is not None:
            waiting = reader.submit(next, items, None)
            yield item


def place_and_row(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert row numbers (m,), see `FrameRows.number`, to two arrays (m,).

    They are the indices of the files, arrays or partitions, and the indices of the rows in them.
    """
    return numbers // _ROWS_OF_A_PART, numbers % _ROWS_OF_A_PART


def row_keys(seed: int, start: int, count: int) -> np.ndarray:
    """Return uniform random numbers in [0, 1) for `count` rows, numbered from `start` on.

    The random number of a row depends only on the row number and the seed, not on the chunk size.
    """
    stream = np.random.PCG64(seed_sequence(seed, "subsamples"))
    return np.random.Generator(stream.advance(start)).random(count)


# -- Dask -----------------------------------------------------------------------------------------


class DaskRunner(Runner):
    """Object that runs passes as Dask tasks.

    Parameters
    ----------
    client : distributed.Client or None
        None for the default scheduler of Dask: the current client, or threads.
    advance : function or None
        Called with the number of partitions after each pass, to report progress.
    """

    # Dask sends collected values and rows between machines, so there must be fewer of them than in
    # one process.
    most_numbers, most_rows = 1 << 14, 1 << 17

    def __init__(self, client: Any = None, advance: Any = None) -> None:
        super().__init__(advance, n_threads=1)
        self.client = client

    def fold(self, source: Source, step: Fold, how: Reading) -> tuple[Any, Any]:
        """Run the pass `step` over a source with one Dask task per part, see `Runner.fold`."""
        dask = load_extra("dask", "dask", "scheduling with Dask")
        import cloudpickle  # a dependency of Dask

        how = replace(_within(how, source), n_threads=1)
        # Pickled here, because Dask sends arrays without aligning them in memory.
        shared = dask.delayed(cloudpickle.dumps((step, how)))
        run, merge = dask.delayed(_run_part), dask.delayed(_merge)
        states = [run(shared, number, part) for number, part in enumerate(source._parts)]
        while len(states) > 1:
            states = [
                merge(shared, states[i : i + _FAN_IN]) for i in range(0, len(states), _FAN_IN)
            ]
        if self.client is not None:
            result = self.client.compute(states[0]).result()
        else:
            (result,) = dask.compute(states[0])
        if self.advance is not None:
            self.advance(len(source._parts))
        return result


def runner_of(*sources: Source, advance: Any = None, n_threads: int | None = None) -> Runner:
    """Return the object that runs passes over sources.

    They run with Dask if a source is a Dask collection, and in this process otherwise. `advance`
    and `n_threads` are the parameters of `Runner`; with Dask, `n_threads` has no effect.
    """
    delayed = any(part.delayed for source in sources for part in source._parts)
    return DaskRunner(advance=advance) if delayed else Runner(advance, n_threads)


def _run_part(shared: bytes, number: int, part: Part) -> tuple[Any, Any]:
    step, how = pickle.loads(shared)
    return run_pass(step, how, how.read([part], number))


def _merge(shared: bytes, states: list[Any]) -> tuple[Any, Any]:
    step, how = pickle.loads(shared)
    return _merged(step, how, states)


def _merged(step: Fold, how: Reading, states: list[Any]) -> tuple[Any, Any]:
    """Merge several pairs (state, tally) of the pass `step` into one pair.

    The given pairs are not changed. See `Rows.tally` for tallies.
    """
    result, total = run_pass(step, how)
    for state, tally in states:
        step.merge(result, state)
        total = total + tally
    return result, total
