"""Spectral clustering of Fashion-MNIST images represented as bags of pixels (Table 1).

The following was fixed before the first run. The first 100 images of each class of the training
split are block 0 (that of the paper), the next 100 are block 1, and so on. A bag has the points
(column, row, intensity / 255) of the nonzero pixels, for all methods; all 784 pixels are a second
condition. 50 random images get a white square in the top left corner. DR has the projection depth,
p = 2, eps = 0.1, 100 directions and 20 levels. W is W_1 between quantized bags (exact on a subset).
Sliced-W has p = 2 and the same number of directions. MMD has a Gaussian kernel of bandwidth 1.
Euclidean and L1 compare images as vectors. Spectral clustering is that of scikit-learn with 10
clusters on the graph of the 10 nearest neighbors. The similarity 1 / (1 + D) was added after the
scores of the paper had been seen. The kernels exp(-D / std) and exp(-D / median)
show the influence of this choice. The kernel exp(-D^2) shows that the paper cannot have used it
literally.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.framework import Experiment, Part, Streams, run_experiment
from experiments.framework.run import DEFAULT_FOLDERS, parser
from experiments.framework.run import load as load_results
from experiments.images import clustering_extras, pixel_distances
from experiments.images.clustering_figures import draw
from experiments.images.clustering_tables import summary
from experiments.images.clustering_verdicts import PUBLISHED, judge
from experiments.images.fashion_mnist import (
    DEFAULT_FOLDER,
    DataMissingError,
    block,
    load,
    with_patches,
)
from experiments.images.spectral import AFFINITIES, GRAPHS, scores

METHODS = tuple(PUBLISHED)


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment.

    `runs` is the number of seeds, and `blocks` that of blocks of images. A block has `per_class`
    images of each class, of which `patched` get a white square. `K` is the number of directions,
    and `levels` that of levels. Exact Wasserstein distances use `exact_per_class` images of each
    class.
    """

    runs: int
    per_class: int = 100
    patched: int = 50
    K: int = 100
    levels: int = 20
    exact_per_class: int = 10
    blocks: int = 5


def distances(
    folder: Path, settings: Settings, number: int, pixels: str, patch: int, streams: Streams
) -> dict[str, np.ndarray]:
    """Return the matrices (N, N) of distances between the images of one block, by method.

    `number` is that of the block, `pixels` is "nonzero" or "all", and `patch` is the size of the
    white square in some images, 0 for none.
    """
    clean, _ = block(folder, number, settings.per_class)
    # The same images are patched for every size of the patch.
    which = streams.rng("patched").choice(len(clean), settings.patched, replace=False)
    images = with_patches(clean, which, patch) if patch else clean
    seed = streams.integer("directions")
    l1 = pixel_distances.l1(images)
    if pixels == "all":
        transport = l1
    else:
        transport = _clean_transport(folder, number, settings.per_class)
        if patch:
            transport = pixel_distances.quantized_wasserstein(images, transport, which)
    vectors = images.reshape(len(images), -1) / 255.0
    return {
        "DR": pixel_distances.depth_regions(images, pixels, settings.K, settings.levels, seed),
        "W": transport,
        "Sliced-W": pixel_distances.sliced_wasserstein(images, pixels, settings.K, seed),
        "MMD": pixel_distances.mmd(images, pixels),
        "Euclidean": pixel_distances.euclidean(vectors),
        "L1": l1,
    }


@lru_cache(maxsize=2)
def _clean_transport(folder: Path, number: int, per_class: int) -> np.ndarray:
    return pixel_distances.quantized_wasserstein(block(folder, number, per_class)[0])


def parts(folder: Path, settings: Settings) -> list[Part]:
    """Return the measured parts of the experiment: scores by seed, scores by block, and extras."""

    def measure(
        by_block: bool, affinities: Sequence[str], condition: Any, streams: Streams
    ) -> dict[str, list[float]]:
        number = streams.run if by_block else 0
        matrices = distances(
            folder, settings, number, condition["pixels"], condition["patch"], streams
        )
        labels = block(folder, number, settings.per_class)[1]
        return scores(matrices, labels, affinities, streams.integer("clustering"))

    def columns(affinities: Sequence[str]) -> list[str]:
        return [f"{score}_{affinity}" for affinity in affinities for score in ("nmi", "ari")]

    def conditions(*which: tuple[str, int]) -> list[dict[str, Any]]:
        return [{"pixels": pixels, "patch": patch} for pixels, patch in which]

    return [
        Part(
            "clustering_seeds", settings.runs,
            conditions(("nonzero", 0), ("nonzero", 5), ("nonzero", 10), ("all", 0), ("all", 10)),
            "method", METHODS, columns(AFFINITIES), partial(measure, False, AFFINITIES),
        ),
        Part(
            "clustering_blocks", settings.blocks,
            conditions(("nonzero", 0), ("nonzero", 10), ("all", 0)),
            "method", METHODS, columns(list(GRAPHS)), partial(measure, True, list(GRAPHS)),
        ),
        *clustering_extras.parts(folder, settings),
    ]  # fmt: skip


def experiment(folder: Path) -> Experiment:
    """Return the definition of the experiment on the images in the folder `folder`."""
    return Experiment(
        name="clustering",
        title="spectral clustering of images as bags of pixels",
        sizes={
            "full": Settings(runs=10),
            "reduced": Settings(runs=2, exact_per_class=4, blocks=2),
            "quick": Settings(
                runs=2, per_class=8, patched=4, K=20, levels=5, exact_per_class=2, blocks=2
            ),
        },
        parts=partial(parts, folder),
        judge=judge,
        draw=partial(draw, folder),
    )


EXPERIMENT = experiment(DEFAULT_FOLDER)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    folder_parser = argparse.ArgumentParser(add_help=False)
    folder_parser.add_argument("--data", type=Path, default=DEFAULT_FOLDER, metavar="DIR")
    words = sys.argv[1:] if arguments is None else list(arguments)
    options, rest = folder_parser.parse_known_args(words)
    if {"-h", "--help"} & set(rest):
        print(f"--data DIR: the idx files of Fashion-MNIST; default {DEFAULT_FOLDER}\n")
    else:
        try:
            load(options.data)
        except DataMissingError as error:
            print(error, file=sys.stderr)
            return 2
    chosen = experiment(options.data)
    status = run_experiment(chosen, rest)
    if status == 0:
        shared = parser(chosen.name, chosen.title).parse_args(rest)
        size = "quick" if shared.quick else shared.size
        results = load_results(chosen, shared.out or DEFAULT_FOLDERS[size])
        if results is not None:
            print(summary(results[0]))
    return status


if __name__ == "__main__":
    raise SystemExit(main())
