"""Batches as a monitor reads them: in the columns and the precision of its reference.

Rows are arrays (m, d + C): d columns of numbers, and for each of C categories the number of its
value among those of the reference. A value that the reference does not have gets the next number.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.reading import load_rows
from isodepth.data.arrays import column_labels
from isodepth.data.kinds import ColumnKind, category_texts, split_columns
from isodepth.data.matching import differing, in_order, labels_of
from isodepth.data.missing import MissingReport, Omitted, omit_missing
from isodepth.data.validation import (
    OMIT_HINT,
    check_points,
    check_same_columns,
    check_same_width,
    is_chunked,
)
from isodepth.errors import InvalidInputError
from isodepth.metric.base import MEMORY_MB


class Batch(NamedTuple):
    """The rows of a batch.

    Attributes
    ----------
    points : ndarray of shape (m, d + C)
        Without the rows with missing values.
    report : MissingReport
    new : tuple of (str, str, int)
        Column, value and number of rows of values that the reference does not have.
    """

    points: np.ndarray
    report: MissingReport
    new: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True)
class BatchReader:
    """What every batch must look like.

    Attributes
    ----------
    n_features : int
        Columns of numbers.
    columns : tuple of str or None
        Their names.
    dtype : {"float32", "float64"}
    nan_policy : {"raise", "omit"}
    missing : MissingReport
        Of the reference.
    categories : dict of tuples of str
        The values that each category has in the reference.
    kinds : tuple of ColumnKind
        Every column of a reference that is a data frame.
    """

    n_features: int
    columns: tuple[str, ...] | None
    dtype: str
    nan_policy: str
    missing: MissingReport
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kinds: tuple[ColumnKind, ...] = ()

    @classmethod
    def of_reference(
        cls,
        reference: Any,
        dtype: str | None,
        nan_policy: str,
        memory_mb: float = MEMORY_MB,
        seed: int | None = None,
        kinds: Any = None,
    ) -> tuple[BatchReader, np.ndarray]:
        """The reader, and the rows of the reference as they are given.

        Rows with missing values stay as rows of NaN, so that they take part when rows are shared
        out: a batch of 500 rows is one of 500 rows as given, some of which will lack a value. Of a
        source that does not fit into `memory_mb` rows are drawn with the `seed`.
        """
        if is_chunked(reference):
            split_columns([reference], ["the reference"], kinds)  # an error where there are any
            reference = load_rows(reference, "reference", dtype, nan_policy, memory_mb, seed)
        rows, texts, found = _read_mixed(reference, "reference", dtype, nan_policy, kinds)
        width, precision = rows.points.shape[1], str(rows.points.dtype)
        values = {name: tuple(sorted(set(own))) for name, own in texts.items()}
        reader = cls(width, rows.columns, precision, nan_policy, rows.report, values, found)
        if reader.given:
            numeric = [each.column for each in found if each.use == "numbers"]
            reader = replace(reader, columns=tuple(numeric))
        points = np.full((len(rows.kept), width + len(texts)), np.nan, dtype=precision)
        points[rows.kept, :width] = rows.points
        for at, (name, own) in enumerate(texts.items(), start=width):
            points[:, at] = np.where(rows.kept, reader.codes(name, own), np.nan)
        return reader, points

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called, categories last, also where they have no names."""
        return (*(self.columns or column_labels(self.n_features)), *self.categories)

    @property
    def given(self) -> dict[str, Any]:
        """The `kinds` that every batch is read with; empty where all columns are numbers."""
        uses = {"shares": "category", "left out": "omit"}
        kinds = {each.column: uses.get(each.use, each.given) for each in self.kinds}
        return {name: kind for name, kind in kinds.items() if kind is not None}

    def codes(self, column: str, texts: list[str]) -> np.ndarray:
        """The numbers of values of a category, of shape (m,)."""
        known = self.categories[column]
        places = {value: place for place, value in enumerate(known)}
        return np.array([places.get(text, len(known)) for text in texts], np.int64)

    def read(self, batch: Any) -> Batch:
        """The rows of a batch."""
        if self.given:
            return self._read_frame(batch)
        if is_chunked(batch):
            batch = load_rows(batch, "batch", self.dtype, self.nan_policy)
        batch = in_order(batch, self.columns, "the batch", "the reference")
        rows = _read_rows(batch, "batch", self.dtype, self.nan_policy)
        called = "the reference", "the batch"
        check_same_width(self.n_features, rows.points.shape[1], *called)
        check_same_columns(self.columns, rows.columns, *called)
        return Batch(rows.points, rows.report)

    def _read_frame(self, batch: Any) -> Batch:
        """The rows of a data frame; columns that are left out need not be there."""
        labels = labels_of(batch)
        if labels is None:
            raise InvalidInputError(
                f"the reference has the columns {', '.join(self.names)}, some of them categories, "
                f"and the batch is no data frame but {type(batch).__name__}; give one"
            )
        given = {name: kind for name, kind in self.given.items() if name in labels}
        rows, texts, found = _read_mixed(
            batch, "batch", self.dtype, self.nan_policy, given, self.columns
        )
        used = tuple(each.column for each in found if each.use != "left out")
        if sorted(used) != sorted(self.names):
            raise differing(self.names, used, "the reference", "the batch")
        codes = [self.codes(name, texts[name])[rows.kept] for name in self.categories]
        points = np.column_stack([rows.points, *codes]).astype(self.dtype)
        new = []
        for name, known in self.categories.items():
            counts = Counter(itertools.compress(texts[name], rows.kept)).most_common()
            new += [(name, value, count) for value, count in counts if value not in known]
        return Batch(points, rows.report, tuple(new))


def _read_mixed(
    given: Any, name: str, dtype: str | None, nan_policy: str, kinds: Any,
    columns: tuple[str, ...] | None = None,
) -> tuple[Omitted, dict[str, list[str]], tuple[ColumnKind, ...]]:  # fmt: skip
    """The rows of numbers, the texts of categories, and the kinds of all columns of a frame."""
    called = f"the {name}"
    mixed = split_columns([given], [called], kinds)
    if mixed is None:
        return _read_rows(given, name, dtype, nan_policy), {}, ()
    texts = {
        column: category_texts(values, column, called, nan_policy)
        for column, (values,) in mixed.categories.items()
    }
    (numbers,) = mixed.numeric
    if numbers is not None:
        numbers = in_order(numbers, columns, called, "the reference")
        return _read_rows(numbers, name, dtype, nan_policy), texts, mixed.columns
    if not texts:
        raise InvalidInputError(
            f"{called} must have a column of numbers or categories, got neither"
        )
    n = len(next(iter(texts.values())))
    rows = Omitted(np.empty((n, 0)), (), None, np.ones(n, bool), MissingReport(n, 0, ()))
    return rows, texts, mixed.columns


def _read_rows(given: Any, name: str, dtype: str | None, nan_policy: str) -> Omitted:
    if nan_policy == "omit":
        return omit_missing(given, None, name, dtype)
    points, columns = check_points(given, name, dtype, hint=OMIT_HINT)
    counts = tuple((label, 0) for label in columns or column_labels(points.shape[1]))
    n = len(points)
    return Omitted(points, columns, None, np.ones(n, bool), MissingReport(n, 0, counts))


def complete(points: np.ndarray) -> np.ndarray:
    """Rows (n, d) without those of NaN."""
    kept = ~np.isnan(points[:, 0])
    if not kept.any():
        raise InvalidInputError(
            f"{len(points)} rows of the reference that make one batch all have a missing value; "
            "leave out the columns that lack so many, or make batches larger"
        )
    return points if kept.all() else points[kept]
