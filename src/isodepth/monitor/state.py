"""State of a monitor: counts of the reference and of recent windows, without any rows."""

from __future__ import annotations

import itertools
import math
import warnings
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from isodepth.core.directions import rng_for
from isodepth.errors import DependenceWarning, InvalidInputError
from isodepth.metric.fitted import MEMORY_MB
from isodepth.monitor.blocks import BlockModel, RankEvidence, split_blocks
from isodepth.monitor.functions import Counts, Functions, Rows, split_reference, total
from isodepth.monitor.reader import BatchReader
from isodepth.monitor.verdict import Verdict, WindowChanges
from isodepth.monitor.windows import AlarmPolicy, DyadicSums, pvalue_of, strongest_window
from isodepth.significance.samples import row_labels

#: Verdicts that a monitor keeps, so that its size does not grow with the stream.
HISTORY = 500
# Least rows of a group, and of a part of the reference for the warning about dependence.
_LEAST_ROWS = 20
_PARTS, _LEAST_PARTS = 50, 5
# Approximate probability of this warning if the rows are in random order.
_LEVEL = 1e-3
_RARE = 0.1


class Record(NamedTuple):
    """A checked batch: its label, a checksum of its counts, and the verdict as JSON."""

    label: str | None
    digest: int
    line: str


class CountedBatch(NamedTuple):
    """A batch after counting."""

    counts: Counts
    #: Most frequent new value of each category column with new values.
    unseen: dict[int, str]
    #: Only with blocks.
    rows: Rows | None

    @property
    def digest(self) -> int:
        """Checksum of the counts."""
        return zlib.crc32(self.counts.ones.astype("<i8").tobytes())


@dataclass(frozen=True, eq=False)
class Group:
    """Reference and windows of one group of rows."""

    functions: Functions
    reference: Counts
    sums: DyadicSums = field(default_factory=DyadicSums)
    #: Only with blocks.
    model: BlockModel | None = None

    def counted(self, parts: Iterable[Rows], unseen: dict[int, str]) -> CountedBatch:
        """Count a batch, part by part."""
        counts, rows = [], []
        for part in parts:
            counts.append(self.functions.count(part))
            rows += [] if self.model is None else [part]
        whole = Rows(*map(np.concatenate, zip(*rows, strict=True))) if rows else None
        return CountedBatch(total(counts), unseen, whole)


@dataclass(frozen=True, eq=False)
class MonitorState:
    """A monitor with the stream so far; a batch makes a new state."""

    policy: AlarmPolicy
    reader: BatchReader
    #: With the key None if there are no groups.
    groups: dict[str | None, Group]
    seed: int
    #: Only with blocks.
    evidence: RankEvidence | None = None
    n_batches: int = 0
    #: Windows that crossed their level since the last alarm or reset.
    crossings: int = 0
    #: Batch that raised the alarm; 0 if there is none.
    alarm_since: int = 0
    #: The last batches.
    records: tuple[Record, ...] = ()

    def after_batch(
        self, name: str | None, batch: CountedBatch, label: str | None
    ) -> tuple[MonitorState, Verdict]:
        """Return the state after a batch, and the verdict on it."""
        group, repeated, number = self.groups[name], self.policy.arl is not None, self.n_batches + 1
        if self.evidence is None or group.model is None or batch.rows is None:
            sums, windows = group.sums.add(batch.counts)
            after, ranks = replace(group, sums=sums), None
            evidence = strongest_window(
                self.policy, group.reference, windows, sums.end, len(self.groups)
            )
        else:
            model, ranks, evidence = group.model.judge(
                batch.rows, batch.counts, group.functions, group.reference, self.evidence,
                (self.seed, number),
            )  # fmt: skip
            evidence = evidence._replace(level=self.policy.level)
            after = replace(group, model=model)
        state = replace(self, groups=self.groups | {name: after}, evidence=ranks)
        crossing = evidence.log_pvalue <= math.log(evidence.level)
        crossings, alarm_since = self.crossings, 0 if repeated else self.alarm_since
        if crossing and not alarm_since:
            crossings += 1
            # Evidence of ranks includes the patience.
            if crossings >= self.policy.patience or ranks is not None:
                crossings, alarm_since = 0, number
            if not alarm_since or repeated:
                state = state.reset()
        changes = WindowChanges(
            self.reader.names, list(self.reader.categories.values()), group.functions,
            group.reference, evidence.counts, evidence.logs, batch.unseen,
        ).strongest()  # fmt: skip
        verdict = Verdict(
            batch=number, label=label, group=name, n_rows=batch.counts.n_rows,
            pvalue=evidence.pvalue, window=evidence.window,
            window_pvalue=pvalue_of(evidence.log_pvalue), threshold=evidence.level,
            crossing=crossing, alarm=alarm_since > 0, alarm_since=alarm_since or None,
            extreme=evidence.extreme, changes=changes, suspicious=batch.counts.suspicious,
            score=evidence.score, exact=evidence.exact,
        )  # fmt: skip
        records = (*self.records[1 - HISTORY :], Record(label, batch.digest, verdict.to_json()))
        state = replace(state, n_batches=number, crossings=crossings, alarm_since=alarm_since,
                        records=records)  # fmt: skip
        return state, verdict

    def reset(self) -> MonitorState:
        """Return the state without evidence and without an alarm; numbers of batches are kept."""
        evidence = None if self.evidence is None else self.evidence.restarted()
        groups = {
            name: replace(group, sums=group.sums.restarted()) for name, group in self.groups.items()
        }
        return replace(self, groups=groups, evidence=evidence, crossings=0, alarm_since=0)


