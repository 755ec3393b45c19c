"""Reports of results: HTML pages, as strings or written to files."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import files as package_files
from typing import Any, Unpack

from markupsafe import Markup

from isodepth._version import __version__
from isodepth.base.export import p_text
from isodepth.base.extras import load_extra
from isodepth.base.options import ALPHA, unknown_option
from isodepth.base.output import PAGE_ENDINGS, check_target, replace_file
from isodepth.errors import InvalidInputError
from isodepth.results.protocols import AnyResult, ReportOptions
from isodepth.show.monitor import monitor_context
from isodepth.show.page import render
from isodepth.show.pair import comparison_context
from isodepth.show.svg import inline_svg
from isodepth.show.table_files import TableFile


def html_report(result: AnyResult, **options: Unpack[ReportOptions]) -> str:
    """Return the report of a result as an HTML page.

    All strings from the data are escaped. Equal results give pages with equal bytes.

    Parameters
    ----------
    result : Comparison, TwoSampleResult or Monitor
    title : str, optional
        Title of the page.
    names : pair of str
        Names of the samples of a comparison or a test. By default "X" and "Y", or the labels of a
        pair of `isodepth.pairwise_test`.
    labels : sequence, optional
        Names of the batches of a monitor, such as dates.
    notes : sequence of str
        Warnings to show in the report.
    command : str, optional
        Shell command that writes the report again, to show in the report.

    Returns
    -------
    page : str

    Examples
    --------
    >>> import isodepth
    >>> from isodepth.report import html_report
    >>> test = isodepth.two_sample_test([[0.0], [1.0]], [[2.0], [3.0]], random_state=0)
    >>> html_report(test, title="June and July").count("<h1>June and July</h1>")
    1
    """
    return html_report_of_files(result, None, **options)


def write_report_of_files(
    result: AnyResult,
    path: Any,
    files: Sequence[TableFile] | None,
    **options: Unpack[ReportOptions],
) -> None:
    """Write the report of a result, with the files that were read, as one self-contained HTML file.

    `path` is the name of the HTML file, which ends in .html or .htm. It is checked before the
    report is made, and an existing file is replaced atomically. `files` are the files of both
    samples, or the file of a monitor; None if there are no files. `options` are those of
    `html_report`.
    """
    target = check_target(path, PAGE_ENDINGS)
    replace_file(target, html_report_of_files(result, files, **options).encode("utf-8"))


def html_report_of_files(
    result: AnyResult, files: Sequence[TableFile] | None, **options: Unpack[ReportOptions]
) -> str:
    """Return the report of a result, as `html_report` does, with code that reads the files.

    The options are those of `html_report`. `files` are the files of both samples, or the file of a
    monitor; None if there are no files.
    """
    load_extra("matplotlib.figure", "plot", "a report with figures")
    if getattr(result, "_result_type", None) not in ("comparison", "test", "monitor"):
        raise InvalidInputError(
            f"reports exist for comparisons, tests and monitors, got {type(result).__name__}"
        )
    of_monitor = result._result_type == "monitor"
    known = ("title", "labels" if of_monitor else "names", "notes", "command")
    for name in options:
        if name not in known:
            raise unknown_option(name, known)
    about: dict[str, Any] = {"title": None, "notes": (), "command": None, **options}
    own = {name: about.pop(name) for name in ("labels", "names") if name in about}
    if result._result_type == "monitor":
        template, context = "monitor.html", monitor_context(result, files=files, **own)
    else:
        template, context = "comparison.html", comparison_context(result, files=files, **own)
    return _render(template, context | about)


def _render(template: str, context: dict[str, Any]) -> str:
    """Render the file `template` of a page, with the variables `context`, a style and a script."""
    assets = package_files("isodepth.show").joinpath("templates")
    style, script = (assets.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    about_page = {
        "version": __version__, "style": Markup(style), "script": Markup(script),
        "policy": _policy(script),
    }  # fmt: skip
    alpha = getattr(context.get("test"), "alpha", ALPHA)
    functions: dict[str, Callable[..., Any]] = {
        "svg": inline_svg, "p_text": partial(p_text, alpha=alpha), "setting_text": _setting_text
    }  # fmt: skip
    return render(template, context | about_page, functions)


def _setting_text(value: Any) -> str:
    """Format the value of a setting: a string, a number, None, or the options of a metric."""
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_setting_text(each)}" for name, each in value.items())
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
