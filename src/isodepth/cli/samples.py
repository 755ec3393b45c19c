"""The command `pairwise`: distances between many samples."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import isodepth
import isodepth.cli.options as cli
from isodepth.cli.commands import Answer, Command, progress_wanted
from isodepth.cli.tables import read_samples
from isodepth.data.output import check_csv_target, csv_bytes, replace_file
from isodepth.errors import InvalidInputError

# A larger matrix would be wider than a terminal.
_PRINTED = 12


@click.command(cls=Command)
@click.argument("samples", nargs=-1, required=True)
@click.option("--group-by", metavar="COLUMN", help="Rows with the same value form one sample.")
@cli.reading_options()
@cli.settings_options(without=("refine",), levels="20")
@click.option("-o", "--output", metavar="FILE", help="Write the matrix (.csv).")
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
      isodepth pairwise year.csv --group-by origin -o distances.csv
      isodepth pairwise months --json
    """
    from isodepth.many.pairwise import table_metric

    options = {**settings, "nan_policy": reading.nan_policy}
    table_metric(options).check_for_tables("float64")
    target = None if output is None else check_csv_target(output)
    labels, tables = read_samples(samples, reading, group_by)
    if len(tables) < 2:
        raise InvalidInputError(
            f"pairwise needs at least two samples, got {labels[0]}; add others, or use --group-by"
        )
    named = dict(zip(labels, tables, strict=True))
    matrix = isodepth.pairwise(named, progress=progress_wanted(), **options)
    if target is not None:
        replace_file(target, csv_bytes(matrix._rows()))
    content = {
        **matrix.to_dict(), "scale": settings["scale"], "left_out": reading.left_out,
        "output": output,
    }  # fmt: skip
    lines = _summary(matrix, settings["scale"])
    lines += [f"left out       {', '.join(reading.left_out)}"] if reading.left_out else []
    lines += [f"written to     {output}"] if output else []
    lines.append(f"signature      {matrix.signature}")
    lines += ["", *matrix.matrix_lines()] if len(matrix) <= _PRINTED else []
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
