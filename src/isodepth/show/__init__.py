"""Figures, reports and notebook views of results: the package that `base.showing` calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from isodepth.base.showing import ReportOptions
from isodepth.errors import InvalidOptionError
from isodepth.show.figures import contributions, gap_profile, null_distribution
from isodepth.show.matrix import distance_matrix
from isodepth.show.regions import nested_regions
from isodepth.show.timeline import timeline

_FUNCTIONS: dict[str, tuple[Callable[..., Any], ...]] = {
    "comparison": (gap_profile, nested_regions, contributions, null_distribution),
    "test": (null_distribution, gap_profile, nested_regions, contributions),
    "monitor": (timeline,),
    "distance_matrix": (distance_matrix,),
}
#: Figures of each type of result, by name. The first one is the default.
FIGURES = {
    type_: {each.__name__: each for each in functions} for type_, functions in _FUNCTIONS.items()
}


def draw(result: Any, kind: str | None, ax: Any) -> Any:
    """Draw a figure of a result into `ax`, or into a new figure if `ax` is None.

    `kind` is the kind of figure; None for the default of the type of result. Return the axes, or
    the figure for the kind "timeline".
    """
    known = FIGURES[result._result_type]
    kind = next(iter(known)) if kind is None else kind
    if kind not in known:
        raise InvalidOptionError(
            f"kind must be {'one of ' * (len(known) > 1)}{', '.join(map(repr, known))} for a "
            f"{type(result).__name__}, got {kind!r}"
        )
    if kind == "timeline" and ax is not None:
        raise InvalidOptionError("a timeline has two axes and makes its own figure; remove ax")
    return known[kind](result) if ax is None else known[kind](result, ax=ax)


def write(result: Any, path: Any, **options: Unpack[ReportOptions]) -> None:
    """Write the report of a result as one self-contained HTML file."""
    # Imported here and not at the top, because Jinja is slow to import.
    from isodepth.show.report import write_report_of_files

    write_report_of_files(result, path, None, **options)


def to_html(result: Any) -> str:
    """Return a result as HTML for a notebook."""
    from isodepth.show.notebook import result_html  # not at the top, as in `write`

    return result_html(result)
