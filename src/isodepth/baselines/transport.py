"""Optimal transport by linear programming, and the Wasserstein distance."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from isodepth.baselines.line import line_cost
from isodepth.baselines.pair import Pair, check_power, read_pair
from isodepth.data.extras import load_extra

# The network simplex takes a few pivots a point; POT's own limit is too low from about 5,000 on.
_MOST_PIVOTS = 10_000_000


def wasserstein(
    X: Any, Y: Any, *, p: float = 2, weights: Any = None, random_state: Any = None
) -> float:
    """The Wasserstein distance W_p, exact.

    W_p^p is the least mean of |x - y|^p (Euclidean) over all couplings of the two samples. In one
    dimension it is read off the quantiles; otherwise POT's network simplex solves the linear
    programme, in about O((n + m)^3) time and O(n m) memory.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
    p : float in [1, inf)
    weights : pair (wx, wy) or None
    random_state : ignored

    Returns
    -------
    distance : float

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.baselines import wasserstein
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> round(wasserstein(X, X + [3, 4]), 6)
    5.0
    """
    power = check_power(p)
    return wasserstein_of(read_pair(X, Y, weights, random_state), power)


def wasserstein_of(pair: Pair, p: float) -> float:
    """W_p of a checked pair."""
    if pair.x.shape[1] == 1:
        return line_cost(pair, p) ** (1 / p)
    return transport_cost(pair.a, pair.b, cost_matrix(pair.x, pair.y, p)) ** (1 / p)


def cost_matrix(x: np.ndarray, y: np.ndarray, p: float) -> np.ndarray:
    """|x_i - y_j|^p, of shape (n, m)."""
    from scipy.spatial.distance import cdist

    if p == 2:
        return cdist(x, y, "sqeuclidean")
    cost = cdist(x, y)
    return cost if p == 1 else np.power(cost, p, out=cost)


def transport_cost(a: np.ndarray, b: np.ndarray, cost: np.ndarray) -> float:
    """The least mean of `cost` (n, m) over couplings of the masses `a` (n,) and `b` (m,)."""
    return float(np.vdot(transport_plan(a, b, cost), cost))


def transport_plan(a: np.ndarray, b: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """A coupling (n, m) of least cost; at most n + m - 1 of its entries are positive."""
    ot = load_pot()
    return ot.emd(a, b, np.ascontiguousarray(cost), numItermax=_MOST_PIVOTS)


def load_pot() -> ModuleType:
    """POT, imported when first needed."""
    return load_extra("ot", "baselines", "optimal transport")
