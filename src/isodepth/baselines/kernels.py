"""MMD and energy distance: how much a signed sample attracts itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.baselines.pair import Pair, check_positive, read_pair
from isodepth.data.validation import check_choice

KERNELS = ("gaussian", "laplace")

# Distances are taken a block of rows at a time: this many numbers at once.
_BLOCK_ELEMENTS = 1 << 20
# Rows of which all pairs enter the median; beyond it a random choice of rows is as good.
_MEDIAN_ROWS = 4000


def mmd(
    X: Any,
    Y: Any,
    *,
    kernel: str = "gaussian",
    bandwidth: float | str = "median",
    weights: Any = None,
    random_state: Any = None,
) -> float:
    """The maximum mean discrepancy, not squared.

    MMD^2 = E k(x, x') + E k(y, y') - 2 E k(x, y), with independent x, x' from one sample and y, y'
    from the other, a point being paired with itself as well: the biased V-statistic, which is the
    distance between the two samples in the kernel's Hilbert space, never negative. The square root
    is returned.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
    kernel : {"gaussian", "laplace"}
        ``exp(-|x - y|^2 / (2 s^2))`` or ``exp(-|x - y| / s)``, s the bandwidth and |.| Euclidean.
    bandwidth : "median" or float
        `median` is the median of the positive distances between two points drawn from the pooled
        sample, which gives each of the two samples half of the mass. It sees every outlier's share
        but not how far out it lies.
    weights : pair (wx, wy) or None
    random_state : None, int or numpy.random.Generator
        Only used by `median` with more than 4000 points in all, for the 4000 it looks at.

    Returns
    -------
    distance : float

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.baselines import mmd
    >>> round(mmd([[0.0]], [[1.0]], bandwidth=1.0), 6)  # sqrt(2 - 2 exp(-1/2))
    0.887096
    """
    check_choice(kernel, "kernel", KERNELS)
    if isinstance(bandwidth, str):
        check_choice(bandwidth, "bandwidth", ("median",))
    else:
        bandwidth = check_positive(bandwidth, "bandwidth")
    pair = read_pair(X, Y, weights, random_state)
    points, charges = _signed_sample(pair)
    scale = median_distance(pair) if isinstance(bandwidth, str) else bandwidth

    def gaussian(distances: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * np.square(distances / scale))

    def laplace(distances: np.ndarray) -> np.ndarray:
        return np.exp(-distances / scale)

    attraction = _self_attraction(points, charges, gaussian if kernel == "gaussian" else laplace)
    return max(0.0, attraction) ** 0.5


def energy(X: Any, Y: Any, *, weights: Any = None, random_state: Any = None) -> float:
    """The energy distance, sqrt(2 E|x - y| - E|x - x'| - E|y - y'|).

    As in :func:`scipy.stats.energy_distance`, of which this is the extension to any dimension, the
    square root is taken and each point is paired with itself as well (a V-statistic).

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
    weights : pair (wx, wy) or None
    random_state : ignored

    Returns
    -------
    distance : float

    Examples
    --------
    >>> from isodepth.baselines import energy
    >>> round(energy([[0.0, 0.0]], [[3.0, 4.0]]), 6)  # sqrt(2 * 5)
    3.162278
    """
    points, charges = _signed_sample(read_pair(X, Y, weights, random_state))
    return max(0.0, -_self_attraction(points, charges, lambda distances: distances)) ** 0.5


def median_distance(pair: Pair) -> float:
    """The median positive distance in the pooled sample; 1 where all points are one."""
    points = np.concatenate([pair.x, pair.y])
    masses = np.concatenate([pair.a, pair.b])
    if len(points) > _MEDIAN_ROWS:
        chosen = pair.rng.choice(len(points), _MEDIAN_ROWS, replace=False)
        points, masses = points[chosen], masses[chosen]
    from scipy.spatial.distance import pdist

    distances = pdist(points)
    positive = distances > 0
    if not positive.any():
        return 1.0
    if (masses == masses[0]).all():
        return float(np.median(distances[positive]))
    first, second = np.triu_indices(len(points), 1)
    return _weighted_median(distances[positive], (masses[first] * masses[second])[positive])


def _weighted_median(values: np.ndarray, masses: np.ndarray) -> float:
    order = np.argsort(values)
    values, cumulative = values[order], np.cumsum(masses[order])
    # Half the mass is met up to rounding, so that equal weights give the usual median.
    half, slack = cumulative[-1] / 2, 1e-12 * cumulative[-1]
    low = values[np.searchsorted(cumulative, half - slack)]
    high = values[np.searchsorted(cumulative, half + slack)]
    return float((low + high) / 2)


def _signed_sample(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """All distinct points (u, d) with their mass in X less their mass in Y (u,).

    Merging equal points first makes what both samples share cancel exactly.
    """
    points = np.concatenate([pair.x, pair.y])
    distinct, place = np.unique(points + 0.0, axis=0, return_inverse=True)
    charges = np.bincount(place.ravel(), weights=np.concatenate([pair.a, -pair.b]))
    charged = charges != 0
    return distinct[charged], charges[charged]


def _self_attraction(points: np.ndarray, charges: np.ndarray, kernel: Any) -> float:
    """Sum over all i, j of charge_i charge_j kernel(|point_i - point_j|)."""
    from scipy.spatial.distance import cdist

    u = len(points)
    total = 0.0
    rows = max(1, _BLOCK_ELEMENTS // max(1, u))
    for start in range(0, u, rows):
        block = slice(start, min(start + rows, u))
        # The kernel is symmetric: what lies below the diagonal blocks is counted twice instead.
        values = kernel(cdist(points[block], points[start:]))
        pull = values @ charges[start:]
        square = values[:, : block.stop - start] @ charges[block]
        total += float(charges[block] @ (2 * pull - square))
    return total
