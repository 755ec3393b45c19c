"""Test of repeated rows in a batch.

A row of the batch or of a sample of the reference is repeated if it occurs more than once in both
together. This does not depend on which rows belong to the batch. If the rows are exchangeable, the
number of repeated rows in the batch therefore has a hypergeometric distribution. Rows are compared
by their 64-bit hashes.

A row of the reference that occurs again in a batch is not a change. Therefore the statistic is the
number of rows that are repeated within the batch. It is at most the hypergeometric number, so that
the p-value remains valid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isodepth.functions.fisher import log_pvalues

# Maximum number of reference rows, which limits the size of saved monitors.
_MOST_ROWS = 4096
#: Fraction of the level of windows of one batch that is used for this test.
REPEATED_LEVEL = 1 / 64


class RepeatedCounts(NamedTuple):
    """Shares of rows that are repeated within the reference and within a batch, and log p-value."""

    before: float  # expected share within `n_reference` random rows of the reference
    after: float  # share within the batch
    log_pvalue: float
    n_reference: int  # size of the batch, or of the reference if the batch is larger
    n_batch: int


class ReferenceHashes(NamedTuple):
    """Hashes of at most 4096 rows of the reference, and how often its rows occur in it."""

    distinct: np.ndarray  # (U,), int64, sorted
    counts: np.ndarray  # (U,), number of rows with each hash
    #: (2, K), numbers k in increasing order, and the number of rows of the whole reference that
    #: occur k times in it.
    multiplicities: np.ndarray

    @classmethod
    def of_rows(
        cls, hashes: np.ndarray, rng: np.random.Generator, all_hashes: np.ndarray
    ) -> ReferenceHashes:
        """Return hashes of at most 4096 random rows, given the hashes (n,) of counted rows.

        `all_hashes` are those of all rows of the reference.
        """
        if len(hashes) > _MOST_ROWS:
            hashes = hashes[rng.permutation(len(hashes))[:_MOST_ROWS]]
        multiplicities = _multiplicities(np.unique(all_hashes, return_counts=True)[1])
        return cls(*np.unique(_stored(hashes), return_counts=True), multiplicities)

    def test(self, hashes: np.ndarray) -> RepeatedCounts:
        """Test whether more rows are repeated in a batch than chance explains.

        `hashes` (m,) are the uint64 hashes of the rows of the batch.
        """
        distinct, counts = np.unique(_stored(hashes), return_counts=True)
        at = np.minimum(self.distinct.searchsorted(distinct), len(self.distinct) - 1)
        common = self.distinct[at] == distinct
        pooled = self.counts > 1
        pooled[at[common]] = True
        ones = int(self.counts[pooled].sum() + counts[common | (counts > 1)].sum())
        within, n, m = int(counts[counts > 1].sum()), int(self.counts.sum()), len(hashes)
        log = 0.0
        if within * (n + m) > ones * m:
            log = float(log_pvalues(np.array([ones - within]), n, np.array([within]), m)[0])
        before, n_reference = self.expected_within(m)
        return RepeatedCounts(before, within / m, log, n_reference, m)

    def expected_within(self, m: int) -> tuple[float, int]:
        """Return the expected share of repeated rows within m random rows of the reference, and m.

        If the reference has fewer than m rows, return the share within all of its rows, and their
        number.
        """
        from scipy.special import gammaln

        k, rows = self.multiplicities
        n = int(rows.sum())
        m = min(m, n)
        k, rows = k[k > 1], rows[k > 1]
        # Logarithm of the probability that m - 1 other rows have no copy of a row with k copies.
        log = gammaln(n - k + 1) - gammaln(np.maximum(n - k - m + 2, 1))
        log += gammaln(n - m + 1) - gammaln(n)
        shares = np.where(n - k - m + 2 > 0, -np.expm1(np.minimum(log, 0.0)), 1.0)
        return float((rows * shares).sum() / n), m


def _multiplicities(counts: np.ndarray) -> np.ndarray:
    """Return the array (2, K) of `ReferenceHashes`, given the number of rows with each hash."""
    k, times = np.unique(counts, return_counts=True)
    return np.array([k, k * times])


def _stored(hashes: np.ndarray) -> np.ndarray:
    """Return uint64 hashes as non-negative int64, without their last bit."""
    return (hashes >> np.uint64(1)).astype(np.int64)
