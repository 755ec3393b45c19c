"""DistanceMatrix: distances between many samples, with labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.data.results import LabeledMatrix, label_text, plain
from isodepth.errors import InvalidInputError
from isodepth.results import ReportableResult


@dataclass(frozen=True, eq=False, repr=False)
class DistanceMatrix(LabeledMatrix, ReportableResult):
    """Distance matrix with labels.

    NumPy functions accept it as an array: ``np.asarray(matrix)``.

    Attributes
    ----------
    values : ndarray of shape (N, M)
    labels : tuple of N str
        Labels of the rows.
    other_labels : tuple of M str
        Labels of the columns; equal to `labels` if samples were compared with themselves.
    signature : str
        The settings of the distances; empty if unknown.

    Examples
    --------
    >>> import isodepth
    >>> bags = {"a": [[0.0], [1.0]], "b": [[0.5], [1.0]], "c": [[8.0], [9.0]]}
    >>> matrix = isodepth.DistanceMatrix.of(isodepth.pairwise(list(bags.values())), bags)
    >>> matrix.nearest("a")
    ('b', 0.5)
    >>> matrix.to_frame().round(1)
          a    b    c
    a   0.0  0.5  8.0
    b   0.5  0.0  8.0
    c   8.0  8.0  0.0
    """

    result_type = "matrix"

    def nearest(self, label: Any) -> tuple[str, float]:
        """Return the label and the distance of the nearest other sample.

        Labels are strings; a number is converted to its string.
        """
        label = label_text(label)
        if label not in self.labels:
            raise InvalidInputError(
                f"there is no sample {label!r}; the samples are {', '.join(self.labels[:20])}"
            )
        row = np.array(self.values[self.labels.index(label)], dtype=float)
        if self.among_themselves:
            if len(row) == 1:
                raise InvalidInputError(f"{label!r} is the only sample")
            row[self.labels.index(label)] = np.inf
        return self.other_labels[int(row.argmin())], float(row.min())

    def to_dict(self) -> dict[str, Any]:
        """Convert labels, distances and signature to plain Python objects."""
        return plain(
            {
                "labels": self.labels,
                "other_labels": self.other_labels,
                "distances": self.values,
                "signature": self.signature,
            }
        )

    def to_frame(self, backend: str = "pandas") -> Any:
        """Convert to a data frame with one column per label of the columns.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The labels of the rows are the index in pandas, otherwise the first column.
        """
        frame = super().to_frame(backend)
        if backend != "pandas":
            return frame
        return frame.set_index(frame.columns[0]).rename_axis(index=None)

    def _rows(self) -> dict[str, list[Any]]:
        name = "sample"
        while name in self.other_labels:
            name += "_"
        columns = np.asarray(self.values).T
        each = zip(self.other_labels, columns, strict=True)
        return {name: list(self.labels), **{label: column.tolist() for label, column in each}}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False and dtype is not None and np.dtype(dtype) != self.values.dtype:
            raise ValueError(f"distances in {self.values.dtype} become {dtype} only as a copy")
        return (np.array if copy else np.asarray)(self.values, dtype=dtype)

    def __repr__(self) -> str:
        n, m = self.values.shape
        among = f"between {n} samples" if self.among_themselves else f"from {n} to {m} samples"
        lines = [f"DistanceMatrix: distances {among}"]
        if self.signature:
            lines.append(self.signature)
        return "\n  ".join(lines)

    def __str__(self) -> str:
        return "\n".join([repr(self), *self.matrix_lines()])

    def _heading(self) -> str:
        return repr(self)
