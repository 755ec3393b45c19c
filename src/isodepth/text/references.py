"""Checks of texts: candidates with one or several references each."""

from __future__ import annotations

from typing import Any

from isodepth.errors import InvalidInputError


def check_texts(candidates: Any, references: Any) -> tuple[list[str], list[list[str]]]:
    """Candidates, and the references of each as a list.

    Parameters
    ----------
    candidates : sequence of N str
    references : sequence of N str, or of N non-empty sequences of str
    """
    texts = _as_list(candidates, "candidates")
    given = _as_list(references, "references")
    if len(texts) != len(given):
        raise InvalidInputError(
            f"every candidate needs its reference(s), got {len(texts)} candidate(s) and "
            f"{len(given)} reference(s)"
        )
    groups = [[group] if isinstance(group, str) else group for group in given]
    for place, text in enumerate(texts):
        check_text(text, "candidates", place)
    for place, group in enumerate(groups):
        if not isinstance(group, list | tuple) or not group:
            raise InvalidInputError(
                f"references must be a text or a non-empty list of texts for each candidate, got "
                f"{group!r} at position {place}"
            )
        for text in group:
            check_text(text, "references", place)
    return texts, [list(group) for group in groups]


def check_text(text: Any, name: str, place: int) -> None:
    """Check one text of several; half of a surrogate pair is no character, and no file holds it."""
    if not isinstance(text, str):
        raise InvalidInputError(
            f"{name} must be texts, got {type(text).__name__} at position {place}"
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{name} must be texts, got half of a surrogate pair ({text[error.start]!a}) at "
            f"position {place}, character {error.start}; decode the text again, or drop it with "
            "text.encode(errors='ignore').decode()"
        ) from None


def _as_list(given: Any, name: str) -> list[Any]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InvalidInputError(
            f"{name} must be a list of texts, got {type(given).__name__}; wrap a single text in a "
            "list"
        )
    return list(given)
