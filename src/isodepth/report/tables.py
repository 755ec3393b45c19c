"""Tables of a report: cells with their text, what they sort by, and bars for shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from isodepth.data.markup import shown


def report_table(
    columns: Mapping[str, Sequence[Any]],
    *,
    name: str | None = None,
    share: str | None = None,
    percents: Sequence[str] = (),
    filter_above: int | None = None,
) -> dict[str, Any]:
    """A table of named columns, the first of which names the rows, for the template.

    Parameters
    ----------
    columns : columns of one length; those of numbers are set to the right
    name : str, letters alone
        With it the table sorts by its headings.
    share : str
        A column of shares, which get bars.
    percents : sequence of str
        More columns of shares, without bars.
    filter_above : int
        A table of more rows can be filtered by what they hold; needs a name.

    Examples
    --------
    >>> report_table({"column": ["temp"], "share": [0.25]}, share="share")["rows"][0][1]
    {'text': '25.0%', 'value': '0.25', 'number': True, 'width': '1.00'}
    """
    heads = [
        {"text": head, "number": all(map(_is_number, values))} for head, values in columns.items()
    ]
    rows = [
        [
            {
                "text": _text(value, text in (share, *percents)),
                "value": _sorted_by(value),
                "number": head["number"],
                "width": f"{4 * max(value, 0.0):.2f}"
                if text == share and value is not None
                else None,
            }
            for text, head, value in zip(columns, heads, values, strict=True)
        ]
        for values in zip(*columns.values(), strict=True)
    ]
    filtered = filter_above is not None and len(rows) > filter_above
    return {"heads": heads, "rows": rows, "name": name, "filtered": filtered}


def _text(value: Any, is_share: bool) -> str:
    if value is None:
        return ""
    return f"{value:.1%}" if is_share else shown(value)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _sorted_by(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value) if isinstance(value, float) else str(value)
