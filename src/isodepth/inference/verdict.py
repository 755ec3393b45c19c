"""Verdict: what a monitor says about one batch."""

from __future__ import annotations

import dataclasses
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.data.results import PlottableResult, named_shares, plain

if TYPE_CHECKING:
    from isodepth.inference.batches import BatchReader
    from isodepth.inference.stream import Stream
    from isodepth.inference.watching import Fitted, Promise


@dataclass(frozen=True)
class Verdict(PlottableResult):
    """What a monitor says about one batch.

    Attributes
    ----------
    batch : int
        Which batch of the stream it was, from 1.
    group : str or None
    n_rows : int
        Rows that were looked at, those with missing values left out.
    score : float
        Distance from the reference; with a tolerance, what of it foreign rows cannot explain.
    usual : pair of float
        Between them lie 98% of the scores of undrifted batches of this size.
    pvalue : float
        Rank of the score among the calibration scores of its size: of (n + 1) equally likely
        places, the share that is as far out. It says something about this batch alone; looking at
        many of them day after day needs `alarm`.
    evidence : float
        How much the stream so far speaks against its being undrifted; see `threshold`.
    threshold : float
        The alarm rings when the evidence reaches it.
    alarm : bool
        Whether it rings: from the batch at which the threshold was reached until `reset`. With
        `arl`, for that batch alone.
    alarm_since : int or None
        The batch at which it began.
    columns : list of (str, float)
        The columns with their share in the difference, largest first.
    missing : dict or None
        With ``nan_policy="omit"``: rows dropped, and for each column the share of missing values in
        the batch and in the reference.
    calibration : {"disjoint", "resampled", "blocks"}
        How the calibration scores were made.
    interpolated : bool
        Whether the size of the batch lies between declared ones.
    exact : bool
        Whether `pvalue` and `alarm` keep their promises exactly for exchangeable batches: not after
        resampling or interpolation of any batch so far.
    """

    batch: int
    group: str | None
    n_rows: int
    score: float
    usual: tuple[float, float]
    pvalue: float
    evidence: float
    threshold: float
    alarm: bool
    alarm_since: int | None
    columns: list[tuple[str, float]]
    missing: dict[str, Any] | None
    calibration: str
    interpolated: bool
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """All fields, as numbers, texts, lists and dictionaries that JSON knows."""
        known = dataclasses.fields(self)
        fields: dict[str, Any] = {field.name: getattr(self, field.name) for field in known}
        return plain({**fields, "columns": named_shares(self.columns)})

    def _rows(self) -> dict[str, list[Any]]:
        names, shares = zip(*self.columns, strict=True)
        return {"column": list(names), "share": list(shares)}

    def __str__(self) -> str:
        leading = ", ".join(f"{name} {share:.0%}" for name, share in self.columns[:3])
        alarm = f"ALARM since batch {self.alarm_since}" if self.alarm else "no alarm"
        exact = "" if self.exact else ", approximately"
        missing = ""
        if self.missing is not None and self.missing["n_dropped"]:
            missing = f"\n  left out   {self.missing['n_dropped']} row(s) with missing values"
        group = "" if self.group is None else f" of group {self.group}"
        return (
            f"batch {self.batch}{group}: {alarm}\n"
            f"  score      {self.score:.4g} (usually {self.usual[0]:.4g} to {self.usual[1]:.4g}), "
            f"p = {self.pvalue:.2g}\n"
            f"  evidence   {self.evidence:.3g}, alarm at {self.threshold:g}{exact}\n"
            f"  largest contributions: {leading}{missing}"
        )


def verdict_of(fitted: Fitted, promise: Promise, at: int) -> Verdict:
    """What is said about one batch of the past."""
    reader, calibration, stream = fitted.reader, fitted.calibration, fitted.stream
    batch = stream.past[at]
    group = calibration.strata[batch.stratum].group
    scores = calibration.usual(batch.n_rows + batch.n_dropped, group).scores
    order = np.argsort(-stream.shares[at], kind="stable")
    interpolated = any(earlier.interpolated for earlier in stream.past[: at + 1])
    return Verdict(
        batch=at + 1,
        group=group,
        n_rows=batch.n_rows,
        score=batch.score,
        usual=middle(scores),
        pvalue=batch.pvalue,
        evidence=from_log(batch.log_evidence),
        threshold=promise.threshold,
        alarm=batch.alarm_since > 0,
        alarm_since=batch.alarm_since or None,
        columns=[(reader.names[j], float(stream.shares[at][j])) for j in order],
        missing=_missing(reader, stream, at),
        calibration=calibration.way,
        interpolated=batch.interpolated,
        exact=calibration.way != "resampled" and not interpolated,
    )


def log_rows(verdicts: list[Verdict]) -> dict[str, list[Any]]:
    """Verdicts as a table: one row a batch, with the column that carries most of its score."""
    names = ("batch", "group", "n_rows", "score", "pvalue", "evidence", "alarm")
    rows = {name: [getattr(verdict, name) for verdict in verdicts] for name in names}
    rows["usual_low"] = [verdict.usual[0] for verdict in verdicts]
    rows["usual_high"] = [verdict.usual[1] for verdict in verdicts]
    rows["leading_column"] = [verdict.columns[0][0] for verdict in verdicts]
    rows["leading_share"] = [verdict.columns[0][1] for verdict in verdicts]
    return rows


def middle(scores: np.ndarray) -> tuple[float, float]:
    """Between these of the rising scores lie 98% of them."""
    aside = len(scores) // 100
    return float(scores[aside]), float(scores[len(scores) - 1 - aside])


def _missing(reader: BatchReader, stream: Stream, at: int) -> dict[str, Any] | None:
    if reader.nan_policy == "raise":
        return None
    batch, before = stream.past[at], reader.missing
    n_rows = batch.n_rows + batch.n_dropped
    return {
        "n_dropped": batch.n_dropped,
        "columns": {
            name: {"batch": int(now) / n_rows, "reference": then / before.n_rows}
            for (name, then), now in zip(before.counts, stream.missing[at], strict=True)
        },
    }


def from_log(logarithm: float) -> float:
    """The number of which this is the natural logarithm, as far as there are floats."""
    return math.exp(min(logarithm, math.log(sys.float_info.max)))
