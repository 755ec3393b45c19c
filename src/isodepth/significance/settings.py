"""Options, samples and category columns of a two-sample test, checked before the computation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.arrays import column_labels, describe, is_missing
from isodepth.data.kinds import ColumnKind, category_values, column_lines, split_columns
from isodepth.data.missing import MissingPair
from isodepth.data.validation import (
    check_boolean,
    check_choice,
    check_integer,
    check_number,
    read_pair,
    to_array,
)
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.base import BaseMetric

#: A category with fewer rows than this, and than this share, of both samples together is rare.
FEWEST_ROWS, SMALLEST_SHARE = 10, 0.05
#: Name of the pooled categories.
OTHERS = "(rare values)"
METHODS = ("aggregated", "regions")
# Options of the regions, and their defaults.
_OF_REGIONS: dict[str, Any] = {
    "q": 2.0, "p": 2.0, "eps": 0.1, "depth": "projection", "levels": 20,
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """Checked options of a test.

    Attributes
    ----------
    metric : BaseMetric
        Options of the regions, and those shared with a metric.
    """

    method: str
    n_permutations: int
    tolerance: float | None
    n_directions: int | None
    progress: bool
    metric: BaseMetric


def checked_settings(
    *, method: str, n_permutations: int, tolerance: float | None, n_directions: int | None,
    progress: bool, **options: Any,
) -> Settings:  # fmt: skip
    """Check all options of :func:`isodepth.two_sample_test`; nothing has been done before."""
    check_choice(method, "method", METHODS)
    if tolerance is not None:
        tolerance = check_number(tolerance, "tolerance", 0, 0.5, high_open=True)
        if method != "aggregated":
            raise InvalidOptionError(
                f"tolerance applies to method='aggregated' only, got method={method!r}; remove one "
                "of them"
            )
    for name, default in _OF_REGIONS.items():
        if options[name] is None:
            options[name] = default
        elif method != "regions":
            raise InvalidOptionError(
                f"{name} belongs to method='regions', got {name}={options[name]!r} with "
                f"method={method!r}; remove it, or use method='regions'"
            )
    if isinstance(options["scale"], str):
        if options["scale"] == "reference":
            raise InvalidOptionError(
                "scale='reference' depends on which rows are X, which is not allowed in a "
                "permutation test; use 'pooled', or an array of scales from other data"
            )
        check_choice(options["scale"], "scale", ("pooled",))
    check_number(options["p"], "p", 1)
    check_integer(options["levels"], "levels", 1)
    if n_directions is not None:
        n_directions = check_integer(n_directions, "n_directions", 1)
    return Settings(
        method,
        check_integer(n_permutations, "n_permutations", 1),
        tolerance,
        n_directions,
        check_boolean(progress, "progress"),
        BaseMetric(refine=0, **options),
    )


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


@dataclass(frozen=True)
class Samples:
    """Two samples of one width.

    Attributes
    ----------
    x, y : ndarrays of shape (n, d) and (m, d)
    columns : tuple of str or None
    categories : list of Category
    kinds : tuple of ColumnKind
        Kind and use of every column of data frames; empty for arrays.
    blocks : int64 ndarray or None
        Index of the block of each row, of incomplete rows too.
    missing : MissingPair or None
    kept : bool ndarray or None
        Complete rows among all rows of X and then of Y; None if no value is missing.
    absent : bool ndarray or None
        Missing values of all rows, with one column per numeric column.
    """

    x: np.ndarray
    y: np.ndarray
    columns: tuple[str, ...] | None
    categories: list[Category]
    kinds: tuple[ColumnKind, ...]
    blocks: np.ndarray | None
    missing: MissingPair | None
    kept: np.ndarray | None = None
    absent: np.ndarray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numeric columns."""
        return self.columns or column_labels(self.x.shape[1])

    def values_of(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of a numeric column in X and in Y."""
        j = self.names.index(name)
        return self.x[:, j], self.y[:, j]

    def missing_shares(self, name: str) -> tuple[float, float]:
        """Return the shares of missing values of a column in X and in Y."""
        assert self.missing is not None
        share = next(each for each in self.missing.shares if each.column == name)
        return share.x, share.y

    def rows_with(self, name: str, value: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of X and of Y that have a value of a category, as bool arrays."""
        category = next(each for each in self.categories if each.name == name)
        inside = category.codes == category.values.index(value)
        return inside[: len(self.x)], inside[len(self.x) :]


def read_samples(X: Any, Y: Any, nan_policy: str, blocks: Any, kinds: Any) -> Samples:
    """Read two samples with the names of their columns, their blocks, and missing values."""
    missing = kept = absent = None
    columns: tuple[str, ...] | None = ()
    mixed = split_columns((X, Y), ("X", "Y"), kinds)
    if mixed is not None:
        X, Y = mixed.numeric
    if mixed is not None and X is None:
        if not mixed.categories:
            raise InvalidInputError(
                "X and Y must have a column of numbers or categories, got neither; "
                f"{'; '.join(column_lines(mixed.columns))}"
            )
        x, y = (np.empty((len(side), 0)) for side in next(iter(mixed.categories.values())))
    else:
        sides = read_pair(X, Y, nan_policy)
        x, y, columns = sides[0].points, sides[1].points, sides[0].columns
        if nan_policy == "omit":
            missing = MissingPair(sides[0].missing, sides[1].missing)
            kept = [side.kept for side in sides]
            absent = np.concatenate([side.absent for side in sides])
        for name, points in (("X", x), ("Y", y)):
            if len(points) < 2:
                raise InvalidInputError(
                    f"{name} must have at least 2 complete rows to be tested, got {len(points)}"
                )
    categories = []
    for name, both in mixed.categories.items() if mixed else ():
        values = [
            category_values(v, name, side, nan_policy) for v, side in zip(both, "XY", strict=True)
        ]
        if kept is not None:
            values = [list(itertools.compress(*side)) for side in zip(values, kept, strict=True)]
        categories.append(category_of(name, *values))
    numbers = check_blocks(blocks, *map(len, kept or (x, y)))
    incomplete = absent is not None and bool(absent.any())
    return Samples(
        x, y, columns, categories, mixed.columns if mixed else (), numbers, missing,
        np.concatenate(kept) if kept and incomplete else None, absent if incomplete else None,
    )  # fmt: skip


def check_blocks(blocks: Any, n_x: int, n_y: int) -> np.ndarray | None:
    """Return indices of the blocks of all rows, those of the first sample first.

    Parameters
    ----------
    blocks : array-like of n_x + n_y labels, pair of array-likes of n_x and n_y labels, or None
        Labels of any type: numbers, strings, dates.

    Returns
    -------
    numbers : int64 ndarray of shape (n_x + n_y,) or None
    """
    if blocks is None:
        return None
    parts = [("blocks", blocks, n_x + n_y, "X and Y, or be a pair (labels of X, labels of Y)")]
    if isinstance(blocks, tuple | list) and len(blocks) == 2 and n_x + n_y != 2:
        parts = [("blocks[0]", blocks[0], n_x, "X"), ("blocks[1]", blocks[1], n_y, "Y")]
    labels: list[Any] = []
    for name, given, n, rows in parts:
        own = row_labels(given, name)
        if own.shape != (n,):
            raise InvalidInputError(
                f"{name} must hold one label for each of the {n} rows of {rows}, got "
                f"{describe(own)}"
            )
        labels += own.tolist()
    known: dict[Any, int] = {}
    numbers = np.array([known.setdefault(label, len(known)) for label in labels], np.int64)
    shared = np.intersect1d(numbers[:n_x], numbers[n_x:])
    if len(shared):
        raise InvalidInputError(
            f"a block must lie in one sample, got {counted(len(shared), 'block')} with rows in "
            f"both, the first {list(known)[shared[0]]!r}: blocks are permuted as a whole. If "
            "different groups share a label, such as the days of two months, give them different "
            "labels"
        )
    if len(known) == 2:
        raise InvalidInputError(
            "blocks must be more than one in at least one sample, got one block in each: "
            "exchanging them does not change how far apart they are"
        )
    return numbers


def counted(number: int, noun: str) -> str:
    """Return a number with a noun in the singular or plural."""
    return f"{number} {noun}{'s' * (number != 1)}"


def row_labels(labels: Any, name: str) -> np.ndarray:
    """Return labels of rows, of any type, as an array; none may be missing."""
    try:
        array = labels if isinstance(labels, np.ndarray) else np.asarray(labels)
    except ValueError:
        array = to_array(labels, name)
    missing = sum(is_missing(label) or label != label for label in array.ravel().tolist())
    if missing:
        raise InvalidInputError(
            f"{name} must have a label for every row, got {counted(missing, 'missing label')}"
        )
    return array
