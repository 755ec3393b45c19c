"""State of a monitor: counts of the reference and of recent windows, without any rows."""

from __future__ import annotations

import copy
import dataclasses
import math
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isodepth.monitor.blocks import (
    BlockModel,
    RankEvidence,
    batch_uniform,
    conformal_pvalue,
)
from isodepth.monitor.functions import Counts, Functions, Rows
from isodepth.monitor.naming import name_changes
from isodepth.monitor.reader import BatchReader, BatchRows
from isodepth.monitor.verdict import Verdict
from isodepth.monitor.windows import AlarmPolicy, DyadicSums, WindowTest, window_tests

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

    def encoded(self, rows: Rows, n_categories: Iterable[int]) -> Rows:
        """Replace indices among the categories of the whole reference by those of known values."""
        codes = np.empty_like(rows.codes)
        for c, (known, count) in enumerate(zip(self.known, n_categories, strict=True)):
            # The last two places: values that the reference does not have, and missing values (-1).
            places = np.full(count + 2, len(known))
            places[known], places[-1] = np.arange(len(known)), -1
            codes[:, c] = places[rows.codes[:, c]]
        return Rows(rows.numbers, codes)

    def counted(self, parts: Iterable[BatchRows], reader: BatchReader) -> CountedBatch:
        """Count a batch, part by part."""
        sizes = [len(values) for values in reader.categories.values()]
        total: Counts | None = None
        suspicious, unseen, kept = 0, Counter[tuple[int, str]](), []
        for rows, new in parts:
            own = self.encoded(rows, sizes)
            counts, outside = self.functions.count(own)
            total = counts if total is None else total + counts
            # A row may be both; the number is an indication.
            odd = (rows.codes == sizes).any(axis=1) if sizes else np.zeros(len(rows), bool)
            suspicious += max(outside, int(np.count_nonzero(odd)))
            unseen += new
            if self.model is not None:
                kept.append(own)
        assert total is not None
        whole: Rows | None = None
        if kept:
            whole = Rows(
                np.concatenate([k.numbers for k in kept]), np.concatenate([k.codes for k in kept])
            )
        return CountedBatch(total, suspicious, unseen, whole)


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
        judge = self._judge_rows if self.evidence is None else self._judge_blocks
        state, verdict = judge(name, batch, label)
        record = Record(label, batch.digest, verdict.to_json())
        records = (*self.records[-HISTORY + 1 :], record)
        return dataclasses.replace(state, n_batches=self.n_batches + 1, records=records), verdict

    def _judge_rows(
        self, name: str | None, batch: CountedBatch, label: str | None
    ) -> tuple[MonitorState, Verdict]:
        group, policy, number = self.groups[name], self.policy, self.n_batches + 1
        sums = DyadicSums(group.sums.end, list(group.sums.blocks))
        tests = window_tests(policy, group.reference, sums, batch.counts, len(self.groups))
        best: WindowTest = min(tests, key=lambda test: test.excess)
        crossing = best.excess <= 0
        groups = self.groups | {name: dataclasses.replace(group, sums=sums)}
        crossings, alarm_since = self.crossings, self.alarm_since
        repeated = policy.arl is not None
        if repeated:
            alarm_since = 0
        if crossing and not alarm_since:
            crossings += 1
            if crossings >= policy.patience:
                crossings, alarm_since = 0, number
            if not alarm_since or repeated:
                groups = restarted(groups)
        changes = name_changes(
            self.reader.names, self._known_values(group), group.functions, group.reference,
            best.counts, best.logs, batch.unseen,
        )  # fmt: skip
        verdict = Verdict(
            batch=number, label=label, group=name, n_rows=batch.counts.n_rows,
            pvalue=math.exp(tests[0].log_pvalue), window=best.width,
            window_pvalue=math.exp(best.log_pvalue), threshold=best.level, crossing=crossing,
            alarm=alarm_since > 0, alarm_since=alarm_since or None, extreme=False,
            changes=changes, suspicious=batch.suspicious,
        )  # fmt: skip
        state = dataclasses.replace(
            self, groups=groups, crossings=crossings, alarm_since=alarm_since
        )
        return state, verdict

    def _judge_blocks(
        self, name: str | None, batch: CountedBatch, label: str | None
    ) -> tuple[MonitorState, Verdict]:
        group, number, evidence = self.groups[name], self.n_batches + 1, copy.copy(self.evidence)
        model, rows = group.model, batch.rows
        assert model is not None
        assert rows is not None
        assert evidence is not None
        score = model.score(rows, batch.counts, group.functions)
        pvalue = conformal_pvalue(score, model.scores, batch_uniform(self.seed, number))
        log_evidence = evidence.step(pvalue)
        window = evidence.count
        crossing = log_evidence >= -math.log(self.policy.level)
        alarm_since = 0 if evidence.restarting else self.alarm_since
        if crossing and not alarm_since:
            alarm_since = number
        if crossing and evidence.restarting:
            evidence.restart()
        logs, extreme = model.log_pvalues(group.functions, group.reference, batch.counts)
        changes = name_changes(
            self.reader.names, self._known_values(group), group.functions, group.reference,
            batch.counts, logs, batch.unseen,
        )  # fmt: skip
        smallest, largest = model.sizes
        exact = smallest == largest == batch.counts.n_rows
        model = dataclasses.replace(model, scores=np.append(model.scores, score))
        verdict = Verdict(
            batch=number, label=label, group=name, n_rows=batch.counts.n_rows, pvalue=pvalue,
            window=window, window_pvalue=math.exp(min(0.0, -log_evidence)),
            threshold=self.policy.level, crossing=crossing, alarm=alarm_since > 0,
            alarm_since=alarm_since or None, extreme=extreme, changes=changes,
            suspicious=batch.suspicious, score=score if math.isfinite(score) else None, exact=exact,
        )  # fmt: skip
        groups = self.groups | {name: dataclasses.replace(group, model=model)}
        state = dataclasses.replace(self, groups=groups, evidence=evidence, alarm_since=alarm_since)
        return state, verdict

    def _known_values(self, group: Group) -> list[list[str]]:
        lists = self.reader.categories.values()
        return [[own[i] for i in known] for own, known in zip(lists, group.known, strict=True)]

    def reset(self) -> MonitorState:
        """Return the state without evidence and without an alarm."""
        evidence = copy.copy(self.evidence)
        if evidence is not None:
            evidence.restart()
        return dataclasses.replace(
            self, groups=restarted(self.groups), evidence=evidence, crossings=0, alarm_since=0
        )


def restarted(groups: dict[str | None, Group]) -> dict[str | None, Group]:
    """Return the groups without the batches so far; their number is kept."""
    return {
        name: dataclasses.replace(
            group, sums=DyadicSums(group.sums.end, [None] * len(group.sums.blocks))
        )
        for name, group in groups.items()
    }
