"""Figures of samples, comparisons, tests, monitors and distance matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isodepth.errors import InvalidOptionError
from isodepth.plot.bags import bagplot
from isodepth.plot.comparisons import contributions, gap_profile, null_distribution
from isodepth.plot.matrices import distance_matrix
from isodepth.plot.regions import nested_regions
from isodepth.plot.timelines import timeline
from isodepth.results.protocols import AnyResult

__all__ = [
    "bagplot", "contributions", "distance_matrix", "gap_profile", "nested_regions",
    "null_distribution", "timeline",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (gap_profile, nested_regions, contributions, null_distribution, timeline)
}  # fmt: skip
#: Kinds of figures for each type of result. The first kind is the default.
FIGURES = {
    "comparison": ("gap_profile", "nested_regions", "contributions", "null_distribution"),
    "test": ("null_distribution", "gap_profile", "nested_regions", "contributions"),
    "monitor": ("timeline",),
}


def draw(result: AnyResult, kind: str | None, ax: Any) -> Any:
    """Draw a figure of a result into `ax`, or into a new figure if `ax` is None.

    `kind` is the kind of figure; None for the default of the type of result. Return the axes, or
    the figure for the kind "timeline".
    """
    known = FIGURES[result._result_type]
    kind = known[0] if kind is None else kind
    if kind not in known:
        raise InvalidOptionError(
            f"kind must be one of {', '.join(map(repr, known))} for a "
            f"{type(result).__name__}, got {kind!r}"
        )
    if kind == "timeline" and ax is not None:
        raise InvalidOptionError("a timeline has two axes and makes its own figure; remove ax")
    return _FUNCTIONS[kind](result) if ax is None else _FUNCTIONS[kind](result, ax=ax)
