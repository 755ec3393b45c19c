"""Tables and figure of the side-by-side study, for `docs/drift.md`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

from experiments.tables.changes import CHANGES
from experiments.tables.sources import HELD_OUT
from experiments.tables.study import read_lines

_Line = dict[str, Any]

#: Order of the tools in tables and in the figure.
ORDER = (
    "isodepth", "isodepth, tolerance 0.1", "KS / chi-squared + Holm", "energy distance",
    "classifier (gradient boosting)", "evidently, data set", "evidently, any column",
    "evidently, quality tests", "alibi-detect, KS / chi-squared", "alibi-detect, MMD",
    "pandera, learned rules",
)  # fmt: skip


def write_report(out: Path) -> str:
    """Write the tables and the figure of all results in the folder `out`; return the tables.

    The files are drift.md and drift.png in the same folder.
    """
    lines = [
        line
        for path in sorted(out.glob("*.jsonl"))
        for pair in read_lines(path)
        for line in pair
        if not line.get("impossible")
    ]
    versions = {p.stem: json.loads(p.read_text()) for p in sorted(out.glob("*-versions.json"))}
    text = report(lines, versions)
    (out / "drift.md").write_text(text)
    draw(lines, out / "drift.png")
    return text


def report(lines: list[_Line], versions: dict[str, dict[str, str]]) -> str:
    """Return the tables of the study as Markdown.

    Comparisons that a tool did not finish are not counted.
    """
    parts = [
        f"{len({line['table'] for line in lines})} tables, "
        f"{len({(line['table'], line['split']) for line in lines})} pairs of halves.",
        "",
        "| tool | clean halves flagged | flagged with garbage only | detected | held-out tables "
        "| right column first | wrong columns named | detected with garbage | wrong rows found "
        "| seconds | failed |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for tool in _tools(lines):
        of_tool = [line for line in lines if line["tool"] == tool]
        done = [line for line in of_tool if "error" not in line]
        clean = [line for line in done if not line["garbage"]]
        dirty = [line for line in done if line["garbage"]]
        hits = [line for line in clean if line["detected"] and line["change"] != "clean"]
        cells = [
            _percent(clean, "detected", lambda line: line["change"] == "clean"),
            _percent(dirty, "detected", lambda line: line["change"] == "clean"),
            _percent(clean, "detected", lambda line: line["change"] != "clean"),
            _percent(
                clean, "detected",
                lambda line: line["change"] != "clean" and line["table"] in HELD_OUT,
            ),
            _percent(hits, "first"),
            _percent([{**hit, "any": hit["wrong"] > 0} for hit in hits if "wrong" in hit], "any"),
            _percent(dirty, "detected", lambda line: line["change"] != "clean"),
            _percent(clean, "rows_found"),
            f"{median(line['seconds'] for line in done):.2f}" if done else "",
            str(len(of_tool) - len(done)),
        ]  # fmt: skip
        parts.append(f"| {tool} | {' | '.join(cells)} |")
    for title, garbage in (("", False), (", with 5% of garbage", True)):
        tools = _tools(lines)
        parts += ["", f"### Detections per change{title}", ""]
        parts += [f"| change | {' | '.join(tools)} |", f"|---|{'---:|' * len(tools)}"]
        for name in CHANGES:
            cells = [
                _percent(
                    lines, "detected",
                    lambda line, key=(tool, name, garbage): key
                    == (line["tool"], line["change"], line["garbage"]),
                )
                for tool in tools
            ]  # fmt: skip
            parts.append(f"| {name} | {' | '.join(cells)} |")
    failures: dict[tuple[str, str], int] = {}
    for line in lines:
        if "error" in line:
            key = (line["tool"], line["error"][:90])
            failures[key] = failures.get(key, 0) + 1
    if failures:
        parts += ["", "### Failures", ""]
        parts += [f"* {tool}, {n} times: `{e}`" for (tool, e), n in sorted(failures.items())]
    used = "; ".join(", ".join(f"{k} {v}" for k, v in run.items()) for run in versions.values())
    return "\n".join([*parts, "", f"Versions: {used}.", ""])


def draw(lines: list[_Line], path: Path) -> None:
    """Draw the fraction of detections per kind of change and tool, as a table of colors.

    Comparisons with contaminated rows are left out.
    """
    import matplotlib.pyplot as plt
    import numpy as np

    tools = _tools(lines)
    values = np.full((len(CHANGES), len(tools)), np.nan)
    for i, name in enumerate(CHANGES):
        for j, tool in enumerate(tools):
            chosen = [
                line["detected"]
                for line in lines
                if line["tool"] == tool and line["change"] == name and not line["garbage"]
                and "error" not in line
            ]  # fmt: skip
            if chosen:
                values[i, j] = 100 * mean(chosen)
    figure, axes = plt.subplots(figsize=(9.5, 6.2), layout="constrained")
    # A detection without a change is an error: the first row has the opposite colors.
    axes.imshow(values, cmap="Blues", vmin=0, vmax=100, aspect="auto")
    colors = np.where(np.arange(len(CHANGES))[:, None] == 0, values, np.nan)
    axes.imshow(colors, cmap="Reds", vmin=0, vmax=100, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        if not np.isnan(value):
            color = "white" if value > 60 else "black"
            axes.text(j, i, f"{value:.0f}", ha="center", va="center", color=color, fontsize=9)
    axes.set_xticks(range(len(tools)), tools, rotation=35, ha="right", fontsize=9)
    names = ["no change (false alarms)", *list(CHANGES)[1:]]
    axes.set_yticks(range(len(CHANGES)), names, fontsize=9)
    axes.set_title("Detections in percent, by kind of change and tool")
    axes.spines[:].set_visible(False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _tools(lines: list[_Line]) -> list[str]:
    present = {line["tool"] for line in lines}
    return [*(t for t in ORDER if t in present), *sorted(present - {*ORDER})]


def _percent(
    lines: list[_Line], key: str, condition: Callable[[_Line], bool] = lambda line: True
) -> str:
    values = [line[key] for line in lines if line.get(key) is not None and condition(line)]
    return f"{100 * mean(values):.0f}" if values else ""
