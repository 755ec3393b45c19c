"""Which rows say where a sample lies and how large it is, roughly, before anything is computed.

A rough idea is enough, but it decides how everything rounds: so it must not depend on the order of
the rows, and a sample that is read in chunks must have the same one. Distinct rows can be counted
while they are few; of many rows it is their mass that counts, which chunks can add up.
"""

from __future__ import annotations

import numpy as np

#: Up to so many distinct rows it is their number that counts, not their mass.
FEW_ROWS = 4096
#: So many rows are looked at, evenly spaced in lexicographic order.
PROBED_ROWS = 7


def probed_places(n: int, masses: np.ndarray | None, total: int) -> np.ndarray | slice:
    """Places of the rows to look at among n distinct ones in lexicographic order.

    With masses (n,) they are evenly spaced in mass, so that rows that are all there twice, or all
    have one weight, are the same ones.
    """
    if n <= FEW_ROWS:
        return slice(0, n, -(-n // PROBED_ROWS))
    if masses is None:
        return probed_masses(n)
    return np.searchsorted(np.cumsum(masses), probed_masses(total), side="right")


def probed_masses(total: int) -> np.ndarray:
    """How much mass, int64, is passed before each of the rows to look at."""
    return np.array([k * total // PROBED_ROWS for k in range(PROBED_ROWS)], dtype=np.int64)
