"""Rows of two samples as the user passed them, with missing values and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.data.arrays import column_labels
from isodepth.data.kinds import split_columns
from isodepth.data.validation import is_chunked, read_pair
from isodepth.errors import InvalidInputError
from isodepth.tensors.host import to_host


@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Rows of two samples as the user passed them.

    Attributes
    ----------
    points : pair of ndarrays of shape (n, d) and (m, d)
        Values of the numeric columns; NaN for missing values.
    columns : tuple of str
        Names of the numeric columns.
    categories : dict
        For the name of each categorical column, the list of values of X and that of Y. Values are
        strings, or None if missing.
    """

    points: tuple[np.ndarray, np.ndarray]
    columns: tuple[str, ...]
    categories: dict[str, list[list[str | None]]]

    @property
    def n_rows(self) -> tuple[int, int]:
        """Number of rows of each sample."""
        return len(self.points[0]), len(self.points[1])

    @classmethod
    def read(cls, X: Any, Y: Any, kinds: dict[str, Any] | None = None) -> TwoSamples:
        """Read two samples in memory, which may be arrays, data frames or tensors.

        `kinds` is the option of :func:`isodepth.two_sample_test`.
        """
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
        rows, other = read_pair(X, Y, "keep")
        names = rows.columns or tuple(column_labels(rows.points.shape[1]))
        return cls((rows.points, other.points), names, categories)

    def numbers(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of one numeric column in X and in Y, without missing values."""
        j = self.columns.index(column)
        x, y = (points[:, j] for points in self.points)
        return x[~np.isnan(x)], y[~np.isnan(y)]
