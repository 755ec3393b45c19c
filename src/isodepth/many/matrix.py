"""Distance matrix with labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.base.export import (
    DrawnResult,
    has_label,
    keys,
    label_column,
    label_texts,
    position_of,
)
from isodepth.errors import InvalidInputError, UnknownLabelError


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DistanceMatrix(DrawnResult):
    """Distance matrix with labels, the result of :func:`isodepth.pairwise`.

    The matrix can be converted to an array: ``np.asarray(matrix)`` is the array of distances, so
    functions of NumPy, SciPy and scikit-learn accept the matrix. Use ``matrix.values`` in formulas.
    ``matrix["a", "b"]`` is the distance between the samples with these labels, ``matrix["a"]`` the
    row of a sample, and ``"a" in matrix`` whether there is such a row. Slices and arrays index the
    array. So do integers, unless labels are integers: ``matrix[2020, 2021]``. A tuple that is a
    label, and not a pair of labels or positions, selects a row.

    Attributes
    ----------
    values : ndarray of shape (N, M), read-only
        Distances between N samples and M samples.
    labels : tuple of N labels
        Labels of the rows: strings, or other values such as integers, as they were passed.
    other_labels : tuple of M labels
        Labels of the columns; equal to `labels` if samples were compared with themselves.
    signature : str
        Settings of the distances as a string; empty if unknown.
    settings : dict or None
        Settings of the distances: map from the name of each option to a number or string; None if
        unknown. Infinity is a float, and the string "inf" in JSON.

    Examples
    --------
    >>> import isodepth
    >>> bags = {"a": [[0.0], [1.0]], "b": [[0.5], [1.0]], "c": [[8.0], [9.0]]}
    >>> matrix = isodepth.pairwise(bags)
    >>> matrix.shape, float(matrix["a", "b"]), float(matrix[0, 1])
    ((3, 3), 0.5, 0.5)
    >>> matrix.to_frame().round(1)
          a    b    c
    a   0.0  0.5  8.0
    b   0.5  0.0  8.0
    c   8.0  8.0  0.0
    """

    _result_type = "distance_matrix"
    _in_json = keys(
        labels="_label_texts", other_labels="_other_texts", distances="values",
        settings="_json_settings", signature="signature",
    )  # fmt: skip

    values: np.ndarray
    labels: tuple[Any, ...]
    other_labels: tuple[Any, ...]
    signature: str = ""
    settings: dict[str, Any] | None = None

    @classmethod
    def from_array(
        cls,
        values: Any,
        labels: Iterable[Any] | None = None,
        other_labels: Iterable[Any] | None = None,
        signature: str = "",
    ) -> DistanceMatrix:
        """Create a distance matrix from labels and a copy of an array.

        Parameters
        ----------
        values : array-like of shape (N, M)
        labels : N names, by default "0", "1", ...
            Names of the rows.
        other_labels : M names; by default `labels` for a square matrix, else "0", "1", ...
            Names of the columns.
        signature : str
            Settings of the distances as a string.
        """
        try:
            matrix = np.array(values) if isinstance(values, np.ndarray) else np.array(values, float)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"values must be a matrix of distances: {error}") from None
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiu" or matrix.size == 0:
            raise InvalidInputError(
                f"values must be a matrix of distances, got {matrix.dtype} of shape {matrix.shape}"
            )
        refused = matrix[~(matrix >= 0)]
        if len(refused):
            raise InvalidInputError(
                f"values must be distances, which are neither negative nor NaN, got {refused[0]}"
            )
        rows = _names(labels, matrix.shape[0], "labels")
        square = other_labels is None and matrix.shape[0] == matrix.shape[1]
        columns = rows if square else _names(other_labels, matrix.shape[1], "other_labels")
        return cls(values=matrix, labels=rows, other_labels=columns, signature=signature)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns, (N, M)."""
        n, m = self.values.shape
        return n, m

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: Any) -> bool:
        return has_label(label, self.labels)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.values)

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, tuple):
            axes = zip(item, (self.labels, self.other_labels), strict=False)
            try:
                positions = [position_of(each, labels) for each, labels in axes]
            except UnknownLabelError:
                if item not in self:
                    raise
                # A tuple that is itself a label, such as ("u", 1), selects a row.
                return self.values[position_of(item, self.labels)]
            return self.values[*positions, *item[2:]]
        return self.values[position_of(item, self.labels)]

    def _matrix_lines(self, most: int = 12) -> list[str]:
        """Format the matrix as lines of text, with at most `most` rows and `most` columns.

        A last line reports the shape if rows or columns are left out.

        Examples
        --------
        >>> import isodepth
        >>> matrix = isodepth.DistanceMatrix.from_array([[0, 1.5], [1.5, 0]], ["june", "july"])
        >>> print(*matrix._matrix_lines(), sep="\\n")
              june  july
        june     0   1.5
        july   1.5     0
        """
        values = np.asarray(self.values)[:most, :most]
        rows = list(zip(label_texts(self.labels[:most]), values, strict=True))
        cells = [["", *label_texts(self.other_labels[:most])]]
        cells += [[label, *(f"{value:.4g}" for value in row)] for label, row in rows]
        first, *rest = (max(map(len, column)) for column in zip(*cells, strict=True))
        lines = [
            "  ".join([row[0].ljust(first), *map(str.rjust, row[1:], rest)]).rstrip()
            for row in cells
        ]
        n, m = self.values.shape
        return lines if max(n, m) <= most else [*lines, f"(first rows and columns of {n} x {m})"]

    @property
    def _label_texts(self) -> tuple[str, ...]:
        return label_texts(self.labels)

    @property
    def _other_texts(self) -> tuple[str, ...]:
        return label_texts(self.other_labels)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Convert to a data frame with rows for `labels` and columns for `other_labels`.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The labels of the rows are the index in pandas, otherwise the first column. Labels that
            are tuples, or of several types, are converted to strings; so are the names of columns,
            except in pandas.
        """
        frame = super().to_frame(backend)
        if backend != "pandas":
            return frame
        frame = frame.set_index(frame.columns[0]).rename_axis(index=None)
        return frame.set_axis(label_column(self.other_labels), axis="columns")

    def _rows(self) -> dict[str, list[Any]]:
        name, texts = "sample", label_texts(self.other_labels)
        while name in texts:
            name += "_"
        each = zip(texts, np.asarray(self.values).T, strict=True)
        return {
            name: label_column(self.labels), **{text: column.tolist() for text, column in each}
        }  # fmt: skip

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        n, m = self.values.shape
        same = self.labels == self.other_labels
        among = f"between {n} sample{'s' * (n != 1)}" if same else f"from {n} to {m} samples"
        return f"DistanceMatrix: distances {among}{self._refinement}"

    @property
    def _refinement(self) -> str:
        """Clause ", without refinement" if distances are maxima over the sampled directions, or "".

        Without refinement, such maxima are smaller than the suprema over all directions.
        """
        settings = self.settings or {}
        maxima = settings.get("q") == math.inf and settings.get("gap") == "search"
        return ", without refinement" if maxima and settings.get("refine") == 0 else ""

    def __str__(self) -> str:
        return "\n".join([repr(self), *self._matrix_lines()])


def _names(labels: Iterable[Any] | None, count: int, name: str) -> tuple[Any, ...]:
    if labels is None:
        return tuple(map(str, range(count)))
    labels = tuple(labels)
    names = label_texts(labels)
    if len(names) != count:
        raise InvalidInputError(f"{name} must have {count} entries, got {len(names)}")
    if len(set(names)) != count:
        twice = next(label for label in names if names.count(label) > 1)
        raise InvalidInputError(f"{name} must be distinct, got {twice!r} twice")
    return labels
