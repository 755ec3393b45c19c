"""Labels as strings, and checks of the blocks and groups of the rows of a batch.

Blocks and groups are the options of `Monitor` that label the rows of the reference. If they are
names of columns, a batch may have these columns too. A batch without the column is not checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from isodepth.base.messages import Message
from isodepth.base.words import FEW, is_missing, listed
from isodepth.errors import InvalidInputError
from isodepth.stream.scan import as_source
from isodepth.table.frames import NamedArray, labels_of
from isodepth.table.raw import typed_numbers
from isodepth.table.validation import is_chunked


def label_string(label: Any) -> str:
    """Return the label of a batch or of a row as a string, which does not depend on its type.

    Times are in ISO format with a space, without zeros at the end. Midnight without a time zone is
    a date. Numbers without a fractional part are integers. Strings are unchanged.

    Examples
    --------
    >>> label_string(7.0), label_string(np.int64(7)), label_string("7.0")
    ('7', '7', '7.0')
    >>> label_string(date(2024, 1, 1)), label_string(np.datetime64("2024-01-01T00:00:00"))
    ('2024-01-01', '2024-01-01')
    >>> label_string(datetime(2024, 1, 1, 6, 30, 0, 500000))
    '2024-01-01 06:30:00.5'
    """
    if isinstance(label, np.datetime64):
        return _time_string(np.datetime_as_string(label, unit="ns").replace("T", " "))
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, datetime):
        return _time_string(label.isoformat(sep=" "))
    if isinstance(label, float | Decimal) and math.isfinite(label) and label == int(label):
        return str(int(label))
    return label.isoformat() if isinstance(label, date) else str(label)


def _time_string(text: str) -> str:
    """Remove zeros at the end of the seconds in ISO format, and the time 00:00:00."""
    fraction = re.compile(r"\.(\d*?)0*(?=[+-]|$)")
    text = fraction.sub(lambda found: f".{found[1]}" if found[1] else "", text)
    return text.removesuffix(" 00:00:00")


def check_block(batch: Any, column: str) -> None:
    """Raise an error if the column `column`, which has the labels of blocks, has several values."""
    labels = {_quoted(label) for label in _labels(batch, column)}
    if len(labels) > 1:
        raise InvalidInputError(
            f"a batch is compared with whole blocks, and the column {column!r} of this batch has "
            f"{len(labels)} different values, {listed(sorted(labels), FEW)}; check "
            "the rows of each block as one batch. The batch was not counted"
        )


def group_of(batch: Any, column: str, groups: Collection[str | None]) -> str | None:
    """Return the group in the column `column` of a batch; None if the batch lacks the column.

    Raise an error if the column has several values, or a value that is not one of `groups`.
    """
    labels = _labels(batch, column)
    values = sorted({_quoted(label) for label in labels})
    if len(values) > 1:
        raise InvalidInputError(
            f"a batch belongs to one group, and the column {column!r} of this batch has "
            f"{len(values)} different values, {listed(values, FEW)}; check the rows of each group "
            "as one batch. The batch was not counted"
        )
    if not values:
        return None
    label = next(iter(labels))
    text = None if label is None else label_string(label)
    matching = [name for name in groups if name is not None and _is_group(label, name)]
    matching = [text] if text in matching else matching
    if len(matching) != 1:
        raise InvalidInputError(
            f"the column {column!r} of the batch has the value {values[0]}, and the groups of the "
            f"reference are {listed(sorted(map(_quoted, groups)), FEW)}; pass rows of one of these "
            "groups. The batch was not counted"
        )
    return matching[0]


def check_group(batch: Any, column: str, group: str) -> None:
    """Raise an error if the column of the group labels has a value other than `group`."""
    labels = _labels(batch, column)
    others = [label for label in labels if not _is_group(label, group)]
    if others:
        mixed = len(others) < len(labels)
        also = "also " if mixed else ""
        advice = (
            "check the rows of each group as one batch" if mixed else "pass the group of the rows"
        )
        template = (
            "the batch was passed with {--group=}, but its column {column!r} {also}has the value "
            "{others}; {advice}. The batch was not counted"
        )
        shown = listed(sorted(map(_quoted, others)), FEW)
        values = {"column": column, "also": also, "others": shown, "advice": advice}
        raise InvalidInputError(Message(template, group=group, **values))


def _labels(batch: Any, column: str) -> set[Any]:
    """Return the different values of a column of a batch; None stands for missing values.

    The set is empty if the batch does not have exactly one column with this name.
    """
    if is_chunked(batch):
        source = as_source(batch)
        if (source.columns or ()).count(column) != 1:
            return set()
        chunks = (typed_numbers(chunk) for chunk in source._raw_chunks([column]))
        return {
            None if is_missing(value) else value
            for chunk in chunks
            for value in chunk.column(0).unique().to_pylist()
        }
    labels = labels_of(batch) or ()
    if labels.count(column) != 1:
        return set()
    if isinstance(batch, NamedArray):
        values = batch.points[:, labels.index(column)].tolist()
    else:
        import narwhals as nw

        values = nw.from_native(batch, eager_only=True)[:, labels.index(column)].to_list()
    return {None if is_missing(value) else value for value in values}


def _is_group(label: Any, group: str) -> bool:
    """Return whether the value of a row is the label `group`.

    Labels of groups are strings. A number equals all strings with this number, such as "1" and
    "01".
    """
    if label is None or label_string(label) == group:
        return label is not None
    if isinstance(label, str) or not isinstance(label, int | float):
        return False
    try:
        return float(group) == label
    except ValueError:
        return False


def _quoted(label: Any) -> str:
    return "missing" if label is None else repr(label_string(label))
