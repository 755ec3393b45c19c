"""Other two-sample tests, by their definitions: energy, MMD, dcMMD and Kolmogorov-Smirnov.

Permutations are vectors of labels. One pass over the rows of a kernel matrix multiplies all of
these vectors, so that the matrix is never stored.
"""

from __future__ import annotations

import numpy as np

_ROWS = 512
_PROBED = 1000


def kernel_tests(
    x: np.ndarray, y: np.ndarray, shares: tuple[float, ...], n_permutations: int, seed: int
) -> dict[str, float]:
    """Return the p-values of the energy test, of MMD, and of dcMMD for several shares.

    MMD is the biased estimate with a Gaussian kernel, bounded by 1, whose bandwidth is the median
    distance of pooled rows. dcMMD (Schrab and Kim, Robust kernel hypothesis testing under data
    corruption) adds 2 r sqrt(2) / min(n, m) to the quantile of the permuted MMD, where r is the
    number of corrupted rows of both samples together, which may be chosen by their values. For a
    share of each sample, r is twice this share of the smaller sample.
    """
    rng = np.random.default_rng(seed)
    n, m = len(x), len(y)
    rows = np.concatenate([x, y]).astype(np.float32)
    rows -= np.median(rows, axis=0)
    labels = np.empty((n + m, n_permutations + 1), np.float32)
    for b in range(n_permutations + 1):
        order = rng.permutation(n + m) if b else np.arange(n + m)
        labels[order[:n], b], labels[order[n:], b] = 1 / n, -1 / m
    squares = np.einsum("ij,ij->i", rows, rows)
    few = rows[rng.permutation(n + m)[:_PROBED]]
    width = float(np.median(_distances(few, few, *_squares(few))[np.triu_indices(len(few), 1)]))
    energy, kernel = np.zeros(n_permutations + 1), np.zeros(n_permutations + 1)
    for first in range(0, n + m, _ROWS):
        part = slice(first, first + _ROWS)
        distances = _distances(rows[part], rows, squares[part], squares)
        mine = labels[part].astype(np.float64)
        # The sum of the labels is zero, so subtracting a constant only reduces rounding errors.
        centered = distances - np.float32(width)
        energy -= np.einsum("ib,ib->b", mine, (centered @ labels).astype(np.float64))
        np.square(distances, out=distances)
        distances *= np.float32(-0.5 / width**2)
        np.exp(distances, out=distances)
        distances -= np.float32(0.5)
        kernel += np.einsum("ib,ib->b", mine, (distances @ labels).astype(np.float64))
    root = np.sqrt(np.maximum(kernel, 0))
    return {
        "energy": _pvalue(energy, 0.0),
        "mmd": _pvalue(root, 0.0),
        **{f"dcmmd {share:g}": _pvalue(root, 4 * np.sqrt(2) * share) for share in shares},
    }


def _pvalue(found: np.ndarray, margin: float) -> float:
    return float((1 + (found[1:] + margin >= found[0]).sum()) / len(found))


def _squares(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    squares = np.einsum("ij,ij->i", rows, rows)
    return squares, squares


def _distances(
    a: np.ndarray, b: np.ndarray, a_squares: np.ndarray, b_squares: np.ndarray
) -> np.ndarray:
    found = a @ b.T
    found *= -2
    found += a_squares[:, None]
    found += b_squares
    np.maximum(found, 0, out=found)
    return np.sqrt(found, out=found)


def kolmogorov_smirnov(x: np.ndarray, y: np.ndarray) -> float:
    """Return the minimum p-value over columns, times the number of columns (Bonferroni)."""
    smallest = min(_smirnov(a, b) for a, b in zip(x.T, y.T, strict=True))
    return min(1.0, x.shape[1] * smallest)


def _smirnov(a: np.ndarray, b: np.ndarray) -> float:
    """Return the asymptotic Kolmogorov-Smirnov p-value of samples a (n,) and b (m,).

    Stephens' correction for finite samples is applied.
    """
    at = np.sort(np.concatenate([a, b]))
    below_a = np.searchsorted(np.sort(a), at, side="right") / len(a)
    below_b = np.searchsorted(np.sort(b), at, side="right") / len(b)
    size = np.sqrt(len(a) * len(b) / (len(a) + len(b)))
    z = (size + 0.12 + 0.11 / size) * np.abs(below_a - below_b).max()
    if z < 0.2:
        return 1.0
    j = np.arange(1, 101)
    return float(np.clip(2 * np.sum((-1.0) ** (j - 1) * np.exp(-2 * (j * z) ** 2)), 0, 1))
