"""What a monitor says about a batch, and what it knows of the stream."""

from __future__ import annotations

import copy
import dataclasses
import math
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.results import named_shares, plain
from isodepth.monitor.batches import Batch, BatchReader
from isodepth.monitor.calibration import Calibration, NullScores, central_interval
from isodepth.monitor.evidence import (
    AlarmPolicy,
    ExceedanceEvidence,
    RankEvidence,
    batch_uniform,
    conformal_pvalue,
)
from isodepth.monitor.mixed_scorer import MixedScorer, Scorer, ShareChange
from isodepth.results import PlottableResult


@dataclass(frozen=True)
class Verdict(PlottableResult):
    """What a monitor says about one batch.

    Attributes
    ----------
    batch : int
        Which batch of the stream it was, from 1.
    label : str or None
        What the caller calls it.
    group : str or None
    n_rows : int
        Rows that were scored, without those with missing values.
    score : float
        Distance from the reference; with a tolerance, the largest difference of shares that
        contaminated rows cannot explain. With categories, the larger of the scores of numbers and
        of categories, in standard deviations above their means over undrifted batches.
    null_interval : pair of float
        Between them lie 98% of the scores of undrifted batches of this size.
    pvalue : float
        Rank of the score among the calibration scores of its size: of (n + 1) equally likely
        places, the share that is as far out. It says something about this batch alone; looking at
        many of them day after day needs `alarm`.
    evidence : float
        How much the stream so far speaks against its being undrifted; see `threshold`.
    threshold : float
        The alarm is raised when the evidence reaches it.
    alarm : bool
        Whether there is an alarm: from the batch at which the threshold was reached until `reset`,
        also where the evidence has fallen since. With `arl`, for that batch alone.
    alarm_since : int or None
        The batch at which it was raised.
    columns : list of (str, float)
        The columns with their contributions to the difference, largest first.
    categories : list of ShareChange
        Values of categories that the reference does not have, and those whose shares moved by
        more than chance explains in 99% of batches; at most five.
    missing : dict or None
        With ``nan_policy="omit"``: rows dropped, and for each column the share of missing values in
        the batch and in the reference.
    calibration : {"disjoint", "resampled", "blocks"}
        How the calibration scores were made.
    interpolated : bool
        Whether the size of the batch lies between declared ones.
    exact : bool
        Whether `pvalue` and `alarm` keep their promises exactly for exchangeable batches: not if
        any batch so far was interpolated or compared with blocks of different sizes, nor after
        resampling.
    """

    result_type = "verdict"

    batch: int
    label: str | None
    group: str | None
    n_rows: int
    score: float
    null_interval: tuple[float, float]
    pvalue: float
    evidence: float
    threshold: float
    alarm: bool
    alarm_since: int | None
    columns: list[tuple[str, float]]
    categories: list[ShareChange]
    missing: dict[str, Any] | None
    calibration: str
    interpolated: bool
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """All fields, as numbers, texts, lists and dictionaries that JSON knows."""
        return plain({**vars(self), "columns": named_shares(self.columns)})

    def _rows(self) -> dict[str, list[Any]]:
        names, shares = zip(*self.columns, strict=True)
        return {"column": list(names), "share": list(shares)}

    @property
    def alarm_text(self) -> str:
        """Whether there is an alarm, and whether the evidence still speaks for it."""
        if not self.alarm:
            return "no alarm"
        if self.evidence >= self.threshold:
            return f"ALARM since batch {self.alarm_since}"
        return f"evidence below the threshold again, alarm of batch {self.alarm_since} not reset"

    def __str__(self) -> str:
        leading = ", ".join(f"{name} {share:.0%}" for name, share in self.columns[:3])
        exact = "" if self.exact else ", approximately"
        missing = ""
        if self.missing is not None and self.missing["n_dropped"]:
            missing = f"\n  left out   {self.missing['n_dropped']} row(s) with missing values"
        if self.categories:
            missing = f"\n  shares     {', '.join(map(str, self.categories))}{missing}"
        label = "" if self.label is None else f" ({self.label})"
        group = "" if self.group is None else f" of group {self.group}"
        low, high = self.null_interval
        return (
            f"batch {self.batch}{label}{group}: {self.alarm_text}\n"
            f"  score      {self.score:.4g} (undrifted: {low:.4g} to {high:.4g}), "
            f"p = {self.pvalue:.2g}\n"
            f"  evidence   {self.evidence:.3g}, alarm at {self.threshold:g}{exact}\n"
            f"  largest contributions: {leading}{missing}"
        )


