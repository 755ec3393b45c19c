"""DistanceMatrix: all distances between many samples, with the names of the samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.data.results import ReportableResult, plain
from isodepth.errors import InvalidInputError


@dataclass(frozen=True, eq=False, repr=False)
class DistanceMatrix(ReportableResult):
    """Distances between many samples, by name.

    NumPy takes it wherever it takes a matrix: ``np.asarray(matrix)``.

    Attributes
    ----------
    values : ndarray of shape (N, M)
    labels : tuple of N str
        The samples of the rows.
    other_labels : tuple of M str
        Those of the columns; the same as `labels` if samples were compared with themselves.
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

    values: np.ndarray
    labels: tuple[str, ...]
    other_labels: tuple[str, ...]
    signature: str = ""

    @classmethod
    def of(
        cls,
        values: Any,
        labels: Iterable[Any] | None = None,
        other_labels: Iterable[Any] | None = None,
        signature: str = "",
    ) -> DistanceMatrix:
        """Name the rows and columns of a matrix of distances.

        Parameters
        ----------
        values : array-like of shape (N, M)
        labels : N names, by default "0", "1", ...
        other_labels : M names; by default those of the rows for a square matrix, else "0", ...
        signature : str
        """
        matrix = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=float)
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiu" or matrix.size == 0:
            raise InvalidInputError(
                f"values must be a matrix of distances, got {matrix.dtype} of shape {matrix.shape}"
            )
        rows = _names(labels, matrix.shape[0], "labels")
        square = other_labels is None and matrix.shape[0] == matrix.shape[1]
        columns = rows if square else _names(other_labels, matrix.shape[1], "other_labels")
        return cls(matrix, rows, columns, signature)

    @property
    def among_themselves(self) -> bool:
        """Whether rows and columns are the same samples."""
        return self.labels == self.other_labels

    def nearest(self, label: Any) -> tuple[str, float]:
        """The sample closest to one of those of the rows, itself apart, and its distance.

        Labels are texts; a number stands for its text.
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
        """Labels, distances row by row, and the signature."""
        return plain(
            {
                "labels": self.labels,
                "other_labels": self.other_labels,
                "distances": self.values,
                "signature": self.signature,
            }
        )

    def to_frame(self, backend: str = "pandas") -> Any:
        """The matrix as a data frame, with a column for each sample of the columns.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            In pandas the samples of the rows are the index; elsewhere the first column.
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

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        n, m = self.values.shape
        among = f"between {n} samples" if self.among_themselves else f"from {n} to {m} samples"
        lines = [f"DistanceMatrix: distances {among}"]
        if self.signature:
            lines.append(self.signature)
        return "\n  ".join(lines)


def _names(labels: Iterable[Any] | None, count: int, name: str) -> tuple[str, ...]:
    found = (
        tuple(str(i) for i in range(count)) if labels is None else tuple(map(label_text, labels))
    )
    if len(found) != count:
        raise InvalidInputError(f"{name} must name {count} samples, got {len(found)}")
    if len(set(found)) != count:
        twice = next(label for label in found if found.count(label) > 1)
        raise InvalidInputError(f"{name} must differ from each other, got {twice!r} twice")
    return found


def label_text(label: Any) -> str:
    """A label as a text; of the several keys of a group all are named.

    Examples
    --------
    >>> label_text(("EWR", 7)), label_text((7,)), label_text(np.int64(7)), label_text(7.0)
    ('EWR, 7', '7', '7', '7.0')
    """
    if isinstance(label, tuple):
        return ", ".join(str(part) for part in label)
    return str(label)
