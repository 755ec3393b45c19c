"""The command `depth`: depth of each row in its table, or in another one."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import isodepth.cli.options as cli
from isodepth.cli.commands import Answer, Command
from isodepth.cli.tables import aligned, open_sources, read_tables
from isodepth.data.output import check_table_target, endings_for, replace_file, with_column
from isodepth.data.results import plain

_SHOWN = 5


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
    lines = [*_lines(used, depths), *reading.lines()]
    if output is not None:
        lines.append(f"written to     {output}, with a column {name!r}")
    return Answer(lines, content)


def _lines(used: str, depths: np.ndarray) -> list[str]:
    known = np.argsort(depths, kind="stable")[: int(np.isfinite(depths).sum())]  # NaN comes last
    least = [f"row {row}: {depths[row]:.4g}" for row in known[:_SHOWN]]
    return [
        f"rows           {len(depths)}",
        f"depth          {used}, {depths[known[0]]:.4g} to {depths[known[-1]]:.4g}",
        "least deep     " + "\n               ".join(least),
        f"deepest        row {known[-1]}: {depths[known[-1]]:.4g}",
    ]
