"""The command `monitor`: fit once, check batch after batch, show what was seen.

For cron and continuous integration: `check` ends with 1 where the alarm is raised, and with 2 where
a batch cannot be checked.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import isodepth
import isodepth.cli.options as cli
from isodepth.cli.commands import Answer, Command
from isodepth.cli.tables import frames_of, label_column, matched, open_sources, read_tables
from isodepth.errors import BusyFileError, InvalidOptionError

# Another process may check a batch between reading a monitor and writing it.
_ATTEMPTS = 5
_SHOWN = 10


@click.group(no_args_is_help=False)
def monitor() -> None:
    """Compare batches of data with a reference, and raise an alarm when they drift."""


@monitor.command(cls=Command)
@click.argument("reference")
@click.option("-o", "--output", required=True, metavar="FILE", help="The monitor (.npz).")
@click.option("--force", is_flag=True, help="Replace an existing monitor and its history.")
@click.option("--batch-size", type=int, multiple=True, help="Rows of a batch; may be repeated.")
@click.option("--blocks", metavar="COLUMN", help="Rows with the same value are one batch.")
@click.option("--groups", metavar="COLUMN", help="Calibrate each group of rows separately.")
@click.option("--alpha", type=float, help="Probability of any false alarm (default 0.01).")
@click.option("--arl", type=float, help="In place of alpha: mean batches between false alarms.")
@click.option("--tolerance", type=float, help="Share of contaminated rows in a batch (default 0).")
@click.option("--patience", type=int, help="Batches that an alarm needs at least (default 1).")
@cli.reading_options(kinds=True)
@cli.settings_options(
    without=("refine",),
    scale="reference", q="2", n_directions="200", levels="20",
)  # fmt: skip
def fit(
    reference: str, output: str, force: bool, batch_size: tuple[int, ...], blocks: str | None,
    groups: str | None, reading: cli.Reading, settings: dict[str, Any], **alarms: Any,
) -> Answer:  # fmt: skip
    """Make a monitor from a table of undrifted rows.

    The file contains summaries, scores and settings, but no rows.

    \b
    Examples:
      isodepth monitor fit reference.csv --batch-size 50 -o monitor.npz
      isodepth monitor fit reference.csv --blocks week -o monitor.npz --arl 500
      isodepth monitor fit reference.csv --batch-size 50 -o monitor.npz --tolerance 0.05 --json
    """
    from isodepth.monitor.persistence import Autosave

    if not batch_size and blocks is None:
        raise InvalidOptionError(
            "give --batch-size N, or --blocks COLUMN, whose values name the batches"
        )
    Autosave(output)
    if not force and Path(output).exists():
        raise InvalidOptionError(f"{output} is there already; replace it with --force")
    sources = open_sources([reference])
    labels = [label_column(sources[0], name) for name in (blocks, groups)]
    found = read_tables(sources, reading, without=[blocks, groups], text="keep")
    (table,) = frames_of(found, reading.kinds)
    made = isodepth.DepthMonitor(
        table, batch_size=list(batch_size) or None, path=output,
        nan_policy=reading.nan_policy, blocks=labels[0], groups=labels[1], kinds=reading.kinds,
        **settings, **{name: value for name, value in alarms.items() if value is not None},
    )  # fmt: skip
    return _shown(made)


@monitor.command(cls=Command)
@click.argument("monitor")
@click.argument("batch")
@click.option("--group", metavar="NAME", help="The group that the batch belongs to.")
@click.option("--label", metavar="TEXT", help="Name of the batch, which is counted once.")
@click.option("--log", metavar="FILE", help="Append the verdict to this file, one line of JSON.")
@cli.reading_options(nan_policy=False)
def check(
    monitor: str, batch: str, group: str | None, label: str | None, log: str | None,
    reading: cli.Reading,
) -> Answer:  # fmt: skip
    """Check the next batch; exit code 1 for an alarm.

    The result is stored in the file of the monitor. Columns that the reference does not have are
    left out. The exit code is 0 if there is no alarm, 1 if there is one, and 2 if the batch cannot
    be checked.

    \b
    Examples:
      isodepth monitor check monitor.npz batch.csv
      isodepth monitor check monitor.npz batch.csv --label 2024-01-07 --log verdicts.jsonl --json
    """
    sources = open_sources([batch])
    for left in reversed(range(_ATTEMPTS)):
        fitted = isodepth.DepthMonitor.load(monitor, autosave=True, log=log)
        table = _batch(sources, replace(reading, nan_policy=fitted.nan_policy), fitted)
        try:
            verdict = fitted.check(table, group=group, label=label)
            break
        except BusyFileError:
            if not left:
                raise
    return Answer([str(verdict)], verdict.to_dict(), 1 if verdict.alarm else 0)


def _batch(sources: Any, reading: cli.Reading, fitted: Any) -> Any:
    """The columns of the reference alone, where the batch has all of them by name."""
    columns = fitted.columns if not reading.columns else None
    categories = tuple(each.column for each in fitted.kinds if each.use == "shares")
    text = "keep" if categories else "raise"
    try:
        own = replace(reading, columns=columns or reading.columns, category=categories)
        (found,) = read_tables(sources, own, text=text)
    except InvalidOptionError:
        if columns is None:
            raise
        # Which columns differ is said where they are matched.
        (found,) = read_tables(sources, reading, text=text)
    return found.frame if categories else matched(found, columns, "the reference")


@monitor.command(cls=Command)
@click.argument("monitor")
@cli.output_options("the stream")
def show(monitor: str, outputs: cli.Outputs) -> Answer:
    """Show the alarm policy of a monitor, and the last batches it has seen.

    \b
    Examples:
      isodepth monitor show monitor.npz
      isodepth monitor show monitor.npz --plot stream.png --json
    """
    fitted = isodepth.DepthMonitor.load(monitor)
    outputs.save(fitted)
    return _shown(fitted)


@monitor.command(cls=Command)
@click.argument("monitor")
def reset(monitor: str) -> Answer:
    """Start collecting evidence again, after an alarm; past batches are kept.

    \b
    Examples:
      isodepth monitor reset monitor.npz
    """
    isodepth.DepthMonitor.load(monitor, autosave=True).reset()
    return Answer(["evidence reset"], {"monitor": monitor, "reset": True})


# -- output ---------------------------------------------------------------------------------------


def _shown(fitted: Any) -> Answer:
    from isodepth.data.kinds import column_lines
    from isodepth.report.sentences import alarm_promise, monitor_headline

    summary = fitted.to_dict()
    lines = [f"columns     {', '.join(summary['columns'])}"]
    lines += [f"            {line}" for line in column_lines(fitted.kinds)]
    for null in summary["null_intervals"]:
        group = "" if null["group"] is None else f" of group {null['group']}"
        lines.append(
            f"undrifted   {null['low']:.4g} to {null['high']:.4g} for batches of "
            f"{null['rows']} rows{group} ({null['n']} scores, {summary['calibration']})"
        )
    verdicts = fitted.verdicts
    lines.append(f"alarms      {alarm_promise(summary)}")
    lines.append(f"stream      {monitor_headline(verdicts, fitted.alarm).sentence}")
    if verdicts:
        lines += ["", "batch   rows     score       p  evidence  alarm  largest contributions"]
        lines += [_line(verdict) for verdict in verdicts[-_SHOWN:]]
    return Answer([*lines, f"signature   {fitted.signature}"], summary)


def _line(verdict: Any) -> str:
    leading = ", ".join(f"{name} {share:.0%}" for name, share in verdict.columns[:2])
    label = "" if verdict.label is None else f"  ({verdict.label})"
    return (
        f"{verdict.batch:5d}  {verdict.n_rows:5d}  {verdict.score:8.4g}  {verdict.pvalue:6.2g}  "
        f"{verdict.evidence:8.3g}  {'ALARM' if verdict.alarm else '':5}  {leading}{label}"
    )