class Record(NamedTuple):
    """One batch of the past.

    Attributes
    ----------
    n_rows, n_dropped, stratum : int
    interpolated, exact : bool
    alarm_since : int
        The batch at which the alarm was raised that there is; 0 where there is none.
    score, in_stratum, pvalue, log_evidence : float
        `in_stratum` is the score in the units of its stratum.
    columns : ndarray of shape (d,)
        Contributions.
    missing : int64 ndarray of shape (d,)
        Missing values of each column.
    label : str or None
    categories : list of ShareChange
    """

    n_rows: int
    n_dropped: int
    stratum: int
    interpolated: bool
    exact: bool
    alarm_since: int
    score: float
    in_stratum: float
    pvalue: float
    log_evidence: float
    columns: np.ndarray
    missing: np.ndarray
    label: str | None
    categories: list[ShareChange]


@dataclass(frozen=True)
class MonitorState:
    """A calibrated monitor and the stream it has seen; a batch makes a new state of it.

    Attributes
    ----------
    policy : AlarmPolicy
    reader : BatchReader
    scorers : dict
        The scorer of each group; of None where there are no groups.
    calibration : Calibration
    seed : int
        Of the uniform numbers that break ties among ranks.
    evidence : RankEvidence or ExceedanceEvidence
    records : list of Record
    alarm_since : int
        As in `Record`; 0 after a reset.
    """

    policy: AlarmPolicy
    reader: BatchReader
    scorers: dict[str | None, Scorer]
    calibration: Calibration
    seed: int
    evidence: RankEvidence | ExceedanceEvidence
    records: list[Record]
    alarm_since: int = 0

    def after_batch(
        self, rows: Batch, null: NullScores, score: float, columns: np.ndarray, label: str | None
    ) -> MonitorState:
        """The state after one more batch."""
        in_stratum = self.calibration.as_of_stratum(score, null)
        evidence, number = copy.copy(self.evidence), len(self.records) + 1
        if isinstance(evidence, ExceedanceEvidence):
            log_evidence = evidence.step(null.stratum, null.rank(score))
        else:
            earlier = [r.in_stratum for r in self.records if r.stratum == null.stratum]
            known = np.concatenate([self.calibration.strata[null.stratum].scores, earlier])
            uniform = batch_uniform(self.seed, number)
            log_evidence = evidence.step(conformal_pvalue(in_stratum, known, uniform))
        enough = log_evidence >= math.log(self.policy.threshold)
        alarm_since = 0 if evidence.restarting else self.alarm_since
        if enough and not alarm_since:
            alarm_since = number
        if enough and evidence.restarting:
            evidence.restart()
        scorer, changes = self.scorers[self.calibration.strata[null.stratum].group], []
        if isinstance(scorer, MixedScorer):
            codes = rows.points[:, self.reader.n_features :]
            changes = scorer.shares.changes(codes, self.reader.categories, rows.new)
        exact = null.exact and (not self.records or self.records[-1].exact)
        record = Record(
            len(rows.points), rows.report.n_dropped, null.stratum, null.interpolated, exact,
            alarm_since, score, in_stratum, null.pvalue(score), log_evidence, columns,
            np.array([count for _, count in rows.report.counts], dtype=np.int64),
            label, changes,
        )  # fmt: skip
        return dataclasses.replace(
            self, evidence=evidence, records=[*self.records, record], alarm_since=alarm_since
        )

    def reset(self) -> MonitorState:
        """The state with no evidence and no alarm; the scores so far stay known."""
        evidence = copy.copy(self.evidence)
        evidence.restart()
        return dataclasses.replace(self, evidence=evidence, alarm_since=0)

    def verdict(self, number: int) -> Verdict:
        """What is said about a batch of the past, from 1."""
        record = self.records[number - 1]
        group = self.calibration.strata[record.stratum].group
        null = self.calibration.null_scores(record.n_rows + record.n_dropped, group)
        order = np.argsort(-record.columns, kind="stable")
        return Verdict(
            batch=number,
            label=record.label,
            group=group,
            n_rows=record.n_rows,
            score=record.score,
            null_interval=central_interval(null.scores),
            pvalue=record.pvalue,
            # As far as there are floats.
            evidence=math.exp(min(record.log_evidence, math.log(sys.float_info.max))),
            threshold=self.policy.threshold,
            alarm=record.alarm_since > 0,
            alarm_since=record.alarm_since or None,
            columns=[(self.reader.names[j], float(record.columns[j])) for j in order],
            categories=record.categories,
            missing=self._missing(record),
            calibration=self.calibration.sampling,
            interpolated=record.interpolated,
            exact=record.exact,
        )

    def _missing(self, record: Record) -> dict[str, Any] | None:
        if self.reader.nan_policy == "raise":
            return None
        n_rows, before = record.n_rows + record.n_dropped, self.reader.missing
        return {
            "n_dropped": record.n_dropped,
            "columns": {
                name: {"batch": int(now) / n_rows, "reference": then / before.n_rows}
                for (name, then), now in zip(before.counts, record.missing, strict=True)
            },
        }
