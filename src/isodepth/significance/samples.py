"""Reading and pooling of the two samples of a test, with categories, blocks and missing values.

Units of columns, directions and functions of a row are computed from the rows of both samples
together. They therefore do not depend on the labels, which the test permutes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from isodepth._core import project
from isodepth.base.export import ResultPart
from isodepth.base.messages import Message
from isodepth.base.options import must
from isodepth.base.words import describe, is_missing
from isodepth.device.host import to_host
from isodepth.errors import InvalidInputError
from isodepth.functions.families import LEAST_ROWS, Rows
from isodepth.geometry.directions import unit_vectors
from isodepth.geometry.scaling import column_units, mad_spread
from isodepth.rows.rows import TwoSamples
from isodepth.significance.permutations import Permutations, precision, unit_ranks
from isodepth.table.arrays import repeated_rows, row_hashes
from isodepth.table.frames import split_labels
from isodepth.table.kinds import MISSING
from isodepth.table.missing import MissingPair
from isodepth.table.table import Table, tables_of
from isodepth.table.validation import (
    MissingReport,
    check_finite,
    to_array,
)

#: A category is rare if it has fewer than FEWEST_ROWS rows, and a share below SMALLEST_SHARE, in
#: both samples together.
FEWEST_ROWS, SMALLEST_SHARE = 10, 0.05
#: Name of the category that replaces all rare categories of a column.
OTHERS = "(rare values)"
#: Names of the two functions of a row that use all columns.
CENTER, TOTAL = "distance from the center", "sum of the columns"
# Range of the values of a column, relative to their largest absolute value, up to which the column
# is constant: a few units in the last place.
_CONSTANT = 8 * float(np.finfo(np.float64).eps)
#: For the distance from the center, standardized values are clipped to [-6, 6].
FAR = 6.0
# Standardized values are clipped to this absolute value, and smaller values than this fraction of
# the largest one are replaced by 0. So neither products of two values nor outlyingness overflow.
_HUGE, _TINY = 1e140, 1e-280
# Maximum number of columns. The time per column is about 10 ms, and the directions include an axis
# for each column, which needs memory of the square of this number.
_MOST_COLUMNS = 10_000
_KEEP_HINT = Message(", or accept them with {--nan_policy='keep'}")
# Approximate default number of directions. It is rounded up to a multiple of the number of columns,
# because whole orthonormal bases are used. More directions add little power.
_DIRECTIONS = 100


@dataclass(frozen=True, eq=False)
class ValueShare(ResultPart):
    """Value of a category column, and its shares among the rows of X and of Y.

    Attributes
    ----------
    column, value : str
    before, after : float
        Shares of the rows of X and of Y that have the value.
    """

    column: str
    value: str
    before: float
    after: float


@dataclass(frozen=True)
class Category:
    """One category column of the pooled sample, with its values as codes.

    A code is the index of a category. The attribute `all_values` has every category. In `values`,
    rare categories are replaced by one value, OTHERS, and missing values by MISSING.
    """

    name: str
    all_values: tuple[str, ...]  # all categories, sorted
    all_codes: np.ndarray  # (n,), float64, index in `all_values` for each row; NaN if missing
    values: tuple[str, ...]  # compared categories
    codes: np.ndarray  # (n,), int64, index in `values` for each row

    @classmethod
    def of(cls, name: str, codes: np.ndarray, words: Sequence[str]) -> Category:
        """Create a category column from the indices (n,) of its values in `words`, -1 if missing.

        Categories that are rare in all rows together are pooled, if there are two or more of them.
        A value that equals OTHERS or MISSING is quoted.

        Examples
        --------
        >>> codes = np.repeat([0, 1, -1, 0, 2, 3], [90, 1, 1, 80, 30, 1])
        >>> carrier = Category.of("carrier", codes, ["AA", "OO", "UA", "B6"])
        >>> carrier.values, carrier.only_in(92)
        (('AA', 'UA', '(rare values)', '(missing)'), (('OO',), ('B6', 'UA')))
        """
        absent = codes < 0
        quoted = [repr(word) if word in (MISSING, OTHERS) else word for word in words]
        ordered, places = np.unique(np.array(quoted, dtype=object), return_inverse=True)
        used, known = np.unique(places[codes[~absent]], return_inverse=True)
        names = ordered[used]
        all_codes = np.full(len(codes), np.nan)
        all_codes[~absent] = known
        counts = np.bincount(known, minlength=len(names))
        rare = counts < min(FEWEST_ROWS, SMALLEST_SHARE * len(codes))
        rare &= rare.sum() > 1
        compared = names[~rare].tolist() + [OTHERS] * bool(rare.any())
        pooled = np.full(len(codes), len(compared))
        pooled[~absent] = np.where(rare, len(compared) - 1, np.cumsum(~rare) - 1)[known]
        compared += [MISSING] * bool(absent.any())
        return cls(name, tuple(names.tolist()), all_codes, tuple(compared), pooled)

    def indicators(self) -> np.ndarray:
        """Return an array (categories, n): entry (k, i) is 1 if row i has category k, else 0."""
        return (self.codes == np.arange(len(self.values))[:, None]).astype(np.float64)

    def rows_with(self, value: str) -> np.ndarray:
        """Return a bool array (n,) that is True for the rows with this category."""
        return self.codes == self.values.index(value)

    def shares(self, n_x: int) -> tuple[ValueShare, ...]:
        """Return the shares of each category in the first n_x rows (X) and in the others (Y)."""
        parts = self.codes[:n_x], self.codes[n_x:]
        x, y = (np.bincount(part, minlength=len(self.values)) / len(part) for part in parts)
        each = zip(self.values, x.tolist(), y.tolist(), strict=True)
        return tuple(ValueShare(self.name, *shares) for shares in each)

    def only_in(self, n_x: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the categories that occur only in the first n_x rows (X), and those only in Y."""
        parts = self.all_codes[:n_x], self.all_codes[n_x:]
        x, y = ({*part[~np.isnan(part)].astype(int).tolist()} for part in parts)
        names = self.all_values
        return tuple(names[k] for k in sorted(x - y)), tuple(names[k] for k in sorted(y - x))


