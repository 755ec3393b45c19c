"""Tables of the reference and of batches, which have one schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.base import messages
from isodepth.base.messages import InPython, Message
from isodepth.base.words import FEW, listed, numbered
from isodepth.errors import InvalidInputError
from isodepth.metric.chunked.reading import load_table
from isodepth.stream.scan import as_source, dask_parts
from isodepth.stream.source import Source, source_of
from isodepth.table.frames import is_frame
from isodepth.table.raw import FrameSample, Sample
from isodepth.table.table import Origin, Schema, Table, tables_of
from isodepth.table.validation import check_same_width, is_chunked

_NOT_COUNTED = ". The batch was not counted"
_KINDS_HINT = f". Kinds are set when a monitor is fitted{_NOT_COUNTED}"
_REFERENCE_HINT = Message(", or accept them with {--nan_policy='keep'}")
_BATCH_HINT = Message(
    "; fit the monitor with {--nan_policy='keep'} to count missing values as a change"
)
_REFERENCE, _BATCH = messages.Sample("the reference"), messages.Sample("the batch")


def read_reference(reference: Any, kinds: Any, nan_policy: str, seed: int | None) -> Table:
    """Return the rows of the reference.

    `seed` selects a random subset of the rows if a source does not fit into memory. If the seed is
    None, such a source raises an error.
    """
    if is_chunked(reference):
        source = _unweighted(as_source(reference), _REFERENCE)
        table = load_table(source, "reference", kinds, seed)
    else:
        (table,) = tables_of(reference, labels=[_REFERENCE], kinds=kinds)
    if not table.schema.names:
        raise InvalidInputError(
            f"{_REFERENCE} has no numeric columns or categories; it needs at least one"
        )
    return replace(_counted(table, nan_policy, _REFERENCE_HINT), origin=Origin(_REFERENCE))


def open_batch(batch: Any) -> Any:
    """Return a batch as a `Sample`; arrays are returned unchanged."""
    if isinstance(batch, Source):
        return _unweighted(batch, _BATCH)
    if is_chunked(batch):
        return source_of(dask_parts(batch), None, None, f"Dask {type(batch).__name__}")
    return FrameSample(batch, _BATCH) if is_frame(batch) else batch


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
    _check_columns(compared, batch)
    empty, label = True, str(_BATCH)
    if isinstance(batch, Sample):
        tables = compared.chunks(batch, _BATCH, hint=_KINDS_HINT)
        label = _BATCH if batch._label == _BATCH else f"{_BATCH} ({batch._label})"
    else:
        tables = _array_tables(compared, batch)
    for table in tables:
        if len(table):
            empty = False
            yield _counted(table, nan_policy, _BATCH_HINT)
    if empty:
        raise InvalidInputError(f"{label} has no row; it needs at least one")


def _array_tables(schema: Schema, batch: Any) -> Iterator[Table]:
    """Yield a batch that is an array as one table."""
    try:
        yield schema.read(batch, _BATCH)
    except InvalidInputError as error:
        message = Message("{error}{hint}", error=error.args[0], hint=_NOT_COUNTED)
        raise InvalidInputError(message) from None


def _counted(table: Table, nan_policy: str, hint: str) -> Table:
    """Return a table with float64 numbers; missing values are an error if `nan_policy` is "raise".

    `hint` is advice about missing values.
    """
    if nan_policy == "raise":
        table.check_complete(hint)
    return replace(table, numbers=np.asarray(table.numbers, np.float64))


def _check_columns(schema: Schema, batch: Any) -> None:
    """Raise an error if a batch lacks columns, or names of columns."""
    names, labels = schema.names, batch._labels if isinstance(batch, Sample) else None
    if schema.categorical and labels is None:
        raise InvalidInputError(
            f"the reference has categories ({', '.join(schema.category_names)}), but the batch "
            f"({type(batch).__name__}) is not a data frame; pass a data frame"
        )
    # Default labels 0, 1, ... of pandas are not names.
    has_names = schema.named and [*names] != numbered(len(names))
    if labels is None or not {*names} <= {*labels}:
        unnamed = labels is None or [*labels] == numbered(len(labels))
        if has_names:
            raise _lacks_names(schema) if unnamed else _lacks_columns(schema, labels or ())
        if labels is not None:
            check_same_width(len(names), len(labels), _REFERENCE, _BATCH)


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
