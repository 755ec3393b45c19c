"""Category columns of the pooled sample; rare values are pooled without regard to the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

#: A category with fewer rows than this, and than this share, of both samples together is rare.
FEWEST_ROWS, SMALLEST_SHARE = 10, 0.05
#: Name of the pooled categories.
OTHERS = "(rare values)"


class ValueShare(NamedTuple):
    """Value of a category, and its shares in X and in Y."""

    column: str
    value: str
    x: float
    y: float


@dataclass(frozen=True)
class Category:
    """One category column of the pooled sample.

    Attributes
    ----------
    name : str
    values : tuple of str
        Compared categories; rare ones are pooled in the last.
    codes : int64 ndarray of shape (n,)
        Index of the category of each row.
    only_x, only_y : tuple of str
        Categories that occur in only one sample.
    """

    name: str
    values: tuple[str, ...]
    codes: np.ndarray
    only_x: tuple[str, ...] = ()
    only_y: tuple[str, ...] = ()

    def indicators(self) -> np.ndarray:
        """Return 1 for rows with each value, else 0, of shape (values, n)."""
        return (self.codes == np.arange(len(self.values))[:, None]).astype(np.float64)

    def shares(self, n_x: int) -> list[ValueShare]:
        """Return the shares of all values among the first n_x rows, and among the others."""
        parts = self.codes[:n_x], self.codes[n_x:]
        x, y = (np.bincount(part, minlength=len(self.values)) / len(part) for part in parts)
        each = zip(self.values, x.tolist(), y.tolist(), strict=True)
        return [ValueShare(self.name, *one) for one in each]


def category_of(name: str, x: Sequence[Any], y: Sequence[Any]) -> Category:
    """Return the category column of two samples.

    Two or more categories that are rare in both samples together are pooled.

    Examples
    --------
    >>> found = category_of("carrier", ["AA"] * 90 + ["OO"], ["AA"] * 80 + ["UA"] * 30 + ["B6"])
    >>> found.values, found.only_y
    (('AA', 'UA', '(rare values)'), ('B6', 'UA'))
    """
    texts = np.array([str(value) for value in [*x, *y]], dtype=object)
    values, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
    in_x = np.bincount(codes[: len(x)], minlength=len(values))
    only_x = tuple(values[in_x == counts].tolist())
    only_y = tuple(values[in_x == 0].tolist())
    rare = counts < min(FEWEST_ROWS, SMALLEST_SHARE * len(texts))
    if rare.sum() < 2:
        rare[:] = False
    order = np.concatenate([np.flatnonzero(~rare), np.flatnonzero(rare)])
    place = np.minimum(np.argsort(order), np.count_nonzero(~rare))
    kept = tuple(values[~rare].tolist())
    return Category(
        name, (*kept, OTHERS) if rare.any() else kept, place[codes].astype(np.int64), only_x, only_y
    )
