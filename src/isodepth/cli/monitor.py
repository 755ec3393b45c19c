"""The command `isodepth monitor`: fit once, check batch after batch, show what was seen.

For cron and continuous integration: `check` ends with 1 where the alarm rings, and with 2 where a
batch cannot be judged.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.cli.outputs import add_pictures, as_json, check_outputs, save_plot, save_report
from isodepth.cli.parsers import TABLES, add_command, add_json
from isodepth.cli.reading import match, read_tables
from isodepth.cli.settings import add_reading, add_settings, given_settings, wish_of
from isodepth.data.input_file import InputFile, open_input
from isodepth.data.readers import read_with_options
from isodepth.errors import BusyFileError, InvalidInputError, InvalidOptionError

if TYPE_CHECKING:
    from isodepth.inference.monitor import DepthMonitor
    from isodepth.inference.verdict import Verdict

_ALARM = 1
# Another process may check a batch between reading a monitor and writing it.
_ATTEMPTS = 5
_SHOWN = 10
_METRIC_SETTINGS = ("scale", "depth", "eps", "p", "q", "n_directions", "levels", "random_state")
_DEFAULTS = {"scale": "reference", "q": "2", "n_directions": "200", "levels": "20"}
_TEXTS = {
    "scale": "reference: each column in units of its spread there; none: as it is",
    "levels": "at how many levels regions are compared",
}
_WATCH_SETTINGS = ("alpha", "arl", "tolerance", "patience")


def add_monitor_parser(commands: Any) -> None:
    """Add `monitor` to the commands of `isodepth`."""
    parser = commands.add_parser(
        "monitor",
        help="watch batches of data against a reference",
        description="Watch batches of data against a reference, and ring when they drift.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_fit(actions)
    _add_check(actions)
    _add_show(actions)
    _add_reset(actions)


def _add_fit(actions: Any) -> None:
    parser = add_command(
        actions,
        "fit",
        "make a monitor from a reference",
        f"Make a monitor from a table of undrifted rows {TABLES}. The file keeps tables, scores "
        "and settings, and none of the rows.",
        [
            "isodepth monitor fit reference.csv --batch-size 50 -o monitor.npz",
            "isodepth monitor fit reference.csv --blocks week -o monitor.npz --arl 500",
            "isodepth monitor fit reference.csv --batch-size 50 -o monitor.npz --tolerance 0.05 "
            "--json",
        ],
    )
    add = parser.add_argument
    add("reference", metavar="REFERENCE", help="table of undrifted rows")
    add("-o", "--output", required=True, metavar="FILE", help="where the monitor goes (.npz)")
    add("--batch-size", type=int, action="append", metavar="N",
        help="rows of a batch; may be repeated, sizes between are interpolated")  # fmt: skip
    add("--blocks", metavar="COLUMN", help="each block of rows with one label is a batch")
    add("--groups", metavar="COLUMN", help="each group of rows has a calibration of its own")
    add_reading(parser)
    setting = parser.add_argument_group("when to ring").add_argument
    setting("--alpha", type=float, help="chance of ever ringing falsely (default 0.01)")
    setting("--arl", type=float, metavar="N",
            help="instead: mean number of batches between false alarms")  # fmt: skip
    setting("--tolerance", type=float, metavar="SHARE", help="rows that may be foreign (default 0)")
    setting("--patience", type=int, metavar="N", help="batches it takes to ring (default 1)")
    add_settings(parser, _METRIC_SETTINGS, _DEFAULTS, _TEXTS)
    add_json(parser.add_argument_group("output"))
    parser.set_defaults(work=fit_file, report=show_report, plot=None, writes=True)


def _add_check(actions: Any) -> None:
    parser = add_command(
        actions,
        "check",
        "judge the next batch; exit code 1 where the alarm rings",
        "Judge the next batch, and keep what was seen in the file of the monitor. Ends with 0 "
        "where no alarm rings, with 1 where one does, with 2 where the batch cannot be judged.",
        [
            "isodepth monitor check monitor.npz batch.csv",
            "isodepth monitor check monitor.npz batch.csv --log verdicts.jsonl --json",
        ],
    )
    add = parser.add_argument
    add("monitor", metavar="MONITOR", help="what `isodepth monitor fit` made")
    add("batch", metavar="BATCH", help="table of the rows of the batch")
    add("--group", metavar="NAME", help="which group the batch is of")
    add("--log", metavar="FILE", help="add the verdict to this file, one line of JSON a batch")
    add_reading(parser, missing=False)
    add_json(parser.add_argument_group("output"))
    parser.set_defaults(work=check_file, report=check_report, code=check_code, writes=True)


def _add_show(actions: Any) -> None:
    parser = add_command(
        actions,
        "show",
        "what a monitor has seen",
        "Show what a monitor promises, and the last batches it has seen.",
        [
            "isodepth monitor show monitor.npz",
            "isodepth monitor show monitor.npz --plot stream.png --json",
        ],
    )
    parser.add_argument("monitor", metavar="MONITOR")
    output = parser.add_argument_group("output")
    add_json(output)
    add_pictures(output, "the stream")
    parser.set_defaults(work=show_file, report=show_report, finish=write_stream)


def _add_reset(actions: Any) -> None:
    parser = add_command(
        actions,
        "reset",
        "gather evidence anew, after an alarm was seen to",
        "Gather evidence anew, after an alarm was seen to; the batches seen so far are kept.",
        ["isodepth monitor reset monitor.npz"],
    )
    parser.add_argument("monitor", metavar="MONITOR")
    add_json(parser)
    parser.set_defaults(work=reset_file, report=reset_report, writes=True)


# -- work -----------------------------------------------------------------------------------------


def fit_file(options: argparse.Namespace) -> DepthMonitor:
    """Make a monitor and save it."""
    from isodepth.inference.monitor import DepthMonitor
    from isodepth.inference.watching import check_paths

    if options.batch_size is None and options.blocks is None:
        raise InvalidOptionError(
            "say how many rows a batch will have (--batch-size N), or which column tells the "
            "batches of the reference apart (--blocks COLUMN)"
        )
    check_paths(options.output, None)
    policy = "omit" if wish_of(options).missing else "raise"
    given = given_settings(options, (*_METRIC_SETTINGS, *_WATCH_SETTINGS))
    names = {"blocks": options.blocks, "groups": options.groups}
    taken = [name for name in names.values() if name is not None]
    source = open_input(options.reference)
    found: dict[str, Any] = {}
    for key, name in names.items():
        if name is not None:
            found[key] = _labels(source, name, options)
    if options.columns is None:
        options.drop = [*options.drop, *taken]
    table = read_tables([options.reference], options, sources=[source], checked=False)[0].table
    options.left_out = [name for name in options.left_out if name not in taken]
    return DepthMonitor(
        table, batch_size=options.batch_size, path=options.output, nan_policy=policy,
        **found, **given,
    )  # fmt: skip


def check_file(options: argparse.Namespace) -> Verdict:
    """Judge a batch, and keep the monitor."""
    from isodepth.inference.monitor import DepthMonitor

    table = None
    for attempt in range(_ATTEMPTS):
        monitor = DepthMonitor.load(options.monitor, autosave=True, log=options.log)
        if table is None:
            options.nan_policy = monitor.nan_policy
            table = read_tables([options.batch], options, checked=False)[0].table
        rows = match(table, monitor.columns, options.batch, "the reference")
        try:
            return monitor.check(rows, group=options.group)
        except BusyFileError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("an attempt returns or raises")


def check_code(verdict: Verdict) -> int:
    """The exit code: 1 where the alarm rings."""
    return _ALARM if verdict.alarm else 0


def show_file(options: argparse.Namespace) -> DepthMonitor:
    """Read a monitor."""
    from isodepth.inference.monitor import DepthMonitor

    check_outputs(options)
    return DepthMonitor.load(options.monitor)


def write_stream(monitor: DepthMonitor, notes: list[str], options: argparse.Namespace) -> None:
    """Write the picture and the report, if asked for."""
    if options.plot is not None:
        from isodepth.plot.monitor_timeline import monitor_timeline

        save_plot(monitor_timeline(monitor), options.plot)
    save_report(monitor, options, notes)


def reset_file(options: argparse.Namespace) -> None:
    """Begin to gather evidence anew."""
    from isodepth.inference.monitor import DepthMonitor

    DepthMonitor.load(options.monitor, autosave=True).reset()


def _labels(source: InputFile, name: str, options: argparse.Namespace) -> np.ndarray:
    """The labels in a column: numbers where all are, whole ones written as such, else texts."""
    wish = replace(wish_of(options, name), missing=True, drop=(), columns=None, text="drop")
    labels = read_with_options(source, wish).labels or []
    if "" in labels:
        raise InvalidInputError(
            f"{source.path}: {labels.count('')} rows have no value in column {name!r}; fill it in"
        )
    try:
        values = np.array([float(label) for label in labels])
    except ValueError:
        return np.array(labels)
    whole = bool(np.isfinite(values).all() and (values == np.round(values)).all())
    return values.astype(np.int64) if whole else values


# -- output ---------------------------------------------------------------------------------------


def check_report(verdict: Verdict, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed about a batch."""
    if not options.json:
        return str(verdict)
    return as_json(verdict.to_dict(), notes)


