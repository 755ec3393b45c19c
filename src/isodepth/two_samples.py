"""The rows of two samples as given: numeric columns with missing values, and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.data.arrays import column_labels
from isodepth.data.frames import is_frame
from isodepth.data.kinds import split_columns
from isodepth.data.matching import in_order, labels_of
from isodepth.data.validation import is_chunked, read_points
from isodepth.errors import InvalidInputError
from isodepth.tensors.host import to_host


@dataclass(frozen=True, eq=False)
class TwoSamples:
    """The rows of two samples as given.

    Attributes
    ----------
    points : pair of ndarrays of shape (n, d) and (m, d)
        Numeric columns; NaN for missing values.
    columns : tuple of str
        Names of the numeric columns.
    categories : dict of str to pair of lists of str or None
        Values of each category in both samples; None is a missing value.
    """

    points: tuple[np.ndarray, np.ndarray]
    columns: tuple[str, ...]
    categories: dict[str, list[list[str | None]]]

    @property
    def n_rows(self) -> tuple[int, int]:
        """Numbers of rows of both samples."""
        return len(self.points[0]), len(self.points[1])

    @classmethod
    def read(cls, X: Any, Y: Any, kinds: dict[str, Any] | None = None) -> TwoSamples:
        """Read two samples: arrays, data frames or tensors in memory."""
        if is_chunked(X) or is_chunked(Y):
            raise InvalidInputError(
                "single rows need both samples in memory, and these are read in chunks; pass a "
                "part of the rows as arrays or data frames"
            )
        X, Y = to_host(X), to_host(Y)
        mixed = split_columns((X, Y), ("X", "Y"), kinds)
        categories = {}
        if mixed is not None:
            categories = mixed.categories
            if mixed.numeric[0] is None:
                first = next(iter(categories.values()))
                x, y = (np.empty((len(values), 0)) for values in first)
                return cls((x, y), (), categories)
            X, Y = mixed.numeric
        Y = in_order(Y, labels_of(X), "Y", "X")
        (x, names), (y, _) = _numbers(X, "X"), _numbers(Y, "Y")
        return cls((x, y), names or tuple(column_labels(x.shape[1])), categories)

    def numbers(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of one numeric column in both samples, missing values removed."""
        j = self.columns.index(column)
        x, y = (points[:, j] for points in self.points)
        return x[~np.isnan(x)], y[~np.isnan(y)]


def _numbers(sample: Any, name: str) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return the numbers of a sample with NaN for missing values, and the names of its columns."""
    if not is_frame(sample):
        sample = np.ma.filled(np.ma.asarray(sample, dtype=float), np.nan)
    return read_points(sample, name, None)
