"""Comparison of whole batches with whole blocks of the reference, for dependent rows.

A block is a set of rows of the reference that depend on each other, such as those of one day. A
quarter of the blocks gives a mean region table and mean shares of categories. A batch has two
standardized numbers: its distance DR from the mean table, and the largest difference of a share
from its mean. The score of the batch is their maximum. Without a change, the scores of the other
blocks and of the batches are exchangeable. The rank of a new score is then a p-value, and a test
martingale bets on these p-values.

The functions of `Functions` have values 0 and 1. The share of a function is the share of rows for
which it is 1.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np

from isodepth.base.seeds import rng_for
from isodepth.errors import DegenerateDepthWarning, InvalidInputError, warn_user
from isodepth.functions.fisher import log_pvalues
from isodepth.geometry.scaling import column_units
from isodepth.metric.metric import Metric
from isodepth.metric.region_table import RegionTable
from isodepth.monitor.choice import choose_functions
from isodepth.monitor.functions import Batch, Counts, Functions, total
from isodepth.monitor.windows import Evidence, pvalue_of
from isodepth.significance.martingale import RankEvidence, conformal_pvalue
from isodepth.table.table import Table

# A batch is beyond all blocks if two conditions hold for a statistic. Its deviation from the mean
# over the blocks is more than _BEYOND times the maximum deviation of a block, and its approximate
# adjusted p-value is below _NOTABLE.
_BEYOND, _NOTABLE = 1.5, 1e-6
_LEAST_BLOCKS = 4
# Values of `Member.event` of the functions whose shares enter the score of a batch.
_SCORED = ("shares", "missing")
# Maximum number of rows of a batch, relative to the largest block. A batch with fewer rows than the
# smallest block is also an error, because its score has a larger variance.
_LARGER = 1.1


@dataclass(frozen=True, eq=False)
class BlockModel:
    """Scores and statistics of the reference blocks of one group, to compare a batch with them.

    A block is a set of dependent rows of the reference. Its statistics are medians, interquartile
    ranges and shares. Its score is one number, a standardized distance from the mean of other
    blocks.
    """

    seed: int
    table: RegionTable | None  # mean table of a quarter of the blocks; None without numeric columns
    shares: np.ndarray  # arcsine of the root of each scored share in this quarter of the blocks
    sizes: np.ndarray  # (B,), number of rows of each block
    statistics: np.ndarray  # (3, S), mean, standard deviation and maximum deviation over blocks
    units: np.ndarray  # (2, 2), mean and standard deviation of the numeric and the category score
    scores: np.ndarray  # scores of the other blocks, then of all batches so far

    @classmethod
    def fit(
        cls, rows: Table, labels: np.ndarray, rng: np.random.Generator, seed: int
    ) -> tuple[Functions, Counts, BlockModel]:
        """Choose functions from a random quarter of the blocks, and score the other blocks.

        `labels` (n,) are the blocks of the rows. `rng` chooses blocks and functions. `seed`
        determines the directions of region tables, and the random numbers that break ties of later
        scores. Return the functions, their counts in all rows of all blocks, and the model.
        """
        _, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        if len(sizes) < _LEAST_BLOCKS:
            message = f"blocks must have at least {_LEAST_BLOCKS} labels, got {len(sizes)}"
            raise InvalidInputError(message)
        fitting = rng.permutation(len(sizes))[: max(1, len(sizes) // 4)]
        functions = choose_functions(rows.take(np.isin(index, fitting)), rng)
        blocks = [rows.take(index == b) for b in range(len(sizes))]
        counts = [functions.count(block) for block in blocks]
        statistics = _spread_over_blocks(np.array([_statistics(functions, c) for c in counts]))
        width = rows.numbers.shape[1]
        table = _mean_table([blocks[b].numbers for b in fitting], seed) if width else None
        fitted = _statistics(functions, total(counts[b] for b in fitting))
        shares = _scored_shares(functions, fitted)
        units = np.array([[0.0, 1.0], [0.0, 1.0]])
        model = cls(seed, table, shares, sizes, statistics, units, np.empty(0))
        both = zip(blocks, counts, strict=True)
        scores = np.array([model._scores(block.numbers, of, functions) for block, of in both])
        if table is not None and functions.known and len(fitting) > 2:
            spread = np.std(scores[fitting], axis=0)
            if np.isfinite(spread).all():
                units = np.transpose([scores[fitting].mean(axis=0), np.where(spread, spread, 1)])
        scores = ((np.delete(scores, fitting, 0) - units[:, 0]) / units[:, 1]).max(axis=1)
        reference = total(counts).with_quartiles(rows.numbers)
        return functions, reference, replace(model, units=units, scores=scores)

    def check_size(self, n_rows: int) -> None:
        """Raise an error if a batch has too few or too many rows for a comparison with the blocks.

        It must have at least as many rows as the smallest block, and at most 10% more than the
        largest.
        """
        smallest, largest = self.sizes.min(), self.sizes.max()
        if not smallest <= n_rows <= _LARGER * largest:
            raise InvalidInputError(
                f"the batch has {n_rows} rows, and the blocks of the reference have {smallest} to "
                f"{largest}; collect batches of these sizes, or fit with other blocks"
            )

    def judge(
        self, batch: Batch, functions: Functions, reference: Counts, ranks: RankEvidence,
        number: int, level: float,
    ) -> tuple[Evidence, BlockModel, RankEvidence]:  # fmt: skip
        """Return the evidence of batch `number`, and the model and `ranks` after this batch.

        `ranks` is the test martingale of earlier batches. `level` is the alarm threshold for 1 /
        evidence, and becomes `Evidence.threshold`.
        """
        assert batch.numbers is not None
        counts = batch.counts
        score = float(self._scores(batch.numbers, counts, functions).max())
        uniform = 1.0 - float(rng_for(self.seed, "batches", number).random())
        pvalue = conformal_pvalue(score, self.scores, uniform)
        ranks = ranks.after(pvalue)
        logs, beyond = self._compare(functions, reference, counts)
        evidence = Evidence(
            functions, (reference, counts), logs, None, pvalue=pvalue,
            n_window_batches=ranks.n_batches - ranks.n_restart,
            window_pvalue=pvalue_of(-ranks.log_evidence),
            threshold=level, beyond_blocks=beyond, score=score if math.isfinite(score) else None,
            exact=bool((self.sizes == counts.n_rows).all()),
        )  # fmt: skip
        return evidence, replace(self, scores=np.append(self.scores, score)), ranks

    def _compare(
        self, functions: Functions, reference: Counts, batch: Counts
    ) -> tuple[np.ndarray, bool]:
        """Return log adjusted p-values (H,), and whether the batch is beyond all blocks.

        It is beyond them if the deviation of a statistic from its mean over the blocks is
        significant, and more than 1.5 times the maximum deviation of a block.

        The p-values of the H functions are approximate. The statistics of the batch (`_statistics`)
        are compared with those of the blocks by a t distribution, which does not fit rare or tied
        values. Therefore a p-value is at least that of Fisher's exact test. Extremes and functions
        of several columns have p-value 1.
        """
        from scipy.special import stdtr

        values, owner = _statistics(functions, batch), _statistic_of_function(functions)
        means, deviations, ranges = self.statistics
        apart = np.abs(np.where(np.isnan(values), means, values) - means)
        error = deviations * math.sqrt(1.0 + 1.0 / len(self.sizes))
        t = np.divide(apart, error, out=np.where(apart > 0, np.inf, 0.0), where=error > 0)
        with np.errstate(divide="ignore"):
            logs = np.log(2.0 * stdtr(len(self.sizes) - 1, -t))
        (n, a, _), (m, b, _), count = reference, batch, len(owner)
        confirmed = np.zeros(len(values) + 1)
        np.minimum.at(confirmed, owner, log_pvalues(a, n, b, m, cap=0.1 / count))
        logs = np.minimum(np.maximum(logs, confirmed[:-1]), 0.0)
        beyond = logs[apart > _BEYOND * ranges] < math.log(_NOTABLE / count)
        adjusted = np.minimum(logs + math.log(count), 0.0)
        return np.append(adjusted, 0.0)[owner], bool(beyond.any())

    def _scores(self, numbers: np.ndarray, counts: Counts, functions: Functions) -> np.ndarray:
        """Return two standardized deviations (2,) of a batch from the mean of the reference blocks.

        The score of the batch is their maximum. The first number compares numeric columns by the
        distance DR, the second one compares the shares of categories and missing values. The first
        is -inf without numeric columns, and inf if every row of the batch has a missing number. The
        second is -inf without category columns.
        """
        root = math.sqrt(counts.n_rows) if functions.known else 1.0
        scores = np.full(2, -np.inf)
        if self.table is not None:
            tables = _region_tables([numbers], self.seed, self.table.scale)
            scores[0] = root * self.table.distance_to(tables[0]) if tables else np.inf
        if functions.known:
            shares = _scored_shares(functions, _statistics(functions, counts))
            scores[1] = root * np.abs(shares - self.shares).max()
        return (scores - self.units[:, 0]) / self.units[:, 1]


def _spread_over_blocks(values: np.ndarray) -> np.ndarray:
    """Return mean, standard deviation and maximum deviation (3, S) of S statistics over the blocks.

    `values` (B, S) are the statistics of B blocks. NaN, the statistic of a column that has only
    missing values in a block, is replaced by the mean.
    """
    present = ~np.isnan(values)
    means = np.nansum(values, axis=0) / np.maximum(1, present.sum(axis=0))
    values = np.where(present, values, means)
    return np.array([means, values.std(axis=0, ddof=1), np.abs(values - means).max(axis=0)])


def _mean_table(blocks: list[np.ndarray], seed: int) -> RegionTable:
    """Return the mean of the region tables of blocks, which are arrays of numeric columns."""
    tables = _region_tables(blocks, seed)
    if not tables:
        message = "every row has a missing value; leave out columns with many of them"
        raise InvalidInputError(message)
    return replace(tables[0], values=np.mean([each.values for each in tables], axis=0))


def _statistics(functions: Functions, counts: Counts) -> np.ndarray:
    """Return S statistics of a batch, which are compared with the same statistics of each block.

    In this order: the median of each numeric column, the interquartile range of each numeric
    column, and the transformed share of each function of `_share_functions`. The transformation is
    the arcsine of the square root, after which the variance hardly depends on the share.
    """
    shares = counts.ones[_share_functions(functions)] / counts.n_rows
    return np.concatenate([counts.quartiles.ravel(), np.arcsin(np.sqrt(shares))])


def _share_functions(functions: Functions) -> np.ndarray:
    """Return the indices of the functions whose shares are statistics of a batch or a block.

    The functions have values 0 and 1 and depend on one column. First are those that indicate
    categories and missing values, whose shares are also a part of the score of the batch. Then
    follow those that indicate single values and rounded values. Functions that indicate extreme
    values are left out. If the medians of blocks differ, the share of extreme values is 0 in most
    blocks and large in a few, so that a t distribution does not fit.
    """
    single = [(h, m.event) for h, m in enumerate(functions.members) if len(m.columns) == 1]
    scored = [h for h, event in single if event in _SCORED]
    others = [h for h, event in single if event in ("value", "precision")]
    return np.array(scored + others, np.int64)


def _statistic_of_function(functions: Functions) -> np.ndarray:
    """Return for each of H functions the index (H,) of the statistic by which it is compared.

    Statistics of a batch are in the order of `_statistics`. A function that compares a column with
    a cut point has the median of the column as its statistic. A function that compares the absolute
    deviation from the median has the interquartile range. A function of `_share_functions` has its
    own share. The index is -1 for all other functions.
    """
    width, index = len(functions.center), np.full(len(functions.members), -1)
    for h, member in enumerate(functions.members):
        if member.event in ("column", "deviation"):
            index[h] = member.columns[0] + width * (member.event == "deviation")
    shares = _share_functions(functions)
    index[shares] = 2 * width + np.arange(len(shares))
    return index


def _scored_shares(functions: Functions, statistics: np.ndarray) -> np.ndarray:
    """Return the transformed shares that are a part of the score: of categories and missing values.

    `statistics` (S,) is the result of `_statistics`, which contains these shares.
    """
    count = sum(member.event in _SCORED for member in functions.members)
    first = 2 * len(functions.center)
    return statistics[first : first + count]


def _region_tables(
    samples: list[np.ndarray], seed: int, scale: np.ndarray | None = None
) -> list[RegionTable]:
    """Return the region tables of samples, computed from their rows without missing numbers.

    Samples without such rows are omitted. If `scale` is None, the columns are divided by their
    robust standard deviations in all samples together.
    """
    complete = (points[~np.isnan(points).any(axis=1)] for points in samples)
    samples = [points for points in complete if len(points)]
    if samples and scale is None:
        scale = column_units(np.concatenate(samples))
    metric = Metric(
        q=2, n_directions=200, directions="orthogonal", levels=20, refine=0, scale=scale,
        random_state=seed,
    )  # fmt: skip
    few = [len(points) for points in samples if 2 < len(points) <= points.shape[1] + 1]
    if few:
        warn_user(
            f"a block or batch has {min(few)} rows without missing numbers, which is at most one "
            f"more than the {samples[0].shape[1]} numeric columns: these rows have equal depths, "
            "and the score is less sensitive. Leave out columns with many missing values, or use "
            "larger blocks",
            DegenerateDepthWarning,
        )
    with warnings.catch_warnings():  # the warning of the depth recommends another depth
        warnings.simplefilter("ignore", DegenerateDepthWarning)
        return [metric.region_table(points) for points in samples]
