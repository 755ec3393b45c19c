"""Random rows of sources as tables of one schema, and counts of rows in one pass.

A pass reads all chunks of a source once. The same pass draws random rows and looks at the values of
all rows, from which the kinds of the columns are decided for all sources together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from isodepth.base.declared import TEST
from isodepth.base.fold import Fold, Together
from isodepth.base.seeds import rng_for
from isodepth.errors import InvalidInputError
from isodepth.stream.passes import Runner, place_and_row, row_keys, runner_of
from isodepth.stream.scan import as_source
from isodepth.stream.source import Source
from isodepth.table.arrow import DATES, class_of_type
from isodepth.table.columns import ColumnKind
from isodepth.table.frames import differing
from isodepth.table.kind_lines import check_kinds, check_some_numeric
from isodepth.table.raw import RawChunk
from isodepth.table.rules import MOST_CATEGORIES
from isodepth.table.table import Schema, Table, matched_names, profiles_of, typed_columns
from isodepth.table.validation import check_same_columns, check_same_width

# Default number of values of the random rows of a sample, and minimum number of these rows.
_VALUES, _LEAST_ROWS = 1_000_000, 10_000
# Types of columns that are read as numbers without a schema.
_NUMBER_TYPES = (None, "int64", "double")


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


def numeric_pair(
    x: Source, y: Source, kinds: Mapping[str, Any] | None, runner: Runner
) -> tuple[Source, Source, tuple[ColumnKind, ...]]:
    """Return two sources with only their numeric columns, and the kinds of all columns.

    `kinds` is the option of :func:`isodepth.compare`. Raise an error if no column is numeric.
    """
    sources = [replace(source, _runner=runner) for source in (x, y)]
    schema = Schema.of(*sources, kinds=kinds)
    columns = tuple(column.described for column in schema.columns)
    check_some_numeric(columns)
    numeric = Schema(schema.numeric, schema.named)
    plain = all(c.option is None and c.text_type in _NUMBER_TYPES for c in numeric.columns)
    plain = plain and not any(part.missing for source in sources for part in source._parts)
    (*names, common), _ = matched_names(sources, ("X", "Y"), False)
    x, y = (
        source._select(
            [own[common.index(name)] for name in schema.numeric_names], None if plain else numeric
        )
        for source, own in zip((x, y), names, strict=True)
    )
    return x, y, columns


# -- random rows ----------------------------------------------------------------------------------


@dataclass
class Reservoir:
    """State of `ReservoirFold`: the rows with the smallest random keys.

    Attributes
    ----------
    n_rows : Counter of int
        Number of rows of each file, array or partition, by its index.
    pieces : list of (keys, chunk numbers, RawChunk)
        Blocks of random rows: random keys (m,), row numbers (m,), see `RawChunk.number`, and the
        rows.
    limit : float
        Upper bound on the random keys of the rows.
    """

    n_rows: Counter[int] = field(default_factory=Counter)
    pieces: list[tuple[np.ndarray, np.ndarray, RawChunk]] = field(default_factory=list)
    limit: float = 1.0


@dataclass(frozen=True)
class ReservoirFold(Fold):
    """Fold that draws a uniform random subset of the rows.

    Each row has a random key, which depends on the number of the row and on the seed, and the
    subset consists of the rows with the smallest keys. It does not depend on the size of the chunks
    or on the number of threads.

    Attributes
    ----------
    capacity : int
        Number of rows of the subset.
    seed : int
        Seed of the random keys.
    """

    capacity: int
    seed: int

    def start(self) -> Reservoir:
        return Reservoir()

    def step(self, state: Reservoir, chunk: RawChunk, n_threads: int) -> None:
        state.n_rows[chunk.place] += chunk.n_rows
        keys = row_keys(self.seed, chunk.number, chunk.n_rows)
        near = np.flatnonzero(keys <= state.limit)
        if len(near):
            kept = chunk._replace(table=chunk.table.take(near))
            state.pieces.append((keys[near], chunk.number + near, kept))
            self._settle(state, 2 * self.capacity)

    def merge(self, state: Reservoir, other: Reservoir) -> None:
        state.n_rows += other.n_rows
        state.pieces += other.pieces
        state.limit = min(state.limit, other.limit)
        self._settle(state, 2 * self.capacity)

    def finish(self, state: Reservoir) -> Reservoir:
        self._settle(state, self.capacity)
        state.pieces.sort(key=lambda piece: int(piece[1][0]))
        return state

    def _settle(self, state: Reservoir, most: int) -> None:
        """Reduce the rows to the `capacity` rows with the smallest keys if there are over `most`.

        Of rows with equal keys, those with the smallest numbers come first.
        """
        if sum(len(keys) for keys, *_ in state.pieces) <= most:
            return
        keys, numbers = (np.concatenate([piece[i] for piece in state.pieces]) for i in (0, 1))
        order = np.lexsort((numbers, keys))[: self.capacity]
        state.limit = float(keys[order[-1]])
        kept = np.zeros(len(keys), dtype=bool)
        kept[order] = True
        masks = np.split(kept, np.cumsum([len(piece[0]) for piece in state.pieces])[:-1])
        state.pieces = [
            (own[mask], numbers[mask], chunk._replace(table=chunk.table.filter(mask)))
            for (own, numbers, chunk), mask in zip(state.pieces, masks, strict=True)
            if mask.any()
        ]


@dataclass(frozen=True)
class RandomRows:
    """Random rows of one or two sources, as tables of one schema.

    Attributes
    ----------
    schema : Schema
        Columns of all sources, decided from all of their rows together.
    sources : tuple of Source
        The sources, with only their common columns.
    reservoirs : tuple of Reservoir
        Random rows of each source as they were read.
    only : pair of tuples of str
        Names of the columns that only X has, and of those that only Y has.
    """

    schema: Schema
    sources: tuple[Source, ...]
    reservoirs: tuple[Reservoir, ...]
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def n_rows(self) -> Any:
        """Numbers of rows of the sources, as a tuple."""
        return tuple(reservoir.n_rows.total() for reservoir in self.reservoirs)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Random rows of each source, in its order."""
        labels = self.schema.reference.split(" and ")
        return tuple(
            self._table(*each) for each in zip(self.sources, self.reservoirs, labels, strict=True)
        )

    def _table(self, source: Source, reservoir: Reservoir, label: str) -> Table:
        import pyarrow as pa

        tables, raw = [], []
        for _, numbers, chunk in reservoir.pieces:
            table = self.schema.table(chunk, label)
            tables.append(replace(table, origin=replace(table.origin, numbers=numbers)))
            raw.append(typed_columns(chunk, self.schema))
        pooled = Table.pooled(*tables)
        names = {part.place: part.origin for part in reversed(source._parts)}
        files = tuple(names.get(place, "") for place in range(max(names) + 1))
        rows = pa.concat_tables(raw, promote_options="permissive")
        return replace(pooled, origin=replace(pooled.origin, files=files, raw=rows))

    def locate(self, side: int, numbers: np.ndarray) -> np.ndarray:
        """Return the indices of rows (m,) in a source, given their numbers (m,).

        See `RawChunk.number`.
        """
        place, row = place_and_row(numbers)
        counts = self.reservoirs[side].n_rows
        before = np.cumsum([0, *(counts[each] for each in sorted(counts))])
        return before[np.searchsorted(sorted(counts), place)] + row

    @property
    def x(self) -> Any:
        """Random rows of X as they were read, as a pyarrow table."""
        return self.tables[0].origin.raw

    @property
    def y(self) -> Any:
        """Random rows of Y as they were read, as a pyarrow table."""
        return self.tables[1].origin.raw

    def indices(self, side: int) -> np.ndarray:
        """Return the indices of the random rows (m,) in their source."""
        return self.locate(side, self.tables[side].origin.row_numbers(0))

    @property
    def are_arrays(self) -> bool:
        """Whether all sources are arrays, whose columns have no names."""
        return all(source._is_array for source in self.sources)

    @property
    def is_whole(self) -> bool:
        """Whether the random rows are all rows of the sources."""
        return tuple(map(len, self.tables)) == self.n_rows

    def all_categories(self) -> list[list[str]]:
        """Return the values of each category column in all rows of all sources, sorted.

        If there are more than 200 values, return those of the random rows instead. The choice does
        not depend on which source has a row.
        """
        found = []
        for c, column in enumerate(self.schema.categorical):
            values = [*column.categories]
            if len(values) > MOST_CATEGORIES:
                codes = np.unique(np.concatenate([table.codes[:, c] for table in self.tables]))
                values = [values[code] for code in codes.tolist() if 0 <= code < len(values)]
            found.append(values)
        return found


