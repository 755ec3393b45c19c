"""Parts of a report: sections, key figures, tables that sort and filter, code."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isodepth.data.markup import escaped, shown

# Longer tables scroll by themselves.
_TALL = 12


def section(heading: str, *parts: str) -> str:
    """A heading and what stands below it, which is HTML."""
    return "\n".join([f"<section><h2>{escaped(heading)}</h2>", *parts, "</section>"])


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    attribute = f' class="{kind}"' if kind else ""
    return f"<p{attribute}>{escaped(text)}</p>"


def verdict(text: str, kind: str) -> str:
    """The one sentence to read; `kind` is "differs", "alike" or "open"."""
    return f'<p class="verdict {kind}">{escaped(text)}</p>'


def tiles(figures: Iterable[tuple[str, str]]) -> str:
    """Key figures by name."""
    inner = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in figures
    )
    return f'<dl class="tiles">{inner}</dl>'


def note_list(notes: Sequence[str]) -> str:
    """What was said while the numbers were made; nothing where nothing was."""
    if not notes:
        return ""
    inner = "".join(f"<li>{escaped(note)}</li>" for note in notes)
    return f'<div class="notes" role="note"><strong>Please note</strong><ul>{inner}</ul></div>'


def code(text: str) -> str:
    """A block of code."""
    return f"<pre><code>{escaped(text)}</code></pre>"


def table(
    columns: Mapping[str, Sequence[Any]],
    *,
    name: str | None = None,
    share: str | None = None,
    percents: Sequence[str] = (),
    filtered: bool = False,
) -> str:
    """A table of named columns, the first of which names the rows.

    Parameters
    ----------
    columns : columns of one length; those of numbers are set to the right
    name : str, letters alone
        With it the table sorts by its headings.
    share : str
        A column of shares, which get bars.
    percents : sequence of str
        More columns of shares, without.
    filtered : bool
        Whether rows can be filtered by what they hold; needs a name.
    """
    heads = list(columns)
    numeric = [all(_is_number(value) for value in columns[head]) for head in heads]
    head = "".join(
        f'<th scope="col"{_kind(number)}>{escaped(text)}</th>'
        for text, number in zip(heads, numeric, strict=True)
    )
    rows = []
    for values in zip(*columns.values(), strict=True):
        cells = []
        for place, (text, number, value) in enumerate(zip(heads, numeric, values, strict=True)):
            percent = text == share or text in percents
            inner = escaped(f"{value:.1%}" if percent else shown(value))
            if text == share:
                width = f"{4 * max(value, 0.0):.2f}"
                inner = f'<span class="bar" style="width:{width}em"></span>{inner}'
            tag = 'th scope="row"' if place == 0 else "td"
            value_text = escaped(_sorted_by(value))
            cells.append(
                f'<{tag}{_kind(number)} data-value="{value_text}">{inner}</{tag.split()[0]}>'
            )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    opening = '<table class="sortable"' + f' id="{name}">' if name else "<table>"
    tall = " tall" if len(rows) > _TALL else ""
    whole = (
        f'<div class="scroll{tall}" tabindex="0">{opening}<thead><tr>{head}</tr></thead><tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )
    if not filtered:
        return whole
    return (
        f'<div class="filter" data-for="{name}" hidden><label>Filter: '
        f'<input type="search" autocomplete="off"></label> <output></output></div>{whole}'
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _kind(number: bool) -> str:
    return ' class="number"' if number else ""


def _sorted_by(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value) if isinstance(value, float) else str(value)
