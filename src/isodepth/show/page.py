"""Jinja templates of reports and of results in notebooks, and formatting of values for HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

_DIGITS = 4
# Maximum number of rows and of columns of a table in a notebook, and of characters of its title.
_MAX_CELLS, _LONGEST_TITLE = 12, 120
_CONTROL = dict.fromkeys({*range(32), 127} - set(map(ord, "\t\n\r")), "\ufffd")
# Characters that change the text direction, as in `isodepth.base.export.printable`.
_DIRECTIONS = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_ESCAPES = _CONTROL | _DIRECTIONS


class _CompiledTemplates(BytecodeCache):
    """Cache of compiled templates in this process. Compiling them takes a tenth of a second."""

    def __init__(self) -> None:
        self._codes: dict[str, Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get(bucket.key + bucket.checksum)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key + bucket.checksum] = bucket.code


_COMPILED = _CompiledTemplates()


def render(
    template: str,
    variables: dict[str, Any],
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> str:
    """Render a template of this package; all values except `Markup` objects are escaped.

    `template` is the name of a file, and `variables` are those of the template. `functions` are
    available in the template and in the macros that the template imports.
    """
    environment = Environment(
        loader=PackageLoader("isodepth.show"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, bytecode_cache=_COMPILED,
        finalize=lambda value: value if isinstance(value, Markup) else Markup(escaped(value)),
    )  # fmt: skip
    environment.tests["numbers"] = lambda values: all(map(_is_number, values))
    environment.filters |= {"percent": _percent, "shown": shown, "sort_key": _sort_key}
    environment.globals.update(functions or {})
    return environment.get_template(template).render(variables)


def notebook_html(
    sentence: str,
    status: str,
    *,
    remarks: Sequence[str] = (),
    paragraphs: Sequence[str] = (),
    changes: Sequence[Any] = (),
    rows: Sequence[Any] = (),
    columns: Mapping[str, Sequence[Any]] | None = None,
    lines: Sequence[str] = (),
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> str:
    """Render a result for a notebook with the tables of the report.

    Parameters
    ----------
    sentence : str
        Headline.
    status : {"differs", "alike", "open"}
        Status of the headline, which determines its color.
    remarks : sequence of str
        Phrases below the headline.
    paragraphs : sequence of str
        Sentences above the tables.
    changes, rows : sequence
        Results of `change_entries` and `suspicious_entries` of `isodepth.show.pair`.
    columns : mapping from names to sequences, optional
        Columns of a further table.
    lines : sequence of str
        Sentences below the tables.
    functions : dict, optional
        Functions of the template, see `render`.
    """
    style = files("isodepth.show").joinpath("templates", "notebook.css").read_text("utf-8")
    variables = {
        "style": Markup(style), "verdict": {"sentence": sentence, "status": status},
        "remarks": remarks, "paragraphs": paragraphs, "changes": changes, "rows": rows,
        "columns": columns, "lines": lines,
    }  # fmt: skip
    return render("notebook.html", variables, functions)


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
    return notebook_html(title, "open", columns=first if n_rows else None, lines=lines)


def escaped(value: Any) -> str:
    """Convert a value to a string and escape it for elements and quoted attributes of HTML.

    Characters that HTML does not allow, such as the null byte, are replaced by U+FFFD. Characters
    that change the text direction are replaced by their codes.

    Examples
    --------
    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    >>> escaped("a\\x00b")
    'a\\ufffdb'
    >>> escaped("a\\u202eb")
    'a\\\\u202eb'
    """
    text = str(value).translate(_ESCAPES)
    # Lone surrogates cannot be encoded in UTF-8. They are replaced by question marks.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return html.escape(text, quote=True)


def shown(value: Any) -> str:
    """Format a value for a cell of an HTML table: floats with four significant digits, None as "".

    Floats from 10,000 to 10 million, such as postal codes, are rounded to integers instead. NaN is
    shown as a dash. Positive floats below 1e-300, which are p-values, are only bounded.

    Examples
    --------
    >>> shown(0.123456), shown(12), shown(None), shown(True), shown(float("inf"))
    ('0.1235', '12', '', 'yes', '∞')
    >>> shown(98117.0), shown(-12345.6), shown(9999.6), shown(2.5e7), shown(2.3e-308)
    ('98117', '-12346', '10000', '2.5e+07', '<1e-300')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if math.isnan(value):
            return "–"
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        if 9999.5 <= abs(value) < 1e7:
            return f"{value:.0f}"
        return "<1e-300" if 0 < value < 1e-300 else f"{value:.{_DIGITS}g}"
    return str(value)


def _percent(share: float) -> str:
    """Format a share with one decimal, without a decimal that is 0, and tiny shares as "<0.1%"."""
    return "<0.1%" if 0 < share < 0.0005 else f"{100 * share:.1f}".removesuffix(".0") + "%"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _sort_key(value: Any) -> str:
    """Return the string by which the script of a page sorts a table cell.

    It is "" for missing values, which come last.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).replace("inf", "Infinity") if isinstance(value, float) else str(value)
