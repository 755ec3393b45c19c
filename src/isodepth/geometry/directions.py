"""Directions on which samples are projected, and random number generators for all purposes.

Directions are unit vectors, each of which is used with both signs.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from isodepth.base.annotations import DirectionsLike, RandomStateLike
from isodepth.base.options import Choice, Integer
from isodepth.base.seeds import check_random_state, rng_for
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.table.validation import check_points

FAMILIES = ("uniform", "sobol", "orthogonal", "equispaced")

# Maximum number of entries of a cached array of directions. Caching pays off for small samples, for
# which generating the directions takes a tenth of the time of computing a distance.
_CACHED_NUMBERS = 100_000
# Number of columns above which only the needed vectors of an orthonormal basis are computed.
_WIDE = 1000


def unit_vectors(
    n_features: int,
    n_directions: int,
    *,
    directions: DirectionsLike = "uniform",
    random_state: RandomStateLike = None,
) -> np.ndarray:
    """Return the directions on which samples are projected.

    Parameters
    ----------
    n_features : int
        Dimension d of the space, 1 or larger.
    n_directions : int
        Number K of vectors; not used if `directions` is an array. If d = 1 and `directions` is a
        string, a single vector is returned: with both signs it represents all directions.
    directions : {"uniform", "sobol", "orthogonal", "equispaced"} or array of shape (K, d)
        `uniform`: independent and uniform on the sphere, as in the paper. `sobol`: scrambled Sobol
        points, transformed by the normal quantile function and normalized. `orthogonal`: blocks of
        d orthonormal vectors, each block uniformly rotated. For d = 2 both `sobol` and `orthogonal`
        return vectors at equispaced angles in [0, pi), the first of which is random. `equispaced`
        (d <= 2 only) does so too, but begins with the first axis. The rows of an array are scaled
        to length one.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the random directions; not used for `equispaced` and for an array.

    Returns
    -------
    vectors : float64 ndarray of shape (K, d), rows of length one

    Examples
    --------
    >>> import isodepth
    >>> isodepth.unit_vectors(2, 2, directions="equispaced").round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    d = Integer(1).check("n_features", n_features)
    if not isinstance(directions, str):
        return check_direction_rows(directions, d)
    Choice(FAMILIES).check("directions", directions)
    Integer(1).check("n_directions", n_directions)
    return sampled_vectors(d, n_directions, directions, random_state)


def sampled_vectors(
    d: int, n_directions: int, family: str, random_state: RandomStateLike
) -> np.ndarray:
    """Return the directions of `unit_vectors` for arguments that were checked before."""
    if d == 1:
        return np.ones((1, 1))
    if family == "equispaced" and d > 2:
        raise InvalidOptionError(
            f"directions='equispaced' is for one or two columns, got {d}; use 'orthogonal'",
            option="directions",
        )
    if random_state is None:
        rng = np.random.default_rng()
    else:
        rng = rng_for(random_state, "directions")
    if family == "uniform":
        return _normalize(rng.standard_normal((n_directions, d)))
    if d == 2:
        return _equispaced(n_directions, 0.0 if family == "equispaced" else rng.random())
    if family == "sobol":
        return _sobol(d, n_directions, rng)
    return _orthogonal(d, n_directions, rng)


def draws_at_random(directions: Any) -> bool:
    """Return whether the option `directions` selects a family of random directions."""
    return isinstance(directions, str) and directions != "equispaced"


def vectors_of(d: int, n_directions: int, directions: Any, random_state: Any) -> np.ndarray:
    """Return the directions of a metric, whose options were checked, for data with d columns.

    `directions` is the name of a family, or an array. Small results for an integer seed are cached,
    and therefore read-only.
    """
    if not isinstance(directions, str):
        return check_direction_rows(directions, d)
    if isinstance(random_state, int) and d * n_directions <= _CACHED_NUMBERS:
        return _cached_vectors(d, n_directions, directions, random_state)
    return sampled_vectors(d, n_directions, directions, random_state)


@lru_cache(maxsize=16)
def _cached_vectors(d: int, n_directions: int, family: str, seed: int) -> np.ndarray:
    rows = sampled_vectors(d, n_directions, family, seed)
    rows.flags.writeable = False
    return rows


