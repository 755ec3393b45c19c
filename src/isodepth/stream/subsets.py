"""Random rows of two sources, kinds of their columns, and counts of rows in one pass.

A pass reads all chunks of a source once (`isodepth.stream.passes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from isodepth.base.declared import TEST
from isodepth.base.fold import Fold
from isodepth.base.seeds import rng_for
from isodepth.errors import InvalidInputError
from isodepth.stream.mixed import MixedReader, mixed_readers
from isodepth.stream.passes import FrameReading, Runner, runner_of
from isodepth.stream.profile import Profile, RandomRows, alike
from isodepth.stream.scan import as_source
from isodepth.stream.source import Source
from isodepth.table.arrow import DATES, class_of_type
from isodepth.table.frames import differing
from isodepth.table.kinds import ColumnKind, check_kinds, check_some_numeric
from isodepth.table.raw import RawChunk
from isodepth.table.validation import check_same_columns, check_same_width

# Default number of values of the random rows of a sample, and minimum number of these rows.
_VALUES, _LEAST_ROWS = 1_000_000, 10_000


def source_pair(X: Any, Y: Any) -> tuple[Source, Source]:
    """Return sources of two samples, with the columns of Y in the order of X.

    X and Y are sources, Dask collections, arrays or data frames.
    """
    x, y = as_source(X), as_source(Y)
    check_same_width(x.n_features, y.n_features)
    y = y._aligned(x.columns)
    check_same_columns(x.columns, y.columns)
    return x, y


def common_columns(
    x: Source, y: Source
) -> tuple[Source, Source, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return two sources with only their common columns, and the names of all other columns.

    The third result is a pair: the names of the columns that only `x` has, and of those that only
    `y` has. Both are empty if a source has no column names; the sources must then have the same
    number of columns.
    """
    if x.columns is None or y.columns is None or {*x.columns} == {*y.columns}:
        return *source_pair(x, y), ((), ())
    both = [name for name in x.columns if name in y.columns]
    if not both:
        raise differing(x.columns, y.columns, "X", "Y")
    only_x = tuple(name for name in x.columns if name not in both)
    only_y = tuple(name for name in y.columns if name not in both)
    return x._select(both), y._select(both), (only_x, only_y)


def stored_kinds(source: Source, names: Sequence[str]) -> dict[str, str]:
    """Return the kind of each of the columns `names`, determined by its stored type alone.

    The result maps names to "numeric", "date" or "category".
    """
    kinds = {"numbers": "numeric"} | dict.fromkeys(DATES, "date")
    types = {name: class_of_type(source._others.get(name, "double")) for name in names}
    return {name: kinds.get(stored or "", "category") for name, stored in types.items()}


def _common_names(x: Source, y: Source) -> tuple[str, ...]:
    """Return the column names of the source that has names, for two sources with the same columns.

    If no source has names, return the indices of the columns as strings.
    """
    return x._labels if y.columns is None else y._labels


def numeric_pair(
    x: Source, y: Source, kinds: Mapping[str, Any] | None, runner: Runner
) -> tuple[Source, Source, tuple[ColumnKind, ...]]:
    """Return two sources with only their numeric columns, and the kinds of all columns.

    `kinds` is the option of :func:`isodepth.compare`. Raise an error if no column is numeric.
    """
    names = _common_names(x, y)
    profiles = [Profile.of(source, _LEAST_ROWS, 0, runner, names) for source in (x, y)]
    profiles = alike(profiles, kinds)
    readers = mixed_readers(profiles, ("X", "Y"), kinds)
    columns = readers[0].columns
    check_some_numeric(columns)
    x, y = (each.numeric_source(source) for each, source in zip(readers, (x, y), strict=True))
    return x, y, columns