def random_rows(
    *sources: Source,
    labels: Sequence[str],
    max_rows: int,
    seeds: Sequence[int],
    kinds: Mapping[str, Any] | None = None,
    runner: Runner | None = None,
) -> RandomRows:
    """Draw random rows of sources with the same columns, in one pass over each.

    Parameters
    ----------
    sources : Source
    labels : sequence of str
        Names of the sources in messages.
    max_rows : int
        Maximum number of random rows of each source.
    seeds : sequence of int
        Seed of the random rows of each source.
    kinds : dict or None
        Option of :func:`isodepth.two_sample_test`.
    runner : Runner or None
        Object that runs the passes; None for that of `runner_of`.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> source = isodepth.scan([np.arange(6.0).reshape(3, 2), np.arange(4.0).reshape(2, 2)])
    >>> rows = random_rows(source, labels=["X"], max_rows=3, seeds=[6])
    >>> rows.n_rows, len(rows.tables[0]), rows.is_whole
    ((5,), 3, False)
    """
    sources = tuple(replace(source, _runner=runner) for source in sources)
    names, _ = matched_names(sources, labels, False)
    reservoirs: list[Reservoir] = []

    def run(at: int, fold: Fold, own: Sequence[str]) -> Any:
        if at < len(reservoirs):
            return sources[at]._run(fold, own)
        profile, reservoir = sources[at]._run(
            Together(fold, ReservoirFold(max_rows, seeds[at])), own
        )
        if not reservoir.pieces:
            raise InvalidInputError(
                f"{sources[at]._label} is empty: it has no row; a sample needs at least one row"
            )
        reservoirs.append(reservoir)
        return profile

    given = check_kinds(kinds)
    named = any(source._named for source in sources)
    profiles = profiles_of(names, given, run)
    schema = Schema.decided(names[-1], profiles, labels, given, named, named)
    schema.warn()
    sources = tuple(replace(source, _runner=None) for source in sources)
    return RandomRows(schema, sources, tuple(reservoirs))


