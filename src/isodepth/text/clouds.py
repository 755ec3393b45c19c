"""Clouds of token vectors: embedded once each, checked, scaled, and never empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from isodepth.data.validation import check_points
from isodepth.errors import InvalidInputError

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


def clean_clouds(clouds: Iterable[Any], l2_normalize: bool, empty: str) -> list[np.ndarray | None]:
    """Token vectors as they are compared: float32 of shape (n, d), n > 0, or None for no score.

    Parameters
    ----------
    clouds : iterable of array-likes of shape (n, d); n = 0, or nothing at all, for an empty text
    l2_normalize : bool
        Scale vectors to length one; a zero vector stays as it is.
    empty : {"origin", "nan", "error"}
    """
    cleaned = [_clean(cloud, l2_normalize) for cloud in clouds]
    widths = sorted({cloud.shape[1] for cloud in cleaned if cloud is not None})
    if len(widths) > 1:
        raise InvalidInputError(
            f"all token vectors must have one width, got {', '.join(map(str, widths))}"
        )
    if empty == "error" and any(cloud is None for cloud in cleaned):
        raise InvalidInputError(
            "a text has no tokens; leave it out, or choose what it counts as with empty="
        )
    if empty == "nan":
        return list(cleaned)
    origin = np.zeros((1, widths[0] if widths else 1), dtype=np.float32)
    return [origin if cloud is None else cloud for cloud in cleaned]


def _clean(cloud: Any, l2_normalize: bool) -> np.ndarray | None:
    """One cloud; None for an empty text."""
    vectors = np.asarray(cloud)
    if vectors.size == 0:
        return None
    points, _ = check_points(vectors, "the token vectors of a text")
    if l2_normalize:
        exact = points.astype(np.float64)
        lengths = np.linalg.norm(exact, axis=1, keepdims=True)
        points = np.divide(exact, lengths, out=exact, where=lengths > 0)
    return np.ascontiguousarray(points, dtype=np.float32)
