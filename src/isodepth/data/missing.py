"""Rows with missing values: dropped on request, counted, and compared between samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.arrays import column_labels, is_missing, named_counts
from isodepth.data.frames import is_frame
from isodepth.data.results import ResultMixin, plain
from isodepth.data.validation import check_finite, check_weights, read_points
from isodepth.errors import InvalidInputError

#: Allowed values of `nan_policy=`.
NAN_POLICIES = ("raise", "omit")
#: Standard errors from which a difference of the shares of missing values is reported.
TELLING = 4.0


@dataclass(frozen=True)
class MissingReport:
    """Rows of a sample that were dropped because of missing values.

    Attributes
    ----------
    n_rows : int
        Number of rows before.
    n_dropped : int
        Number of rows with a missing value in any column.
    counts : tuple of (str, int)
        Name of every column ("column 0" without names) and its number of missing values.

    Examples
    --------
    >>> from isodepth.data.missing import MissingReport
    >>> print(MissingReport(100, 3, (("temp", 2), ("wind", 1), ("dewp", 0))))
    3 of 100 rows, missing values in temp (2), wind (1)
    """

    n_rows: int
    n_dropped: int
    counts: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        text = f"{self.n_dropped} of {self.n_rows} rows"
        return f"{text}, missing values in {named_counts(self.counts)}" if self.n_dropped else text


class MissingShare(NamedTuple):
    """Missing values of one column in two samples.

    Attributes
    ----------
    column : str
    x, y : float
        Share of the rows in which the column is missing.
    z : float
        Difference (y - x) divided by its standard error under equal shares; 0 if nothing is
        missing.
    """

    column: str
    x: float
    y: float
    z: float


@dataclass(frozen=True)
class MissingPair(ResultMixin):
    """Dropped rows of the two samples of a comparison.

    Attributes
    ----------
    x, y : MissingReport
    kept : pair of bool ndarrays of shape (n,) and (m,), or None
        Mask of the rows that were kept.
    """

    x: MissingReport
    y: MissingReport
    kept: tuple[np.ndarray, np.ndarray] | None = field(default=None, compare=False, repr=False)

    @property
    def shares(self) -> list[MissingShare]:
        """Shares of missing values of every column, the most significant difference first.

        A distance between the remaining rows does not include a change of these shares.
        """
        n, m = self.x.n_rows, self.y.n_rows
        shares = []
        for (label, in_x), (_, in_y) in zip(self.x.counts, self.y.counts, strict=True):
            both = (in_x + in_y) / (n + m)
            error = math.sqrt(both * (1 - both) * (1 / n + 1 / m))
            z = (in_y / m - in_x / n) / error if error > 0 else 0.0
            shares.append(MissingShare(label, in_x / n, in_y / m, z))
        # The sort is stable: columns with equal differences keep their order.
        return sorted(shares, key=lambda share: -abs(share.z))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of rows and dropped rows, and the shares of all columns."""
        both = (self.x, self.y)
        return plain(
            {
                "rows": [report.n_rows for report in both],
                "left_out": [report.n_dropped for report in both],
                "columns": self.shares,
            }
        )

    def _rows(self) -> dict[str, list[Any]]:
        names = MissingShare._fields
        return {name: [getattr(share, name) for share in self.shares] for name in names}

    def difference(self, names: Sequence[str] = ("X", "Y")) -> str:
        """Describe the column that is missing much more often in one sample, or return ""."""
        first = self.shares[0]
        if abs(first.z) < TELLING:
            return ""
        x, y = names
        return f"{first.column} is missing in {first.x:.1%} of {x} and {first.y:.1%} of {y}"

    def __str__(self) -> str:
        text, difference = f"dropped {self.x} of X; {self.y} of Y", self.difference()
        if not difference:
            return text
        return (
            f"{text}; {difference}, {abs(self.shares[0].z):.1f} standard errors apart: a "
            "difference that is not visible in the remaining rows"
        )


class Omitted(NamedTuple):
    """A sample without its rows with missing values.

    Attributes
    ----------
    points : ndarray of shape (k, d), finite
    columns : tuple of str or None
    weights : ndarray of shape (k,) or None
    kept : bool ndarray of shape (n,)
    report : MissingReport
    missing : bool ndarray of shape (n, d) or None
        Missing values of all rows.
    """

    points: np.ndarray
    columns: tuple[str, ...] | None
    weights: np.ndarray | None
    kept: np.ndarray
    report: MissingReport
    missing: np.ndarray | None = None


def omit_missing(X: Any, weights: Any = None, name: str = "X", dtype: str | None = None) -> Omitted:
    """Drop the rows of a sample that have a missing value.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Missing values are NaN, None, NA and NaT of data frames, and masked entries. Infinite
        values are refused.
    weights : array-like of shape (n,) or None
        Weights of dropped rows are dropped too.
    name : str
        Name of `X` in error messages.
    dtype : {"float32", "float64"} or None

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.data.missing import omit_missing
    >>> left = omit_missing([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]])
    >>> left.points.tolist(), left.report.n_dropped
    ([[1.0, 2.0], [4.0, 5.0]], 1)
    """
    points, columns = read_points(_with_nan(X), name, dtype)
    checked = check_weights(weights, len(points), f"weights of {name}")
    missing = np.isnan(points)
    kept = ~missing.any(axis=1)
    labels = columns or column_labels(points.shape[1])
    counts = tuple(zip(labels, missing.sum(axis=0).tolist(), strict=True))
    report = MissingReport(len(points), int(len(points) - kept.sum()), counts)
    # Checked before rows are dropped: the message then has the original row number.
    check_finite(points, name, False, columns, allow_nan=True)
    if report.n_dropped == report.n_rows:
        raise InvalidInputError(
            f"all {report.n_rows} rows of {name} have a missing value ({named_counts(counts)}); "
            "drop these columns, or impute their values"
        )
    if report.n_dropped:
        points = points[kept]
        checked = None if checked is None else check_weights(
            checked[kept], len(points), f"weights of {name} without its rows of missing values"
        )  # fmt: skip
    return Omitted(points, columns, checked, kept, report, missing)


def _with_nan(X: Any) -> Any:
    """Return `X` with NaN for missing values in arrays of Python objects."""
    if is_frame(X) or (isinstance(X, np.ndarray) and X.dtype != object):
        return X
    try:
        array = np.asarray(X)
    except (TypeError, ValueError, RuntimeError):
        return X  # reading the sample reports the reason
    if array.dtype != object:
        return X
    filled = array.copy()
    filled[np.reshape([is_missing(value) for value in array.flat], array.shape)] = np.nan
    return filled
