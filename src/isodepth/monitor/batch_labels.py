"""Check that all rows of a batch have the block, or the group, that the batch should have.

Blocks and groups are the options of `Monitor` that label the rows of the reference. If they are
names of columns, a batch may have these columns too. A batch without the column is not checked.
"""

from __future__ import annotations

from typing import Any

from isodepth.data.arrays import FEW, is_missing, listed
from isodepth.data.frames import NamedArray, labels_of
from isodepth.data.validation import is_chunked
from isodepth.errors import InvalidInputError
from isodepth.sources.frames import typed_table
from isodepth.sources.passes import FrameReading
from isodepth.sources.profile import Profile
from isodepth.sources.scan import as_source


def check_block(batch: Any, column: str) -> None:
    """Raise an error if the column `column`, which has the labels of blocks, has several values."""
    labels = _labels(batch, column)
    if len(labels) > 1:
        raise InvalidInputError(
            f"a batch is compared with whole blocks, and the column {column!r} of this batch has "
            f"{len(labels)} different values, {listed(sorted(map(_quoted, labels)), FEW)}; check "
            "the rows of each block as one batch. The batch was not counted"
        )


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
        raise InvalidInputError(
            f"the batch was passed with group={group!r}, but its column {column!r} {also}has the "
            f"value {listed(sorted(map(_quoted, others)), FEW)}; {advice}. The batch was not "
            "counted"
        )


def _labels(batch: Any, column: str) -> set[Any]:
    """Return the different values of a column of a batch; None stands for missing values.

    The set is empty if the batch does not have exactly one column with this name.
    """
    if is_chunked(batch):
        source = as_source(batch)
        if (source.columns or ()).count(column) != 1:
            return set()
        source = source._select([column])
        # The types of text files are known after a first pass.
        untyped = any(part.untyped for part in source._parts)
        types = Profile.of(source, 1, 0).types if untyped else {}
        chunks = FrameReading().read(source._parts)
        return {
            None if is_missing(value) else value
            for chunk in chunks
            for value in typed_table(chunk.table, types).column(0).unique().to_pylist()
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

    Labels of groups are strings. The numbers 1 and 1.0 equal both the label "1" and the label
    "1.0".
    """
    if label is None or str(label) == group:
        return label is not None
    if isinstance(label, str) or not isinstance(label, int | float):
        return False
    try:
        return float(group) == label
    except ValueError:
        return False


def _quoted(label: Any) -> str:
    return "missing" if label is None else repr(str(label))
