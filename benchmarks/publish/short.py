"""Rows of the speed table in README: isodepth with default settings, and its alternatives."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.contenders import DEFAULT_REFINE
from benchmarks.sections.table import Row, find

_OURS: Row = {
    "who": "isodepth", "depth": "projection", "dtype": "float64", "refine": DEFAULT_REFINE,
}  # fmt: skip
#: Label of each row, and the row of the long table that it shows.
ROWS: dict[str, Row] = {
    "**isodepth**, default settings": _OURS,
    "Algorithm 1 of the paper (NumPy)": {
        "who": "authors",
        "depth": "projection",
        "dtype": "float64",
    },
    "max-sliced Wasserstein (POT)": {"who": "POT max-sliced W", "dtype": "float64"},
    "Wasserstein, exact (POT)": {"who": "POT exact W", "dtype": "float64"},
    "MMD (scikit-learn)": {"who": "MMD (scikit-learn)", "dtype": "float64"},
}


def markdown(rows: list[Row], machine: dict[str, Any]) -> str:
    """Return the table of seconds with all threads of the run, and their ratios to isodepth."""
    threads = max(row["threads"] for row in rows)
    rows = [row for row in rows if row["threads"] == threads]
    ours = [row for row in rows if _OURS.items() <= row.items()]
    sizes = [(row["n"], row["d"]) for row in ours]
    lines = [
        "| | " + " | ".join(f"n = {n}, d = {d}" for n, d in sizes) + " |",
        "|---|" + "---|" * len(sizes),
    ]
    for label, entries in ROWS.items():
        cells = [_cell(rows, entries, {"n": n, "d": d}) for n, d in sizes]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    busy = "" if machine["quiet"] else ", not quite idle"
    lines += [
        "",
        f"Seconds for one distance between n and n points in d columns, float64, {ours[0]['K']} "
        f"directions, {threads} thread(s); in brackets, times those of isodepth. "
        f"{machine['cpu']}, {machine['cores']} core(s){busy}; isodepth "
        f"{machine['versions']['isodepth']}.",
    ]
    return "\n".join(lines)


def _cell(rows: list[Row], entries: Row, size: Row) -> str:
    row, ours = find(rows, **entries, **size), find(rows, **_OURS, **size)
    if row is None or ours is None:
        return "–"
    times = row["seconds"] / ours["seconds"]
    return f"{row['seconds']:.4f} ({times:.{1 if times < 10 else 0}f})"
