"""Points of several units of mass as so many points of one.

Loops for unit masses select and count where those for masses must sort. A sample with a few
repeated rows is so cheaper with every row in its place than with masses, and ranks, medians and
MADs are the same by definition.
"""

from __future__ import annotations

import numpy as np


def repeated_rows(masses: np.ndarray | None, total: int, worth: float) -> np.ndarray | None:
    """The number of each row, repeated as often as its mass says; None where that does not pay.

    Parameters
    ----------
    masses : int64 ndarray of shape (u,), or None where each is one unit
    total : int
        The sum of the masses.
    worth : float
        How many times as long a row takes with a mass as without.

    Returns
    -------
    int64 ndarray of shape (total,), or None

    Examples
    --------
    >>> import numpy as np
    >>> repeated_rows(np.array([1, 2, 1]), 4, worth=2.0)
    array([0, 1, 1, 2])
    >>> repeated_rows(np.array([1, 9, 1]), 11, worth=2.0) is None
    True
    """
    # Points without mass are asked about, and must not count.
    if masses is None or total > worth * len(masses) or masses.min() < 1:
        return None
    return np.repeat(np.arange(len(masses)), masses)


def first_copies(masses: np.ndarray) -> np.ndarray:
    """Where in `repeated_rows` each of the rows comes first."""
    return np.cumsum(masses) - masses
