"""The stream a monitor has seen: its scores, its evidence, and what was said about each batch."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from isodepth.inference.alarms import RankEvidence, batch_uniform, conformal_pvalue
from isodepth.inference.calibration import Calibration, Usual
from isodepth.inference.exceedances import ExceedanceEvidence


class Past(NamedTuple):
    """One batch of the past, in numbers.

    Attributes
    ----------
    n_rows, n_dropped : int
    stratum : int
    interpolated : bool
    alarm_since : int
        The batch at which the alarm began that rings; 0 where none does.
    score, as_of_stratum, pvalue, log_evidence : float
    """

    n_rows: int
    n_dropped: int
    stratum: int
    interpolated: bool
    alarm_since: int
    score: float
    as_of_stratum: float
    pvalue: float
    log_evidence: float


@dataclass
class Stream:
    """What a monitor knows of the batches it was shown.

    Attributes
    ----------
    seed : int
        Of the uniform numbers that break ties among ranks.
    evidence : RankEvidence or ExceedanceEvidence
    past : list of Past
    shares : list of ndarrays of shape (d,)
        How much each column had to do with each score.
    missing : list of ndarrays of shape (d,)
        Missing values of each column.
    alarm_since : int
        As in `Past`.
    """

    seed: int
    evidence: RankEvidence | ExceedanceEvidence
    past: list[Past] = field(default_factory=list)
    shares: list[np.ndarray] = field(default_factory=list)
    missing: list[np.ndarray] = field(default_factory=list)
    alarm_since: int = 0

    def copy(self) -> Stream:
        """A stream that goes on without changing this one."""
        other = copy.copy(self)
        other.evidence = copy.copy(self.evidence)
        if isinstance(other.evidence, ExceedanceEvidence):
            other.evidence.ranks = list(other.evidence.ranks)
        other.past, other.shares = list(self.past), list(self.shares)
        other.missing = list(self.missing)
        return other

    def take_in(
        self,
        score: float,
        usual: Usual,
        calibration: Calibration,
        n_rows: int,
        shares: np.ndarray,
        missing: np.ndarray,
        n_dropped: int,
    ) -> Past:
        """Go on by one batch."""
        pvalue = usual.pvalue(score)
        standard = calibration.as_of_stratum(score, usual)
        log_evidence = self._step(score, standard, usual, calibration)
        rings = self.evidence.enough
        if self.evidence.restarting:
            self.alarm_since = len(self.past) + 1 if rings else 0
            if rings:
                self.evidence.restart()
        elif rings and self.alarm_since == 0:
            self.alarm_since = len(self.past) + 1
        batch = Past(
            n_rows, n_dropped, usual.stratum, usual.interpolated, self.alarm_since,
            score, standard, pvalue, log_evidence,
        )  # fmt: skip
        self.past.append(batch)
        self.shares.append(shares)
        self.missing.append(missing)
        return batch

    def _step(self, score: float, standard: float, usual: Usual, calibration: Calibration) -> float:
        if isinstance(self.evidence, ExceedanceEvidence):
            return self.evidence.step(usual.stratum, usual.rank(score))
        earlier = [b.as_of_stratum for b in self.past if b.stratum == usual.stratum]
        known = np.concatenate([calibration.strata[usual.stratum].scores, earlier])
        uniform = batch_uniform(self.seed, len(self.past) + 1)
        return self.evidence.step(conformal_pvalue(standard, known, uniform))

    def reset(self) -> None:
        """Begin to gather evidence anew; the scores so far stay known."""
        self.evidence.restart()
        self.alarm_since = 0
