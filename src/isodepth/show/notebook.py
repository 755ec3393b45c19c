"""Results as HTML for notebooks, with the tables of the report.

A notebook computes the HTML whenever a result is the last expression of a cell. The computations
are therefore bounded: nothing is computed from permutations or random splits, and at most five
changes have figures. Large samples have no figures, and suspicious rows only if they were computed
before.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from isodepth.base.export import ResultMixin, p_text
from isodepth.errors import InvalidInputError
from isodepth.metric.comparison import Comparison
from isodepth.monitor.monitor import Monitor
from isodepth.results.summary import (
    comparison_headline,
    find_typical_rows,
    get_test,
    has_typical_rows,
    remarks,
)
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import SuspiciousRows
from isodepth.rows.typical import TypicalRows
from isodepth.show.page import notebook_html, table_html
from isodepth.show.pair import (
    change_entries,
    share_sentence,
    suspicious_entries,
)
from isodepth.show.svg import inline_svg
from isodepth.significance.result import TwoSampleResult

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


def _typical_html(typical: TypicalRows) -> str:
    columns = {
        "sample": ["X", "Y"],
        "most typical rows": [", ".join(map(str, typical.indices(s).tolist())) for s in "XY"],
        "fraction of the extreme rows": [f"{purity:.0%}" for purity in typical.purity],
        "by chance": [f"{expected:.0%}" for expected in typical.expected],
    }
    return notebook_html("Rows most typical of the difference", "open", columns=columns)


def _pair_html(result: Comparison | TwoSampleResult) -> str:
    test = get_test(result)
    samples = _samples(result)
    rows = None if samples is None else _suspicious_rows(result, samples)
    headline = comparison_headline(result, result._names)
    drawable = samples is not None and sum(samples.n_rows) <= _DRAWN_ROWS and _can_draw()
    lines: list[str] = []
    by_rows = has_typical_rows(result)  # typical rows replace changes of unnamed columns
    n_changes = 0 if test is None or by_rows else len(test.changes)
    if n_changes > _MAX_CHANGES:
        lines.append(f"The first {_MAX_CHANGES} of {n_changes} changes; the report has all.")
    if samples is not None and rows is None:
        lines.append("suspicious_rows() lists the rows that look wrong.")
    elif rows is not None and len(rows) > _MAX_ROWS:
        lines.append(f"The first {_MAX_ROWS} of {len(rows)} rows; suspicious_rows() has all.")
    return notebook_html(
        headline.sentence,
        headline.status,
        remarks=remarks(result, rows, result._names),
        paragraphs=list(filter(None, [share_sentence(test), *_typical_texts(result, samples)])),
        changes=change_entries(
            None if by_rows else test, samples if drawable else None, _MAX_CHANGES
        ),
        rows=suspicious_entries(
            rows, samples, result._names, _MAX_ROWS, all_rows=result._has_all_rows
        ),
        lines=lines,
        functions={"svg": inline_svg, "p_text": p_text},
    )


def _samples(result: Comparison | TwoSampleResult) -> TwoSamples | None:
    """Return the rows of both samples, or None if the result does not have them."""
    try:
        return result._two_samples
    except InvalidInputError:
        return None


def _suspicious_rows(
    result: Comparison | TwoSampleResult, samples: TwoSamples
) -> SuspiciousRows | None:
    """Return the suspicious rows if they are known or fast to compute, else None."""
    n_values = sum(samples.n_rows) * (len(samples.columns) + len(samples.categories))
    if result._has_all_rows and n_values <= _SEARCHED_VALUES:
        return result.suspicious_rows()
    return result._known_suspicious_rows


def _typical_texts(result: Comparison | TwoSampleResult, samples: TwoSamples | None) -> list[str]:
    """Return sentences about typical rows; [] unless they describe the difference.

    Typical rows describe the difference if there are many unnamed columns. For large samples
    without a test, the sentence only says how to find typical rows.
    """
    if samples is None or not has_typical_rows(result):
        return []
    # The headline of a test has computed the typical rows.
    untested = get_test(result) is None
    if untested and sum(samples.n_rows) * len(samples.columns) > _TYPICAL_VALUES:
        return ["typical_rows() lists the rows that are most typical of the difference."]
    typical = find_typical_rows(result)
    texts = [] if typical is None else typical._texts(result._names)
    return [f"{text[:1].upper()}{text[1:]}." for text in texts]


def _can_draw() -> bool:
    return find_spec("matplotlib") is not None


def _monitor_html(monitor: Monitor) -> str:
    verdicts = monitor.verdicts[-_MAX_BATCHES:]
    headline = monitor._headline
    groups = [each.group for each in verdicts]
    columns: dict[str, list[Any]] = {
        "batch": [each.label or each.batch_number for each in verdicts],
        **({"group": groups} if any(groups) else {}),
        "p-value": [each.pvalue for each in verdicts],
        "window p-value": [each.window_pvalue for each in verdicts],
        "threshold": [each.threshold for each in verdicts],
        "alarm": [each.alarm for each in verdicts],
        "strongest change": [each.changes[0].text if each.changes else None for each in verdicts],
    }
    lines = [monitor._guarantee]
    if len(monitor.verdicts) > len(verdicts):
        lines.insert(0, f"The last {len(verdicts)} batches; to_frame() has all that are stored.")
    return notebook_html(
        headline.sentence, headline.status, columns=columns if verdicts else None, lines=lines
    )
