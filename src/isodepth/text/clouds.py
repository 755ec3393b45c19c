"""Checks of texts and of token clouds. A token cloud is the set of token vectors of a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from isodepth.device.host import to_host
from isodepth.errors import InvalidInputError
from isodepth.table.validation import check_points, to_array


def check_texts(candidates: Any, references: Any) -> tuple[list[str], list[list[str]]]:
    """Check that both arguments are lists of texts of the same length, and convert them.

    Return the list of candidates, and one list of references per candidate.

    Parameters
    ----------
    candidates : sequence of N str
        Texts to score.
    references : sequence of N str, or of N non-empty sequences of str
        Texts with which each candidate is compared.
    """
    texts = _as_list(candidates, "candidates")
    references = _as_list(references, "references")
    check_counts(len(texts), len(references))
    for position, text in enumerate(texts):
        check_text(text, "candidates", position)
    groups = [[group] if isinstance(group, str) else group for group in references]
    for position, group in enumerate(groups):
        if not isinstance(group, list | tuple) or not group:
            raise InvalidInputError(
                "references must have a text or a non-empty list of texts per candidate, got "
                f"{group!r} at position {position}"
            )
        for text in group:
            check_text(text, "references", position)
    return texts, [list(group) for group in groups]


def check_counts(n_candidates: int, n_references: int) -> None:
    """Raise an error if the numbers of candidates and of references differ."""
    if n_candidates != n_references:
        raise InvalidInputError(
            "candidates and references must have the same length, got "
            f"{n_candidates} and {n_references}"
        )


def check_text(text: Any, name: str, position: int) -> None:
    """Check that `text` is a string that can be encoded in UTF-8.

    In error messages, `name` is the name of a list of texts, and `position` the index of `text`.
    """
    if not isinstance(text, str):
        raise InvalidInputError(
            f"{name} must be strings, got {type(text).__name__} at position {position}"
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{name} must be valid Unicode, got half of a surrogate pair "
            f"({text[error.start]!a}) at position {position}, character {error.start}; decode the "
            "text again, or drop the character with text.encode(errors='ignore').decode()"
        ) from None


def _as_list(values: Any, name: str) -> list[Any]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InvalidInputError(
            f"{name} must be a list of texts, got {type(values).__name__}; wrap a single text in "
            "a list"
        )
    return list(values)


def clean_clouds(clouds: Iterable[Any], l2_normalize: bool) -> list[np.ndarray | None]:
    """Validate the token vectors of N texts and convert them to float32.

    Parameters
    ----------
    clouds : iterable of N entries, each an array-like of shape (n, d) or None
        Vectors of the n tokens of each text; None for a text without tokens.
    l2_normalize : bool
        Scale vectors to length one. Zero vectors are left unchanged.

    Returns
    -------
    cleaned : list of N entries
        For each text a float32 ndarray of shape (n, d), or None if the text has no tokens.
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
    """Return rows scaled to Euclidean length one; zero rows are unchanged."""
    # Each row is first divided by a power of two near its largest entry. This is exact and prevents
    # overflow and underflow of the squares in the norm.
    _, exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True))
    rows = np.ldexp(rows, -exponents)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=rows, where=lengths > 0)
