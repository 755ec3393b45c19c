"""Where passes run: here, one thread reading ahead; what runs them elsewhere has the same form."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from isodepth.chunked.passes import LookPass, Pass
from isodepth.chunked.rows import Preparation, Rows
from isodepth.chunked.sources import Source

# Interrupts are noticed at least this often.
_SECONDS = 0.1


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

        def take(rows: Rows) -> bool:
            tally.add(rows.n_read, rows.checksum)
            if most_rows is not None and tally.n_rows > most_rows:
                return False
            take_rows(work, state, rows, n_threads)
            self.advance(1)
            return True

        def prepared() -> Any:
            start = 0
            for chunk in source.chunks(chunk_rows):
                yield preparation.rows(chunk, start)
                start += len(chunk.values)

        read_ahead(prepared, take)
        return state, tally


def take_rows(work: Pass, state: Any, rows: Rows, n_threads: int) -> None:
    """Take a chunk into a state; the first look counts also one of which no row is left."""
    if len(rows.points) or isinstance(work, LookPass):
        work.step(state, rows, n_threads)


def read_ahead(items: Callable[[], Any], take: Callable[[Any], bool]) -> None:
    """Call `take` for each item, made by another thread ahead of time, until it returns False."""
    ahead: queue.Queue[Any] = queue.Queue(maxsize=2)
    stop = threading.Event()
    errors: list[BaseException] = []
    end = object()

    def put(item: Any) -> bool:
        while not stop.is_set():
            try:
                ahead.put(item, timeout=_SECONDS)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items():
                if not put(item):
                    return
        except BaseException as error:
            errors.append(error)
        put(end)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        while True:
            try:
                # Short waits: a signal reaches this thread between two of them.
                item = ahead.get(timeout=_SECONDS)
            except queue.Empty:
                continue
            if item is end or not take(item):
                break
    finally:
        stop.set()
        reader.join(10 * _SECONDS)
    if errors:
        raise errors[0]
