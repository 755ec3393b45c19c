"""Conversion of the reference and of batches to arrays with the same columns, matched by name.

A category column is converted to codes: the indices of its values among the categories of the
reference, or negative codes of values that the reference lacks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from isodepth.base.messages import InPython, Message
from isodepth.base.words import FEW, listed, numbered
from isodepth.errors import InvalidInputError
from isodepth.metric.chunked.reading import (
    load_mixed_rows,
    load_rows,
    refuse_weights,
    row_chunks,
)
from isodepth.monitor.repeated import unseen_code
from isodepth.stream.passes import FrameReading
from isodepth.stream.profile import Profile
from isodepth.stream.scan import as_source
from isodepth.stream.source import Source
from isodepth.table.arrays import column_labels
from isodepth.table.frames import (
    NamedArray,
    Names,
    is_frame,
    labels_of,
    select_columns,
)
from isodepth.table.kinds import (
    ColumnKind,
    MixedFrames,
    category_values,
    date_columns,
    split_columns,
)
from isodepth.table.numerals import Numerals, Style, is_plain_number
from isodepth.table.pooled import is_padded
from isodepth.table.text_columns import CODES, narrowed_type, typed_table
from isodepth.table.validation import check_same_width, is_chunked, read_sample
from isodepth.table.values import (
    Strings,
    boolean,
    boolean_word,
    plain_number,
    strings_of,
)

_KINDS_HINT = "Kinds are set when a monitor is fitted. The batch was not counted"
_REFERENCE_HINT = Message(", or accept them with {--nan_policy='keep'}")
_BATCH_HINT = Message(
    "; fit the monitor with {--nan_policy='keep'} to count missing values as a change"
)
_REFERENCE, _BATCH = "the reference", "the batch"


@dataclass(frozen=True)
class BatchReader:
    """Names, kinds and categories of the columns of the reference, and methods that read batches.

    Batches are converted to arrays with the same columns.
    """

    width: int  # number of numeric columns
    columns: Names  # names of the numeric columns; None for plain arrays
    nan_policy: str  # "keep" or "raise"
    categories: dict[str, tuple[str, ...]]  # for each category column, its values in the reference
    kinds: tuple[ColumnKind, ...]  # kinds of all columns of a data frame; empty for an array
    booleans: tuple[str, ...] = ()  # category columns in which "true" is written "True"
    numbers: tuple[str, ...] = ()  # category columns in which "1.0" is written "1"
    #: For each numeric column of strings, the styles of numbers with which the reference was read.
    styles: dict[str, tuple[Style, ...]] = field(default_factory=dict)

    @classmethod
    def of_reference(
        cls, reference: Any, nan_policy: str, kinds: Any, seed: int | None
    ) -> tuple[BatchReader, np.ndarray]:
        """Return the reader and the rows of the reference, with category columns last, as codes.

        `seed` selects a random subset of the rows if a source does not fit into memory. If the seed
        is None, such a source raises an error.
        """
        found: tuple[ColumnKind, ...] | None = None
        styles: dict[str, tuple[Style, ...]] = {}
        if is_chunked(reference):
            source = as_source(reference)
            refuse_weights(source, "reference")
            # The types of the columns of a text file are not known before all rows were read.
            typed = source.columns is None or not any(part.untyped for part in source._parts)
            typed = typed and not source._may_number_rows
            if source._is_numeric and typed and not kinds:
                reference = load_rows(source, "reference", nan_policy, seed)
            else:
                reference, of_source = load_mixed_rows(source, "reference", kinds, seed)
                kinds, found, styles = of_source.kinds, of_source.columns, of_source.styles
        mixed = split_columns(
            [reference], [_REFERENCE], kinds, styles=styles, row_numbers=found is None
        )
        mixed = mixed or MixedFrames([reference], {}, (), {}, {})
        mixed = mixed._replace(columns=mixed.columns if found is None else found)
        values = {column: {*strings} for column, (strings,) in mixed.categories.items()}
        known = {c: tuple(sorted(v for v in own if v is not None)) for c, own in values.items()}
        reader = cls(
            0, None, nan_policy, known, mixed.columns,
            tuple(column for column in known if "boolean" in mixed.spellings[column]),
            tuple(column for column in known if "number" in mixed.spellings[column]),
            mixed.styles,
        )  # fmt: skip
        rows, columns, _ = reader._rows(mixed, _REFERENCE)
        if known:
            columns = tuple(each.column for each in mixed.columns if each.use == "numeric")
        return replace(reader, width=rows.shape[1] - len(known), columns=columns), rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, categories last."""
        numeric = tuple(each.column for each in self.kinds if each.use == "numeric")
        return (*(self.columns or numeric or column_labels(self.width)), *self.categories)

    @property
    def text_types(self) -> dict[str, str]:
        """Types with which columns of text files are read, see `isodepth.table.text_columns`.

        Categories are read as text, so that the value of a cell does not depend on other rows of
        the batch. Words for missing values, such as "NA", are missing if all categories of the
        reference are numbers, booleans or dates. Numbers with decimal commas are strings, which are
        converted as in the reference.
        """
        import pyarrow as pa

        commas = (n for n, styles in self.styles.items() if all(s.decimal == "," for s in styles))
        types = dict.fromkeys(commas, "string")
        for column, known in self.categories.items():
            narrowed = narrowed_type(pa.array(known, pa.string()), None)
            types[column] = "string" if narrowed in ("string", None) else CODES
        return types

    @property
    def _spellings(self) -> dict[str, set[str]]:
        """Spelling of each category column, see `PooledColumn`."""
        both = (("boolean", self.booleans), ("number", self.numbers))
        return {c: {type_ for type_, own in both if c in own} for c in self.categories}

    @property
    def columns_in_order(self) -> Names:
        """Names of all columns in the order of the reference; None if they have no names."""
        if self.columns is None or not self.kinds:
            return self.columns
        return tuple(each.column for each in self.kinds if each.column in self.names)

    @property
    def _has_names(self) -> bool:
        """Return whether numeric columns have names other than the strings "0", "1", ..."""
        return bool(self.columns) and list(self.columns or ()) != numbered(self.width)

    def read(self, batch: Any) -> tuple[Iterable[np.ndarray], dict[int, Counter[str]]]:
        """Return an iterable of chunks of rows, and the counts of new categories by column index.

        The dictionary of counts is complete after all chunks have been read.
        """
        if is_chunked(batch):
            source = as_source(batch)
            refuse_weights(source, "batch")
            named = self.columns is not None and source.columns is not None
            if self.kinds and (named or {*self.names} <= {*source._labels}):
                unseen: dict[int, Counter[str]] = {}
                return self._chunks(source, unseen), unseen
            if self.categories:
                self._matched(source)  # raises an error
            if self._has_names and source.columns is None:
                raise self._lacks_names()
            if any(each.option is not None for each in self.kinds if each.use == "numeric"):
                raise self._lacks_columns(source._labels)  # values must be converted
            if self.columns is not None and source.columns is not None:
                if not {*self.columns} <= {*source.columns}:
                    raise self._lacks_columns(source.columns)
                source = source._select(self.columns)
            check_same_width(self.width, source.n_features, _REFERENCE, _BATCH)
            return row_chunks(source, "batch", self.nan_policy), {}
        rows, unseen = self._frame_rows(self._matched(batch))
        return [rows], unseen

    def _chunks(self, source: Source, unseen: dict[int, Counter[str]]) -> Iterator[np.ndarray]:
        """Yield the rows of a source in chunks, and add counts of new categories to `unseen`."""
        if not {*self.names} <= {*source._labels}:
            raise self._lacks_columns(source._labels)
        source = source._select(self.names)
        # The types of text files are known after a first pass.
        untyped = any(part.untyped for part in source._parts)
        types = {**Profile.of(source, 1, 0).types, **self.text_types} if untyped else {}
        empty = True
        for chunk in FrameReading().read(source._parts):
            rows, new = self._frame_rows(typed_table(chunk.table, types))
            for column, counts in new.items():
                unseen.setdefault(column, Counter()).update(counts)
            empty = False
            yield rows
        if empty:
            raise InvalidInputError(
                f"the batch ({source._label}) has no row; it needs at least one"
            )

    def _frame_rows(self, batch: Any) -> tuple[np.ndarray, dict[int, Counter[str]]]:
        """Return the rows of a batch in memory, and the counts of new categories by column."""
        kinds = {k.column: k.option for k in self.kinds if k.use == "numeric" and k.option}
        kinds |= dict.fromkeys(self.categories, "category")
        batch = _with_missing_numbers(batch, self.columns or ())
        try:
            mixed = split_columns(
                [batch], [_BATCH], kinds, styles=self.styles, spellings=self._spellings,
                row_numbers=False,
            )  # fmt: skip
        except InvalidInputError as error:
            hint = f". {_KINDS_HINT}" if is_frame(batch) else ". The batch was not counted"
            raise InvalidInputError(
                Message("{error}{hint}", error=error.args[0], hint=hint)
            ) from None
        if mixed is not None:
            mixed = self._with_known_strings(batch, mixed)
            self._check_kinds(batch, mixed)
        rows, columns, new = self._rows(mixed or MixedFrames([batch], {}, (), {}, {}), _BATCH)
        if self._has_names and columns is None:
            raise self._lacks_names()
        check_same_width(self.width, rows.shape[1] - len(self.categories), _REFERENCE, _BATCH)
        return rows, new

    def _matched(self, batch: Any) -> Any:
        """Return a batch with the columns of the reference only, in the order of the reference.

        A batch without column names, or with repeated ones, is returned unchanged. Default labels
        0, 1, ... of pandas are not names.
        """
        labels = labels_of(batch)
        if self.categories and (labels is None or isinstance(batch, NamedArray)):
            raise InvalidInputError(
                f"the reference has categories ({', '.join(self.categories)}), but the batch "
                f"({type(batch).__name__}) is not a data frame; pass a data frame"
            )
        names = self.names
        if self.columns is None or labels in (None, names) or len({*labels}) < len(labels):
            return batch
        if not {*names} <= {*labels}:
            unnamed = list(labels) == numbered(len(labels))
            raise self._lacks_names() if unnamed else self._lacks_columns(labels)
        return select_columns(batch, names)

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

    def _with_known_strings(self, batch: Any, mixed: MixedFrames) -> MixedFrames:
        """Write numbers and booleans of a batch like equal strings of the reference.

        This applies to columns that are categories in the reference. If all categories are
        booleans, or 0 and 1, and so are the values of the batch, 0 equals False and 1 equals True.
        Otherwise, a number such as 1 equals the category "1", and True equals "true". Raise an
        error if the original text of the numbers or booleans is not known: several categories are
        equal as numbers, or have leading zeros.
        """
        import narwhals as nw

        frame, categories = nw.from_native(batch), dict(mixed.categories)
        labels = {str(label): label for label in frame.columns}
        for column, known in self.categories.items():
            (values,) = categories[column]
            series = frame.get_column(labels[column])
            if series.dtype == nw.String and column not in self.booleans:
                continue
            found = strings_of(series.to_list())
            binary = {boolean(value): value for value in known}
            if (
                (series.dtype.is_numeric() or bool in found.types or column in self.booleans)
                and known and "" not in binary and len(binary) == len(known)
                and all(boolean(value) for value in values if value is not None)
            ):  # fmt: skip
                if _are_booleans(known):
                    binary = {"True": "True", "False": "False", **binary}
                texts = {v: binary.get(boolean(v), v) for v in {*values} if v is not None}
            else:
                texts = self._known_strings(column, found, str(series.dtype))
            categories[column] = [[None if v is None else texts.get(v, v) for v in values]]
        return mixed._replace(categories=categories)

    def _known_strings(self, column: str, found: Strings, dtype: str) -> dict[str, str]:
        """Return the category of the reference for each number or boolean of a category column.

        `found` has the values of the column in the batch, and `dtype` is its type for a message.
        """
        known = self.categories[column]
        texts: dict[str, str] = {}
        for type_, lost, canonical in (
            (float, column not in self.numbers, plain_number),
            (bool, column not in self.booleans, boolean_word),
        ):
            if type_ not in found.types or not lost:
                continue
            for value in sorted({*known} | found.words):
                text = canonical(value)
                if not text or (text == value and not is_plain_number(value)):
                    continue
                padded = type_ is float and is_padded(value)
                if padded or texts.setdefault(text, value) != value:
                    held = "strings such as " + repr(value)
                    raise self._other_type(column, held, dtype)
        return texts

    def _other_type(self, column: str, content: str, dtype: str) -> InvalidInputError:
        """Return the error for a column that holds `content` in the reference, and `dtype` now."""
        template = (
            "column {category!r} holds {content} in the reference and {dtype} in the batch; "
            "convert it{pandas}, or fit a new monitor without the column, or with the column as a "
            "category ({--category=}). {hint}"
        )
        pandas = InPython(f" (in pandas, read it with dtype={{{column!r}: str}})")
        values = {"content": content, "dtype": dtype, "pandas": pandas, "hint": _KINDS_HINT}
        return InvalidInputError(Message(template, category=column, **values))

    def _check_kinds(self, batch: Any, mixed: MixedFrames) -> None:
        """Raise an error for a column of another kind than in the reference.

        Numbers and booleans are accepted in a column of categories if some are categories of the
        reference. If the categories are True and False, all numbers must be 0 or 1.
        """
        import narwhals as nw

        dtypes = {str(label): dtype for label, dtype in nw.from_native(batch).schema.items()}
        notes = {kind.column: kind.note for kind in self.kinds}
        for kind in mixed.columns:
            column = kind.column
            dtype = dtypes[column]
            if date_columns([kind]) and kind.note != notes[column]:
                raise InvalidInputError(
                    f"column {column!r} has {notes[column]} in the reference and {kind.note} in "
                    "the batch; add or remove the time zone (in pandas, .dt.tz_localize or "
                    ".dt.tz_convert(None)). The batch was not counted"
                )
            typed = dtype.is_numeric() or dtype.is_temporal() or dtype == nw.Boolean
            typed = typed and column in self.categories
            values = {*mixed.categories[column][0]} - {None} if typed else set()
            words = _are_booleans(self.categories.get(column, ()))
            if words:
                other = not values <= {"True", "False"}
            else:
                other = bool(values) and values.isdisjoint(self.categories.get(column, ()))
                other = other and not (dtype.is_numeric() and column in self.numbers)
            if other or (column in (self.columns or ()) and kind.use != "numeric"):
                content = ("booleans" if words else "strings") if other else "numbers"
                raise self._other_type(column, content, str(dtype))
        self._refuse_styled_numbers(batch)

    def _refuse_styled_numbers(self, batch: Any) -> None:
        """Raise an error for strings such as "$1,500" in a column of numbers of the reference.

        The two-sample test refuses them too, because any conversion could give a wrong number.
        Strings are accepted if the reference has strings, or if the kind of the column was set.
        """
        import narwhals as nw

        frame = nw.from_native(batch)
        converted = {kind.column for kind in self.kinds if kind.option is not None}
        numeric = {*(self.columns or ())} - {*self.styles, *converted}
        for column, dtype in frame.schema.items():
            if column not in numeric or dtype != nw.String:
                continue
            numerals = Numerals(strings_of(frame[column].to_list()).values)
            if numerals.example and not is_plain_number(numerals.example):
                template = (
                    "column {numeric!r} holds numbers in the reference and strings such as "
                    "{example!r} in the batch; convert them to numbers, or fit a new monitor that "
                    "converts them ({--numeric=}). {hint}"
                )
                values = {"example": numerals.example, "hint": _KINDS_HINT}
                raise InvalidInputError(Message(template, numeric=column, **values))

    def _rows(
        self, mixed: MixedFrames, name: str
    ) -> tuple[np.ndarray, Names, dict[int, Counter[str]]]:
        """Return the rows, the names of the numeric columns, and the counts of new categories.

        Category columns follow the numeric columns, as codes. The counts are a dictionary from the
        index of a category column to the number of rows with each new category. `name` is the name
        of the sample in messages.
        """
        (numbers,), columns, unseen = mixed.numeric, None, {}
        if numbers is not None:
            policy = self.nan_policy
            hint = _REFERENCE_HINT if name == _REFERENCE else _BATCH_HINT
            points, columns, *_ = read_sample(numbers, None, name, "float64", policy, hint=hint)
        elif first := next((mixed.categories[column][0] for column in self.categories), None):
            points = np.empty((len(first), 0))
        else:
            missing = "rows" if self.categories else "numeric columns or categories"
            raise InvalidInputError(f"{name} has no {missing}; it needs at least one")
        rows = [points]
        for c, (column, categories) in enumerate(self.categories.items(), points.shape[1]):
            (values,) = mixed.categories[column]
            if self.nan_policy == "raise":
                category_values(values, column, name, "raise")
            code: dict[str | None, float] = {value: i for i, value in enumerate(categories)}
            code[None] = math.nan
            if new := Counter(str(value) for value in values if value not in code):
                code |= {value: unseen_code(value) for value in new}
                unseen[c] = new
            rows.append(np.array([code[value] for value in values], np.float64))
        return np.column_stack(rows) if self.categories else points, columns, unseen


def _are_booleans(categories: Collection[str]) -> bool:
    """Return whether the categories of a column are "True", "False" or both; False if none."""
    return bool(categories) and {*categories} <= {"True", "False"}


def _with_missing_numbers(batch: Any, columns: Collection[str]) -> Any:
    """Convert columns in which all values are missing to float64, if the batch is a data frame.

    Only columns with names in `columns` are converted. The type of such a column is often not
    numeric, such as the type null of pyarrow.
    """
    if isinstance(batch, NamedArray) or not is_frame(batch):
        return batch
    import narwhals as nw

    try:
        frame = nw.from_native(batch, eager_only=True)
        schema = frame.schema
    except (TypeError, ValueError):
        return batch  # reading the batch raises the error with the reason
    missing = [
        nw.lit(None, dtype=nw.Float64).alias(label)
        for label, type_ in schema.items()
        if str(label) in columns
        and not type_.is_float()
        and len(frame)
        and frame.get_column(label).null_count() == len(frame)
    ]
    return frame.with_columns(*missing).to_native() if missing else batch
