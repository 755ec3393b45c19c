"""Where passes run: here, one thread reading ahead; what runs them elsewhere has the same form."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from isodepth.chunked.passes import LookPass, Pass
from isodepth.chunked.rows import Preparation, Rows
from isodepth.chunked.sources import Source


class Tally:
    """How many rows were read, and the sum of their bits: the same in every pass over one source.

    Attributes
    ----------
    n_rows, checksum : int
    """

    def __init__(self) -> None:
        self.n_rows, self.checksum = 0, 0

    def add(self, n_rows: int, checksum: int) -> None:
        """Take in some rows."""
        self.n_rows += n_rows
        self.checksum = (self.checksum + checksum) % 2**64


class Runner:
    """Runs passes here, one chunk after the other (elsewhere: `isodepth.chunked.dask`)."""

    #: The most numbers that a state may hold for each direction, and the most rows.
    most_numbers, most_rows = 1 << 30, 1 << 20

    def __init__(self, advance: Any = None) -> None:
        self.advance = advance or (lambda count: None)

    def begin(self, source: Source) -> None:
        """Tell who watches that a pass begins."""
        tell = getattr(self.advance, "begin", None)
        if tell is not None:
            tell(source.label)

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
        """The state of a pass over the chunks of a source, and what was read.

        Reading ends where there are more rows than `most_rows`, if that is given.
        """
        self.begin(source)
        state, tally = work.start(), Tally()

        def prepared() -> Iterator[Rows]:
            start = 0
            for chunk in source.chunks(chunk_rows):
                yield preparation.rows(chunk, start)
                start += len(chunk.values)

        for rows in read_ahead(prepared()):
            tally.add(rows.n_read, rows.checksum)
            if most_rows is not None and tally.n_rows > most_rows:
                break
            take_rows(work, state, rows, n_threads)
            self.advance(1)
        return state, tally


def take_rows(work: Pass, state: Any, rows: Rows, n_threads: int) -> None:
    """Take a chunk into a state; the first look counts also one of which no row is left."""
    if len(rows.points) or isinstance(work, LookPass):
        work.step(state, rows, n_threads)


def read_ahead(items: Iterator[Any]) -> Iterator[Any]:
    """The items, the next of which is made by another thread meanwhile."""
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, items, None)
        while (item := waiting.result()) is not None:
            waiting = reader.submit(next, items, None)
            yield item
