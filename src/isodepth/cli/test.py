"""The command `isodepth test`: do two tables in files differ by more than chance?"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.cli.compare import aligned_tables
from isodepth.data.frames import Table
from isodepth.errors import InvalidOptionError

if TYPE_CHECKING:
    from isodepth.significance.result import TwoSampleResult

_SETTINGS = (
    "n_resamples",
    "tolerance",
    "nan_policy",
    "q",
    "p",
    "eps",
    "n_directions",
    "levels",
    "random_state",
)


def add_test_parser(commands: Any) -> None:
    """Add `test` to the commands of `isodepth`."""
    parser = commands.add_parser(
        "test",
        help="test whether two tables of numbers differ by more than chance",
        description=(
            "Test whether the rows of two tables of numbers (.csv, .parquet or .npy) come from one "
            "law, by dealing them out to two tables again and again. Prints a p-value, how far "
            "apart the tables are, what chance gives, and the columns that differ."
        ),
    )
    parser.add_argument("a", metavar="A", help="first table")
    parser.add_argument("b", metavar="B", help="second table")
    setting = parser.add_argument_group("settings").add_argument
    setting("--resamples", dest="n_resamples", type=int, metavar="N", help="default 999")
    setting(
        "--tolerance", type=float, metavar="C",
        help="share of foreign rows that either table may have (default 0)",
    )  # fmt: skip
    setting(
        "--blocks", metavar="COLUMN",
        help="rows with one number in this column change sides together; it is not compared",
    )  # fmt: skip
    setting(
        "--scale",
        help="pooled (default): each column in units of its spread; none: as it is",
    )
    setting(
        "--missing", dest="nan_policy", default="raise",
        help="raise (default): refuse missing values; omit: leave out the rows that have any",
    )  # fmt: skip
    setting("--q", type=float, help="exponent of the mean over directions (default 2)")
    setting("--p", type=float, help="exponent of the mean over levels (default 2)")
    setting("--eps", type=float, help="share of the outermost mass that is ignored (default 0.1)")
    setting("--directions", dest="n_directions", type=int, metavar="N", help="about 100")
    setting("--levels", type=int, help="how many (default 20)")
    setting("--seed", dest="random_state", type=int, default=0, help="default 0")
    output = parser.add_argument_group("output").add_argument
    output("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(work=test_files, report=test_report)


def test_files(options: argparse.Namespace) -> TwoSampleResult:
    """Test the two tables."""
    from isodepth.data.missing import NAN_POLICIES
    from isodepth.data.validation import check_choice
    from isodepth.significance.two_sample import two_sample_test

    given = {name: getattr(options, name) for name in _SETTINGS}
    given = {name: value for name, value in given.items() if value is not None}
    if options.scale is not None:
        given["scale"] = None if options.scale == "none" else options.scale
    check_choice(options.nan_policy, "--missing", NAN_POLICIES)
    tables = aligned_tables(options.a, options.b, options.nan_policy)
    if options.blocks is not None:
        tables, given["blocks"] = without_blocks(tables, options.blocks)
    return two_sample_test(*tables, **given)


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
        report = {**result.to_dict(), "files": [options.a, options.b], "warnings": notes}
        return json.dumps(report, indent=2, allow_nan=False)
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
    if result.missing is not None:
        lines.append(f"missing      {result.missing}")
    lines.append(f"signature    {result.signature}")
    return "\n".join(lines)
