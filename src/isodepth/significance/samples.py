"""Reading and pooling of the two samples of a test, with categories, blocks and missing values.

Units of columns, directions and functions of a row are computed from the rows of both samples
together. They therefore do not depend on the labels, which the test permutes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from isodepth._core import project
from isodepth.core.directions import unit_vectors
from isodepth.core.scaling import check_scale_width, column_units, mad_spread
from isodepth.data.arrays import describe, is_missing
from isodepth.data.frames import in_order, labels_of
from isodepth.data.kinds import ColumnKind, category_values, column_lines, split_columns
from isodepth.data.missing import MissingPair
from isodepth.data.validation import SampleRows, as_pair, check_finite, read_sample, to_array
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.significance.permutations import Permutations, precision, rank_cosines, unit_ranks
from isodepth.tensors.host import to_host

#: A category is rare if it has fewer than FEWEST_ROWS rows, and a share below SMALLEST_SHARE, in
#: both samples together.
FEWEST_ROWS, SMALLEST_SHARE = 10, 0.05
#: Name of the category that replaces all rare categories of a column.
OTHERS = "(rare values)"
#: Names of the two functions of a row that use all columns.
CENTER, TOTAL = "distance from the center", "sum of the columns"
# For the distance from the center, standardized values are clipped to [-6, 6].
_FAR = 6.0
# Approximate default number of directions. It is rounded up to a multiple of the number of columns,
# because whole orthonormal bases are used. More directions add little power.
_DIRECTIONS = 100


class ValueShare(NamedTuple):
    """Value of a category column, and its shares among the rows of X and of Y."""

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
        Compared categories. Rare categories are pooled in the last entry.
    codes : int64 ndarray of shape (n,)
        Index in `values` of the category of each row.
    only_x, only_y : tuple of str
        Categories that occur in only one sample.
    """

    name: str
    values: tuple[str, ...]
    codes: np.ndarray
    only_x: tuple[str, ...] = ()
    only_y: tuple[str, ...] = ()

    def indicators(self) -> np.ndarray:
        """Return an array with one row per category: entry (k, i) is 1 if row i has category k."""
        return (self.codes == np.arange(len(self.values))[:, None]).astype(np.float64)

    def rows_with(self, value: str) -> np.ndarray:
        """Return a bool array (n,) that is True for the rows with this category."""
        return self.codes == self.values.index(value)

    def shares(self, n_x: int) -> list[ValueShare]:
        """Return the share of each category in the first sample (n_x rows) and in the second."""
        parts = self.codes[:n_x], self.codes[n_x:]
        x, y = (np.bincount(part, minlength=len(self.values)) / len(part) for part in parts)
        each = zip(self.values, x.tolist(), y.tolist(), strict=True)
        return [ValueShare(self.name, *shares) for shares in each]


def category_of(name: str, x: Sequence[Any], y: Sequence[Any]) -> Category:
    """Create the pooled category column from the values of X and of Y.

    Categories that are rare in both samples together are pooled, if there are two or more.

    Examples
    --------
    >>> carrier = category_of("carrier", ["AA"] * 90 + ["OO"], ["AA"] * 80 + ["UA"] * 30 + ["B6"])
    >>> carrier.values, carrier.only_y
    (('AA', 'UA', '(rare values)'), ('B6', 'UA'))
    """
    strings = np.array([str(value) for value in [*x, *y]], dtype=object)
    values, codes, counts = np.unique(strings, return_inverse=True, return_counts=True)
    in_x = np.bincount(codes[: len(x)], minlength=len(values))
    rare = counts < min(FEWEST_ROWS, SMALLEST_SHARE * len(strings))
    rare &= rare.sum() > 1
    compared = values[~rare].tolist() + [OTHERS] * bool(rare.any())
    new_codes = np.where(rare, len(compared) - 1, np.cumsum(~rare) - 1)
    only_x, only_y = (tuple(values[only].tolist()) for only in (in_x == counts, in_x == 0))
    return Category(name, tuple(compared), new_codes[codes], only_x, only_y)


