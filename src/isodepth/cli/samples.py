"""The commands `pairwise`, distances between many samples, and `depth`, depths of rows."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import isodepth
import isodepth.cli.options as cli
from isodepth.cli.commands import Answer, Command, progress_wanted
from isodepth.cli.tables import aligned, open_sources, read_samples, read_tables
from isodepth.data.output import check_table_target, replace_file, table_bytes
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
@click.option("-o", "--output", metavar="FILE", help="Write the matrix (.csv or .npy).")
def pairwise(
    samples: tuple[str, ...], group_by: str | None, output: str | None, reading: cli.Reading,
    settings: dict[str, Any],
) -> Answer:  # fmt: skip
    """Compute the distances between many samples.

    Samples are tables, all tables of a folder, or groups of rows of one table. Columns are
    matched by name.

    \b
    Examples:
      isodepth pairwise months -o distances.csv
      isodepth pairwise june.csv july.csv august.csv --scale none
      isodepth pairwise year.csv --group-by month --drop-text
      isodepth pairwise year.csv --group-by origin -o distances.npy
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
    if target is not None:
        replace_file(target, table_bytes(target, matrix._rows(), np.asarray(matrix)))
    content = {
        **matrix.to_dict(), "scale": settings["scale"], "left_out": reading.left_out,
        "output": output,
    }  # fmt: skip
    lines = _summary(matrix, settings["scale"]) + _files(reading, output)
    lines.append(f"signature      {matrix.signature}")
    lines += ["", *matrix.matrix_lines()] if len(matrix) <= _PRINTED else []
    return Answer(lines, content)


def _files(reading: cli.Reading, output: str | None) -> list[str]:
    """Describe the columns that were left out, and the file that was written."""
    lines = [f"left out       {', '.join(reading.left_out)}"] if reading.left_out else []
    return lines + ([f"written to     {output}"] if output else [])


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
@click.option("-o", "--output", metavar="FILE", help="Write the depths (.csv or .npy).")
def depth(
    table: str, of: str | None, output: str | None, reading: cli.Reading, settings: dict[str, Any]
) -> Answer:
    """Compute a depth for each row of a table.

    The depth is near 0 for outliers and largest in the middle of the table, or of another one
    (--of). With -o the depths are written, with the indices of the rows from 0 in a .csv file.

    \b
    Examples:
      isodepth depth june.csv
      isodepth depth june.csv -o deep.csv
      isodepth depth july.csv --of june.csv --depth halfspace -o deep.csv
      isodepth depth raw.csv --drop-text --nan-policy omit -o deep.csv --json
    """
    used = settings.pop("depth", "projection")
    from isodepth.depth.estimators import ESTIMATORS

    estimator = ESTIMATORS[used](**settings)
    estimator.check_options()
    target = None if output is None else check_table_target(output)
    results = read_tables(open_sources([table] if of is None else [table, of]), reading)
    points, *others = (np.asarray(getattr(t, "points", t)) for t in aligned(results))
    reference = others[0] if others else points
    kept = ~np.isnan(points).any(axis=1)
    estimator.fit(reference[~np.isnan(reference).any(axis=1)])
    depths = np.full(len(points), np.nan)
    depths[kept] = estimator.score_samples(points[kept]) if others else estimator.depth_
    if target is not None:
        columns = {"row": range(len(depths)), "depth": depths.tolist()}
        replace_file(target, table_bytes(target, columns, depths))
    content = {
        "depth": used, "rows": len(depths), "depths": plain(depths),
        "columns": results[0].columns, "left_out": reading.left_out, "output": output,
    }  # fmt: skip
    return Answer(_depth_lines(used, depths) + _files(reading, output), content)


def _depth_lines(used: str, depths: np.ndarray) -> list[str]:
    known = np.argsort(depths, kind="stable")[: int(np.isfinite(depths).sum())]  # NaN comes last
    least = [f"row {row}: {depths[row]:.4g}" for row in known[:_LEAST_DEEP]]
    return [
        f"rows           {len(depths)}",
        f"depth          {used}, {depths[known[0]]:.4g} to {depths[known[-1]]:.4g}",
        "least deep     " + "\n               ".join(least),
        f"deepest        row {known[-1]}: {depths[known[-1]]:.4g}",
    ]
