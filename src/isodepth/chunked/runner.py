"""Where passes run: here, by threads; what runs them elsewhere has the same form."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from isodepth.chunked.limits import MOST_HELD_ROWS, MOST_WORKSPACE, Limits
from isodepth.chunked.local import fold_chunks
from isodepth.chunked.passes import Pass
from isodepth.chunked.preparation import Preparation
from isodepth.chunked.sources import Chunk, Source
from isodepth.chunked.spill import SpilledDepths


class Runner:
    """Where passes run: here, one chunk after the other, or elsewhere (`isodepth.chunked.dask`)."""

    #: The most numbers that a state may hold for each direction.
    most_numbers = MOST_WORKSPACE
    #: The most rows that a state may hold.
    most_rows = MOST_HELD_ROWS

    def __init__(self, advance: Any = None) -> None:
        self.advance = advance or (lambda count: None)

    def begin(self, source: Source) -> None:
        """Tell who watches that a pass begins."""
        tell = getattr(self.advance, "begin", None)
        if tell is not None:
            tell(source.label)

    def fold(
        self, source: Source, preparation: Preparation | None, work: Pass, limits: Limits
    ) -> Any:
        """Run a pass over the chunks of a source, raw ones where there is no preparation."""
        self.begin(source)

        def prepare(start: int, chunk: Chunk) -> Any:
            return chunk if preparation is None else preparation.rows(chunk)._replace(start=start)

        return fold_chunks(
            lambda: source.chunks(limits.chunk_rows), prepare, work, limits.workers, self.advance
        )

    @contextmanager
    def keeping(self, model: Any) -> Iterator[Any]:
        """What gives the depths of rows, and may keep those it has computed."""
        with SpilledDepths(model) as depths:
            yield depths

    def fold_depths(
        self, depths: Any, source: Source, preparation: Preparation, work: Pass, limits: Limits
    ) -> Any:
        """Run a pass that needs the depths of rows and their masses alone."""
        if depths.complete and not source.weighted:
            dtype = preparation.dtype
            return fold_chunks(
                lambda: depths.pieces(dtype), lambda _, rows: rows, work, limits.workers
            )
        state = self.fold(source, preparation, work, limits)
        depths.known = True
        return state
