"""Labels of batches, and the blocks and groups of the rows of a batch, as strings.

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
from isodepth.significance.samples import row_labels
from isodepth.table.raw import Sample, typed_numbers

_LONGEST_LABEL = 200


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


def batch_label(label: Any) -> str:
    """Return the label of a batch as a string; raise an error if it is not valid."""
    if not isinstance(label, str) and (
        isinstance(label, Collection) or is_missing(label) or label != label
    ):
        template = "{--label} must be a string, a date or a number, got {received!r:.80}"
        raise InvalidInputError(Message(template, received=label))
    text = label_string(label)
    if not (text.isprintable() and 0 < len(text) <= _LONGEST_LABEL):
        template = "{--label} must have 1 to {most} printable characters, got {received!r:.80}"
        raise InvalidInputError(Message(template, most=_LONGEST_LABEL, received=text))
    return text


def row_label_strings(labels: Any, option: str, n: int) -> np.ndarray:
    """Return the labels of the n rows of the reference as an array (n,) of strings.

    `option` is "blocks" or "groups".
    """
    array = row_labels(labels, option, n, "the reference")
    # `tolist` converts times in nanoseconds to integers.
    values = list(array) if array.dtype.kind == "M" else array.tolist()
    strings = {key: label_string(key[1]) for key in {(type(value), value) for value in values}}
    words = {text for (type_, _), text in strings.items() if issubclass(type_, str)}
    if words & {text for (type_, _), text in strings.items() if not issubclass(type_, str)}:
        raise InvalidInputError(
            f"{option} has labels of different types that are equal as strings, such as 1 and '1'; "
            "use labels of one type"
        )
    return np.array([strings[type(value), value] for value in values])


# -- columns with labels --------------------------------------------------------------------------


def check_block(batch: Any, column: str) -> None:
    """Raise an error if the column `column`, which has the labels of blocks, has several values."""
    _check_single(column, _labels(batch, column), "a batch is compared with whole blocks", "block")


def group_of(batch: Any, column: str, groups: Collection[str | None]) -> str | None:
    """Return the group in the column `column` of a batch; None if the batch lacks the column.

    Raise an error if the column has several values, or a value that is not one of `groups`.
    """
    labels = _labels(batch, column)
    _check_single(column, labels, "a batch belongs to one group", "group")
    if not labels:
        return None
    (label,) = labels
    text = None if label is None else label_string(label)
    matching = [name for name in groups if name is not None and _is_group(label, name)]
    matching = [text] if text in matching else matching
    if len(matching) != 1:
        raise InvalidInputError(
            f"the column {column!r} of the batch has the value {_quoted(label)}, and the groups of "
            f"the reference are {_listed(groups)}; pass rows of one of these groups. The batch was "
            "not counted"
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
        values = {"column": column, "also": also, "others": _listed(others), "advice": advice}
        raise InvalidInputError(Message(template, group=group, **values))


def _check_single(column: str, labels: Collection[Any], rule: str, unit: str) -> None:
    """Raise an error if a column of labels has several values."""
    if len(labels) > 1:
        raise InvalidInputError(
            f"{rule}, and the column {column!r} of this batch has {len(labels)} different values, "
            f"{_listed(labels)}; check the rows of each {unit} as one batch. The batch was not "
            "counted"
        )


def _labels(batch: Any, column: str) -> set[Any]:
    """Return the different values of a column of a batch; None stands for missing values.

    The set is empty if the batch does not have exactly one column with this name.
    """
    if not isinstance(batch, Sample) or not batch._named or column not in batch._labels:
        return set()
    return {
        None if is_missing(value) or value != value else value
        for chunk in batch._raw_chunks([column])
        for value in typed_numbers(chunk).column(0).unique().to_pylist()
    }


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


def _listed(labels: Collection[Any]) -> str:
    return listed(sorted(map(_quoted, labels)), FEW)
