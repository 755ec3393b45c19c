"""The command `isodepth monitor`: fit once, check batch after batch, show what was seen.

For cron and continuous integration: `check` ends with 1 where the alarm rings, and with 2 where a
batch cannot be judged.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.data.frames import Table
from isodepth.data.readers import read_table
from isodepth.errors import BusyFileError, InvalidInputError, InvalidOptionError

if TYPE_CHECKING:
    from isodepth.inference.monitor import DepthMonitor
    from isodepth.inference.verdict import Verdict

_ALARM = 1
# Another process may check a batch between reading a monitor and writing it.
_ATTEMPTS = 5
_SHOWN = 10
_METRIC_SETTINGS = ("depth", "q", "eps", "p", "n_directions", "levels", "random_state")
_WATCH_SETTINGS = ("alpha", "arl", "tolerance", "patience", "nan_policy")


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
    parser = actions.add_parser(
        "fit",
        help="make a monitor from a reference",
        description=(
            "Make a monitor from a table of undrifted rows (.csv, .parquet or .npy). The file "
            "keeps tables, scores and settings, and none of the rows."
        ),
    )
    add = parser.add_argument
    add("reference", metavar="REFERENCE", help="table of undrifted rows")
    add("-o", "--output", required=True, metavar="FILE", help="where the monitor goes (.npz)")
    add("--batch-size", type=int, action="append", metavar="N",
        help="rows of a batch; may be repeated, sizes between are interpolated")  # fmt: skip
    add("--blocks", metavar="COLUMN", help="each block of rows with one label is a batch")
    add("--groups", metavar="COLUMN", help="each group of rows has a calibration of its own")
    _add_without(parser)
    setting = parser.add_argument_group("when to ring").add_argument
    setting("--alpha", type=float, help="chance of ever ringing falsely (default 0.01)")
    setting("--arl", type=float, metavar="N",
            help="instead: mean number of batches between false alarms")  # fmt: skip
    setting("--tolerance", type=float, metavar="SHARE", help="rows that may be foreign (default 0)")
    setting("--patience", type=int, metavar="N", help="batches it takes to ring (default 1)")
    setting = parser.add_argument_group("settings").add_argument
    setting("--scale", choices=("reference", "none"), help="units of columns (default reference)")
    setting("--nan-policy", choices=("raise", "omit"), help="missing values (default raise)")
    setting("--depth", help="halfspace, projection (default), irw or ai_irw")
    setting("--q", type=float, help="exponent of the mean over directions, may be inf (default 2)")
    setting("--p", type=float, help="exponent of the mean over levels, may be inf (default 2)")
    setting("--eps", type=float, help="share of the outermost mass that is ignored (default 0.1)")
    setting("--directions", dest="n_directions", type=int, metavar="N", help="default 200")
    setting("--levels", type=int, metavar="L", help="default 20")
    setting("--seed", dest="random_state", type=int, default=0, help="default 0")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(work=fit_file, report=show_report, plot=None)


def _add_check(actions: Any) -> None:
    parser = actions.add_parser(
        "check",
        help="judge the next batch; exit code 1 where the alarm rings",
        description=(
            "Judge the next batch, and keep what was seen in the file of the monitor. Ends with 0 "
            "where no alarm rings, with 1 where one does, with 2 where the batch cannot be judged."
        ),
    )
    add = parser.add_argument
    add("monitor", metavar="MONITOR", help="what `isodepth monitor fit` made")
    add("batch", metavar="BATCH", help="table of the rows of the batch")
    add("--group", metavar="NAME", help="which group the batch is of")
    add("--log", metavar="FILE", help="add the verdict to this file, one line of JSON a batch")
    _add_without(parser)
    add("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(work=check_file, report=check_report, code=check_code)


def _add_show(actions: Any) -> None:
    parser = actions.add_parser("show", help="what a monitor has seen")
    parser.add_argument("monitor", metavar="MONITOR")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.add_argument("--plot", metavar="FILE", help="draw the stream (.png, .pdf, .svg)")
    parser.set_defaults(work=show_file, report=show_report)


def _add_reset(actions: Any) -> None:
    parser = actions.add_parser("reset", help="gather evidence anew, after an alarm was seen to")
    parser.add_argument("monitor", metavar="MONITOR")
    parser.set_defaults(work=reset_file, report=lambda *_: "the evidence begins anew")


def _add_without(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--without", action="append", default=[], metavar="COLUMN",
        help="a column to leave out; may be repeated",
    )  # fmt: skip


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
    table = read_table(options.reference)
    labels = {"blocks": options.blocks, "groups": options.groups}
    taken = [name for name in labels.values() if name is not None]
    found: dict[str, Any] = {}
    found |= {key: _labels(table, name, options.reference) for key, name in labels.items() if name}
    table = _without(table, [*options.without, *taken], options.reference)
    names = (*_METRIC_SETTINGS, *_WATCH_SETTINGS)
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if options.scale is not None:
        given["scale"] = None if options.scale == "none" else options.scale
    return DepthMonitor(table, batch_size=options.batch_size, path=options.output, **found, **given)


def check_file(options: argparse.Namespace) -> Verdict:
    """Judge a batch, and keep the monitor."""
    from isodepth.inference.monitor import DepthMonitor

    table = _without(read_table(options.batch), options.without, options.batch)
    for attempt in range(_ATTEMPTS):
        monitor = DepthMonitor.load(options.monitor, autosave=True, log=options.log)
        rows = _in_order(table, monitor.columns, options.batch)
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
    """Read a monitor, and draw it if asked to."""
    from isodepth.inference.monitor import DepthMonitor

    if options.plot is not None:
        from isodepth.plot.picture import check_picture

        check_picture(options.plot)
    monitor = DepthMonitor.load(options.monitor)
    if options.plot is not None:
        from isodepth.plot.monitor_timeline import monitor_timeline
        from isodepth.plot.picture import save_picture

        save_picture(monitor_timeline(monitor), options.plot)
    return monitor


def reset_file(options: argparse.Namespace) -> None:
    """Begin to gather evidence anew."""
    from isodepth.inference.monitor import DepthMonitor

    DepthMonitor.load(options.monitor, autosave=True).reset()


def _column(table: Table, name: str, path: str) -> int:
    if table.columns is None or name not in table.columns:
        known = "no names" if table.columns is None else ", ".join(map(repr, table.columns))
        raise InvalidInputError(f"{path} has no column {name!r}; its columns have {known}")
    return table.columns.index(name)


def _labels(table: Table, name: str, path: str) -> np.ndarray:
    """The labels in a column, whole numbers written as such."""
    values = table.points[:, _column(table, name, path)]
    whole = bool(np.isfinite(values).all() and (values == np.round(values)).all())
    return values.astype(np.int64) if whole else values


def _without(table: Table, names: list[str], path: str) -> Table:
    if not names:
        return table
    taken = {_column(table, name, path) for name in names}
    left = [j for j in range(table.points.shape[1]) if j not in taken]
    assert table.columns is not None
    return Table(table.points[:, left], tuple(table.columns[j] for j in left))


def _in_order(table: Table, columns: tuple[str, ...] | None, path: str) -> Table:
    """A batch with the columns of the reference, in their order."""
    if not table.columns or not columns or table.columns == columns:
        return table
    odd = [f"{name!r} is missing" for name in columns if name not in table.columns]
    odd += [f"{name!r} is not in the reference" for name in table.columns if name not in columns]
    if odd:
        raise InvalidInputError(f"{path} has other columns than the reference: {', '.join(odd)}")
    order = [table.columns.index(name) for name in columns]
    return Table(table.points[:, order], columns)


# -- output ---------------------------------------------------------------------------------------


def check_report(verdict: Verdict, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed about a batch."""
    if not options.json:
        return str(verdict)
    return json.dumps({**verdict.to_dict(), "warnings": notes}, indent=2, allow_nan=False)


def show_report(monitor: DepthMonitor, notes: list[str], options: argparse.Namespace) -> str:
    """What is printed about a monitor."""
    if options.json:
        return json.dumps({**monitor.to_dict(), "warnings": notes}, indent=2, allow_nan=False)
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
