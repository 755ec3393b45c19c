"""Some rows of a stream: all distinct ones while they are few, and a random sample."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.sample import Sample
from isodepth.engine import middle_rows


class Pilot(NamedTuple):
    """Some rows of a sample, for a first guess.

    Attributes
    ----------
    points : ndarray of shape (m, d)
    masses : int64 ndarray of shape (m,)
    """

    points: np.ndarray
    masses: np.ndarray

    @property
    def size(self) -> float:
        """How many rows of one mass would say as much."""
        masses = self.masses.astype(np.float64)
        return float(masses.sum() ** 2 / (masses**2).sum())


class RowDraw:
    """A random sample of rows that grows: those of smallest random numbers.

    Which rows these are may depend on the order of chunks. They are a first guess: no result
    depends on them.
    """

    def __init__(self, n_features: int, dtype: str, capacity: int, rng: Any = None) -> None:
        self.capacity = capacity
        #: Whether these are all rows so far.
        self.complete = True
        # Where there is none it is made from the first rows.
        self._rng = rng
        self._keys, self._last = np.empty(0), 0.0
        self._points = np.empty((0, n_features), dtype=dtype)
        self._masses = np.empty(0, dtype=np.int64)
        self._waiting: list[tuple[np.ndarray, ...]] = []
        self._n_waiting = 0

    def add(self, points: np.ndarray, masses: np.ndarray) -> None:
        """Take in rows (n, d) of masses (n,), or of unit masses where these are empty."""
        if not len(points):
            return
        if self._rng is None:
            self._rng = np.random.default_rng(zlib.crc32(points[:64].tobytes()))
        keys = self._rng.random(len(points))
        units = masses if len(masses) else np.ones(len(points), dtype=np.int64)
        if len(self._keys) == self.capacity:
            # What lies beyond the last row kept cannot come in; most rows do.
            near = np.flatnonzero(keys < self._last)
            self.complete = False
            if not len(near):
                return
            keys, points, units = keys[near], points[near], units[near]
        self._wait(keys, points, units)

    def merge(self, other: RowDraw) -> None:
        """Take in what another has drawn."""
        other.settle()
        self.complete = self.complete and other.complete
        self._wait(other._keys, other._points, other._masses)

    def _wait(self, *rows: np.ndarray) -> None:
        self._waiting.append(rows)
        self._n_waiting += len(rows[0])
        if self._n_waiting > self.capacity // 4:
            self.settle()

    def settle(self) -> None:
        """Keep the rows of smallest keys among those kept and waiting."""
        if not self._waiting:
            return
        parts = [(self._keys, self._points, self._masses), *self._waiting]
        keys, points, masses = (np.concatenate(part) for part in zip(*parts, strict=True))
        self._waiting, self._n_waiting = [], 0
        if len(keys) > self.capacity:
            # In whatever order: that takes a tenth of the time of sorting them.
            kept = np.argpartition(keys, self.capacity - 1)[: self.capacity]
            keys, points, masses = keys[kept], points[kept], masses[kept]
            self.complete = False
        self._last = keys.max(initial=0.0)
        self._keys, self._points, self._masses = keys, points, masses

    @property
    def pilot(self) -> Pilot:
        """The rows drawn so far."""
        self.settle()
        return Pilot(self._points, self._masses)

    def __getstate__(self) -> dict[str, Any]:
        self.settle()
        return self.__dict__


class FewRows:
    """The distinct rows of a stream with their masses, until there are too many."""

    def __init__(self) -> None:
        self.sample: Sample | None = None
        self.too_many = False
        # Where all masses are equal the sample counts in units of that mass.
        self._unit = 1

    def add(self, points: np.ndarray, masses: np.ndarray) -> None:
        """Take in rows (n, d) of masses (n,), or of unit masses where these are empty."""
        # Most chunks show at their beginning that there are too many.
        step = 2 * middle_rows.FEW_ROWS
        for start in range(0, len(points), step):
            if self.too_many:
                return
            some = slice(start, start + step)
            own = masses[some] if len(masses) else np.ones(len(points[some]), dtype=np.int64)
            self._take(points[some], own)

    def merge(self, other: FewRows) -> None:
        """Take in what another has seen."""
        if other.too_many:
            self.too_many, self.sample = True, None
        if other.sample is not None and not self.too_many:
            self._take(other.sample.points, other.sample.unit_masses * other._unit)

    def _take(self, points: np.ndarray, masses: np.ndarray) -> None:
        if self.sample is not None:
            points = np.concatenate([self.sample.points, points])
            masses = np.concatenate([self.sample.unit_masses * self._unit, masses])
        self.sample = Sample._merge(points, masses)
        self._unit = int(masses.sum()) // self.sample.total
        if self.sample.n_points > middle_rows.FEW_ROWS:
            self.too_many, self.sample = True, None
