"""The report of a monitor."""

from __future__ import annotations

from typing import Any

from isodepth.inference.monitor import DepthMonitor
from isodepth.plot.column_shares import column_shares
from isodepth.plot.monitor_timeline import monitor_timeline
from isodepth.plot.style import loose_axes, loose_figure
from isodepth.report.parts import code, paragraph, section, table, tiles, verdict
from isodepth.report.pictures import WIDTH, picture
from isodepth.report.sentence import carriers, monitor_sentence
from isodepth.report.settings import settings_table


def monitor_parts(monitor: DepthMonitor, labels: Any, command: str | None) -> tuple[str, list[str]]:
    """The lead and the sections of the report of a monitor that judges batches."""
    summary = monitor.to_dict()
    verdicts = monitor.verdicts
    sentence, kind = monitor_sentence(verdicts)
    figures = [("batches", str(len(verdicts)))]
    if verdicts:
        last = verdicts[-1]
        figures += [
            ("evidence", f"{last.evidence:.3g}"),
            ("rings at", f"{last.threshold:g}"),
            ("last score", f"{last.score:.3g}"),
            ("usual scores", f"{last.usual[0]:.3g}–{last.usual[1]:.3g}"),
        ]
    lead = verdict(sentence, kind) + tiles(figures)
    sections = []
    if verdicts:
        sections = [_pictures(monitor, verdicts, labels), _batches(verdicts, labels)]
    return lead, [*sections, _promise(summary), _settings(monitor), _repeat(command)]


def _pictures(monitor: DepthMonitor, verdicts: list[Any], labels: Any) -> str:
    telling = max(verdicts, key=lambda verdict: verdict.score)
    n_shown = min(len(telling.columns), 15)
    n_columns = min(len(telling.columns), 12)
    return section(
        "Pictures",
        picture(
            lambda: monitor_timeline(monitor, labels, loose_figure(WIDTH, 4.6 + 0.2 * n_columns)),
            f"Scores of {len(verdicts)} batches with the band of undrifted ones, the evidence with "
            "the threshold at which the alarm rings, and the share of each column.",
            "On top the score of each batch; 98% of undrifted batches lie in the band. Below the "
            "evidence that the stream has drifted, and the columns that carry each score. The time "
            "in which the alarm rings is shaded.",
        ),
        picture(
            lambda: column_shares(telling, loose_axes(WIDTH, 1.3 + 0.29 * n_shown)),
            f"Columns of batch {telling.batch}, the one with the largest score: "
            f"{carriers(telling.columns)}.",
            f"Columns of batch {telling.batch}, the one furthest from the reference.",
        ),
    )


def _batches(verdicts: list[Any], labels: Any) -> str:
    columns: dict[str, Any] = {"batch": [verdict.batch for verdict in verdicts]}
    if labels is not None:
        columns["label"] = [str(label) for label in labels]
    if any(verdict.group is not None for verdict in verdicts):
        columns["group"] = [verdict.group for verdict in verdicts]
    columns |= {
        "rows": [verdict.n_rows for verdict in verdicts],
        "score": [verdict.score for verdict in verdicts],
        "usual up to": [verdict.usual[1] for verdict in verdicts],
        "p-value": [verdict.pvalue for verdict in verdicts],
        "evidence": [verdict.evidence for verdict in verdicts],
        "alarm": [verdict.alarm for verdict in verdicts],
        "carried by": [carriers(verdict.columns) for verdict in verdicts],
    }
    return section(
        "Batches",
        paragraph("Click a heading to sort.", "quiet"),
        table(columns, name="batches", filtered=len(verdicts) > 5),
    )


def _promise(summary: dict[str, Any]) -> str:
    promise = summary["promise"]
    if promise["arl"] is not None:
        text = f"In the mean at least {promise['arl']:g} batches lie between false alarms."
    else:
        text = (
            "An undrifted stream, however long, ever rings with a chance of at most "
            f"{promise['alpha']:g}."
        )
    if promise["tolerance"]:
        text += f" Up to {promise['tolerance']:.0%} of the rows may be anything."
    if promise["patience"] > 1:
        text += f" It takes {promise['patience']} batches to ring."
    if summary["calibration"] == "resampled":
        text += " Undrifted batches were resampled, so that all of this holds approximately."
    usual = summary["usual"]
    return section(
        "What the alarm promises",
        paragraph(text),
        table(
            {
                "group": [each["group"] or "all" for each in usual],
                "rows of a batch": [each["rows"] for each in usual],
                "undrifted scores known": [each["n"] for each in usual],
                "usual from": [each["low"] for each in usual],
                "usual to": [each["high"] for each in usual],
            }
        ),
    )


def _settings(monitor: DepthMonitor) -> str:
    signature = monitor.signature
    return section("Settings", code(signature), settings_table(signature))


def _repeat(command: str | None) -> str:
    parts = [] if command is None else [paragraph("On the command line:"), code(command)]
    text = 'import isodepth\n\nmonitor = isodepth.DepthMonitor.load("monitor.npz")\n'
    parts += [
        paragraph("In Python, from the file of the monitor:"),
        code(text + 'monitor.report("report.html")'),
    ]
    return section("How to repeat it", *parts)
