"""The commands `compare`, `test` and `report`.

`compare` and `report` call `isodepth.compare`, and `test` calls `isodepth.two_sample_test`. They
give the same numbers as these functions with the same tables and options. Other functions are
called for tables that are read in chunks, for tables without a distance (without numeric columns or
without complete rows), and for reports of monitors.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import isodepth
import isodepth.cli.options as cli
from isodepth.base.messages import Message
from isodepth.base.options import option_error
from isodepth.cli import tables
from isodepth.cli.commands import Answer, Command, note, progress_wanted, session
from isodepth.errors import (
    InvalidInputError,
    InvalidOptionError,
    NoCompleteRowError,
    NotNumbersError,
)
from isodepth.significance.result import TestedComparison
from isodepth.table.missing import TEST_NAN_POLICIES
from isodepth.table.readers import ReadResult, split_names, unknown_column

if TYPE_CHECKING:
    from isodepth.show.repeat import Reading

Options = dict[str, Any]
#: The command `compare` reads files larger than this number of bytes in chunks.
LARGE_BYTES = 1 << 28


def compare_tables(
    paths: Sequence[str], reading: cli.ReadingOptions, settings: Options, test: Options
) -> tuple[Any, Options]:
    """Compare two tables in files, and test them if the number of permutations is positive.

    `settings` are options of the metric, and `test` those of the test. Return the result, and the
    options of its report: the names of the samples, and their files. If one of the paths is a
    folder or a file above 256 MB, both are read in chunks.
    """
    if any(map(_is_large, paths)):
        return _compare_chunks(paths, reading, settings, test), _chunk_options(paths, reading)
    # The options are checked first, so that an invalid option is reported before a file is read.
    isodepth.Metric(**settings, nan_policy=reading.nan_policy)
    x, y, test, about = read_two_tables(paths, reading, test)
    return compare_samples(x, y, reading, settings, test), about


def read_two_tables(
    paths: Sequence[str], reading: cli.ReadingOptions, test: Options
) -> tuple[Any, Any, Options, Options]:
    """Read two tables, and the labels of blocks from the column that ``test["blocks"]`` names.

    Return both tables, the options of the test with the labels instead of the name, and the options
    of a report: the names of the samples, and their files.
    """
    sources = tables.open_sources(paths)
    labels = [tables.label_column(source, test["blocks"]) for source in sources]
    read = tables.read_tables(sources, reading, without=[test["blocks"]], text="keep")
    samples = tables.frames_of(read, reading.kinds)
    files = [
        _reading(path, each, reading, blocks=test["blocks"])
        for path, each in zip(paths, read, strict=True)
    ]
    about = {"names": tables.file_names(paths), "files": files}
    x, y = samples
    _name_samples(paths)
    return x, y, {**test, "blocks": None if test["blocks"] is None else tuple(labels)}, about


def read_two_groups(
    paths: Sequence[str], reading: cli.ReadingOptions, by: str
) -> tuple[Any, Any, Options]:
    """Read a table with two groups of rows, which have different values in the column `by`.

    Return the rows of both groups, and the options of a report: the names of the groups, and their
    file.
    """
    paths = tables.files_of(paths)
    grouped = tables.read_groups(paths, reading, by, text="keep")
    if len(grouped.groups) != 2:
        raise InvalidInputError(
            f"a report compares two groups, got {len(grouped.groups)} in column {by!r}; keep the "
            f"rows of two groups, or compute all distances with isodepth pairwise --by {by}"
        )
    files = [
        _reading(paths[0], grouped.table, reading, group=(by, group)) for group in grouped.groups
    ]
    names = [f"{by} {group}" for group in grouped.groups]
    _name_samples(names)
    return *grouped.samples, {"names": names, "files": files}


def _name_samples(names: Sequence[str]) -> None:
    """Set the names of the samples X and Y in errors of the library."""
    session().about = f"X is {names[0]}, Y is {names[1]}"


def _reading(
    path: str, read: ReadResult, reading: cli.ReadingOptions, *,
    blocks: str | None = None, group: tuple[str, Any] | None = None,
) -> Reading:  # fmt: skip
    """Return the description of a file for the code in a report.

    `read` is the result of reading the file. `blocks` is the column with the labels of blocks, and
    `group` the column with the labels of groups, and the label of the sample.
    """
    # The import is inside the function, because the package imports figures.
    from isodepth.show.repeat import Reading

    columns = split_names(reading.columns)
    if columns and not isinstance(read.frame, np.ndarray):
        columns = read.frame.column_names  # a name with a comma need not be quoted
    columns = [name for name in dict.fromkeys(columns) if name not in read.left_out]
    labels = [name for name in (blocks, group and group[0]) if name is not None]
    options = {
        "columns": [*columns, *labels] if columns else [],
        "drop": [] if columns else [name for name in read.left_out if name not in labels],
        "missing": split_names(reading.missing),
    }
    return Reading(path, options, blocks=blocks, group=group)


def _chunk_options(paths: Sequence[str], reading: cli.ReadingOptions) -> Options:
    """Return the options of a report about tables that are read in chunks."""
    from isodepth.show.repeat import Reading  # inside, as in `_reading`

    columns, dropped, words = map(split_names, (reading.columns, reading.drop, reading.missing))
    options = {"columns": columns, "drop": dropped, "missing": words}
    files = [Reading(path, options, in_chunks=True) for path in paths]
    return {"names": tables.file_names(paths), "files": files}


def compare_samples(
    x: Any, y: Any, reading: cli.ReadingOptions, settings: Options, test: Options
) -> Any:
    """Compare two samples, or only test them if they have no numeric column or no complete row.

    Without a test (0 permutations), such samples raise an error.
    """
    metric = isodepth.Metric(**settings, nan_policy=reading.nan_policy)
    compared = None
    try:
        compared = metric._compare(x, y, None, reading.kinds)
    except (NotNumbersError, NoCompleteRowError) as error:
        _check_distance_may_be_omitted(error, tested=bool(test["n_permutations"]))
    if compared is not None and not test["n_permutations"]:
        compared._warn_of_units()
        return compared
    tested = isodepth.two_sample_test(
        x, y, kinds=reading.kinds, nan_policy=reading.test_nan_policy,
        random_state=metric.random_state, progress=progress_wanted(), **test,
    )  # fmt: skip
    if compared is None:
        return tested
    both = TestedComparison.of(compared, tested)
    both._warn_of_units()
    return both


def _check_distance_may_be_omitted(error: InvalidInputError, *, tested: bool) -> None:
    """Issue a note that the distance is left out if all rows are incomplete, or raise an error.

    `error` says why a distance cannot be computed: no complete rows, or no numeric columns. It is
    raised if the samples are not tested. Its message then recommends the command `test` in the case
    of incomplete rows.
    """
    incomplete = isinstance(error, NoCompleteRowError)
    if not tested:
        if not incomplete:
            raise error
        template = "{error}; or use {two_sample_test()}, which does not need complete rows"
        raise InvalidInputError(Message(template, error=error.args[0])) from error
    if incomplete:
        note(
            "the distance is left out, because it needs complete rows and all rows of a table have "
            "a missing value; the test uses all rows"
        )


# -- compare --------------------------------------------------------------------------------------


@click.command(cls=Command)
@click.argument("x")
@click.argument("y")
@cli.reading_options(kinds=True)
@cli.add_options("settings", cli.METRIC)
@cli.add_options("test", cli.COMPARE)
@cli.report_option
def compare(
    x: str, y: str, page: str | None, reading: cli.ReadingOptions, settings: Options, test: Options
) -> Answer:
    """Compare two tables.

    X and Y are tables with one observation per row, or folders of such tables. Columns are matched
    by name. Prints the distance, the columns that contribute most, and suspicious rows. The
    distance uses numeric columns; the test (--n-permutations) also compares categories. If X or Y
    is a folder or a file above 256 MB, both are read in chunks. The test then uses random rows, and
    the distance 20 levels by default without refinement, so that it is usually smaller.

    \b
    Examples:
      isodepth compare june.csv july.csv
      isodepth compare june.csv july.csv --n-permutations 199
      isodepth compare june.csv july.csv --columns temp,dewp
      isodepth compare raw.csv july.csv --numeric-only --json
      isodepth compare june.csv july.csv --n-permutations 99 -o report.html
      cat june.csv | isodepth compare - july.csv
    """
    cli.check_page(page)
    cli.check_tested(test)
    comparison, about = compare_tables((x, y), reading, settings, test)
    cli.save_report(comparison, page, **about)
    return _answer(comparison, about, (x, y), reading, settings["scale"], page)


def _answer(
    result: Any, about: Options, files: Sequence[str], reading: cli.ReadingOptions,
    scale: str | None, page: str | None,
) -> Answer:  # fmt: skip
    """Return the output of the command `compare` or `test`: printed lines and JSON content.

    `about` has the names and files of the samples, and `reading` the columns that were left out.
    `scale` and `page` are the options --scale and --output.
    """
    from isodepth.show.pair import Pair

    pair = Pair(result, **about)
    first, *lines = pair.lines()
    lines += [f"left out: {', '.join(reading.left_out)}"] if reading.left_out else []
    lines += [] if page is None else [f"report: {page}"]
    content = pair.content()
    content = {name: content[name] for name in content if name not in ("levels", "gaps")}
    content |= {"columns": _compared_columns(result), "files": files}
    content |= {"left_out": reading.left_out, "scale": scale, "report": page}
    return Answer([first, *(Message("  {line}", line=line) for line in lines)], content)


def _compared_columns(result: Any) -> Sequence[str] | None:
    """Return the names of the columns that a comparison or a test uses; None without names."""
    if result._result_type == "comparison":
        return result.columns
    if result.kinds:
        return [each.column for each in result.kinds if each.use != "omit"]
    samples = result._two_samples
    return samples.columns if samples.named else None


# -- tables in chunks -----------------------------------------------------------------------------


def _is_large(path: str) -> bool:
    return os.path.isdir(path) or (os.path.isfile(path) and os.path.getsize(path) > LARGE_BYTES)


def _scanned(paths: Sequence[str], reading: cli.ReadingOptions, blocks: str | None) -> list[Any]:
    """Return sources of tables that are read in chunks, with the columns that `reading` selects.

    Raise an error for the options --numeric-only and --blocks (`blocks`), which need the tables in
    memory.
    """
    refused = {
        "--numeric-only": (reading.numeric_only, "name the columns in --drop"),
        "--blocks": (blocks, "pass files of at most 256 MB"),
    }
    for flag, (value, remedy) in refused.items():
        if value:
            raise InvalidOptionError(
                f"{flag} is not available for folders and for files above 256 MB, which are read "
                f"in chunks; remove it, or {remedy}"
            )
    columns, dropped, missing = map(split_names, (reading.columns, reading.drop, reading.missing))
    sources = [isodepth.scan(path, columns or None)._without(dropped) for path in paths]
    reading.left_out = dropped
    _name_samples(paths)
    known = {name for source in sources for name in source._labels}
    unknown = next((name for name in reading.kinds or () if name not in known), None)
    if unknown is not None:
        raise unknown_column(unknown, sources[0]._labels, paths[0])
    return [source._with_missing(missing) for source in sources]


def _compare_chunks(
    paths: Sequence[str], reading: cli.ReadingOptions, settings: Options, test: Options
) -> Any:
    from isodepth.base.progress import progress_bar
    from isodepth.metric.chunked.entry import compare, replaced_defaults
    from isodepth.stream.passes import Runner

    if settings["refine"]:
        raise option_error(
            "{--refine} has no effect on folders and on files above 256 MB, which are read in "
            "chunks; remove it"
        )
    if settings["levels"] == "exact":
        raise option_error(
            "{--levels} must be an integer, such as 20, for folders and for files above 256 MB, "
            "which are read in chunks; got exact"
        )
    x, y = _scanned(paths, reading, test["blocks"])
    metric = isodepth.Metric(**settings, nan_policy=reading.nan_policy)
    tested = None
    if test["n_permutations"]:
        options = {name: value for name, value in test.items() if name != "blocks"}
        tested = isodepth.two_sample_test(
            x, y, nan_policy=reading.test_nan_policy, kinds=reading.kinds,
            random_state=settings["random_state"], progress=progress_wanted(), **options,
        )  # fmt: skip
    try:
        with progress_bar(progress_wanted(), 0, "reading", "chunk") as advance:
            compared = compare(metric, x, y, None, Runner(advance), reading.kinds)
    except (NotNumbersError, NoCompleteRowError) as error:
        _check_distance_may_be_omitted(error, tested=tested is not None)
        return tested
    clause = replaced_defaults(metric, compared)
    if clause:
        levels = compared.settings["levels"]
        template = "{clause}; {--levels=} {--refine=0} selects this explicitly"
        note(Message(template, clause=clause, levels=levels))
    return compared if tested is None else TestedComparison.of(compared, tested)


# -- test -----------------------------------------------------------------------------------------


@click.command(cls=Command)
@click.argument("x")
@click.argument("y")
@cli.reading_options(TEST_NAN_POLICIES, kinds=True)
@cli.add_options("test", cli.TEST)
@cli.add_options("settings", cli.DIRECTIONS)
@cli.threshold_options
@cli.report_option
def test(
    x: str, y: str, page: str | None, max_changed: float | None, min_pvalue: float | None,
    reading: cli.ReadingOptions, settings: Options, test: Options,
) -> Answer:  # fmt: skip
    """Test whether two tables differ significantly.

    Runs a permutation test of the hypothesis that the rows of both tables come from the same
    distribution. Of folders and of files above 256 MB, random rows are tested. Prints whether the
    tables differ, the changes, and suspicious rows. `compare --n-permutations 999` also prints the
    distance.

    With --max-changed, the exit code is 1 if more than this share of the rows changed, with a
    confidence of 1 - alpha. With --min-pvalue, it is 1 if the p-value is at most this number.
    Otherwise the exit code is 0, and 2 after an error.

    \b
    Examples:
      isodepth test june.csv july.csv
      isodepth test june.csv july.csv --n-permutations 199 --tolerance 0.05
      isodepth test june.csv july.csv --blocks day --json
      isodepth test june.csv july.csv --max-changed 5%
      isodepth test june.csv july.csv --n-permutations 99 -o report.html
    """
    cli.check_page(page)
    if max_changed is not None and test["blocks"] is not None:
        raise InvalidOptionError(
            "--max-changed has no guarantee for blocks of rows; remove it, or use --min-pvalue"
        )
    are_large = any(map(_is_large, (x, y)))
    # Rare events of large tables have exact p-values, which may be smaller than the minimum.
    cli.check_reachable(
        test["n_permutations"], test["alpha"], max_changed, None if are_large else min_pvalue
    )
    if are_large:
        first, second = _scanned((x, y), reading, test["blocks"])
        options, about = dict(test), _chunk_options((x, y), reading)
    else:
        first, second, options, about = read_two_tables((x, y), reading, test)
    options |= {"nan_policy": reading.nan_policy, "kinds": reading.kinds, **settings}
    result = isodepth.two_sample_test(first, second, progress=progress_wanted(), **options)
    cli.save_report(result, page, **about)
    answer = _answer(result, about, (x, y), reading, settings["scale"], page)
    answer.code = int(cli.exceeds(result.changed_share, result.pvalue, max_changed, min_pvalue))
    return answer


def _is_monitor(path: str) -> bool:
    return path.lower().endswith(".npz")


# -- report ---------------------------------------------------------------------------------------


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-o", "--output", "page", required=True, metavar="FILE", help="Name of the report (.html)."
)
@cli.by_option
@cli.reading_options(kinds=True)
@cli.add_options("settings", cli.METRIC)
@cli.add_options("test", cli.REPORT)
@click.pass_context
def report(
    ctx: click.Context, files: tuple[str, ...], page: str, by: str | None,
    reading: cli.ReadingOptions, settings: Options, test: Options,
) -> Answer:  # fmt: skip
    """Write a report as one self-contained HTML file.

    FILES are two tables to compare and test, one table with two groups of rows (--by), or a
    saved monitor (.npz).

    \b
    Examples:
      isodepth report june.csv july.csv -o report.html --blocks day
      isodepth report raw.csv july.csv -o report.html --numeric-only --json
      isodepth report year.csv -o report.html --by origin
      isodepth report monitor.npz -o report.html
    """
    cli.check_page(page)
    cli.check_tested(test)
    about: Options = {}
    if len(files) == 1 and _is_monitor(files[0]):
        others = {str(option.name) for option in ctx.command.params} - {"files", "page", "json"}
        for name in sorted(others):
            if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise option_error("{--} has no effect on the report of a monitor; remove it", name)
        result = isodepth.Monitor.load(files[0])
        about = cli.monitor_source(files[0])
    elif by is not None:
        if test["blocks"] is not None:
            raise InvalidOptionError("--blocks cannot be combined with --by; remove one")
        x, y, about = read_two_groups(files, reading, by)
        result = compare_samples(x, y, reading, settings, test)
    elif len(files) == 2 and not any(map(_is_monitor, files)):
        result, about = compare_tables(files, reading, settings, test)
    else:
        check = any(map(_is_monitor, files))
        raise InvalidInputError(
            "a report needs two tables, one table with --by COLUMN, or one monitor (.npz), got "
            + ", ".join(files)
            + ("; isodepth monitor check compares tables with a monitor" if check else "")
        )
    cli.save_report(result, page, **about)
    content = result.to_dict()
    if not isinstance(result, isodepth.Monitor):
        from isodepth.show.pair import Pair

        content = Pair(result, **about).content()
    content |= {"report": page, "files": files}
    return Answer([f"report of {result._result_type} in {page}"], content)
