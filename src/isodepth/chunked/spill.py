"""Depths of all rows in a file that nobody sees: computed once, read again by later passes."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from isodepth.chunked.rows import NO_MASSES, Rows


class SpilledDepths:
    """Depths that are computed in one pass and read back in the next.

    A file without a name takes as many bytes a row as a number of the data has; it goes with the
    process, however that ends. Where the disk is full depths are computed anew each time.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.known = False
        self._pieces: dict[int, int] = {}
        self._lock = threading.Lock()
        self._file: Any = None
        with suppress(OSError):
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by __exit__)

    def __enter__(self) -> SpilledDepths:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def __call__(self, rows: Rows) -> np.ndarray:
        """The depths (n,), float64, of the rows of a chunk."""
        return self.model.finish(self.raw(rows))

    def raw(self, rows: Rows) -> np.ndarray:
        """What the depths of the rows of a chunk are made of."""
        dtype, width = self.model.raw_dtype, self.model.raw_width
        place = rows.start * dtype.itemsize * width
        if self.known and self._file is not None:
            size = len(rows.points) * dtype.itemsize * width
            found = np.frombuffer(os.pread(self._file.fileno(), size, place), dtype=dtype)
            return found if width == 1 else found.reshape(-1, width)
        found = self.model.raw(rows.points)
        if self._file is not None:
            try:
                self._write(found, place)
                with self._lock:
                    self._pieces[rows.start] = len(found)
            except OSError:
                self._file = None
        return found

    def _write(self, found: np.ndarray, place: int) -> None:
        content: Any = memoryview(np.ascontiguousarray(found)).cast("B")  # type: ignore[arg-type]
        while content:
            written = os.pwrite(self._file.fileno(), content, place)
            content, place = content[written:], place + written

    def pieces(self, dtype: Any) -> Iterator[Rows]:
        """What stands for the chunks of unit masses where their depths alone are asked for."""
        for start, size in self._pieces.items():
            yield Rows(np.empty((size, 0), dtype=dtype), NO_MASSES, start)

    @property
    def complete(self) -> bool:
        """Whether all depths lie in the file."""
        return self.known and self._file is not None