# -- fitting --------------------------------------------------------------------------------------


def fit_state(
    reference: Any, policy: AlarmPolicy, blocks: Any, groups: Any, kinds: Any, nan_policy: str,
    seed: int,
) -> MonitorState:  # fmt: skip
    """Fit a monitor to a reference; see `Monitor`."""
    # Labels of rows need all rows in their order; otherwise large sources are sampled.
    sampling = seed if blocks is None and groups is None else None
    reader, rows = BatchReader.of_reference(reference, nan_policy, kinds, MEMORY_MB, sampling)
    days = None if blocks is None else _labels(blocks, len(rows), "blocks")
    members: dict[str | None, np.ndarray] = {None: np.arange(len(rows))}
    if groups is not None:
        labels = _labels(groups, len(rows), "groups")
        members = {str(name): np.flatnonzero(labels == name) for name in np.unique(labels)}
    rng, fitted = rng_for(seed, "splits"), {}
    for name, index in members.items():
        title = "the reference" if name is None else f"group {name!r} of the reference"
        if len(index) < _LEAST_ROWS:
            raise InvalidInputError(
                f"{title} has {len(index)} rows, and a monitor needs at least {_LEAST_ROWS}"
            )
        part = rows.take(index)
        if days is None:
            choosing, counted = split_reference(len(index), rng)
            functions = Functions.choose(part.take(choosing), rng)
            counts = _count_in_order(functions, part.take(counted), reader.names, title)
            fitted[name] = Group(functions, counts)
        else:
            block, fitting = split_blocks(days[index], rng)
            functions = Functions.choose(part.take(np.isin(block, fitting)), rng)
            model, counts = BlockModel.fit(part, block, fitting, functions, seed)
            fitted[name] = Group(functions, counts, model=model)
    ranks = RankEvidence.start(policy.arl is not None, policy.patience)
    return MonitorState(policy, reader, fitted, seed, None if blocks is None else ranks)


def _labels(labels: Any, n: int, name: str) -> np.ndarray:
    """Labels of n rows as strings."""
    array = row_labels(labels, name)
    if array.shape != (n,):
        raise InvalidInputError(
            f"{name} must hold one label for each of the {n} rows of the reference, got shape "
            f"{array.shape}"
        )
    return array.astype(str)


def _count_in_order(functions: Functions, rows: Rows, names: Sequence[str], title: str) -> Counts:
    """Count rows, and warn if counts in consecutive parts vary more than those of shuffled rows.

    For shuffled rows the sum over parts of squared deviations from the expected count, divided by
    the variance of a count, is nearly chi-squared. Its mean per degree of freedom is the factor by
    which the variance of counts is inflated.
    """
    count = max(1, min(_PARTS, len(rows) // _LEAST_ROWS))
    ends = np.linspace(0, len(rows), count + 1).astype(np.int64).tolist()
    parts = [functions.count(rows.take(slice(a, b))) for a, b in itertools.pairwise(ends)]
    counts = total(parts)
    share = counts.ones / counts.n_rows
    named = np.array([bool(member.columns) for member in functions.members])
    # Counts of rare properties are not nearly normal.
    usable = np.flatnonzero(named & (share > _RARE) & (share < 1 - _RARE))
    if count < _LEAST_PARTS or not len(usable):
        return counts
    sizes = np.array([[part.n_rows] for part in parts], dtype=np.float64)
    expected = sizes * share[usable]
    squares = (np.array([part.ones[usable] for part in parts]) - expected) ** 2
    factors = (squares / (expected * (1 - share[usable]))).sum(axis=0) / (count - 1)
    strongest = int(factors.argmax())
    if len(usable) * chdtrc(count - 1, (count - 1) * factors[strongest]) <= _LEVEL:
        columns = " and ".join(names[c] for c in functions.members[usable[strongest]].columns)
        warnings.warn(
            f"consecutive rows of {title} are more alike than shuffled rows: counts in {count} "
            f"consecutive parts have {factors[strongest]:.1f} times the variance of independent "
            f"rows (strongest in {columns}). False alarms are then more frequent than promised. "
            "Give blocks=..., such as the day or user of each row, and check whole blocks as "
            "batches. Ignore this if the order of the reference has no meaning for the batches",
            DependenceWarning,
            stacklevel=4,
        )
    return counts
