"""RUOT: optimal transport between the nearest two distributions in chi-square balls."""

from __future__ import annotations

from typing import Any

from isodepth.baselines.chi_square_solver import relaxed_transport
from isodepth.baselines.pair import check_power, read_pair
from isodepth.baselines.transport import cost_matrix, wasserstein_of
from isodepth.data.validation import check_number


def ruot(
    X: Any,
    Y: Any,
    *,
    rho: float,
    p: float = 2,
    weights: Any = None,
    random_state: Any = None,
) -> float:
    """Robust unbalanced optimal transport (Balaji, Chellappa and Feizi 2020), to the power 1/p.

    The least optimal transport cost, with |x - y|^p (Euclidean), over all probability masses a' on
    the points of X and b' on those of Y that are near the given ones in the chi-square divergence::

        1/2 sum_i (a'_i - a_i)^2 / a_i <= rho    and    1/2 sum_j (b'_j - b_j)^2 / b_j <= rho

    The factor 1/2 is that of the paper and its code, f(t) = (t - 1)^2 / 2: dropping a share e of
    the mass takes rho = e / (2 (1 - e)). With rho = 0 it is W_p.

    A convex programme, solved by an interior-point method until the duality gap is below 1e-8 of
    the value, in O((n + m) n m) time and O(n m) memory a step: a few seconds for n = m = 500.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
    rho : float in [0, inf)
    p : float in [1, inf)
    weights : pair (wx, wy) or None
    random_state : ignored

    Returns
    -------
    distance : float

    Examples
    --------
    Dropping one point of ten takes rho = 0.1 / (2 * 0.9), which is 1/18.

    >>> import numpy as np
    >>> from isodepth.baselines import ruot, wasserstein
    >>> X = np.zeros((10, 2))
    >>> Y = np.ones((10, 2))
    >>> Y[0] = 100.0
    >>> round(wasserstein(X, Y, p=1), 3)
    15.415
    >>> round(ruot(X, Y, rho=1 / 18, p=1), 3)
    1.414
    """
    radius = check_number(rho, "rho", 0, high_open=True)
    power = check_power(p)
    pair = read_pair(X, Y, weights, random_state)
    if radius == 0:
        return wasserstein_of(pair, power)
    cost = cost_matrix(pair.x, pair.y, power)
    return relaxed_transport(pair.a, pair.b, cost, radius) ** (1 / power)
