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

import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import Any, ClassVar

import numpy as np

from isodepth.base.compiled import available_cores
from isodepth.base.extras import load_extra
from isodepth.base.fold import Fold
from isodepth.base.seeds import seed_sequence
from isodepth.table.raw import ROWS_OF_A_PART, RawChunk

# Maximum number of threads that read chunks of any types. Each needs memory for a chunk.
_MOST_THREADS = 8
# Maximum number of intermediate results that one Dask task merges.
_FAN_IN = 8


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

    #: Whether several threads read the parts of a source.
    is_parallel: ClassVar[bool] = True

    def read(self, parts: Iterable[Any], number: int = 0) -> Iterator[RawChunk]:
        """Yield the rows of parts, one chunk at a time.

        `number` has no effect. It is a parameter only because `Preparation.read`, which is called
        in the same way, needs it.
        """
        for part in parts:
            for chunk in part.raw_chunks(self.chunk_rows):
                yield chunk if self.names is None else chunk.renamed(self.names)


# -- passes ---------------------------------------------------------------------------------------


#: Type of the settings with which a pass reads chunks.
Reading = Any
#: Type of functions that run a pass over all chunks of a sample and return the final state.
RunFold = Callable[[Fold], Any]


def run_pass(
    step: Fold, how: Reading, prepared: Iterable[Any] = (), advance: Any = None
) -> tuple[Any, Any]:
    """Run the pass `step` over `prepared`, the `Rows` or `RawChunk` that `how.read` yields.

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

    def fold(self, source: Any, step: Fold, how: Reading) -> tuple[Any, Any]:
        """Run the pass `step` over a source, whose chunks are read with the settings `how`.

        Return the final state, and the sum of the tallies of all chunks, see `Rows.tally`.
        """
        how = within(how, source)
        count = min(self.n_threads or available_cores(), _MOST_THREADS, len(source._parts))
        if how.is_parallel and count > 1:
            return self._fold_with_threads(source, step, how, count)
        return run_pass(step, how, _read_ahead(how.read(source._parts)), self.advance)

    def _fold_with_threads(self, source: Any, step: Fold, how: Any, count: int) -> tuple[Any, Any]:
        """Run the pass `step` as `fold` does, with `count` threads that take parts one by one."""
        parts, lock, stopped = iter(source._parts), Lock(), Event()

        def next_part() -> Any:
            with lock:
                return None if stopped.is_set() else next(parts, None)

        def chunks() -> Iterator[RawChunk]:
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


def within(how: Reading, source: Any) -> Reading:
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
    """Convert row numbers (m,), see `RawChunk.number`, to two arrays (m,).

    They are the indices of the files, arrays or partitions, and the indices of the rows in them.
    """
    return numbers // ROWS_OF_A_PART, numbers % ROWS_OF_A_PART


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

    def fold(self, source: Any, step: Fold, how: Reading) -> tuple[Any, Any]:
        """Run the pass `step` over a source with one Dask task per part, see `Runner.fold`."""
        dask = load_extra("dask", "dask", "scheduling with Dask")
        import cloudpickle  # a dependency of Dask

        how = replace(within(how, source), n_threads=1)
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


def runner_of(*sources: Any, advance: Any = None, n_threads: int | None = None) -> Runner:
    """Return the object that runs passes over sources.

    They run with Dask if a source is a Dask collection, and in this process otherwise. `advance`
    and `n_threads` are the parameters of `Runner`; with Dask, `n_threads` has no effect.
    """
    delayed = any(part.delayed for source in sources for part in source._parts)
    return DaskRunner(advance=advance) if delayed else Runner(advance, n_threads)


def _run_part(shared: bytes, number: int, part: Any) -> tuple[Any, Any]:
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
