"""What the report of a comparison shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth.data.arrays import column_labels
from isodepth.plot.comparisons import column_shares, gap_profile, null_distribution
from isodepth.plot.regions import nested_regions
from isodepth.plot.style import loose_axes
from isodepth.report.pictures import WIDTH
from isodepth.report.repeat import compare_code
from isodepth.report.sentences import comparison_headline, largest_contributions
from isodepth.report.tables import report_table

_MOST_OUTSIDE = 50


def comparison_context(
    comparison: Any,
    names: Sequence[str],
    sources: Sequence[str] | None,
    read_options: Sequence[dict[str, Any]] | None,
    block_column: str | None,
) -> dict[str, Any]:
    """What the template of a comparison is filled with."""
    x, y = names
    test = comparison.test
    tiles = [("distance", f"{comparison.distance:.3g}")]
    if test is not None:
        tiles += [
            ("p-value", f"{test.p_value:.3g}"),
            ("test statistic", f"{test.statistic:.3g}"),
            ("statistic by chance", f"{test.null_mean:.3g}"),
        ]
    counts = [regions.n_points for regions in comparison.regions]
    tiles += [(f"rows of {name}", f"{n:,}") for name, n in zip(names, counts, strict=True)]
    signatures = [("", comparison.signature)]
    if test is not None:
        signatures.append(("The test", test.signature))
    return {
        "verdict": comparison_headline(comparison, names),
        "tiles": tiles,
        "x": x,
        "y": y,
        "test": test,
        "distance": comparison.distance,
        "largest_gap": comparison.largest_gap.gap,
        "eps": 1.0 - float(np.max(comparison.levels)),
        "contributions": largest_contributions(comparison.column_shares),
        "samples": _samples(comparison, names, sources),
        "missing": _missing(comparison, names),
        "columns": _columns(comparison, names),
        "outside": _outside(comparison, y) if comparison.keeps_rows else None,
        "most_outside": _MOST_OUTSIDE,
        "pictures": _pictures(comparison, names),
        "signatures": signatures,
        "code": compare_code(comparison, sources, read_options, block_column),
    }


def _pictures(comparison: Any, names: Sequence[str]) -> dict[str, Any]:
    height = 1.3 + 0.29 * min(len(comparison.column_shares), 15)
    drawn = {
        "gaps": gap_profile(comparison, loose_axes(WIDTH, 3.8)),
        "columns": column_shares(comparison, loose_axes(WIDTH, height)),
    }
    if comparison.keeps_rows:
        drawn["regions"] = nested_regions(comparison, loose_axes(WIDTH, 5.2), names=names)
    if comparison.test is not None:
        drawn["null"] = null_distribution(comparison.test, loose_axes(WIDTH, 3.0))
    return drawn


def _samples(
    comparison: Any, names: Sequence[str], sources: Sequence[str] | None
) -> dict[str, Any]:
    missing = comparison.missing
    compared = [regions.n_points for regions in comparison.regions]
    dropped = [0, 0] if missing is None else [missing.x.n_dropped, missing.y.n_dropped]
    columns: dict[str, Any] = {"sample": names}
    if sources is not None:
        columns["file"] = sources
    columns |= {
        "rows": [n + m for n, m in zip(compared, dropped, strict=True)],
        "left out, with missing values": dropped,
        "rows compared": compared,
        "columns": [comparison.regions[0].n_features] * 2,
    }
    return report_table(columns)


def _missing(comparison: Any, names: Sequence[str]) -> dict[str, Any] | None:
    shares = [] if comparison.missing is None else comparison.missing.shares
    shares = [share for share in shares if share.x or share.y]
    heads = [f"missing in {name}" for name in names]
    columns: dict[str, Any] = {
        "column": [share.column for share in shares],
        heads[0]: [share.x for share in shares],
        heads[1]: [share.y for share in shares],
        "difference, in standard errors": [round(share.z, 1) for share in shares],
    }
    return report_table(columns, percents=heads) if shares else None


def _columns(comparison: Any, names: Sequence[str]) -> dict[str, Any]:
    rows = comparison._rows()
    columns: dict[str, Any] = {"column": rows["column"], "contribution": rows["share"]}
    if comparison.test is not None:
        columns |= {
            "change": rows["kind"], "difference of shares": rows["difference"],
            "p-value": rows["p_value"],
        }  # fmt: skip
    if comparison.keeps_rows:
        known = list(comparison.columns or column_labels(comparison.regions[0].n_features))
        places = [known.index(name) for name in rows["column"]]
        scale = getattr(comparison.regions[0].origin, "scale", None)
        for name, regions in zip(names, comparison.regions, strict=True):
            medians = np.median(regions.points, axis=0)
            # In the units in which the columns were given.
            medians = medians if scale is None else medians * np.asarray(scale, dtype=float)
            columns[f"median of {name}"] = medians[places].tolist()
    return report_table(columns, name="columns", share="contribution", filter_above=5)


def _outside(comparison: Any, name: str) -> dict[str, Any] | None:
    found = comparison.rows_outside()
    known = comparison.columns or column_labels(comparison.regions[0].n_features)
    most = slice(0, _MOST_OUTSIDE)
    columns = {
        f"row of {name}": found.rows[most].tolist(),
        "how far outside": found.distances[most].tolist(),
        "mostly because of": [_leading(known, u) for u in found.directions[most]],
    }
    return report_table(columns, name="outside", filter_above=10) if len(found) else None


def _leading(known: Sequence[str], direction: np.ndarray) -> str:
    """The two columns along which a row is furthest out, and which way."""
    order = np.argsort(-np.abs(direction), kind="stable")[:2]
    return ", ".join(
        f"{known[j]} {'high' if direction[j] > 0 else 'low'}"
        for j in order
        if direction[j] ** 2 >= 0.1
    )
