"""Batches as a monitor reads them: in the columns and the precision of its reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.arrays import column_labels
from isodepth.data.frames import clashing_columns
from isodepth.data.matching import in_order
from isodepth.data.missing import MissingReport, omit_missing
from isodepth.data.validation import OMIT_HINT, check_points, check_weights, is_chunked
from isodepth.errors import InvalidInputError
from isodepth.metric.base import MEMORY_MB


class Rows(NamedTuple):
    """The rows of a sample.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        Without the rows with missing values.
    kept : bool ndarray of shape (n,)
        Which rows these are.
    columns : tuple of str or None
    weights : ndarray of shape (m,) or None
    report : MissingReport
    """

    points: np.ndarray
    kept: np.ndarray
    columns: tuple[str, ...] | None
    weights: np.ndarray | None
    report: MissingReport


@dataclass(frozen=True)
class BatchReader:
    """What every batch must look like.

    Attributes
    ----------
    n_features : int
    columns : tuple of str or None
    dtype : {"float32", "float64"}
    nan_policy : {"raise", "omit"}
    missing : MissingReport
        Of the reference.
    """

    n_features: int
    columns: tuple[str, ...] | None
    dtype: str
    nan_policy: str
    missing: MissingReport

    @classmethod
    def of_reference(
        cls,
        reference: Any,
        dtype: str | None,
        nan_policy: str,
        memory_mb: float = MEMORY_MB,
        seed: int | None = None,
    ) -> tuple[BatchReader, np.ndarray]:
        """The reader, and the rows of the reference as they are given.

        Rows with missing values stay as rows of NaN, so that they take part when rows are shared
        out: a batch of 500 rows is one of 500 rows as given, some of which will lack a value. Of a
        source that does not fit into `memory_mb` rows are drawn with the `seed`.
        """
        if is_chunked(reference):
            rows = _load_rows(reference, "reference", dtype, nan_policy, memory_mb, seed)
            if rows.weights is not None:
                raise InvalidInputError(
                    "rows of the reference are shared out one by one, and weights do not go with "
                    "batch_size or blocks; scan the reference without them"
                )
        else:
            rows = _read_rows(reference, None, "reference", dtype, nan_policy)
        width, precision = rows.points.shape[1], rows.points.dtype
        points = np.full((len(rows.kept), width), np.nan, dtype=precision)
        points[rows.kept] = rows.points
        return cls(width, rows.columns, str(precision), nan_policy, rows.report), points

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called, also where they have no names."""
        return self.columns or tuple(column_labels(self.n_features))

    def read(self, batch: Any, weights: Any = None) -> Rows:
        """The rows of a batch."""
        if is_chunked(batch):
            if weights is not None:
                raise InvalidInputError(
                    "batch is read in chunks and its weights with it, got weights as well; name "
                    "their column, as in scan(..., weights='weight')"
                )
            rows = _load_rows(batch, "batch", self.dtype, self.nan_policy)
        else:
            batch = in_order(batch, self.columns, "the batch", "the reference")
            rows = _read_rows(batch, weights, "batch", self.dtype, self.nan_policy)
        if rows.points.shape[1] != self.n_features:
            raise InvalidInputError(
                f"the reference and the batch come from data of different widths, "
                f"{self.n_features} and {rows.points.shape[1]} columns"
            )
        if clashing_columns(self.columns, rows.columns):
            raise InvalidInputError(
                f"the reference and the batch come from data with different columns: "
                f"{list(self.columns or ())} and {list(rows.columns or ())}; select the same "
                "columns in the same order"
            )
        return rows


def _read_rows(given: Any, weights: Any, name: str, dtype: str | None, nan_policy: str) -> Rows:
    if nan_policy == "omit":
        points, columns, checked, kept, report = omit_missing(given, weights, name, dtype)
        return Rows(points, kept, columns, checked, report)
    points, columns = check_points(given, name, dtype, hint=OMIT_HINT)
    counts = tuple((label, 0) for label in columns or column_labels(points.shape[1]))
    report = MissingReport(len(points), 0, counts)
    checked = check_weights(weights, len(points))
    return Rows(points, np.ones(len(points), dtype=bool), columns, checked, report)


def _load_rows(
    given: Any,
    name: str,
    dtype: str | None,
    nan_policy: str,
    memory_mb: float = MEMORY_MB,
    seed: int | None = None,
) -> Rows:
    """The rows of a source."""
    from isodepth.chunked.reading import load_rows

    found = load_rows(given, name, dtype, nan_policy, memory_mb, seed)
    kept = ~np.isnan(found.points[:, 0])
    if not kept.any():
        raise InvalidInputError(f"every row of {name} has a missing value; nothing is left")
    labels = found.columns or column_labels(found.points.shape[1])
    counts = tuple(zip(labels, found.counts.tolist(), strict=True))
    report = MissingReport(len(kept), int((~kept).sum()), counts)
    weights = None if found.weights is None else check_weights(found.weights[kept], kept.sum())
    return Rows(found.points[kept], kept, found.columns, weights, report)


def complete(points: np.ndarray) -> np.ndarray:
    """Rows (n, d) without those of NaN."""
    kept = ~np.isnan(points[:, 0])
    if not kept.any():
        raise InvalidInputError(
            f"{len(points)} rows of the reference that make one batch all have a missing value; "
            "leave out the columns that lack so many, or make batches larger"
        )
    return points if kept.all() else points[kept]
