"""From a source of chunks to a RegionTable: the passes, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.middle_rows import center_and_exponent, rows_of_ranks
from isodepth.chunked.parts import RawChunk
from isodepth.chunked.passes import Drawn, DrawPass, LookPass, Pass, SupportPass
from isodepth.chunked.preparation import Preparation, preparation_of
from isodepth.chunked.ranks import SPACED_ROWS, CellPass, Cells, RankBounds, Side, WidthPass
from isodepth.chunked.rows import Frame
from isodepth.chunked.sampling import Pilot
from isodepth.chunked.selection import Sizes, fit_outlyingness
from isodepth.chunked.sources import Source
from isodepth.chunked.spill import SpilledDepths
from isodepth.chunked.thresholds import NegatedSizes, find_thresholds, ranked
from isodepth.chunked.weights import Looked
from isodepth.core.sample import Sample
from isodepth.data.arrays import column_labels
from isodepth.data.missing import MissingReport
from isodepth.depth.halfspace import HalfspaceDepth
from isodepth.depth.irw import IRWDepth
from isodepth.depth.projection import ProjectionDepth
from isodepth.engine.spread_passes import largest_entries
from isodepth.engine.threads import available_cores, single_threaded_blas
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.drawn import DrawnMetric
from isodepth.metric.metric import Metric
from isodepth.metric.table import RegionTable
from isodepth.metric.tabulate import table_shape, table_signature, write_table

_PILOTS = 1 << 16
_LEAST_PILOTS = 1 << 12
_MOST_PILOTS = 1 << 20
_MOST_CHUNK_ROWS = 1 << 16
# Numbers projected between two looks at whether to stop.
_MOST_WORK = 1 << 25
_LEAST_WORKSPACE = 512
_MOST_WORKSPACE = 1 << 30
# Copies of a chunk, in several precisions and orders, that are there at one time.
_COPIES = 6
# What the passes in memory hold for each number of a sample.
_COPIES_IN_MEMORY = 10


class Limits(NamedTuple):
    """What fits into the memory that was promised.

    Attributes
    ----------
    workers : int
    chunk_rows : int
        Rows that are read at a time.
    workspace : int
        Numbers that are held for each direction.
    pilots : int
        Rows that are drawn for a first guess.
    held_rows : int
        Rows that are held while some are looked for.
    rows_in_memory : int
        A sample of so many rows is worked on in memory.
    """

    workers: int
    chunk_rows: int
    workspace: int
    pilots: int
    held_rows: int
    rows_in_memory: int

    @classmethod
    def of(
        cls, drawn: DrawnMetric, dtype: str, n_rows: int | None = None, weighted: bool = True
    ) -> Limits:
        """Those of a metric with its directions drawn, for so many rows of that precision."""
        budget = drawn.resources.memory_mb * 2**20
        count, width = drawn.directions.shape
        item = np.dtype(dtype).itemsize
        workers = drawn.resources.n_jobs or available_cores()
        row = width * 8
        chunk = int(budget / 4 / ((workers + 3) * _COPIES * row))
        chunk = min(_MOST_CHUNK_ROWS, chunk, _MOST_WORK // count)
        number = item + 8 if weighted else item
        held = max(count * number, len(drawn.betas) * 16)  # type: ignore[arg-type]
        # The pilot is found before numbers are gathered, and is copied a few times while it is.
        workspace = int(0.55 * budget / held)
        held_rows = int(budget / 4 / (3 * (width * item + 16) * (workers + 1)))
        pilots = 2 * held_rows
        # More pilots save time in every pass, and take time once.
        pilots = min(pilots, _PILOTS if n_rows is None else max(_PILOTS // 4, n_rows >> 7))
        return cls(
            workers,
            max(64, chunk),
            max(_LEAST_WORKSPACE, min(_MOST_WORKSPACE, workspace)),
            max(_LEAST_PILOTS, min(_MOST_PILOTS, pilots)),
            max(_LEAST_PILOTS, min(_MOST_PILOTS // 2, held_rows)),
            int(budget / (_COPIES_IN_MEMORY * width * item)),
        )


class Tables(NamedTuple):
    """Support values (L, 2K), and what is known about those of exact depths.

    Attributes
    ----------
    values : ndarray of shape (L, 2K)
    inner, outer : ndarrays of shape (L, 2K), or None where `values` are exact
        The exact ones lie between these; `inner` may be -inf, where a region may be anything.
    depth_bound : float
        No depth is off by more.
    """

    values: np.ndarray
    inner: np.ndarray | None = None
    outer: np.ndarray | None = None
    depth_bound: float = 0.0


@dataclass(frozen=True)
class Streamed:
    """The table of a source, and what was seen on the way.

    Attributes
    ----------
    table : RegionTable
    n_rows : int
        Rows that have a mass.
    missing : MissingReport or None
    made : Tables
        With bounds, where depths are not those in memory.
    """

    table: RegionTable
    n_rows: int
    missing: MissingReport | None
    made: Tables


class Runner:
    """Where passes run: here, one chunk after the other, or elsewhere (`isodepth.chunked.dask`)."""

    #: The most numbers that a state may hold for each direction.
    most_numbers = _MOST_WORKSPACE

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
        from isodepth.chunked.local import fold_chunks

        self.begin(source)

        def prepare(start: int, chunk: RawChunk) -> Any:
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
        from isodepth.chunked.local import fold_chunks

        if depths.complete and not source.weighted:
            dtype = preparation.dtype
            return fold_chunks(
                lambda: depths.pieces(dtype), lambda _, rows: rows, work, limits.workers
            )
        state = self.fold(source, preparation, work, limits)
        depths.known = True
        return state


def stream_table(
    metric: Metric,
    source: Source,
    storage: str = "float64",
    *,
    runner: Runner | None = None,
    scale: np.ndarray | None = None,
    in_memory: bool | None = None,
) -> Streamed:
    """The table of a source, as `Metric.table` makes it of the same rows in memory.

    Parameters
    ----------
    runner : where the passes run
    scale : ndarray of shape (d,) or None
        What columns are divided by.
    in_memory : whether a sample that fits is worked on in memory; None to let the memory decide
    """
    metric.check_for_tables(storage)
    options = metric._options()
    preparation = preparation_of(source, options, scale)
    drawn = draw(metric, source.n_features, scale)
    limits = Limits.of(drawn, preparation.dtype, source.n_rows, source.weighted)
    run = runner or Runner()
    limits = limits._replace(workspace=min(limits.workspace, run.most_numbers))
    with single_threaded_blas():
        looked, rows, later = _look(run, source, preparation, limits)
        job = _Job(run, source, later, limits, drawn, looked, rows, storage)
        made = job.values(in_memory)
    signature = table_signature(drawn, preparation.dtype)
    table = RegionTable(made.values, str(signature), source.n_features, source.columns, scale=scale)
    labels = source.columns or column_labels(source.n_features)
    report = looked.report(labels) if preparation.nan_policy == "omit" else None
    return Streamed(table, looked.n_present, report, made)


def draw(metric: Metric, width: int, scale: np.ndarray | None) -> DrawnMetric:
    """The metric with its directions drawn for data of that width."""
    from isodepth.metric.pipeline import draw_metric

    return draw_metric(metric._options(), metric._source, width, scale=scale)


def _look(
    run: Runner, source: Source, preparation: Preparation, limits: Limits
) -> tuple[Looked, Drawn, Preparation]:
    """The first look at all data: are they usable, and which rows speak for them?"""
    state = run.fold(source, None, LookPass(preparation, limits.pilots), limits)
    looked, drawn = state["looked"], state["drawn"]
    if not looked.n_present:
        reason = "every row has a missing value" if looked.n_dropped else "it has no row"
        if source.weighted and looked.n_rows > looked.n_dropped:
            reason = "all weights are zero"
        raise InvalidInputError(
            f"{source.label} has nothing to look at: {reason}; a sample needs at least one row of "
            "positive weight"
        )
    later = preparation.later()
    if source.weighted:
        later = preparation.later(looked.rule())
        width, dtype = preparation.n_features, preparation.dtype
        drawn = run.fold(source, later, DrawPass(width, dtype, limits.pilots), limits)
    return looked, drawn, later


@dataclass
class _Job:
    """One source on its way to a table."""

    run: Runner
    source: Source
    preparation: Preparation
    limits: Limits
    drawn: DrawnMetric
    looked: Looked
    rows: Drawn
    storage: str

    def values(self, in_memory: bool | None) -> Tables:
        """Support values (L, 2K)."""
        if self.rows.few.sample is not None:
            return Tables(self._of_sample(self.rows.few.sample))
        fits = self.looked.n_present <= self.limits.rows_in_memory
        if fits if in_memory is None else in_memory:
            return Tables(self._of_sample(self._loaded()))
        depth: Any = self.drawn.source
        plain = getattr(depth, "method", "directions") == "directions"
        if plain and not getattr(depth, "refine", 0):
            if type(depth) is ProjectionDepth:
                return Tables(self._by_projections())
            if type(depth) in (HalfspaceDepth, IRWDepth):
                return self._by_ranks(type(depth) is HalfspaceDepth)
        raise InvalidOptionError(
            f"{self.source.label} has {self.looked.n_present} rows, which do not fit into "
            f"memory_mb={self.drawn.resources.memory_mb:g}, and this depth needs them all at once; "
            "give more memory, or use depth='projection', 'halfspace' or 'irw'"
        )

    def fold(self, work: Pass) -> Any:
        """Run a pass over prepared rows."""
        return self.run.fold(self.source, self.preparation, work, self.limits)

    def _loaded(self) -> Sample:
        """All rows in memory."""
        parts = [
            self.preparation.rows(chunk)
            for chunk in self.source.chunks(self.limits.chunk_rows)
            if isinstance(chunk, RawChunk)
        ]
        points = np.concatenate([rows.points for rows in parts])
        masses = None
        if self.source.weighted:
            masses = np.concatenate([rows.masses for rows in parts])
        return Sample._merge(points, masses)

    def _of_sample(self, sample: Sample) -> np.ndarray:
        self.drawn.source.warn_if_uninformative(sample)
        regions = self.drawn.fit(sample.points, None, None, sample)
        out = np.empty(table_shape(self.drawn), dtype=self.storage)
        write_table(self.drawn, regions, out)
        return out

    def _frame(self) -> tuple[Frame, Sizes, Pilot]:
        """The frame of the sample, the sizes of rows in it, and the pilot."""
        pilot, total = self.rows.draw.pilot, self.rows.mass
        center, exponent = center_and_exponent(self.fold, pilot, total, self.limits.held_rows)
        directions = np.ascontiguousarray(self.drawn.directions, dtype=pilot.points.dtype)
        frame = Frame(center, exponent, directions)
        ends = np.empty((2, frame.center.shape[0]), dtype=frame.center.dtype)
        ends.T[:] = self.rows.low, self.rows.high
        ends = frame.moved(ends)

        def typical() -> Any:
            # The larger one of two in the middle, as in memory.
            ranks = np.array([total // 2 + 1])
            own = -largest_entries(frame.moved(pilot.points)).astype(np.float64)
            room, n_rows = self.limits.workspace, self.looked.n_present
            return ranked(
                self.fold, NegatedSizes(frame), pilot, own, ranks, total, n_rows, 0.0, room
            )[0].astype(pilot.points.dtype)

        return frame, Sizes(np.abs(ends).max(), typical), pilot

    def _by_projections(self) -> np.ndarray:
        frame, sizes, pilot = self._frame()
        total, n_rows = self.rows.mass, self.looked.n_present
        model = fit_outlyingness(
            self.fold, frame, pilot, sizes, total, n_rows, self.limits.workspace
        )
        double = frame.directions.dtype == np.float64
        tolerance = ProjectionDepth.tie_tolerance if double else 0.0
        with self.run.keeping(model) as depths:
            pilot_depths = model.finish(model.raw(pilot.points))
            thresholds = self._thresholds(depths, depths, pilot, pilot_depths, tolerance)
            supports = self.fold(SupportPass(depths, thresholds, self.drawn.directions))
        return supports.astype(self.storage)

    def _thresholds(
        self, kept: Any, depths: Any, pilot: Pilot, pilot_depths: np.ndarray, tolerance: float
    ) -> np.ndarray:
        betas = self.drawn.betas
        assert betas is not None

        return find_thresholds(
            lambda work: self._fold_depths(kept, work),
            depths,
            pilot,
            pilot_depths,
            betas,
            self.rows.mass,
            self.looked.n_present,
            tolerance,
            self.limits.workspace,
        )

    def _fold_depths(self, kept: Any, work: Pass) -> Any:
        return self.run.fold_depths(kept, self.source, self.preparation, work, self.limits)

    def _by_ranks(self, smallest: bool) -> Tables:
        """Regions by ranks from counts in cells, and regions that hold the exact ones for sure."""
        frame, _, pilot = self._frame()
        total = self.rows.mass
        spaced = sorted({1 + k * total // SPACED_ROWS for k in range(SPACED_ROWS)})
        some = rows_of_ranks(self.fold, pilot, spaced, total, self.limits.held_rows)
        cells = Cells.around(frame, some, self.drawn.resources.memory_mb * 2**18)
        counts = self.fold(CellPass(cells))
        model = RankBounds.of(cells, counts, total, smallest)
        raw = model.raw(pilot.points)
        directions = self.drawn.directions
        with self.run.keeping(model) as depths:
            sides = [Side(depths, which, model.unit) for which in (0, 1)]
            middle = self._thresholds(depths, depths, pilot, model.finish(raw), 0.0)
            low, high = (
                self._thresholds(depths, side, pilot, model.unit * raw[:, side.which], 0.0)
                for side in sides
            )
            supports = self.fold(SupportPass(depths, middle, directions))
            # A region of lower bounds above the level of upper ones is inside for sure; one of
            # upper bounds above the level of lower ones holds all of it.
            inner = self.fold(SupportPass(sides[0], high, directions))
            outer = self.fold(SupportPass(sides[1], low, directions))
            width = int(self._fold_depths(depths, WidthPass(depths))[0])
        return Tables(supports.astype(self.storage), inner, outer, 0.5 * width * model.unit)
