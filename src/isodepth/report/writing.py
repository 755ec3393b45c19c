"""Reports of results: HTML pages, as strings or written to files."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from isodepth._version import __version__
from isodepth.data.extras import load_extra
from isodepth.data.output import check_target, replace_file
from isodepth.data.results import escaped, p_text, shown
from isodepth.errors import InvalidInputError
from isodepth.report.comparison import comparison_context
from isodepth.report.figures import inline_svg
from isodepth.report.monitor import monitor_context
from isodepth.report.sentences import largest_contributions


def write_report(result: Any, path: Any, **options: Any) -> None:
    """Write the report of a result as one self-contained HTML file.

    Parameters
    ----------
    result : Comparison, TwoSampleResult or Monitor
    path : str or path-like
        Output file. The path is checked before the report is made, and an existing file is replaced
        atomically.
    **options
        Options of `html_report`.

    Examples
    --------
    >>> import tempfile, pathlib, isodepth
    >>> from isodepth.report import write_report
    >>> X, Y = [[0.0], [1.0], [2.0]], [[3.0], [4.0], [5.0]]
    >>> comparison = isodepth.compare(X, Y, depth="halfspace", scale=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "report.html")
    ...     write_report(comparison, file, names=("June", "July"))
    ...     "June and July are at distance 3" in file.read_text(encoding="utf-8")
    True
    """
    target = check_target(path)
    replace_file(target, html_report(result, **options).encode("utf-8"))


def html_report(
    result: Any,
    *,
    title: str | None = None,
    notes: Sequence[str] = (),
    command: str | None = None,
    **about: Any,
) -> str:
    """Return the report of a result as an HTML page.

    All strings from the data are escaped. Equal results give pages with equal bytes.

    Parameters
    ----------
    result : Comparison, TwoSampleResult or Monitor
    title : str, optional
    notes : sequence of str
        Warnings to show in the report.
    command : str, optional
        Shell command that writes the report again, to show in the report.
    **about
        `names` of the two samples of a comparison, "X" and "Y" by default, or `labels` of the
        batches of a monitor, such as dates.

    Returns
    -------
    page : str
    """
    load_extra("matplotlib.figure", "plot", "a report with figures")
    kind = getattr(result, "result_type", None)
    if kind not in ("comparison", "test", "monitor"):
        raise InvalidInputError(
            f"reports exist for comparisons, tests and monitors, got {type(result).__name__}"
        )
    make = monitor_context if kind == "monitor" else comparison_context
    context = make(result, **about) | {"title": title, "notes": notes, "command": command}
    return _render("monitor.html" if kind == "monitor" else "comparison.html", context)


def _render(template: str, context: dict[str, Any]) -> str:
    """Render an HTML template; all values except `Markup` objects are escaped."""
    environment = Environment(
        loader=PackageLoader("isodepth.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else Markup(escaped(value)),
    )  # fmt: skip
    environment.globals["svg"] = inline_svg
    environment.tests["numbers"] = lambda values: all(map(_is_number, values))
    environment.filters |= {
        "p_text": p_text, "percent": "{:.1%}".format, "shown": shown,
        "sort_key": _sort_key, "contributions": largest_contributions,
    }  # fmt: skip
    assets = files("isodepth.report").joinpath("templates")
    style, script = (assets.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return environment.get_template(template).render(
        **context, version=__version__, style=Markup(style), script=Markup(script),
        policy=_policy(script),
    )  # fmt: skip


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _sort_key(value: Any) -> str:
    """Return the key by which the script of the page sorts a table cell.

    The key of missing values is "", which comes last.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).replace("inf", "Infinity") if isinstance(value, float) else str(value)


def _policy(script: str) -> str:
    """Return the content security policy of the page: run only `script`, and load nothing."""
    # The hash must cover the whole text of the script element, which starts with a newline.
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    allowed = f"'sha256-{base64.b64encode(digest).decode()}'"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )
