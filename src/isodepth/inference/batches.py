"""Batches as a monitor reads them: in the columns, units and precision of its reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.data.arrays import column_labels
from isodepth.data.frames import clashing_columns
from isodepth.data.matching import in_order
from isodepth.data.missing import MissingReport, omit_missing
from isodepth.data.validation import check_points, check_weights
from isodepth.errors import InvalidInputError
from isodepth.metric.inputs import OMIT_HINT, is_chunked
from isodepth.metric.settings import MEMORY_MB


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
            points, columns, _, report = _loaded(
                reference, "reference", dtype, nan_policy, memory_mb, seed
            )
        elif nan_policy == "omit":
            whole, columns, _, kept, report = omit_missing(reference, None, "reference", dtype)
            points = np.full((report.n_rows, whole.shape[1]), np.nan, dtype=whole.dtype)
            points[kept] = whole
        else:
            points, columns = check_points(reference, "reference", dtype, hint=OMIT_HINT)
            report = _nothing_missing(points, columns)
        reader = cls(points.shape[1], columns, str(points.dtype), nan_policy, report)
        return reader, points

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called, also where they have no names."""
        return self.columns or tuple(column_labels(self.n_features))

    def read(
        self, batch: Any, weights: Any = None
    ) -> tuple[np.ndarray, np.ndarray | None, MissingReport]:
        """Points and weights of a batch, and what was left out of it."""
        if not is_chunked(batch):
            batch = in_order(batch, self.columns, "the batch", "the reference")
        if is_chunked(batch):
            if weights is not None:
                raise InvalidInputError(
                    "batch is read in chunks and its weights with it, got weights as well; name "
                    "their column, as in scan(..., weights='weight')"
                )
            points, columns, own, report = _loaded(batch, "batch", self.dtype, self.nan_policy)
            kept = ~np.isnan(points[:, 0])
            if not kept.any():
                raise InvalidInputError("every row of batch has a missing value; nothing is left")
            points, own = points[kept], None if own is None else own[kept]
            checked = check_weights(own, len(points))
        elif self.nan_policy == "omit":
            points, columns, checked, _, report = omit_missing(batch, weights, "batch", self.dtype)
        else:
            points, columns = check_points(batch, "batch", self.dtype, hint=OMIT_HINT)
            checked = check_weights(weights, len(points))
            report = _nothing_missing(points, columns)
        if points.shape[1] != self.n_features:
            raise InvalidInputError(
                f"the reference and the batch come from data of different widths, "
                f"{self.n_features} and {points.shape[1]} columns"
            )
        if clashing_columns(self.columns, columns):
            raise InvalidInputError(
                f"the reference and the batch come from data with different columns: "
                f"{list(self.columns or ())} and {list(columns or ())}; select the same columns in "
                "the same order"
            )
        return points, checked, report


def _loaded(
    given: Any,
    name: str,
    dtype: str | None,
    nan_policy: str,
    memory_mb: float = MEMORY_MB,
    seed: int | None = None,
) -> tuple[np.ndarray, tuple[str, ...] | None, np.ndarray | None, MissingReport]:
    """The rows of a source, those with a missing value as rows of NaN."""
    from isodepth.chunked.loading import load_rows

    found = load_rows(given, name, dtype, nan_policy, memory_mb, seed)
    if name == "reference" and found.weights is not None:
        raise InvalidInputError(
            "rows are shared out one by one between the table and the calibration, and weights do "
            "not go with batch_size or blocks; scan the reference without them"
        )
    dropped = int(np.isnan(found.points[:, 0]).sum())
    labels = found.columns or column_labels(found.points.shape[1])
    counts = tuple(zip(labels, found.counts.tolist(), strict=True))
    return (
        found.points,
        found.columns,
        found.weights,
        MissingReport(len(found.points), dropped, counts),
    )


def complete(points: np.ndarray) -> np.ndarray:
    """Rows (n, d) without those of NaN."""
    kept = ~np.isnan(points[:, 0])
    if kept.all():
        return points
    if not kept.any():
        raise InvalidInputError(
            f"{len(points)} rows of the reference that make one batch all have a missing value; "
            "leave out the columns that lack so many, or make batches larger"
        )
    return points[kept]


def _nothing_missing(points: np.ndarray, columns: tuple[str, ...] | None) -> MissingReport:
    labels = columns or column_labels(points.shape[1])
    return MissingReport(len(points), 0, tuple((label, 0) for label in labels))