@dataclass(frozen=True)
class SubsetPair:
    """Random rows of two sources, and the kinds of their columns.

    Attributes
    ----------
    x, y : pyarrow.Table
        Random rows of each source, in its order, with the same columns.
    n_rows : pair of int
        Numbers of rows of the sources.
    columns : tuple of ColumnKind
        Kinds of all columns, determined for both sources together.
    kinds : dict
        Value of the option `kinds` for which the columns of `x` and `y` have the kinds `columns`.
    profiles : pair of Profile
        Profile of each source.
    readers : pair of MixedReader
        Reader of each source.
    only : pair of tuples of str
        Names of the columns that only X has, and of those that only Y has. These columns are left
        out of all other attributes.
    sources : pair of Source
        The sources, without other columns.
    random_rows : pair of RandomRows
        The random rows `x` and `y`, with their files and indices.
    """

    profiles: tuple[Profile, Profile]
    readers: tuple[MixedReader, MixedReader]
    only: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def sources(self) -> tuple[Source, Source]:
        return self.profiles[0].source, self.profiles[1].source

    @property
    def random_rows(self) -> tuple[RandomRows, RandomRows]:
        return self.profiles[0].random_rows, self.profiles[1].random_rows

    def all_categories(self) -> list[list[str]]:
        """Return the values of each categorical column, sorted, see `MixedReader.all_values`."""
        reader = self.readers[0]
        return [reader.all_values(name, self.profiles) for name in reader.categorical]

    @property
    def x(self) -> Any:
        return self.random_rows[0].table

    @property
    def y(self) -> Any:
        return self.random_rows[1].table

    @property
    def n_rows(self) -> tuple[int, int]:
        return self.random_rows[0].n_rows, self.random_rows[1].n_rows

    @property
    def columns(self) -> tuple[ColumnKind, ...]:
        return self.readers[0].columns

    @property
    def kinds(self) -> dict[str, Any]:
        return self.readers[0].kinds

    @property
    def are_arrays(self) -> bool:
        """Whether both sources are arrays, whose columns have no names."""
        return all(source._is_array for source in self.sources)

    @property
    def is_whole(self) -> bool:
        """Whether the random rows are all rows of both sources."""
        return (len(self.x), len(self.y)) == self.n_rows


