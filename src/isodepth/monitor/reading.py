"""Tables of the reference and of batches, which have one schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.base.messages import InPython, Message, Sample
from isodepth.base.words import FEW, listed, numbered
from isodepth.errors import InvalidInputError
from isodepth.metric.chunked.reading import rows_in_memory, too_many_rows
from isodepth.stream.passes import row_keys
from isodepth.stream.scan import as_source
from isodepth.stream.source import Source
from isodepth.table.frames import NamedArray, is_frame
from isodepth.table.raw import FrameSample
from isodepth.table.table import Origin, Schema, Table
from isodepth.table.text_columns import CODES
from isodepth.table.validation import check_same_width, is_chunked

_NOT_COUNTED = ". The batch was not counted"
_KINDS_HINT = f". Kinds are set when a monitor is fitted{_NOT_COUNTED}"
_REFERENCE_HINT = Message(", or accept them with {--nan_policy='keep'}")
_BATCH_HINT = Message(
    "; fit the monitor with {--nan_policy='keep'} to count missing values as a change"
)
_REFERENCE, _BATCH = Sample("the reference"), Sample("the batch")


def read_reference(reference: Any, kinds: Any, nan_policy: str, seed: int | None) -> Table:
    """Return the rows of the reference.

    `seed` selects a random subset of the rows if a source does not fit into memory. If the seed is
    None, such a source raises an error.
    """
    if is_chunked(reference):
        source = _unweighted(as_source(reference), _REFERENCE)
        schema = Schema.of(source, labels=[_REFERENCE], kinds=kinds)
        table = _random_rows(schema.read(source, _REFERENCE), source, seed)
    else:
        schema = Schema.of(reference, labels=[_REFERENCE], kinds=kinds)
        table = schema.read(reference, _REFERENCE)
    if not table.schema.names:
        raise InvalidInputError(
            f"{_REFERENCE} has no numeric columns or categories; it needs at least one"
        )
    return replace(_counted(table, nan_policy, _REFERENCE_HINT), origin=Origin(_REFERENCE))


def text_types(schema: Schema) -> dict[str, str]:
    """Return the types with which columns of text files are read, see `table.text_columns`.

    Categories are read as text, so that the value of a cell does not depend on other rows of the
    batch. Words for missing values, such as "NA", are missing if all categories of the reference
    are numbers, booleans or dates. Numbers with decimal commas are strings, which are converted as
    in the reference.
    """
    types = {
        column.name: "string"
        for column in schema.numeric
        if column.styles and all(style.decimal == "," for style in column.styles)
    }
    for column in schema.categorical:
        types[column.name] = "string" if column.text_type in ("string", None) else CODES
    return types


def _random_rows(table: Table, source: Source, seed: int | None) -> Table:
    """Return a random subset of the rows of a source if they do not fit into memory."""
    most = rows_in_memory(source)
    if len(table) <= most:
        return table
    if seed is None:
        raise too_many_rows(source, "reference")
    keys = np.concatenate(
        [row_keys(seed, number, 1) for number in table.origin.row_numbers(len(table)).tolist()]
    )
    return table.take(np.sort(np.argsort(keys, kind="stable")[:most]))


def open_batch(batch: Any) -> Any:
    """Return a batch whose columns have names, or that is read in chunks, as a `table.raw.Sample`.

    Arrays are returned unchanged.
    """
    if is_frame(batch):
        return FrameSample(batch, _BATCH)
    return _unweighted(as_source(batch), _BATCH) if is_chunked(batch) else batch


def _unweighted(source: Source, sample: str) -> Source:
    """Return a source; raise an error if its rows have weights."""
    if source.weighted:
        raise InvalidInputError(
            f"{sample} must not have weights, because its rows are used one by one; scan {sample} "
            "without them"
        )
    return source


def batch_tables(schema: Schema, batch: Any, nan_policy: str) -> Iterator[Table]:
    """Yield the rows of a batch in chunks; there is at least one row.

    `schema` is that of the reference, and `batch` a result of `open_batch`.
    """
    # A batch may lack columns that are not compared.
    used = tuple(column for column in schema.columns if column.use != "omit")
    compared = Schema(used, schema.named, reference=_REFERENCE)
    labels = getattr(batch, "_labels", None) if getattr(batch, "_named", False) else None
    _check_columns(compared, batch, labels)
    empty = True
    hint = _NOT_COUNTED if labels is None else _KINDS_HINT
    for table in compared.chunks(batch, _BATCH, hint=hint):
        if len(table):
            empty = False
            yield _counted(table, nan_policy, _BATCH_HINT)
    if empty:
        name = getattr(batch, "_label", _BATCH)
        where = _BATCH if name == _BATCH else f"{_BATCH} ({name})"
        raise InvalidInputError(f"{where} has no row; it needs at least one")


def _counted(table: Table, nan_policy: str, hint: str) -> Table:
    """Return a table with float64 numbers; missing values are an error if `nan_policy` is "raise".

    `hint` is advice about missing values.
    """
    if nan_policy == "raise":
        table.check_complete(hint)
    return replace(table, numbers=np.asarray(table.numbers, np.float64))


def _check_columns(schema: Schema, batch: Any, labels: Sequence[str] | None) -> None:
    """Raise an error if a batch, whose columns have the names `labels`, lacks columns."""
    names = schema.names
    if schema.categorical and (labels is None or isinstance(batch, NamedArray)):
        raise InvalidInputError(
            f"the reference has categories ({', '.join(schema.category_names)}), but the batch "
            f"({type(batch).__name__}) is not a data frame; pass a data frame"
        )
    # Default labels 0, 1, ... of pandas are not names.
    has_names = schema.named and [*names] != numbered(len(names))
    if labels is None or not schema.named:
        if has_names:
            raise _lacks_names(schema)
        width = len(batch._labels) if hasattr(batch, "_labels") else np.shape(batch)[-1:]
        if isinstance(width, int):
            check_same_width(len(names), width, _REFERENCE, _BATCH)
    elif not {*names} <= {*labels}:
        unnamed = [*labels] == numbered(len(labels))
        raise _lacks_names(schema) if unnamed and has_names else _lacks_columns(schema, labels)


def _lacks_names(schema: Schema) -> InvalidInputError:
    """Return the error for a batch without column names, if the reference has names."""
    names = listed([repr(column.name) for column in schema.columns], FEW)
    template = (
        "the batch has no column names, and columns are matched by name with those of the "
        "reference: {names}; pass a data frame, or a file, with these column names{pandas}. "
        "The batch was not counted"
    )
    pandas = InPython(", such as pandas.DataFrame(batch, columns=monitor.columns)")
    return InvalidInputError(Message(template, names=names, pandas=pandas))


def _lacks_columns(schema: Schema, labels: Sequence[str]) -> InvalidInputError:
    """Return the error for a batch whose columns `labels` lack columns of the reference."""
    missing = [repr(name) for name in schema.names if name not in labels]
    columns, it = ("column", "it") if len(missing) == 1 else ("columns", "them")
    return InvalidInputError(
        f"the batch lacks the {columns} {listed(missing, FEW)} of the reference; add {it} to "
        f"the batch, or fit the monitor again without {it}. The batch was not counted"
    )
