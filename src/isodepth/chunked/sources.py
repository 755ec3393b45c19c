"""A source of chunks: a sample that is read piece by piece, as often as needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from isodepth.chunked.parts import RawChunk


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A sample that is read in chunks; made by :func:`isodepth.scan`.

    Attributes
    ----------
    parts : tuple
        What can be read by itself: row groups, files, arrays.
    n_features : int
        How many columns the points have, that of the weights not counted.
    columns : tuple of str or None
    dtype : {"float32", "float64"}
        float32 where all columns are, as in memory.
    weighted : bool
        Whether the last column that is read holds weights.
    chunk_rows : int or None
        The most rows to read at a time; None lets the memory decide.
    label : str
        How to call it in messages.
    """

    parts: tuple[Any, ...]
    n_features: int
    columns: tuple[str, ...] | None
    dtype: str
    weighted: bool
    chunk_rows: int | None
    label: str

    #: How `Metric` knows one without knowing of this module.
    reads_in_chunks: ClassVar[bool] = True

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known before reading."""
        counts = [part.n_rows for part in self.parts]
        return None if any(count is None for count in counts) else sum(counts)

    def chunks(self, rows: int) -> Iterator[RawChunk]:
        """All chunks, of at most so many rows; can be called again and again."""
        for part in self.parts:
            yield from part.read(rows if self.chunk_rows is None else min(rows, self.chunk_rows))

    def aligned(self, names: tuple[str, ...] | None) -> Source:
        """The same with its columns in the order of `names`, where both have names."""
        if names is None or self.columns is None or self.columns == names:
            return self
        if sorted(names) != sorted(self.columns):
            return self
        order = [self.columns.index(name) for name in names]
        order += [self.n_features] if self.weighted else []
        parts = tuple(_Reordered(part, tuple(order)) for part in self.parts)
        return replace(self, parts=parts, columns=names)

    def __repr__(self) -> str:
        rows = self.n_rows
        known = "rows" if rows is None else f"{rows} rows"
        return (
            f"Source({self.label}: {known}, {self.n_features} column(s), "
            f"{len(self.parts)} part(s), {self.dtype}{', weighted' if self.weighted else ''})"
        )


@dataclass(frozen=True)
class _Reordered:
    part: Any
    order: tuple[int, ...]

    @property
    def n_rows(self) -> int | None:
        return self.part.n_rows

    def read(self, rows: int) -> Iterator[RawChunk]:
        for chunk in self.part.read(rows):
            yield chunk._replace(values=chunk.values[:, list(self.order)])
