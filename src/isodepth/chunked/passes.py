"""Passes over the chunks of a source: a state for what has been seen, and how two of them merge.

A pass gives a fresh state (`start`), takes the rows of a chunk into it (`step`) and takes one state
into another (`merge`). States are small whatever the size of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from isodepth import _core
from isodepth.chunked.rows import Rows, WeightTotals
from isodepth.core.regions import Sample
from isodepth.data.missing import MissingReport
from isodepth.engine import Resources, write_supports


class Pass(Protocol):
    """What is done with the chunks of a source, from the first to the last."""

    def start(self) -> Any:
        """A state that has seen nothing."""

    def step(self, state: Any, rows: Rows, n_threads: int) -> None:
        """Take the rows of a chunk into a state."""

    def merge(self, state: Any, other: Any) -> None:
        """Take another state into a state."""


#: Runs a pass over all chunks; on one machine or on many.
Fold = Callable[[Pass], Any]


class Reservoir:
    """A random sample of rows: those with the smallest random keys.

    The key of a row depends on its number in the source and the seed alone, so that neither the
    size of chunks nor the number of threads matters.
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        self.capacity, self.seed = capacity, seed
        self._parts: list[tuple[np.ndarray, ...]] = []
        self._limit = np.uint64(2**64 - 1)

    def add(self, numbers: np.ndarray, points: np.ndarray, weights: np.ndarray | None) -> None:
        """Take in rows (n, d) with their numbers (n,) and weights (n,)."""
        keys = _random_keys(numbers, self.seed)
        near = keys <= self._limit
        own = np.ones(int(near.sum())) if weights is None else weights[near]
        self._parts.append((keys[near], points[near], own))
        if sum(len(part[0]) for part in self._parts) > 1.25 * self.capacity:
            self._settle()

    def merge(self, other: Reservoir) -> None:
        """Take in what another has drawn."""
        self._parts += other._parts
        self._settle()

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The points (m, d) and weights (m,), in the order of their keys."""
        self._settle()
        keys, points, weights = self._parts[0]
        order = np.argsort(keys)
        return points[order], weights[order]

    def _settle(self) -> None:
        if not self._parts:
            return
        keys, points, weights = (np.concatenate(p) for p in zip(*self._parts, strict=True))
        if len(keys) > self.capacity:
            kept = np.argpartition(keys, self.capacity - 1)[: self.capacity]
            keys, points, weights = keys[kept], points[kept], weights[kept]
            self._limit = keys.max()
        self._parts = [(keys, points, weights)]


def _random_keys(numbers: np.ndarray, seed: int) -> np.ndarray:
    """A random number for each number: the mixing function of SplitMix64."""
    start = np.random.default_rng(seed).integers(2**63, dtype=np.uint64)
    keys = start + (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))


class Look:
    """What the first pass finds: rows, missing values, weights, and some rows drawn at random."""

    def __init__(self, capacity: int) -> None:
        self.n_rows = self.n_complete = self.n_present = 0
        self.missing: Any = 0
        self.weights = WeightTotals()
        self.reservoir = Reservoir(capacity)

    def report(self, labels: tuple[str, ...]) -> MissingReport:
        """What was left out, as in memory."""
        counts = np.broadcast_to(self.missing, len(labels)).tolist()
        pairs = tuple(zip(labels, counts, strict=True))
        return MissingReport(self.n_rows, self.n_rows - self.n_complete, pairs)


@dataclass(frozen=True)
class LookPass:
    """The first look at the data: rows, missing values and weights are counted, some rows drawn."""

    capacity: int

    def start(self) -> Look:
        return Look(self.capacity)

    def step(self, state: Look, rows: Rows, n_threads: int) -> None:
        state.n_rows += rows.n_read
        state.n_complete += rows.n_complete
        state.n_present += len(rows.points)
        if rows.missing is not None:
            state.missing = state.missing + rows.missing
        if not len(rows.points):
            return
        if rows.weights is not None:
            state.weights.add(rows.weights)
        state.reservoir.add(rows.numbers, rows.points, rows.weights)

    def merge(self, state: Look, other: Look) -> None:
        state.n_rows += other.n_rows
        state.n_complete += other.n_complete
        state.n_present += other.n_present
        state.missing = state.missing + other.missing
        state.weights.merge(other.weights)
        state.reservoir.merge(other.reservoir)


@dataclass(frozen=True)
class DistinctPass:
    """The distinct rows and their masses, until there are more than `most`; [None] then."""

    most: int

    def start(self) -> list[Any]:
        return [()]

    def step(self, state: list[Any], rows: Rows, n_threads: int) -> None:
        if len(rows.points):
            masses = rows.masses
            ones = np.ones(len(rows.points), np.int64) if masses is None else masses
            self.merge(state, [(rows.points, ones)])

    def merge(self, state: list[Any], other: list[Any]) -> None:
        if state[0] is None or not other[0]:
            state[0] = None if other[0] is None else state[0]
            return
        parts = [part for part in (state[0], other[0]) if part]
        points, masses = (np.concatenate(both) for both in zip(*parts, strict=True))
        distinct, inverse, _ = _core.distinct_rows(points, None, 1)
        total = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(total, inverse, masses)
        state[0] = (distinct, total) if len(distinct) <= self.most else None

    @staticmethod
    def sample(state: list[Any]) -> Sample | None:
        """All rows as a sample, where they are few."""
        return None if state[0] is None else Sample._merge(*state[0])


@dataclass(frozen=True)
class SupportPass:
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
                out = np.empty_like(supports)
                first = int(np.flatnonzero(sizes)[0])
                write_supports(
                    rows.points[order], sizes[first:], self.directions, out[first:],
                    Resources(n_threads),
                )  # fmt: skip
                np.maximum(supports[first:], out[first:], out=supports[first:])

    def merge(self, state: dict[str, Any], other: dict[str, Any]) -> None:
        np.maximum(state["supports"], other["supports"], out=state["supports"])
        state["width"] = max(state["width"], other["width"])


@dataclass(frozen=True)
class MomentPass:
    """Mass, mean and scatter matrix of the columns, and their extremes.

    Chunks are merged by the update of Chan, Golub and LeVeque, which does not cancel.
    """

    frame: Any

    def start(self) -> dict[str, Any]:
        width = len(self.frame.center)
        ends = np.full((2, width), [[np.inf], [-np.inf]])
        return {
            "mass": 0.0, "mean": np.zeros(width), "scatter": np.zeros((width, width)), "ends": ends
        }  # fmt: skip

    def step(self, state: dict[str, Any], rows: Rows, n_threads: int) -> None:
        points = self.frame.moved(rows.points).astype(np.float64)
        masses = np.ones(len(points)) if rows.masses is None else rows.masses.astype(np.float64)
        mean = masses @ points / masses.sum()
        away = points - mean
        ends = np.stack([points.min(axis=0), points.max(axis=0)])
        scatter = (away.T * masses) @ away
        self.merge(state, {"mass": masses.sum(), "mean": mean, "scatter": scatter, "ends": ends})

    def merge(self, state: dict[str, Any], other: dict[str, Any]) -> None:
        total = state["mass"] + other["mass"]
        if not total:
            return
        apart = other["mean"] - state["mean"]
        share = other["mass"] / total
        state["scatter"] += other["scatter"] + np.outer(apart, apart) * (state["mass"] * share)
        state["mean"] += apart * share
        state["mass"] = total
        np.minimum(state["ends"][0], other["ends"][0], out=state["ends"][0])
        np.maximum(state["ends"][1], other["ends"][1], out=state["ends"][1])
