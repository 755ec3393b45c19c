"""Options and samples of a two-sample test, checked before the computation."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isodepth.data.arrays import column_labels, describe, is_missing
from isodepth.data.kinds import (
    ColumnKind,
    MixedFrames,
    category_values,
    column_lines,
    split_columns,
)
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
from isodepth.significance.categories import Category, category_of

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
    mixed = split_columns((X, Y), ("X", "Y"), kinds)
    if mixed is not None:
        X, Y = mixed.numeric
        if X is None:
            return _categories_alone(mixed, nan_policy, blocks)
    left_x, left_y = read_pair(X, Y, nan_policy)
    x, y, columns = left_x.points, left_y.points, left_x.columns
    if nan_policy == "omit":
        missing = MissingPair(left_x.missing, left_y.missing)
        kept = left_x.kept, left_y.kept
        absent = np.concatenate([left_x.absent, left_y.absent])
    for name, points in (("X", x), ("Y", y)):
        if len(points) < 2:
            raise InvalidInputError(
                f"{name} must have at least 2 complete rows to be tested, got {len(points)}"
            )
    n, m = (len(side) for side in kept or (x, y))
    numbers = check_blocks(blocks, n, m)
    categories = _categories(mixed, nan_policy, kept) if mixed else []
    kinds = mixed.columns if mixed else ()
    samples = Samples(x, y, columns, categories, kinds, numbers, missing)
    if absent is None or kept is None or not absent.any():
        return samples
    return replace(samples, kept=np.concatenate(kept), absent=absent)


def _categories(
    mixed: MixedFrames, nan_policy: str, kept: tuple[np.ndarray, np.ndarray] | None = None
) -> list[Category]:
    """Return the category columns of the complete rows."""
    found = []
    for name, both in mixed.categories.items():
        x, y = (
            category_values(v, name, own, nan_policy) for v, own in zip(both, "XY", strict=True)
        )
        if kept is not None:
            x, y = list(itertools.compress(x, kept[0])), list(itertools.compress(y, kept[1]))
        found.append(category_of(name, x, y))
    return found


def _categories_alone(mixed: MixedFrames, nan_policy: str, blocks: Any) -> Samples:
    found = _categories(mixed, nan_policy)
    if not found:
        raise InvalidInputError(
            "X and Y must have a column of numbers or categories, got neither; "
            f"{'; '.join(column_lines(mixed.columns))}"
        )
    x, y = (np.empty((len(side), 0)) for side in next(iter(mixed.categories.values())))
    return Samples(x, y, (), found, mixed.columns, check_blocks(blocks, len(x), len(y)), None)


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
