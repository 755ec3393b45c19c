"""Reports of every kind of result, as text and as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from isodepth.data.extras import load_extra
from isodepth.data.output import check_target, replace_file
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.inference.monitor import DepthMonitor
from isodepth.many.distance_matrix import DistanceMatrix
from isodepth.metric.comparison import Comparison
from isodepth.report.comparison import comparison_parts
from isodepth.report.matrix import matrix_parts
from isodepth.report.monitor import monitor_parts
from isodepth.report.page import render
from isodepth.report.parts import note_list
from isodepth.significance.result import TwoSampleResult


def write_report(result: Any, path: Any, **options: Any) -> None:
    """Write the report of a result: one HTML file that needs nothing else, whole or not at all.

    Parameters
    ----------
    result : Comparison, TwoSampleResult, DepthMonitor or DistanceMatrix
    path : str or path-like
        Where it goes; a file already there is replaced. Checked before any work.
    **options
        Those of `html_report`.

    Examples
    --------
    >>> import tempfile, pathlib, isodepth
    >>> from isodepth.report import write_report
    >>> X, Y = [[0.0], [1.0], [2.0]], [[3.0], [4.0], [5.0]]
    >>> comparison = isodepth.compare(X, Y, depth="halfspace", random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "report.html")
    ...     write_report(comparison, file, names=("June", "July"))
    ...     "July is at distance 3 from June" in file.read_text(encoding="utf-8")
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
    result : Comparison, TwoSampleResult, DepthMonitor or DistanceMatrix
    title : str, optional
    names : pair of str, optional
        What to call the two samples of a comparison; "X" and "Y" by default.
    sources : pair of str, optional
        The files the two samples came from.
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
    compared = isinstance(result, Comparison | TwoSampleResult)
    _refuse(names, "names", compared, "a comparison")
    _refuse(sources, "sources", compared, "a comparison")
    _refuse(labels, "labels", isinstance(result, DepthMonitor), "a monitor")
    if compared:
        comparison = result.comparison if isinstance(result, TwoSampleResult) else result
        called = _pair(names or ("X", "Y"), "names")
        given = None if sources is None else _pair(sources, "sources")
        lead, sections = comparison_parts(comparison, called, given, command)
        title = title or f"{called[1]} against {called[0]}"
    elif isinstance(result, DepthMonitor):
        lead, sections = monitor_parts(result, labels, command)
        title = title or "Batches against their reference"
    elif isinstance(result, DistanceMatrix):
        lead, sections = matrix_parts(result, command)
        title = title or f"Distances between {len(result)} samples"
    else:
        raise InvalidInputError(
            f"there are reports of comparisons, tests, monitors and matrices of distances, got "
            f"{type(result).__name__}"
        )
    return render(title, lead + note_list(notes), sections, when)


def _refuse(value: Any, name: str, applies: bool, of: str) -> None:
    if value is not None and not applies:
        raise InvalidOptionError(f"{name} only go with the report of {of}; leave them out")


def _pair(given: Any, name: str) -> tuple[str, str]:
    if isinstance(given, str) or len(given) != 2:
        raise InvalidOptionError(f"{name} must be two texts, got {given!r}")
    return str(given[0]), str(given[1])
