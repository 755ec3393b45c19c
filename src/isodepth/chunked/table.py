"""From a source of chunks to a RegionTable: the passes, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth import _core
from isodepth.chunked.depths import ProjectionModel, RankCells, RankModel, whitening_matrix
from isodepth.chunked.passes import DistinctPass, Look, LookPass, Pass, SupportPass
from isodepth.chunked.rows import MassRule, Preparation, Rows, mass_rules
from isodepth.chunked.runner import Runner, Tally
from isodepth.chunked.selection import Budget, Frame, Numbers, Pilot, spreads
from isodepth.chunked.sources import Source
from isodepth.chunked.thresholds import find_thresholds
from isodepth.core.regions import Sample
from isodepth.data.arrays import column_labels
from isodepth.data.missing import MissingReport
from isodepth.depth.resolve import builtin_name
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.base import BaseMetric
from isodepth.metric.fitted import FittedMetric, fit_metric
from isodepth.metric.table import RegionTable

#: A sample of so few distinct rows is worked on in memory, however many rows it has.
FEW_DISTINCT = 4096
LEAST_PILOTS = 1 << 12
_PILOTS = 1 << 16
_MOST_CHUNK_ROWS = 1 << 15
# Numbers projected between two looks at whether to stop.
_MOST_WORK = 1 << 25
# Copies of a chunk, in several precisions and orders, that are there at one time.
_CHUNK_COPIES = 24
# What the passes in memory hold for each number of a sample.
_COPIES_IN_MEMORY = 10


class Limits(NamedTuple):
    """What fits into the memory that was promised.

    Attributes
    ----------
    chunk_rows : int
        Rows that are read at a time.
    numbers : int
        Numbers that are gathered, for all directions together.
    pilots : int
        Rows that are drawn for a first guess.
    rows_in_memory : int
        A sample of so many rows is worked on in memory.
    """

    chunk_rows: int
    numbers: int
    pilots: int
    rows_in_memory: int

    @classmethod
    def of(cls, fitted: FittedMetric, dtype: str, source: Source, runner: Runner) -> Limits:
        """Those of a metric with its directions drawn, for the rows of a source."""
        budget = fitted.resources.memory_mb * 2**20
        count, width = fitted.directions.shape
        item = np.dtype(dtype).itemsize
        chunk = int(budget / 4 / (_CHUNK_COPIES * width * 8))
        chunk = min(_MOST_CHUNK_ROWS, chunk, _MOST_WORK // count)
        numbers = int(budget / 2 / (item + 8 * source.weighted))
        pilots = int(budget / 4 / (3 * (width * item + 16)))
        # More pilots save time in every pass, and take time once.
        known = source.n_rows
        pilots = min(pilots, _PILOTS if known is None else max(_PILOTS // 4, known >> 7))
        return cls(
            max(64, chunk),
            max(1, min(numbers, runner.most_numbers * count)),
            max(LEAST_PILOTS, min(runner.most_rows, pilots)),
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


@dataclass(frozen=True)
class Reading:
    """One source that has been looked at once, and how its passes run.

    Attributes
    ----------
    runner : Runner
    source : Source
    preparation : Preparation
    limits : Limits
    n_threads : int
    look : Look
    tally : Tally
        What the first pass has read, and every other must.
    """

    runner: Runner
    source: Source
    preparation: Preparation
    limits: Limits
    n_threads: int
    look: Look
    tally: Tally

    @classmethod
    def of(
        cls, runner: Runner, source: Source, preparation: Preparation, fitted: FittedMetric
    ) -> Reading:
        """The first pass: are the data usable, and which rows speak for them?"""
        limits = Limits.of(fitted, preparation.dtype, source, runner)
        n_threads = fitted.resources.n_threads
        look, tally = runner.fold(
            source, preparation, LookPass(limits.pilots),
            chunk_rows=limits.chunk_rows, n_threads=n_threads,
        )  # fmt: skip
        if not look.n_present:
            reason = "it has no row"
            if look.n_rows:
                reason = (
                    "all weights are zero" if look.n_complete else "every row has a missing value"
                )
            raise InvalidInputError(
                f"{source.label} has nothing to look at: {reason}; a sample needs at least one row "
                "of positive weight"
            )
        rule = mass_rules([look.weights])[0] if source.weighted else None
        return cls(runner, source, preparation.later(rule), limits, n_threads, look, tally)

    def with_rule(self, rule: MassRule) -> Reading:
        """The same with other masses."""
        return replace(self, preparation=self.preparation.later(rule))

    def fold(self, work: Pass) -> Any:
        """Run a pass over the same rows as the first."""
        state, tally = self.runner.fold(
            self.source, self.preparation, work, chunk_rows=self.limits.chunk_rows,
            n_threads=self.n_threads, most_rows=self.tally.n_rows,
        )  # fmt: skip
        if vars(tally) != vars(self.tally):
            seen, now = f"{self.tally.n_rows} rows", "other values"
            if tally.n_rows != self.tally.n_rows:
                now = "more" if tally.n_rows > self.tally.n_rows else str(tally.n_rows)
            raise InvalidInputError(
                f"{self.source.label} has changed between two readings ({seen}, then {now}); the "
                "data are read several times and must stay the same: a function must give the same "
                "chunks at every call"
            )
        return state

    @property
    def pilot(self) -> Pilot:
        """The rows that were drawn."""
        points, weights = self.look.reservoir.rows()
        rule = self.preparation.rule
        return Pilot(points, None if rule is None else rule.of(weights))

    @property
    def mass(self) -> int:
        """The mass of all rows."""
        totals, rule = self.look.weights, self.preparation.rule
        if rule is None:
            return self.look.n_present
        if totals.distinct is not None:
            return int((rule.of(totals.distinct) * totals.counts).sum())
        return self.fold(_MassPass())[0]


class _MassPass:
    """The sum of all masses."""

    def start(self) -> list[int]:
        return [0]

    def step(self, state: list[int], rows: Rows, n_threads: int) -> None:
        state[0] += len(rows.points) if rows.masses is None else int(rows.masses.sum())

    def merge(self, state: list[int], other: list[int]) -> None:
        state[0] += other[0]


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
    preparation = Preparation.of(source, metric._options(), scale)
    fitted = drawn(metric, source.n_features, scale)
    reading = Reading.of(runner or Runner(), source, preparation, fitted)
    look = reading.look
    sample = None
    pilot = reading.pilot
    if in_memory or (in_memory is None and look.n_present <= reading.limits.rows_in_memory):
        sample = _loaded(reading)
    elif len(_core.distinct_rows(pilot.points, None, reading.n_threads)[0]) <= FEW_DISTINCT:
        sample = DistinctPass.sample(reading.fold(DistinctPass(FEW_DISTINCT)))
    made = _by_passes(reading, fitted, pilot) if sample is None else _in_memory(sample, fitted)
    table = RegionTable(
        made.values.astype(storage), str(fitted.table_signature(preparation.dtype)),
        source.n_features, source.columns, scale=scale,
    )  # fmt: skip
    labels = tuple(source.columns or column_labels(source.n_features))
    report = look.report(labels) if preparation.nan_policy == "omit" else None
    return Streamed(table, look.n_present, report, made)


def drawn(metric: BaseMetric, width: int, scale: np.ndarray | None) -> FittedMetric:
    """The metric with its directions drawn for data of that width."""
    return fit_metric(metric._options(), metric._source, width, scale=scale)


def _loaded(reading: Reading) -> Sample:
    """All rows in memory."""
    chunks = reading.fold(_RowsPass())
    points = np.concatenate([points for points, _ in chunks])
    masses = None
    if reading.source.weighted:
        masses = np.concatenate([masses for _, masses in chunks])
    return Sample._merge(points, masses)


class _RowsPass:
    """All rows and their masses."""

    def start(self) -> list[Any]:
        return []

    def step(self, state: list[Any], rows: Rows, n_threads: int) -> None:
        state.append((rows.points, rows.masses))

    def merge(self, state: list[Any], other: list[Any]) -> None:
        state += other


def _in_memory(sample: Sample, fitted: FittedMetric) -> Tables:
    fitted.source.warn_if_uninformative(sample)
    regions = fitted.fit_regions(sample.points, None, None, sample)
    out = np.empty(fitted.table_shape)
    fitted.write_table(regions, out)
    return Tables(out)


def _by_passes(reading: Reading, fitted: FittedMetric, pilot: Pilot) -> Tables:
    depth: Any = fitted.source
    plain = getattr(depth, "method", "directions") == "directions"
    plain = plain and not getattr(depth, "refine", 0)
    name = builtin_name(depth)
    ranks = name in ("halfspace", "irw") or (
        name == "ai_irw" and isinstance(depth.covariance, str) and depth.covariance == "empirical"
    )
    if not plain or not (ranks or name == "projection"):
        raise InvalidOptionError(
            f"{reading.source.label} has {reading.look.n_present} rows, which do not fit into "
            f"memory_mb={fitted.resources.memory_mb:g}, and this depth needs them all at once; "
            "give more memory, or use depth='projection', 'halfspace', 'irw', or 'ai_irw' with the "
            "empirical covariance"
        )
    assert fitted.betas is not None
    budget = Budget(reading.limits.numbers, reading.mass, reading.look.n_present, reading.n_threads)
    distinct = _core.distinct_rows(pilot.points, None, reading.n_threads)[0]
    frame = Frame(*_core.center_and_exponent(distinct))
    directions = np.ascontiguousarray(fitted.directions, dtype=pilot.points.dtype)
    model: Any
    tolerance = 0.0
    pairs: tuple[tuple[int, int], ...] = ((0, 0),)
    if ranks:
        if name == "ai_irw":
            # Ranks along a direction of whitened rows are those along another of the rows.
            turned = fitted.directions @ whitening_matrix(reading.fold, frame)
            directions = np.ascontiguousarray(turned, dtype=pilot.points.dtype)
        memory = fitted.resources.memory_mb * 2**18
        cells = RankCells.around(frame, directions, pilot, memory, reading.n_threads)
        smallest = name == "halfspace"
        model = RankModel.fit(reading.fold, cells, budget.mass, smallest)
        # A region of lower bounds above the level of upper ones is inside for sure; one of upper
        # bounds above the level of lower ones holds all of it.
        pairs = ((0, 0), (1, 2), (2, 1))
    else:
        model = ProjectionModel.fit(reading.fold, frame, directions, pilot, budget)
        tolerance = depth.tie_tolerance if pilot.points.dtype == np.float64 else 0.0
    thresholds = find_thresholds(reading.fold, model, pilot, fitted.betas, tolerance, budget)
    found = reading.fold(SupportPass(model, thresholds, pairs, fitted.directions))
    values, inner, outer = [*found["supports"], None, None][:3]
    return Tables(values, inner, outer, 0.5 * found["width"])


# -- units of the columns -------------------------------------------------------------------------


def column_spreads(sources: Sequence[Source], metric: BaseMetric, runner: Runner) -> np.ndarray:
    """The spread (d,) of the columns in several sources together: ``scale="pooled"``.

    As `isodepth.core.scaling.spread_of_samples` has it: each sample counts for as many rows as it
    has, whatever its weights add up to.
    """
    width, options = sources[0].n_features, metric._options()
    fitted = drawn(metric, width, None)
    readings = [
        Reading.of(runner, source, Preparation.of(source, options, None), fitted)
        for source in sources
    ]
    if any(source.weighted for source in sources):
        for one in readings:
            if not one.source.weighted:
                one.look.weights.add(np.ones(1), np.array([one.look.n_present]))
        rules = mass_rules([one.look.weights for one in readings], shared=True)
        readings = [one.with_rule(rule) for one, rule in zip(readings, rules, strict=True)]

    def fold(work: Pass) -> Any:
        states = [one.fold(work) for one in readings]
        for state in states[1:]:
            work.merge(states[0], state)
        return states[0]

    n_rows = sum(one.look.n_present for one in readings)
    budget = Budget(
        readings[0].limits.numbers // 2, sum(one.mass for one in readings), n_rows,
        readings[0].n_threads,
    )  # fmt: skip
    # A product with a unit vector is the column itself.
    columns = Numbers(Frame(np.zeros(width), 0), np.eye(width), of=_in_double)
    pilot = _pooled_pilot(readings)
    _, mads, scales = spreads(fold, columns, pilot, budget, -1.0, 0.0)
    return np.where(mads > 0, mads, np.where(scales > 0, scales, 1.0))


def _in_double(rows: Rows, n_threads: int) -> np.ndarray:
    return rows.points.astype(np.float64)


def _pooled_pilot(readings: Sequence[Reading]) -> Pilot:
    """The rows drawn from all sources, each with the mass of the rows that it stands for."""
    pilots = [one.pilot for one in readings]
    points = np.concatenate([pilot.points.astype(np.float64) for pilot in pilots])
    if len(pilots) == 1 and pilots[0].masses is None:
        return Pilot(points, None)
    shares = [
        (np.ones(len(pilot.points)) if pilot.masses is None else pilot.masses / pilot.masses.sum())
        * (one.look.n_present / (len(pilot.points) if pilot.masses is None else 1))
        for one, pilot in zip(readings, pilots, strict=True)
    ]
    joined = np.concatenate(shares)
    return Pilot(points, np.maximum(1, np.rint(joined * (2.0**50 / joined.sum()))).astype(np.int64))
