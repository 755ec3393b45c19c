"""Comparison of whole batches with whole blocks of the reference, for dependent rows.

The score of a batch is its distance DR from a mean of region tables, or the largest difference in a
share of a category. The mean table and the mean shares are fitted to a quarter of the blocks. The
scores of the other blocks and of undrifted batches are then exchangeable, so that the ranks of new
scores are the p-values of a test martingale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from isodepth.api import Metric
from isodepth.core.directions import rng_for
from isodepth.core.scaling import column_units
from isodepth.errors import InvalidInputError
from isodepth.metric.table import RegionTable
from isodepth.monitor.functions import Counts, Functions, total
from isodepth.monitor.windows import Evidence, pvalue_of
from isodepth.significance.fisher import log_pvalues
from isodepth.significance.martingale import RankEvidence, conformal_pvalue

# Adjusted p-value below which a batch is extreme, and minimum deviation of an extreme value from
# the mean, relative to the largest deviation of a block.
_EXTREME, _BEYOND = 1e-6, 1.5
_LEAST_BLOCKS = 4
# Maximum number of rows of a batch, relative to the largest block. A batch that is smaller than all
# blocks is refused: the noise of its score would cause false alarms.
_LARGER = 1.1


@dataclass(frozen=True, eq=False)
class BlockModel:
    """Scorer and statistics fitted to the reference blocks of one group."""

    seed: int
    table: RegionTable | None  # mean over the blocks of the scorer; None without numeric columns
    shares: np.ndarray  # mean shares of categories and missing values in these blocks, transformed
    sizes: np.ndarray  # (B,), number of rows of each block
    statistics: np.ndarray  # (3, S), mean, standard deviation and maximum deviation over blocks
    units: np.ndarray  # (2, 2), mean and spread of the scores of numbers, and of categories
    scores: np.ndarray  # scores of the blocks that the scorer is not fitted to, then of all batches

    @classmethod
    def fit(
        cls, rows: np.ndarray, labels: np.ndarray, width: int, rng: np.random.Generator, seed: int
    ) -> tuple[Functions, Counts, BlockModel]:
        """Return functions chosen from a quarter of the blocks, counts of all, and the model."""
        _, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        n_blocks = len(sizes)
        if n_blocks < _LEAST_BLOCKS:
            message = f"blocks must have at least {_LEAST_BLOCKS} labels, got {n_blocks}"
            raise InvalidInputError(message)
        fitting = rng.permutation(n_blocks)[: max(1, n_blocks // 4)]
        functions = Functions.choose(rows[np.isin(index, fitting)], width, rng)
        blocks = [rows[index == b] for b in range(n_blocks)]
        counts = [functions.count(block) for block in blocks]
        values = np.array([_statistics(functions, each)[0] for each in counts])
        present = ~np.isnan(values)
        means = np.nansum(values, axis=0) / np.maximum(1, present.sum(axis=0))
        values = np.where(present, values, means)
        statistics = [means, values.std(axis=0, ddof=1), np.abs(values - means).max(axis=0)]
        table = None
        if width:
            tables = _region_tables([blocks[b][:, :width] for b in fitting], seed)
            if not tables:
                message = "every row has a missing value; leave out columns with many of them"
                raise InvalidInputError(message)
            table = replace(tables[0], values=np.mean([each.values for each in tables], axis=0))
        shares = _statistics(functions, total(counts[b] for b in fitting))[0][2 * width :]
        units = np.array([[0.0, 1.0], [0.0, 1.0]])
        model = cls(seed, table, shares, sizes, np.array(statistics), units, np.empty(0))
        both = zip(blocks, counts, strict=True)
        scores = np.array([model._scores(*each, functions) for each in both])
        if table is not None and functions.known and len(fitting) > 2:
            spread = np.std(scores[fitting], axis=0)
            if np.isfinite(spread).all():
                units = np.transpose([scores[fitting].mean(axis=0), np.where(spread, spread, 1)])
                model = replace(model, units=units)
        scores = model._largest(np.delete(scores, fitting, 0))
        return functions, total(counts), replace(model, scores=scores)

    def check_size(self, n_rows: int) -> None:
        """Raise an error if the size of a batch differs too much from the sizes of the blocks."""
        smallest, largest = self.sizes.min(), self.sizes.max()
        if not smallest <= n_rows <= _LARGER * largest:
            raise InvalidInputError(
                f"the batch has {n_rows} rows, and the blocks of the reference have {smallest} to "
                f"{largest}; collect batches of these sizes, or fit with other blocks"
            )

    def judge(
        self, rows: np.ndarray, counts: Counts, functions: Functions, reference: Counts,
        ranks: RankEvidence, number: int, level: float,
    ) -> tuple[Evidence, BlockModel, RankEvidence]:  # fmt: skip
        """Return the evidence of batch `number`, and the model and the rank evidence after it."""
        score = float(self._largest(self._scores(rows, counts, functions)))
        uniform = 1.0 - float(rng_for(self.seed, "batches", number).random())
        pvalue = conformal_pvalue(score, self.scores, uniform)
        ranks = ranks.after(pvalue)
        logs, extreme = self._compare(functions, reference, counts)
        evidence = Evidence(
            functions, (reference, counts), logs, pvalue, ranks.n_batches,
            pvalue_of(-ranks.log_evidence), level, extreme,
            score if math.isfinite(score) else None, bool((self.sizes == counts.n_rows).all()),
        )  # fmt: skip
        return evidence, replace(self, scores=np.append(self.scores, score)), ranks

    def _compare(
        self, functions: Functions, reference: Counts, batch: Counts
    ) -> tuple[np.ndarray, bool]:
        """Return the log approximate p-value of each function (H,), and whether any is extreme.

        The statistics of the batch are compared with those of the blocks by a t distribution, which
        does not fit rare or tied values: Fisher's test must confirm the result. An extreme value
        must also lie beyond all blocks. Functions of several columns have p-value 1.
        """
        from scipy.special import stdtr

        values, owner = _statistics(functions, batch)
        means, deviations, ranges = self.statistics
        apart = np.abs(np.where(np.isnan(values), means, values) - means)
        error = deviations * math.sqrt(1.0 + 1.0 / len(self.sizes))
        t = np.divide(apart, error, out=np.where(apart > 0, np.inf, 0.0), where=error > 0)
        with np.errstate(divide="ignore"):
            logs = np.log(2.0 * stdtr(len(self.sizes) - 1, -t))
        (n, a, *_), (m, b, *_), count = reference, batch, len(owner)
        confirmed = np.zeros(len(values) + 1)
        np.minimum.at(confirmed, owner, log_pvalues(a, n, b, m, cap=0.1 / count))
        logs = np.minimum(np.maximum(logs, confirmed[:-1]), 0.0)
        extreme = logs[apart > _BEYOND * ranges] < math.log(_EXTREME / count)
        return np.append(logs, 0.0)[owner], bool(extreme.any())

    def _scores(self, rows: np.ndarray, counts: Counts, functions: Functions) -> np.ndarray:
        """Return the scores (2,) of the numeric and of the category columns of a batch or block.

        A score is -inf without columns of its kind, and inf if every row has a missing number.
        """
        root, width = math.sqrt(counts.n_rows) if functions.known else 1.0, len(functions.center)
        scores = np.full(2, -np.inf)
        if self.table is not None:
            tables = _region_tables([rows[:, :width]], self.seed, self.table.scale)
            scores[0] = root * self.table.distance_to(tables[0]) if tables else np.inf
        if functions.known:
            shares = _statistics(functions, counts)[0][2 * width :]
            scores[1] = root * np.abs(shares - self.shares).max()
        return scores

    def _largest(self, scores: np.ndarray) -> np.ndarray:
        """Return the larger of the two scores, after standardizing each by `units`."""
        return ((scores - self.units[:, 0]) / self.units[:, 1]).max(axis=-1)


def _statistics(functions: Functions, counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Return the statistics (S,) of a batch, and the index (H,) of that of each function, or -1.

    The statistics are the median and the interquartile range of each numeric column, and the
    transformed shares of categories and missing values.
    """
    width, kinds = len(functions.center), np.array([member.kind for member in functions.members])
    first = np.array([member.columns[0] if member.columns else 0 for member in functions.members])
    shares = np.isin(kinds, ["category", "missing"])
    cases = [kinds == "column", kinds == "deviation", shares]
    owner = np.select(cases, [first, width + first, 2 * width + np.cumsum(shares) - 1], -1)
    # The variance of the transformed share is nearly independent of the share.
    angles = np.arcsin(np.sqrt(counts.ones[shares] / counts.n_rows))
    return np.concatenate([counts.quartiles.ravel(), angles]), owner


def _region_tables(
    samples: list[np.ndarray], seed: int, scale: np.ndarray | None = None
) -> list[RegionTable]:
    """Return one region table per sample, of its rows without missing numbers, if it has any.

    Columns are divided by `scale`; None divides them by their pooled robust standard deviations.
    """
    complete = (points[~np.isnan(points).any(axis=1)] for points in samples)
    samples = [points for points in complete if len(points)]
    if samples and scale is None:
        scale = column_units(np.concatenate(samples))
    metric = Metric(
        q=2, n_directions=200, directions="orthogonal", levels=20, refine=0, scale=scale,
        random_state=seed,
    )  # fmt: skip
    return [metric.table(points) for points in samples]
