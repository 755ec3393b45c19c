"""The command `monitor`: fit a monitor, check batches, show the last batches, and clear alarms.

For use in cron jobs and continuous integration, `check` ends with exit code 1 for an alarm, for a
batch beyond all blocks or above a threshold, and with 2 if a batch cannot be checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import isodepth
import isodepth.cli.options as cli
from isodepth.base.export import LEAST_PVALUE, document
from isodepth.cli.commands import INPUT_ERROR, INTERRUPTED, Answer, Command, note, session
from isodepth.cli.tables import (
    _natural,
    frames_of,
    label_column,
    open_sources,
    read_tables,
    with_labels,
)
from isodepth.errors import BusyFileError, InvalidOptionError, IsodepthError
from isodepth.table.frames import NamedArray
from isodepth.table.input_file import InputFile, table_files
from isodepth.table.missing import TEST_NAN_POLICIES

# Number of attempts to check a batch. An attempt fails if another process changes the file of the
# monitor in the meantime.
_ATTEMPTS = 5
_SHOWN = 10


@click.group(no_args_is_help=False)
def monitor() -> None:
    """Compare batches of data with a reference, and raise an alarm if they change."""


@monitor.command(cls=Command)
@click.argument("reference")
@click.option("-o", "--output", required=True, metavar="FILE", help="The monitor (.npz).")
@cli.add_options("options", cli.MONITOR)
@cli.reading_options(TEST_NAN_POLICIES, kinds=True)
def fit(
    reference: str, output: str, options: dict[str, Any], reading: cli.ReadingOptions
) -> Answer:
    """Fit a monitor to the rows of a reference table.

    The file of the monitor contains no rows. It contains settings, counts, statistics of columns
    such as quantiles and ranges, values of categories, hashes of at most 4,096 rows per group, and
    verdicts on batches.

    \b
    Examples:
      isodepth monitor fit reference.csv -o monitor.npz
      isodepth monitor fit reference.csv --blocks week -o monitor.npz --arl 500
      isodepth monitor fit reference.csv -o monitor.npz --tolerance 0.05 --json
    """
    from isodepth.monitor.saved import check_new

    if not options["overwrite"] and Path(output).exists():
        raise InvalidOptionError(f"{output} exists already; replace the monitor with --overwrite")
    check_new(output, options["overwrite"])
    if Path(reference).is_dir():
        raise InvalidOptionError(
            f"{reference} is a folder, and a monitor is fitted to one file; join its files, or use "
            f"isodepth.Monitor(isodepth.scan({reference!r})) in Python, which reads all of them"
        )
    (source,) = open_sources([reference])
    columns = [options["blocks"], options["groups"]]
    labels = {name: label_column(source, name) for name in columns if name is not None}
    found = read_tables([source], reading, without=columns, text="keep")
    (table,) = frames_of(found, reading.kinds)
    # Only a table with column names can have columns of labels, which are then checked in batches.
    if found[0].columns is None:
        options |= {name: labels.get(options[name]) for name in ("blocks", "groups")}
    else:
        table = with_labels(table, labels)
    made = isodepth.Monitor(
        table, path=output, nan_policy=reading.nan_policy, kinds=reading.kinds, **options
    )
    if words := ",".join(reading.missing):
        note(f"the monitor does not store --missing; add --missing {words} to monitor check")
    return _shown(made)


@monitor.command(cls=Command)
@click.argument("monitor")
@click.argument("batches", nargs=-1, required=True)
@click.option("--group", metavar="NAME", help="Group of the batches (default: from their column).")
@click.option("--label", metavar="TEXT", help="Name of the batch; a name is counted only once.")
@cli.threshold_options
@cli.reading_options(nan_policies=None)
def check(
    monitor: str, batches: tuple[str, ...], group: str | None, label: str | None,
    max_changed: float | None, min_pvalue: float | None, reading: cli.ReadingOptions,
) -> Answer:  # fmt: skip
    """Check the next batches; exit code 1 for an alarm.

    The result is stored in the file of the monitor. Columns that the reference does not have are
    ignored. The files of a folder are checked in the order of their names, which are their labels:
    files that were checked before are not counted again. A single file has no label without
    --label, because its content may be new: if it is checked twice, it counts twice.
    The exit code is 0 without an alarm, 1 with an alarm or a batch beyond all blocks, and 2 if a
    batch cannot be checked. With groups, this is an alarm of the group of a batch. The verdicts on
    the batches before one that cannot be checked are printed, and these batches are counted.

    With --max-changed, the exit code is 1 if more than this share of the rows changed, with 95%
    confidence. With --min-pvalue, it is 1 if the p-value of a batch alone is at most this number.
    An alarm then has no influence on the exit code.

    \b
    Examples:
      isodepth monitor check monitor.npz batch.csv
      isodepth monitor check monitor.npz batch.csv --label 2024-01-07 --json
      isodepth monitor check monitor.npz batch.csv --max-changed 5%
      isodepth monitor check monitor.npz batches/
    """
    jobs: list[tuple[str, str | None]] = []
    for batch in batches:
        if Path(batch).is_dir():
            files = sorted(map(str, table_files(batch, recursive=False)), key=_natural)
            jobs += [(file, Path(file).name) for file in files]
        else:
            jobs.append((batch, label))
    if label is not None and (len(jobs) != 1 or jobs[0][1] != label):
        raise InvalidOptionError(f"--label names one batch, got {len(jobs)}; remove it")
    if max_changed is not None:
        _refuse_blocks(monitor)  # before a batch is counted
    # Open all files first: if one of them does not exist, no batch is counted.
    sources = open_sources([batch for batch, _ in jobs])
    verdicts, failure = _check_all(monitor, sources, [name for _, name in jobs], group, reading)
    if max_changed is None and min_pvalue is None:
        code = int(any(verdict.alarm or verdict.beyond_blocks for verdict in verdicts))
    else:
        code = int(
            any(cli.exceeds(v.changed_share, v.pvalue, max_changed, min_pvalue) for v in verdicts)
        )
    if len(jobs) == 1:
        return Answer([str(verdicts[0])], verdicts[0].to_dict(), code)
    if failure is not None:
        code = INTERRUPTED if isinstance(failure, KeyboardInterrupt) else INPUT_ERROR
    content = {"verdicts": [verdict.to_dict() for verdict in verdicts], "exit_code": code}
    lines = [str(verdict) for verdict in verdicts]
    return Answer(lines, document("verdicts", content), code, failure)


def _check_all(
    monitor: str, sources: Sequence[InputFile], labels: Sequence[str | None], group: str | None,
    reading: cli.ReadingOptions,
) -> tuple[list[isodepth.typing.Verdict], BaseException | None]:  # fmt: skip
    """Check batches in order until one of them fails.

    Return the verdicts on the batches before it, and the error. An error of the first batch is
    raised.
    """
    verdicts: list[isodepth.typing.Verdict] = []
    for source, label in zip(sources, labels, strict=True):
        try:
            verdicts.append(_check(monitor, source, group, label, reading))
        except (IsodepthError, OSError, KeyboardInterrupt) as error:
            if len(sources) > 1:
                count = len(verdicts)
                before = {0: "no batch", 1: "1 batch"}.get(count, f"{count} batches")
                session().about = f"the batch is {source.path}; counted before it: {before}"
            if not verdicts:
                raise
            return verdicts, error
    return verdicts, None


def _refuse_blocks(monitor: str) -> None:
    """Raise an error if the monitor in the file has blocks: its changed share has no bound."""
    if isodepth.Monitor.load(monitor).to_dict()["groups"][0]["n_blocks"] is not None:
        raise InvalidOptionError(
            "--max-changed needs a monitor without blocks, because rows of a block depend on each "
            "other; remove it, or use --min-pvalue"
        )


def _check(
    monitor: str, source: InputFile, group: str | None, label: str | None,
    reading: cli.ReadingOptions,
) -> isodepth.typing.Verdict:  # fmt: skip
    for left in reversed(range(_ATTEMPTS)):
        fitted = isodepth.Monitor.load(monitor)
        table = with_labels(_batch([source], reading, fitted), _labels(source, fitted))
        try:
            return fitted.check(table, group=group, label=label)
        except BusyFileError:
            if not left:
                raise BusyFileError(
                    f"another process changes {monitor}; repeat the command when it has finished. "
                    "The batch was not counted"
                ) from None
    raise AssertionError


def _batch(sources: Any, reading: cli.ReadingOptions, fitted: isodepth.Monitor) -> Any:
    """Return the rows of a batch for the monitor `fitted`.

    `sources` is a list with the input file. If `reading` does not select columns, only the columns
    of the reference are read. If the batch lacks one of them, all columns of the batch are read.
    """
    columns = fitted.columns if not reading.columns else None
    special = [each for each in fitted.kinds if each.use == "category" or each.option is not None]
    # Keep columns of strings if the columns have names. The monitor then refuses them with a more
    # specific message.
    text = "keep" if special or fitted.columns else "raise"
    try:
        own = replace(reading, columns=columns or reading.columns)
        (found,) = read_tables(sources, own, text=text)
    except InvalidOptionError:
        if columns is None:
            raise
        # A column of the reference is missing. Read all columns, so that the monitor reports which
        # columns differ.
        (found,) = read_tables(sources, reading, text=text)
    if special or not isinstance(found.mixed, NamedArray):
        return found.frame
    return found.numbers


def _labels(source: InputFile, fitted: isodepth.Monitor) -> dict[str, Any]:
    """Return the columns of a batch with the labels of blocks and groups, by name.

    A column that the batch does not have is left out.
    """
    labels = {}
    for name in (fitted.settings["blocks"], fitted.settings["groups"]):
        if isinstance(name, str):
            with suppress(InvalidOptionError):
                labels[name] = label_column(source, name)
    return labels


@monitor.command(cls=Command)
@click.argument("monitor")
@cli.report_option
def show(monitor: str, page: str | None) -> Answer:
    """Show the false alarm guarantee of a monitor, and its last batches.

    \b
    Examples:
      isodepth monitor show monitor.npz
      isodepth monitor show monitor.npz -o stream.html --json
    """
    cli.check_page(page)
    fitted = isodepth.Monitor.load(monitor)
    cli.save_report(fitted, page, **cli.monitor_source(monitor))
    return _shown(fitted)


@monitor.command(cls=Command)
@click.argument("monitor")
@click.option("--group", metavar="NAME", help="Reset only this group (default: all groups).")
def reset(monitor: str, group: str | None) -> Answer:
    """Clear the alarm of a monitor; past verdicts are kept.

    Restarts all windows, which are the sets of recent batches that are tested together.

    \b
    Examples:
      isodepth monitor reset monitor.npz
    """
    isodepth.Monitor.load(monitor).reset(group)
    text = "alarm and windows reset" + ("" if group is None else f" in group {group}")
    return Answer([text], document("reset", {"monitor": monitor, "group": group}))


# -- output ---------------------------------------------------------------------------------------


def _shown(fitted: isodepth.Monitor) -> Answer:
    from isodepth.table.kinds import column_lines

    summary = fitted.to_dict()
    lines = [f"columns     {', '.join(fitted.columns or fitted._state.schema.names)}"]
    lines += [f"            {line}" for line in column_lines(fitted.kinds, codes=False)]
    for own in summary["groups"]:
        group = "" if own["group"] is None else f" of group {own['group']}"
        blocks = "" if own["n_blocks"] is None else f" in {own['n_blocks']} blocks"
        rows = f"{own['n_rows']} rows{blocks}{group}"
        lines.append(f"reference   {rows}, {own['n_functions']} functions")
    verdicts = fitted.verdicts
    lines.append(f"guarantee   {fitted._guarantee}")
    lines.append(f"stream      {fitted._headline.sentence}")
    if shown := verdicts[-_SHOWN:]:
        # The column of groups is left out if the monitor has no groups.
        width = max((len(v.group) + 2 for v in shown if v.group is not None), default=0)
        group = f"{'group':{max(7, width)}}" if width else ""
        lines += ["", f"batch  {group} rows  p-value  window p  threshold  alarm  strongest change"]
        lines += [_line(verdict, len(group)) for verdict in shown]
    return Answer(lines, summary)


def _line(verdict: isodepth.typing.Verdict, group_width: int) -> str:
    label = "" if verdict.label is None else f"  ({verdict.label})"
    group = f"{verdict.group or '':{group_width}}"
    return (
        f"{verdict.batch_number:5d}  {group}{verdict.n_rows:5d}  {_short(verdict.pvalue):>7}  "
        f"{_short(verdict.window_pvalue):>8}  {verdict.threshold:9.2g}  "
        f"{'ALARM' if verdict.alarm else '':5}  {verdict._strongest_change}{label}"
    )


def _short(pvalue: float) -> str:
    """Format a p-value for a table: with two digits, and "<1e-300" near the minimum of floats."""
    return f"{pvalue:.2g}" if pvalue >= LEAST_PVALUE else f"<{LEAST_PVALUE:g}"
