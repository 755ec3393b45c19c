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

from isodepth.significance.fisher import log_pvalues

# Maximum number of reference rows, which limits the size of saved monitors.
_MOST_ROWS = 4096
#: Fraction of the level of windows of one batch that is used for this test.
REPEATED_LEVEL = 1 / 64


class RepeatedCounts(NamedTuple):
    """Shares of repeated rows within the reference and within a batch, and the log p-value."""

    before: float
    after: float
    log_pvalue: float


class ReferenceHashes(NamedTuple):
    """Distinct hashes of at most 4096 rows of the reference, with the number of rows of each."""

    distinct: np.ndarray  # (U,), int64, sorted
    counts: np.ndarray  # (U,), number of rows with each hash

    @classmethod
    def of_rows(cls, hashes: np.ndarray, rng: np.random.Generator) -> ReferenceHashes:
        """Return hashes of at most 4096 random rows, given the hashes (n,) of reference rows."""
        if len(hashes) > _MOST_ROWS:
            hashes = hashes[rng.permutation(len(hashes))[:_MOST_ROWS]]
        return cls(*np.unique(_stored(hashes), return_counts=True))

    def test(self, hashes: np.ndarray) -> RepeatedCounts:
        """Test whether more rows are repeated in a batch than chance explains.

        `hashes` (m,) are the uint64 hashes of the rows of the batch.
        """
        distinct, counts = np.unique(_stored(hashes), return_counts=True)
        at = np.minimum(self.distinct.searchsorted(distinct), len(self.distinct) - 1)
        common = self.distinct[at] == distinct
        pooled = self.counts > 1
        within_reference = int(self.counts[pooled].sum())
        pooled[at[common]] = True
        ones = int(self.counts[pooled].sum() + counts[common | (counts > 1)].sum())
        within, n, m = int(counts[counts > 1].sum()), int(self.counts.sum()), len(hashes)
        log = 0.0
        if within * (n + m) > ones * m:
            log = float(log_pvalues(np.array([ones - within]), n, np.array([within]), m)[0])
        return RepeatedCounts(within_reference / n, within / m, log)


def _stored(hashes: np.ndarray) -> np.ndarray:
    """Return uint64 hashes as non-negative int64, without their last bit."""
    return (hashes >> np.uint64(1)).astype(np.int64)
