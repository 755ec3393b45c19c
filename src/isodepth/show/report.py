"""Reports of results: HTML pages, as strings or written to files."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any, Unpack

from isodepth._version import __version__
from isodepth.base.extras import load_extra
from isodepth.base.options import unknown_option
from isodepth.base.output import PAGE_ENDINGS, check_target, replace_file
from isodepth.base.showing import ReportOptions
from isodepth.errors import InvalidInputError
from isodepth.metric.comparison import Comparison
from isodepth.monitor.monitor import Monitor
from isodepth.show.page import asset, render
from isodepth.show.pair import Pair
from isodepth.show.repeat import Reading, load_code
from isodepth.show.style import WIDTH, loose_figure
from isodepth.show.timeline import timeline
from isodepth.significance.result import TwoSampleResult


def html_report(
    result: Comparison | TwoSampleResult | Monitor, **options: Unpack[ReportOptions]
) -> str:
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
    result: Any,
    path: Any,
    files: Sequence[Reading] | None,
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
    result: Any, files: Sequence[Reading] | None, **options: Unpack[ReportOptions]
) -> str:
    """Return the report of a result, as `html_report` does, with code that reads the files.

    The options are those of `html_report`. `files` are the files of both samples, or the file of a
    monitor; None if there are no files.
    """
    load_extra("matplotlib.figure", "plot", "a report with figures")
    type_ = getattr(result, "_result_type", None)
    if type_ not in ("comparison", "test", "monitor"):
        raise InvalidInputError(
            f"reports exist for comparisons, tests and monitors, got {type(result).__name__}"
        )
    known = ("title", "labels" if type_ == "monitor" else "names", "notes", "command")
    for name in options:
        if name not in known:
            raise unknown_option(name, known)
    script = asset("page.js")
    about: dict[str, Any] = {
        "title": None, "notes": (), "command": None, "labels": None, "version": __version__,
        "style": asset("page.css"), "script": script, "policy": _policy(script), **options
    }  # fmt: skip
    if type_ == "monitor":
        about["timeline"] = _timeline(result, about["labels"])
        about["code"] = "" if files is None else load_code(files[0].path)
        return render("monitor.html", {"monitor": result, **about})
    pair = Pair(result, about.pop("names", None), files)
    return render("comparison.html", {"pair": pair, **about})


def _timeline(monitor: Monitor, labels: Sequence[Any] | None) -> Any:
    """Return the figure of a monitor; None if it has checked no batch."""
    if not monitor.verdicts:
        return None
    columns = {name for v in monitor.verdicts for c in v.changes for name in c.columns}
    figure = loose_figure(WIDTH, 4.0 + 0.25 * min(len(columns), 12))
    return timeline(monitor, labels=labels, figure=figure)


def _policy(script: str) -> str:
    """Return the content security policy of the page: run only `script`, and load nothing."""
    # The hash must cover the whole text of the script element, which starts with a newline.
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    allowed = f"'sha256-{base64.b64encode(digest).decode()}'"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )
