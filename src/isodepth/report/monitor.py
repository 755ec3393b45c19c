"""What the report of a monitor shows."""

from __future__ import annotations

from typing import Any

from isodepth.plot.comparisons import contributions
from isodepth.plot.monitor_timeline import monitor_timeline
from isodepth.plot.style import loose_axes, loose_figure
from isodepth.report.pictures import WIDTH
from isodepth.report.sentences import alarm_promise, monitor_headline


def monitor_context(monitor: Any, labels: Any) -> dict[str, Any]:
    """What the template of a calibrated monitor is filled with."""
    verdicts = monitor.verdicts
    summary = monitor.to_dict()
    context: dict[str, Any] = {
        "verdict": monitor_headline(verdicts, monitor.alarm),
        "verdicts": verdicts,
        "labels": labels,
        "promise": alarm_promise(summary),
        "intervals": summary["null_intervals"],
        "signatures": [("", monitor.signature)],
    }
    if verdicts:
        furthest = max(verdicts, key=lambda verdict: verdict.score)
        width = len(furthest.columns)
        figure = loose_figure(WIDTH, 4.6 + 0.2 * min(width, 12))
        context |= {
            "furthest": furthest,
            "pictures": {
                "timeline": monitor_timeline(monitor, labels, figure),
                "columns": contributions(furthest, loose_axes(WIDTH, 1.3 + 0.29 * min(width, 15))),
            },
        }
    return context
