"""Numbers of missing values of a sample, and comparison of their shares in two samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from isodepth.base.export import ResultPart, keys, percent_text
from isodepth.base.words import named_counts
from isodepth.errors import NoCompleteRowError
from isodepth.table.arrays import column_labels

#: Allowed values of the option `nan_policy` of distances, and of tests and monitors.
NAN_POLICIES, TEST_NAN_POLICIES = ("raise", "omit"), ("keep", "raise")
# Fraction of dropped rows above which a summary mentions them first.
_MANY_DROPPED = 0.1
#: Minimum difference of shares of missing values that is reported, in standard errors.
TELLING = 4.0


@dataclass(frozen=True, eq=False)
class MissingShare(ResultPart):
    """Missing values of one column in two samples.

    Attributes
    ----------
    column : str
        Name of the column.
    before, after : float
        Shares of the rows of X and of Y in which the value of the column is missing.
    z_score : float
        Difference after - before, divided by its standard error under the hypothesis of equal
        shares. It is 0 if none or all of the values are missing.
    """

    column: str
    before: float
    after: float
    z_score: float


@dataclass(frozen=True, eq=False)
class MissingReport(ResultPart):
    """Number of dropped rows of a sample, and number of missing values of each column.

    Attributes
    ----------
    n_rows : int
        Number of rows before rows were dropped.
    n_dropped : int
        Number of rows that were dropped; 0 in tests, which keep rows with missing values.
    counts : dict
        Number of missing values of every column by its name, "column 0" without names.

    Examples
    --------
    >>> report = MissingReport(100, 3, {"temp": 2, "wind": 1, "dewp": 0})
    >>> report.counts["temp"]
    2
    >>> print(report)
    3 of 100 rows, missing values in temp (2), wind (1)
    """

    n_rows: int
    n_dropped: int
    counts: dict[str, int]

    def __hash__(self) -> int:
        return hash((self.n_rows, self.n_dropped))

    @property
    def _columns_text(self) -> str:
        """String with the columns with most missing values, such as "temp (2), wind (1)".

        At most five columns are named.
        """
        return named_counts(self.counts.items())

    def __str__(self) -> str:
        text = f"{self.n_dropped} of {self.n_rows} rows"
        return f"{text}, missing values in {self._columns_text}" if self.n_dropped else text


def many_dropped(reports: Sequence[MissingReport]) -> str:
    """Return a phrase with the number of dropped rows and the columns with most missing values.

    The phrase is "" if at most 10% of the rows of all samples were dropped. Columns have their
    names in the first of the `reports`.
    """
    rows, dropped = sum(each.n_rows for each in reports), sum(each.n_dropped for each in reports)
    if dropped <= _MANY_DROPPED * rows:
        return ""
    sums = map(sum, zip(*(each.counts.values() for each in reports), strict=True))
    counts = zip(reports[0].counts, sums, strict=True)
    return f"{dropped} of {rows} rows dropped: missing values in {named_counts(counts)}"


def find_missing(
    points: np.ndarray, columns: Sequence[str] | None, name: str
) -> tuple[np.ndarray, np.ndarray, MissingReport]:
    """Find the missing values of a sample, which are NaN.

    `points` has shape (n, d), and `columns` are the names of its columns or None. Raise an error if
    no row is complete. `name` is the name of the sample in the message.

    Returns
    -------
    absent : bool ndarray of shape (n, d)
        True for each missing value.
    kept : bool ndarray of shape (n,)
        True for each row without missing values.
    report : MissingReport
    """
    absent = np.isnan(points)
    kept = ~absent.any(axis=1)
    labels = columns or column_labels(points.shape[1])
    counts = dict(zip(labels, absent.sum(axis=0).tolist(), strict=True))
    report = MissingReport(len(points), int(len(points) - kept.sum()), counts)
    if not kept.any():
        raise NoCompleteRowError(
            f"all {len(points)} rows of {name} have a missing value ({report._columns_text}); "
            "drop these columns, or impute their values"
        )
    return absent, kept, report


def share_z(in_x: float, in_y: float, n: int, m: int) -> float:
    """Return the difference in_y / m - in_x / n of two shares, divided by its standard error.

    The shares are `in_x` of the n rows of X, and `in_y` of the m rows of Y. The standard error is
    that under the hypothesis of equal shares. The result is 0 if both shares are 0 or both are 1.
    """
    both = (in_x + in_y) / (n + m)
    error = math.sqrt(max(both * (1 - both), 0.0) * (1 / n + 1 / m))
    return (in_y / m - in_x / n) / error if error > 0 else 0.0


@dataclass(frozen=True, eq=False)
class MissingPair(ResultPart):
    """Numbers of dropped rows and of missing values of the two samples of a comparison.

    Attributes
    ----------
    x, y : MissingReport
        Numbers of dropped rows and of missing values of each sample.
    kept : pair of bool ndarrays of shape (n,) and (m,), or None
        Masks of the rows of the two samples that were kept. None for tests, which keep all rows,
        and for samples that are read in chunks.
    """

    _in_json = keys("n_rows", "n_dropped", "shares")

    x: MissingReport
    y: MissingReport
    kept: tuple[np.ndarray, np.ndarray] | None = field(default=None, compare=False, repr=False)

    @property
    def shares(self) -> tuple[MissingShare, ...]:
        """Shares of missing values of every column, the most significant difference first.

        The distance is computed from rows without missing values, so it does not compare these
        shares.
        """
        n, m = self.x.n_rows, self.y.n_rows
        shares = []
        for label, in_x, in_y in self._both_counts:
            z = share_z(in_x, in_y, n, m)
            shares.append(MissingShare(label, in_x / n, in_y / m, z))
        # Sorting is stable, so columns with equal differences remain in the order of the data.
        return tuple(sorted(shares, key=lambda share: -abs(share.z_score)))

    @property
    def _both_counts(self) -> list[tuple[str, int, int]]:
        """Tuples of the name of a column in X and its numbers of missing values in X and in Y."""
        # The samples may have different names, such as those of a data frame and of an array.
        return list(zip(self.x.counts, self.x.counts.values(), self.y.counts.values(), strict=True))

    @property
    def _many_dropped(self) -> str:
        """Result of `many_dropped` for both samples."""
        return many_dropped([self.x, self.y])

    @property
    def n_rows(self) -> tuple[int, int]:
        """Numbers of rows of both samples."""
        return self.x.n_rows, self.y.n_rows

    @property
    def n_dropped(self) -> tuple[int, int]:
        """Numbers of dropped rows of both samples."""
        return self.x.n_dropped, self.y.n_dropped

    def _difference(self, names: Sequence[str] = ("X", "Y")) -> str:
        """Return a clause about the most significant difference of shares of missing values.

        Return "" if no column has a difference of at least four standard errors. `names` are the
        names of the two samples.
        """
        first = self.shares[0]
        if abs(first.z_score) < TELLING:
            return ""
        x, y = names
        return (
            f"{first.column} is missing in {percent_text(first.before)} of {x} and "
            f"{percent_text(first.after)} of {y}"
        )

    def __str__(self) -> str:
        dropped = self.x.n_dropped or self.y.n_dropped
        if dropped:
            parts = [f"dropped {self.x} of X", f"{self.y} of Y"]
        else:
            parts = [
                f"{name} has missing values in {report._columns_text}"
                for name, report in (("X", self.x), ("Y", self.y))
                if any(report.counts.values())
            ]
            parts.append("no row dropped")
        difference = self._difference()
        if difference:
            parts.append(f"{difference}, {abs(self.shares[0].z_score):.1f} standard errors apart")
        ending = ": a difference that is not visible in the remaining rows"
        return "; ".join(parts) + (ending if difference and dropped else "")
