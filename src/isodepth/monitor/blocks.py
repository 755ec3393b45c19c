"""Whole batches compared with whole blocks of the reference, for rows that depend on each other.

A quarter of the blocks fits a scorer (DR to their mean table, and shares of categories). The
scores of the other blocks and of undrifted batches are then exchangeable. The ranks of new scores
among all earlier ones, smoothed by a uniform number, are independent and uniform p-values (Vovk).
Bets on small p-values form a test martingale: starting from 1 it ever reaches 1/alpha with
probability at most alpha (Ville). The stake is divided equally among betting functions, and among
the batches at which betting starts with weights 1/(t (t + 1)). The form that restarts after each
alarm (Shiryaev and Roberts; an e-detector of Shin, Ramdas and Rinaldo) stakes 1 at every batch: its
value less the number of batches is a martingale, so that the mean time until it reaches `arl` is at
least `arl`.

Ranks among B blocks cannot reach small p-values with one batch. `log_pvalues` therefore
compares medians, ranges and shares with those of the blocks by a t distribution, which is an
approximation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from isodepth.api import Metric
from isodepth.core.directions import rng_for
from isodepth.core.scaling import column_units
from isodepth.data.frames import Table
from isodepth.errors import InvalidInputError
from isodepth.metric.signature import signature_fields
from isodepth.metric.table import RegionTable
from isodepth.monitor.functions import Counts, Functions, Rows, total
from isodepth.monitor.windows import Evidence, log_pvalues

# Adjusted p-value below which a batch is extreme.
_EXTREME = 1e-6
_LEAST_BLOCKS = 4
# Batches may be larger than all blocks by this factor: their scores have less noise. Smaller ones
# have more, and would raise false alarms.
_LARGER = 1.1
# An extreme value is farther from the mean than all blocks by this factor.
_BEYOND = 1.5

# A bet keeps 1 - stake and puts the rest on p <= share, at the fair odds of 1 to share. Small
# shares win fast against large changes, once there are enough scores to rank among; large ones
# find small changes in the long run.
_SHARES = np.array([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.1, 0.3, 0.5])
_STAKES = np.array([0.9] * 8 + [0.5] * 3)
_LOG_LOST = np.log1p(-_STAKES)
_LOG_WON = np.log(1.0 - _STAKES + _STAKES / _SHARES)
# Exponents e of further bets, which pay e p^(e - 1): without a jump, for any size of a change.
_POWERS = np.array([0.2, 0.5])
N_BETS = len(_SHARES) + len(_POWERS)


def conformal_pvalue(score: float, earlier: np.ndarray, uniform: float) -> float:
    """Return the smoothed rank of a score among itself and all earlier ones, small if it is large.

    Examples
    --------
    >>> import numpy as np
    >>> [conformal_pvalue(x, np.array([1.0, 2.0, 3.0]), u) for x, u in ((5.0, 1.0), (2.0, 0.5))]
    [0.25, 0.5]
    """
    above = np.count_nonzero(earlier > score)
    tied = np.count_nonzero(earlier == score) + 1
    return float((above + uniform * tied) / (len(earlier) + 1))


def log_bets(pvalue: float) -> np.ndarray:
    """Return the logarithm of the payoff of each bet of 1, of shape (N_BETS,).

    Every payoff is a function of p that never increases and has integral 1 over [0, 1].
    """
    steps = np.where(pvalue <= _SHARES, _LOG_WON, _LOG_LOST)
    powers = np.log(_POWERS) + (_POWERS - 1.0) * math.log(pvalue)
    return np.concatenate([steps, powers])


class RankEvidence(NamedTuple):
    """Evidence of a stream of p-values against their being independent and uniform.

    Examples
    --------
    >>> evidence = RankEvidence.start()
    >>> evidence.after(0.4).after(0.001).log_evidence.__round__(2)
    3.44
    """

    #: False: the probability of ever reaching a threshold is at most 1/threshold. True: the mean
    #: time until the threshold is reached is at least the threshold.
    restarting: bool
    #: Array of shape (patience, N_BETS). Row r is the least evidence that is left without any r
    #: batches.
    logs: np.ndarray
    #: Batches since the last restart.
    n_batches: int = 0

    @classmethod
    def start(cls, restarting: bool = False, patience: int = 1) -> RankEvidence:
        """Return the evidence before the first batch."""
        return cls(restarting, np.full((patience, N_BETS), -np.inf))

    def restarted(self) -> RankEvidence:
        """Start again with the next batch."""
        return RankEvidence.start(self.restarting, len(self.logs))

    def after(self, pvalue: float) -> RankEvidence:
        """Add the p-value of a batch."""
        n_batches = self.n_batches + 1
        stake = 0.0 if self.restarting else -math.log(n_batches * (n_batches + 1.0))
        staked = np.logaddexp(self.logs, stake)
        logs = staked + log_bets(pvalue)
        # Without this batch and r - 1 before it, or with it. Both increase with the earlier
        # evidence, so the least stays the least.
        logs[1:] = np.minimum(logs[1:], staked[:-1])
        return RankEvidence(self.restarting, logs, n_batches)

    @property
    def log_evidence(self) -> float:
        """Logarithm of the evidence; of 1 before the first batch, and of 0 if restarting."""
        invested = float(np.logaddexp.reduce(self.logs[-1])) - math.log(N_BETS)
        if self.restarting:
            return invested
        return float(np.logaddexp(invested, -math.log(self.n_batches + 1.0)))


@dataclass(frozen=True, eq=False)
class BlockModel:
    """Blocks of the reference of one group."""

    #: Mean table of the blocks that fit the scorer; None without numeric columns.
    table: RegionTable | None
    #: Array of shape (H,). Mean of each function over the rows of these blocks.
    shares: np.ndarray
    #: Array of shape (2, 2). Mean and standard deviation of the two scores, of numbers and of
    #: categories.
    units: np.ndarray
    #: Pair of int. Rows of the smallest and of the largest block.
    sizes: tuple[int, int]
    #: Arrays of shape (S,). Mean, standard deviation and largest deviation of the statistics of
    #: the blocks.
    means: np.ndarray
    deviations: np.ndarray
    ranges: np.ndarray
    n_blocks: int
    #: Array of shape (S,). Scores of the blocks that do not fit the scorer, and of all batches
    #: since.
    scores: np.ndarray

    @classmethod
    def fit(
        cls, rows: Rows, blocks: np.ndarray, fitting: np.ndarray, functions: Functions, seed: int
    ) -> tuple[BlockModel, Counts]:
        """Fit from rows with the index of their block (n,).

        `fitting` holds the indices of the blocks that fit the scorer and chose the functions.
        """
        parts = [rows.take(np.flatnonzero(blocks == b)) for b in range(int(blocks.max()) + 1)]
        counted = [functions.count(part) for part in parts]
        values = np.array([_statistics(functions, each)[0] for each in counted])
        present = ~np.isnan(values)
        means = np.where(present, values, 0.0).sum(axis=0) / np.maximum(1, present.sum(axis=0))
        values = np.where(present, values, means)
        table = None
        if rows.numbers.shape[1]:
            table = _mean_table([_complete(parts[b]) for b in fitting], seed)
        fitted = total(counted[b] for b in fitting)
        sizes = [len(part) for part in parts]
        model = cls(
            table, fitted.ones / fitted.n_rows, np.array([[0.0, 1.0], [0.0, 1.0]]),
            (min(sizes), max(sizes)), means, values.std(axis=0, ddof=1),
            np.abs(values - means).max(axis=0), len(parts), np.empty(0),
        )  # fmt: skip
        if table is not None and len(functions.known) and len(fitting) > 2:
            own = [model._parts(parts[b], counted[b], functions) for b in fitting]
            spread = np.std(own, axis=0)
            if np.isfinite(spread).all():
                units = np.mean(own, axis=0), np.where(spread > 0, spread, 1.0)
                model = replace(model, units=np.stack(units, axis=1))
        held = [b for b in range(len(parts)) if b not in fitting]
        scores = [model.score(parts[b], counted[b], functions) for b in held]
        return replace(model, scores=np.array(scores)), total(counted)

    def judge(
        self, rows: Rows, counts: Counts, functions: Functions, reference: Counts,
        ranks: RankEvidence, key: tuple[int, int],
    ) -> tuple[BlockModel, RankEvidence, Evidence]:  # fmt: skip
        """Return the model and the evidence of ranks after a batch, and the evidence on it.

        The seed and the number of the batch in `key` determine the number that breaks ties.
        """
        score = self.score(rows, counts, functions)
        uniform = 1.0 - float(rng_for(key[0], "batches", key[1]).random())
        pvalue = conformal_pvalue(score, self.scores, uniform)
        ranks = ranks.after(pvalue)
        logs, extreme = self.log_pvalues(functions, reference, counts)
        evidence = Evidence(
            pvalue, ranks.n_batches, counts, logs, -ranks.log_evidence, 1.0, extreme,
            score if math.isfinite(score) else None, set(self.sizes) == {counts.n_rows},
        )  # fmt: skip
        return replace(self, scores=np.append(self.scores, score)), ranks, evidence

    def check_size(self, n_rows: int) -> None:
        """Refuse batches whose scores cannot be compared with those of the blocks."""
        smallest, largest = self.sizes
        if not smallest <= n_rows <= _LARGER * largest:
            raise InvalidInputError(
                f"the batch has {n_rows} rows, and the blocks of the reference have {smallest} to "
                f"{largest}; collect batches of these sizes, or fit a monitor with blocks of other "
                "sizes"
            )

    def score(self, rows: Rows, counts: Counts, functions: Functions) -> float:
        """Return the larger of the two scores of a batch; inf if no row is complete."""
        parts = np.array(self._parts(rows, counts, functions))
        used = [self.table is not None, len(functions.known) > 0]
        return float(((parts - self.units[:, 0]) / self.units[:, 1])[used].max())

    def log_pvalues(
        self, functions: Functions, reference: Counts, batch: Counts
    ) -> tuple[np.ndarray, bool]:
        """Logarithms of approximate p-values of all functions (H,), and whether any is extreme.

        Medians, interquartile ranges and shares of the batch are compared with those of the blocks
        by a t distribution. Fisher's test, which ignores the dependence of rows, must confirm it:
        a t distribution does not fit rare or tied values. An extreme value must also lie beyond
        all blocks. Functions of several columns are not compared.
        """
        values, owner = _statistics(functions, batch)
        apart = np.abs(np.where(np.isnan(values), self.means, values) - self.means)
        error = self.deviations * math.sqrt(1.0 + 1.0 / self.n_blocks)
        t = np.divide(apart, error, out=np.where(apart > 0, np.inf, 0.0), where=error > 0)
        with np.errstate(divide="ignore"):
            logs = np.log(2.0 * stdtr(self.n_blocks - 1, -t))
        count = len(owner)
        exact = log_pvalues(
            reference.ones, reference.n_rows, batch.ones, batch.n_rows, cap=0.1 / count
        )
        confirmed = np.zeros(len(values) + 1)
        np.minimum.at(confirmed, owner, exact)
        logs = np.minimum(np.maximum(logs, confirmed[:-1]), 0.0)
        beyond = logs[apart > _BEYOND * self.ranges]
        extreme = len(beyond) and beyond.min() + math.log(count) < math.log(_EXTREME)
        return np.append(logs, 0.0)[owner], bool(extreme)

    def _parts(self, rows: Rows, counts: Counts, functions: Functions) -> tuple[float, float]:
        """Return the scores of the numeric columns and of the categories.

        With categories, both are multiplied by the square root of the number of rows.
        """
        root, numbers, categories = 1.0, 0.0, 0.0
        if len(functions.known):
            root = math.sqrt(counts.n_rows)
            at = [h for h, f in enumerate(functions.members) if f.kind in ("category", "missing")]
            apart = _angle(counts)[at] - np.arcsin(np.sqrt(self.shares[at]))
            categories = root * float(np.abs(apart).max())
        if self.table is not None:
            points = _complete(rows)
            seed = int(signature_fields(self.table.signature)["seed"])
            numbers = math.inf
            if len(points):
                metric = _metric(self.table.scale, seed)
                numbers = self.table.distance_to(metric.table(points))
        return root * numbers, categories


def _statistics(functions: Functions, counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Medians, interquartile ranges, transformed shares of categories and of missing values (S,).

    Also the index of the statistic that each function belongs to (H,), -1 for none. Statistics of
    columns without a present value are NaN.
    """
    width = len(functions.center)
    owner: list[int] = []
    shares: list[int] = []
    for h, (kind, columns, _) in enumerate(functions.members):
        place = {"column": 0, "deviation": width}.get(kind, -1)
        owner.append(place + columns[0] if place >= 0 else -1)
        if kind in ("missing", "category"):
            owner[-1] = 2 * width + len(shares)
            shares.append(h)
    with np.errstate(invalid="ignore"):
        numbers = counts.summaries[1:] / np.where(counts.summaries[0], counts.summaries[0], np.nan)
    return np.concatenate([numbers.ravel(), _angle(counts)[shares]]), np.array(owner)


