"""The command `isodepth compare`: two tables in files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.data.forms import named_shares
from isodepth.data.frames import Table
from isodepth.data.missing import omit_missing
from isodepth.data.readers import read_table
from isodepth.data.validation import check_points, check_same_width
from isodepth.errors import InvalidInputError

if TYPE_CHECKING:
    from isodepth.metric.comparison import Comparison

# Columns are listed until they carry this share of the direction: the rest only adds noise.
_LISTED_SHARE = 0.95

_SETTINGS = (
    "depth",
    "eps",
    "p",
    "q",
    "scale",
    "n_directions",
    "directions",
    "levels",
    "n_levels",
    "refine",
    "random_state",
    "nan_policy",
)


def add_compare_parser(commands: Any) -> None:
    """Add `compare` to the commands of `isodepth`."""
    parser = commands.add_parser(
        "compare",
        help="compare two tables of numbers",
        description=(
            "Compare two tables of numbers (.csv, .parquet or .npy; rows are points), or folders "
            "of them, which are read in chunks. Prints their distance, the columns that carry the "
            "difference, and the level at which they differ most."
        ),
    )
    parser.add_argument("a", metavar="A", help="first table")
    parser.add_argument("b", metavar="B", help="second table")
    setting = parser.add_argument_group("settings").add_argument
    setting("--depth", help="halfspace, projection (default), irw or ai_irw")
    setting("--eps", type=float, help="share of the outermost mass that is ignored (default 0.1)")
    setting("--p", type=float, help="exponent of the mean over levels, may be inf (default 2)")
    setting(
        "--q",
        type=float,
        help="exponent of the mean over directions: inf (default) for the largest gap, 2, ...",
    )
    setting("--scale", help="pooled: each column in units of its spread; reference: of that in A")
    setting(
        "--missing",
        dest="nan_policy",
        default="raise",
        help="raise (default): refuse missing values; omit: leave out the rows that have any",
    )
    setting(
        "--directions", dest="n_directions", type=int, metavar="N", help="how many (default 1000)"
    )
    setting("--family", dest="directions", help="uniform (default), sobol, orthogonal, ...")
    setting("--levels", type=_levels, help="exact (default), a number of levels, or monte-carlo")
    setting("--n-levels", type=int, metavar="L", help="how many, with --levels monte-carlo")
    setting("--refine", type=int, metavar="STEPS", help="steps of ascent on the sphere, 0 for none")
    setting("--seed", dest="random_state", type=int, default=0, help="default 0")
    setting(
        "--scheduler",
        metavar="ADDRESS",
        help="read the tables in chunks on the Dask cluster with that scheduler (tcp://host:8786)",
    )
    setting(
        "--test",
        dest="n_resamples",
        type=int,
        metavar="N",
        help="also test whether the difference is more than chance, with N relabelings",
    )
    setting(
        "--tolerance",
        type=float,
        metavar="C",
        help="with --test: the share of foreign rows that either table may have",
    )
    output = parser.add_argument_group("output").add_argument
    output("--json", action="store_true", help="print JSON for machines")
    output("--plot", metavar="FILE", help="draw the gap at every level (.png, .pdf, .svg)")
    parser.set_defaults(work=compare_files, report=compare_report)


def _levels(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


# -- work -----------------------------------------------------------------------------------------


def compare_files(options: argparse.Namespace) -> Comparison:
    """Compare the two tables, and draw the comparison if asked to."""
    from isodepth.api import compare, metric_from_options

    given = {name: getattr(options, name) for name in _SETTINGS}
    given = {name: value for name, value in given.items() if value is not None}
    metric = metric_from_options(given)
    if options.plot is not None:
        from isodepth.plot.picture import check_picture, save_picture

        check_picture(options.plot)
    from isodepth.cli import streaming

    comparison: Comparison
    if streaming.wanted(options):
        comparison = streaming.compare_sources(options, metric)
    else:
        a, b = aligned_tables(options.a, options.b, metric.nan_policy)
        comparison = compare(
            a, b, n_resamples=options.n_resamples, tolerance=options.tolerance, **given
        )
    if options.plot is not None:
        from isodepth.plot.gap_profile import gap_profile

        save_picture(gap_profile(comparison).figure, options.plot)
    return comparison


def aligned_tables(
    a_path: str, b_path: str, nan_policy: str
) -> tuple[Table | np.ndarray, Table | np.ndarray]:
    """Both tables with the columns of the first, in its order."""
    omit = nan_policy == "omit"
    (a, a_names), (b, b_names) = (read_table(path, missing=omit) for path in (a_path, b_path))
    # Checked here and not only in the metric, so that a complaint names the file.
    for table, path in ((Table(a, a_names), a_path), (Table(b, b_names), b_path)):
        if omit:
            omit_missing(table, name=path)
        else:
            check_points(table, path, hint=", or leave out these rows with --missing omit")
    if a_names and b_names and a_names != b_names:
        odd = [f"{name!r} is only in {a_path}" for name in a_names if name not in b_names]
        odd += [f"{name!r} is only in {b_path}" for name in b_names if name not in a_names]
        if odd:
            raise InvalidInputError(f"the tables have different columns: {', '.join(odd)}")
        b = b[:, [b_names.index(name) for name in a_names]]
    check_same_width(a.shape[1], b.shape[1], a_path, b_path)
    names = a_names or b_names
    return (Table(a, names), Table(b, names)) if names else (a, b)


# -- output ---------------------------------------------------------------------------------------


def compare_report(comparison: Comparison, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed: JSON for machines, or a few lines for people."""
    if not options.json:
        return _text(comparison)
    report = _report(comparison, (options.a, options.b), notes)
    return json.dumps(report, indent=2, allow_nan=False)


def _report(comparison: Comparison, paths: Sequence[str], notes: list[str]) -> dict[str, Any]:
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
        "samples": [
            {"file": path, "rows": regions.n_points}
            for path, regions in zip(paths, comparison.regions, strict=True)
        ],
        "missing": None if missing is None else missing.to_dict(),
        "test": None if comparison.test is None else comparison.test.to_dict(),
        "warnings": notes,
        **_bounds(comparison),
    }


def _bounds(comparison: Comparison) -> dict[str, Any]:
    """Tables that are read in chunks may have depths that are known up to bounds."""
    bounds = getattr(comparison, "distance_bounds", None)
    return {} if bounds is None else {"distance_bounds": list(bounds)}


def _text(comparison: Comparison) -> str:
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
    if comparison.missing is not None:
        lines.append(f"missing      {comparison.missing}")
    if comparison.test is not None:
        lines.append(f"test         {comparison.test.summary}")
    lines.append(f"signature    {comparison.signature}")
    return "\n".join(lines)


def _carriers(shares: Sequence[tuple[str, float]]) -> str:
    listed, total = [], 0.0
    for name, share in shares:
        listed.append(f"{name} ({share:.0%})")
        total += share
        if total >= _LISTED_SHARE:
            break
    return ", ".join(listed)
