"""Clouds of token vectors: embedded once each, checked, scaled, and never empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from isodepth.data.validation import check_points, to_array
from isodepth.errors import InvalidInputError
from isodepth.tensors.host import to_host

#: What a text without tokens may become.
EMPTY = ("origin", "nan", "error")


def embed(
    encoder: Callable[[Sequence[str]], Sequence[Any]], texts: Iterable[str]
) -> dict[str, Any]:
    """The token vectors of each distinct text."""
    distinct = list(dict.fromkeys(texts))
    clouds = one_each(encoder(distinct), len(distinct)) if distinct else []
    return dict(zip(distinct, clouds, strict=True))


def one_each(answer: Any, count: int) -> list[Any]:
    """What an encoder gave for so many texts: one array of token vectors for each."""
    wanted = "the encoder must give one array of token vectors for each text"
    if not isinstance(answer, Iterable) or isinstance(answer, str):
        raise InvalidInputError(f"{wanted}, got {type(answer).__name__} for {count} texts")
    clouds = list(answer)
    if len(clouds) != count:
        raise InvalidInputError(f"{wanted}, got {len(clouds)} for {count} texts")
    return clouds


def own_signature(encoder: Any) -> str:
    """How an encoder describes itself, or its name."""
    named = f"model=own:{getattr(encoder, '__name__', type(encoder).__name__)}"
    return getattr(encoder, "signature", None) or named


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
        return cleaned
    origin = np.zeros((1, widths[0] if widths else 1), dtype=np.float32)
    return [origin if cloud is None else cloud for cloud in cleaned]


def _clean(cloud: Any, l2_normalize: bool) -> np.ndarray | None:
    """One cloud; None for an empty text."""
    name = "the token vectors of a text"
    if getattr(cloud, "requires_grad", False):
        raise InvalidInputError(f"{name} require grad, which would be lost; give .detach()")
    vectors = to_array(to_host(cloud), name)
    if vectors.size == 0:
        return None
    if l2_normalize:
        points, _ = check_points(vectors, name, any_size=True)
        return np.ascontiguousarray(_unit_rows(points.astype(np.float64)), dtype=np.float32)
    # They are compared in single precision, in which they may overflow or vanish.
    points, _ = check_points(vectors, name, "float32")
    if vectors.any() and not points.any():
        raise InvalidInputError(
            f"{name} are too small for single precision; scale them, or use l2_normalize=True"
        )
    return np.ascontiguousarray(points)


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to length one, whatever their size; zeros stay zeros."""
    # A power of two first: it brings the squares into range and changes no digit.
    _, exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True))
    rows = np.ldexp(rows, -exponents)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=rows, where=lengths > 0)
