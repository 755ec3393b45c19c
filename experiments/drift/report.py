"""Tables of the side-by-side study. `docs/drift.md` shows the first one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import mean, median
from typing import Any

from experiments.answers.changes import CHANGES
from experiments.answers.tables import SOURCES

_Line = dict[str, Any]


def write_report(out: Path) -> str:
    """Write `out`/drift.md from all runs in `out`, and return its text."""
    lines = [
        json.loads(line)
        for path in sorted(out.glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    text = report(lines, {p.stem: json.loads(p.read_text()) for p in out.glob("*-versions.json")})
    (out / "drift.md").write_text(text)
    return text


def report(lines: list[_Line], versions: dict[str, dict[str, str]]) -> str:
    """Return the tables as Markdown, from the splits that a tool has completed."""
    sizes = Counter((line["tool"], line["split"]) for line in lines)
    complete = {tool: max(n for (name, _), n in sizes.items() if name == tool) for tool, _ in sizes}
    lines = [line for line in lines if sizes[line["tool"], line["split"]] == complete[line["tool"]]]
    tools = list(dict.fromkeys(line["tool"] for line in lines))
    ran = [line for line in lines if "error" not in line]
    tables = {line["table"] for line in lines}
    sources = ", ".join(f"{name}: {s}" for name, s in SOURCES.items() if name in tables)
    parts = [
        f"Random splits of {len(tables)} tables ({sources})."
        " All values in percent, except for the splits, the seconds and the failures.",
        "",
        "### Summary",
        "",
        _row(["tool", "splits", "false alarms", "alarms with garbage only", "detections",
              "right column first", "detections with garbage", "right column with garbage",
              "wrong rows listed", "seconds (median)", "failed"]),
        _row(["---", *["---:"] * 10]),
    ]  # fmt: skip
    for tool in tools:
        answers = _of(ran, tool=tool)
        everything = _of(lines, tool=tool)
        none = [line for line in answers if line["change"] == "none"]
        real = [line for line in answers if line["change"] != "none"]
        listed = [line["rows_found"] for line in answers if "rows_found" in line]
        parts.append(
            _row(
                [
                    tool,
                    str(len({line["split"] for line in everything})),
                    _percent(none, "detected", garbage=False),
                    _percent(none, "detected", garbage=True),
                    _percent(real, "detected", garbage=False),
                    _percent(real, "right", garbage=False),
                    _percent(real, "detected", garbage=True),
                    _percent(real, "right", garbage=True),
                    f"{100 * mean(listed):.0f}" if listed else "",
                    f"{median([line['seconds'] for line in answers]):.2f}" if answers else "",
                    str(len(everything) - len(answers)),
                ]
            )
        )
    for title, garbage in (
        ("clean tables", False),
        ("5% of garbage rows in the second half", True),
    ):
        parts += ["", f"### Detections per change, {title}", ""]
        parts += [_row(["change", *tools]), _row(["---", *["---:"] * len(tools)])]
        for name in CHANGES:
            cells = [
                _percent(_of(ran, tool=tool, change=name), "detected", garbage=garbage)
                + ("" if name == "none" else
                   f" / {_percent(_of(ran, tool=tool, change=name), 'right', garbage=garbage)}")
                for tool in tools
            ]  # fmt: skip
            parts.append(_row([name, *cells]))
    parts += ["", "First figure: detections; second figure: detections that name a changed column "
              "first."]  # fmt: skip
    rows = [line for line in ran if "rows_found" in line]
    keys = ("rows_found", "rows_false")
    if rows:
        parts += ["", "### Wrong rows listed by isodepth", ""]
        parts += [_row(["table", "change", "found", "false"]), _row(["---", "---", "---:", "---:"])]
        for table in sorted({line["table"] for line in rows}):
            for name in ("units", "sentinel"):
                chosen = _of(rows, table=table, change=name)
                if chosen:
                    shares = (mean(line[key] for line in chosen) for key in keys)
                    parts.append(_row([table, name, *(f"{100 * share:.0f}" for share in shares)]))
    failures = sorted(
        {(line["tool"], line["table"], line["error"]) for line in lines if "error" in line}
    )
    if failures:
        parts += [
            "",
            "### Failures",
            "",
            *(f"* {tool}, {table}: `{e}`" for tool, table, e in failures),
        ]
    used = "; ".join(", ".join(f"{k} {v}" for k, v in run.items()) for run in versions.values())
    parts += ["", f"Versions: {used}.", ""]
    return "\n".join(parts)


def _of(lines: Iterable[_Line], **values: Any) -> list[_Line]:
    return [line for line in lines if all(line[key] == value for key, value in values.items())]


def _percent(lines: list[_Line], key: str, *, garbage: bool) -> str:
    chosen = _of(lines, garbage=garbage)
    return f"{100 * mean(line[key] for line in chosen):.0f}" if chosen else ""


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
