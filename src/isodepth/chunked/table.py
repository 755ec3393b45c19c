"""From a source of chunks to a RegionTable: the passes, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.limits import Limits
from isodepth.chunked.middle_rows import center_and_exponent, rows_of_ranks
from isodepth.chunked.passes import Drawn, DrawPass, LookPass, Pass, SupportPass
from isodepth.chunked.preparation import Preparation, preparation_of
from isodepth.chunked.ranks import SPACED_ROWS, CellPass, Cells, RankBounds, Side, WidthPass
from isodepth.chunked.rows import Frame
from isodepth.chunked.runner import Runner
from isodepth.chunked.sampling import Pilot
from isodepth.chunked.selection import Sizes, fit_outlyingness
from isodepth.chunked.sources import Chunk, Source
from isodepth.chunked.thresholds import NegatedSizes, find_thresholds, ranked
from isodepth.chunked.weights import Looked
from isodepth.chunked.whitening import whitening_matrix
from isodepth.core.sample import Sample
from isodepth.data.arrays import column_labels
from isodepth.data.missing import MissingReport
from isodepth.depth import Projection
from isodepth.depth.resolve import builtin_name
from isodepth.engine.spread_passes import largest_entries
from isodepth.engine.threads import single_threaded_blas
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.base import BaseMetric
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.table import RegionTable


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


def stream_table(
    metric: BaseMetric,
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
    limits = limits._replace(
        workspace=min(limits.workspace, run.most_numbers),
        pilots=min(limits.pilots, run.most_rows),
        held_rows=min(limits.held_rows, run.most_rows),
    )
    with single_threaded_blas():
        looked, rows, later = _look(run, source, preparation, limits)
        job = _Job(run, source, later, limits, drawn, looked, rows, storage)
        made = job.values(in_memory)
    signature = drawn.table_signature(preparation.dtype)
    table = RegionTable(made.values, str(signature), source.n_features, source.columns, scale=scale)
    labels = source.columns or column_labels(source.n_features)
    report = looked.report(labels) if preparation.nan_policy == "omit" else None
    return Streamed(table, looked.n_present, report, made)


def draw(metric: BaseMetric, width: int, scale: np.ndarray | None) -> FittedMetric:
    """The metric with its directions drawn for data of that width."""
    from isodepth.metric.fitted import fit_metric

    return fit_metric(metric._options(), metric._source, width, scale=scale)


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
    drawn: FittedMetric
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
            name = builtin_name(depth)
            if name == "projection":
                return Tables(self._by_projections())
            if name in ("halfspace", "irw"):
                return self._by_ranks(name == "halfspace")
            if name == "ai_irw" and depth.covariance == "empirical":
                return self._by_ranks(False, whitened=True)
        raise InvalidOptionError(
            f"{self.source.label} has {self.looked.n_present} rows, which do not fit into "
            f"memory_mb={self.drawn.resources.memory_mb:g}, and this depth needs them all at once; "
            "give more memory, or use depth='projection', 'halfspace', 'irw', or 'ai_irw' with the "
            "empirical covariance"
        )

    def fold(self, work: Pass) -> Any:
        """Run a pass over prepared rows."""
        return self.run.fold(self.source, self.preparation, work, self.limits)

    def _loaded(self) -> Sample:
        """All rows in memory."""
        parts = [
            self.preparation.rows(chunk)
            for chunk in self.source.chunks(self.limits.chunk_rows)
            if isinstance(chunk, Chunk)
        ]
        points = np.concatenate([rows.points for rows in parts])
        masses = None
        if self.source.weighted:
            masses = np.concatenate([rows.masses for rows in parts])
        return Sample._merge(points, masses)

    def _of_sample(self, sample: Sample) -> np.ndarray:
        self.drawn.source.warn_if_uninformative(sample)
        regions = self.drawn.fit_regions(sample.points, None, None, sample)
        out = np.empty(self.drawn.table_shape, dtype=self.storage)
        self.drawn.write_table(regions, out)
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
        tolerance = Projection.tie_tolerance if double else 0.0
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

    def _by_ranks(self, smallest: bool, whitened: bool = False) -> Tables:
        """Regions by ranks from counts in cells, and regions that hold the exact ones for sure.

        Ranks along a direction of whitened rows are those along another direction of the rows.
        """
        frame, _, pilot = self._frame()
        if whitened:
            matrix = whitening_matrix(self.fold, frame)
            turned = np.asarray(self.drawn.directions, dtype=np.float64) @ matrix
            frame = frame._replace(directions=turned.astype(frame.directions.dtype))
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