@dataclass(frozen=True)
class Samples:
    """Two samples with the same columns.

    Attributes
    ----------
    x, y : SampleRows
        Numeric columns of the complete rows.
    categories : list of Category
    kinds : tuple of ColumnKind
        Kind and use of every column of data frames; empty for arrays.
    blocks : int64 ndarray or None
        Index of the block of each row of X and Y, including rows with missing values. The rows of a
        block are permuted together. None if every row is a block.
    """

    x: SampleRows
    y: SampleRows
    categories: list[Category]
    kinds: tuple[ColumnKind, ...]
    blocks: np.ndarray | None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the numeric columns."""
        return self.x.columns or tuple(f"column {j}" for j in range(self.x.points.shape[1]))

    @property
    def missing(self) -> MissingPair | None:
        """Counts of rows dropped for missing values; None if missing values are an error."""
        return self.x.missing and MissingPair(self.x.missing, self.y.missing)

    @property
    def blocks_of_complete_rows(self) -> np.ndarray | None:
        """Index of the block of each row without missing values; None without blocks."""
        if self.blocks is None or self.x.kept is None:
            return self.blocks
        kept = np.concatenate([self.x.kept, self.y.kept])
        return np.unique(self.blocks[kept], return_inverse=True)[1]

    def labelings(
        self, n_permutations: int, rng: np.random.Generator
    ) -> tuple[Permutations, MissingValues | None]:
        """Return permuted labels of the complete rows, and missing values with labels of all rows.

        The second result is None if no values are missing.

        The labels of all rows are permuted. For statistics that need complete rows, they are then
        restricted to the rows without missing values. Permutations of the complete rows alone would
        fix the number of incomplete rows of each sample. If all rows are exchangeable, all
        permutations are equally likely, so the joint test of values and missing values is exact.
        """
        sizes = _n_rows(self.x), _n_rows(self.y)
        permutations = Permutations.draw(*sizes, n_permutations, rng, self.blocks)
        if self.x.absent is None:
            return permutations, None
        absent = np.concatenate([self.x.absent, self.y.absent])
        columns = np.flatnonzero(absent.any(axis=0))
        if not len(columns):
            return permutations, None
        indicators = np.ascontiguousarray(absent[:, columns].T, np.float64)
        missing = MissingValues([self.names[j] for j in columns], indicators, permutations)
        return permutations.restricted(np.flatnonzero(~absent.any(axis=1)), rng), missing


def read_samples(X: Any, Y: Any, nan_policy: str, blocks: Any, kinds: Any) -> Samples:
    """Read and check two samples.

    The arguments are the options of :func:`isodepth.two_sample_test` with the same names.
    """
    mixed = None
    if kinds is not None or not isinstance(X, np.ndarray):
        mixed = split_columns((X, Y), ("X", "Y"), kinds)
    if mixed is not None:
        X, Y = mixed.numeric
    if mixed is not None and X is None:
        if not mixed.categories:
            raise InvalidInputError(
                "X and Y must have a column of numbers or categories, got neither; "
                f"{'; '.join(column_lines(mixed.columns))}"
            )
        first = next(iter(mixed.categories.values()))
        x, y = (SampleRows(np.empty((len(values), 0)), ()) for values in first)
    else:
        if not isinstance(X, np.ndarray):
            Y = in_order(Y, labels_of(X), "Y", "X")
        x = read_sample(X, None, "X", nan_policy=nan_policy)
        y = read_sample(Y, None, "Y", nan_policy=nan_policy)
        x, y = as_pair(x, y)
    for name, side in (("X", x), ("Y", y)):
        if len(side.points) < 2 and side.columns != ():
            raise InvalidInputError(
                f"{name} must have at least 2 complete rows to be tested, got {len(side.points)}"
            )
    categories = []
    for name, both in mixed.categories.items() if mixed else ():
        values = []
        for sample, side, all_values in zip("XY", (x, y), both, strict=True):
            checked = category_values(all_values, name, sample, nan_policy)
            values.append(checked if side.kept is None else list(compress(checked, side.kept)))
        categories.append(category_of(name, *values))
    checked_blocks = check_blocks(blocks, _n_rows(x), _n_rows(y))
    return Samples(x, y, categories, mixed.columns if mixed else (), checked_blocks)


def _n_rows(side: SampleRows) -> int:
    """Return the number of all rows, including rows with missing values."""
    return len(side.points if side.kept is None else side.kept)


def check_blocks(blocks: Any, n_x: int, n_y: int) -> np.ndarray | None:
    """Check the labels of blocks, which are groups of rows that are permuted together.

    Parameters
    ----------
    blocks : array-like of n_x + n_y labels, pair of array-likes of n_x and n_y labels, or None
        Block label of each row, of any type: numbers, strings, dates. The rows of the first sample
        come first.

    Returns
    -------
    indices : int64 ndarray of shape (n_x + n_y,) or None
        Index of the block of each row. Blocks are numbered by their first row.
    """
    if blocks is None:
        return None
    parts = [("blocks", blocks, n_x + n_y, "X and Y, or be a pair (labels of X, labels of Y)")]
    if isinstance(blocks, tuple | list) and len(blocks) == 2:
        parts = [("blocks[0]", blocks[0], n_x, "X"), ("blocks[1]", blocks[1], n_y, "Y")]
    labels: list[Any] = []
    for name, part, n, rows in parts:
        labels += row_labels(to_host(part), name, n, rows).tolist()
    index_of: dict[Any, int] = {}
    indices = np.array([index_of.setdefault(label, len(index_of)) for label in labels], np.int64)
    shared = np.intersect1d(indices[:n_x], indices[n_x:])
    if len(shared):
        raise InvalidInputError(
            "a block must lie in one sample, since blocks are permuted as a whole; got rows in "
            f"both for {len(shared)} of {len(index_of)} blocks, the first "
            f"{list(index_of)[shared[0]]!r}. If different groups share a label, such as the days "
            "of two months, give them different labels"
        )
    if len(index_of) == 2:
        raise InvalidInputError(
            "blocks must have two or more labels in at least one sample, got one block in each: "
            "exchanging two blocks does not change the difference between them"
        )
    return indices


def row_labels(labels: Any, name: str, n: int, rows: str) -> np.ndarray:
    """Return the labels of n rows, of any type, as an array. A missing label is an error.

    `name` is the name of the argument, and `rows` describes the rows, in messages.
    """
    try:
        array = np.asanyarray(labels)  # asanyarray keeps the mask of a masked array
    except ValueError:
        array = to_array(labels, name)
    missing = sum(is_missing(label) or label != label for label in array.ravel().tolist())
    if missing:
        raise InvalidInputError(
            f"{name} must have a label for every row, got {missing} missing of {array.size} labels"
        )
    if array.shape != (n,):
        raise InvalidInputError(
            f"{name} must hold one label for each of the {n} rows of {rows}, got {describe(array)}"
        )
    return array


# -- the pooled sample: the rows of both samples together ------------------------------------------


def standardized(
    columns: np.ndarray, scale: Any, eps: float, names: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray | float]:
    """Standardize columns (d, n); return the rows (n, d) and the divisors of the columns.

    Columns are centered at their medians and divided by a scale. If `scale` is None, all columns
    are divided by the same power of two, which does not round.
    """
    points = np.array(columns.T, order="C")
    divisors: np.ndarray | float
    if isinstance(scale, str):
        divisors = column_units(points, None, eps)
    points -= np.median(points, axis=0)
    if scale is None:
        divisors = 2.0 ** math.frexp(float(mad_spread(points).max(initial=0.0)))[1]
    elif not isinstance(scale, str):
        check_scale_width(scale, len(columns))
        divisors = scale
    with np.errstate(over="ignore"):
        points /= divisors
    if names:
        check_finite(points, "X or Y divided by scale", False, names)
    points += 0.0  # adding zero converts -0.0 to 0.0, so that equal numbers have equal bits
    return points, divisors


def directions_with_axes(d: int, n_directions: int | None, random_state: Any) -> np.ndarray:
    """Return K directions (K, d): the coordinate axes, followed by random orthonormal bases."""
    if d < 2:
        return np.eye(d)
    if n_directions is None:
        n_directions = d * max(2, math.ceil(_DIRECTIONS / d))
    if n_directions < d:
        raise InvalidOptionError(
            f"n_directions must be at least the number of columns, {d}, since the axes are among "
            f"them; got {n_directions}"
        )
    if n_directions == d:
        return np.eye(d)
    others = unit_vectors(d, n_directions - d, "orthogonal", random_state)
    return np.concatenate([np.eye(d), others])


class MissingValues(NamedTuple):
    """Indicators of the missing values of all rows, including rows that are dropped from samples.

    Attributes
    ----------
    names : list of str
        Columns with missing values.
    indicators : float64 ndarray of shape (columns, n)
        1 for a missing value, else 0.
    permutations : Permutations
        Given and permuted labels of all n rows.
    """

    names: list[str]
    indicators: np.ndarray
    permutations: Permutations

    def shares(self, name: str) -> tuple[float, float]:
        """Return the shares of missing values of a column in X and in Y."""
        missing, n_x = self.indicators[self.names.index(name)], self.permutations.n_x
        return float(missing[:n_x].mean()), float(missing[n_x:].mean())


@dataclass(frozen=True)
class PooledSample:
    """The n rows of both samples without missing values, and permutations of their labels.

    Attributes
    ----------
    columns : float64 ndarray of shape (d, n)
        Values of the numeric columns as they are; d may be 0. Ranks are computed from these values,
        because subtracting a median would round small values to ties.
    points : float64 ndarray of shape (n, d)
        Rows of standardized values: columns centered at their medians and divided by `divisors`.
    divisors : float64 ndarray of shape (d,) or float
        Divisors of the columns.
    names : tuple of str, of length d
    directions : ndarray of shape (K, d), the axes first
    permutations : Permutations
        Given and permuted labels of the rows.
    rng : numpy.random.Generator
        Source of random pairs of columns and random subsets of rows.
    categories : list of Category
    n_threads : int
    missing : MissingValues or None
        Missing values of all rows of both samples; None if there are none.
    """

    columns: np.ndarray
    points: np.ndarray
    divisors: np.ndarray | float
    names: tuple[str, ...]
    directions: np.ndarray
    permutations: Permutations
    rng: np.random.Generator
    categories: list[Category] = field(default_factory=list)
    n_threads: int = 1
    missing: MissingValues | None = None

    def along(self, directions: np.ndarray) -> np.ndarray:
        """Return the projections (k, n) of all standardized rows on directions (k, d)."""
        return project(self.points, np.ascontiguousarray(directions), self.n_threads)

    def random_subset(self, size: int) -> PooledSample:
        """Return a random subset of `size` rows, or all rows if there are at most `size`.

        The subset does not depend on the labels.
        """
        n = len(self.points)
        if n <= size:
            return self
        rows = np.sort(self.rng.choice(n, size, replace=False))
        return replace(
            self,
            columns=self.columns[:, rows],
            points=self.points[rows],
            permutations=self.permutations.restricted(rows, self.rng),
            categories=[replace(each, codes=each.codes[rows]) for each in self.categories],
        )

    @cached_property
    def whole_rows(self) -> dict[str, np.ndarray]:
        """Values (n,) of two functions of a row: the distance from the center and the column sum.

        Keys are the names of the functions. The sum is left out if there is only one column.
        """
        functions = {CENTER: np.sqrt(np.square(self.points.clip(-_FAR, _FAR)).sum(axis=1))}
        if self.points.shape[1] > 1:
            functions[TOTAL] = self.along(np.ones((1, self.points.shape[1])))[0]
        return functions

    def centered_ranks(self, values: np.ndarray) -> np.ndarray:
        """Return the ranks within each row of values (F, n), scaled to (-1/2, 1/2)."""
        ranks = unit_ranks(values, self.n_threads) - 0.5
        return ranks.astype(precision(values.shape[1]), copy=False)

    def cosine_powers(self, values: np.ndarray, count: int) -> np.ndarray:
        """Return squared scaled differences between the sample means of cosines of ranks.

        The cosines are cos(pi j R) for j = 1, ..., count, where R are the ranks within each row of
        values (F, n), scaled to (0, 1). See `Permutations.contrasts` for the scaling.

        Returns
        -------
        powers : ndarray of shape (count, F, B + 1)
            The last axis has the given labels and B permutations.
        """
        cosines = rank_cosines(values, count, self.n_threads)
        contrasts = self.permutations.contrasts(cosines.reshape(-1, values.shape[1]))
        return np.square(contrasts).reshape(count, len(values), -1)


def direction_text(direction: np.ndarray, names: tuple[str, ...]) -> str:
    """Describe a direction by its largest entries, at most three.

    Entries of absolute value below 0.1 are left out. "..." is added if the sum of squares of the
    named entries is below 0.99.

    Examples
    --------
    >>> direction_text(np.array([0.8, -0.6, 0.05]), ("temp", "dewp", "wind"))
    '0.8 temp - 0.6 dewp'
    >>> direction_text(np.array([-0.5, 0.5, 0.5, 0.5]), ("a", "b", "c", "d"))
    '- 0.5 a + 0.5 b + 0.5 c ...'
    """
    order = np.argsort(-np.abs(direction), kind="stable")[:3]
    kept = [j for j in order if abs(direction[j]) >= 0.1]
    terms = "".join(
        f" {'-' if direction[j] < 0 else '+'} {abs(direction[j]):.2g} {names[j]}" for j in kept
    )
    more = " ..." if np.square(direction[kept]).sum() < 0.99 else ""
    return terms.removeprefix(" + ").lstrip() + more
