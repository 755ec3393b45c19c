"""Variables of the template for the report of a monitor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from isodepth.results.protocols import MonitorLike
from isodepth.show.repeat import load_code
from isodepth.show.style import loose_figure
from isodepth.show.svg import WIDTH
from isodepth.show.table_files import TableFile
from isodepth.show.timeline import timeline


def monitor_context(
    monitor: MonitorLike,
    *,
    labels: Sequence[Any] | None = None,
    files: Sequence[TableFile] | None = None,
) -> dict[str, Any]:
    """Return the variables of the template `monitor.html`, the report of a monitor.

    `labels` are names of the batches. `files` contains the file from which the monitor was read;
    None if there is no such file.
    """
    verdicts = monitor.verdicts
    context: dict[str, Any] = {
        "monitor": monitor,
        "verdict": monitor._headline,
        "verdicts": verdicts,
        "labels": labels,
        "strongest_changes": [v.changes[0].text if v.changes else "" for v in verdicts],
        "groups": monitor._group_states,
        "n_batches": monitor.n_batches,
        "changed_share": "",
        "remarks": [],
        "code": "" if files is None else load_code(files[0].path),
    }
    if verdicts:
        named = {name for verdict in verdicts for c in verdict.changes for name in c.columns}
        figure = loose_figure(WIDTH, 4.0 + 0.25 * min(len(named), 12))
        context |= {
            "strongest": min(verdicts, key=lambda verdict: verdict.window_pvalue),
            "figures": {"timeline": timeline(monitor, labels=labels, figure=figure)},
        }
    return context
