"""Checks of texts: candidates with one or several references each."""

from __future__ import annotations

from typing import Any

from isodepth.errors import InvalidInputError


def check_texts(candidates: Any, references: Any) -> tuple[list[str], list[list[str]]]:
    """Return the candidates, and the list of references of each candidate.

    Parameters
    ----------
    candidates : sequence of N str
    references : sequence of N str, or of N non-empty sequences of str
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
    """Check that there is one entry of references per candidate."""
    if n_candidates != n_references:
        raise InvalidInputError(
            "candidates and references must have the same length, got "
            f"{n_candidates} and {n_references}"
        )


def check_text(text: Any, name: str, position: int) -> None:
    """Check that an element of `name` is a string that can be encoded in UTF-8."""
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
