"""An encoder that remembers: several metrics can share one pass over the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from isodepth.text.clouds import one_each


class RememberingEncoder:
    """An encoder that caches the vectors of each text.

    Parameters
    ----------
    encoder : callable that maps a list of texts to a list of arrays of shape (tokens, width)

    Examples
    --------
    >>> from isodepth.text import RememberingEncoder
    >>> asked = []
    >>> def letters(texts):
    ...     asked.extend(texts)
    ...     return [[[float(ord(c))] for c in text] for text in texts]
    >>> encoder = RememberingEncoder(letters)
    >>> _ = encoder(["a", "b"]), encoder(["b", "c"])
    >>> asked
    ['a', 'b', 'c']
    """

    def __init__(self, encoder: Callable[[Sequence[str]], Sequence[Any]]) -> None:
        self.encoder = encoder
        self.known: dict[str, Any] = {}

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """The token vectors of each text; one text always gives the same array."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, one_each(self.encoder(new), len(new)), strict=True))
        return [self.known[text] for text in texts]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The number of each token, where the encoder knows it."""
        return self.encoder.tokens(texts)  # type: ignore[attr-defined]

    @property
    def signature(self) -> str:
        """That of the encoder."""
        own = f"model=own:{getattr(self.encoder, '__name__', type(self.encoder).__name__)}"
        return getattr(self.encoder, "signature", own)
