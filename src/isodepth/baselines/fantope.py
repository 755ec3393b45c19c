"""Maximize a least linear function over the symmetric matrices with 0 <= Omega <= I, trace k."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_RELATIVE_GAP = 1e-5
_MOST_STEPS = 600
# How far inside the model's optimum the next query lies, as a share of the gap left.
_INSIDE = 0.7
_MOST_NEWTON_STEPS = 100
# A matrix of the model with less than this share of what it has on average is forgotten.
_FORGOTTEN = 0.05


def maximize_over_fantope(oracle: Callable[[np.ndarray], np.ndarray], d: int, k: int) -> float:
    """The largest value over Omega of the least <Omega, V> over V in a convex set.

    Parameters
    ----------
    oracle : takes L of shape (d, d) and returns the V that is least for Omega = L L^T
    d, k : dimension and trace of Omega

    Notes
    -----
    The V found so far give a model that lies above the function, the least of their <Omega, V>. Its
    maximum would jump about; the next query is instead a point on the model's central path, with
    the barrier log det Omega + log det (I - Omega), and the closer to the maximum the smaller the
    gap that is left. The dual variables are a mixture of the V, itself a point of the convex set:
    the sum of its k largest eigenvalues is a bound above.
    """
    first = oracle(np.sqrt(k / d) * np.eye(d))
    unit = float(np.trace(first))
    if unit == 0:
        return 0.0
    found = first[None] / unit
    mixture = np.ones(1)
    lower, upper = k / d, _top_sum(found[0], k)
    for _ in range(_MOST_STEPS):
        if upper - lower <= _RELATIVE_GAP * upper:
            return unit * lower
        barrier = _INSIDE * (upper - lower) / (len(found) + 2 * d)
        mixture, omega = _central_mixture(found, mixture, k, barrier)
        upper = min(upper, _top_sum(np.tensordot(mixture, found, 1), k))
        new = oracle(omega.vectors * np.sqrt(omega.values)) / unit
        lower = max(lower, float(omega.products(new[None])[0]))
        kept = mixture > _FORGOTTEN / (len(found) + 2 * d)
        found = np.concatenate([found[kept], new[None]])
        share = 0.2 / len(found)
        mixture = np.append(mixture[kept] * ((1 - share) / mixture[kept].sum()), share)
    warnings.warn(
        f"subspace_robust_wasserstein stopped after {_MOST_STEPS} steps with its square between "
        f"{unit * lower:.9g} and {unit * upper:.9g}",
        RuntimeWarning,
        stacklevel=4,
    )
    return unit * lower


class _Omega(NamedTuple):
    """A matrix with 0 < Omega < I by its eigenvalues (d,), their gaps to 1, and eigenvectors."""

    values: np.ndarray
    rest: np.ndarray
    vectors: np.ndarray

    def products(self, matrices: np.ndarray) -> np.ndarray:
        """<Omega, V> for each V of (B, d, d)."""
        return np.tensordot(matrices, (self.vectors * self.values) @ self.vectors.T, 2)


def _central_mixture(
    matrices: np.ndarray, mixture: np.ndarray, k: int, barrier: float
) -> tuple[np.ndarray, _Omega]:
    """Weights (B,) on the central path of the model, by Newton's method, and their Omega.

    They minimize the largest, over Omega, of <Omega, V> + barrier log det (Omega (I - Omega)),
    where V is the mixture, less barrier times the sum of the logarithms of the weights.
    """
    for _ in range(_MOST_NEWTON_STEPS):
        omega = _central_omega(np.tensordot(mixture, matrices, 1), k, barrier)
        slope = omega.products(matrices) - barrier / mixture
        bend = _bend(omega, matrices, barrier)
        bend[np.diag_indices_from(bend)] += barrier / mixture**2
        towards, level = np.linalg.solve(bend, np.stack([-slope, np.ones_like(slope)], 1)).T
        step = towards - level * (towards.sum() / level.sum())
        # In this measure of its own length a step below one stays inside and pays off.
        length = float(np.sqrt(max(0.0, step @ bend @ step) / barrier))
        mixture = mixture + step / (1 + length if length > 0.3 else 1)
        mixture /= mixture.sum()
        if length < 0.1:
            break
    return mixture, _central_omega(np.tensordot(mixture, matrices, 1), k, barrier)


def _central_omega(matrix: np.ndarray, k: int, barrier: float) -> _Omega:
    """The Omega of trace k that maximizes <Omega, matrix> + barrier log det (Omega (I - Omega))."""
    values, vectors = np.linalg.eigh(matrix)
    # Counted from where the shares turn from 0 to 1, so that large numbers do not blur it.
    z = (values - values[-k]) / barrier
    z -= _shift(z, k)
    return _Omega(_share(z), _share(-z), vectors)


def _share(z: np.ndarray) -> np.ndarray:
    """The number x in (0, 1) with 1/(1 - x) - 1/x = z, small or not, to full precision."""
    root = np.sqrt(z * z + 4)
    return np.where(z > 0, 1 / (1 + 2 / (root + np.abs(z))), 2 / (root + np.abs(z) + 2))


def _shift(z: np.ndarray, k: int) -> float:
    """The shift that makes the shares of z - shift sum to k; z in ascending order."""
    # Where all shares are k/d, the least and the greatest of z give both ends.
    middle = k / len(z)
    spread = 1 / (1 - middle) - 1 / middle
    low, high = z[0] - spread, z[-1] - spread
    shift = (low + high) / 2
    for _ in range(_MOST_NEWTON_STEPS):
        shares = _share(z - shift)
        excess = shares.sum() - k
        if abs(excess) <= 1e-14 * len(z):
            break
        if excess > 0:
            low = shift
        else:
            high = shift
        shift = shift + excess / (1 / (1 / shares**2 + 1 / _share(shift - z) ** 2)).sum()
        if not low < shift < high:
            shift = (low + high) / 2
    return float(shift)


def _bend(omega: _Omega, matrices: np.ndarray, barrier: float) -> np.ndarray:
    """How fast <Omega, V_i> grows with the weight of V_j, of shape (B, B)."""
    values, rest, vectors = omega
    inside = vectors.T @ matrices @ vectors
    # Divided differences of the eigenvalues of Omega by those of the mixture.
    rates = 1 / (1 / np.outer(values, values) + 1 / np.outer(rest, rest))
    own = np.diagonal(rates)
    diagonals = np.diagonal(inside, axis1=1, axis2=2)
    # The trace stays k, so that only differences from the mean count on the diagonal.
    centerd = diagonals - (diagonals @ own / own.sum())[:, None]
    np.einsum("ijj->ij", inside)[...] = centerd
    flat = (inside * np.sqrt(rates)).reshape(len(matrices), -1)
    return flat @ flat.T / barrier


def _top_sum(matrix: np.ndarray, k: int) -> float:
    return float(np.linalg.eigvalsh(matrix)[-k:].sum())
