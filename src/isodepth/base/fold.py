"""Folds, which are computations that look at all rows of a sample once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Fold:
    """Base class of computations that look at all rows of a sample once, in chunks.

    A state is updated with each chunk. States of different chunks are merged in the order of the
    rows. The final state is converted to the result. A sample in memory is one chunk. Files are
    read by several threads, and partitions of Dask by its workers (`isodepth.stream.passes`). The
    size of a state does not depend on the number of rows.

    Examples
    --------
    >>> class CountRows(Fold):
    ...     def start(self):
    ...         return [0]
    ...     def step(self, state, chunk, n_threads):
    ...         state[0] += len(chunk)
    ...     def merge(self, state, other):
    ...         state[0] += other[0]
    ...     def finish(self, state):
    ...         return state[0]
    >>> CountRows().run(["ab", "cde"])
    5
    """

    def start(self) -> Any:
        """Return the initial state."""
        raise NotImplementedError

    def step(self, state: Any, chunk: Any, n_threads: int) -> None:
        """Update `state` with a chunk, which has at least one row.

        `n_threads` is the number of threads that may be used.
        """
        raise NotImplementedError

    def merge(self, state: Any, other: Any) -> None:
        """Merge `other`, the state of later rows, into `state`.

        By default arrays are added and lists are concatenated.
        """
        state += other

    def finish(self, state: Any) -> Any:
        """Convert the final state to the result, by default without a change."""
        return state

    def run(self, chunks: Iterable[Any], n_threads: int = 1) -> Any:
        """Return the result for chunks that are read one after the other."""
        state = self.start()
        for chunk in chunks:
            self.step(state, chunk, n_threads)
        return self.finish(state)


class Together(Fold):
    """Several folds over the same chunks in one pass; the result is the tuple of their results."""

    def __init__(self, *folds: Fold) -> None:
        self.folds = folds

    def start(self) -> tuple[Any, ...]:
        return tuple(fold.start() for fold in self.folds)

    def step(self, state: tuple[Any, ...], chunk: Any, n_threads: int) -> None:
        for fold, own in zip(self.folds, state, strict=True):
            fold.step(own, chunk, n_threads)

    def merge(self, state: tuple[Any, ...], other: tuple[Any, ...]) -> None:
        for fold, own, more in zip(self.folds, state, other, strict=True):
            fold.merge(own, more)

    def finish(self, state: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(fold.finish(own) for fold, own in zip(self.folds, state, strict=True))
