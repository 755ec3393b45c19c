"""Rows of a source in memory: all of them, or as many as fit, drawn at random."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.passes import Reservoir
from isodepth.chunked.rows import Preparation
from isodepth.chunked.sources import as_source
from isodepth.errors import InvalidInputError

# Rows are held, joined and worked on in a few copies.
_COPIES = 6
_CHUNK_ROWS = 1 << 14


class Loaded(NamedTuple):
    """Rows of a source.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Rows with a missing value are rows of NaN.
    weights : float64 ndarray of shape (n,) or None
    columns : tuple of str or None
    counts : int64 ndarray of shape (d,)
        Missing values of the columns.
    complete : bool
        Whether these are all rows, in their order.
    """

    points: np.ndarray
    weights: np.ndarray | None
    columns: tuple[str, ...] | None
    counts: np.ndarray
    complete: bool


def load_rows(
    given: Any,
    name: str,
    dtype: str | None,
    nan_policy: str,
    memory_mb: float,
    seed: int | None = None,
) -> Loaded:
    """The rows of a source or Dask collection, checked.

    Parameters
    ----------
    name : how to call it in messages
    seed : int or None
        Where all rows do not fit into `memory_mb`, draw as many as do; None to refuse.
    """
    source = as_source(given)
    width, precision = source.n_features, dtype or source.dtype
    most_rows = max(1, int(memory_mb * 2**20 / (_COPIES * width * np.dtype(precision).itemsize)))
    preparation = Preparation(width, source.columns, precision, source.weighted, "raise")
    held: list[np.ndarray] = []
    weights: list[np.ndarray] = []
    counts, n_rows = np.zeros(width, dtype=np.int64), 0
    some: Reservoir | None = None
    for chunk in source.chunks(_CHUNK_ROWS):
        points, own = preparation.split(chunk)
        points = np.array(points)
        if nan_policy == "omit":
            holes = np.isnan(points)
            counts += holes.sum(axis=0)
            points[holes.any(axis=1)] = np.nan
            kept = ~holes.any(axis=1)
            preparation.check(points[kept], None if own is None else own[kept], chunk)
        else:
            preparation.check(points, own, chunk)
        numbers = np.arange(n_rows, n_rows + len(points))
        n_rows += len(points)
        if own is not None:
            weights.append(own)
        if some is None and n_rows > most_rows:
            if seed is None:
                raise InvalidInputError(
                    f"{name} ({source.label}) has more than {most_rows} rows, which do not fit "
                    f"into memory_mb={memory_mb:g}; give more memory or a smaller {name}"
                )
            some = Reservoir(most_rows, seed)
            joined = np.concatenate([*held, points])
            some.add(np.arange(n_rows), joined, None)
            held = []
        elif some is None:
            held.append(points)
        else:
            some.add(numbers, points, None)
    if not n_rows:
        raise InvalidInputError(f"{name} ({source.label}) has no row; it needs at least one")
    joined = np.concatenate(held) if some is None else some.rows()[0]
    if some is not None and nan_policy == "omit":
        # Of rows that were drawn it is not known which entries were missing.
        counts = np.full(width, int(np.isnan(joined[:, 0]).sum()))
    return Loaded(
        joined, np.concatenate(weights) if weights else None, source.columns, counts, some is None
    )