def _angle(counts: Counts) -> np.ndarray:
    """Shares of rows, transformed so that their variance does not depend on the share."""
    return np.arcsin(np.sqrt(counts.ones / counts.n_rows))


def split_blocks(labels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of the block of each row, and the blocks that fit the scorer."""
    names, index = np.unique(labels, return_inverse=True)
    if len(names) < _LEAST_BLOCKS:
        raise InvalidInputError(
            f"blocks has {len(names)} different labels; a reference of at least {_LEAST_BLOCKS} "
            "blocks is needed"
        )
    return index, rng.permutation(len(names))[: max(1, len(names) // 4)]


def _complete(rows: Rows) -> np.ndarray:
    """Numbers (k, d) of the rows without missing values."""
    return rows.numbers[~np.isnan(rows.numbers).any(axis=1)]


def _mean_table(samples: list[np.ndarray], seed: int) -> RegionTable:
    """Mean of the tables of some blocks, in units of their pooled columns."""
    samples = [points for points in samples if len(points)]
    if not samples:
        raise InvalidInputError(
            "every row of the blocks that fit the monitor has a missing value; leave out "
            "columns with many missing values"
        )
    metric = _metric(column_units(np.concatenate(samples)), seed)
    tables: list[Any] = [metric.table(Table(points, None)) for points in samples]
    values = np.mean([table.values for table in tables], axis=0, dtype=np.float64)
    return replace(tables[0], values=values.astype(tables[0].values.dtype))


def _metric(scale: np.ndarray | None, seed: int) -> Metric:
    """Return the metric of the tables of blocks and batches."""
    return Metric(
        q=2, n_directions=200, directions="orthogonal", levels=20, refine=0, scale=scale,
        random_state=seed,
    )  # fmt: skip
