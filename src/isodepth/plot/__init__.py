"""Pictures: of a comparison, of a test, of one sample and of many, and of a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isodepth.errors import InvalidOptionError
from isodepth.plot.comparisons import (
    category_shares,
    column_shares,
    gap_profile,
    null_distribution,
)
from isodepth.plot.many_samples import distance_matrix, sample_map, sample_tree
from isodepth.plot.monitor_timeline import monitor_timeline
from isodepth.plot.one_sample import bagplot, depth_contours
from isodepth.plot.regions import nested_regions

__all__ = [
    "bagplot",
    "category_shares",
    "column_shares",
    "depth_contours",
    "distance_matrix",
    "gap_profile",
    "monitor_timeline",
    "nested_regions",
    "null_distribution",
    "sample_map",
    "sample_tree",
]


def _timeline(monitor: Any, ax: Any) -> Any:
    if ax is not None:
        raise InvalidOptionError("a timeline has three axes and makes its own figure; leave out ax")
    return monitor_timeline(monitor)


def _of_test(draw_test: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A picture of the test of a comparison."""

    def drawn(comparison: Any, ax: Any) -> Any:
        if comparison.test is None:
            raise InvalidOptionError(
                "this comparison was not tested; make it with n_permutations=999"
            )
        return draw_test(comparison.test, ax)

    return drawn


#: The pictures of each type of result, the usual one first.
PICTURES: dict[str, dict[str, Callable[[Any, Any], Any]]] = {
    "comparison": {
        "gaps": gap_profile,
        "regions": nested_regions,
        "columns": column_shares,
        "null": _of_test(null_distribution),
        "shares": _of_test(category_shares),
    },
    "test": {
        "null": null_distribution,
        "gaps": lambda test, ax: gap_profile(test.comparison, ax),
        "regions": lambda test, ax: nested_regions(test.comparison, ax),
        "columns": column_shares,
        "shares": category_shares,
    },
    "verdict": {"columns": column_shares},
    "monitor": {"timeline": _timeline},
    "matrix": {"matrix": distance_matrix, "tree": sample_tree, "map": sample_map},
}


def draw(result: Any, kind: str | None, ax: Any) -> Any:
    """Draw one of the pictures of a result; the usual one where `kind` is None."""
    pictures = PICTURES[result.result_type]
    if kind is None:
        kind = next(iter(pictures))
    if kind not in pictures:
        raise InvalidOptionError(
            f"kind must be one of {', '.join(map(repr, pictures))} for a "
            f"{type(result).__name__}, got {kind!r}"
        )
    return pictures[kind](result, ax)
