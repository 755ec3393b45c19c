"""Figures of the bags of pixels: scores, distance matrices, images with their regions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.framework import Results, Streams
from experiments.images import pixel_distances
from experiments.images.clustering_verdicts import PUBLISHED, SCORES, values
from experiments.images.fashion_mnist import CLASSES, bags, block, with_patches
from experiments.images.spectral import GRAPHS


def draw(folder: Path, results: Results) -> dict[str, Any]:
    """Draw the scores, four distance matrices, and some images with their regions."""
    return {
        "clustering_scores": _draw_scores(results),
        "clustering_matrices": _draw_matrices(folder, results),
        "clustering_regions": _draw_regions(folder, results),
    }


def _draw_scores(results: Results) -> Any:
    from experiments.framework.figure import panels

    seeds = results.tables["clustering_seeds"]
    figure, grid = panels(len(GRAPHS), len(SCORES), height=3.0, sharey=True)
    for row, (affinity, graph) in enumerate(GRAPHS.items()):
        for which, score in enumerate(SCORES):
            axes = grid[row, which]
            for shift, patch, color in ((-0.2, 0, "C0"), (0, 5, "C1"), (0.2, 10, "C3")):
                for place, method in enumerate(PUBLISHED):
                    runs = values(seeds, score, method, affinity, pixels="nonzero", patch=patch)
                    label = ("clean" if patch == 0 else f"patch {patch}") if place == 0 else None
                    at = np.full(len(runs), place + shift)
                    axes.plot(at, runs, "o", ms=4, color=color, alpha=0.7, label=label)
            for place, published in enumerate(PUBLISHED.values()):
                for shift, pair in zip((-0.2, 0.1), published or (), strict=False):
                    label = "paper (clean, patched)" if place == 0 and shift < 0 else None
                    axes.plot(place + shift, pair[which], "x", color="k", ms=7, label=label)
            axes.set_xticks(range(len(PUBLISHED)), list(PUBLISHED))
            axes.set_ylabel(score.upper())
            axes.set_title(f"block 0, {graph}")
            axes.tick_params(axis="y", labelleft=True)
    grid[0, 1].legend(frameon=False, fontsize=8)
    return figure


def _draw_matrices(folder: Path, results: Results) -> Any:
    from experiments.framework.figure import panels

    settings = results.settings
    images, _ = block(folder, 0, settings.per_class)
    seed = Streams(results.seed, "clustering_seeds", 0).integer("directions")
    matrices = {
        "DR": pixel_distances.depth_regions(images, "nonzero", settings.K, settings.levels, seed),
        "Sliced-W": pixel_distances.sliced_wasserstein(images, "nonzero", settings.K, seed),
        "MMD": pixel_distances.mmd(images, "nonzero"),
        "L1": pixel_distances.l1(images),
    }
    figure, grid = panels(2, 2, width=4.4, height=4.1)
    middles = (np.arange(len(CLASSES)) + 0.5) * settings.per_class
    for axes, (name, matrix) in zip(grid.flat, matrices.items(), strict=True):
        axes.grid(False)
        top = np.quantile(matrix, 0.99)
        image = axes.imshow(matrix, cmap="magma", vmin=0, vmax=top, interpolation="antialiased")
        for edge in range(1, len(CLASSES)):
            for line in (axes.axhline, axes.axvline):
                line(edge * settings.per_class - 0.5, color="w", lw=0.3)
        axes.set_title(name)
        axes.set_yticks(middles, CLASSES, fontsize=7)
        axes.set_xticks(middles, CLASSES, fontsize=7, rotation=90)
        figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def _draw_regions(folder: Path, results: Results) -> Any:
    from experiments.framework.figure import hull_outline, legend_below, panels
    from isodepth import Metric

    settings = results.settings
    images, labels = block(folder, 0, settings.per_class)
    chosen = [int(np.flatnonzero(labels == c)[0]) for c in (0, 1, 5, 8)]
    metric = Metric(n_directions=settings.K, random_state=0)
    betas = (0.1, 0.3, 0.5, 0.7, 0.89)
    figure, grid = panels(2, len(chosen), width=2.5, height=2.7)
    for column, place in enumerate(chosen):
        patched = with_patches(images, np.array([place]), 10)
        for row, image in enumerate((images[place], patched[place])):
            axes = grid[row, column]
            axes.grid(False)
            axes.imshow(image, cmap="gray_r", vmin=0, vmax=400)
            (bag,) = bags(image[None], "nonzero")
            regions = metric.regions(bag)
            for number, beta in enumerate(betas):
                outline = hull_outline(bag[regions.indices(beta)][:, :2])
                axes.plot(*outline.T, color=f"C{number}", lw=1.4, label=f"β = {beta:g}")
            name = CLASSES[labels[place]]
            axes.set_title(name if row == 0 else f"{name}, patch 10", fontsize=10)
            axes.set_axis_off()
    legend_below(figure, grid[0, 0], len(betas))
    return figure
