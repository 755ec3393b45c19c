"""The command `isodepth depth`: how deep each row lies in its table, or in another."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np

from isodepth.cli.outputs import as_json
from isodepth.cli.parsers import TABLES, add_command, add_json
from isodepth.cli.reading import align, read_tables
from isodepth.cli.settings import add_reading, add_settings, given_settings, wish_of
from isodepth.data.input_file import InputFile, open_input
from isodepth.data.output import replace_file
from isodepth.data.results import plain
from isodepth.data.saving import check_table_target, endings_for, with_column
from isodepth.data.validation import check_choice

_SETTINGS = ("depth", "n_directions", "directions", "random_state")
_SHOWN = 5


def add_depth_parser(commands: Any) -> None:
    """Add `depth` to the commands of `isodepth`."""
    parser = add_command(
        commands,
        "depth",
        "a depth for each row of a table",
        f"How deep each row of a table {TABLES} lies in the table, or in another one: near 0 for "
        "an outlier, largest in the middle. With -o the table is written with one more column, and "
        "everything else in it as it was.",
        [
            "isodepth depth june.csv",
            "isodepth depth june.csv -o deep.csv",
            "isodepth depth july.csv --of june.csv --depth halfspace -o deep.csv --name in_june",
            "isodepth depth raw.csv --drop-text --missing omit -o deep.csv --json",
        ],
    )
    parser.add_argument("table", metavar="TABLE", help="the rows that are judged")
    parser.add_argument("--of", metavar="TABLE", help="the table in which they are judged")
    add_reading(parser)
    add_settings(parser, _SETTINGS)
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--output", metavar="FILE", help="the table with a column of depths")
    output.add_argument(
        "--name", default="depth", metavar="NAME", help="of the new column (default depth)"
    )
    add_json(output)
    parser.set_defaults(work=depth_of_rows, report=depth_report, finish=write_depths)


class Depths(NamedTuple):
    """The depths (n,), NaN for rows with missing values, and the table they are of."""

    depths: np.ndarray
    source: InputFile
    columns: tuple[str, ...] | None
    content: bytes | None


def depth_of_rows(options: argparse.Namespace) -> Depths:
    """Judge the rows; the new table is made ready here, so that a fault leaves nothing behind."""
    from isodepth.depth import BY_NAME

    given = given_settings(options, _SETTINGS)
    name = check_choice(given.pop("depth", "projection"), "--depth", BY_NAME)
    estimator = BY_NAME[name](**given)
    estimator.check_options()
    wish_of(options)
    if options.output is not None:
        check_table_target(options.output)
    source = open_input(options.table)
    if options.output is not None:
        why = f" for a table that is read from {source.ending}"
        target = check_table_target(options.output, endings_for(source), why)
    paths = [options.table] if options.of is None else [options.table, options.of]
    tables = align(paths, read_tables(paths, options, sources=[source]))
    points, columns = tables[0]
    reference = tables[-1].points
    kept = ~np.isnan(points).any(axis=1)
    inside = reference[~np.isnan(reference).any(axis=1)]
    if options.of is None:
        found = estimator.fit(inside).depth_
    else:
        found = estimator.fit(inside).score_samples(points[kept])
    depths = np.full(len(points), np.nan)
    depths[kept] = found
    content = None
    if options.output is not None:
        content = with_column(source, options.name, depths, target.suffix.lower())
    return Depths(depths, source, columns, content)


def write_depths(found: Depths, notes: list[str], options: argparse.Namespace) -> None:
    """Write the table with its new column, if asked for."""
    if found.content is not None:
        replace_file(check_table_target(options.output), found.content)


def depth_report(found: Depths, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed: all depths for machines, or the least deep rows for people."""
    depths = found.depths
    if options.json:
        content = {
            "depth": options.depth or "projection", "rows": len(depths), "depths": plain(depths),
            "columns": found.columns, "left_out": options.left_out, "output": options.output,
        }  # fmt: skip
        return as_json(content, notes)
    order = np.argsort(depths, kind="stable")  # NaN comes last
    known = order[: int(np.isfinite(depths).sum())]
    lines = [
        f"rows         {len(depths)}, of which {len(depths) - len(known)} have missing values"
        if len(known) < len(depths)
        else f"rows         {len(depths)}",
        f"depth        {options.depth or 'projection'}, {depths[known[0]]:.4g} to "
        f"{depths[known[-1]]:.4g}",
        "least deep   "
        + "\n             ".join(f"row {row}: {depths[row]:.4g}" for row in known[:_SHOWN]),
        f"deepest      row {known[-1]}: {depths[known[-1]]:.4g}",
    ]
    if options.left_out:
        lines.append(f"left out     {', '.join(options.left_out)}")
    if options.output is not None:
        lines.append(f"written      {options.output}, with a column {options.name!r}")
    return "\n".join(lines)
