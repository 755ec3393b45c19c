"""Sliced and max-sliced Wasserstein distances: transport on the line, along many directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.baselines.line import projected_costs
from isodepth.baselines.pair import Pair, check_power, read_pair
from isodepth.baselines.slice_ascent import climb_slices
from isodepth.core.directions import unit_vectors
from isodepth.data.validation import check_integer, check_n_jobs
from isodepth.engine.threads import Resources


def sliced_wasserstein(
    X: Any,
    Y: Any,
    *,
    p: float = 2,
    n_directions: int = 1000,
    directions: Any = "uniform",
    weights: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float:
    """The sliced Wasserstein distance: the mean over directions u of W_p^p(<u, X>, <u, Y>), to the
    power 1/p.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
    p : float in [1, inf)
    n_directions : int
    directions : {"uniform", "sobol", "orthogonal", "equispaced"} or array of shape (K, d)
        See :func:`isodepth.unit_vectors`.
    weights : pair (wx, wy) or None
    random_state : None, int or numpy.random.Generator
        Where the directions come from.
    n_jobs : int or None
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    distance : float

    Examples
    --------
    For a shift t, the mean of <u, t>^2 over the sphere is |t|^2 / d.

    >>> import numpy as np
    >>> from isodepth.baselines import sliced_wasserstein
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> round(sliced_wasserstein(X, X + [3, 4], directions="equispaced"), 6)  # 5 / sqrt(2)
    3.535534
    """
    power = check_power(p)
    pair = read_pair(X, Y, weights, random_state)
    _, costs = _slices(pair, power, n_directions, directions, n_jobs)
    return float(costs.mean() ** (1 / power))


def max_sliced_wasserstein(
    X: Any,
    Y: Any,
    *,
    p: float = 2,
    n_directions: int = 1000,
    directions: Any = "uniform",
    refine: int = 0,
    weights: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float:
    """The max-sliced Wasserstein distance: the largest W_p(<u, X>, <u, Y>) over directions u.

    The maximum over random directions falls short of the supremum over the sphere, far short in
    high dimension; `refine` climbs on from the best of them.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
    p : float in [1, inf)
    n_directions : int
    directions : {"uniform", "sobol", "orthogonal", "equispaced"} or array of shape (K, d)
        See :func:`isodepth.unit_vectors`.
    refine : int
        Steps of ascent from the best directions; 0 takes the maximum over the directions alone. It
        never lowers the result, and what it finds is a local maximum.
    weights : pair (wx, wy) or None
    random_state : None, int or numpy.random.Generator
        Where the directions come from.
    n_jobs : int or None
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    distance : float

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.baselines import max_sliced_wasserstein
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> Y = X + 1  # at distance sqrt(20) = 4.472
    >>> round(max_sliced_wasserstein(X, Y, random_state=0), 3)
    3.188
    >>> round(max_sliced_wasserstein(X, Y, refine=50, random_state=0), 3)
    4.472
    """
    power = check_power(p)
    steps = check_integer(refine, "refine", 0)
    pair = read_pair(X, Y, weights, random_state)
    rows, costs = _slices(pair, power, n_directions, directions, n_jobs)
    best = float(costs.max())
    if steps:
        best = max(best, climb_slices(pair, rows, costs, power, steps))
    return best ** (1 / power)


def _slices(
    pair: Pair, p: float, n_directions: int, directions: Any, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The directions (K, d), and W_p^p along each of them (K,)."""
    check_n_jobs(n_jobs)
    rows = unit_vectors(pair.x.shape[1], n_directions, directions, pair.rng)
    return rows, projected_costs(pair, rows, p, Resources(n_jobs))
