"""Means over the unit sphere."""

from __future__ import annotations

import math
from functools import lru_cache


@lru_cache(maxsize=64)
def mean_of_direction(d: int, q: float) -> float:
    """(E |u_1|^q)^(1/q) for u uniform on the unit sphere of R^d; 1 for q = inf.

    How much of a translation by a vector of length one a direction sees on average: what means
    over directions are divided by, so that a translation by m has distance |m| for every q.

    Examples
    --------
    >>> from isodepth.core.sphere import mean_of_direction
    >>> mean_of_direction(4, 2), mean_of_direction(1, 7), round(mean_of_direction(3, 1), 12)
    (0.5, 1.0, 0.5)
    """
    if d == 1 or math.isinf(q):
        return 1.0
    if q == 2:
        return 1.0 / math.sqrt(d)
    # Gamma(d/2) Gamma((q+1)/2) / (sqrt(pi) Gamma((q+d)/2)), through logarithms. For large q the
    # last two are huge and nearly equal: their ratio is (q/2)^((1-d)/2) to rounding.
    if q > 1e8 * d:
        ratio = 0.5 * (1 - d) * math.log(q / 2)
    else:
        ratio = math.lgamma((q + 1) / 2) - math.lgamma((q + d) / 2)
    log = math.lgamma(d / 2) + ratio - 0.5 * math.log(math.pi)
    return math.exp(log / q)
