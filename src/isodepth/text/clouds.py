"""Clouds of token vectors: embedded once each, checked, scaled, and never empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.validation import check_points

#: What a text without tokens may become.
EMPTY = ("origin", "nan", "error")


def embed(
    encoder: Callable[[Sequence[str]], Sequence[Any]], texts: Iterable[str]
) -> dict[str, Any]:
    """The token vectors of each distinct text."""
    distinct = list(dict.fromkeys(texts))
    clouds = list(encoder(distinct)) if distinct else []
    if len(clouds) != len(distinct):
        raise InvalidInputError(
            f"the encoder must give one array of token vectors for each text, got {len(clouds)} "
            f"for {len(distinct)} texts"
        )
    return dict(zip(distinct, clouds, strict=True))


def clean_cloud(cloud: Any, l2_normalize: bool, empty: str) -> np.ndarray | None:
    """Token vectors as they are compared: float32 of shape (n, d), n > 0, or None for no score.

    Parameters
    ----------
    cloud : array-like of shape (n, d), n = 0 for an empty text
    l2_normalize : bool
        Scale vectors to length one; a zero vector stays as it is.
    empty : {"origin", "nan", "error"}
    """
    vectors = np.asarray(cloud)
    if vectors.ndim == 2 and len(vectors) == 0 and vectors.shape[1] > 0:
        if empty == "error":
            raise InvalidInputError(
                "a text has no tokens; leave it out, or choose what it counts as with empty="
            )
        return np.zeros((1, vectors.shape[1]), dtype=np.float32) if empty == "origin" else None
    points, _ = check_points(vectors, "the token vectors of a text")
    if l2_normalize:
        exact = points.astype(np.float64)
        lengths = np.linalg.norm(exact, axis=1, keepdims=True)
        points = np.divide(exact, lengths, out=exact, where=lengths > 0)
    return np.ascontiguousarray(points, dtype=np.float32)
