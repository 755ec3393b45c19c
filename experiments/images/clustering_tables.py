"""Tables of the measurements on bags of pixels, with the published numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.framework import Results, Table
from experiments.images.clustering_verdicts import PUBLISHED, SCORES, values
from experiments.images.spectral import AFFINITIES, GRAPHS, NEIGHBORS


def summary(results: Results) -> str:
    """Return the tables of all measurements, with the published numbers, as Markdown."""
    seeds, blocks = results.tables["clustering_seeds"], results.tables["clustering_blocks"]
    n, n_blocks = results.settings.runs, results.settings.blocks
    sections = [
        *(
            (f"Block 0, nonzero pixels, {graph}: mean ± standard deviation over {n} seeds, rank",
             _main(seeds, affinity))
            for affinity, graph in GRAPHS.items()
        ),
        *(
            (f"DR minus the others on {n_blocks} disjoint blocks, {graph}: mean ± standard error",
             _paired(blocks, affinity))
            for affinity, graph in GRAPHS.items()
        ),
        ("Other affinities: NMI / ARI, block 0, nonzero pixels", _affinities(seeds)),
        ("All 784 pixels: NMI / ARI, block 0", _all_pixels(seeds)),
        ("A subset with the exact W, and the errors of approximations", _subset(results)),
    ]  # fmt: skip
    return "\n".join(f"**{title}**\n\n{text}\n" for title, text in sections)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _main(seeds: Table, affinity: str) -> str:
    def cell(method: str, patch: int, which: int) -> str:
        found = {
            name: values(seeds, SCORES[which], name, affinity, pixels="nonzero", patch=patch)
            for name in PUBLISHED
        }
        mean, paper = found[method].mean(), PUBLISHED[method]
        rank = 1 + sum(other.mean() > mean for other in found.values())
        spread = np.std(found[method], ddof=1) if len(found[method]) > 1 else np.nan
        beside = f" ({paper[patch > 0][which]:.2f})" if paper else ""
        return f"{mean:.3f} ± {spread:.3f}, {rank}{beside}"

    conditions = [(patch, which) for patch in (0, 5, 10) for which in range(len(SCORES))]
    head = [
        f"{f'patch {patch}' if patch else 'clean'} {SCORES[which].upper()}"
        for patch, which in conditions
    ]
    rows = [
        [method, *(cell(method, *condition) for condition in conditions)] for method in PUBLISHED
    ]
    return _table(["", *head], rows)


def _paired(blocks: Table, affinity: str) -> str:
    conditions = [("nonzero", 0), ("nonzero", 10), ("all", 0)]

    def row(method: str) -> list[str]:
        cells = [method]
        for pixels, patch in conditions:
            for score in SCORES:
                ours, theirs = (
                    values(blocks, score, name, affinity, pixels=pixels, patch=patch)
                    for name in ("DR", method)
                )
                runs = ours if method == "DR" else ours - theirs
                sign = "" if method == "DR" else "+"
                error = np.std(runs, ddof=1) / len(runs) ** 0.5 if len(runs) > 1 else np.nan
                cells.append(f"{runs.mean():{sign}.3f} ± {error:.3f}")
        return cells

    names = ("clean", "patch 10", "all pixels, clean")
    head = ["DR minus", *(f"{name} {score.upper()}" for name in names for score in SCORES)]
    first = row("DR")
    first[0] = "nothing (DR itself)"
    return _table(head, [first, *(row(method) for method in list(PUBLISHED)[1:])])


def _pair(table: Table, method: str, affinity: str, **where: Any) -> str:
    return " / ".join(
        f"{values(table, score, method, affinity, **where).mean():.3f}" for score in SCORES
    )


def _affinities(seeds: Table) -> str:
    names = {**GRAPHS, "std": "exp(-D/std)", "median": "exp(-D/median)",
             "rbf": "literal exp(-D²)"}  # fmt: skip
    columns = [(affinity, patch) for affinity in AFFINITIES for patch in (0, 10)]
    head = ["", *(f"{names[a]}, {'patch 10' if patch else 'clean'}" for a, patch in columns)]
    rows = [
        [method, *(_pair(seeds, method, a, pixels="nonzero", patch=patch) for a, patch in columns)]
        for method in PUBLISHED
    ]
    return _table(head, rows)


def _all_pixels(seeds: Table) -> str:
    rows = [
        [method, *(_pair(seeds, method, NEIGHBORS, pixels="all", patch=patch) for patch in (0, 10))]
        for method in PUBLISHED
    ]
    return _table(["", "clean", "patch 10"], rows)


def _subset(results: Results) -> str:
    table, cost = results.tables["clustering_exact"], results.tables["clustering_cost"]
    rows = []
    for method, part in table.groups("method"):
        error = "–"
        if method in ("W", "Sliced-W", "MMD"):
            error = (
                f"{part['mean_relative_error'][0]:+.1%} (largest "
                f"{part['largest_relative_error'][0]:.1%}, correlation "
                f"{part['correlation'][0]:.4f})"
            )
        spent = "–"
        if method in ("W exact", "W"):
            this = cost.where(method=method)
            spent = (
                f"{1000 * this['seconds_a_pair'][0]:.2g} ms a pair, "
                f"{this['hours_for_all_pairs'][0]:.2g} h for all pairs of a block"
            )
        name = {"W": "W quantized"}.get(method, method)
        rows.append([name, f"{part['nmi'][0]:.3f} / {part['ari'][0]:.3f}", error, spent])
    images = int(table["images"][0])
    head = [f"{images} images", "NMI / ARI", "relative error of the distances", "one core"]
    return _table(head, rows)
