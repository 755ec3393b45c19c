"""The passes over the chunks of a source: each is made of pure functions of a chunk.

A pass gives a fresh state (`start`), takes a chunk into it (`step`) and takes one state into
another (`merge`). States are small whatever the size of the data, and any order of chunks and of
merging gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from isodepth.chunked.preparation import Preparation
from isodepth.chunked.rows import BLOCK_ROWS, NO_MASSES, Frame, Rows, projected, slabs
from isodepth.chunked.sampling import FewRows, RowDraw
from isodepth.chunked.sources import Chunk
from isodepth.chunked.summaries import Counts, Digits, Gathered, Intervals
from isodepth.chunked.weights import Looked
from isodepth.engine.gap_passes import write_supports
from isodepth.engine.spread_passes import flat_outlyingness, largest_entries, reach_of
from isodepth.engine.threads import Resources

Summary = Counts | Gathered | Digits


class Pass(Protocol):
    """What is done with the chunks of a source, from the first to the last."""

    def start(self) -> Any:
        """A state that has seen nothing."""

    def step(self, state: Any, rows: Any) -> None:
        """Take a chunk into a state."""

    def merge(self, state: Any, other: Any) -> None:
        """Take another state into a state."""


#: Runs a pass over all chunks; on one machine or on many.
Fold = Callable[[Pass], Any]


@dataclass(frozen=True)
class LookPass:
    """The first look at raw chunks: all values are checked, rows, missing ones and weights counted.

    Without weights rows are drawn as well.
    """

    preparation: Preparation
    capacity: int

    def start(self) -> dict[str, Any]:
        width, dtype = self.preparation.n_features, self.preparation.dtype
        return {"looked": Looked(), "drawn": Drawn(width, dtype, self.capacity)}

    def step(self, state: dict[str, Any], chunk: Chunk) -> None:
        points, weights, missing = self.preparation.split(chunk)
        state["looked"].add(len(chunk.values), len(points), weights, missing)
        if weights is None and len(points):
            state["drawn"].add(self.preparation.finish(points, None, chunk.place))

    def merge(self, state: dict[str, Any], other: dict[str, Any]) -> None:
        state["looked"].merge(other["looked"])
        state["drawn"].merge(other["drawn"])


class Drawn:
    """Rows that are drawn, the distinct ones while they are few, their mass and their extremes.

    Attributes
    ----------
    mass : int
    draw : RowDraw
    few : FewRows
    low, high : float, of all entries
    """

    def __init__(self, n_features: int, dtype: str, capacity: int) -> None:
        self.mass = 0
        self.draw = RowDraw(n_features, dtype, capacity)
        self.few = FewRows()
        self.low, self.high = np.inf, -np.inf

    def add(self, rows: Rows) -> None:
        """Take in the rows of a chunk."""
        self.mass += rows.mass
        self.draw.add(rows.points, rows.masses)
        self.few.add(rows.points, rows.masses)
        self.low = min(self.low, float(rows.points.min()))
        self.high = max(self.high, float(rows.points.max()))

    def merge(self, other: Drawn) -> None:
        """Take in what another has seen."""
        self.mass += other.mass
        self.draw.merge(other.draw)
        self.few.merge(other.few)
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)


@dataclass(frozen=True)
class DrawPass:
    """Rows are drawn, once the masses of all are known."""

    n_features: int
    dtype: str
    capacity: int

    def start(self) -> Drawn:
        return Drawn(self.n_features, self.dtype, self.capacity)

    def step(self, state: Drawn, rows: Rows) -> None:
        state.add(rows)

    def merge(self, state: Drawn, other: Drawn) -> None:
        state.merge(other)


@dataclass(frozen=True)
class ProjectionPass:
    """Summaries of the projections on all directions."""

    frame: Frame
    makers: tuple[Callable[[], Summary], ...]
    block_rows: int = BLOCK_ROWS

    def start(self) -> list[Summary]:
        return [make() for make in self.makers]

    def step(self, state: list[Summary], rows: Rows) -> None:
        moved = self.frame.moved(rows.points)
        for block, slab in slabs(moved, self.frame, self.block_rows):
            masses = rows.masses[block] if len(rows.masses) else NO_MASSES
            for summary in state:
                summary.take(slab, masses)

    def merge(self, state: list[Summary], other: list[Summary]) -> None:
        for mine, theirs in zip(state, other, strict=True):
            mine.merge(theirs)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Outlyingness:
    """All that the projection depth of a point needs of a sample.

    Attributes
    ----------
    frame : Frame
    middles, mads : ndarrays of shape (K,)
        A direction along which rounding is all there is has NaN for its MAD.
    scales : ndarray of shape (K,)
        The median of the deviations that are not zero, along the directions without a MAD.
    typical : float
        The size of a typical row.
    """

    frame: Frame
    middles: np.ndarray
    mads: np.ndarray
    scales: np.ndarray
    typical: Any

    raw_width = 1

    @property
    def raw_dtype(self) -> np.dtype:
        """The precision of what depths are made of."""
        return self.mads.dtype

    def raw(self, points: np.ndarray) -> np.ndarray:
        """How far out rows (n, d) lie, in the precision they have."""
        from isodepth.chunked.counting_loops import raise_products

        moved = self.frame.moved(points)
        out = np.zeros(len(moved), dtype=moved.dtype)
        flat = np.isnan(self.mads)
        reach = None
        if flat.any():
            reach = reach_of(moved, largest_entries(moved), self.typical)
        for rows, slab in slabs(moved, self.frame):
            # Where there is no MAD it is not a number, and nothing is raised.
            raise_products(slab, self.middles, self.mads, out[rows], NO_MASSES)
        if reach is None:
            return out
        along = self.frame.along(flat)
        middles, scales = self.middles[flat], self.scales[flat]
        for rows, which, projections in projected(moved, along):
            for k, values in zip(range(which.start, which.stop), projections, strict=True):
                found = flat_outlyingness(values, reach[rows], middles[k], scales[k])
                np.maximum(out[rows], found, out=out[rows])
        return out

    def finish(self, raw: np.ndarray) -> np.ndarray:
        """The depths (n,), float64, of points that lie so far out."""
        return 1.0 / (1.0 + raw.astype(np.float64))


@dataclass(frozen=True)
class FlatPass:
    """Deviations that are more than rounding, along directions that have no MAD.

    Without a `typical` size nothing is rounding.
    """

    frame: Frame
    middles: np.ndarray
    typical: Any
    prefixes: np.ndarray
    shift: int

    def start(self) -> Digits:
        return Digits(self.prefixes, self.shift, None)

    def step(self, state: Digits, rows: Rows) -> None:
        moved = self.frame.moved(rows.points)
        if self.typical is None:
            reach = np.zeros(len(moved), dtype=moved.dtype)
        else:
            reach = reach_of(moved, largest_entries(moved), self.typical)
        for block, which, projections in projected(moved, self.frame):
            for k in range(which.start, which.stop):
                deviations = np.abs(projections[k - which.start] - self.middles[k])
                off = deviations > reach[block]
                masses = rows.masses[block][off] if len(rows.masses) else NO_MASSES
                if off.any():
                    state.add_values(deviations[off], masses, k)

    def merge(self, state: Digits, other: Digits) -> None:
        state.merge(other)


@dataclass(frozen=True)
class DepthPass:
    """Summaries of the depths, each looked at in the intervals of all levels.

    Depths are negated, so that the deepest come first.
    """

    depths: Callable[[Rows], np.ndarray]
    make: Callable[[], Summary]
    block_rows: int = BLOCK_ROWS

    def start(self) -> Summary:
        return self.make()

    def step(self, state: Summary, rows: Rows) -> None:
        falling = -self.depths(rows)
        for first in range(0, len(rows.points), self.block_rows):
            block = slice(first, first + self.block_rows)
            masses = rows.masses[block] if len(rows.masses) else NO_MASSES
            state.add(falling[block], masses)

    def merge(self, state: Summary, other: Summary) -> None:
        state.merge(other)  # type: ignore[arg-type]


@dataclass(frozen=True)
class SupportPass:
    """Support values of the regions {depth >= threshold}: merged by maximum.

    Attributes
    ----------
    depths : gives the depths (n,) of the rows of a chunk
    thresholds : ndarray of shape (L,), falling
    directions : ndarray of shape (K, d)
    """

    depths: Callable[[Rows], np.ndarray]
    thresholds: np.ndarray
    directions: np.ndarray

    def start(self) -> np.ndarray:
        return np.full((len(self.thresholds), 2 * len(self.directions)), -np.inf)

    def step(self, state: np.ndarray, rows: Rows) -> None:
        n_levels = len(self.thresholds)
        levels = np.searchsorted(-self.thresholds, -self.depths(rows))
        stops = np.cumsum(np.bincount(levels, minlength=n_levels + 1)[:n_levels])
        if not stops[-1]:
            return
        # Short integers are sorted by their digits, in a fraction of the time.
        short = levels.astype(np.uint16) if n_levels < 1 << 16 else levels
        order = np.argsort(short, kind="stable")[: stops[-1]]
        out = np.empty_like(state)
        write_supports(rows.points[order], stops, self.directions, out, Resources(1))
        np.maximum(state, out, out=state)

    def merge(self, state: np.ndarray, other: np.ndarray) -> None:
        np.maximum(state, other, out=state)


def gather(intervals: Intervals, workspace: int) -> Callable[[], Summary]:
    """What makes a `Gathered` for each worker."""
    return _Maker(Gathered, (intervals, workspace))


def count(intervals: Intervals, parts: int) -> Callable[[], Summary]:
    """What makes a `Counts` for each worker."""
    return _Maker(Counts, (intervals, parts))


def digits(prefixes: np.ndarray, shift: int, centers: np.ndarray | None) -> Callable[[], Summary]:
    """What makes a `Digits` for each worker."""
    return _Maker(Digits, (prefixes, shift, centers))


@dataclass(frozen=True)
class _Maker:
    # An object and not a closure, so that it can be sent to another machine.
    kind: Any
    arguments: tuple[Any, ...]

    def __call__(self) -> Any:
        return self.kind(*self.arguments)
