"""Passes over the chunks of a source: what they do, and how they run.

A pass has a state for what has been seen, and says how two of them merge. It runs here, one thread
reading ahead, or elsewhere (`isodepth.chunked.dask`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.chunked.rows import Preparation, Rows
from isodepth.chunked.sources import Source
from isodepth.depth.base import moved_by
from isodepth.engine import Resources, write_supports


class Pass:
    """What is done with the chunks of a source; states are small whatever the size of the data."""

    def start(self) -> Any:
        """A state that has seen nothing."""
        raise NotImplementedError

    def step(self, state: Any, rows: Rows, n_threads: int) -> None:
        """Take the rows of a chunk, at least one, into a state."""
        raise NotImplementedError

    def merge(self, state: Any, other: Any) -> None:
        """Take another state into a state: arrays add up, lists are joined."""
        state += other


#: Runs a pass over all chunks; on one machine or on many.
Fold = Callable[[Pass], Any]


def run_pass(
    step: Pass, how: Preparation, prepared: Iterable[Rows] = (), advance: Any = None
) -> tuple[Any, Any]:
    """The state of a pass over prepared chunks, and their tally (see `Rows`)."""
    state: Any = step.start()
    tally: Any = 0
    for rows in prepared:
        tally = tally + rows.tally
        if how.most_rows is not None and tally[0] > how.most_rows:
            break
        if len(rows.points):
            step.step(state, rows, how.n_threads)
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

    def fold(self, source: Source, step: Pass, how: Preparation) -> tuple[Any, Any]:
        """The state of a pass over the chunks of a source, and what was read."""
        prepared = how.prepared(source.chunks(how.chunk_rows))
        return run_pass(step, how, _read_ahead(prepared), self.advance)


def _read_ahead(items: Iterator[Any]) -> Iterator[Any]:
    """The items, the next of which is made by another thread meanwhile."""
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, items, None)
        while (item := waiting.result()) is not None:
            waiting = reader.submit(next, items, None)
            yield item


# -- what passes find ------------------------------------------------------------------------------


def row_keys(seed: int, start: int, count: int) -> np.ndarray:
    """Random numbers (count,) of rows from `start` on, however rows are cut into chunks."""
    return np.random.Generator(np.random.PCG64(seed).advance(start)).random(count)


class Summary:
    """Rows of positive weight, their mean weight, and a random sample: the smallest random keys.

    Parameters
    ----------
    capacity : int
        How many rows are drawn.
    seed : int
    whole : int
        All rows are held as long as there are no more than these.
    """

    def __init__(self, capacity: int, seed: int = 0, whole: int = 0) -> None:
        self.capacity, self.seed, self.whole = capacity, seed, whole
        self.n_rows, self.mean_weight = 0, 0.0
        self.parts: list[tuple[np.ndarray, ...]] = []
        self.limit = 1.0

    def add(self, start: int, points: np.ndarray, weights: np.ndarray | None) -> None:
        """Take in rows (n, d) with weights (n,), the first of which has the number `start`."""
        if len(points):
            keys = row_keys(self.seed, start, len(points))
            near = keys <= self.limit
            own = np.ones(len(points)) if weights is None else weights
            held = keys[near], points[near], own[near]
            self._take(len(points), float((own / len(points)).sum()), [held])

    def __iadd__(self, other: Summary) -> Summary:
        if other.n_rows:
            self._take(other.n_rows, other.mean_weight, other.parts)
        return self

    def drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """The points (m, d) and weights (m,): all in their order, or some in a random one."""
        self._settle()
        return self.parts[0][1:]  # type: ignore[return-value]

    def _take(self, n_rows: int, mean_weight: float, parts: list[tuple[np.ndarray, ...]]) -> None:
        self.n_rows += n_rows
        # Not the sum of all, which may overflow.
        self.mean_weight += (mean_weight - self.mean_weight) * (n_rows / self.n_rows)
        self.parts += parts
        if sum(len(part[0]) for part in self.parts) > 1.25 * max(self.capacity, self.whole):
            self._settle()

    def _settle(self) -> None:
        """Let go of all rows that are not among those with the smallest keys."""
        keys, points, weights = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        if self.n_rows > self.whole and len(keys) > self.capacity:
            kept = np.argsort(keys)[: self.capacity]
            keys, points, weights = keys[kept], points[kept], weights[kept]
            self.limit = keys[-1]
        self.parts = [(keys, points, weights)]


@dataclass(frozen=True)
class SummaryPass(Pass):
    """The first look at the data: rows are counted and weighed, and some of them drawn."""

    capacity: int
    whole: int

    def start(self) -> Summary:
        return Summary(self.capacity, whole=self.whole)

    def step(self, state: Summary, rows: Rows, n_threads: int) -> None:
        state.add(rows.start, rows.points, rows.weights)


class MassPass(Pass):
    """The sum of all masses."""

    def start(self) -> np.ndarray:
        return np.zeros(1, dtype=np.int64)

    def step(self, state: np.ndarray, rows: Rows, n_threads: int) -> None:
        assert rows.masses is not None
        state += rows.masses.sum()


@dataclass(frozen=True)
class DistinctPass(Pass):
    """The distinct rows and their masses, until there are more than `most`; [None] then."""

    most: int

    def start(self) -> list[Any]:
        return []

    def step(self, state: list[Any], rows: Rows, n_threads: int) -> None:
        ones = np.ones(len(rows.points), dtype=np.int64)
        self.merge(state, [(rows.points, ones if rows.masses is None else rows.masses)])

    def merge(self, state: list[Any], other: list[Any]) -> None:
        if state == [None] or other == [None]:
            state[:] = [None]
        elif other:
            points, masses = (np.concatenate(both) for both in zip(*state, *other, strict=True))
            distinct, inverse, _ = _core.distinct_rows(points, None, 1)
            total = np.zeros(len(distinct), dtype=np.int64)
            np.add.at(total, inverse, masses)
            state[:] = [(distinct, total) if len(distinct) <= self.most else None]


@dataclass(frozen=True)
class SupportPass(Pass):
    """Support values of the regions {depth >= threshold}: merged by maximum.

    Attributes
    ----------
    model : gives the depths (n, C) of points
    thresholds : ndarray of shape (C, L), falling along the levels
    pairs : sequence of P pairs (which depths, which thresholds)
    directions : ndarray of shape (K, d)
    """

    model: Any
    thresholds: np.ndarray
    pairs: tuple[tuple[int, int], ...]
    directions: np.ndarray

    def start(self) -> dict[str, Any]:
        shape = (len(self.pairs), self.thresholds.shape[1], 2 * len(self.directions))
        return {"supports": np.full(shape, -np.inf), "width": 0.0}

    def step(self, state: dict[str, Any], rows: Rows, n_threads: int) -> None:
        depths = self.model.depths(rows.points, n_threads)
        n_levels = self.thresholds.shape[1]
        if depths.shape[1] == 3:
            state["width"] = max(state["width"], float((depths[:, 2] - depths[:, 1]).max()))
        for supports, (depth, threshold) in zip(state["supports"], self.pairs, strict=True):
            levels = np.searchsorted(-self.thresholds[threshold], -depths[:, depth])
            sizes = np.cumsum(np.bincount(levels, minlength=n_levels + 1)[:n_levels])
            if sizes[-1]:
                # Short integers are sorted by their digits, in a fraction of the time.
                short = levels.astype(np.uint16) if n_levels < 1 << 16 else levels
                order = np.argsort(short, kind="stable")[: sizes[-1]]
                first = int(np.flatnonzero(sizes)[0])
                out = np.empty_like(supports[first:])
                points = rows.points[order]
                write_supports(points, sizes[first:], self.directions, out, Resources(n_threads))
                np.maximum(supports[first:], out, out=supports[first:])

    def merge(self, state: dict[str, Any], other: dict[str, Any]) -> None:
        np.maximum(state["supports"], other["supports"], out=state["supports"])
        state["width"] = max(state["width"], other["width"])


@dataclass(frozen=True)
class MomentPass(Pass):
    """Sums of products of (1, moved row), of shape (d + 1, d + 1), and extremes of -rows and rows.

    Rows are moved to about their median, from which the mean is at most a standard deviation away:
    a covariance as the difference of moments loses no more than a digit.
    """

    frame: tuple[np.ndarray, int]

    def start(self) -> list[np.ndarray]:
        width = len(self.frame[0])
        return [np.zeros((width + 1, width + 1)), np.full((2, width), -np.inf)]

    def step(self, state: list[np.ndarray], rows: Rows, n_threads: int) -> None:
        moved = moved_by(rows.points, *self.frame).astype(np.float64)
        joined = np.column_stack([np.ones(len(moved)), moved])
        masses = 1.0 if rows.masses is None else rows.masses.astype(np.float64)
        ends = np.stack([(-moved).max(axis=0), moved.max(axis=0)])
        self.merge(state, [(joined.T * masses) @ joined, ends])

    def merge(self, state: list[np.ndarray], other: list[np.ndarray]) -> None:
        state[0] += other[0]
        np.maximum(state[1], other[1], out=state[1])