@dataclass(frozen=True)
class Samples:
    """Two samples with the same columns, as arrays of numbers and categories.

    Rows and missing values are kept.
    """

    numbers: np.ndarray  # (n_x + n_y, columns), numeric columns of X, then of Y; NaN if missing
    read: TwoSamples  # the same rows, X and Y separately
    categories: list[Category]
    blocks: np.ndarray | None  # (n_x + n_y,), see `check_blocks`; None if every row is a block

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numeric columns."""
        return self.read.columns

    @property
    def all_names(self) -> tuple[str, ...]:
        """Names of the numeric columns, followed by those of the category columns."""
        return (*self.names, *(category.name for category in self.categories))

    @property
    def table(self) -> np.ndarray:
        """Numbers and codes of the categories of all rows, as an array (n_x + n_y, columns)."""
        return np.column_stack([self.numbers, *(each.all_codes for each in self.categories)])

    @property
    def n_x(self) -> int:
        """Number of rows of X."""
        return self.read.n_rows[0]

    @cached_property
    def compared(self) -> np.ndarray:
        """Indices of the numeric columns whose values are compared.

        A column with fewer than four values, or with equal values up to rounding, has no
        information. Its missing values are still compared.
        """
        known = np.count_nonzero(~np.isnan(self.numbers), axis=0)
        low = np.fmin.reduce(self.numbers, axis=0, initial=np.inf)
        high = np.fmax.reduce(self.numbers, axis=0, initial=-np.inf)
        with np.errstate(over="ignore"):
            varies = high - low > _CONSTANT * np.maximum(np.abs(low), np.abs(high))
        return np.flatnonzero(varies & (known >= LEAST_ROWS))

    @property
    def n_blocks(self) -> tuple[int, int] | None:
        """Numbers of blocks of X and Y; None if every row is a block."""
        if self.blocks is None:
            return None
        total, of_x = (int(part.max()) + 1 for part in (self.blocks, self.blocks[: self.n_x]))
        return of_x, total - of_x

    def without_copies(self) -> Samples:
        """Return the samples without blocks, and without copies of rows within each sample.

        The first of several equal rows is kept. Equal rows with missing values are all kept if the
        function `repeated_rows` returns NaN for them: they may be equal only because few of their
        values are known.
        """
        parts = []
        for rows in np.split(self.table, [self.n_x]):
            kept = repeated_rows(rows) != 1
            kept[np.unique(row_hashes(rows), return_index=True)[1]] = True
            parts.append(np.flatnonzero(kept))
        points = self.read.points[0][parts[0]], self.read.points[1][parts[1]]
        values = {
            name: [[column[i] for i in kept] for column, kept in zip(both, parts, strict=True)]
            for name, both in self.read.categories.items()
        }
        read = replace(self.read, points=points, categories=values)
        rows = np.concatenate([parts[0], self.n_x + parts[1]])
        categories = []
        for each in self.categories:
            codes = np.where(np.isnan(each.all_codes), -1, each.all_codes).astype(np.int64)
            categories.append(Category.of(each.name, codes[rows], each.all_values))
        return Samples(np.concatenate(points), read, categories, None)

    @property
    def missing(self) -> MissingPair:
        """Numbers of missing values of each numeric column in X and in Y; no row is dropped."""
        reports = []
        for points in self.read.points:
            counts = zip(self.names, np.isnan(points).sum(axis=0).tolist(), strict=True)
            reports.append(MissingReport(len(points), 0, dict(counts)))
        return MissingPair(reports[0], reports[1])


def check_number_of_columns(X: Any) -> None:
    """Raise an error if a sample has more than 10,000 columns. Sequences are not checked."""
    width = getattr(X, "n_features", None) or (*getattr(X, "shape", ()), 0, 0)[1]
    if isinstance(width, int) and width > _MOST_COLUMNS:
        raise InvalidInputError(
            f"X and Y must have at most {_MOST_COLUMNS} columns to be tested, got {width}; select "
            "columns, or compare the samples without a test (isodepth.compare)"
        )


def read_samples(X: Any, Y: Any, nan_policy: str, blocks: Any, kinds: Any) -> Samples:
    """Read and check two samples in memory.

    The arguments are the options of :func:`isodepth.two_sample_test` with the same names. Columns
    of data frames that only one sample has are left out.
    """
    x, y = tables_of(X, Y, kinds=kinds, common=True)
    return samples_of(x, y, TwoSamples.of(x, y), nan_policy, blocks)


def samples_of(
    x: Table, y: Table, read: TwoSamples, nan_policy: str, blocks: Any = None
) -> Samples:
    """Check two tables of one schema. `read` has their rows and the names of the columns."""
    for name, table in zip("XY", (x, y), strict=True):
        if len(table) < 2:
            raise InvalidInputError(
                f"{name} must have at least 2 rows to be tested, got {len(table)}"
            )
        if nan_policy == "raise":
            table.check_complete(_KEEP_HINT)
    pooled = Table.pooled(x, y)
    columns = enumerate(x.schema.category_names)
    categories = [Category.of(name, pooled.codes[:, c], pooled.words(c)) for c, name in columns]
    # Adding zero replaces -0.0 by 0.0, so that equal numbers have equal bits. The rows are copied,
    # so that the result does not depend on later changes of X and Y.
    numbers = np.asarray(pooled.numbers, np.float64) + 0.0
    read = replace(read, points=(numbers[: len(x)], numbers[len(x) :]))
    return Samples(numbers, read, categories, check_blocks(blocks, len(x), len(y)))


def named_blocks(X: Any, Y: Any, blocks: Any) -> tuple[Any, Any, Any]:
    """Return X, Y and the labels of blocks.

    If `blocks` is the name of a column, it is removed from both samples, and its values are
    returned as a pair. Otherwise, the arguments are returned.
    """
    if not isinstance(blocks, str):
        return X, Y, blocks
    X, of_x = split_labels(X, blocks, "blocks", "X")
    Y, of_y = split_labels(Y, blocks, "blocks", "Y")
    return X, Y, (of_x, of_y)


def check_blocks(blocks: Any, n_x: int, n_y: int) -> np.ndarray | None:
    """Check the labels of blocks, which are groups of rows that are permuted together.

    `blocks` is an option of :func:`isodepth.two_sample_test`; labels are of any type. Return the
    index of the block of each row (n_x + n_y,), or None if `blocks` is None. Blocks are numbered
    in the order of their first rows.
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
    """Return the labels of n rows, of any type, as an array (n,).

    Raise InvalidInputError if labels are missing or if there are not n labels. `name`, the name of
    the argument, and `rows`, the name of the sample, are used in its message.
    """
    if isinstance(labels, str):
        raise InvalidInputError(
            f"{name} must hold one label for each of the {n} rows of {rows}, got the string "
            f"{labels!r}; pass the labels"
        )
    try:
        array = np.asanyarray(labels)  # asanyarray keeps the mask of a masked array
    except ValueError:
        array = to_array(labels, name)
    if array.dtype.kind == "U" and not all(isinstance(label, str) for label in list(labels)):
        array = np.array(labels, dtype=object)  # NumPy would convert 1 to "1", another label
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

    Columns are centered at their medians. `scale` is the array (d,) of divisors, or "pooled" for
    the robust standard deviations. Standardized values are clipped to [-1e140, 1e140], and missing
    values are 0, the median. If `scale` is None, all columns are divided by the same power of two,
    which does not round. This power is then returned instead of an array. `eps` is an option of
    `Metric`, and `names` are the names of the columns for messages.
    """
    points = np.array(columns.T, order="C")
    absent = np.isnan(points)
    points -= np.nanmedian(points, axis=0) if len(names) else np.zeros(0)
    points[absent] = 0.0
    divisors: np.ndarray | float = scale
    if isinstance(scale, str):
        units = [column_units(c[~np.isnan(c)][:, None], None, eps)[0] for c in columns]
        divisors = np.array(units, np.float64)
    elif scale is None:
        divisors = 2.0 ** math.frexp(float(mad_spread(points).max(initial=0.0)))[1]
    with np.errstate(over="ignore"):
        points /= divisors
    if names:
        if scale is divisors:  # an array of the user
            check_finite(points, "X or Y divided by scale", False, names)
        points.clip(-_HUGE, _HUGE, out=points)
        points[np.abs(points) < _TINY * np.abs(points).max()] = 0.0
    points += 0.0  # adding zero converts -0.0 to 0.0, so that equal numbers have equal bits
    return points, divisors


def filled_columns(columns: np.ndarray) -> np.ndarray:
    """Return columns (d, n) in which missing values are replaced by the median of the column."""
    absent = np.isnan(columns)
    if not absent.any():
        return columns
    return np.where(absent, np.nanmedian(columns, axis=1, keepdims=True), columns)


def directions_with_axes(d: int, n_directions: int | None, random_state: Any) -> np.ndarray:
    """Return K directions (K, d): the coordinate axes, followed by random orthonormal bases.

    The last basis may be incomplete. K is `n_directions`, or the default of `two_sample_test` if it
    is None. With d = 1, K is 1.
    """
    if d < 2:
        return np.eye(d)
    if n_directions is None:
        # Whole bases of more than 100 columns would take long and much memory.
        n_directions = d + min(_DIRECTIONS, d * (max(2, math.ceil(_DIRECTIONS / d)) - 1))
    if n_directions < d:
        allowed = f"be at least the number of columns, {d}, since the axes are among them"
        raise must("n_directions", allowed, n_directions)
    if n_directions == d:
        return np.eye(d)
    others = unit_vectors(d, n_directions - d, directions="orthogonal", random_state=random_state)
    return np.concatenate([np.eye(d), others])


@dataclass(frozen=True)
class PooledSample:
    """The n rows of both samples in one array, with permutations of their labels (X or Y)."""

    # (d, n), values of the compared numeric columns as they are, NaN if missing; d may be 0. Ranks
    # are computed from these values: subtracting a median would round small values to ties.
    columns: np.ndarray
    points: np.ndarray  # (n, d), rows of `standardized` columns
    divisors: np.ndarray | float  # (d,), divisors of the columns
    names: tuple[str, ...]  # names of the d columns
    directions: np.ndarray  # (K, d), the axes first
    permutations: Permutations  # given and permuted labels of the rows
    rng: np.random.Generator  # for random pairs of columns and random subsets of rows
    categories: list[Category]  # categories with at least two values
    n_threads: int
    samples: Samples  # all columns of the data, also those without information

    @classmethod
    def of(
        cls,
        samples: Samples,
        scale: Any,
        eps: float,
        directions: np.ndarray,
        permutations: Permutations,
        rng: np.random.Generator,
    ) -> Self:
        """Pool the rows of both samples. `scale` and `eps` are arguments of `standardized`."""
        columns = np.ascontiguousarray(samples.numbers.T[samples.compared])
        names = tuple(samples.names[j] for j in samples.compared)
        points, divisors = standardized(columns, scale, eps, names)
        categories = [each for each in samples.categories if len(each.values) > 1]
        return cls(
            columns, points, divisors, names, directions, permutations, rng, categories,
            permutations.n_threads, samples,
        )  # fmt: skip

    @property
    def n_x(self) -> int:
        """Number of rows of X."""
        return self.permutations.n_x

    @cached_property
    def present(self) -> np.ndarray | None:
        """Array (d, n) with 0 for missing values, else 1; None if no value is missing."""
        absent = np.isnan(self.columns)
        return (~absent).astype(precision(len(self.points))) if absent.any() else None

    @cached_property
    def rows(self) -> Rows:
        """Numeric columns and categories, from which functions with values 0 and 1 are chosen."""
        codes = [category.all_codes for category in self.samples.categories]
        shape = len(self.points), len(codes)
        distance = self.whole_rows[CENTER] if self.names else np.zeros(len(self.points))
        return Rows(self.samples.numbers, np.array(codes).T.reshape(shape), distance)

    def along(self, directions: np.ndarray) -> np.ndarray:
        """Return the projections (k, n) of all standardized rows on directions (k, d)."""
        return project(self.points, np.ascontiguousarray(directions), self.n_threads)

    def random_subset(self, size: int) -> PooledSample:
        """Return a random subset of `size` rows, or all rows if there are at most `size`.

        The subset does not depend on the labels. Functions with values 0 and 1 cannot be evaluated
        on the subset, because its `samples` have all rows.
        """
        n = len(self.points)
        if n <= size:
            return self
        rows = np.sort(self.rng.choice(n, size, replace=False))
        return self._subset(rows, self.permutations.restricted(rows, self.rng))

    def balanced_subset(self, size: int) -> PooledSample:
        """Return a random subset of `size` rows with new permutations; all rows if at most `size`.

        With blocks, the given permutations are restricted to the subset. The subset has about equal
        numbers of rows of X and of Y, if both samples are large. It depends on the labels, so that
        it is used for descriptions only, not for p-values of the test.
        """
        n_x, n = self.n_x, len(self.points)
        if n <= size:
            return self
        half = size // 2
        count_x = min(n_x, max(half, size - (n - n_x)))
        count_y = min(n - n_x, size - count_x)
        x = np.sort(self.rng.choice(n_x, count_x, replace=False))
        y = n_x + np.sort(self.rng.choice(n - n_x, count_y, replace=False))
        rows, count = np.concatenate([x, y]), self.permutations.count - 1
        if self.samples.blocks is not None:
            return self._subset(rows, self.permutations.restricted(rows, self.rng))
        permutations = Permutations.draw(
            count_x, count_y, count, self.rng, n_threads=self.n_threads
        )
        return self._subset(rows, permutations)

    def _subset(self, rows: np.ndarray, permutations: Permutations) -> PooledSample:
        return replace(
            self,
            columns=self.columns[:, rows],
            points=self.points[rows],
            permutations=permutations,
            categories=[
                replace(each, codes=each.codes[rows], all_codes=each.all_codes[rows])
                for each in self.categories
            ],
        )

    @cached_property
    def whole_rows(self) -> dict[str, np.ndarray]:
        """Values (n,) of two functions of a row: the distance from the center and the column sum.

        The functions use standardized columns. Keys are the names of the functions. The sum is left
        out if there is only one column.
        """
        functions = {CENTER: np.sqrt(np.square(self.points.clip(-FAR, FAR)).sum(axis=1))}
        if self.points.shape[1] > 1:
            functions[TOTAL] = self.along(np.ones((1, self.points.shape[1])))[0]
        return functions

    def centered_ranks(self, values: np.ndarray) -> np.ndarray:
        """Return the ranks (F, n) within each row of values (F, n), scaled to (-1/2, 1/2)."""
        ranks = unit_ranks(values, self.n_threads) - 0.5
        return ranks.astype(precision(values.shape[1]), copy=False)
