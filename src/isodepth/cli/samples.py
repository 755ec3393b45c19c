"""The commands `pairwise`, distances between many samples, and `depth`, depths of rows."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import isodepth
import isodepth.cli.options as cli
from isodepth.cli.commands import Answer, Command, progress_wanted
from isodepth.cli.tables import aligned, open_sources, read_samples, read_tables
from isodepth.data.output import (
    check_table_target,
    endings_for,
    replace_file,
    table_bytes,
    with_column,
)
from isodepth.data.results import plain
from isodepth.errors import InvalidInputError

# A larger matrix would be wider than a terminal.
_PRINTED = 12
# Number of rows of least depth that are printed.
_LEAST_DEEP = 5


@click.command(cls=Command)
@click.argument("samples", nargs=-1, required=True)
@click.option("--group-by", metavar="COLUMN", help="Rows with the same value form one sample.")
@cli.reading_options()
@cli.settings_options(without=("refine",), levels="20")
@click.option("-o", "--output", metavar="FILE", help="Write the matrix (.csv, .npy, ...).")
@click.option("--clusters", type=click.IntRange(1), metavar="K", help="Find at most K clusters.")
@cli.output_options("the matrix, similar samples beside each other")
def pairwise(
    samples: tuple[str, ...], group_by: str | None, output: str | None, clusters: int | None,
    reading: cli.Reading, settings: dict[str, Any], outputs: cli.Outputs,
) -> Answer:  # fmt: skip
    """Compute the distances between many samples.

    Samples are tables, all tables of a folder, or groups of rows of one table. Columns are
    matched by name. Clusters are found by agglomerative clustering with average linkage.

    \b
    Examples:
      isodepth pairwise months -o distances.csv
      isodepth pairwise june.csv july.csv august.csv --scale none
      isodepth pairwise year.csv --group-by month --drop-text --clusters 3
      isodepth pairwise year.csv --group-by origin --plot matrix.png -o distances.npy
      isodepth pairwise months --json
    """
    from isodepth.many.pairwise import table_metric

    options = {**settings, "nan_policy": reading.nan_policy}
    table_metric(options).check_for_tables("float64")
    target = None if output is None else check_table_target(output)
    labels, tables = read_samples(samples, reading, group_by)
    if len(tables) < 2:
        raise InvalidInputError(
            f"pairwise needs at least two samples, got {labels[0]}; add others, or use --group-by"
        )
    named = dict(zip(labels, tables, strict=True))
    matrix = isodepth.pairwise(named, progress=progress_wanted(), **options)
    values = np.asarray(matrix)
    members = {} if clusters is None else _clusters(labels, values, clusters)
    if target is not None:
        replace_file(target, table_bytes(target.suffix.lower(), matrix._rows(), values))
    outputs.save(matrix)
    content = {
        **matrix.to_dict(), "scale": settings["scale"], "left_out": reading.left_out,
        "clusters": members or None, "missing": reading.omitted_rows(), "output": output,
    }  # fmt: skip
    lines = _summary(matrix, settings["scale"])
    for number in sorted(set(members.values())):
        inside = [label for label in members if members[label] == number]
        lines.append(f"cluster {number:<6} {', '.join(inside)}")
    written = [f"written to     {path}" for path in (output, outputs.page) if path]
    printed = ["", *matrix.matrix_lines()] if len(matrix) <= _PRINTED else []
    lines += [*reading.lines(), *written, f"signature      {matrix.signature}", *printed]
    return Answer(lines, content)


def _clusters(labels: list[str], distances: np.ndarray, count: int) -> dict[str, int]:
    """Return the cluster of each sample, numbered from 1 in order of appearance."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    tree = linkage(squareform(distances, checks=False), method="average")
    clusters = fcluster(tree, count, criterion="maxclust").tolist()
    order = list(dict.fromkeys(clusters))
    return {label: order.index(each) + 1 for label, each in zip(labels, clusters, strict=True)}


def _summary(matrix: Any, scale: str | None) -> list[str]:
    values = np.asarray(matrix)
    rows, columns = np.triu_indices(len(values), 1)
    apart = values[rows, columns]
    return [
        f"samples        {len(matrix)}",
        f"distances      {apart.min():.4g} to {apart.max():.4g}, median {np.median(apart):.4g} "
        f"(scale: {scale or 'none'})",
        *(
            f"{word:14} {matrix.labels[rows[k]]} and {matrix.labels[columns[k]]}, {apart[k]:.4g}"
            for word, k in (("nearest", apart.argmin()), ("farthest", apart.argmax()))
        ),
    ]


# -- depth ----------------------------------------------------------------------------------------


@click.command(cls=Command)
@click.argument("table")
@click.option("--of", metavar="TABLE", help="Depths with respect to this table.")
@cli.reading_options()
@cli.settings_options(only=("depth", "n_directions", "random_state"))
@click.option("-o", "--output", metavar="FILE", help="Write the table with a column of depths.")
@click.option("--name", default="depth", show_default=True, help="Name of the new column.")
def depth(
    table: str, of: str | None, output: str | None, name: str, reading: cli.Reading,
    settings: dict[str, Any],
) -> Answer:  # fmt: skip
    """Compute a depth for each row of a table.

    The depth is near 0 for outliers and largest in the middle of the table, or of another one
    (--of). With -o the table is written with one more column; all else is unchanged.

    \b
    Examples:
      isodepth depth june.csv
      isodepth depth june.csv -o deep.csv
      isodepth depth july.csv --of june.csv --depth halfspace -o deep.csv --name in_june
      isodepth depth raw.csv --drop-text --nan-policy omit -o deep.csv --json
    """
    used = settings.pop("depth", "projection")
    from isodepth.depth.estimators import ESTIMATORS

    estimator = ESTIMATORS[used](**settings)
    estimator.check_options()
    paths = [table] if of is None else [table, of]
    sources = open_sources(paths)
    if output is not None:
        why = f" for a table that is read from {sources[0].ending}"
        target = check_table_target(output, endings_for(sources[0]), why)
    results = read_tables(sources, reading)
    points, *others = (np.asarray(getattr(t, "points", t)) for t in aligned(results))
    reference = others[0] if others else points
    kept = ~np.isnan(points).any(axis=1)
    estimator.fit(reference[~np.isnan(reference).any(axis=1)])
    depths = np.full(len(points), np.nan)
    depths[kept] = estimator.score_samples(points[kept]) if others else estimator.depth_
    if output is not None:
        replace_file(target, with_column(sources[0], name, depths, target.suffix.lower()))
    content = {
        "depth": used, "rows": len(depths), "depths": plain(depths),
        "columns": results[0].columns, "left_out": reading.left_out, "output": output,
    }  # fmt: skip
    lines = [*_depth_lines(used, depths), *reading.lines()]
    if output is not None:
        lines.append(f"written to     {output}, with a column {name!r}")
    return Answer(lines, content)


def _depth_lines(used: str, depths: np.ndarray) -> list[str]:
    known = np.argsort(depths, kind="stable")[: int(np.isfinite(depths).sum())]  # NaN comes last
    least = [f"row {row}: {depths[row]:.4g}" for row in known[:_LEAST_DEEP]]
    return [
        f"rows           {len(depths)}",
        f"depth          {used}, {depths[known[0]]:.4g} to {depths[known[-1]]:.4g}",
        "least deep     " + "\n               ".join(least),
        f"deepest        row {known[-1]}: {depths[known[-1]]:.4g}",
    ]
