"""Test of repeated rows in a batch.

Whether a row occurs more than once depends on other rows. So the function is chosen anew for each
batch, from the rows of the batch and of a part of the reference together: it is 1 for the rows that
occur more than once among all of them. This choice does not depend on the labels of the rows. If
the rows are exchangeable, the number of such rows in the batch has a hypergeometric distribution.

Rows of the reference that occur again in a batch are not a change. So only the rows that are
repeated within the batch are counted there. This number is at most the number above, so that the
probability of at least as many rows remains an upper bound.
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
    """Fractions of repeated rows in the reference and in a batch, and the log p-value."""

    before: float
    after: float
    log_pvalue: float


class ReferenceHashes(NamedTuple):
    """Hashes of at most 4096 rows of the reference."""

    distinct: np.ndarray  # (U,), int64, sorted
    counts: np.ndarray  # (U,), number of rows with each hash

    @classmethod
    def of_rows(cls, hashes: np.ndarray, rng: np.random.Generator) -> ReferenceHashes:
        """Select rows at random; `hashes` (n,) are those of all counted rows of the reference."""
        if len(hashes) > _MOST_ROWS:
            hashes = hashes[rng.permutation(len(hashes))[:_MOST_ROWS]]
        return cls(*np.unique(_stored(hashes), return_counts=True))

    def test(self, hashes: np.ndarray) -> RepeatedCounts:
        """Test whether more rows are repeated in a batch, given the hashes (m,) of its rows."""
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
    """Return hashes as non-negative integers, which can be written to a file."""
    return (hashes >> np.uint64(1)).astype(np.int64)
