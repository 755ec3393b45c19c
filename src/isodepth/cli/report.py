"""The command `isodepth report`: tables in files, and a page for a colleague.

Two tables are compared and tested; three or more are compared with each other; the file of a
monitor (.npz) is shown as it is.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isodepth.cli.compare import aligned_tables
from isodepth.cli.test import without_blocks
from isodepth.data.output import check_target
from isodepth.data.readers import read_table
from isodepth.errors import InvalidInputError, InvalidOptionError

_RELABELINGS = 199
_SETTINGS = ("depth", "eps", "p", "q", "n_directions", "random_state", "nan_policy")


def add_report_parser(commands: Any) -> None:
    """Add `report` to the commands of `isodepth`."""
    parser = commands.add_parser(
        "report",
        help="write a report of two tables, of many, or of a monitor",
        description=(
            "Write a report as one HTML file that needs nothing else: of two tables of numbers "
            "(.csv, .parquet or .npy), which are compared and tested; of three or more, which are "
            "compared with each other; or of a monitor (.npz)."
        ),
        epilog="example: isodepth report june.csv july.csv -o report.html --missing omit",
    )
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="tables, or one monitor")
    add("-o", "--output", required=True, metavar="FILE", help="where the report goes (.html)")
    add("--title", help="what to call it")
    add("--names", nargs="+", metavar="NAME", help="what to call the tables (default: their files)")
    setting = parser.add_argument_group("settings").add_argument
    setting(
        "--test", dest="n_resamples", type=int, metavar="N",
        help=f"relabelings of the test of two tables (default {_RELABELINGS}), 0 for no test",
    )  # fmt: skip
    setting("--tolerance", type=float, metavar="C", help="share of foreign rows that is tolerated")
    setting(
        "--blocks", metavar="COLUMN",
        help="rows with one number in this column change sides together; it is not compared",
    )  # fmt: skip
    setting("--scale", help="pooled (default): each column in units of its spread; none: as it is")
    setting(
        "--missing", dest="nan_policy", default="raise",
        help="raise (default): refuse missing values; omit: leave out the rows that have any",
    )  # fmt: skip
    setting("--depth", help="halfspace, projection (default), irw or ai_irw")
    setting("--eps", type=float, help="share of the outermost mass that is ignored (default 0.1)")
    setting("--p", type=float, help="exponent of the mean over levels, may be inf (default 2)")
    setting("--q", type=float, help="exponent of the mean over directions (default 2)")
    setting("--directions", dest="n_directions", type=int, metavar="N", help="default 1000")
    setting("--seed", dest="random_state", type=int, default=0, help="default 0")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(work=report_files, report=report_report)


def report_files(options: argparse.Namespace) -> dict[str, Any]:
    """Make the report, and say what it is of."""
    check_target(options.output)
    names = options.names or _names(options.files)
    if len(names) != len(options.files):
        raise InvalidOptionError(
            f"--names must name each of the {len(options.files)} file(s), got {len(names)}"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if len(options.files) == 1:
            result, more, kind = _monitor(options), {}, "monitor"
        elif len(options.files) == 2:
            result, kind = _comparison(options), "comparison"
            more = {"names": names, "sources": options.files}
        else:
            result, more, kind = _matrix(options, names), {}, "many samples"
    notes = list(dict.fromkeys(str(warning.message) for warning in caught))
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    result.report(
        options.output, title=options.title, notes=notes, command=_command(options), **more
    )
    return {"report": options.output, "kind": kind, "files": options.files}


def report_report(made: dict[str, Any], notes: list[str], options: argparse.Namespace) -> str:
    """What is printed: where the report is."""
    if options.json:
        return json.dumps({**made, "warnings": notes}, indent=2, allow_nan=False)
    return f"report of {made['kind']} in {made['report']}"


def _given(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in _SETTINGS}
    given = {name: value for name, value in given.items() if value is not None}
    scale = "pooled" if options.scale is None else options.scale
    # A mean over directions is the better statistic, and steadier where these are orthogonal.
    given = {"q": 2.0, **given, "scale": None if scale == "none" else scale}
    return given if math.isinf(given["q"]) else {"directions": "orthogonal", **given}


def _comparison(options: argparse.Namespace) -> Any:
    from isodepth.api import compare, metric_from_options

    given = _given(options)
    metric = metric_from_options(given)
    n_resamples = _RELABELINGS if options.n_resamples is None else options.n_resamples
    a, b = options.files
    tables = aligned_tables(a, b, metric.nan_policy)
    if n_resamples == 0:
        for name in ("blocks", "tolerance"):
            if getattr(options, name) is not None:
                raise InvalidOptionError(f"--{name} belongs to the test; leave out --test 0")
        return compare(*tables, **given)
    if options.blocks is not None:
        tables, given["blocks"] = without_blocks(tables, options.blocks)
    return compare(*tables, n_resamples=n_resamples, tolerance=options.tolerance, **given)


def _matrix(options: argparse.Namespace, names: Sequence[str]) -> Any:
    from isodepth.many.distance_matrix import DistanceMatrix
    from isodepth.many.pairwise import pairwise, tables

    for name in ("n_resamples", "tolerance", "blocks"):
        if getattr(options, name) is not None:
            raise InvalidOptionError(
                f"{'--test' if name == 'n_resamples' else f'--{name}'} belongs to the test of two "
                f"tables, got {len(options.files)}; leave it out"
            )
    given = _given(options)
    omit = given["nan_policy"] == "omit"
    found = [read_table(path, missing=omit) for path in options.files]
    stack = tables(found, **given)
    return DistanceMatrix.of(pairwise(stack), names, signature=stack.signature)


def _monitor(options: argparse.Namespace) -> Any:
    from isodepth.inference.monitor import DepthMonitor

    path = options.files[0]
    if not path.lower().endswith(".npz"):
        raise InvalidInputError(
            f"a report is of two tables or more, or of a monitor (.npz); got {path} alone"
        )
    return DepthMonitor.load(path)


def _names(files: Sequence[str]) -> list[str]:
    """The names of the files without folder and ending, where that tells them apart."""
    stems = [Path(file).stem for file in files]
    return stems if len(set(stems)) == len(files) else list(files)


def _command(options: argparse.Namespace) -> str:
    """The command that makes this report again."""
    words = ["isodepth", "report", *options.files, "-o", options.output]
    flags = {
        "--title": options.title, "--test": options.n_resamples, "--tolerance": options.tolerance,
        "--blocks": options.blocks, "--scale": options.scale, "--missing": options.nan_policy,
        "--depth": options.depth, "--eps": options.eps, "--p": options.p, "--q": options.q,
        "--directions": options.n_directions, "--seed": options.random_state,
    }  # fmt: skip
    for flag, value in flags.items():
        if value is not None and (flag, value) not in (("--missing", "raise"), ("--seed", 0)):
            words += [flag, str(value)]
    if options.names:
        words += ["--names", *options.names]
    return shlex.join(words)
