"""Adapters from data frames to the containers before `Table` and `Schema`.

Each is deleted when its callers take tables. The other names are those of
`isodepth.table.columns` and `isodepth.table.kind_lines`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from isodepth.table.columns import ColumnKind
from isodepth.table.frames import (
    NamedArray,
    common_columns,
    is_frame,
    refuse_other_types,
    select_columns,
)
from isodepth.table.kind_lines import (
    KINDS,
    MISSING,
    attention_lines,
    attention_suffix,
    category_values,
    check_kinds,
    check_some_numeric,
    column_lines,
    columns_with_words,
    date_columns,
    kinds_error,
    number_lines,
    numeric_hint,
    numeric_kinds,
    rank_columns,
    row_number_columns,
    subtracted_integers,
    utc_columns,
)
from isodepth.table.raw import FrameSample
from isodepth.table.row_numbers import INCREASES, NUMBERS
from isodepth.table.table import stored_kind, tables_of, unmatched_column

__all__ = [
    "KINDS",
    "MISSING",
    "ROW_NUMBERS",
    "ColumnKind",
    "MatchedFrames",
    "MixedFrames",
    "attention_lines",
    "attention_suffix",
    "category_values",
    "check_kinds",
    "check_some_numeric",
    "column_lines",
    "columns_with_words",
    "date_columns",
    "matched_frames",
    "number_lines",
    "numeric_columns",
    "numeric_hint",
    "numeric_kinds",
    "rank_columns",
    "row_number_columns",
    "split_columns",
    "subtracted_integers",
    "unmatched_kinds",
    "utc_columns",
]  # fmt: skip


#: Deleted when `isodepth.results` calls `ColumnKind.numbers_rows`.
ROW_NUMBERS = (NUMBERS, INCREASES)


class MixedFrames(NamedTuple):
    """Data frames with the same columns, split into numeric and category columns.

    Deleted when `isodepth.many.collections` calls `tables_of`.
    """

    numeric: list[Any]
    categories: dict[str, list[list[str | None]]]
    columns: tuple[ColumnKind, ...]


def split_columns(
    samples: Sequence[Any],
    names: Sequence[str],
    kinds: Mapping[str, Any] | None = None,
    *,
    warn: bool = True,
    row_numbers: bool = True,
) -> MixedFrames | None:
    """Split data frames with the same columns into numeric and category columns.

    Return None for arrays. Deleted when `isodepth.many.collections` calls `tables_of`.
    """
    if not all(is_frame(each) and not hasattr(each, "__dask_graph__") for each in samples):
        for sample, name in zip(samples, names, strict=True):
            refuse_other_types(sample, name)
        if kinds:
            types = " and ".join(type(each).__name__ for each in samples)
            raise kinds_error(f"kinds needs data frames in memory, got {types}")
        return None
    tables = tables_of(*samples, labels=names, kinds=kinds, row_numbers=row_numbers, warn=warn)
    schema = tables[0].schema
    columns = schema.numeric_names if schema.named else None
    numeric = [NamedArray(t.numbers, columns) if schema.numeric else None for t in tables]
    categories = {name: [t.texts(name) for t in tables] for name in schema.category_names}
    return MixedFrames(numeric, categories, tuple(each.described for each in schema.columns))


def numeric_columns(
    X: Any, Y: Any, kinds: Mapping[str, Any] | None
) -> tuple[Any, Any, tuple[ColumnKind, ...]]:
    """Return the numeric columns of X and of Y, and the kinds of all columns.

    Deleted when `isodepth.metric` calls `tables_of`.
    """
    mixed = split_columns((X, Y), ("X", "Y"), kinds)
    if mixed is None:
        return X, Y, numeric_kinds(X.columns if isinstance(X, NamedArray) else None)
    check_some_numeric(mixed.columns)
    return mixed.numeric[0], mixed.numeric[1], mixed.columns


class MatchedFrames(NamedTuple):
    """Two samples with the columns that both have, the option `kinds`, and the other columns."""

    X: Any
    Y: Any
    kinds: dict[str, Any] | None
    unmatched: tuple[ColumnKind, ...]


def matched_frames(X: Any, Y: Any, kinds: Mapping[str, Any] | None) -> MatchedFrames:
    """Return two samples without the columns of data frames that only one sample has.

    Deleted when `isodepth.metric` calls `tables_of` with ``common=True``.
    """
    if not is_frame(X) or not is_frame(Y):
        return MatchedFrames(X, Y, None if kinds is None else dict(kinds), ())
    x, y, only = common_columns(X, Y)
    types = [
        _stored_kinds(select_columns(each, names)) if names else {}
        for each, names in zip((X, Y), only, strict=True)
    ]
    return MatchedFrames(x, y, *unmatched_kinds(kinds, types))


def _stored_kinds(frame: Any) -> dict[str, str]:
    sample = FrameSample(frame, "X")
    return {name: stored_kind(sample, name) for name in sample._labels}


def unmatched_kinds(
    kinds: Mapping[str, Any] | None, types: Sequence[Mapping[str, str]]
) -> tuple[dict[str, Any] | None, tuple[ColumnKind, ...]]:
    """Return the option `kinds` without unmatched columns, and the kinds of unmatched columns.

    An unmatched column is in only one sample. `types` has two dictionaries, for X and for Y, which
    map the names of unmatched columns to their kinds. Deleted when `isodepth.metric` calls
    `tables_of` with ``common=True``.
    """
    unmatched = tuple(
        unmatched_column(name, kind, sample).described
        for sample, found in zip("XY", types, strict=True)
        for name, kind in found.items()
    )
    if kinds is None or not unmatched:
        return None if kinds is None else dict(kinds), unmatched
    names = {each.column for each in unmatched}
    return {k: v for k, v in check_kinds(kinds).items() if k not in names}, unmatched
