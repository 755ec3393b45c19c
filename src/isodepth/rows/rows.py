"""Rows of two samples as the user passed them, with missing values and categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from isodepth.base.annotations import KindsLike
from isodepth.device.host import to_host
from isodepth.errors import InvalidInputError
from isodepth.table.arrays import column_labels
from isodepth.table.columns import ColumnKind
from isodepth.table.kind_lines import column_lines, numeric_hint
from isodepth.table.table import Table, tables_of, typed_rows
from isodepth.table.validation import is_chunked


@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Rows of two samples as the user passed them.

    Deleted when suspicious rows, checks and tests take tables.

    Attributes
    ----------
    points : pair of ndarrays of shape (n, d) and (m, d)
        Values of the numeric columns; NaN for missing values.
    columns : tuple of str
        Names of the numeric columns; "column 0", "column 1", ... if they have no names.
    categories : dict
        For the name of each categorical column, the list of values of X and that of Y. Values are
        strings, or None if missing.
    kinds : tuple of ColumnKind
        Kind and use of every column that both samples have; empty if columns have no names.
    only : pair of tuples of str
        Names of the columns that only X has, and of those that only Y has.
    named : bool
        Whether the numeric columns have names in the data.
    typed : pair of pyarrow.Table or None
        Columns of tables of text files with the types that the schema has; None for other data.
    """

    points: tuple[np.ndarray, np.ndarray]
    columns: tuple[str, ...]
    categories: dict[str, list[list[str | None]]]
    kinds: tuple[ColumnKind, ...] = ()
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    named: bool = True
    typed: tuple[Any, Any] = (None, None)

    @property
    def n_rows(self) -> tuple[int, int]:
        """Number of rows of each sample."""
        return len(self.points[0]), len(self.points[1])

    @property
    def has_all_columns(self) -> bool:
        """Whether all columns of both samples are compared, so that equal rows are copies."""
        compared = {*self.columns, *self.categories}
        return not any(self.only) and {kind.column for kind in self.kinds} <= compared

    def without_names(self) -> TwoSamples:
        """Return the samples with the numeric columns named "column 0", "column 1", ..."""
        names = dict(zip(self.columns, column_labels(len(self.columns)), strict=True))
        kinds = (replace(each, column=names.get(each.column, each.column)) for each in self.kinds)
        return replace(self, columns=tuple(names.values()), kinds=tuple(kinds), named=False)

    @classmethod
    def read(
        cls,
        X: Any,
        Y: Any,
        kinds: KindsLike | None = None,
        *,
        common: bool = False,
        row_numbers: bool = True,
    ) -> TwoSamples:
        """Read two samples in memory. Missing values are kept, as NaN and None.

        Parameters
        ----------
        X, Y : array-likes, data frames or tensors, with n and m rows
            The columns of data frames are matched by name.
        kinds : dict or None
            Option of :func:`isodepth.two_sample_test`.
        common : bool
            Whether to leave out columns that only one sample has. Otherwise they are an error.
        row_numbers : bool
            Whether to leave out integers that number the rows. False if the kinds were determined
            from other rows.

        Examples
        --------
        >>> import pandas as pd
        >>> X = pd.DataFrame({"delay": [1.0, None], "carrier": ["AA", "UA"], "seats": [9, 8]})
        >>> Y = pd.DataFrame({"carrier": ["UA", None, "AA"], "delay": [5.0, 6.0, 7.0]})
        >>> samples = TwoSamples.read(X, Y, common=True)
        >>> samples.columns, samples.points[0].tolist(), samples.only
        (('delay',), [[1.0], [nan]], (('seats',), ()))
        >>> samples.categories
        {'carrier': [['AA', 'UA'], ['UA', None, 'AA']]}
        """
        if is_chunked(X) or is_chunked(Y):
            raise InvalidInputError(
                "both samples must be in memory, but X or Y is read in chunks; pass a part of the "
                "rows as arrays or data frames"
            )
        X, Y = to_host(X), to_host(Y)
        return cls.of(*tables_of(X, Y, kinds=kinds, common=common, row_numbers=row_numbers))

    @classmethod
    def of(cls, x: Table, y: Table) -> TwoSamples:
        """Return two tables of one schema as `TwoSamples`."""
        schema = x.schema
        kinds = schema.kinds[: len(schema.columns)]
        if not schema.names:
            raise InvalidInputError(
                "X and Y must have a column of numbers or categories, got neither; "
                f"{'; '.join([*column_lines(kinds), *numeric_hint(kinds)])}"
            )
        categories = {name: [x.texts(name), y.texts(name)] for name in schema.category_names}
        only = [
            tuple(c.name for c in schema.unmatched if c.notes[0].values["sample"] == sample)
            for sample in "XY"
        ]
        points = (x.numbers, y.numbers)
        dtype = np.result_type(*points)
        points = (points[0].astype(dtype, copy=False), points[1].astype(dtype, copy=False))
        typed = (typed_rows(x), typed_rows(y))
        return cls(
            points, schema.numeric_names, categories, kinds, (only[0], only[1]), schema.named, typed
        )

    def numbers(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of one numeric column in X and in Y, without missing values."""
        j = self.columns.index(column)
        x, y = (points[:, j] for points in self.points)
        return x[~np.isnan(x)], y[~np.isnan(y)]


def category_codes(
    categories: dict[str, list[list[str | None]]], n_rows: Sequence[int]
) -> tuple[list[np.ndarray], list[list[str]]]:
    """Return the codes of k category columns in both samples, and the values of each column.

    The codes have shapes (n, k) and (m, k), for n and m rows. They are indices in the list of the
    values of the column, which has the order of first occurrence. Missing values have the code -1.
    """
    codes = [np.full((n, len(categories)), -1, dtype=np.int64) for n in n_rows]
    labels = []
    for c, both in enumerate(categories.values()):
        distinct = [v for v in dict.fromkeys(chain.from_iterable(both)) if v is not None]
        index: dict[str | None, int] = {v: code for code, v in enumerate(distinct)}
        index[None] = -1
        for part, values in zip(codes, both, strict=True):
            part[:, c] = np.fromiter(map(index.__getitem__, values), np.int64, len(values))
        labels.append(distinct)
    return codes, labels
