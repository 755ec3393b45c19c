"""The command `pairwise`: distances between many samples in files."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from isodepth.cli.commands import Answer, Command, progress_wanted
from isodepth.cli.options import (
    Reading,
    check_outputs,
    picture_options,
    reading_options,
    save_outputs,
    settings_options,
)
from isodepth.cli.tables import read_samples
from isodepth.data.output import replace_file
from isodepth.data.saving import check_table_target, table_bytes
from isodepth.errors import InvalidInputError, InvalidOptionError

# A matrix of more samples is not printed: its lines would be wider than a terminal.
_PRINTED = 12
_CLUSTERING = "agglomerative clustering of the distances, average linkage (scikit-learn)"


@click.command(cls=Command)
@click.argument("samples", nargs=-1, required=True)
@click.option("--group-by", metavar="COLUMN", help="Rows with one value there are a sample.")
@reading_options()
@settings_options(without=("refine", "n_levels"), levels="20")
@click.option(
    "-o", "--output", metavar="FILE", help="Write the matrix (.csv, .parquet, .npy, ...)."
)
@click.option("--clusters", type=click.IntRange(1), metavar="K", help="Find K clusters.")
@picture_options("the matrix, similar samples beside each other")
def pairwise(
    samples: tuple[str, ...], group_by: str | None, output: str | None, clusters: int | None,
    plot: str | None, page: str | None, reading: Reading, settings: dict[str, Any],
) -> Answer:  # fmt: skip
    """Compute the distances between many samples.

    Samples are tables, all tables of a folder, or the groups of rows of one table. Columns are
    matched by name. Clusters are found by agglomerative clustering with average linkage.

    \b
    Examples:
      isodepth pairwise months -o distances.csv
      isodepth pairwise june.csv july.csv august.csv --scale none
      isodepth pairwise year.csv --group-by month --drop-text --clusters 3
      isodepth pairwise year.csv --group-by origin --plot matrix.png -o distances.npy
      isodepth pairwise months --json
    """
    from isodepth.many.pairwise import pairwise as distances
    from isodepth.many.pairwise import table_metric

    options = {**settings, "nan_policy": reading.nan_policy}
    table_metric(options).check_for_tables("float64")
    if options["scale"] == "reference":
        raise InvalidOptionError("--scale must be pooled or none for many samples, got reference")
    check_outputs(plot, page)
    target = None if output is None else check_table_target(output)
    labels, tables = read_samples(samples, reading, group_by)
    if len(tables) < 2:
        raise InvalidInputError(
            f"there is one sample only ({labels[0]}), and nothing to compare it with"
            + ("" if group_by else "; to take one table apart give --group-by COLUMN")
        )
    if clusters is not None and clusters > len(tables):
        raise InvalidOptionError(
            f"--clusters must be at most the number of samples, {len(tables)}; got {clusters}"
        )
    named = dict(zip(labels, tables, strict=True))
    matrix = distances(named, progress=progress_wanted(), **options)
    values = np.asarray(matrix)
    found = None if clusters is None else _clusters(values, clusters)
    if target is not None:
        replace_file(target, table_bytes(target.suffix.lower(), matrix._rows(), values))
    save_outputs(matrix, plot, page, "matrix")
    members = None if found is None else dict(zip(labels, found, strict=True))
    content = {
        **matrix.to_dict(), "scale": settings["scale"], "left_out": reading.left_out,
        "clusters": None if members is None else {"method": _CLUSTERING, "samples": members},
        "missing": reading.omitted_rows(), "output": output,
    }  # fmt: skip
    lines = [*_summary(matrix, settings), *_clustered(members or {}), *reading.lines()]
    lines += [f"written to     {path}" for path in (output, page) if path is not None]
    printed = ["", *_printed(matrix)] if len(matrix) <= _PRINTED else []
    return Answer([*lines, f"signature      {matrix.signature}", *printed], content)


def _clusters(distances: np.ndarray, count: int) -> list[int]:
    """Numbers from 1, in the order in which clusters first appear."""
    if count == 1:
        return [1] * len(distances)
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(n_clusters=count, metric="precomputed", linkage="average")
    found = model.fit_predict(distances).tolist()
    order = {cluster: number for number, cluster in enumerate(dict.fromkeys(found), start=1)}
    return [order[cluster] for cluster in found]


def _clustered(members: dict[str, int]) -> list[str]:
    numbers = sorted(set(members.values()))
    inside = {n: ", ".join(label for label in members if members[label] == n) for n in numbers}
    lines = [f"cluster {number:<6} {labels}" for number, labels in inside.items()]
    return [*lines, f"clusters by    {_CLUSTERING}"] if members else []


def _summary(matrix: Any, settings: dict[str, Any]) -> list[str]:
    values = np.asarray(matrix)
    rows, columns = np.triu_indices(len(values), 1)
    apart = values[rows, columns]
    return [
        f"samples        {len(matrix)}",
        f"distances      {apart.min():.4g} to {apart.max():.4g}, median {np.median(apart):.4g} "
        f"(scale: {settings['scale'] or 'none'})",
        *(
            f"{word:14} {matrix.labels[rows[k]]} and {matrix.labels[columns[k]]}, {apart[k]:.4g}"
            for word, k in (("nearest", apart.argmin()), ("farthest", apart.argmax()))
        ),
    ]


def _printed(matrix: Any) -> list[str]:
    rows = zip(matrix.labels, np.asarray(matrix), strict=True)
    cells = [["", *matrix.labels], *([label, *(f"{v:.4g}" for v in row)] for label, row in rows)]
    first, *rest = (max(map(len, column)) for column in zip(*cells, strict=True))
    return [
        "  ".join([row[0].ljust(first), *map(str.rjust, row[1:], rest)]).rstrip() for row in cells
    ]
