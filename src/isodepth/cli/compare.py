"""The command `isodepth compare`: two tables in files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
from isodepth.data.forms import named_shares
from isodepth.errors import InvalidOptionError

if TYPE_CHECKING:
    from isodepth.metric.comparison import Comparison

# Columns are listed until they carry this share of the direction: the rest only adds noise.
_LISTED_SHARE = 0.95

_SETTINGS = (
    "scale", "depth", "eps", "p", "q", "n_directions", "directions", "levels", "n_levels", "refine",
    "random_state",
)  # fmt: skip


def add_compare_parser(commands: Any) -> None:
    """Add `compare` to the commands of `isodepth`."""
    parser = add_command(
        commands,
        "compare",
        "compare two tables of numbers",
        f"Compare two tables of numbers {TABLES}, or folders of them, which are read in chunks. "
        "Rows are points; columns are matched by name. Prints their distance, the columns that "
        "carry the difference, and the level at which they differ most.",
        [
            "isodepth compare june.csv july.csv",
            "isodepth compare june.csv july.csv --scale pooled --test 199",
            "isodepth compare june.csv july.csv --columns temp,dewp --missing omit",
            "isodepth compare raw.csv july.csv --drop-text --missing omit --json",
            "isodepth compare june.csv july.csv --test 99 --plot gaps.png --report report.html",
            "cat june.csv | isodepth compare - july.csv",
        ],
    )
    parser.add_argument("a", metavar="A", help="first table")
    parser.add_argument("b", metavar="B", help="second table")
    add_reading(parser)
    add_settings(parser, _SETTINGS)
    add_test_settings(parser, within=True)
    parser.add_argument_group("clusters").add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="read the tables in chunks on the Dask cluster with that scheduler (tcp://host:8786)",
    )
    output = parser.add_argument_group("output")
    add_json(output)
    add_pictures(output, "the gap at every level")
    parser.set_defaults(work=compare_files, report=compare_report, finish=write_comparison)


# -- work -----------------------------------------------------------------------------------------


def compare_files(options: argparse.Namespace) -> Comparison:
    """Compare the two tables."""
    from isodepth.api import Metric, compare

    policy = "omit" if wish_of(options).missing else "raise"
    given = {**given_settings(options, _SETTINGS), "nan_policy": policy}
    metric = Metric.from_options(given)
    if options.n_resamples is None:
        for name in ("tolerance", "blocks"):
            if getattr(options, name) is not None:
                raise InvalidOptionError(
                    f"--{name} belongs to the test; ask for one as well, such as --test 199"
                )
    check_outputs(options)
    from isodepth.cli import streaming

    if streaming.wanted(options):
        _refuse_for_chunks(options)
        return streaming.compare_sources(options, metric)
    tables = aligned_tables(options.a, options.b, policy, options)
    tested: dict[str, Any] = dict(given)
    if options.blocks is not None:
        from isodepth.cli.test import without_blocks

        tables, tested["blocks"] = without_blocks(tables, options.blocks)
    if options.n_resamples is None:
        return metric.compare(*tables)
    a, b = tables
    return compare(
        a, b, n_resamples=options.n_resamples, tolerance=options.tolerance,
        progress=progress_wanted(), **tested,
    )  # fmt: skip


def _refuse_for_chunks(options: argparse.Namespace) -> None:
    """Tables that are read in chunks do not do everything yet."""
    given = {
        "--drop": options.drop, "--drop-text": options.drop_text,
        "--test": options.n_resamples is not None, "--report": options.page,
    }  # fmt: skip
    for flag, value in given.items():
        if value:
            raise InvalidOptionError(
                f"{flag} does not go with tables that are read in chunks (folders, large files); "
                "leave it out" + (", and choose --columns" if "drop" in flag else "")
            )


def write_comparison(comparison: Any, notes: list[str], options: argparse.Namespace) -> None:
    """Write the picture and the report, if asked for."""
    if options.plot is not None:
        from isodepth.plot.gap_profile import gap_profile

        save_plot(gap_profile(comparison), options.plot)
    paths = [options.a, options.b]
    save_report(comparison, options, notes, names=file_names(paths), sources=paths)


# -- output ---------------------------------------------------------------------------------------


def compare_report(comparison: Comparison, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed: JSON for machines, or a few lines for people."""
    if not options.json:
        return _text(comparison, getattr(options, "left_out", []), options.page)
    return as_json(_report(comparison, options), notes)


def _report(comparison: Comparison, options: argparse.Namespace) -> dict[str, Any]:
    largest_gap = comparison.largest_gap.to_dict()
    missing = comparison.missing
    return {
        "distance": comparison.distance,
        "signature": comparison.signature,
        "column_shares": named_shares(comparison.column_shares),
        "largest_gap": largest_gap,
        # The former name, for one more release.
        "worst": largest_gap,
        "columns": comparison.columns,
        "left_out": getattr(options, "left_out", []),
        "samples": [
            {"file": path, "rows": regions.n_points}
            for path, regions in zip((options.a, options.b), comparison.regions, strict=True)
        ],
        "missing": None if missing is None else missing.to_dict(),
        "test": None if comparison.test is None else comparison.test.to_dict(),
        "report": options.page,
        **_bounds(comparison),
    }


def _bounds(comparison: Comparison) -> dict[str, Any]:
    """Tables that are read in chunks may have depths that are known up to bounds."""
    bounds = getattr(comparison, "distance_bounds", None)
    return {} if bounds is None else {"distance_bounds": list(bounds)}


def _text(comparison: Comparison, left_out: Sequence[str], page: str | None) -> str:
    largest = comparison.largest_gap
    lines = [
        f"distance     {comparison.distance:.6g}",
        f"carried by   {_carriers(comparison.column_shares)}",
        f"largest gap  {largest.gap:.6g}, between the regions that hold the deepest "
        f"{largest.level:.1%} of each sample (beta = {largest.level:.4g})",
    ]
    low, high = _bounds(comparison).get("distance_bounds", (0.0, 0.0))
    if low < high:
        lines.insert(1, f"between      {low:.6g} and {high:.6g}, had all depths been exact")
    if left_out:
        lines.append(f"left out     {', '.join(left_out)}")
    if comparison.missing is not None:
        lines.append(f"missing      {comparison.missing}")
    if comparison.test is not None:
        lines.append(f"test         {comparison.test.summary}")
    lines.append(f"signature    {comparison.signature}")
    if page is not None:
        lines.append(f"report       {page}")
    return "\n".join(lines)


def _carriers(shares: Sequence[tuple[str, float]]) -> str:
    listed, total = [], 0.0
    for name, share in shares:
        listed.append(f"{name} ({share:.0%})")
        total += share
        if total >= _LISTED_SHARE:
            break
    return ", ".join(listed)
