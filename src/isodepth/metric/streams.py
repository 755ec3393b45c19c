"""Samples that are no arrays: sources of chunks and Dask collections.

What works on them is a higher layer, and is imported when the first of them is seen.
"""

from __future__ import annotations

from typing import Any

from isodepth.errors import InvalidInputError

_COLLECTIONS = ("dask", "dask_expr")


def is_stream(X: Any) -> bool:
    """Whether a sample is a source of chunks or a Dask collection."""
    kind = type(X)
    if getattr(kind, "reads_in_chunks", False):
        return True
    return kind.__module__.partition(".")[0] in _COLLECTIONS and hasattr(X, "__dask_graph__")


def handler() -> Any:
    """The module that works on them, with `distance`, `compare` and `table`."""
    from isodepth.chunked import entry

    return entry


def refuse_stream(X: Any, what: str) -> None:
    """Raise where rows are needed that a stream does not keep."""
    if is_stream(X):
        raise InvalidInputError(
            f"{what} needs all rows in memory, got {X!r:.80}; use Metric.table, distance or "
            "compare, which read it in chunks"
        )
