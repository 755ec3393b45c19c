"""Reading of batches: match their columns with the reference by name, then check kinds."""

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

    width: int  # number of numeric columns
    columns: tuple[str, ...] | None  # names of the numeric columns; None for plain arrays
    nan_policy: str
    categories: dict[str, tuple[str, ...]]  # for each category column, its values in the reference
    # Kinds of all columns if the reference is a data frame, else empty.
    kinds: tuple[ColumnKind, ...]

    @classmethod
    def of_reference(
        cls, reference: Any, nan_policy: str, kinds: Any, seed: int | None
    ) -> tuple[BatchReader, Rows]:
        """Return the reader and the rows of the reference.

        If a source does not fit into memory, a random subset is drawn with `seed`.
        """
        if is_chunked(reference):
            reference = load_rows(reference, "reference", "float64", nan_policy, seed=seed)
        mixed = split_columns([reference], [_REFERENCE], kinds)
        numbers, categories, kinds = mixed or MixedFrames([reference], {}, ())
        strings = {column: values[0] for column, values in categories.items()}
        reader = cls(0, None, nan_policy, {}, kinds)
        points, columns = reader._read_numbers(numbers[0], _REFERENCE, strings)
        if strings:
            columns = tuple(each.column for each in kinds if each.use == "numbers")
        values = {
            c: tuple(sorted(v for v in {*own} if v is not None)) for c, own in strings.items()
        }
        reader = replace(reader, width=points.shape[1], columns=columns, categories=values)
        return reader, reader._rows(points, strings, _REFERENCE)[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, categories last."""
        return (*(self.columns or column_labels(self.width)), *self.categories)

    def read(self, batch: Any) -> tuple[Iterable[Rows], dict[int, str]]:
        """Return the rows of a batch, in chunks if it is a source.

        Also return the most frequent new value of each category column that has new values.
        """
        if is_chunked(batch) and not self.categories:
            return self._read_source(batch), {}
        batch = self._matched(batch)
        kinds = {k.column: k.given for k in self.kinds if k.use == "numbers" and k.given}
        kinds |= dict.fromkeys(self.categories, "category")
        try:
            mixed = split_columns([batch], [_BATCH], kinds)
        except InvalidInputError as error:
            raise InvalidInputError(f"{error}. {_KINDS_HINT}") from None
        strings, numbers = {}, batch
        if mixed is not None:
            self._check_kinds(batch, mixed)
            strings = {column: mixed.categories[column][0] for column in self.categories}
            numbers = mixed.numeric[0]
        points, _ = self._read_numbers(numbers, _BATCH, strings)
        check_same_width(self.width, points.shape[1], _REFERENCE, _BATCH)
        rows, unseen = self._rows(points, strings, _BATCH)
        return [rows], unseen

    def _matched(self, batch: Any) -> Any:
        """Select the columns of the reference by name, in its order; others are ignored."""
        labels = labels_of(batch)
        if self.categories and (labels is None or isinstance(batch, Table)):
            raise InvalidInputError(
                f"the reference has categories ({', '.join(self.categories)}), but the batch "
                f"({type(batch).__name__}) is not a data frame; pass a data frame"
            )
        names = self.names
        if self.columns is None or labels in (None, names) or len({*labels}) < len(labels):
            return batch
        if not {*names} <= {*labels}:
            if len(labels) == len(names) and not self.categories:
                return in_order(batch, names, _BATCH, _REFERENCE)
            raise differing(names, tuple(n for n in labels if n in names), _REFERENCE, _BATCH)
        at = [labels.index(name) for name in names]
        if isinstance(batch, Table):
            return Table(batch.points[:, at], names)
        frame = _narwhals_frame(batch)
        return frame.select([frame.get_column(frame.columns[i]) for i in at]).to_native()

    def _check_kinds(self, batch: Any, mixed: MixedFrames) -> None:
        """Refuse columns of another kind than in the reference, unless all values are missing."""
        dtypes = {str(label): dtype for label, dtype in _narwhals_frame(batch).schema.items()}
        given = {each.column for each in self.kinds if each.given is not None}
        for column, _, use, *_ in mixed.columns:
            dtype, wanted = dtypes[column], ""
            if column in (self.columns or ()) and use != "numbers":
                wanted = "numbers"
            elif column in self.categories and column not in given:
                typed = dtype.is_numeric() or dtype.is_temporal()
                wanted = "strings" if typed and any(mixed.categories[column][0]) else ""
            if wanted:
                raise InvalidInputError(
                    f"column {column!r} holds {wanted} in the reference and {dtype} in the batch; "
                    "convert it, or fit a new monitor without the column, or with "
                    f"kinds={{{column!r}: 'category'}} (--category {column}). {_KINDS_HINT}"
                )

    def _read_source(self, batch: Any) -> Iterator[Rows]:
        source = as_source(batch)
        if source.weighted:
            raise InvalidInputError("a monitor counts rows; scan the batch without weights")
        if self.columns is not None and source.columns is not None:
            if not {*self.columns} <= {*source.columns}:
                raise differing(self.columns, source.columns, _REFERENCE, _BATCH)
            parts = tuple(replace(part, labels=self.columns) for part in source.parts)
            source = replace(source, parts=parts, columns=self.columns, n_features=self.width)
        check_same_width(self.width, source.n_features, _REFERENCE, _BATCH)
        how, empty = Preparation.of(source, "float64", self.nan_policy), True
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
            if self.nan_policy == "raise":
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
        """Return the numeric columns (m, d) as float64, and their names."""
        if numbers is None:
            n_rows = len(next(iter(strings.values()), ()))
            if not n_rows:
                missing = "rows" if strings else "numeric columns or categories"
                raise InvalidInputError(f"{name} has no {missing}; it needs at least one")
            return np.empty((n_rows, 0)), ()
        policy = "keep" if self.nan_policy == "omit" else "raise"
        hint = OMIT_HINT if name == _REFERENCE else _BATCH_HINT
        return read_sample(numbers, None, name, "float64", policy, hint=hint)[:2]


def _narwhals_frame(batch: Any) -> Any:
    import narwhals as nw

    return nw.from_native(batch, eager_only=True)
