"""The command `isodepth report`: tables in files, and a page for a colleague.

Two tables are compared and tested; three or more are compared with each other; the file of a
monitor (.npz) is shown as it is.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from isodepth.cli.outputs import as_json, check_outputs, progress_wanted, save_report
from isodepth.cli.parsers import TABLES, add_command, add_json
from isodepth.cli.reading import align, aligned_tables, file_names, plain_table, read_tables
from isodepth.cli.settings import (
    add_reading,
    add_settings,
    add_test_settings,
    given_settings,
    wish_of,
)
from isodepth.cli.test import without_blocks
from isodepth.errors import InvalidInputError, InvalidOptionError

_RELABELINGS = 199
_SETTINGS = ("scale", "depth", "eps", "p", "q", "n_directions", "random_state")
_DEFAULTS = {"scale": "pooled", "q": "2"}
_TEXTS = {"scale": "pooled: each column in units of its spread; none: as it is"}
_OF_TESTS = {"n_resamples": "--test", "tolerance": "--tolerance", "blocks": "--blocks"}


def add_report_parser(commands: Any) -> None:
    """Add `report` to the commands of `isodepth`."""
    parser = add_command(
        commands,
        "report",
        "write a report of two tables, of many, or of a monitor",
        "Write a report as one HTML file that needs nothing else: of two tables of numbers "
        f"{TABLES}, which are compared and tested; of three or more, which are compared with each "
        "other; or of a monitor (.npz).",
        [
            "isodepth report june.csv july.csv -o report.html --blocks day",
            "isodepth report june.csv july.csv august.csv -o report.html --json",
            "isodepth report raw.csv july.csv -o report.html --drop-text --missing omit --test 49",
            "isodepth report monitor.npz -o report.html",
        ],
    )
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="tables, or one monitor")
    add("-o", "--output", dest="page", required=True, metavar="FILE",
        help="where the report goes (.html)")  # fmt: skip
    add("--title", help="what to call it")
    add("--names", nargs="+", metavar="NAME", help="what to call the tables (default: their files)")
    add_reading(parser)
    add_settings(parser, _SETTINGS, _DEFAULTS, _TEXTS)
    add_test_settings(parser, within=True, default=f"{_RELABELINGS}, 0 for no test")
    add_json(parser.add_argument_group("output"))
    parser.set_defaults(work=report_files, report=report_report, finish=write_page)


class Made(NamedTuple):
    """What the report is of, its kind in words, and more that the report wants to know."""

    result: Any
    kind: str
    more: dict[str, Any]


def report_files(options: argparse.Namespace) -> Made:
    """Find what the report is to show."""
    check_outputs(options)
    names = options.names or file_names(options.files)
    if len(names) != len(options.files):
        raise InvalidOptionError(
            f"--names must name each of the {len(options.files)} file(s), got {len(names)}"
        )
    if len(options.files) == 1:
        return Made(_monitor(options), "monitor", {})
    if len(options.files) == 2:
        more = {"names": names, "sources": options.files}
        return Made(_comparison(options), "comparison", more)
    return Made(_matrix(options, names), "many samples", {})


def write_page(made: Made, notes: list[str], options: argparse.Namespace) -> None:
    """Write the report."""
    save_report(made.result, options, notes, title=options.title, **made.more)


def report_report(made: Made, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed: where the report is."""
    if options.json:
        said = {"report": options.page, "kind": made.kind, "files": options.files}
        return as_json(said, notes)
    return f"report of {made.kind} in {options.page}"


def _given(options: argparse.Namespace) -> dict[str, Any]:
    policy = "omit" if wish_of(options).missing else "raise"
    # A mean over directions is the better statistic, and steadier where these are orthogonal.
    given = {"q": 2.0, "scale": "pooled", **given_settings(options, _SETTINGS)}
    given["nan_policy"] = policy
    return given if math.isinf(given["q"]) else {"directions": "orthogonal", **given}


def _comparison(options: argparse.Namespace) -> Any:
    from isodepth.api import Metric, compare

    given = _given(options)
    metric = Metric.from_options(given)
    n_resamples = _RELABELINGS if options.n_resamples is None else options.n_resamples
    if n_resamples == 0:
        for name in ("blocks", "tolerance"):
            if getattr(options, name) is not None:
                raise InvalidOptionError(f"--{name} belongs to the test; leave out --test 0")
    a, b = options.files
    tables = aligned_tables(a, b, metric.nan_policy, options)
    if n_resamples == 0:
        return metric.compare(*tables)
    if options.blocks is not None:
        tables, given["blocks"] = without_blocks(tables, options.blocks)
    x, y = tables
    return compare(
        x, y, n_resamples=n_resamples, tolerance=options.tolerance, progress=progress_wanted(),
        **given,
    )  # fmt: skip


def _matrix(options: argparse.Namespace, names: Sequence[str]) -> Any:
    from isodepth.many.pairwise import pairwise

    for name, flag in _OF_TESTS.items():
        if getattr(options, name) is not None:
            raise InvalidOptionError(
                f"{flag} belongs to the test of two tables, got {len(options.files)}; leave it out"
            )
    given = _given(options)
    tables = align(options.files, read_tables(options.files, options))
    samples = dict(zip(names, map(plain_table, tables), strict=True))
    return pairwise(samples, progress=progress_wanted(), **given)


def _monitor(options: argparse.Namespace) -> Any:
    from isodepth.inference.monitor import DepthMonitor

    path = options.files[0]
    if not path.lower().endswith(".npz"):
        raise InvalidInputError(
            f"a report is of two tables or more, or of a monitor (.npz); got {path} alone"
        )
    return DepthMonitor.load(path)
