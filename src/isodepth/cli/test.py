"""The command `isodepth test`: do two tables in files differ by more than chance?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.cli.outputs import (
    add_pictures,
    as_json,
    check_outputs,
    progress_wanted,
    save_plot,
    save_report,
)
from isodepth.cli.parsers import TABLES, add_command, add_json
from isodepth.cli.reading import aligned_tables, file_names
from isodepth.cli.settings import (
    add_reading,
    add_settings,
    add_test_settings,
    given_settings,
    wish_of,
)
from isodepth.data.frames import Table
from isodepth.errors import InvalidOptionError

if TYPE_CHECKING:
    from isodepth.significance.result import TwoSampleResult

_SETTINGS = ("scale", "depth", "eps", "p", "q", "n_directions", "levels", "random_state")
_DEFAULTS = {
    "scale": "pooled", "q": "2, and inf with a tolerance", "n_directions": "about 100",
    "levels": "20",
}  # fmt: skip
_TEXTS = {
    "scale": "pooled: each column in units of its spread; none: as it is",
    "levels": "at how many levels regions are compared",
    "random_state": "where directions and relabelings come from",
}


def add_test_parser(commands: Any) -> None:
    """Add `test` to the commands of `isodepth`."""
    parser = add_command(
        commands,
        "test",
        "test whether two tables of numbers differ by more than chance",
        f"Test whether the rows of two tables of numbers {TABLES} come from one law, by dealing "
        "them out to two tables again and again. Prints a p-value, how far apart the tables are, "
        "what chance gives, and the columns that differ.",
        [
            "isodepth test june.csv july.csv",
            "isodepth test june.csv july.csv --resamples 199 --tolerance 0.05",
            "isodepth test june.csv july.csv --blocks day --json",
            "isodepth test june.csv july.csv --resamples 99 --plot chance.png",
        ],
    )
    parser.add_argument("a", metavar="A", help="first table")
    parser.add_argument("b", metavar="B", help="second table")
    add_reading(parser)
    add_test_settings(parser, within=False)
    add_settings(parser, _SETTINGS, _DEFAULTS, _TEXTS)
    output = parser.add_argument_group("output")
    add_json(output)
    add_pictures(output, "what chance gives, and what was found")
    parser.set_defaults(work=test_files, report=test_report, finish=write_test)


def test_files(options: argparse.Namespace) -> TwoSampleResult:
    """Test the two tables."""
    from isodepth.significance.two_sample import two_sample_test

    policy = "omit" if wish_of(options).missing else "raise"
    given = given_settings(options, (*_SETTINGS, "n_resamples", "tolerance"))
    check_outputs(options)
    tables = aligned_tables(options.a, options.b, policy, options)
    if options.blocks is not None:
        tables, given["blocks"] = without_blocks(tables, options.blocks)
    return two_sample_test(*tables, nan_policy=policy, progress=progress_wanted(), **given)


def write_test(result: TwoSampleResult, notes: list[str], options: argparse.Namespace) -> None:
    """Write the picture and the report, if asked for."""
    if options.plot is not None:
        from isodepth.plot.null_distribution import null_distribution

        save_plot(null_distribution(result), options.plot)
    paths = [options.a, options.b]
    save_report(result, options, notes, names=file_names(paths), sources=paths)


def without_blocks(
    tables: tuple[Any, Any], name: str
) -> tuple[tuple[Table, Table], tuple[Any, Any]]:
    """The tables without the column of blocks, and that column."""
    rest, labels = [], []
    for table in tables:
        names = table.columns if isinstance(table, Table) else None
        if names is None or name not in names or len(names) == 1:
            there = "no names" if names is None else ", ".join(names)
            raise InvalidOptionError(
                f"--blocks must name one of several columns, got {name!r}; the columns are {there}"
            )
        at = names.index(name)
        labels.append(table.points[:, at])
        kept = tuple(other for other in names if other != name)
        rest.append(Table(np.delete(table.points, at, axis=1), kept))
    return (rest[0], rest[1]), (labels[0], labels[1])


def test_report(result: TwoSampleResult, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed: JSON for machines, or a few lines for people."""
    if options.json:
        more = {"files": [options.a, options.b], "left_out": options.left_out}
        return as_json({**result.to_dict(), **more}, notes)
    width = max(len(column.column) for column in result.columns)
    lines = [
        f"p-value      {result.pvalue:.4g}",
        f"apart by     {result.statistic:.6g}"
        + (f", beyond a share {result.tolerance:g} of foreign rows" if result.tolerance else ""),
        f"by chance    {result.null_mean:.6g} on average "
        f"({result.excess:+.1f} standard deviations)",
        "columns      "
        + "\n             ".join(
            f"{c.column:{width}}  {c.gap:.4g}, p = {c.pvalue:.4g}" for c in result.columns
        ),
    ]
    if options.left_out:
        lines.append(f"left out     {', '.join(options.left_out)}")
    if result.missing is not None:
        lines.append(f"missing      {result.missing}")
    lines.append(f"signature    {result.signature}")
    if options.page is not None:
        lines.append(f"report       {options.page}")
    return "\n".join(lines)
