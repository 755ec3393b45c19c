"""Passes on many machines: the same pure functions as tasks of Dask, merged in a tree.

Dask schedules the tasks. The data that all tasks of a pass share (directions, intervals) are one
node of the graph, which is sent once to each worker. A task uses one thread, reduces a part of the
source to a small state, and can be repeated on any worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.chunked.passes import Pass, Preparation, Runner, run_pass
from isodepth.chunked.sources import Part, Source
from isodepth.data.arrays import numbered
from isodepth.data.extras import load_extra
from isodepth.errors import InvalidInputError

# Number of states that one task merges.
_FAN_IN = 8
# Offset of the row numbers of a part: the number of its first row is not known.
_ROWS_OF_A_PART = 1 << 40


class DelayedPart(Part):
    """One partition of a collection, which is computed before a task uses it."""

    def tables(self, rows: int) -> Iterator[tuple[Any, str, int]]:
        """Yield the partition."""
        delayed = is_delayed(self.data)
        yield self.data.compute() if delayed else self.data, self.origin, 0


def dask_parts(data: Any, label: str) -> list[Part]:
    """Return the partitions of a `dask.array` or `dask.dataframe`."""
    load_extra("dask", "dask", "reading a Dask collection")
    if is_delayed(data):
        raise InvalidInputError(
            f"the columns of a {label} are not known; make it a collection of known shape "
            "(dask.array.from_delayed, to_dataframe), or give samples to isodepth.region_tables"
        )
    if hasattr(data, "to_delayed") and hasattr(data, "dtypes"):
        labels, delayed = [*map(str, data.columns)], data.to_delayed()
        counts, kinds = [np.nan] * len(delayed), data.dtypes
    elif hasattr(data, "to_delayed") and getattr(data, "ndim", 0) == 2:
        whole = data.rechunk({1: -1})
        labels, delayed = numbered(data.shape[1]), whole.to_delayed().ravel()
        counts, kinds = whole.chunks[0], [data.dtype] * len(labels)
    else:
        shape = f" with shape {data.shape}" if hasattr(data, "shape") else ""
        raise InvalidInputError(
            f"a Dask collection must be a data frame or an array of shape (n points, d columns), "
            f"got {type(data).__name__}{shape}"
        )
    single = [name for name, kind in zip(labels, kinds, strict=True) if kind == np.float32]
    about = labels, labels != numbered(len(labels)), single
    return [
        DelayedPart(part, f"partition {i}", *about, None if np.isnan(rows) else int(rows))
        for i, (part, rows) in enumerate(zip(delayed, counts, strict=True))
    ]


class DaskRunner(Runner):
    """Runs passes as tasks of Dask.

    Parameters
    ----------
    client : distributed.Client or None
        None for the default scheduler of Dask: the current client, or threads.
    advance : function or None
        Called with the number of parts after each pass.
    """

    # States are sent between machines, so they must be small.
    most_numbers, most_rows = 1 << 14, 1 << 17

    def __init__(self, client: Any = None, advance: Any = None) -> None:
        super().__init__(advance)
        self.client = client

    def fold(self, source: Source, step: Pass, how: Preparation) -> tuple[Any, Any]:
        """Run a pass over the parts of a source, one task per part, each on one thread."""
        dask = load_extra("dask", "dask", "scheduling with Dask")
        rows = min(how.chunk_rows, source.chunk_rows or how.chunk_rows)
        shared = dask.delayed((step, replace(how, chunk_rows=rows, n_threads=1)), traverse=False)
        run, merge = dask.delayed(_run_part), dask.delayed(_merge)
        states = [run(shared, number, part) for number, part in enumerate(source.parts)]
        while len(states) > 1:
            states = [
                merge(shared, states[i : i + _FAN_IN]) for i in range(0, len(states), _FAN_IN)
            ]
        if self.client is not None:
            result = self.client.compute(states[0]).result()
        else:
            (result,) = dask.compute(states[0])
        if self.advance is not None:
            self.advance(len(source.parts))
        return result


def _run_part(shared: tuple[Pass, Preparation], number: int, part: Part) -> tuple[Any, Any]:
    step, how = shared
    return run_pass(step, how, how.prepared(part.read(how.chunk_rows), number * _ROWS_OF_A_PART))


def _merge(shared: tuple[Pass, Preparation], states: list[Any]) -> tuple[Any, Any]:
    # Merge into a new state: other tasks may use the given ones.
    step, how = shared
    result, total = run_pass(step, how)
    for state, tally in states:
        step.merge(result, state)
        total = total + tally
    return result, total


def is_delayed(sample: Any) -> bool:
    """Check if a sample is delayed, or a `dask.bag` of samples."""
    return type(sample).__module__.startswith(("dask.delayed", "dask.bag"))


def tables_of_delayed(metric: Any, samples: Any, weights: Any, storage: str) -> list[Any] | None:
    """Return the tables of a `dask.bag` or of delayed samples; None for other samples."""
    if not all(map(is_delayed, samples)):
        return None
    if any(own is not None for own in weights):
        raise InvalidInputError("weights are not available for delayed samples; remove them")
    dask = load_extra("dask", "dask", "tables of delayed samples")
    make = dask.delayed(_tables)
    parts: list[Any] = []
    for sample in samples:
        bag = type(sample).__module__.startswith("dask.bag")
        parts += sample.to_delayed() if bag else [[sample]]
    made = dask.compute(*(make(metric, part, storage) for part in parts))
    return [table for part in made for table in part]


def _tables(metric: Any, samples: Any, storage: str) -> list[Any]:
    single = replace(metric, n_jobs=1)
    return [single.table(sample, storage=storage) for sample in samples]
