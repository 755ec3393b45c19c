"""ROBOT: optimal transport with a truncated cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.baselines.pair import check_power, read_pair
from isodepth.baselines.transport import cost_matrix, transport_cost
from isodepth.data.validation import check_number


def robot(
    X: Any,
    Y: Any,
    *,
    lam: float,
    p: float = 2,
    weights: Any = None,
    random_state: Any = None,
) -> float:
    """Outlier-robust optimal transport, ROBOT (Mukherjee et al. 2021), to the power 1/p.

    The optimal transport cost with min(|x - y|^p, 2 lam) in place of |x - y|^p (Euclidean). It
    equals the least, over all signed measures s of total mass zero, of the transport cost from
    X + s to Y plus lam times the total mass of |s|: outliers are moved for a price of 2 lam each
    instead of transported. With lam = inf it is W_p.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
    lam : float in (0, inf]
        Half the largest cost, in the units of |x - y|^p: squared distances for p = 2.
    p : float in [1, inf)
    weights : pair (wx, wy) or None
    random_state : ignored

    Returns
    -------
    distance : float

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.baselines import robot
    >>> X = np.zeros((4, 2))
    >>> Y = np.array([[1.0, 0], [1, 0], [1, 0], [100, 0]])
    >>> round(robot(X, Y, lam=2.0), 6)  # sqrt((1 + 1 + 1 + 4) / 4)
    1.322876
    """
    limit = 2 * check_number(lam, "lam", 0, low_open=True)
    power = check_power(p)
    pair = read_pair(X, Y, weights, random_state)
    cost = np.minimum(cost_matrix(pair.x, pair.y, power), limit)
    return transport_cost(pair.a, pair.b, cost) ** (1 / power)
