"""Passes on many machines: the same pure functions as tasks of Dask, merged in a tree.

Nothing here decides where a task runs. What all tasks of a pass share (directions, intervals) is
one node of the graph, sent once to each worker; a task uses one thread, takes a part of the source
to a small state, and can be repeated anywhere: a worker that dies costs its share of one pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isodepth.chunked.passes import Pass
from isodepth.chunked.rows import Preparation
from isodepth.chunked.runner import Runner, Tally, take_rows
from isodepth.chunked.sources import Chunk, Source, chosen_places, numbers_of
from isodepth.data.extras import load_extra
from isodepth.errors import InvalidInputError

# So many states are merged by one task.
_FAN_IN = 8
# Rows are numbered within each part: where a part begins is not known.
_ROWS_OF_A_PART = 1 << 40


@dataclass(frozen=True)
class DelayedPart:
    """One partition of a collection, which is computed where it is read."""

    delayed: Any
    columns: tuple[Any, ...] | None
    place: str
    n_rows: int | None = None

    def read(self, rows: int) -> Iterator[Chunk]:
        """The rows, at most so many at a time."""
        yield from cut_rows(self.delayed.compute(), self.columns, self.place, rows)


def cut_rows(
    computed: Any, columns: tuple[Any, ...] | None, place: str, rows: int
) -> Iterator[Chunk]:
    """Chunks of a partition that has been computed."""
    values = numbers_of(computed, columns, place)
    for first in range(0, len(values), rows):
        yield Chunk(values[first : first + rows], place, first)


def dask_source(data: Any, columns: list[Any] | None, weights: Any) -> Source:
    """A source of the partitions of a `dask.array` or `dask.dataframe`."""
    load_extra("dask", "dask", "reading a Dask collection")
    label = f"Dask {type(data).__name__}"
    if type(data).__module__.startswith(("dask.delayed", "dask.bag")):
        raise InvalidInputError(
            f"a {label} does not say what columns it has; make it a collection of known shape "
            "(dask.array.from_delayed, to_dataframe), or give samples to isodepth.tables"
        )
    if hasattr(data, "to_delayed") and hasattr(data, "dtypes"):
        labels = [str(name) for name in data.columns]
        kinds = [np.dtype(kind) if isinstance(kind, np.dtype) else None for kind in data.dtypes]
        parts, numbered = list(data.to_delayed()), labels == [str(j) for j in range(len(labels))]
        counts: list[int | None] = [None] * len(parts)
    elif hasattr(data, "to_delayed") and getattr(data, "ndim", 0) == 2:
        whole = data.rechunk({1: -1})
        labels, numbered = [str(j) for j in range(data.shape[1])], True
        kinds = [data.dtype] * len(labels)
        parts = list(whole.to_delayed().ravel())
        counts = [None if np.isnan(size) else int(size) for size in whole.chunks[0]]
    else:
        shape = f" with shape {data.shape}" if hasattr(data, "shape") else ""
        raise InvalidInputError(
            f"a Dask collection must be a data frame or an array of shape (n points, d columns), "
            f"got {type(data).__name__}{shape}"
        )
    weighted = weights is not None
    chosen = chosen_places(labels, columns, weights, label)
    places = chosen[:-1] if weighted else chosen
    single = all(kinds[j] == np.float32 for j in places)
    asked = tuple(chosen) if numbered else tuple(labels[j] for j in chosen)
    found = tuple(
        DelayedPart(part, asked, f"partition {i}", count)
        for i, (part, count) in enumerate(zip(parts, counts, strict=True))
    )
    names = None if numbered else tuple(labels[j] for j in places)
    dtype = "float32" if single else "float64"
    return Source(found, len(places), names, dtype, weighted, None, label)


class DaskRunner(Runner):
    """Runs passes as tasks of Dask.

    Parameters
    ----------
    client : distributed.Client or None
        None for the scheduler that Dask would use: a client, where there is one, or threads here.
    """

    # States travel: they stay small.
    most_numbers, most_rows = 1 << 14, 1 << 17

    def __init__(self, client: Any = None, advance: Any = None) -> None:
        super().__init__(advance)
        self.client = client

    def fold(
        self,
        source: Source,
        preparation: Preparation,
        work: Pass,
        *,
        chunk_rows: int,
        n_threads: int,
        most_rows: int | None = None,
    ) -> tuple[Any, Tally]:
        """Run a pass over the parts of a source, one task a part, each on one thread."""
        dask = load_extra("dask", "dask", "scheduling with Dask")
        self.begin(source)
        rows = min(chunk_rows, source.chunk_rows or chunk_rows)
        shared = dask.delayed(_Shared(work, preparation, rows, most_rows))
        run, run_computed = dask.delayed(_run_part), dask.delayed(_run_computed)
        states = []
        for number, part in enumerate(source.parts):
            if isinstance(part, DelayedPart):
                states.append(run_computed(shared, number, part.delayed, part.columns, part.place))
            else:
                states.append(run(shared, number, _Boxed(part)))
        merge = dask.delayed(_merge)
        while len(states) > 1:
            states = [
                merge(shared, states[i : i + _FAN_IN]) for i in range(0, len(states), _FAN_IN)
            ]
        if not states:
            return work.start(), Tally()
        if self.client is not None:
            result = self.client.compute(states[0]).result()
        else:
            (result,) = dask.compute(states[0])
        self.advance(len(source.parts))
        return result


@dataclass(frozen=True)
class _Shared:
    """What all tasks of a pass have in common."""

    work: Any
    preparation: Preparation
    rows: int
    most_rows: int | None


@dataclass(frozen=True)
class _Boxed:
    # A part is no graph of Dask's, and must not be looked through for one.
    part: Any


def _run_part(shared: _Shared, number: int, boxed: _Boxed) -> tuple[Any, Tally]:
    return _run_chunks(shared, number, boxed.part.read(shared.rows))


def _run_computed(
    shared: _Shared, number: int, computed: Any, columns: tuple[Any, ...] | None, place: str
) -> tuple[Any, Tally]:
    return _run_chunks(shared, number, cut_rows(computed, columns, place, shared.rows))


def _run_chunks(shared: _Shared, number: int, chunks: Iterator[Chunk]) -> tuple[Any, Tally]:
    state, tally = shared.work.start(), Tally()
    for chunk in chunks:
        rows = shared.preparation.rows(chunk, number * _ROWS_OF_A_PART + tally.n_rows)
        tally.add(rows.n_read, rows.checksum)
        if shared.most_rows is not None and tally.n_rows > shared.most_rows:
            break
        take_rows(shared.work, state, rows, 1)
    return state, tally


def _merge(shared: _Shared, states: list[Any]) -> tuple[Any, Tally]:
    # States may be shared with other tasks: a fresh one takes them in.
    result, total = shared.work.start(), Tally()
    for state, tally in states:
        shared.work.merge(result, state)
        total.add(tally.n_rows, tally.checksum)
    return result, total


def tables_of_delayed(metric: Any, bags: Any, storage: str) -> list[Any]:
    """The tables of samples that are a `dask.bag`, or that are delayed, in their order."""
    dask = load_extra("dask", "dask", "tables of delayed samples")
    if hasattr(bags, "to_delayed"):
        make = dask.delayed(_tables)
        parts = dask.compute(*(make(metric, part, storage) for part in bags.to_delayed()))
        return [table for part in parts for table in part]
    make = dask.delayed(_table)
    return list(dask.compute(*(make(metric, bag, storage) for bag in bags)))


def _table(metric: Any, sample: Any, storage: str) -> Any:
    return replace(metric, n_jobs=1).table(sample, storage=storage)


def _tables(metric: Any, samples: Any, storage: str) -> list[Any]:
    return [_table(metric, sample, storage) for sample in samples]
