"""The commands `pairwise` (distances between many samples) and `depth` (depths of rows)."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import isodepth
import isodepth.cli.options as cli
from isodepth.base.export import document
from isodepth.base.output import check_target, csv_bytes, replace_file
from isodepth.cli.commands import Answer, Command, progress_wanted, session
from isodepth.cli.tables import open_sources, read_samples, read_tables
from isodepth.errors import InvalidInputError
from isodepth.table.frames import in_order

# Maximum number of samples for which `pairwise` prints the matrix; a larger matrix is too wide.
_PRINTED = 12
# Number of rows that `depth` prints: those with the smallest depths.
_LEAST_DEEP = 5


@click.command(cls=Command)
@click.argument("samples", nargs=-1, required=True)
@cli.by_option
@cli.reading_options()
@cli.add_options("settings", cli.PAIRWISE)
@click.option("-o", "--output", metavar="FILE", help="Write the matrix (.csv).")
def pairwise(
    samples: tuple[str, ...], by: str | None, output: str | None, reading: cli.ReadingOptions,
    settings: dict[str, Any],
) -> Answer:  # fmt: skip
    """Compute the distances between many samples.

    Samples are tables, all tables of a folder, or groups of rows of one table. Columns are
    matched by name. Without --refine, distances of more than a few columns are smaller than those
    of `compare`.

    \b
    Examples:
      isodepth pairwise months -o distances.csv
      isodepth pairwise june.csv july.csv august.csv --scale none
      isodepth pairwise year.csv --by month --numeric-only
      isodepth pairwise year.csv --by origin -o distances.csv
      isodepth pairwise months --json
    """
    from isodepth.many.pairwise import table_metric
    from isodepth.metric.settings import check_for_tables

    options = {**settings, "nan_policy": reading.nan_policy}
    of_tables = {name: value for name, value in options.items() if name != "refine"}
    check_for_tables(table_metric(of_tables, refine=options.get("refine", 0)))
    target = None if output is None else check_target(output, [".csv"])
    labels, tables = read_samples(samples, reading, by)
    if len(tables) < 2:
        raise InvalidInputError(
            f"pairwise needs at least two samples, got {labels[0]}; add others, or use --by"
        )
    named = dict(zip(labels, tables, strict=True))
    session().samples = {f"samples[{label!r}]": label for label in labels}
    matrix = isodepth.pairwise(named, progress=progress_wanted(), **options)
    if target is not None:
        replace_file(target, csv_bytes(matrix._rows()))
    content = matrix.to_dict() | {"scale": settings["scale"], "left_out": reading.left_out}
    content["output"] = output
    lines = _summary(matrix, settings["scale"]) + _files(reading, output)
    lines += ["", *matrix._matrix_lines()] if len(matrix) <= _PRINTED else []
    return Answer(lines, content)


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


@click.command(cls=Command)
@click.argument("table")
@click.option("--reference", metavar="TABLE", help="Depths with respect to this table.")
@cli.reading_options()
@cli.add_options("settings", cli.DEPTH)
@click.option("-o", "--output", metavar="FILE", help="Write the depths (.csv).")
def depth(
    table: str, reference: str | None, output: str | None, reading: cli.ReadingOptions,
    settings: dict[str, Any],
) -> Answer:  # fmt: skip
    """Compute a depth for each row of a table.

    The depth is near 0 for outliers and largest in the center of the table, or of the table given
    by --reference. With -o the depths are written to a file, with row indices that start at 0.

    \b
    Examples:
      isodepth depth june.csv
      isodepth depth july.csv --reference june.csv --depth halfspace -o deep.csv
      isodepth depth raw.csv --numeric-only --json
    """
    from isodepth.geometry.depth.estimators import ESTIMATORS

    used = settings.pop("depth")
    estimator = ESTIMATORS[used](**settings)
    estimator._check_options()
    target = None if output is None else check_target(output, [".csv"])
    paths = [table] if reference is None else [table, reference]
    results = read_tables(open_sources(paths), reading)
    rows, other = results[0].numbers, results[-1].numbers
    fitted = in_order(other, rows.columns, str(results[-1].path), str(results[0].path)).points
    kept = ~np.isnan(rows.points).any(axis=1)
    estimator.fit(fitted[~np.isnan(fitted).any(axis=1)])
    depths = np.full(len(kept), np.nan)
    own = reference is None
    depths[kept] = estimator.depth_ if own else estimator.score_samples(rows.points[kept])
    if target is not None:
        cells = [value if known else "" for value, known in zip(depths.tolist(), kept, strict=True)]
        replace_file(target, csv_bytes({"row": range(len(cells)), "depth": cells}))
    content = document("depths", {
        "depth": used, "depths": depths, "columns": rows.columns, "left_out": reading.left_out,
        "output": output,
    })  # fmt: skip
    least = np.argsort(depths, kind="stable")[: min(_LEAST_DEEP, kept.sum())]
    lines = [
        f"rows           {len(depths)}",
        f"depth          {used}, {np.nanmin(depths):.4g} to {np.nanmax(depths):.4g}",
        "least deep     " + ", ".join(f"row {row} ({depths[row]:.4g})" for row in least),
    ]
    return Answer(lines + _files(reading, output), content)


def _files(reading: cli.ReadingOptions, output: str | None) -> list[str]:
    """Return lines to print: names of columns that were left out, and the name of the output."""
    lines = [f"left out       {', '.join(reading.left_out)}"] if reading.left_out else []
    return lines + ([f"written to     {output}"] if output else [])
