"""Batches in the columns of the reference: matched by name first, then checked for their kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.passes import Preparation
from isodepth.chunked.reading import load_rows
from isodepth.chunked.scan import as_source
from isodepth.data.arrays import column_labels
from isodepth.data.frames import Table, differing, in_order, labels_of
from isodepth.data.kinds import ColumnKind, MixedFrames, category_values, split_columns
from isodepth.data.validation import (
    OMIT_HINT,
    check_same_width,
    is_chunked,
    read_sample,
)  # fmt: skip
from isodepth.errors import InvalidInputError
from isodepth.monitor.functions import Rows

_CHUNK_ROWS = 1 << 15
_KINDS_HINT = "Kinds are set when a monitor is fitted. The batch was not counted"
_BATCH_HINT = "; fit the monitor with nan_policy='omit' to count missing values as a change"


class BatchRows(NamedTuple):
    """A part of a batch."""

    #: Codes are indices among the categories of the whole reference.
    rows: Rows
    #: Rows with each value that the reference does not have, by the index of the category column.
    unseen: Counter[tuple[int, str]]


@dataclass(frozen=True)
class BatchReader:
    """Columns of the reference."""

    #: Number of numeric columns.
    width: int
    #: Their names, None for plain arrays.
    columns: tuple[str, ...] | None
    #: {"raise", "omit"}.
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
        name = "the reference"
        if is_chunked(reference):
            split_columns([reference], [name], kinds)  # refuses kinds
            reference = load_rows(reference, "reference", "float64", nan_policy, memory_mb, seed)
        mixed = split_columns([reference], [name], kinds)
        texts = {} if mixed is None else {c: own[0] for c, own in mixed.categories.items()}
        numbers = reference if mixed is None else mixed.numeric[0]
        points, columns = _read_numbers(numbers, name, nan_policy, OMIT_HINT, texts)
        found = () if mixed is None else mixed.columns
        if texts:
            columns = tuple(each.column for each in found if each.use == "numbers")
        values = {c: tuple(sorted({v for v in own if v is not None})) for c, own in texts.items()}
        reader = cls(points.shape[1], columns, nan_policy, values, found)
        return reader, reader._rows(points, texts, name).rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, categories last."""
        return (*(self.columns or column_labels(self.width)), *self.categories)

    def read(self, batch: Any) -> Iterator[BatchRows]:
        """Iterate over the rows of a batch, in chunks if it is a source."""
        name = "the batch"
        if is_chunked(batch) and not self.categories:
            yield from self._read_source(batch)
            return
        batch = self._matched(batch, name)
        given = {
            each.column: "category" if each.use == "shares" else each.given
            for each in self.kinds
            if each.column in self.names and (each.use == "shares" or each.given is not None)
        }
        try:
            mixed = split_columns([batch], [name], given)
        except InvalidInputError as error:
            raise InvalidInputError(f"{error}. {_KINDS_HINT}") from None
        texts: dict[str, list[str | None]] = {}
        numbers = batch
        if mixed is not None:
            self._check_kinds(batch, mixed)
            texts = {column: mixed.categories[column][0] for column in self.categories}
            numbers = mixed.numeric[0]
        if numbers is not None:
            numbers = in_order(numbers, self.columns, name, "the reference")
        points, _ = _read_numbers(numbers, name, self.nan_policy, _BATCH_HINT, texts)
        check_same_width(self.width, points.shape[1], "the reference", name)
        yield self._rows(points, texts, name)

    def _matched(self, batch: Any, name: str) -> Any:
        """Select the columns of the reference by name; other columns are ignored."""
        labels = labels_of(batch)
        if self.categories and labels is None:
            raise InvalidInputError(
                f"the reference has the columns {', '.join(self.names)}, some of them categories, "
                f"and {name} is not a data frame but {type(batch).__name__}; give a data frame"
            )
        if self.columns is None or labels is None or len(set(labels)) < len(labels):
            return batch
        if not set(self.names) <= set(labels):
            if len(labels) == self.width and not self.categories:
                return in_order(batch, self.columns, name, "the reference")
            raise differing(self.names, tuple(c for c in labels if c in self.names) or labels,
                            "the reference", name)  # fmt: skip
        if len(labels) == len(self.names):
            return batch
        if isinstance(batch, Table):
            at = [labels.index(column) for column in self.names]
            return Table(batch.points[:, at], self.names)
        frame, series = _open_frame(batch)
        return frame.select([series[column] for column in self.names]).to_native()

    def _check_kinds(self, batch: Any, found: MixedFrames) -> None:
        """Refuse columns of another kind than in the reference, unless all values are missing."""
        _, series = _open_frame(batch)
        expected = {c: ColumnKind(c, "numeric", "numbers") for c in self.columns or ()}
        expected |= {each.column: each for each in self.kinds if each.column in self.names}
        for each in found.columns:
            wanted = expected.get(each.column, each)
            if wanted.use == "numbers" and each.use != "numbers":
                kinds = "numbers", "categories" if each.use == "shares" else each.note or each.kind
            elif wanted.use == "shares" and wanted.given is None:
                dtype, values = series[each.column].dtype, found.categories[each.column][0]
                kinds = "categories", "numbers" if dtype.is_numeric() else "dates"
                if not (dtype.is_numeric() or dtype.is_temporal()) or not any(values):
                    continue
            else:
                continue
            raise InvalidInputError(
                f"column {each.column!r} holds {kinds[0]} in the reference and {kinds[1]} in the "
                "batch; convert it, or fit a new monitor without the column, or with "
                f"kinds={{{each.column!r}: 'category'}} (--category {each.column}). {_KINDS_HINT}"
            )

    def _read_source(self, batch: Any) -> Iterator[BatchRows]:
        source = as_source(batch)
        if source.weighted:
            raise InvalidInputError("a monitor counts rows; scan the batch without weights")
        if self.columns is not None and source.columns is not None:
            if not set(self.columns) <= set(source.columns):
                raise differing(self.columns, source.columns, "the reference", "the batch")
            parts = tuple(replace(part, labels=self.columns) for part in source.parts)
            source = replace(source, parts=parts, columns=self.columns, n_features=self.width)
        check_same_width(self.width, source.n_features, "the reference", "the batch")
        how = Preparation.of(source, "float64", self.nan_policy)
        count = 0
        for chunk in source.chunks(_CHUNK_ROWS):
            points = how.split(chunk)[0]
            count += len(points)
            if len(points):
                yield self._rows(points, {}, "the batch")
        if not count:
            raise InvalidInputError(f"the batch ({source.label}) has no row; it needs at least one")

    def _rows(self, points: np.ndarray, texts: dict[str, list[str | None]], name: str) -> BatchRows:
        codes = np.empty((len(points), len(self.categories)), np.int64)
        unseen: Counter[tuple[int, str]] = Counter()
        for c, (column, known) in enumerate(self.categories.items()):
            values = texts[column]
            if self.nan_policy == "raise" and None in values:
                category_values(values, column, name, "raise")
            places: dict[str | None, int] = {value: place for place, value in enumerate(known)}
            places[None] = -1
            codes[:, c] = [places.get(value, len(known)) for value in values]
            if len(values) and codes[:, c].max() == len(known):
                unseen.update((c, str(value)) for value in values if value not in places)
        return BatchRows(Rows(points, codes), unseen)


def _read_numbers(
    numbers: Any, name: str, nan_policy: str, hint: str, texts: dict[str, Any]
) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Numeric columns (m, d) as float64, and their names."""
    if numbers is None:
        if not texts:
            raise InvalidInputError(
                f"{name} has neither numeric columns nor categories; select other columns"
            )
        return np.empty((len(next(iter(texts.values()))), 0)), ()
    policy = "keep" if nan_policy == "omit" else "raise"
    return read_sample(numbers, None, name, "float64", policy, hint=hint)[:2]


def _open_frame(batch: Any) -> tuple[Any, dict[str, Any]]:
    """Narwhals frame of a data frame, and its columns by name."""
    import narwhals as nw

    frame = nw.from_native(batch, eager_only=True)
    return frame, {str(label): frame.get_column(label) for label in frame.columns}
