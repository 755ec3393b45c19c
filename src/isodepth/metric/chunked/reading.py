"""First pass over a source, which validates and summarizes the rows, and later passes.

A pass reads all chunks of a source once. The mass of a row is its weight, converted to an integer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.fold import Fold
from isodepth.errors import InvalidInputError, NoCompleteRowError
from isodepth.geometry.scaling import is_integral
from isodepth.metric.chunked.preparation import MassUnit, Preparation, Rows
from isodepth.metric.chunked.selection import Selection, margin_of
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.settings import MEMORY_MB
from isodepth.stream.passes import Runner, row_keys
from isodepth.stream.scan import as_source
from isodepth.stream.source import Source, changed_between_readings
from isodepth.stream.subsets import random_rows
from isodepth.table.arrays import column_labels
from isodepth.table.missing import MissingReport
from isodepth.table.table import Table

LEAST_PILOTS = 1 << 12
_PILOTS = 1 << 16
_MOST_CHUNK_ROWS = 1 << 15
# Maximum number of projections per chunk, which is the number of rows times the number of
# directions. Chunks must be fast to process, because a keyboard interrupt takes effect only between
# two chunks.
_MOST_WORK = 1 << 25
# Estimated number of copies of a chunk that exist at one time. The chunk size depends on it, so
# that all copies fit into the memory limit.
_CHUNK_COPIES = 24
# Estimated number of copies of a sample that exist at one time if it is processed in memory. A
# sample is processed in memory only if all copies fit into the memory limit.
_COPIES_IN_MEMORY = 10


# -- first pass -----------------------------------------------------------------------------------


class Summary(Fold):
    """First pass over the data of a source, and also the result of this pass.

    The result has the number of rows of positive weight, their mean weight, the minimum and maximum
    of each column, and a random subset of rows. Each row has a random key, and the subset consists
    of the rows with the smallest keys.

    Parameters
    ----------
    capacity : int
        Number of rows of the subset.
    seed : int
        Seed of the random keys.
    whole : int
        If the source has at most this number of rows, all rows are kept.
    """

    def __init__(self, capacity: int, seed: int = 0, whole: int = 0) -> None:
        self.capacity, self.seed, self.whole = capacity, seed, whole
        self.n_rows, self.mean_weight, self.integral = 0, 0.0, True
        self.parts: list[tuple[np.ndarray, ...]] = []
        self.limit = 1.0
        # `ends` (2, d) has the negative minimum and the maximum of each column. `smallest` is the
        # minimum absolute value of all nonzero entries.
        self.ends: Any = -np.inf
        self.smallest = np.inf

    def add(self, start: int, points: np.ndarray, weights: np.ndarray | None) -> None:
        """Add rows (n, d) with weights (n,) or None. The rows are numbered from `start` on."""
        if not len(points):
            return
        keys = row_keys(self.seed, start, len(points))
        near = keys <= self.limit
        weights = np.ones(len(points)) if weights is None else weights
        chunk = Summary(self.capacity)
        chunk.n_rows, chunk.mean_weight = len(points), float((weights / len(points)).sum())
        chunk.integral = is_integral(weights)
        chunk.parts = [(keys[near], points[near], weights[near])]
        # Minima and maxima are computed faster if the values of a column are contiguous.
        columns = np.ascontiguousarray(points.T)
        chunk.ends = np.stack([-columns.min(axis=1), columns.max(axis=1)])
        sizes = np.abs(columns)
        chunk.smallest = float(sizes.min(where=sizes > 0, initial=np.inf))
        self += chunk

    def start(self) -> Summary:
        return Summary(self.capacity, self.seed, self.whole)

    def step(self, state: Summary, rows: Rows, n_threads: int) -> None:
        state.add(rows.start, rows.points, rows.weights)

    def __iadd__(self, other: Summary) -> Summary:
        if other.n_rows:
            self.n_rows += other.n_rows
            # Update the mean weight without the sum of all weights, which may overflow.
            change = other.mean_weight - self.mean_weight
            self.mean_weight += change * (other.n_rows / self.n_rows)
            self.integral = self.integral and other.integral
            self.parts += other.parts
            self.ends = np.maximum(self.ends, other.ends)
            self.smallest = min(self.smallest, other.smallest)
            if sum(len(part[0]) for part in self.parts) > 1.25 * max(self.capacity, self.whole):
                self._settle()
        return self

    @property
    def row_count(self) -> float:
        """Sum of the weights if all of them are integers, and the number of rows otherwise."""
        return self.n_rows * (self.mean_weight if self.integral else 1.0)

    def drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the points (m, d) and weights (m,) of the random subset of rows.

        If all rows were kept, they are in their original order. Otherwise the order is random.
        """
        self._settle()
        return self.parts[0][1:]  # type: ignore[return-value]

    def _settle(self) -> None:
        """Reduce the subset of rows to the `capacity` rows with the smallest random keys.

        All rows are kept if the source has at most `whole` rows.
        """
        keys, points, weights = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        if self.n_rows > self.whole and len(keys) > self.capacity:
            kept = np.argsort(keys)[: self.capacity]
            keys, points, weights = keys[kept], points[kept], weights[kept]
            self.limit = keys[-1]
        self.parts = [(keys, points, weights)]


