"""Reports of every kind of result, as text and as files."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from isodepth._version import __version__
from isodepth.data.extras import load_extra
from isodepth.data.output import check_target, replace_file
from isodepth.data.results import escaped, p_text, shown
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.report.comparison import comparison_context
from isodepth.report.matrix import matrix_context
from isodepth.report.monitor import monitor_context
from isodepth.report.pictures import inline_svg
from isodepth.report.sentences import largest_contributions


def write_report(result: Any, path: Any, **options: Any) -> None:
    """Write the report of a result: one HTML file that needs nothing else, whole or not at all.

    Parameters
    ----------
    result : Comparison, TwoSampleResult, Monitor or DistanceMatrix
    path : str or path-like
        Where it goes; a file already there is replaced. Checked before any work.
    **options
        Those of `html_report`.

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
    names: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    read_options: Sequence[dict[str, Any]] | None = None,
    block_column: str | None = None,
    labels: Sequence[Any] | None = None,
    notes: Sequence[str] = (),
    command: str | None = None,
    when: str | None = None,
) -> str:
    """The report of a result as the text of an HTML page.

    Everything that comes from the data is shown as text, whatever it looks like. The same result
    gives the same page, byte by byte.

    Parameters
    ----------
    result : Comparison, TwoSampleResult, Monitor or DistanceMatrix
    title : str, optional
    names : pair of str, optional
        What to call the two samples of a comparison; "X" and "Y" by default.
    sources : pair of str, optional
        The files the two samples came from.
    read_options : pair of dict, optional
        With what options of `isodepth.data.readers.read_table` each of the files was read.
    block_column : str, optional
        The column of the files that holds the labels of blocks.
    labels : sequence, optional
        What to call the batches of a monitor, such as dates.
    notes : sequence of str
        Warnings to pass on.
    command : str, optional
        What to type to make the report again.
    when : str, optional
        When it was made; nothing is said by default.

    Returns
    -------
    page : str
    """
    load_extra("matplotlib.figure", "plot", "a report with pictures")
    kind = getattr(result, "result_type", None)
    compared = kind in ("comparison", "test")
    given = {
        "names": names, "sources": sources, "read_options": read_options,
        "block_column": block_column,
    }  # fmt: skip
    for name, value in given.items():
        _refuse(value, name, compared, "a comparison")
    _refuse(labels, "labels", kind == "monitor", "a monitor")
    if compared:
        called = _pair(names or ("X", "Y"), "names")
        files = None if sources is None else _pair(sources, "sources")
        context = comparison_context(result, called, files, read_options, block_column)
    elif kind == "monitor":
        context = monitor_context(result, labels)
    elif kind == "matrix":
        context = matrix_context(result)
    else:
        raise InvalidInputError(
            f"there are reports of comparisons, tests, monitors and matrices of distances, got "
            f"{type(result).__name__}"
        )
    context |= {"title": title, "notes": notes, "command": command, "when": when}
    return _render("comparison.html" if compared else f"{kind}.html", context)


def _render(template: str, context: dict[str, Any]) -> str:
    """Fill a template; what comes from data is escaped."""
    environment = Environment(
        loader=PackageLoader("isodepth.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else Markup(escaped(value)),
    )  # fmt: skip
    environment.globals["svg"] = inline_svg
    environment.tests["numbers"] = lambda values: all(map(_is_number, values))
    environment.filters |= {
        "median": np.median, "p_text": p_text, "percent": "{:.1%}".format, "shown": shown,
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
    """What the script of the page sorts by; what is missing comes last."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).replace("inf", "Infinity") if isinstance(value, float) else str(value)


def _policy(script: str) -> str:
    """What the browser may do: run this one script, and fetch nothing."""
    # The script element begins with a newline, which counts.
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    allowed = f"'sha256-{base64.b64encode(digest).decode()}'"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )


def _refuse(value: Any, name: str, applies: bool, of: str) -> None:
    if value is not None and not applies:
        raise InvalidOptionError(f"{name} only go with the report of {of}; leave them out")


def _pair(given: Any, name: str) -> tuple[str, str]:
    if isinstance(given, str) or len(given) != 2:
        raise InvalidOptionError(f"{name} must be two texts, got {given!r}")
    return str(given[0]), str(given[1])
