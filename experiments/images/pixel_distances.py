"""Distances between all pairs of bags of pixels, each computed by a method for many pairs."""

from __future__ import annotations

import numpy as np

from experiments.baselines import random_directions
from experiments.images.fashion_mnist import SIDE, bags
from experiments.images.spectral import jobs
from isodepth import pairwise

#: Number of cells in which quantile functions of projections are averaged.
N_QUANTILES = 64
#: Side length in pixels of the squares that are merged for the quantized Wasserstein distance.
SQUARE = 5
_N_TASKS = 32


def depth_regions(images: np.ndarray, pixels: str, K: int, n_levels: int, seed: int) -> np.ndarray:
    """Return the distances DR between all pairs of bags of pixels, of shape (N, N).

    The depth is the projection depth, with p = 2 and eps = 0.1, K directions and `n_levels` levels.
    """
    distances = pairwise(bags(images, pixels), n_directions=K, levels=n_levels, random_state=seed)
    return np.asarray(distances)


def sliced_wasserstein(images: np.ndarray, pixels: str, K: int, seed: int) -> np.ndarray:
    """Return the sliced W_2 distances (N, N) between bags of pixels, along K common directions.

    They are computed from means of the quantile functions over cells of [0, 1]. Differences within
    a cell are ignored, so the results are lower bounds.
    """
    from joblib import Parallel, delayed

    directions = random_directions(3, K, seed)
    means = Parallel(n_jobs=-1, prefer="threads")(
        delayed(quantile_means)(bag, directions) for bag in bags(images, pixels)
    )
    return euclidean(np.reshape(means, (len(images), -1))) / np.sqrt(K * N_QUANTILES)


def quantile_means(bag: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the means of the quantile function of projections over equal cells of [0, 1].

    The rows of `bag` (n, d) are projected on `directions` (K, d). The result has shape (K,
    N_QUANTILES): one mean per direction and cell.
    """
    projections = np.sort(directions @ bag.T, axis=1)
    n = projections.shape[1]
    integral = np.zeros((len(directions), n + 1))
    np.cumsum(projections, axis=1, out=integral[:, 1:])
    place = np.arange(N_QUANTILES + 1) * (n / N_QUANTILES)
    whole = np.minimum(place.astype(int), n - 1)
    at = integral[:, whole] + (place - whole) * projections[:, whole]
    return np.diff(at, axis=1) * (N_QUANTILES / n)


def mmd(images: np.ndarray, pixels: str) -> np.ndarray:
    """Return the maximum mean discrepancies (N, N) between bags of pixels, exact up to rounding.

    The kernel is Gaussian with bandwidth 1. There are few distinct columns, rows and intensities,
    so the kernel is a product of three small matrices. With a square root of each matrix, an image
    becomes a vector, and Euclidean distances of these vectors are the MMD.
    """
    root = _kernel_root(np.arange(SIDE))
    features = _kernel_root(np.arange(256) / 255.0)
    present = images > 0 if pixels == "nonzero" else np.ones(images.shape, dtype=bool)
    weights = present / present.sum(axis=(1, 2), keepdims=True)
    planes = [root.T @ (weights * feature[images]) @ root for feature in features.T]
    return euclidean(np.stack(planes, axis=1).reshape(len(images), -1))


def _kernel_root(values: np.ndarray) -> np.ndarray:
    """Return a matrix R such that R R^T is the Gaussian kernel of bandwidth 1 between `values`."""
    kernel = np.exp(-0.5 * np.subtract.outer(values, values) ** 2)
    eigenvalues, vectors = np.linalg.eigh(kernel)
    kept = eigenvalues > 1e-15 * eigenvalues[-1]
    return vectors[:, kept] * np.sqrt(eigenvalues[kept])


def euclidean(rows: np.ndarray) -> np.ndarray:
    """Return the Euclidean distances between `rows` (N, D), by one matrix product."""
    centered = rows - rows.mean(axis=0)
    product = centered @ centered.T
    norms = np.diag(product)
    squared = np.maximum(norms[:, None] + norms - (product + product.T), 0.0)
    np.fill_diagonal(squared, 0.0)
    return np.sqrt((squared + squared.T) / 2)


def l1(images: np.ndarray) -> np.ndarray:
    """Return the mean absolute differences (N, N) of intensities between all pairs of images.

    They equal W_1 between bags with all 784 pixels. Moving mass to another pixel costs at least 1,
    and a difference of intensity at the same pixel costs at most 1. No mass is therefore moved to
    another pixel.
    """
    from scipy.spatial.distance import pdist, squareform

    return squareform(pdist(images.reshape(len(images), -1) / 255.0, "cityblock")) / SIDE**2


def quantize(bag: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge the points of a bag within each square of pixels into one point.

    Return the means (m, 3) of the points in the m squares, and their masses (m,).
    """
    square = (bag[:, :2] // SQUARE).astype(int) @ [1, SIDE]
    _, place, counts = np.unique(square, return_inverse=True, return_counts=True)
    sums = [np.bincount(place, column) for column in bag.T]
    return np.column_stack(sums) / counts[:, None], counts / counts.sum()


def quantized_wasserstein(
    images: np.ndarray, known: np.ndarray | None = None, changed: np.ndarray | None = None
) -> np.ndarray:
    """Return W_1 between the bags of nonzero pixels of all pairs of images, of shape (N, N).

    The points of a bag are (column, row, intensity / 255). The points within each square of 5 x 5
    pixels are merged into one point, see `quantize`.

    Parameters
    ----------
    images : uint8 ndarray of shape (N, 28, 28)
    known : ndarray of shape (N, N) or None
        Distances that were computed before. They are kept for pairs without `changed` images.
    changed : array of int or None
        Indices of the images whose distances are computed; None for all images.
    """
    from joblib import Parallel, delayed

    quantized = [quantize(bag) for bag in bags(images, "nonzero")]
    n = len(images)
    rows = np.arange(n) if changed is None else np.sort(changed)
    unchanged = np.ones(n, dtype=bool)
    unchanged[rows] = False
    # Each pair once: patched images with unpatched ones, and with later patched ones.
    partners = {int(i): np.flatnonzero(unchanged | (np.arange(n) > i)) for i in rows}
    # Later rows are shorter, so every task takes rows from the whole range.
    tasks = [rows[first::_N_TASKS] for first in range(min(_N_TASKS, n))]
    parts = Parallel(n_jobs=jobs(n))(
        delayed(_rows_of_costs)(quantized, {int(i): partners[int(i)] for i in task})
        for task in tasks
    )
    result = np.zeros((n, n)) if known is None else known.copy()
    for costs_of in parts:
        for i, costs in costs_of.items():
            result[i, partners[i]] = result[partners[i], i] = costs
    np.fill_diagonal(result, 0.0)
    return result


def _rows_of_costs(
    quantized: list[tuple[np.ndarray, np.ndarray]], partners: dict[int, np.ndarray]
) -> dict[int, list[float]]:
    return {
        i: transport_costs(quantized[i], [quantized[j] for j in others])
        for i, others in partners.items()
    }


def transport_costs(
    one: tuple[np.ndarray, np.ndarray], others: list[tuple[np.ndarray, np.ndarray]]
) -> list[float]:
    """Return W_1 between one quantized bag and each of several others."""
    # The solver is called directly: the input checks of `ot.emd` take as long as solving.
    from ot.lp.emd_wrap import emd_c
    from scipy.spatial.distance import cdist

    costs = []
    for points, masses in others:
        _, cost, *_, code = emd_c(one[1], masses, cdist(one[0], points), 100_000, 1)
        if code != 1:
            raise RuntimeError(f"the transport problem was not solved (code {code})")
        costs.append(cost)
    return costs
