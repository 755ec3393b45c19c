"""Unit vectors. Everything downstream uses each of them with both signs."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from isodepth.data.seeds import rng_for
from isodepth.data.validation import check_choice, check_direction_rows, check_integer
from isodepth.errors import InvalidOptionError

FAMILIES = ("uniform", "sobol", "orthogonal", "equispaced")

# Sampling these again for every pair of small samples takes a tenth of the time of a distance.
_CACHED_NUMBERS = 100_000


def unit_vectors(
    d: int, n_directions: int, family: Any = "uniform", random_state: Any = None
) -> np.ndarray:
    """Directions along which samples are projected.

    Parameters
    ----------
    d : int
        Dimension of the space.
    n_directions : int
        How many vectors; in d = 1 a single one is exact and returned instead.
    family : {"uniform", "sobol", "orthogonal", "equispaced"} or array of shape (K, d)
        `uniform`: independent and uniform on the sphere (the paper). `sobol`: scrambled Sobol
        points through the normal quantile. `orthogonal`: blocks of d orthonormal vectors, each
        block uniformly rotated. In d = 2 `sobol` and `orthogonal` are equispaced angles with a
        random start; `equispaced` (d <= 2 only) starts at the first axis. An array is used as it
        is, its rows scaled to length one.
    random_state : None, int or numpy.random.Generator
        Seed of the random directions.

    Returns
    -------
    directions : float64 ndarray of shape (K, d), rows of length one

    Examples
    --------
    >>> from isodepth.core.directions import unit_vectors
    >>> unit_vectors(2, 2, "equispaced").round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    if not isinstance(family, str):
        return check_direction_rows(family, d)
    check_choice(family, "directions", FAMILIES)
    check_integer(n_directions, "n_directions", 1)
    if d == 1:
        return np.ones((1, 1))
    if family == "equispaced" and d > 2:
        raise InvalidOptionError(
            f"directions='equispaced' is only defined in one or two dimensions, got data of width "
            f"{d}; use 'sobol' or 'orthogonal'"
        )
    rng = rng_for(random_state, "directions")
    if family == "uniform":
        return _normalize(rng.standard_normal((n_directions, d)))
    if d == 2:
        return _equispaced(n_directions, 0.0 if family == "equispaced" else rng.random())
    if family == "sobol":
        return _sobol(d, n_directions, rng)
    return _orthogonal(d, n_directions, rng)


def draws_at_random(directions: Any) -> bool:
    """Whether what `directions=` says leaves something to chance."""
    return isinstance(directions, str) and directions != "equispaced"


def seeded_vectors(d: int, n_directions: int, family: Any, seed: int) -> np.ndarray:
    """Like `unit_vectors` for an integer seed; small arrays are cached, and read-only."""
    if isinstance(family, str) and d * n_directions <= _CACHED_NUMBERS:
        return _cached_vectors(d, n_directions, family, seed)
    return unit_vectors(d, n_directions, family, seed)


@lru_cache(maxsize=16)
def _cached_vectors(d: int, n_directions: int, family: str, seed: int) -> np.ndarray:
    rows = unit_vectors(d, n_directions, family, seed)
    rows.flags.writeable = False
    return rows


@lru_cache(maxsize=64)
def mean_of_direction(d: int, q: float) -> float:
    """(E |u_1|^q)^(1/q) for u uniform on the unit sphere of R^d; 1 for q = inf.

    The mean projection of a unit vector. Means over directions are divided by it, so that a
    translation by m has distance |m| for every q.

    Examples
    --------
    >>> from isodepth.core.directions import mean_of_direction
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


def _normalize(rows: np.ndarray) -> np.ndarray:
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows


def _equispaced(n_directions: int, start: float) -> np.ndarray:
    # Half a circle is enough: the other half are the opposite vectors.
    angles = (np.arange(n_directions) + start) * (math.pi / n_directions)
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    # cos(pi/2) is 6e-17 in floating point; the second axis should be the second axis.
    rows[np.abs(rows) < 1e-15] = 0.0
    return rows


def _sobol(d: int, n_directions: int, rng: np.random.Generator) -> np.ndarray:
    from scipy.special import ndtri
    from scipy.stats import qmc

    if d > qmc.Sobol.MAXDIM:
        raise InvalidOptionError(
            f"directions='sobol' reaches dimension {qmc.Sobol.MAXDIM}, got {d}; use 'orthogonal'"
        )
    sampler = qmc.Sobol(d, scramble=True, rng=rng)
    # A power of two of points is what makes the net balanced; the rest is cut off.
    uniform = sampler.random_base2(max(0, math.ceil(math.log2(n_directions))))[:n_directions]
    tiny = 2.0**-40
    return _normalize(ndtri(np.clip(uniform, tiny, 1 - tiny)))


def _orthogonal(d: int, n_directions: int, rng: np.random.Generator) -> np.ndarray:
    blocks = []
    for _ in range(math.ceil(n_directions / d)):
        basis, triangle = np.linalg.qr(rng.standard_normal((d, d)))
        # Fixing the signs of the diagonal makes the basis exactly Haar distributed.
        blocks.append((basis * np.sign(np.diag(triangle))).T)
    return np.concatenate(blocks)[:n_directions]