def reset_report(_: None, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed once evidence begins anew."""
    if not options.json:
        return "the evidence begins anew"
    return as_json({"monitor": options.monitor, "reset": True}, notes)


def show_report(monitor: DepthMonitor, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed about a monitor."""
    if options.json:
        return as_json(monitor.to_dict(), notes)
    summary = monitor.to_dict()
    lines = [f"columns     {', '.join(summary['columns'])}", f"promise     {_promise(summary)}"]
    for usual in summary["usual"]:
        group = "" if usual["group"] is None else f" of group {usual['group']}"
        lines.append(
            f"usual       {usual['low']:.4g} to {usual['high']:.4g} for batches of "
            f"{usual['rows']} rows{group} ({usual['n']} scores, {summary['calibration']})"
        )
    if summary["calibration"] == "resampled":
        lines.append("            resampled rows: p-values and promises hold approximately")
    verdicts = monitor.verdicts
    lines.append(f"stream      {len(verdicts)} batch(es) checked{_state(verdicts)}")
    if verdicts:
        lines += ["", "batch   rows     score       p  evidence  alarm  columns"]
        lines += [_line(verdict) for verdict in verdicts[-_SHOWN:]]
    return "\n".join([*lines, f"signature   {monitor.signature}"])


def _promise(summary: dict[str, Any]) -> str:
    promise = summary["promise"]
    if promise["arl"] is not None:
        text = f"at least {promise['arl']:g} batches between false alarms, in the mean"
    else:
        text = f"an undrifted stream ever rings with a chance of at most {promise['alpha']:g}"
    if promise["tolerance"]:
        text += f", whatever {promise['tolerance']:.0%} of the rows are"
    if promise["patience"] > 1:
        text += f"; {promise['patience']} batches it takes to ring"
    return text


def _state(verdicts: list[Verdict]) -> str:
    if not verdicts or not verdicts[-1].alarm:
        return ", no alarm"
    return f", ALARM since batch {verdicts[-1].alarm_since}"


def _line(verdict: Verdict) -> str:
    leading = ", ".join(f"{name} ({share:.0%})" for name, share in verdict.columns[:2])
    return (
        f"{verdict.batch:5d}  {verdict.n_rows:5d}  {verdict.score:8.4g}  {verdict.pvalue:6.2g}  "
        f"{verdict.evidence:8.3g}  {'ALARM' if verdict.alarm else '':5}  {leading}"
    )
