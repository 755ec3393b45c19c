"""Content of the report of a comparison or a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.plot.changes import change_figure
from isodepth.plot.comparisons import contributions, gap_profile, null_distribution
from isodepth.plot.regions import nested_regions
from isodepth.plot.style import loose_axes, loose_figure
from isodepth.report.pictures import WIDTH
from isodepth.report.repeat import compare_code
from isodepth.report.sentences import (
    comparison_headline,
    distance_sentence,
    remarks,
    summary_lines,
)

_MOST_CHANGES = 30
_MOST_ROWS = 100
# Values of a suspicious row that are shown beside the odd one.
_MOST_VALUES = 4
# Random splits are left out of a report if they need more projections than this.
MOST_SPLIT_PROJECTIONS = 1 << 32
N_SPLITS = 19


def comparison_context(
    result: Any,
    names: Sequence[str],
    sources: Sequence[str] | None,
    read_options: Sequence[dict[str, Any]] | None,
    block_column: str | None,
) -> dict[str, Any]:
    """Return the variables of the template; a test of categories alone has no comparison."""
    alone = result.result_type == "test"
    test = result if alone else result.test
    comparison: Any = getattr(result, "comparison", None) if alone else result
    samples, rows = examined_rows(result)
    chance = chance_or_reason(comparison)
    return {
        "comparison": comparison,
        "test": test,
        "x": names[0],
        "y": names[1],
        "verdict": comparison_headline(comparison, test, names, rows),
        "second": remarks(result, test, rows, names),
        "counts": test.n_rows if test else [regions.n_points for regions in comparison.regions],
        "sources": sources,
        "kinds": result.kinds if test is None else test.kinds,
        "missing": result.missing,
        "holes": [share for share in getattr(result.missing, "shares", ()) if share.x or share.y],
        "changes": _changes(test, samples),
        "more_changes": max(0, len(test.changes) - _MOST_CHANGES) if test else 0,
        "columns": _columns(test, samples, names),
        "suspicious": rows,
        "suspicious_table": [] if rows is None else _suspicious(rows, samples, names),
        "most_rows": _MOST_ROWS,
        "csv": "" if rows is None else _csv(rows, names),
        "distance_sentence": "" if comparison is None else distance_sentence(comparison, chance),
        "figures": _figures(comparison, test, names),
        "code": compare_code(comparison, test, sources, read_options, block_column),
    }


def comparison_content(result: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the statements of a report for JSON."""
    alone = result.result_type == "test"
    test, comparison = (result, None) if alone else (result.test, result)
    _, rows = examined_rows(result)
    chance = chance_or_reason(comparison)
    omitted = isinstance(chance, str)
    return {
        **result.to_dict(),
        "headline": comparison_headline(comparison, test, names, rows).sentence,
        "remarks": remarks(result, test, rows, names),
        "suspicious_rows": None if rows is None else rows.to_dict(),
        "chance_level": None if omitted else chance.to_dict(),
        "chance_level_omitted": chance if omitted else None,
    }


def comparison_lines(result: Any, names: Sequence[str]) -> list[str]:
    """Return the summary of a result with its suspicious rows and the level of chance."""
    comparison = None if result.result_type == "test" else result
    return summary_lines(
        result, names, rows=examined_rows(result)[1], chance=chance_or_reason(comparison)
    )


def chance_or_reason(comparison: Any) -> Any:
    """Return the level of chance, or a string with the reason for its omission."""
    if comparison is None:
        return "no level of chance without a distance"
    if not comparison.keeps_rows:
        return "no level of chance: the rows were read in chunks"
    if N_SPLITS * comparison.splitting_cost > MOST_SPLIT_PROJECTIONS:
        return (
            f"level of chance omitted: {N_SPLITS} comparisons of samples of this size take long; "
            "chance_level() computes it in Python"
        )
    try:
        return comparison.chance_level(N_SPLITS)
    except InvalidInputError:
        return "no level of chance for rows with weights"


def examined_rows(result: Any) -> tuple[Any, Any]:
    """Return the rows of both samples and the suspicious ones; None if read in chunks."""
    try:
        return result.samples, result.suspicious_rows()
    except InvalidInputError:
        return None, None


def _changes(test: Any, samples: Any) -> list[dict[str, Any]]:
    """Return one entry per change, the strongest first, with a small figure if rows are known."""
    entries = []
    for change in test.changes[:_MOST_CHANGES] if test else ():
        before, after = change.values
        entry = {
            "label": change.label.rstrip(":"), "kind": change.kind, "before": before,
            "after": after, "pvalue": change.pvalue, "figure": None, "text": "",
        }  # fmt: skip
        if samples is not None and change.columns:
            figure = loose_figure(2.3, 0.72)
            entry["text"] = change_figure(change, samples, figure)
            entry["figure"] = figure
        entries.append(entry)
    return entries


def _columns(test: Any, samples: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the table of columns without a significant change."""
    if test is None:
        return {}
    changed = {name for change in test.changes for name in change.columns}
    rest = [column for column in test.column_tests if column.column not in changed]
    table: dict[str, Any] = {"column": [column.column for column in rest]}
    table["p-value"] = [column.pvalue for column in rest]
    if samples is not None:
        for side, name in enumerate(names):
            medians = [
                float(np.median(samples.numbers(column.column)[side]))
                if column.column in samples.columns
                else None
                for column in rest
            ]
            table[f"median of {name}"] = medians
    return table


def _suspicious(rows: Any, samples: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    called = dict(zip("XY", names, strict=True))
    table = []
    for row in rows.rows[:_MOST_ROWS]:
        points = samples.points["XY".index(row.sample)][row.row]
        odd = samples.columns.index(row.column)
        shown = [odd, *(j for j in range(len(points)) if j != odd)][: 1 + _MOST_VALUES]
        values = [(samples.columns[j], float(points[j]), j == odd) for j in sorted(shown)]
        table.append({"row": row, "sample": called[row.sample], "values": values})
    return table


def _csv(rows: Any, names: Sequence[str]) -> str:
    """Return all suspicious rows as a data URL of a CSV file."""
    called = dict(zip("XY", names, strict=True))
    lines = ["sample,row,column,value,score"]
    for row in rows.rows:
        cells = [called[row.sample], row.row, row.column, repr(row.value), f"{row.score:.4g}"]
        lines.append(",".join(_csv_cell(cell) for cell in cells))
    return "data:text/csv;charset=utf-8," + quote("\n".join(lines) + "\n")


def _csv_cell(cell: Any) -> str:
    text = str(cell)
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text


def _figures(comparison: Any, test: Any, names: Sequence[str]) -> dict[str, Any]:
    figures = {}
    if comparison is not None:
        if comparison.keeps_rows and comparison.regions[0].n_features > 1:
            figures["regions"] = nested_regions(comparison, loose_axes(WIDTH, 5.2), names=names)
        figures["gaps"] = gap_profile(comparison, loose_axes(WIDTH, 3.8))
        if test is None or test.significant:
            height = 1.3 + 0.29 * min(len(comparison.contributions), 15)
            figures["columns"] = contributions(comparison, loose_axes(WIDTH, height))
    if test is not None:
        figures["null"] = null_distribution(test, loose_axes(WIDTH, 3.0))
    return figures