def subset_pair(
    X: Any,
    Y: Any,
    max_rows: int | None = None,
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = None,
    *,
    advance: Any = None,
    n_threads: int | None = None,
) -> SubsetPair:
    """Draw a uniform random subset of the rows of each of two samples, in one pass over each.

    If the rows of both samples are exchangeable, so are the rows of both subsets, because the
    choice of rows does not depend on the values.

    Parameters
    ----------
    X, Y : sources of `scan`, Dask collections, or data that `scan` accepts
        Sources must not have weights.
    max_rows : int or None
        Maximum number of rows of each subset. None for 10^6 divided by the number of columns, but
        at least 10^4.
    kinds : dict or None
        Option of :func:`isodepth.two_sample_test`.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
    advance : function or None
        Called after each chunk, to report progress.
    n_threads : int or None
        Maximum number of threads; None for all available cores.

    Returns
    -------
    pair : SubsetPair

    Examples
    --------
    >>> import isodepth, pandas as pd
    >>> X = pd.DataFrame({"size": [1.5, 2.0] * 50, "site": ["a", "b"] * 50})
    >>> pair = subset_pair(isodepth.scan(X), X[:60], max_rows=70, random_state=0)
    >>> len(pair.x), len(pair.y), pair.n_rows, [each.kind for each in pair.columns]
    (70, 60, (100, 60), ['numeric', 'category'])
    """
    x, y, only = common_columns(as_source(X), as_source(Y))
    kinds = {k: v for k, v in check_kinds(kinds).items() if k not in (*only[0], *only[1])}
    for name, source in (("X", x), ("Y", y)):
        if source.weighted:
            raise InvalidInputError(
                f"{name} must not have weights, because rows with different weights are not "
                f"exchangeable; scan {name} without them"
            )
    if max_rows is None:
        max_rows = max(_LEAST_ROWS, _VALUES // x.n_features)
    TEST["max_rows"].check(max_rows)
    rng = rng_for(random_state, "subsamples")
    runner = runner_of(x, y, advance=advance, n_threads=n_threads)
    names = _common_names(x, y)
    profiles = [
        Profile.of(source, max_rows, int(rng.integers(2**62)), runner, names) for source in (x, y)
    ]
    profiles = alike(profiles, kinds)
    first, second = mixed_readers(profiles, ("X", "Y"), kinds)
    return SubsetPair((profiles[0], profiles[1]), (first, second), only)


# -- counts over all rows -------------------------------------------------------------------------


class MixedRows(NamedTuple):
    """Rows with d numeric columns and C category columns.

    Attributes
    ----------
    numbers : float64 ndarray of shape (n, d)
        Values of the numeric columns; NaN if missing.
    codes : float64 ndarray of shape (n, C)
        Index of each value in a list of the categories of its column. -1 for a value that is not in
        the list, NaN for a missing value.
    """

    numbers: np.ndarray
    codes: np.ndarray


class RowCounts(Protocol):
    """Protocol of objects that count rows by F functions of a row with values 0 and 1.

    The functions do not change while rows are read.
    """

    def __len__(self) -> int:
        """Return the number F of functions."""

    def counts(self, rows: Any) -> np.ndarray:
        """Return for each function the number of rows at which it is 1, as integers (F,)."""


def count_rows(
    source: Source,
    reader: MixedReader,
    categories: Sequence[Sequence[str]],
    functions: RowCounts,
    *,
    excluded: np.ndarray | None = None,
    runner: Runner | None = None,
) -> np.ndarray:
    """Count in one pass over a source the rows at which functions are 1.

    Parameters
    ----------
    source : Source
    reader : MixedReader
        Reader of this source, which converts its chunks to numbers and categories.
    categories : sequence of C sequences of str
        Values of each category column, in the order of `reader.categorical`.
    functions : RowCounts
        Object whose method `counts` receives `MixedRows`.
    excluded : int64 ndarray or None
        Sorted numbers of rows that are not counted, see `RandomRows.numbers`.
    runner : Runner or None
        Object that runs the pass; None for that of `runner_of`.

    Returns
    -------
    counts : int64 ndarray of shape (F,)
    """
    words = tuple(map(tuple, categories))
    none = np.empty(0, dtype=np.int64)
    step = CountPass(functions, reader, words, none if excluded is None else excluded)
    used, reading = reader.used_source(source), FrameReading(names=reader.used)
    counts, _ = (runner or runner_of(source)).fold(used, step, reading)
    return counts


@dataclass(frozen=True)
class CountPass(Fold):
    """Fold over a source that counts the rows at which functions are 1.

    The attributes are the parameters of `count_rows` with the same names.
    """

    functions: RowCounts
    reader: MixedReader
    categories: tuple[tuple[str, ...], ...]
    excluded: np.ndarray

    def start(self) -> np.ndarray:
        return np.zeros(len(self.functions), dtype=np.int64)

    def step(self, state: np.ndarray, rows: RawChunk, n_threads: int) -> None:
        found = mixed_rows(rows, self.reader, self.categories)
        state += self.functions.counts(found)
        if len(excluded := rows.indices_of(self.excluded)):
            state -= self.functions.counts(MixedRows(*(part[excluded] for part in found)))


def mixed_rows(
    rows: RawChunk, reader: MixedReader, categories: Sequence[Sequence[str]]
) -> MixedRows:
    """Convert the numeric columns of a chunk to numbers, and the others to codes of `categories`.

    `reader` converts the columns, and `categories` has the values of each category column.
    """
    numeric = rows.table.select(list(reader.numeric))
    numbers = reader.numbers(numeric, rows.origin, rows.start)
    return MixedRows(numbers, reader.codes(rows.table, rows.origin, categories))
