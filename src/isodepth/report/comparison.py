"""The report of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth.data.arrays import column_labels
from isodepth.metric.comparison import Comparison
from isodepth.plot.column_shares import column_shares
from isodepth.plot.gap_profile import gap_profile
from isodepth.plot.nested_regions import nested_regions
from isodepth.plot.null_distribution import null_distribution
from isodepth.plot.style import loose_axes
from isodepth.report.parts import code, paragraph, section, table, tiles, verdict
from isodepth.report.pictures import WIDTH, picture
from isodepth.report.sentence import carriers, comparison_sentence
from isodepth.report.settings import compare_call, settings_table

_MOST_OUTSIDE = 50


def comparison_parts(
    comparison: Comparison,
    names: Sequence[str],
    sources: Sequence[str] | None,
    command: str | None,
) -> tuple[str, list[str]]:
    """The lead and the sections of the report of a comparison."""
    sentence, kind = comparison_sentence(comparison, names)
    lead = verdict(sentence, kind) + tiles(_figures(comparison, names))
    sections = [
        _what(comparison, names, sources),
        _pictures(comparison, names),
        _columns(comparison, names),
        *([_outside(comparison, names)] if comparison.keeps_rows else []),
        _settings(comparison),
        _repeat(comparison, sources, command),
    ]
    return lead, sections


def _figures(comparison: Comparison, names: Sequence[str]) -> list[tuple[str, str]]:
    figures = [("distance", f"{comparison.distance:.3g}")]
    test = comparison.test
    if test is not None:
        figures += [
            ("expected of equal laws", f"{comparison.null_profile.expected:.3g}"),
            ("p-value", f"{test.pvalue:.3g}"),
        ]
    rows = [f"{regions.n_points:,}" for regions in comparison.regions]
    figures += [(f"rows of {name}", count) for name, count in zip(names, rows, strict=True)]
    return figures


def _what(comparison: Comparison, names: Sequence[str], sources: Sequence[str] | None) -> str:
    missing = comparison.missing
    reports = (None, None) if missing is None else (missing.x, missing.y)
    n_columns = comparison.regions[0].n_features
    given = [
        regions.n_points if report is None else report.n_rows
        for report, regions in zip(reports, comparison.regions, strict=True)
    ]
    columns: dict[str, Any] = {"sample": list(names)}
    if sources is not None:
        columns["file"] = list(sources)
    columns |= {
        "rows": given,
        "left out, with missing values": [0 if r is None else r.n_dropped for r in reports],
        "rows compared": [regions.n_points for regions in comparison.regions],
        "columns": [n_columns, n_columns],
    }
    parts = [table(columns)]
    if missing is not None and (missing.x.n_dropped or missing.y.n_dropped):
        shares = [share for share in missing.shares if share.x or share.y]
        parts += [
            "<h3>Missing values</h3>",
            paragraph(
                "A difference of several standard errors is a difference between the samples that "
                "the rows that are left cannot show."
            ),
            table(
                {
                    "column": [share.column for share in shares],
                    f"missing in {names[0]}": [share.x for share in shares],
                    f"missing in {names[1]}": [share.y for share in shares],
                    "apart, in standard errors": [round(share.z, 1) for share in shares],
                },
                percents=(f"missing in {names[0]}", f"missing in {names[1]}"),
            ),
        ]
    return section("What was compared", *parts)


def _pictures(comparison: Comparison, names: Sequence[str]) -> str:
    x, y = names
    largest = comparison.largest_gap
    numbers = f"distance {comparison.distance:.3g}, largest gap {largest.gap:.3g}"
    null, test = comparison.null_profile, comparison.test
    band = ""
    if null is not None:
        numbers += f"; {null.expected:.3g} is expected of equal laws"
        band = (
            " The hatched band is what the same rows give when they are dealt out to two samples "
            "at random: a curve above it is no chance."
        )
    n_shown = min(len(comparison.column_shares), 15)
    found = []
    if comparison.keeps_rows:
        found.append(_planar_picture(comparison, names))
    found += [
        picture(
            lambda: gap_profile(comparison, loose_axes(WIDTH, 3.8)),
            f"Gap between the regions of {x} and {y} at every level: {numbers}.",
            "How far apart the two regions of each level are. High on the left: the centers "
            "differ. High on the right only: the outskirts do. The distance is the mean of the "
            f"curve.{band}",
        ),
        picture(
            lambda: column_shares(comparison, loose_axes(WIDTH, 1.3 + 0.29 * n_shown)),
            f"Share of each column in the difference: {carriers(comparison.column_shares)}.",
            "How much of the difference lies along each column. Columns that go together share "
            "what they have in common."
            + ("" if test is None else " Hollow bars: not significant by themselves."),
        ),
    ]
    if test is not None:
        found.append(
            picture(
                lambda: null_distribution(test, loose_axes(WIDTH, 3.0)),
                f"Statistics of {len(test.null_distribution)} relabelings, {test.null_mean:.3g} on "
                f"average, and the observed one, {test.statistic:.3g}; p = {test.pvalue:.3g}.",
                "The test deals the same rows out to two samples again and again. The p-value is "
                "how often chance alone gets as far as what was observed. (The statistic has "
                "directions and levels of its own, and may differ a little from the distance.)",
            )
        )
    return section("Pictures", *found)


def _planar_picture(comparison: Comparison, names: Sequence[str]) -> str:
    x, y = names
    eps = 1.0 - float(np.max(comparison.levels))
    return picture(
        lambda: nested_regions(comparison, loose_axes(WIDTH, 4.7), names=names),
        f"Rows of {x} and {y} with their nested regions, in the plane in which they differ most. "
        f"The difference is carried by {carriers(comparison.column_shares)}.",
        f"Each region holds the deepest share of its sample; where those of {x} (circles, solid "
        f"lines) and {y} (triangles, dashed lines) part, the samples differ. The outermost "
        f"{eps:.0%} of each, drawn as crosses, do not count.",
        kind="rows",
    )


def _columns(comparison: Comparison, names: Sequence[str]) -> str:
    x, y = names
    known = list(comparison.columns or column_labels(comparison.regions[0].n_features))
    rows = comparison._rows()
    columns: dict[str, Any] = {"column": rows["column"], "share": rows["share"]}
    if comparison.test is not None:
        columns["gap"] = rows["gap"]
        columns["p-value"] = rows["pvalue"]
    if comparison.keeps_rows:
        places = [known.index(name) for name in rows["column"]]
        for name, medians in zip(names, _medians(comparison), strict=True):
            columns[f"median of {name}"] = medians[places].tolist()
    if comparison.missing is not None and any(s.x or s.y for s in comparison.missing.shares):
        shares = {share.column: share for share in comparison.missing.shares}
        columns[f"missing in {x}"] = [shares[name].x for name in rows["column"]]
        columns[f"missing in {y}"] = [shares[name].y for name in rows["column"]]
    text = "Click a heading to sort."
    if comparison.test is not None:
        text += (
            " The gap is how far apart the samples are along the column alone, and its p-value is "
            "adjusted for all columns."
        )
    return section(
        "Columns",
        paragraph(text, "quiet"),
        table(
            columns,
            name="columns",
            share="share",
            percents=(f"missing in {x}", f"missing in {y}"),
            filtered=len(known) > 5,
        ),
    )


def _medians(comparison: Comparison) -> list[np.ndarray]:
    """The median of each column in both samples, in the units in which they were given."""
    scale = getattr(comparison.regions[0].origin, "scale", None)
    units = 1.0 if scale is None else np.asarray(scale, dtype=float)
    return [np.median(regions.points, axis=0) * units for regions in comparison.regions]


def _outside(comparison: Comparison, names: Sequence[str]) -> str:
    x, y = names
    found = comparison.rows_outside()
    share = len(found) / comparison.regions[1].n_points
    intro = (
        f"{len(found):,} of {comparison.regions[1].n_points:,} rows of {y} ({share:.1%}) lie "
        f"outside of the outermost region of {x}."
    )
    if not len(found):
        return section("Rows that lie outside", paragraph(intro))
    known = comparison.columns or column_labels(comparison.regions[0].n_features)
    most = slice(0, _MOST_OUTSIDE)
    leading = [_leading(known, direction) for direction in found.directions[most]]
    left = len(found) - _MOST_OUTSIDE
    if left > 0:
        intro += f" The {_MOST_OUTSIDE} furthest out:"
    return section(
        "Rows that lie outside",
        paragraph(f"{intro} Rows are counted from 0, as they were given."),
        table(
            {
                f"row of {y}": found.rows[most].tolist(),
                "how far outside": found.distances[most].tolist(),
                "mostly because of": leading,
            },
            name="outside",
            filtered=len(found) > 10,
        ),
    )


def _leading(known: Sequence[str], direction: np.ndarray) -> str:
    """The two columns along which a row sticks out most, and which way."""
    order = np.argsort(-np.abs(direction), kind="stable")[:2]
    return ", ".join(
        f"{known[j]} {'high' if direction[j] > 0 else 'low'}"
        for j in order
        if direction[j] ** 2 >= 0.1
    )


def _settings(comparison: Comparison) -> str:
    parts = [
        paragraph("The signature says how the numbers were made:"),
        code(comparison.signature),
        settings_table(comparison.signature),
    ]
    if comparison.test is not None:
        signature = comparison.test.signature
        parts += ["<h3>The test</h3>", code(signature), settings_table(signature)]
    return section("Settings", *parts)


def _repeat(comparison: Comparison, sources: Sequence[str] | None, command: str | None) -> str:
    parts = []
    if command is not None:
        parts += [paragraph("On the command line:"), code(command)]
    parts += [paragraph("In Python:"), code(compare_call(comparison, sources))]
    return section("How to repeat it", *parts)
