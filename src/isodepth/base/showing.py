"""Hook through which results reach the package that draws figures and writes reports.

`isodepth/__init__` registers this package. It is imported when the first result is shown, because
it needs optional packages, and because Jinja is slow to import.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

_loaders: list[Callable[[], Any]] = []


def register(load: Callable[[], Any]) -> Callable[[], Any]:
    """Set the function that imports and returns the package with `draw`, `write` and `to_html`."""
    _loaders[:] = [load]
    return load


def showing() -> Any:
    """Return the package that shows results."""
    (load,) = _loaders
    return load()


class _CommonOptions(TypedDict, total=False):
    """Options of all reports."""

    title: str | None
    notes: Sequence[str]
    command: str | None


class PairReportOptions(_CommonOptions, total=False):
    """Options of the report of a comparison or a test."""

    names: Sequence[str]


class MonitorReportOptions(_CommonOptions, total=False):
    """Options of the report of a monitor."""

    labels: Sequence[Any] | None


class ReportOptions(PairReportOptions, MonitorReportOptions, total=False):
    """Options of all reports together: `labels` is for monitors only, `names` for other results."""