@lru_cache
def mean_of_direction(d: int, q: float) -> float:
    """Compute (E |u_1|^q)^(1/q) for u uniform on the unit sphere of R^d; 1 for q = inf.

    u_1 is the first coordinate of u. The gap between two regions is a power mean over directions
    with exponent q, divided by this value. In the limit of many directions, the gap between a
    region and its translation by a vector m is then |m| for every q.

    Examples
    --------
    >>> from isodepth.geometry.directions import mean_of_direction
    >>> mean_of_direction(4, 2), mean_of_direction(1, 7), round(mean_of_direction(3, 1), 12)
    (0.5, 1.0, 0.5)
    """
    if d == 1 or math.isinf(q):
        return 1.0
    if q == 2:
        return 1.0 / math.sqrt(d)
    # E |u_1|^q is Gamma(d/2) Gamma((q+1)/2) / (sqrt(pi) Gamma((q+d)/2)). For large q the ratio
    # Gamma((q+1)/2) / Gamma((q+d)/2) is (q/2)^((1-d)/2) up to rounding.
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
    # Angles in [0, pi) suffice, because the opposite of each direction is used too.
    angles = (np.arange(n_directions) + start) * (math.pi / n_directions)
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    # Entries such as cos(pi/2), which is 6e-17 in floating point, are set to 0. Directions along
    # the coordinate axes are then exact.
    rows[np.abs(rows) < 1e-15] = 0.0
    return rows


def _sobol(d: int, n_directions: int, rng: np.random.Generator) -> np.ndarray:
    from scipy.special import ndtri
    from scipy.stats import qmc

    if d > qmc.Sobol.MAXDIM:
        most = qmc.Sobol.MAXDIM
        raise InvalidOptionError(
            f"directions='sobol' allows at most {most} columns, got {d}; use 'orthogonal'",
            option="directions",
        )
    sampler = qmc.Sobol(d, scramble=True, rng=rng)
    # A Sobol sequence is balanced if its length is a power of two. The number of generated points
    # is therefore rounded up to a power of two, and the first `n_directions` points are used.
    uniform = sampler.random_base2(max(0, math.ceil(math.log2(n_directions))))[:n_directions]
    tiny = 2.0**-40
    return _normalize(ndtri(np.clip(uniform, tiny, 1 - tiny)))


def _orthogonal(d: int, n_directions: int, rng: np.random.Generator) -> np.ndarray:
    blocks = []
    for _ in range(math.ceil(n_directions / d)):
        gaussian = rng.standard_normal((d, d))
        # The first vectors of a basis do not depend on the others, which take a time of order d**3.
        basis, triangle = np.linalg.qr(gaussian[:, :n_directions] if d > _WIDE else gaussian)
        # The orthogonal factor of a Gaussian matrix has the uniform distribution (Haar) only if the
        # diagonal of the triangular factor is positive. The signs of the basis are set accordingly.
        blocks.append((basis * np.sign(np.diag(triangle))).T)
    return np.concatenate(blocks)[:n_directions]


# -- random number generators that are independent of those of the user -------------------------


def integer_seed(random_state: Any) -> int:
    """Return `random_state` if it is an integer, otherwise a random integer below 2**31."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    checked = check_random_state(random_state)
    return checked if isinstance(checked, int) else int(rng_for(checked, "seeds").integers(2**31))


def check_direction_rows(directions: Any, d: int | None = None) -> np.ndarray:
    """Check an array of directions (K, d), and return it as float64 with rows of length one.

    All entries must be finite, and no row may be zero. If `d` is None, the number of columns is not
    checked.
    """
    rows, _ = check_points(directions, "directions", "float64", any_size=True)
    # The rounding of sums along a row depends on the memory layout, so the array is always
    # converted to row-major order.
    rows = np.ascontiguousarray(rows)
    if d is not None and rows.shape[1] != d:
        raise InvalidInputError(
            f"directions must have as many columns as the data ({d}), got {rows.shape[1]}"
        )
    # Each row is divided by its largest entry, so that the squares in its norm do not overflow or
    # underflow.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise InvalidInputError(
            f"directions must not contain zero rows, got {int((largest == 0).sum())}, the first "
            f"at row {int((largest == 0).argmax())}; a zero vector has no direction"
        )
    scaled = rows / largest
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    # Rows of unit length are returned unchanged, so that a second check of the result does not
    # change any bits.
    unit = np.abs(lengths * largest - 1) <= 16 * np.finfo(np.float64).eps
    return np.where(unit, rows, scaled / lengths)
