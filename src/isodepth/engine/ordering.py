"""The order of many numbers, by NumPy or by our own sort, on one thread or on several."""

from __future__ import annotations

import numpy as np

from isodepth.engine.threads import Resources, fold_blocks, worker_count

# Up to this many NumPy is about as fast, and nothing has to be compiled for them.
_FEW = 4096
# Numbers are divided into parts of about so many, all of one part below all of the next, which are
# sorted one by one.
_PART = 1 << 13
# Fewer are sorted by one thread sooner than others can be called.
_MANY = 1 << 18
_MOST_PARTS = 200
# With fewer workers, dividing takes what sorting side by side saves.
_WORTH_DIVIDING = 3
# Sorting a number takes about as long as projecting so many.
_COST = 16
_PROBES = 32
_ALONE = Resources(n_jobs=1)


def order_of(values: np.ndarray, resources: Resources = _ALONE) -> np.ndarray:
    """Indices (n,) that sort finite `values` (n,), equal ones in the order in which they stand.

    The same ones on every machine and with any number of threads.
    """
    n = len(values)
    if n < _MANY:
        return _order(values)
    n_parts = min(_MOST_PARTS, n // _PART)
    workers = worker_count(resources.n_jobs, n_parts, _COST * n)
    if workers < _WORTH_DIVIDING:
        return _order(values)
    return _order_by_parts(values, n_parts, workers)


def _order(values: np.ndarray) -> np.ndarray:
    if len(values) <= _FEW:
        # The default of NumPy puts equal values in an order that depends on the processor.
        return values.argsort(kind="stable")
    from isodepth.engine.compiled.sorting import sort_with_index, sort_workspace

    workspace = sort_workspace(len(values), values.dtype)
    sort_with_index(np.ascontiguousarray(values), workspace)
    keys, index = workspace.keys, workspace.index
    tied = keys[1:] == keys[:-1]
    # Where many are close together our sort may turn equal ones around.
    if (tied & (index[1:] < index[:-1])).any():
        group = np.zeros(len(keys), dtype=np.int64)
        np.cumsum(~tied, out=group[1:])
        group <<= 32
        group |= index
        # No two of these are equal, so that any way of sorting gives the same.
        group.sort()
        return group & 0xFFFFFFFF
    return index.astype(np.intp)


def _order_by_parts(values: np.ndarray, n_parts: int, workers: int) -> np.ndarray:
    """Divide by values and sort the parts, each step on all threads."""
    n = len(values)
    probes = np.sort(values[:: -(-n // (_PROBES * n_parts))])
    cuts = probes[[i * len(probes) // n_parts for i in range(1, n_parts)]]
    firsts = range(0, n, _PART)
    # Of each stretch of the values: their places, those of the first part first, and where the
    # parts begin among them.
    grouped = np.empty(n, dtype=np.intp)
    begins = np.zeros((len(firsts), n_parts + 1), dtype=np.intp)

    def group(_: None, number: int) -> None:
        some = slice(firsts[number], firsts[number] + _PART)
        # Equal values are in one part.
        part = cuts.searchsorted(values[some], side="right").astype(np.uint8)
        grouped[some] = part.argsort(kind="stable")
        np.cumsum(np.bincount(part, minlength=n_parts), out=begins[number, 1:])

    fold_blocks(range(len(firsts)), lambda: None, group, workers)
    sizes = np.diff(begins, axis=1)
    ends = np.cumsum(sizes.sum(axis=0)).tolist()
    order = np.empty(n, dtype=np.intp)

    def sort(_: None, part: int) -> None:
        end = ends[part]
        places = np.concatenate(
            [
                grouped[first + begin : first + stop] + first
                for first, (begin, stop) in zip(firsts, begins[:, part : part + 2], strict=True)
            ]
        )
        order[end - len(places) : end] = places[_order(values[places])]

    fold_blocks(range(n_parts), lambda: None, sort, workers)
    return order