class MassPass(Fold):
    """Fold over the data that sums the masses of all rows."""

    def start(self) -> np.ndarray:
        return np.zeros(1, dtype=np.int64)

    def step(self, state: np.ndarray, rows: Rows, n_threads: int) -> None:
        assert rows.masses is not None
        state += rows.masses.sum()


# -- all passes over a source ---------------------------------------------------------------------


class Limits(NamedTuple):
    """Maximum sizes of chunks and buffers, for which a computation fits into `memory_mb`.

    Attributes
    ----------
    chunk_rows : int
        Number of rows that are read at a time.
    numbers : int
        Number of values that a pass may collect, for all directions together.
    pilots : int
        Number of rows of the pilot, a random subset from which first estimates are computed.
    rows_in_memory : int
        Number of rows up to which a sample is processed in memory.
    """

    chunk_rows: int
    numbers: int
    pilots: int
    rows_in_memory: int

    @classmethod
    def of(cls, fitted: FittedMetric, source: Source, runner: Runner) -> Limits:
        """Compute the limits from the memory limit of `fitted` and the row size of `source`."""
        budget = fitted._resources.memory_mb * 2**20
        count, width = fitted.directions.shape
        item = np.dtype(fitted.metric._dtype or source.dtype).itemsize
        chunk = int(budget / 4 / (_CHUNK_COPIES * width * 8))
        numbers = int(budget / 2 / (8 + 8 * source.weighted))
        pilots = int(budget / 4 / (3 * (width * item + 16)))
        # The pilot is a random subset of rows. A larger pilot makes later passes faster, but
        # processing the pilot takes longer. Within limits, it has 1/128 of the rows of the source.
        known = source.n_rows
        pilots = min(pilots, _PILOTS if known is None else max(_PILOTS // 4, known >> 7))
        return cls(
            max(64, min(_MOST_CHUNK_ROWS, chunk, _MOST_WORK // count)),
            min(numbers, runner.most_numbers * count),
            max(LEAST_PILOTS, min(runner.most_rows, pilots)),
            int(budget / (_COPIES_IN_MEMORY * (width * item + 16))),
        )


@dataclass(frozen=True)
class CheckedSource:
    """Source that the first pass has validated, with the settings of later passes.

    Attributes
    ----------
    runner : Runner
    source : Source
    how : Preparation
        Settings for converting chunks to validated rows in later passes.
    limits : Limits
    summary : Summary
        Result of the first pass.
    tally : uint64 ndarray of shape (3 + d,)
        Row counts and checksum of the first pass, which must be the same in every pass; see `Rows`.
    """

    runner: Runner
    source: Source
    how: Preparation
    limits: Limits
    summary: Summary
    tally: np.ndarray

    @classmethod
    def of(
        cls, runner: Runner, source: Source, fitted: FittedMetric, in_memory: bool = False
    ) -> CheckedSource:
        """Run the first pass, which validates the rows and summarizes them.

        If `in_memory` is true and the rows fit into memory, the summary keeps all of them.
        """
        limits = Limits.of(fitted, source, runner)
        dtype, nan_policy = fitted.metric._dtype, fitted.metric.nan_policy
        scale, n_threads = fitted._origin.scale, fitted._resources.n_threads
        how = Preparation.of(source, dtype, nan_policy, scale, limits.chunk_rows, n_threads)
        fits = in_memory and (source.n_rows or 0) <= limits.rows_in_memory
        first = Summary(limits.pilots, whole=limits.rows_in_memory if fits else 0)
        summary, tally = runner.fold(source, first, how)
        if not summary.n_rows:
            reason, error = "it has no row", InvalidInputError
            if np.any(tally):
                reason = "all weights are zero"
                if not tally[1]:
                    reason, error = "every row has a missing value", NoCompleteRowError
            raise error(
                f"{source._label} is empty: {reason}; a sample needs at least one row of positive "
                "weight"
            )
        later = replace(how, most_rows=int(tally[0]))
        return cls(runner, source, later, limits, summary, tally)

    def fold(self, step: Fold) -> Any:
        """Run the pass `step` over the rows after the first pass, and return its state.

        Raise an error if the rows have changed since the first pass.
        """
        state, tally = self.runner.fold(self.source, step, self.how)
        if not np.array_equal(tally, self.tally):
            n_rows, again = int(self.tally[0]), int(np.ravel(tally)[0])
            now = "more" if again > n_rows else str(again)
            now = "other values" if again == n_rows else now
            raise changed_between_readings(self.source._label, f"{n_rows} rows, then {now}")
        return state

    def with_masses(self, count: int, alone: bool) -> CheckedSource:
        """Return a copy in which each row has an integer mass, computed from its weight.

        `alone` is whether this is the only source. Masses are then proportional to the weights, and
        `count` is the number of rows. If several sources are pooled, a row of integer weight k
        counts as k rows, and non-integer weights of a source are divided by their mean. `count` is
        then the sum of the resulting weights of all sources.
        """
        mean = 1.0 if self.summary.integral and not alone else self.summary.mean_weight
        return replace(self, how=replace(self.how, unit=MassUnit.of(mean, count, alone)))

    @property
    def missing(self) -> MissingReport | None:
        """Report of the rows dropped because of missing values; None if nan_policy is "raise"."""
        if self.how.nan_policy != "omit":
            return None
        labels = self.source.columns or column_labels(self.source.n_features)
        n_rows, n_complete, _, *counts = self.tally.tolist()
        return MissingReport(n_rows, n_rows - n_complete, dict(zip(labels, counts, strict=True)))


def selection_of(*sources: CheckedSource) -> Selection:
    """Return an object that computes order statistics of the pooled rows of sources.

    If there are several sources, a row of integer weight k counts as k rows. If a source has
    non-integer weights, its weights are scaled to a sum equal to its number of rows.
    """
    n_rows = sum(one.summary.n_rows for one in sources)
    rows, shares = [], []
    for one in sources:
        points, weights = one.summary.drawn()
        relative = weights / weights.max()
        rows.append(points)
        shares.append(relative * (one.summary.row_count / relative.sum()))
    share = np.concatenate(shares)
    # The pilot has the random rows of all sources. The rows are resampled in proportion to their
    # weights, so that all rows of the pilot have equal mass.
    upto = np.cumsum(share)
    drawn = np.searchsorted(upto, (np.arange(len(upto)) + 0.5) * (upto[-1] / len(upto)))
    first = sources[0]
    pilot = Rows(np.concatenate(rows)[drawn], None, None, 0, first.tally)
    weighted = any(one.source.weighted for one in sources)
    if weighted:
        alone = len(sources) == 1
        count = n_rows if alone else round(sum(one.summary.row_count for one in sources))
        sources = tuple(one.with_masses(count, alone) for one in sources)

    def fold(step: Fold) -> Any:
        state, *others = [one.fold(step) for one in sources]
        for other in others:
            step.merge(state, other)
        return state

    mass = int(fold(MassPass())[0]) if weighted else n_rows
    margin = margin_of(share.sum() ** 2 / np.square(share).sum())
    return Selection(fold, pilot, margin, mass, n_rows, first.limits.numbers, first.how.n_threads)


# -- rows in memory -------------------------------------------------------------------------------

# Estimated number of copies of the loaded rows that exist at one time. The maximum number of rows
# depends on it, so that all copies fit into the memory limit.
_COPIES = 6


def load_table(data: Any, name: str, kinds: Any, seed: int | None) -> Table:
    """Load the rows of a source with columns of any type into memory, as a table.

    If the rows do not fit into memory, a random subset is loaded, and `seed` is its seed. If the
    seed is None, an error is raised in this case. `name` is the name of the sample in messages, and
    `kinds` is the option of :func:`isodepth.two_sample_test`.
    """
    source = as_source(data)
    rows = random_rows(
        source, labels=[f"the {name}"], max_rows=rows_in_memory(source), seeds=[seed or 0],
        kinds=kinds,
    )  # fmt: skip
    if not rows.is_whole and seed is None:
        raise too_many_rows(source, name)
    return rows.tables[0]


def rows_in_memory(source: Source) -> int:
    """Return the number of rows of a source that fit into `MEMORY_MB`."""
    return max(1, int(MEMORY_MB * 2**20 / (_COPIES * source.n_features * 8)))


def too_many_rows(source: Source, name: str) -> InvalidInputError:
    """Return the error for a source whose rows do not fit into memory.

    `name` is the name of the sample in the message.
    """
    return InvalidInputError(
        f"{name} ({source._label}) has more than {rows_in_memory(source)} rows, which do not fit "
        f"into {MEMORY_MB:g} MB of memory; give a smaller {name}"
    )
