"""Reports of results: HTML pages, as strings or written to files."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, Unpack

from markupsafe import Markup

from isodepth._version import __version__
from isodepth.data.export import p_text
from isodepth.data.extras import load_extra
from isodepth.data.files.output import PAGE_ENDINGS, check_target, replace_file
from isodepth.errors import InvalidInputError
from isodepth.html import render
from isodepth.report.comparison import comparison_context
from isodepth.report.figures import inline_svg
from isodepth.report.monitor import monitor_context
from isodepth.results.protocols import AnyResult, ReportOptions


def write_report(result: AnyResult, path: Any, **options: Unpack[ReportOptions]) -> None:
    """Write the report of a result as one self-contained HTML file.

    Parameters
    ----------
    result : Comparison, TwoSampleResult or Monitor
    path : str or path-like
        Output file, whose name ends in .html or .htm. The path is checked before the report is
        made, and an existing file is replaced atomically.
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
    target = check_target(path, PAGE_ENDINGS)
    replace_file(target, html_report(result, **options).encode("utf-8"))


def html_report(
    result: AnyResult,
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
    if getattr(result, "_result_type", None) not in ("comparison", "test", "monitor"):
        raise InvalidInputError(
            f"reports exist for comparisons, tests and monitors, got {type(result).__name__}"
        )
    if result._result_type == "monitor":
        template, context = "monitor.html", monitor_context(result, **about)
    else:
        template, context = "comparison.html", comparison_context(result, **about)
    return _render(template, context | {"title": title, "notes": notes, "command": command})


def _render(template: str, context: dict[str, Any]) -> str:
    """Render the template of a page with its style and its script."""
    assets = files("isodepth.html").joinpath("templates")
    style, script = (assets.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    about_page = {
        "version": __version__, "style": Markup(style), "script": Markup(script),
        "policy": _policy(script),
    }  # fmt: skip
    functions: dict[str, Callable[..., Any]] = {
        "svg": inline_svg, "p_text": p_text, "setting_text": _setting_text
    }  # fmt: skip
    return render(template, context | about_page, functions)


def _setting_text(value: Any) -> str:
    """Format the value of a setting, a string or a number; None as "none"."""
    return "none" if value is None else str(value)


def _policy(script: str) -> str:
    """Return the content security policy of the page: run only `script`, and load nothing."""
    # The hash must cover the whole text of the script element, which starts with a newline.
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    allowed = f"'sha256-{base64.b64encode(digest).decode()}'"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )
