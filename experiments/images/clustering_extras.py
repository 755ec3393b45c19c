"""Additional measurement: exact Wasserstein distances on a subset."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments import baselines
from experiments.framework import Part, Streams
from experiments.images import pixel_distances
from experiments.images.fashion_mnist import bags, block
from experiments.images.spectral import NEIGHBORS, jobs, scores

SUBSET = ("W exact", "W", "DR", "Sliced-W", "MMD")


def parts(folder: Path, settings: Any) -> list[Part]:
    """Return the parts of the experiment that are measured once, instead of once per seed."""

    def subset(condition: Any, streams: Streams) -> dict[str, list[float]]:
        return compare_on_subset(folder, settings, streams)

    def cost(condition: Any, streams: Streams) -> dict[str, list[float]]:
        return cost_of_transport(folder, settings)

    def unmoved(condition: Any, streams: Streams) -> dict[str, list[float]]:
        return all_pixels(folder, settings, condition["pair"])

    images = 10 * settings.exact_per_class
    return [
        Part(
            "clustering_exact", 1, [{"images": images}], "method", SUBSET,
            ("nmi", "ari", "mean_relative_error", "largest_relative_error", "correlation"), subset,
        ),
        Part(
            "clustering_cost", 1, [{"images": images}], "method", ("W exact", "W"),
            ("seconds_a_pair", "hours_for_all_pairs"), cost, repeatable=False,
        ),
        Part(
            "clustering_all_pixels", 1, [{"pair": i} for i in range(settings.runs)], "method",
            ("W exact", "L1"), ("distance",), unmoved,
        ),
    ]  # fmt: skip


@lru_cache(maxsize=1)
def exact_transport(folder: Path, settings: Any) -> tuple[np.ndarray, float]:
    """Return the exact W_1 between all pairs of a subset of the images, and the time per pair.

    The subset is that of `subset_of`. The time is in seconds, on one core.
    """
    from joblib import Parallel, delayed

    samples = bags(subset_of(folder, settings)[0], "nonzero")
    rows = Parallel(n_jobs=jobs(len(samples) ** 2))(
        delayed(_exact_row)(samples[i], samples[:i]) for i in range(1, len(samples))
    )
    result = np.zeros((len(samples), len(samples)))
    for i, (row, _) in enumerate(rows, 1):
        result[i, :i] = result[:i, i] = row
    pairs = len(samples) * (len(samples) - 1) / 2
    return result, sum(seconds for _, seconds in rows) / pairs


def _exact_row(bag: np.ndarray, others: list[np.ndarray]) -> tuple[list[float], float]:
    start = time.process_time()
    row = [baselines.wasserstein(bag, other, p=1) for other in others]
    return row, time.process_time() - start


def subset_of(folder: Path, settings: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the first images of each class of block 0, and their labels."""
    return block(folder, 0, settings.exact_per_class)


def compare_on_subset(folder: Path, settings: Any, streams: Streams) -> dict[str, list[float]]:
    """Return the clustering scores of all methods on a subset of the images.

    The errors of approximate distances are included. The subset is small enough for exact
    Wasserstein distances.
    """
    images, labels = subset_of(folder, settings)
    samples, seed = bags(images, "nonzero"), streams.integer("directions")
    matrices = {
        "W exact": exact_transport(folder, settings)[0],
        "W": pixel_distances.quantized_wasserstein(images),
        "DR": pixel_distances.depth_regions(images, "nonzero", settings.K, settings.levels, seed),
        "Sliced-W": pixel_distances.sliced_wasserstein(images, "nonzero", settings.K, seed),
        "MMD": pixel_distances.mmd(images, "nonzero"),
    }
    agreement = scores(matrices, labels, [NEIGHBORS], streams.integer("clustering"))
    # Only the exact W matrix is precomputed; single pairs of the others are cheap.
    chosen = np.linspace(0, len(samples) - 1, 8).astype(int)
    directions = baselines.random_directions(3, settings.K, seed)
    references = {
        "W": matrices["W exact"],
        "Sliced-W": _of_few(
            samples, chosen, lambda x, y: baselines.sliced_wasserstein(x, y, directions)
        ),
        "MMD": _of_few(samples, chosen, lambda x, y: baselines.mmd(x, y, bandwidth=1.0)),
    }
    nothing = [0.0, 0.0, 1.0]
    return {
        name: [*agreement[name], *(_errors(matrices[name], references[name]) if name in references
                                   else nothing)]
        for name in SUBSET
    }  # fmt: skip


def _of_few(samples: list[np.ndarray], chosen: np.ndarray, distance: Any) -> np.ndarray:
    result = np.full((len(samples), len(samples)), np.nan)
    for i in chosen:
        for j in chosen[chosen < i]:
            result[i, j] = distance(samples[i], samples[j])
    return result


def _errors(approximate: np.ndarray, exact: np.ndarray) -> list[float]:
    lower = np.tril(np.isfinite(exact), -1)
    relative = approximate[lower] / exact[lower] - 1
    correlation = np.corrcoef(approximate[lower], exact[lower])[0, 1]
    return [float(relative.mean()), float(np.abs(relative).max()), float(correlation)]


def cost_of_transport(folder: Path, settings: Any) -> dict[str, list[float]]:
    """Return the time of exact and of quantized Wasserstein distances on one core.

    A value has the seconds per pair, and the hours for all pairs of a block.
    """
    images = subset_of(folder, settings)[0]
    quantized = [pixel_distances.quantize(bag) for bag in bags(images, "nonzero")]
    start = time.process_time()
    pixel_distances.transport_costs(quantized[0], quantized[1:])
    cheap = (time.process_time() - start) / (len(quantized) - 1)
    count = 10 * settings.per_class
    pairs = count * (count - 1) / 2
    seconds = {"W exact": exact_transport(folder, settings)[1], "W": cheap}
    return {name: [value, value * pairs / 3600] for name, value in seconds.items()}


def all_pixels(folder: Path, settings: Any, pair: int) -> dict[str, list[float]]:
    """Return W_1 of two images whose bags have all 784 pixels, and their mean absolute difference.

    `pair` is the number of the pair, from 0.
    """
    images = subset_of(folder, settings)[0][[0, (pair + 1) * settings.exact_per_class]]
    first, second = bags(images, "all")
    exact = baselines.wasserstein(first, second, p=1)
    return {"W exact": [exact], "L1": [float(pixel_distances.l1(images)[0, 1])]}
