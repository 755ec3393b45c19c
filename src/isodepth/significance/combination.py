"""Several statistics on the same permutations, one exact p-value.

Statistics of all labelings, the given one among them, lie along the last axis, the given one first.
Whatever treats all labelings alike keeps the p-value exact: the rank of the given labeling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

# Of equal statistics one may round up and the other down: so close they count as equal.
ROUNDING = 1e-6


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance along the last axis (kept), the variance as a share of the squared mean.

    The largest value is left out, so that one that stands out does not hide itself.
    """
    others = np.array(values, np.float64)
    largest = others.argmax(axis=-1)[..., None]
    n = max(1, others.shape[-1] - 1)
    np.put_along_axis(others, largest, 0.0, axis=-1)
    mean = others.sum(axis=-1, keepdims=True) / n
    np.put_along_axis(others, largest, mean, axis=-1)
    mean = np.maximum(mean, np.finfo(np.float64).tiny)
    variance = np.square(others / mean - 1.0).sum(axis=-1, keepdims=True) / n
    # Where all are equal, whatever is larger by more than rounding stands out.
    return mean, np.maximum(variance, 1e-12)


class GammaTail:
    """Upper tail of the gamma distribution with the mean and variance of given values.

    By the approximation of Wilson and Hilferty: the cube root of a gamma variable is nearly normal.

    Parameters
    ----------
    values : ndarray of shape (..., B + 1), not negative
    """

    def __init__(self, values: np.ndarray) -> None:
        self.mean, variance = moments(values)
        self.shape = 1.0 / variance

    def evidence(self, values: np.ndarray) -> np.ndarray:
        """-log of the tail beyond each value, of shape (..., any)."""
        from scipy.special import log_ndtr

        root = np.cbrt(values / self.mean)
        return -log_ndtr(
            3.0 * np.sqrt(self.shape) * (1.0 - root) - 1.0 / (3.0 * np.sqrt(self.shape))
        )


def evidence(values: np.ndarray) -> np.ndarray:
    """-log p of each labeling, from the gamma distribution with the moments of all of them.

    Examples
    --------
    >>> import numpy as np
    >>> int(evidence(np.array([9.0, 1.0, 2.0, 3.0])).argmax())
    0
    """
    return GammaTail(values).evidence(values)


def evidence_of_largest(values: np.ndarray) -> np.ndarray:
    """-log p of each labeling for the largest of many -log p, from the Gumbel distribution.

    The largest of K exponential variables is log K plus a Gumbel variable, nearly: a gamma
    distribution with the same moments has a shorter tail, by which such statistics would take a
    larger part of the level the more columns there are.
    """
    from scipy.special import exprel

    mean, variance = moments(values)
    scale = np.sqrt(6.0 * variance) / np.pi * mean
    z = (values - mean) / scale + np.euler_gamma
    # -log(1 - exp(-exp(-z))), which is z far out.
    return z - np.log(exprel(-np.exp(-np.maximum(z, -500.0))))


def combined(parts: Sequence[np.ndarray], weights: Sequence[float]) -> np.ndarray:
    """The largest of -log p + log w over statistics, for each labeling."""
    return np.max([part + np.log(w) for part, w in zip(parts, weights, strict=True)], axis=0)


def permutation_p_value(observed: Any, null: np.ndarray) -> Any:
    """(1 + how many of `null` (B,) are at least as large) / (1 + B), for one or many statistics.

    Examples
    --------
    >>> import numpy as np
    >>> permutation_p_value(2.0, np.array([1.0, 2.0, 3.0]))
    0.75
    """
    observed = np.asarray(observed, np.float64)
    least = observed - ROUNDING * (np.abs(observed) + np.ptp(null))
    below = np.searchsorted(np.sort(null), least, side="left")
    found = (1 + len(null) - below) / (1 + len(null))
    return float(found) if observed.ndim == 0 else found
