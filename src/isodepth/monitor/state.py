"""State of a monitor: counts of the reference and of recent windows, without any rows."""

from __future__ import annotations

import copy
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from isodepth.monitor.blocks import BlockModel, RankEvidence, batch_uniform, conformal_pvalue
from isodepth.monitor.functions import Counts, Functions, Rows
from isodepth.monitor.naming import WindowChanges
from isodepth.monitor.reader import BatchReader, BatchRows
from isodepth.monitor.verdict import Verdict
from isodepth.monitor.windows import AlarmPolicy, DyadicSums, window_tests

#: Verdicts that a monitor keeps, so that its size does not grow with the stream.
HISTORY = 500


class Record(NamedTuple):
    """A checked batch."""

    label: str | None
    #: Checksum of its counts.
    digest: int
    #: The verdict as JSON.
    line: str


class CountedBatch(NamedTuple):
    """A batch after counting."""

    counts: Counts
    suspicious: int
    #: See `BatchRows`.
    unseen: Counter[tuple[int, str]]
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
    #: Indices of the known values of each category column among those of the whole reference.
    known: tuple[np.ndarray, ...]
    reference: Counts
    sums: DyadicSums
    #: Only with blocks.
    model: BlockModel | None = None

    def counted(self, parts: Iterable[BatchRows], reader: BatchReader) -> CountedBatch:
        """Count a batch, part by part."""
        sizes = [len(values) for values in reader.categories.values()]
        counts, suspicious, unseen, kept = [], 0, Counter[tuple[int, str]](), []
        for rows, new in parts:
            own = encode(rows, self.known, sizes)
            ones, outside = self.functions.count(own)
            counts.append(ones)
            # A row may be both; the number is an indication.
            odd = (rows.codes == sizes).any(axis=1)
            suspicious += max(outside, int(np.count_nonzero(odd)))
            unseen += new
            if self.model is not None:
                kept.append(own)
        whole = Rows(*map(np.concatenate, zip(*kept, strict=True))) if kept else None
        return CountedBatch(sum(counts[1:], counts[0]), suspicious, unseen, whole)


def encode(rows: Rows, known: Sequence[np.ndarray], n_categories: Sequence[int]) -> Rows:
    """Replace indices among the categories of the whole reference by those of known values."""
    codes = np.empty_like(rows.codes)
    for c, (own, count) in enumerate(zip(known, n_categories, strict=True)):
        # The last two places: values that the reference does not have, and missing values (-1).
        places = np.full(count + 2, len(own))
        places[own], places[-1] = np.arange(len(own)), -1
        codes[:, c] = places[rows.codes[:, c]]
    return Rows(rows.numbers, codes)


class Judgment(NamedTuple):
    """Evidence after a batch, from counted rows or from ranks of blocks."""

    group: Group
    evidence: RankEvidence | None
    #: p-value of the batch alone.
    pvalue: float
    #: Strongest window: number of batches, logarithm of the p-value, level, counts, and
    #: logarithms of the p-values of all functions.
    window: int
    log_pvalue: float
    level: float
    counts: Counts
    logs: np.ndarray
    extreme: bool = False
    score: float | None = None
    exact: bool = True


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
        judged = self._judge_rows(group, batch) or self._judge_block(group, batch)
        crossing = judged.log_pvalue <= math.log(judged.level)
        crossings, alarm_since = self.crossings, 0 if repeated else self.alarm_since
        state = replace(self, groups=self.groups | {name: judged.group}, evidence=judged.evidence)
        if crossing and not alarm_since:
            crossings += 1
            # Evidence of ranks includes the patience.
            if crossings >= self.policy.patience or self.evidence is not None:
                crossings, alarm_since = 0, number
            if not alarm_since or repeated:
                state = state.reset()
        values = [
            [own[i] for i in known]
            for own, known in zip(self.reader.categories.values(), group.known, strict=True)
        ]
        changes = WindowChanges(
            self.reader.names, values, group.functions, group.reference, judged.counts, judged.logs,
            batch.unseen,
        ).strongest()  # fmt: skip
        verdict = Verdict(
            batch=number, label=label, group=name, n_rows=batch.counts.n_rows,
            pvalue=judged.pvalue, window=judged.window,
            window_pvalue=math.exp(min(0.0, judged.log_pvalue)), threshold=judged.level,
            crossing=crossing, alarm=alarm_since > 0, alarm_since=alarm_since or None,
            extreme=judged.extreme, changes=changes, suspicious=batch.suspicious,
            score=judged.score, exact=judged.exact,
        )  # fmt: skip
        records = (*self.records[1 - HISTORY :], Record(label, batch.digest, verdict.to_json()))
        state = replace(state, n_batches=number, crossings=crossings, alarm_since=alarm_since,
                        records=records)  # fmt: skip
        return state, verdict

    def _judge_rows(self, group: Group, batch: CountedBatch) -> Judgment | None:
        if self.evidence is not None:
            return None
        sums = DyadicSums(group.sums.end, list(group.sums.blocks))
        tests = window_tests(self.policy, group.reference, sums, batch.counts, len(self.groups))
        best = min(tests, key=lambda test: test.excess)
        return Judgment(
            replace(group, sums=sums), None, math.exp(tests[0].log_pvalue), best.width,
            best.log_pvalue, best.level, best.counts, best.logs,
        )  # fmt: skip

    def _judge_block(self, group: Group, batch: CountedBatch) -> Judgment:
        evidence, model, rows = copy.copy(self.evidence), group.model, batch.rows
        assert evidence is not None
        assert model is not None
        assert rows is not None
        score = model.score(rows, batch.counts, group.functions)
        uniform = batch_uniform(self.seed, self.n_batches + 1)
        pvalue = conformal_pvalue(score, model.scores, uniform)
        log_evidence = evidence.step(pvalue)
        logs, extreme = model.log_pvalues(group.functions, group.reference, batch.counts)
        after = replace(group, model=replace(model, scores=np.append(model.scores, score)))
        return Judgment(
            after, evidence, pvalue, evidence.count, -log_evidence, self.policy.level, batch.counts,
            logs, extreme, score if math.isfinite(score) else None,
            set(model.sizes) == {batch.counts.n_rows},
        )  # fmt: skip

    def reset(self) -> MonitorState:
        """Return the state without evidence and without an alarm; numbers of batches are kept."""
        evidence = copy.copy(self.evidence)
        if evidence is not None:
            evidence.restart()
        groups = {
            name: replace(group, sums=DyadicSums(group.sums.end, [None] * len(group.sums.blocks)))
            for name, group in self.groups.items()
        }
        return replace(self, groups=groups, evidence=evidence, crossings=0, alarm_since=0)
