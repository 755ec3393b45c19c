"""What the report of a comparison shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth.data.arrays import column_labels
from isodepth.plot.comparisons import category_shares, contributions, gap_profile, null_distribution
from isodepth.plot.regions import nested_regions
from isodepth.plot.style import loose_axes
from isodepth.report.pictures import WIDTH
from isodepth.report.repeat import compare_code
from isodepth.report.sentences import comparison_headline

_MOST_OUTSIDE = 50
_MOST_VALUES = 16


def comparison_context(
    result: Any,
    names: Sequence[str],
    sources: Sequence[str] | None,
    read_options: Sequence[dict[str, Any]] | None,
    block_column: str | None,
) -> dict[str, Any]:
    """What the template of a comparison is filled with; categories alone are tested only."""
    alone = result.result_type == "test"
    test = result if alone else result.test
    comparison: Any = getattr(result, "comparison", None) if alone else result
    keeps_rows = comparison is not None and comparison.keeps_rows
    return {
        "comparison": comparison,
        "test": test,
        "x": names[0],
        "y": names[1],
        "verdict": comparison_headline(comparison, test, names),
        "counts": test.n_rows if test else [regions.n_points for regions in comparison.regions],
        "sources": sources,
        "kinds": result.kinds if test is None else test.kinds,
        "missing": result.missing,
        "holes": [share for share in getattr(result.missing, "shares", ()) if share.x or share.y],
        "columns": _columns(comparison, test, names),
        "outside": _outside(comparison, names[1]) if keeps_rows else None,
        "most_outside": _MOST_OUTSIDE,
        "pictures": _pictures(comparison, test, names),
        "code": compare_code(comparison, test, sources, read_options, block_column),
    }


def _pictures(comparison: Any, test: Any, names: Sequence[str]) -> dict[str, Any]:
    drawn = {}
    if comparison is not None:
        height = 1.3 + 0.29 * min(len(comparison.contributions), 15)
        drawn["gaps"] = gap_profile(comparison, loose_axes(WIDTH, 3.8))
        drawn["columns"] = contributions(comparison, loose_axes(WIDTH, height))
        if comparison.keeps_rows and comparison.regions[0].n_features > 1:
            drawn["regions"] = nested_regions(comparison, loose_axes(WIDTH, 5.2), names=names)
    if test is not None:
        drawn["null"] = null_distribution(test, loose_axes(WIDTH, 3.0))
        if test.shares:
            axes = loose_axes(WIDTH, 1.3 + 0.36 * min(len(test.shares), _MOST_VALUES))
            drawn["shares"] = category_shares(test, axes, names=names, most=_MOST_VALUES)
    return drawn


def _columns(comparison: Any, test: Any, names: Sequence[str]) -> dict[str, Any]:
    """Every column that was compared: its contribution, what the test says of it, its medians."""
    contributions = {} if comparison is None else dict(comparison.contributions)
    tested = {} if test is None else {column.column: column for column in test.column_tests}
    # Categories have no contribution; without a test there are none.
    rows = list(dict.fromkeys([*contributions, *tested]))
    columns: dict[str, Any] = {"column": rows}
    if contributions:
        columns["contribution"] = [contributions.get(name) for name in rows]
    if tested:
        for head, field in (
            ("change", "kind"), ("difference of shares", "difference"),
            ("shift of the median, in spreads", "shift"), ("p-value", "pvalue"),
        ):  # fmt: skip
            columns[head] = [getattr(tested[name], field) for name in rows]
    if comparison is not None and comparison.keeps_rows:
        known = comparison.columns or column_labels(comparison.regions[0].n_features)
        scale = getattr(comparison.regions[0].origin, "scale", None)
        for name, regions in zip(names, comparison.regions, strict=True):
            medians = np.median(regions.points, axis=0)
            # In the units in which the columns were given.
            medians = medians if scale is None else medians * np.asarray(scale, dtype=float)
            of_column = dict(zip(known, medians.tolist(), strict=True))
            columns[f"median of {name}"] = [of_column.get(row) for row in rows]
    return columns


def _outside(comparison: Any, name: str) -> dict[str, Any]:
    found = comparison.rows_outside()
    known = comparison.columns or column_labels(comparison.regions[0].n_features)
    most = slice(0, _MOST_OUTSIDE)
    return {
        f"row of {name}": found.rows[most].tolist(),
        "how far outside": found.distances[most].tolist(),
        "mostly because of": [_leading(known, u) for u in found.directions[most]],
    }


def _leading(known: Sequence[str], direction: np.ndarray) -> str:
    """The two columns along which a row is furthest out, and which way."""
    order = np.argsort(-np.abs(direction), kind="stable")[:2]
    return ", ".join(
        f"{known[j]} {'high' if direction[j] > 0 else 'low'}"
        for j in order
        if direction[j] ** 2 >= 0.1
    )
