"""Token clouds: the set of token vectors of each text, validated and scaled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from isodepth.data.validation import check_points, to_array
from isodepth.errors import InvalidInputError
from isodepth.tensors.host import to_host


def embed(
    encoder: Callable[[Sequence[str]], Sequence[Any]], texts: Iterable[str]
) -> dict[str, Any]:
    """Return the token vectors of each distinct text; None for empty and whitespace texts."""
    clouds: dict[str, Any] = dict.fromkeys(texts)
    encoded = [text for text in clouds if text.strip()]
    if encoded:
        clouds.update(
            zip(encoded, check_encoder_output(encoder(encoded), len(encoded)), strict=True)
        )
    return clouds


def check_encoder_output(output: Any, n_texts: int) -> list[Any]:
    """Check that an encoder returned one array of token vectors per text."""
    expected = "the encoder must return one array of token vectors per text"
    if not isinstance(output, Iterable) or isinstance(output, str):
        raise InvalidInputError(f"{expected}, got {type(output).__name__} for {n_texts} texts")
    clouds = list(output)
    if len(clouds) != n_texts:
        raise InvalidInputError(f"{expected}, got {len(clouds)} arrays for {n_texts} texts")
    return clouds


def encoder_signature(encoder: Any) -> str:
    """Return the signature of an encoder, or its name if it has no signature."""
    name = getattr(encoder, "__name__", type(encoder).__name__)
    return getattr(encoder, "signature", None) or f"model=own:{name}"


def clean_clouds(clouds: Iterable[Any], l2_normalize: bool) -> list[np.ndarray | None]:
    """Validate token vectors and convert them to float32.

    Parameters
    ----------
    clouds : iterable of array-likes of shape (n, d), or None
    l2_normalize : bool
        Scale vectors to length one. Zero vectors are left unchanged.

    Returns
    -------
    list of float32 ndarrays of shape (n, d) with n > 0; None for a text without tokens
    """
    cleaned = [_clean(cloud, l2_normalize) for cloud in clouds]
    widths = sorted({cloud.shape[1] for cloud in cleaned if cloud is not None})
    if len(widths) > 1:
        raise InvalidInputError(
            f"all token vectors must have the same width, got {', '.join(map(str, widths))}"
        )
    return cleaned


def _clean(cloud: Any, l2_normalize: bool) -> np.ndarray | None:
    if cloud is None:
        return None
    name = "the token vectors of a text"
    if getattr(cloud, "requires_grad", False):
        raise InvalidInputError(f"{name} require grad, but scores have no gradient; pass .detach()")
    vectors = to_array(to_host(cloud), name)
    if vectors.size == 0:
        return None
    if l2_normalize:
        points, _ = check_points(vectors, name, any_size=True)
        return np.ascontiguousarray(_unit_rows(points.astype(np.float64)), dtype=np.float32)
    points, _ = check_points(vectors, name, "float32")
    if vectors.any() and not points.any():
        raise InvalidInputError(
            f"{name} are zero in single precision; rescale them, or use l2_normalize=True"
        )
    return np.ascontiguousarray(points)


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    """Scale rows to length one; zero rows are left unchanged."""
    # Scaling by a power of two is exact and prevents overflow and underflow of the squares.
    _, exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True))
    rows = np.ldexp(rows, -exponents)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=rows, where=lengths > 0)
