"""Rows of the reference and of batches as arrays with the same columns, matched by name.

A category column is converted to codes: the indices of its values among the categories of the
reference, or negative codes of values that the reference lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.base.messages import InPython, Message
from isodepth.base.words import FEW, listed, numbered
from isodepth.errors import InvalidInputError
from isodepth.metric.chunked.reading import load_table, refuse_weights
from isodepth.monitor.repeated import unseen_code
from isodepth.stream.scan import as_source
from isodepth.table.columns import ColumnKind
from isodepth.table.frames import NamedArray, Names, labels_of
from isodepth.table.table import Schema, Table, tables_of
from isodepth.table.validation import check_same_width, is_chunked

_NOT_COUNTED = ". The batch was not counted"
_KINDS_HINT = f". Kinds are set when a monitor is fitted{_NOT_COUNTED}"
_REFERENCE_HINT = Message(", or accept them with {--nan_policy='keep'}")
_BATCH_HINT = Message(
    "; fit the monitor with {--nan_policy='keep'} to count missing values as a change"
)
_REFERENCE, _BATCH = "the reference", "the batch"


@dataclass(frozen=True)
class BatchReader:
    """Schema of the reference, and methods that read batches as arrays with the same columns."""

    nan_policy: str  # "keep" or "raise"
    schema: Schema

    @classmethod
    def of_reference(
        cls, reference: Any, nan_policy: str, kinds: Any, seed: int | None
    ) -> tuple[BatchReader, np.ndarray]:
        """Return the reader and the rows of the reference, with category columns last, as codes.

        `seed` selects a random subset of the rows if a source does not fit into memory. If the seed
        is None, such a source raises an error.
        """
        if is_chunked(reference):
            source = as_source(reference)
            refuse_weights(source, "reference")
            table = load_table(source, "reference", kinds, seed)
        else:
            (table,) = tables_of(reference, labels=[_REFERENCE], kinds=kinds)
        if not table.schema.names:
            raise InvalidInputError(
                f"{_REFERENCE} has no numeric columns or categories; it needs at least one"
            )
        reader = cls(nan_policy, table.schema)
        return reader, reader._rows(table, _REFERENCE_HINT)[0]

    # -- columns -----------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Number of numeric columns."""
        return len(self.schema.numeric)

    @property
    def columns(self) -> Names:
        """Names of the numeric columns; None if the columns have no names."""
        return self.schema.numeric_names if self.schema.named else None

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """For each category column, its values in the reference."""
        return {column.name: column.categories for column in self.schema.categorical}

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """Kinds of all columns of a data frame; empty for an array."""
        return self.schema.kinds

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, categories last."""
        return self.schema.names

    @property
    def columns_in_order(self) -> Names:
        """Names of all columns in the order of the reference; None if they have no names."""
        if not self.schema.named:
            return None
        return tuple(each.name for each in self.schema.columns if each.use != "omit")

    # -- batches -----------------------------------------------------------------------------------

    def read(self, batch: Any) -> tuple[Iterable[np.ndarray], dict[int, Counter[str]]]:
        """Return an iterable of chunks of rows, and the counts of new categories by column index.

        The dictionary of counts is complete after all chunks have been read.
        """
        unseen: dict[int, Counter[str]] = {}
        if not is_chunked(batch):
            self._check_columns(batch, labels_of(batch))
            try:
                table = self._used.read(batch, _BATCH, hint=_KINDS_HINT)
            except InvalidInputError as error:
                if _NOT_COUNTED in str(error):
                    raise
                message = Message("{error}{hint}", error=error.args[0], hint=_NOT_COUNTED)
                raise InvalidInputError(message) from None
            rows, new = self._rows(table, _BATCH_HINT)
            return [rows], new
        source = as_source(batch)
        refuse_weights(source, "batch")
        self._check_columns(source, source._labels, source._named)
        return self._chunks(source, unseen), unseen

    def _chunks(self, source: Any, unseen: dict[int, Counter[str]]) -> Iterator[np.ndarray]:
        """Yield the rows of a source in chunks, and add counts of new categories to `unseen`."""
        empty = True
        for table in self._used.chunks(source, _BATCH, hint=_KINDS_HINT):
            rows, new = self._rows(table, _BATCH_HINT)
            for column, counts in new.items():
                unseen.setdefault(column, Counter()).update(counts)
            empty = False
            yield rows
        if empty:
            raise InvalidInputError(
                f"the batch ({source._label}) has no row; it needs at least one"
            )

    @property
    def _used(self) -> Schema:
        """Schema of the compared columns: a batch may lack columns that are left out."""
        used = tuple(column for column in self.schema.columns if column.use != "omit")
        return Schema(used, self.schema.named, reference=_REFERENCE)

    def _check_columns(self, batch: Any, labels: Names, has_labels: bool = True) -> None:
        """Raise an error if a batch with the column names `labels` lacks columns.

        `has_labels` is false if the labels are only the indices of the columns.
        """
        names = self.names
        if self.kinds and labels is not None and {*names} <= {*labels}:
            return
        if self.categories and (labels is None or isinstance(batch, NamedArray)):
            raise InvalidInputError(
                f"the reference has categories ({', '.join(self.categories)}), but the batch "
                f"({type(batch).__name__}) is not a data frame; pass a data frame"
            )
        has_names = self.schema.named and [*names] != numbered(len(names))
        if labels is None or not (self.schema.named and has_labels):
            if has_names:
                raise self._lacks_names()
            if labels is not None:
                check_same_width(self.width, len(labels), _REFERENCE, _BATCH)
        elif not {*names} <= {*labels}:
            unnamed = [*labels] == numbered(len(labels))
            raise self._lacks_names() if unnamed and has_names else self._lacks_columns(labels)

    def _lacks_names(self) -> InvalidInputError:
        """Return the error for a batch without column names, if the reference has names."""
        names = listed([repr(name) for name in self.columns_in_order or ()], FEW)
        template = (
            "the batch has no column names, and columns are matched by name with those of the "
            "reference: {names}; pass a data frame, or a file, with these column names{pandas}. "
            "The batch was not counted"
        )
        pandas = InPython(", such as pandas.DataFrame(batch, columns=monitor.columns)")
        return InvalidInputError(Message(template, names=names, pandas=pandas))

    def _lacks_columns(self, labels: Sequence[str]) -> InvalidInputError:
        """Return the error for a batch whose columns `labels` lack columns of the reference."""
        missing = [repr(name) for name in self.names if name not in labels]
        columns, it = ("column", "it") if len(missing) == 1 else ("columns", "them")
        return InvalidInputError(
            f"the batch lacks the {columns} {listed(missing, FEW)} of the reference; add {it} to "
            f"the batch, or fit the monitor again without {it}. The batch was not counted"
        )

    def _rows(self, table: Table, hint: str) -> tuple[np.ndarray, dict[int, Counter[str]]]:
        """Return the rows of a table, and the counts of new categories by column index.

        Category columns follow the numeric columns, as codes. `hint` is advice about missing
        values.
        """
        if self.nan_policy == "raise":
            table.check_complete(hint)
        numbers = np.asarray(table.numbers, np.float64)
        unseen: dict[int, Counter[str]] = {}
        rows = [numbers]
        for c, (known, codes) in enumerate(
            zip(self.categories.values(), table.codes.T, strict=True)
        ):
            words = table.words(c)[len(known) :]
            values = [*range(len(known)), *map(unseen_code, words), np.nan]
            rows.append(np.array(values, np.float64)[codes])
            if words:
                counts = np.bincount(codes[codes >= 0], minlength=len(known) + len(words))
                unseen[self.width + c] = Counter(
                    dict(zip(words, counts[len(known) :].tolist(), strict=True))
                )
        return np.column_stack(rows) if self.categories else numbers, unseen
