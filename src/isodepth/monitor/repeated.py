"""Test of repeated rows in a batch.

Whether a row occurs more than once depends on other rows. So the function is chosen anew for each
batch, from the rows of the batch and of a part of the reference together: it is 1 for the rows that
occur more than once among all of them. This choice does not depend on the labels of the rows. If
the rows are exchangeable, the number of such rows in the batch has a hypergeometric distribution.
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
        """Compare the fractions of repeated rows in a batch, given the hashes (m,) of its rows."""
        distinct, counts = np.unique(_stored(hashes), return_counts=True)
        at = np.minimum(self.distinct.searchsorted(distinct), len(self.distinct) - 1)
        common = self.distinct[at] == distinct
        b = int(counts[common | (counts > 1)].sum())
        repeated = self.counts > 1
        repeated[at[common]] = True
        a, n, m = int(self.counts[repeated].sum()), int(self.counts.sum()), len(hashes)
        log = float(log_pvalues(np.array([a]), n, np.array([b]), m)[0]) if a + b else 0.0
        return RepeatedCounts(a / n, b / m, log)


def _stored(hashes: np.ndarray) -> np.ndarray:
    """Return hashes as non-negative integers, which can be written to a file."""
    return (hashes >> np.uint64(1)).astype(np.int64)
