"""Batches in the columns of the reference: matched by name first, then checked for their kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isodepth.chunked.passes import Preparation
from isodepth.chunked.reading import load_rows
from isodepth.chunked.scan import as_source
from isodepth.data.arrays import column_labels
from isodepth.data.frames import Table, differing, in_order, labels_of
from isodepth.data.kinds import ColumnKind, MixedFrames, category_values, split_columns
from isodepth.data.validation import OMIT_HINT, check_same_width, is_chunked, read_sample
from isodepth.errors import InvalidInputError
from isodepth.monitor.functions import MISSING, UNSEEN, Rows

_CHUNK_ROWS = 1 << 15
_KINDS_HINT = "Kinds are set when a monitor is fitted. The batch was not counted"
_BATCH_HINT = "; fit the monitor with nan_policy='omit' to count missing values as a change"
_REFERENCE, _BATCH = "the reference", "the batch"


@dataclass(frozen=True)
class BatchReader:
    """Columns of the reference."""

    #: Number of numeric columns, and their names; None for plain arrays.
    width: int
    columns: tuple[str, ...] | None
    nan_policy: str
    #: Values of each category column in the reference.
    categories: dict[str, tuple[str, ...]]
    #: Every column of a reference that was a data frame.
    kinds: tuple[ColumnKind, ...] = ()

    @classmethod
    def of_reference(
        cls, reference: Any, nan_policy: str, kinds: Any, memory_mb: float, seed: int | None
    ) -> tuple[BatchReader, Rows]:
        """Return the reader and the rows of the reference.

        Of a source that does not fit into `memory_mb`, rows are drawn with `seed`.
        """
        if is_chunked(reference):
            split_columns([reference], [_REFERENCE], kinds)  # refuses kinds
            reference = load_rows(reference, "reference", "float64", nan_policy, memory_mb, seed)
        mixed = split_columns([reference], [_REFERENCE], kinds)
        mixed = mixed or MixedFrames([reference], {}, ())
        strings = {column: samples[0] for column, samples in mixed.categories.items()}
        reader = cls(0, None, nan_policy, {}, mixed.columns)
        points, columns = reader._read_numbers(mixed.numeric[0], _REFERENCE, strings)
        if strings:
            columns = tuple(each.column for each in mixed.columns if each.use == "numbers")
        values = {c: tuple(sorted({v for v in own if v is not None})) for c, own in strings.items()}
        reader = replace(reader, width=points.shape[1], columns=columns, categories=values)
        return reader, reader._rows(points, strings, _REFERENCE)[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, categories last."""
        return (*(self.columns or column_labels(self.width)), *self.categories)

    def read(self, batch: Any) -> tuple[Iterable[Rows], dict[int, str]]:
        """Return the rows of a batch, in chunks if it is a source.

        Also the most frequent value among those that the reference does not have, for each
        category column with such values.
        """
        if is_chunked(batch) and not self.categories:
            return self._read_source(batch), {}
        batch = self._matched(batch)
        kinds = {
            each.column: "category" if each.use == "shares" else each.given
            for each in self.kinds
            if each.column in self.names and (each.use == "shares" or each.given is not None)
        }
        try:
            mixed = split_columns([batch], [_BATCH], kinds)
        except InvalidInputError as error:
            raise InvalidInputError(f"{error}. {_KINDS_HINT}") from None
        if mixed is not None:
            self._check_kinds(batch, mixed)
        mixed = mixed or MixedFrames([batch], {}, ())
        strings = {column: mixed.categories[column][0] for column in self.categories}
        numbers = mixed.numeric[0]
        if numbers is not None:
            numbers = in_order(numbers, self.columns, _BATCH, _REFERENCE)
        points, _ = self._read_numbers(numbers, _BATCH, strings)
        check_same_width(self.width, points.shape[1], _REFERENCE, _BATCH)
        rows, unseen = self._rows(points, strings, _BATCH)
        return [rows], unseen

    def _matched(self, batch: Any) -> Any:
        """Select the columns of the reference by name; other columns are ignored."""
        labels = labels_of(batch)
        if self.categories and labels is None:
            raise InvalidInputError(
                f"the reference has the columns {', '.join(self.names)}, some of them categories, "
                f"and the batch is not a data frame but {type(batch).__name__}; give a data frame"
            )
        if self.columns is None or labels is None or len(set(labels)) < len(labels):
            return batch
        if not set(self.names) <= set(labels):
            if len(labels) == self.width and not self.categories:
                return in_order(batch, self.columns, _BATCH, _REFERENCE)
            common = tuple(label for label in labels if label in self.names)
            raise differing(self.names, common or labels, _REFERENCE, _BATCH)
        if len(labels) == len(self.names):
            return batch
        at = [labels.index(column) for column in self.names]
        if isinstance(batch, Table):
            return Table(batch.points[:, at], self.names)
        frame = _narwhals_frame(batch)
        return frame.select([frame.get_column(frame.columns[i]) for i in at]).to_native()

    def _check_kinds(self, batch: Any, mixed: MixedFrames) -> None:
        """Refuse columns of another kind than in the reference, unless all values are missing."""
        dtypes = {str(label): dtype for label, dtype in _narwhals_frame(batch).schema.items()}
        expected = {c: ColumnKind(c, "numeric", "numbers") for c in self.columns or ()}
        expected |= {each.column: each for each in self.kinds if each.column in self.names}
        for each in mixed.columns:
            wanted = expected.get(each.column, each)
            kinds = None
            if wanted.use == "numbers" and each.use != "numbers":
                kinds = "numbers", "categories" if each.use == "shares" else each.note or each.kind
            elif wanted.use == "shares" and wanted.given is None:
                dtype = dtypes[each.column]
                if (dtype.is_numeric() or dtype.is_temporal()) and any(
                    mixed.categories[each.column][0]
                ):
                    kinds = "categories", "numbers" if dtype.is_numeric() else "dates"
            if kinds is not None:
                raise InvalidInputError(
                    f"column {each.column!r} holds {kinds[0]} in the reference and {kinds[1]} in "
                    "the batch; convert it, or fit a new monitor without the column, or with "
                    f"kinds={{{each.column!r}: 'category'}} (--category {each.column}). "
                    f"{_KINDS_HINT}"
                )

    def _read_source(self, batch: Any) -> Iterator[Rows]:
        source = as_source(batch)
        if source.weighted:
            raise InvalidInputError("a monitor counts rows; scan the batch without weights")
        if self.columns is not None and source.columns is not None:
            if not set(self.columns) <= set(source.columns):
                raise differing(self.columns, source.columns, _REFERENCE, _BATCH)
            parts = tuple(replace(part, labels=self.columns) for part in source.parts)
            source = replace(source, parts=parts, columns=self.columns, n_features=self.width)
        check_same_width(self.width, source.n_features, _REFERENCE, _BATCH)
        how = Preparation.of(source, "float64", self.nan_policy)
        empty = True
        for chunk in source.chunks(_CHUNK_ROWS):
            points = how.split(chunk)[0]
            if len(points):
                empty = False
                yield self._rows(points, {}, _BATCH)[0]
        if empty:
            raise InvalidInputError(f"the batch ({source.label}) has no row; it needs at least one")

    def _rows(
        self, points: np.ndarray, strings: dict[str, list[str | None]], name: str
    ) -> tuple[Rows, dict[int, str]]:
        codes = np.empty((len(points), len(self.categories)), np.int64)
        unseen: dict[int, str] = {}
        for c, (column, categories) in enumerate(self.categories.items()):
            values = strings[column]
            if self.nan_policy == "raise" and None in values:
                category_values(values, column, name, "raise")
            code: dict[str | None, int] = {value: i for i, value in enumerate(categories)}
            code[None] = MISSING
            codes[:, c] = [code.get(value, UNSEEN) for value in values]
            if new := Counter(str(value) for value in values if value not in code):
                unseen[c] = max(new, key=lambda value: (new[value], value))
        return Rows(points, codes), unseen

    def _read_numbers(
        self, numbers: Any, name: str, strings: dict[str, Any]
    ) -> tuple[np.ndarray, tuple[str, ...] | None]:
        """Numeric columns (m, d) as float64, and their names."""
        if numbers is None:
            if not strings:
                raise InvalidInputError(
                    f"{name} has neither numeric columns nor categories; select other columns"
                )
            return np.empty((len(next(iter(strings.values()))), 0)), ()
        policy = "keep" if self.nan_policy == "omit" else "raise"
        hint = OMIT_HINT if name == _REFERENCE else _BATCH_HINT
        return read_sample(numbers, None, name, "float64", policy, hint=hint)[:2]


def _narwhals_frame(batch: Any) -> Any:
    import narwhals as nw

    return nw.from_native(batch, eager_only=True)
