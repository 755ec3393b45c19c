"""Results as HTML for notebooks, with the tables of the report.

A notebook computes the HTML whenever a result is the last expression of a cell. The computations
are therefore bounded: nothing is computed from permutations or random splits, and at most five
changes have figures. Large samples have no figures, and suspicious rows only if they were computed
before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from isodepth.base.export import Headline, ResultMixin
from isodepth.metric.comparison import Comparison
from isodepth.monitor.monitor import Monitor
from isodepth.rows.rows import TwoSamples
from isodepth.rows.typical import TypicalRows
from isodepth.show.page import asset, render
from isodepth.show.pair import Pair
from isodepth.significance.result import TwoSampleResult

# Maximum number of rows and of columns of a table, and of characters of its title.
_MAX_CELLS, _LONGEST_TITLE = 12, 120
# Maximum numbers of changes, of suspicious rows and of batches.
_MAX_CHANGES, _MAX_ROWS, _MAX_BATCHES = 5, 5, 8
# Maximum number of rows of both samples for which figures are drawn, about 0.05 s per figure.
_DRAWN_ROWS = 200_000
# Maximum number of values of both samples for which suspicious rows are computed, about 0.3 s.
# Suspicious rows that the result already stores are always shown.
_SEARCHED_VALUES = 50_000
# Maximum number of values of both samples for which typical rows are computed without a test, about
# 0.5 s.
_TYPICAL_VALUES = 500_000


def result_html(result: ResultMixin) -> str:
    """Return a result as HTML for a notebook: a summary, or its table."""
    if isinstance(result, Comparison | TwoSampleResult):
        return _pair_html(result)
    if isinstance(result, Monitor):
        return _monitor_html(result)
    if isinstance(result, TypicalRows):
        return _typical_html(result)
    shape = getattr(result, "shape", None)
    return table_html(str(result).partition("\n")[0], result._rows(), shape)


def _notebook_html(headline: Headline, **parts: Any) -> str:
    """Render a result for a notebook with the tables of the report.

    `parts` are variables of the template: `remarks`, phrases below the headline; `paragraphs`,
    sentences above the tables; `changes` and `rows`, tables of a `Pair`; `columns`, a table as a
    dictionary; and `lines`, sentences below the tables.
    """
    none = dict.fromkeys(("remarks", "paragraphs", "changes", "rows", "columns", "lines"), ())
    variables = {**none, **parts, "verdict": headline, "style": asset("notebook.css")}
    return render("notebook.html", variables)


def table_html(
    title: str, columns: Mapping[str, Sequence[Any]], shape: tuple[int, ...] | None = None
) -> str:
    """Render a title and a table for a notebook, with at most 12 rows and 12 columns.

    Columns without values are omitted. The title is cut to 120 characters. `shape` is the shape of
    the result, if it is an array; None for the numbers of rows and columns of the table.
    """
    columns = {
        name: values
        for name, values in columns.items()
        if any(value is not None for value in values)
    }
    n_rows = max(map(len, columns.values()), default=0)
    first = {name: values[:_MAX_CELLS] for name, values in list(columns.items())[:_MAX_CELLS]}
    lines = []
    if max(n_rows, len(columns)) > _MAX_CELLS:
        n_rows, n_columns = shape or (n_rows, len(columns))
        lines.append(f"First rows and columns of {n_rows} x {n_columns}; to_frame() has all.")
    title = title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
    return _notebook_html(Headline(title, "open"), columns=first if n_rows else None, lines=lines)


def _typical_html(typical: TypicalRows) -> str:
    columns = {
        "sample": ["X", "Y"],
        "most typical rows": [", ".join(map(str, typical.indices(s).tolist())) for s in "XY"],
        "fraction of the extreme rows": [f"{purity:.0%}" for purity in typical.purity],
        "by chance": [f"{expected:.0%}" for expected in typical.expected],
    }
    return _notebook_html(Headline("Rows most typical of the difference", "open"), columns=columns)


def _pair_html(result: Comparison | TwoSampleResult) -> str:
    pair = Pair(result)
    samples, test = pair.samples, pair.test
    if samples is not None and not _is_searched(result, samples):
        pair.rows = result._known_suspicious_rows
    rows, lines = pair.rows, []
    by_rows = result._has_typical_rows  # typical rows replace changes of unnamed columns
    n_changes = 0 if test is None or by_rows else len(test.changes)
    if n_changes > _MAX_CHANGES:
        lines.append(f"The first {_MAX_CHANGES} of {n_changes} changes; the report has all.")
    if samples is not None and rows is None:
        lines.append("suspicious_rows() lists the rows that look wrong.")
    elif rows is not None and len(rows) > _MAX_ROWS:
        lines.append(f"The first {_MAX_ROWS} of {len(rows)} rows; suspicious_rows() has all.")
    drawn = samples is not None and sum(samples.n_rows) <= _DRAWN_ROWS
    drawn = drawn and find_spec("matplotlib") is not None
    return _notebook_html(
        pair.headline,
        remarks=result._remarks(rows, pair.names),
        paragraphs=list(filter(None, [pair.changed_share, *_typical_texts(pair)])),
        changes=[] if by_rows else pair.changes(_MAX_CHANGES, drawn=drawn),
        rows=pair.suspicious(_MAX_ROWS),
        lines=lines,
    )


def _is_searched(result: Comparison | TwoSampleResult, samples: TwoSamples) -> bool:
    """Return whether suspicious rows are fast to compute."""
    n_values = sum(samples.n_rows) * (len(samples.columns) + len(samples.categories))
    return result._has_all_rows and n_values <= _SEARCHED_VALUES


def _typical_texts(pair: Pair) -> list[str]:
    """Return sentences about typical rows; [] unless they describe the difference.

    Typical rows describe the difference if there are many unnamed columns. For large samples
    without a test, the sentence only says how to find typical rows.
    """
    samples = pair.samples
    if samples is None or not pair.result._has_typical_rows:
        return []
    # The headline of a test has computed the typical rows.
    if pair.test is None and sum(samples.n_rows) * len(samples.columns) > _TYPICAL_VALUES:
        return ["typical_rows() lists the rows that are most typical of the difference."]
    texts = [] if pair.typical is None else pair.typical._texts(pair.names)
    return [f"{text[:1].upper()}{text[1:]}." for text in texts]


def _monitor_html(monitor: Monitor) -> str:
    verdicts = monitor.verdicts[-_MAX_BATCHES:]
    groups = [each.group for each in verdicts]
    columns: dict[str, list[Any]] = {
        "batch": [each.label or each.batch_number for each in verdicts],
        **({"group": groups} if any(groups) else {}),
        "p-value": [each.pvalue for each in verdicts],
        "window p-value": [each.window_pvalue for each in verdicts],
        "threshold": [each.threshold for each in verdicts],
        "alarm": [each.alarm for each in verdicts],
        "strongest change": [each._strongest_change or None for each in verdicts],
    }
    lines = [monitor._guarantee]
    if len(monitor.verdicts) > len(verdicts):
        lines.insert(0, f"The last {len(verdicts)} batches; to_frame() has all that are stored.")
    return _notebook_html(monitor._headline, columns=columns if verdicts else None, lines=lines)
