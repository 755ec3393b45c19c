"""The commands `compare`, `test` and `report`: one comparison of two tables, shown in three ways.

All of them make the same `isodepth.compare` call, so that the same files and options give the same
numbers, whichever command is asked.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import click

from isodepth.cli.commands import Answer, Command, note, progress_wanted
from isodepth.cli.options import (
    PERMUTATIONS,
    Reading,
    check_outputs,
    picture_options,
    reading_options,
    save_outputs,
    settings_options,
    test_options,
)
from isodepth.cli.tables import aligned, file_names, read_tables, read_with_labels
from isodepth.data.extras import load_extra
from isodepth.errors import InvalidInputError, InvalidOptionError

Options = dict[str, Any]
#: Files above this are read in chunks.
LARGE_BYTES = 1 << 28
#: How long to wait for a scheduler to answer.
SCHEDULER_SECONDS = 10.0


def compare_tables(
    paths: Sequence[str], reading: Reading, settings: Options, test: Options
) -> tuple[Any, Options]:
    """The comparison of two tables, and what its report says about their files."""
    from isodepth.api import compare, metric_from_options

    _check_test(test)
    options = {**settings, "nan_policy": reading.nan_policy}
    metric_from_options(options)  # what is wrong with them is said before anything is read
    found, labels = read_with_labels(paths, reading, [test["blocks"]])
    if test["n_permutations"]:
        options |= {**test, "progress": progress_wanted()}
        if test["blocks"] is not None:
            options["blocks"] = tuple(blocks for (blocks,) in labels)
    about = {"names": file_names(paths), "sources": paths, "block_column": test["blocks"]}
    if reading.columns:
        about["read_options"] = [{"columns": list(reading.columns)} for _ in found]
    else:
        about["read_options"] = [{"drop": each.left_out} for each in found]
    x, y = aligned(paths, found)
    return compare(x, y, **options), about


def _check_test(test: Options) -> None:
    for name in ("tolerance", "blocks"):
        if test[name] is not None and not test["n_permutations"]:
            raise InvalidOptionError(
                f"--{name} belongs to the test; ask for one, such as --permutations 199"
            )


# -- compare --------------------------------------------------------------------------------------


@click.command(cls=Command)
@click.argument("a")
@click.argument("b")
@reading_options()
@settings_options()
@test_options(0)
@click.option("--scheduler", metavar="ADDRESS", help="Read in chunks on this Dask cluster.")
@picture_options("the gap at every level")
def compare(
    a: str, b: str, scheduler: str | None, plot: str | None, page: str | None, reading: Reading,
    settings: Options, test: Options,
) -> Answer:  # fmt: skip
    """Compare two tables of numbers.

    A and B are tables, or folders of them, which are read in chunks. One observation per row;
    columns are matched by name. Prints their distance, the columns that contribute most, and the
    level at which they differ most.

    \b
    Examples:
      isodepth compare june.csv july.csv
      isodepth compare june.csv july.csv --permutations 199
      isodepth compare june.csv july.csv --columns temp,dewp --nan-policy omit
      isodepth compare raw.csv july.csv --drop-text --nan-policy omit --json
      isodepth compare june.csv july.csv --permutations 99 --plot gaps.png --report report.html
      cat june.csv | isodepth compare - july.csv
    """
    check_outputs(plot, page)
    about: Options = {}
    if scheduler is not None or any(map(_is_large, (a, b))):
        comparison = _compare_chunks((a, b), reading, settings, test, page, scheduler)
    else:
        comparison, about = compare_tables((a, b), reading, settings, test)
    save_outputs(comparison, plot, page, "gaps", **about)
    content = _content(comparison, (a, b), reading, settings, page)
    test_content = None if comparison.test is None else comparison.test.to_dict()
    return Answer(
        [str(comparison), *_more_lines(reading, settings, page)], {**content, "test": test_content}
    )


def _more_lines(reading: Reading, settings: Options, page: str | None) -> list[str]:
    """What a result does not know about itself: units, columns left out, and its report."""
    lines = [f"  units of the columns: {settings['scale'] or 'as they are'} (--scale)"]
    if reading.left_out:
        lines.append(f"  left out: {', '.join(reading.left_out)}")
    return lines if page is None else [*lines, f"  report: {page}"]


def _content(
    comparison: Any, files: Sequence[str], reading: Reading, settings: Options, page: str | None
) -> Options:
    """A comparison for machines, without the curve of all levels."""
    found = comparison.to_dict()
    del found["levels"], found["gaps"]
    more = {"files": files, "columns": comparison.columns, "left_out": reading.left_out}
    return {**found, **more, "scale": settings["scale"], "report": page}


# -- tables in chunks -----------------------------------------------------------------------------


def _is_large(path: str) -> bool:
    try:
        return os.path.isdir(path) or os.path.getsize(path) > LARGE_BYTES
    except (OSError, ValueError):
        return False  # what is wrong with it is said where it is read


def _compare_chunks(
    paths: Sequence[str], reading: Reading, settings: Options, test: Options, page: str | None,
    scheduler: str | None,
) -> Any:  # fmt: skip
    from isodepth.api import metric_from_options
    from isodepth.chunked.entry import compare
    from isodepth.chunked.opening import scan
    from isodepth.progress import progress_bar

    _check_test(test)
    given = {
        "--drop": reading.drop, "--drop-text": reading.drop_text, "--report": page,
        "--permutations": test["n_permutations"], "--refine": settings.get("refine"),
    }  # fmt: skip
    for flag in (flag for flag, value in given.items() if value):
        raise InvalidOptionError(
            f"{flag} does not go with tables that are read in chunks (folders, large files); "
            "leave it out" + (", and choose --columns" if "drop" in flag else "")
        )
    note(
        "tables are read in chunks, on a grid of levels and without refinement: the distance "
        "differs a little from that of tables in memory"
    )
    metric = metric_from_options({**settings, "nan_policy": reading.nan_policy})
    columns = [name for text in reading.columns or () for name in text.split(",")] or None
    x, y = (scan(path, columns) for path in paths)
    with (
        progress_bar(progress_wanted(), 0, "reading", "chunk") as advance,
        _client(scheduler) as client,
    ):
        return compare(metric, x, y, None, _runner(client, advance))


def _client(scheduler: str | None) -> Any:
    if scheduler is None:
        return nullcontext()
    distributed = load_extra("distributed", "dask", "--scheduler")
    try:
        return distributed.Client(scheduler, timeout=SCHEDULER_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidOptionError(
            f"--scheduler {scheduler}: no Dask scheduler answers there ({error}); give an address "
            "such as tcp://host:8786"
        ) from error


def _runner(client: Any, advance: Any) -> Any:
    if client is None:
        from isodepth.chunked.runner import Runner

        return Runner(advance)
    from isodepth.chunked.dask import DaskRunner

    return DaskRunner(client, advance)


# -- test -----------------------------------------------------------------------------------------


@click.command(cls=Command)
@click.argument("a")
@click.argument("b")
@reading_options()
@test_options(PERMUTATIONS)
@settings_options()
@picture_options("the statistics of all permutations and the observed one")
def test(
    a: str, b: str, plot: str | None, page: str | None, reading: Reading, settings: Options,
    test: Options,
) -> Answer:  # fmt: skip
    """Test whether two tables differ significantly.

    A permutation test of the hypothesis that the rows of both tables come from the same
    distribution. Prints a p-value, the statistic with what chance gives for it, the columns that
    differ, and the distance.

    \b
    Examples:
      isodepth test june.csv july.csv
      isodepth test june.csv july.csv --permutations 199 --tolerance 0.05
      isodepth test june.csv july.csv --blocks day --json
      isodepth test june.csv july.csv --permutations 99 --plot chance.png
    """
    if not test["n_permutations"]:
        raise InvalidOptionError("--permutations must be at least 1, got 0")
    check_outputs(plot, page)
    comparison, about = compare_tables((a, b), reading, settings, test)
    save_outputs(comparison, plot, page, "null", **about)
    distance = f"  distance {comparison.distance:.6g}: {comparison.signature}"
    own = {"distance": comparison.distance, "distance_signature": comparison.signature}
    content = _content(comparison, (a, b), reading, settings, page)
    more = {name: content[name] for name in ("files", "left_out", "scale", "report")}
    return Answer(
        [str(comparison.test), distance, *_more_lines(reading, settings, page)],
        {**comparison.test.to_dict(), **own, **more},
    )


# -- report ---------------------------------------------------------------------------------------


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--output", "page", required=True, help="Where the report goes (.html).")
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option("--names", metavar="NAME,...", help="Names of the tables instead of their files'.")
@reading_options()
@settings_options()
@test_options(PERMUTATIONS)
@click.pass_context
def report(
    ctx: click.Context, files: tuple[str, ...], page: str, title: str | None, names: str | None,
    reading: Reading, settings: Options, test: Options,
) -> Answer:  # fmt: skip
    """Write a report as one self-contained HTML file.

    Of two tables, which are compared and tested; of three or more, which are compared with each
    other; or of a monitor (.npz).

    \b
    Examples:
      isodepth report june.csv july.csv -o report.html --blocks day
      isodepth report june.csv july.csv august.csv -o report.html --json
      isodepth report raw.csv july.csv -o report.html --drop-text --nan-policy omit
      isodepth report monitor.npz -o report.html
    """
    check_outputs(None, page)
    called = file_names(files) if names is None else names.split(",")
    if len(called) != len(files):
        raise InvalidOptionError(
            f"--names must name each of the {len(files)} file(s), got {len(called)}"
        )
    about: Options = {}
    if len(files) == 1:
        kind, result = "monitor", _monitor(files[0])
    elif len(files) == 2:
        kind = "comparison"
        result, about = compare_tables(files, reading, settings, test)
        about["names"] = called
    else:
        kind = "many samples"
        for name in test:
            if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise InvalidOptionError(
                    f"{name} belongs to the test of two tables, got {len(files)}; leave it out"
                )
        from isodepth.many.pairwise import pairwise

        samples = dict(zip(called, aligned(files, read_tables(files, reading)), strict=True))
        options = {**settings, "nan_policy": reading.nan_policy}
        result = pairwise(samples, progress=progress_wanted(), **options)
    save_outputs(result, None, page, "", title=title, **about)
    content = {"report": page, "kind": kind, "files": files}
    return Answer([f"report of {kind} in {page}"], content)


def _monitor(path: str) -> Any:
    from isodepth.inference.monitor import DepthMonitor

    if not path.lower().endswith(".npz"):
        raise InvalidInputError(
            f"a report is of two tables or more, or of a monitor (.npz); got {path} alone"
        )
    return DepthMonitor.load(path)