def subset_pair(
    X: Any,
    Y: Any,
    max_rows: int | None = None,
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = None,
    *,
    advance: Any = None,
    n_threads: int | None = None,
) -> RandomRows:
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
    rows : RandomRows

    Examples
    --------
    >>> import isodepth, pandas as pd
    >>> X = pd.DataFrame({"size": [1.5, 2.0] * 50, "site": ["a", "b"] * 50})
    >>> pair = subset_pair(isodepth.scan(X), X[:60], max_rows=70, random_state=0)
    >>> [len(table) for table in pair.tables], pair.n_rows, [c.kind for c in pair.schema.columns]
    ([70, 60], (100, 60), ['numeric', 'category'])
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
    seeds = [int(rng.integers(2**62)) for _ in range(2)]
    runner = runner_of(x, y, advance=advance, n_threads=n_threads)
    rows = random_rows(
        x, y, labels=("X", "Y"), max_rows=max_rows, seeds=seeds, kinds=kinds, runner=runner
    )
    return replace(rows, only=only)


# -- counts over all rows -------------------------------------------------------------------------


class MixedRows(NamedTuple):
    """Rows with d numeric columns and C category columns.

    Deleted when functions of a row take tables.

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


@dataclass(frozen=True)
class CountFold(Fold):
    """Fold over tables that counts the rows at which functions are 1.

    Attributes
    ----------
    functions : RowCounts
        Object whose method `counts` receives `MixedRows`.
    categories : sequence of C sequences of str
        Values of each category column whose indices are the codes.
    excluded : int64 ndarray
        Sorted numbers of rows that are not counted, see `RawChunk.number`.
    """

    functions: RowCounts
    categories: Sequence[Sequence[str]]
    excluded: np.ndarray

    def start(self) -> np.ndarray:
        return np.zeros(len(self.functions), dtype=np.int64)

    def step(self, state: np.ndarray, table: Table, n_threads: int) -> None:
        # In Fortran order: columns are written and read one by one.
        codes = np.empty(table.codes.shape, order="F")
        for c, known in enumerate(self.categories):
            index = {word: float(code) for code, word in enumerate(known)}
            places = [*(index.get(word, -1.0) for word in table.words(c)), np.nan]
            codes[:, c] = np.array(places)[table.codes[:, c]]
        state += self.functions.counts(MixedRows(table.numbers, codes))
        if len(rows := table.origin.indices_of(self.excluded, len(table))):
            state -= self.functions.counts(MixedRows(table.numbers[rows], codes[rows]))
