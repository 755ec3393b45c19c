"""Content of the HTML report about a comparison or a test of two samples.

A Jinja template makes the HTML page from variables, which are computed here. Typical rows are those
of X and of Y that are farthest apart along the direction in which the samples differ most. They
describe the difference if there are many unnamed columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from isodepth.base.output import csv_bytes
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.functions.changes import at_least
from isodepth.results.protocols import (
    ChanceLevelLike,
    ComparisonLike,
    PairResult,
    TwoSampleTestLike,
)
from isodepth.results.summary import (
    comparison_headline,
    distance_sentence,
    find_typical_rows,
    get_test,
    largest_contributions,
    remarks,
    subtitle,
    summary_lines,
    tested_result,
    unused_part,
)
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import SuspiciousRows
from isodepth.rows.suspicious.results import repeated_texts, value_text
from isodepth.rows.typical import TypicalRows
from isodepth.show.columns import (
    UnusualValue,
    change_figure,
    column_figure,
    score_figure,
    unusual_values,
)
from isodepth.show.figures import contributions, gap_profile, null_distribution
from isodepth.show.regions import nested_regions
from isodepth.show.repeat import repeat_code
from isodepth.show.style import loose_axes, loose_figure
from isodepth.show.svg import WIDTH
from isodepth.show.table_files import TableFile
from isodepth.table.dates import day_text
from isodepth.table.kinds import attention_lines, date_columns

_MAX_CHANGES, _MAX_ROWS = 30, 100
# Maximum number of columns with a figure. A figure takes about 30 ms and 3 kB.
_MAX_COLUMNS = 100
# Maximum number of rows of both samples whose scores are drawn, about 0.3 s.
_MAX_SCORES = 100_000
# Maximum number of values that are shown for a suspicious row besides its unusual value.
_MAX_VALUES = 4
# Maximum number of projections for the level of chance, see `_chance_or_reason`. If more are
# needed, the level of chance is omitted, because it would be slow.
MOST_SPLIT_PROJECTIONS = 1 << 32
N_SPLITS = 19


class Findings(NamedTuple):
    """Parts of a result that the report shows; None for parts that the result does not have.

    Attributes
    ----------
    comparison : Comparison or None
        None for a test of categories alone, and for a test without rows.
    test : TwoSampleResult or None
    samples : TwoSamples or None
        Rows of both samples.
    rows : SuspiciousRows or None
        Suspicious rows.
    typical : TypicalRows or None
        Rows that describe the difference, if there are many unnamed columns.
    chance : ChanceLevel or str
        Distances between random splits of the pooled rows, or the reason why there are none.
    """

    comparison: ComparisonLike | None
    test: TwoSampleTestLike | None
    samples: TwoSamples | None
    rows: SuspiciousRows | None
    typical: TypicalRows | None
    chance: ChanceLevelLike | str

    @classmethod
    def of(cls, result: PairResult) -> Findings:
        """Collect the parts of a comparison or a test, and compute those that it does not store."""
        comparison: ComparisonLike | None = None
        if result._result_type == "comparison":
            comparison = result
        else:
            # A test of categories alone has no comparison, nor has a test without rows.
            with suppress(InvalidInputError):
                comparison = result._comparison
        samples: TwoSamples | None = None
        rows: SuspiciousRows | None = None
        # The samples are None if the result has no rows, for example after `without_rows`.
        with suppress(InvalidInputError):
            samples, rows = result._two_samples, result.suspicious_rows()
        test, typical = get_test(result), find_typical_rows(result)
        return cls(comparison, test, samples, rows, typical, _chance_or_reason(comparison))


def comparison_context(
    result: PairResult,
    *,
    names: Sequence[str] | None = None,
    files: Sequence[TableFile] | None = None,
) -> dict[str, Any]:
    """Return the variables of the HTML template for a comparison or a test of two samples.

    `names` are the names of the samples, by default those of `result`, and `files` the files that
    they were read from.
    """
    if names is None:
        names = result._names
    if isinstance(names, str) or len(names) != 2:
        raise InvalidOptionError(f"names must be two strings, got {names!r}", option="names")
    if str(names[0]) == str(names[1]):
        raise InvalidOptionError(
            f"names must be two different strings, got {str(names[0])!r} twice, so that the "
            "samples cannot be told apart; rename one of them",
            option="names",
        )
    findings = Findings.of(result)
    return {
        "comparison": findings.comparison,
        "test": findings.test,
        "x": names[0],
        "y": names[1],
        "all_rows": findings.samples is None or findings.samples.n_rows == tuple(result.n_rows),
        **_heading_context(result, findings, names),
        **_change_context(result, findings, names),
        **_suspicious_context(result, findings, names),
        **_distance_context(result, findings, names),
        **_table_context(result, findings, names, files),
        "code": repeat_code(result, files),
    }


def _heading_context(
    result: PairResult, findings: Findings, names: Sequence[str]
) -> dict[str, Any]:
    """Return the template variables of the top of the page: headline, remarks and checks.

    `findings` are the parts of `result`, and `names` the names of the samples.
    """
    test = findings.test
    return {
        "verdict": comparison_headline(result, names),
        "subtitle": subtitle(result, findings.rows, names),
        "changed_share": share_sentence(test),
        "remarks": [unused_part(result, names), *attention_lines(tested_result(result).kinds)],
        "checks": [check.text for check in test.checks] if test is not None else [],
        "counts": _counts(result),
    }


def _change_context(result: PairResult, findings: Findings, names: Sequence[str]) -> dict[str, Any]:
    """Return the template variables of changes, of all columns and of typical rows.

    `findings` are the parts of `result`, and `names` the names of the samples.
    """
    test, samples, typical = findings.test, findings.samples, findings.typical
    unusual = [] if findings.rows is None else unusual_values(findings.rows)
    context: dict[str, Any] = {
        "typical": None,
        "score_figure": None,
        "changes": change_entries(test, samples, _MAX_CHANGES, unusual),
        "more_changes": max(0, len(test.changes) - _MAX_CHANGES) if test is not None else 0,
        "columns": [],
        "n_drawn": _MAX_COLUMNS,
    }
    if typical is None:
        context["columns"] = _columns(test, samples, unusual)
    else:  # names of many unnamed columns do not help a reader
        context["typical"] = _typical_entries(typical, names)
        context["score_figure"] = _score_figure(result, samples)
    return context


def _suspicious_context(
    result: PairResult, findings: Findings, names: Sequence[str]
) -> dict[str, Any]:
    """Return the template variables of rows that look wrong.

    `findings` are the parts of `result`, and `names` the names of the samples.
    """
    rows = findings.rows
    return {
        "repeated": repeated_texts(
            result._repeated_values, names, date_columns(tested_result(result).kinds)
        ),
        "suspicious": rows,
        "suspicious_table": suspicious_entries(
            rows, findings.samples, names, _MAX_ROWS, all_rows=result._has_all_rows
        ),
        "csv": "" if rows is None else _csv(rows, names),
    }


def _distance_context(
    result: PairResult, findings: Findings, names: Sequence[str]
) -> dict[str, Any]:
    """Return the template variables of the distance and of the figures of the test.

    `findings` are the parts of `result`, and `names` the names of the samples.
    """
    comparison, name = findings.comparison, _distance_name(result)
    context: dict[str, Any] = {
        "distance_name": name,
        "distance_sentence": "",
        "distance_note": "",
        "contributions": "",
        "figures": _figures(findings, names),
    }
    if comparison is not None:
        context["distance_sentence"] = distance_sentence(comparison, findings.chance, name)
        context["contributions"] = largest_contributions(comparison.contributions)
        if result is findings.test:
            context["distance_note"] = _distance_note(comparison)
    return context


def _table_context(
    result: PairResult,
    findings: Findings,
    names: Sequence[str],
    files: Sequence[TableFile] | None,
) -> dict[str, Any]:
    """Return the template variables of the tables of rows, kinds of columns and missing values.

    `findings` are the parts of `result`, and `names` the names of the samples. `files` are the
    files that the samples were read from, or None.
    """
    paths = None if files is None else [_file_name(file.path) for file in files]
    missing_shares = [] if result.missing is None else result.missing.shares
    return {
        "rows_table": {"sample": list(names), "file": paths, **_row_counts(result)},
        "kinds": tested_result(result).kinds,
        "holes": [share for share in missing_shares if share.before or share.after],
    }


def _row_counts(result: PairResult) -> dict[str, list[int] | None]:
    """Return a dictionary from the heading of a table column to the numbers of rows of X and Y.

    The numbers are those of all rows, tested rows, rows in the distance, and dropped rows. The test
    uses rows with missing values, and the distance of a comparison does not.
    """
    test, missing = get_test(result), result.missing
    counts: dict[str, list[int] | None] = {"rows": list(result.n_rows)}
    if test is not None:
        counts["tested rows"] = list(test.n_used_rows)
    if result._result_type == "comparison":
        counts["rows in the distance"] = list(result.n_used_rows)
        if missing is not None:
            dropped = [missing.x.n_dropped, missing.y.n_dropped]
            counts["left out of the distance, with missing values"] = dropped
    return counts


def share_sentence(test: TwoSampleTestLike | None) -> str:
    """Return a sentence about the share of changed rows.

    It is "" without a test, if the test is not significant, if the bound is below 1%, and for a
    test with blocks.
    """
    if test is None or not test.significant or not at_least(test.changed_share):
        return ""
    text = test.changed_share_text
    return f"{text[:1].upper()}{text[1:]}."


def _distance_name(result: PairResult) -> str:
    """Return the name of the distance in the report.

    The distance of a test has another name than that of a comparison, because its settings differ.
    """
    return "distance" if result._result_type == "comparison" else "distance between trimmed regions"


def _distance_note(comparison: ComparisonLike) -> str:
    """Return sentences that name the settings of the distance that a test computes."""
    settings = comparison.settings
    return (
        f"This distance has the settings of the test: {settings['levels']} levels, "
        f"q = {settings['q']:g}, and medians instead of missing values. The function compare and "
        "the command compare have other settings and give another number."
    )


def _file_name(path: str) -> str:
    return "standard input" if path == "-" else path


def _counts(result: PairResult) -> list[int]:
    """Return the numbers of compared rows of X and Y."""
    return list(tested_result(result).n_used_rows)


def comparison_content(
    result: PairResult, names: Sequence[str], files: Sequence[TableFile] | None = None
) -> dict[str, Any]:
    """Return the content of the report as a dictionary for the JSON output of commands.

    `names` are the names of the samples, and `files` the files that they were read from, or None.
    """
    _, test, samples, rows, typical, chance = Findings.of(result)
    return {
        **result.to_dict(),
        "headline": comparison_headline(result, names).sentence,
        "remarks": remarks(result, rows, names),
        "unchanged_columns": _unchanged_columns(test, samples),
        "suspicious_rows": None if rows is None else rows.to_dict(),
        "typical_rows": None if typical is None else typical.to_dict(),
        "chance_level": None if isinstance(chance, str) else chance.to_dict(),
        "chance_level_omitted": chance if isinstance(chance, str) else None,
        "code": repeat_code(result, files),
    }


def comparison_lines(result: PairResult, names: Sequence[str]) -> list[str]:
    """Return the lines of the summary of a comparison or a test.

    The summary includes suspicious rows and distances between random splits of the pooled rows.
    `names` are the names of the samples.
    """
    parts = Findings.of(result)
    return summary_lines(result, names, rows=parts.rows, chance=parts.chance)


def _chance_or_reason(comparison: ComparisonLike | None) -> ChanceLevelLike | str:
    """Return the level of chance of a comparison, or a sentence with the reason why there is none.

    The level of chance consists of the distances between random splits of the pooled rows. It shows
    how large the distance is if the distributions do not differ.
    """
    if comparison is None:
        return "no level of chance without a distance"
    if not comparison._keeps_rows:
        return "no level of chance: the result has no rows in memory"
    if N_SPLITS * comparison._splitting_cost > MOST_SPLIT_PROJECTIONS:
        return (
            f"level of chance omitted: {N_SPLITS} comparisons of samples of this size take long; "
            "chance_level() computes it in Python"
        )
    try:
        return comparison.chance_level(N_SPLITS)
    except InvalidInputError:
        return "no level of chance for rows with weights"


def change_entries(
    test: TwoSampleTestLike | None,
    samples: TwoSamples | None,
    most: int,
    unusual: Sequence[UnusualValue] = (),
) -> list[dict[str, Any]]:
    """Return the template variables of at most `most` changes, the strongest first.

    A change has a small figure if it names columns and `samples` is not None. `unusual` are values
    of suspicious rows, which the figures show.
    """
    entries = []
    for change in test.changes[:most] if test is not None else ():
        figure, text = None, ""
        if samples is not None and change.columns:
            figure = loose_figure(2.3, 0.72)
            text = change_figure(change, samples, figure, unusual)
        share = at_least(change.changed_share)
        entries.append({"change": change, "figure": figure, "text": text, "share": share})
    return entries


def _columns(
    test: TwoSampleTestLike | None,
    samples: TwoSamples | None,
    unusual: Sequence[UnusualValue] = (),
) -> list[dict[str, Any]]:
    """Return the template variables of all columns, with figures of at most 100 columns.

    The columns are in the order of their p-values. Without a test they are in the order of the
    data, with columns of categories last. If `samples` is None, there are no figures and no
    medians. `unusual` are values of suspicious rows, which the figures show.
    """
    pvalues = {} if test is None else {each.column: each.pvalue for each in test.column_tests}
    names = list(pvalues)
    dates: set[str] = set() if samples is None else date_columns(samples.kinds)
    if samples is not None and test is None:
        names = [*samples.columns, *samples.categories]
    entries = []
    for place, name in enumerate(names):
        entry: dict[str, Any] = {"name": name, "pvalue": pvalues.get(name)}
        entry |= {"medians": None, "figure": None}
        if samples is not None and name in samples.columns:
            entry["medians"] = [_median(values) for values in samples.numbers(name)]
            if name in dates:
                entry["medians"] = [m if m is None else day_text(m) for m in entry["medians"]]
        if samples is not None and place < _MAX_COLUMNS:
            entry["figure"] = loose_figure(2.3, 0.72)
            entry["text"] = column_figure(name, samples, entry["figure"], unusual)
        entries.append(entry)
    return entries


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None


def _unchanged_columns(
    test: TwoSampleTestLike | None, samples: TwoSamples | None
) -> list[dict[str, Any]]:
    """Return the p-values and the medians in X and Y of the columns without a significant change.

    The list is empty if `test` is None. The medians are None for columns of categories, and for all
    columns if `samples` is None.
    """
    if test is None:
        return []
    changed = {name for change in test.changes for name in change.columns}
    unchanged: list[dict[str, Any]] = []
    for each in test.column_tests:
        if each.column not in changed:
            medians = None
            if samples is not None and each.column in samples.columns:
                medians = [_median(values) for values in samples.numbers(each.column)]
            entry = {"column": each.column, "pvalue": each.pvalue, "medians": medians}
            unchanged.append(entry)
    return unchanged


def suspicious_entries(
    rows: SuspiciousRows | None,
    samples: TwoSamples | None,
    names: Sequence[str],
    most: int,
    *,
    all_rows: bool,
) -> list[dict[str, Any]]:
    """Return the template variables of at most `most` suspicious rows, with some of their values.

    `names` are the names of the samples. If `all_rows` is False, `samples` has random rows of
    larger samples, and `rows` may have only the unusual value of each row. Return [] if `rows` or
    `samples` is None.
    """
    if rows is None or samples is None:
        return []
    table: list[dict[str, Any]] = []
    dates = date_columns(samples.kinds)
    whole = all_rows or rows.n_rows == samples.n_rows
    for row in rows.rows[:most]:
        side = "XY".index(row.sample)
        if not whole and rows._points is None:
            unusual = [(row.column, row._value_text, True)]
            table.append({"row": row, "sample": names[side], "values": unusual})
            continue
        values = rows._points_of(row, samples)
        others = [j for j, name in enumerate(samples.columns) if name != row.column][:_MAX_VALUES]
        if row.column in samples.columns:
            others = sorted([samples.columns.index(row.column), *others])
        shown: list[tuple[str, float | str, bool]] = []
        for j in others:
            name, value = samples.columns[j], float(values[j])
            own, is_date = name == row.column, name in dates
            odd = own or value == row.value
            text = row._value_text if own else value_text(value, is_date)
            shown.append((name, text if odd or is_date else value, odd))
        if row.column not in samples.columns:  # a category
            shown.insert(0, (row.column, row._value_text, True))
        table.append({"row": row, "sample": names[side], "values": shown})
    return table


def _csv(rows: SuspiciousRows, names: Sequence[str]) -> str:
    """Return all suspicious rows as a data URL of a CSV file; `names` are those of the samples."""
    columns = rows._rows() | {"sample": [names["XY".index(row.sample)] for row in rows]}
    wanted = ("sample", "row", "file", "file_row", "column", "value", "score")
    kept = {name: columns[name] for name in wanted if name in columns}
    return "data:text/csv;charset=utf-8," + quote(csv_bytes(kept))


def _typical_entries(typical: TypicalRows, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns of a table of the rows that are most typical of a difference.

    `names` are the names of the samples.
    """
    return {
        "sample": list(names),
        "most typical rows": [", ".join(map(str, typical.indices(s).tolist())) for s in "XY"],
        "share of the most extreme rows": list(typical.purity),
        "share of all rows": list(typical.expected),
    }


