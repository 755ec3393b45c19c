"""Where passes run: here, one thread reading ahead, or elsewhere (`isodepth.chunked.dask`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from isodepth.chunked.passes import Pass
from isodepth.chunked.rows import Preparation, Rows
from isodepth.chunked.sources import Chunk, Source


class Work(NamedTuple):
    """A pass, and how it goes through the chunks of a source.

    Attributes
    ----------
    step : Pass
    preparation : Preparation
    chunk_rows : int
        Rows that are read at a time.
    n_threads : int
    most_rows : int or None
        Reading ends where there are more rows, if this is given.
    """

    step: Pass
    preparation: Preparation
    chunk_rows: int
    n_threads: int
    most_rows: int | None = None

    def prepared(self, chunks: Iterable[Chunk], start: int = 0) -> Iterator[Rows]:
        """The rows of chunks, the first of which has the number `start`."""
        for chunk in chunks:
            rows = self.preparation.rows(chunk, start)
            yield rows
            start += len(rows.points)

    def run(self, prepared: Iterable[Rows], advance: Any = None) -> tuple[Any, Any]:
        """The state of the pass over prepared chunks, and their tally (see `Rows`)."""
        state: Any = self.step.start()
        tally: Any = 0
        for rows in prepared:
            tally = tally + rows.tally
            if self.most_rows is not None and tally[0] > self.most_rows:
                break
            if len(rows.points):
                self.step.step(state, rows, self.n_threads)
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

    def fold(self, source: Source, work: Work) -> tuple[Any, Any]:
        """The state of a pass over the chunks of a source, and what was read."""
        prepared = work.prepared(source.chunks(work.chunk_rows))
        return work.run(_read_ahead(prepared), self.advance)


def _read_ahead(items: Iterator[Any]) -> Iterator[Any]:
    """The items, the next of which is made by another thread meanwhile."""
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, items, None)
        while (item := waiting.result()) is not None:
            waiting = reader.submit(next, items, None)
            yield item
