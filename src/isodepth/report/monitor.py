"""What the report of a monitor shows."""

from __future__ import annotations

from typing import Any

from isodepth.plot.comparisons import column_shares
from isodepth.plot.monitor_timeline import monitor_timeline
from isodepth.plot.style import loose_axes, loose_figure
from isodepth.report.pictures import WIDTH
from isodepth.report.sentences import alarm_promise, largest_contributions, monitor_headline
from isodepth.report.tables import report_table

_CODE = """import isodepth

monitor = isodepth.DepthMonitor.load("monitor.npz")
monitor.report("report.html")"""


def monitor_context(monitor: Any, labels: Any) -> dict[str, Any]:
    """What the template of a monitor that judges batches is filled with."""
    summary, verdicts = monitor.to_dict(), monitor.verdicts
    intervals = summary["null_intervals"]
    if labels is None and any(verdict.label is not None for verdict in verdicts):
        labels = [verdict.label or str(verdict.batch) for verdict in verdicts]
    context: dict[str, Any] = {
        "verdict": monitor_headline(verdicts, monitor.alarm),
        "tiles": [("batches", str(len(verdicts)))],
        "count": len(verdicts),
        "promise": alarm_promise(summary),
        "null_intervals": report_table(
            {
                "group": [each["group"] or "all" for each in intervals],
                "rows of a batch": [each["rows"] for each in intervals],
                "undrifted scores": [each["n"] for each in intervals],
                "98% of scores from": [each["low"] for each in intervals],
                "to": [each["high"] for each in intervals],
            }
        ),
        "signatures": [("", monitor.signature)],
        "code": _CODE,
    }
    if verdicts:
        last = verdicts[-1]
        furthest = max(verdicts, key=lambda verdict: verdict.score)
        width = len(furthest.columns)
        context["tiles"] += [
            ("evidence", f"{last.evidence:.3g}"),
            ("threshold", f"{last.threshold:g}"),
            ("last score", f"{last.score:.3g}"),
            ("undrifted scores", f"{last.null_interval[0]:.2g} to {last.null_interval[1]:.2g}"),
        ]
        figure = loose_figure(WIDTH, 4.6 + 0.2 * min(width, 12))
        context |= {
            "furthest": furthest,
            "contributions": largest_contributions(furthest.columns),
            "pictures": {
                "timeline": monitor_timeline(monitor, labels, figure),
                "columns": column_shares(furthest, loose_axes(WIDTH, 1.3 + 0.29 * min(width, 15))),
            },
            "batches": _batches(verdicts, labels),
        }
    return context


def _batches(verdicts: list[Any], labels: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {"batch": [verdict.batch for verdict in verdicts]}
    if labels is not None:
        columns["label"] = [str(label) for label in labels]
    if any(verdict.group is not None for verdict in verdicts):
        columns["group"] = [verdict.group for verdict in verdicts]
    columns |= {
        "rows": [verdict.n_rows for verdict in verdicts],
        "score": [verdict.score for verdict in verdicts],
        "undrifted up to": [verdict.null_interval[1] for verdict in verdicts],
        "p-value": [verdict.p_value for verdict in verdicts],
        "evidence": [verdict.evidence for verdict in verdicts],
        "alarm": [verdict.alarm for verdict in verdicts],
        "largest contributions": [largest_contributions(verdict.columns) for verdict in verdicts],
    }
    if any(verdict.categories for verdict in verdicts):
        columns["categories"] = [", ".join(map(str, verdict.categories)) for verdict in verdicts]
    return report_table(columns, name="batches", filter_above=5)