def _score_figure(result: PairResult, samples: TwoSamples | None) -> Any:
    """Return a figure of the scores of all rows, or None.

    It is None if `samples` is None or has more than 100,000 rows. See
    `isodepth.show.columns.score_figure` for the scores.
    """
    if samples is None or sum(samples.n_rows) > _MAX_SCORES:
        return None
    rows = result.typical_rows(max(samples.n_rows)).rows
    x, y = (np.array([row.score for row in rows if row.sample == sample]) for sample in "XY")
    return score_figure(x, y, loose_figure(WIDTH, 1.5))


def _figures(findings: Findings, names: Sequence[str]) -> dict[str, Any]:
    """Return the figures of the distance and of the test by name.

    There is no figure of contributions if all contributions are 0, if the test is not significant,
    or if typical rows describe the difference. `names` are the names of the samples.
    """
    comparison, test = findings.comparison, findings.test
    figures = {}
    if comparison is not None:
        if comparison._keeps_rows and comparison.regions[0].n_features > 1:
            figures["regions"] = nested_regions(comparison, ax=loose_axes(WIDTH, 5.2), names=names)
        figures["gaps"] = gap_profile(comparison, ax=loose_axes(WIDTH, 3.8))
        shown = test is None or test.significant
        if shown and comparison.contributions and findings.typical is None:
            height = 1.3 + 0.29 * min(len(comparison.contributions), 15)
            figures["columns"] = contributions(comparison, ax=loose_axes(WIDTH, height))
    if test is not None:
        figures["null"] = null_distribution(test, ax=loose_axes(WIDTH, 3.0))
    return figures
