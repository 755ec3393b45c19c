"""TwoSampleResult: whether two samples differ by more than chance, and in which columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isodepth.data.missing import MissingPair
from isodepth.data.results import ReportableResult, plain
from isodepth.metric.comparison import Comparison

if TYPE_CHECKING:
    from isodepth.significance.null_profile import NullProfile

# Of equal statistics one may round up and the other down: so close they count as equal.
_ROUNDING = 1e-12
_SHOWN_COLUMNS = 5


class ColumnTest(NamedTuple):
    """One column of a two-sample test.

    Attributes
    ----------
    column : str
    gap : float
        How far apart the samples are along its axis alone, in the units of the statistic.
    pvalue : float
        Adjusted for all columns: how often the largest gap of any column is as large by chance.
    """

    column: str
    gap: float
    pvalue: float


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleResult(ReportableResult):
    """The result of :func:`isodepth.two_sample_test`.

    Attributes
    ----------
    statistic : float
        How far apart the samples are; with a tolerance, how far apart beyond what such a share of
        foreign rows could do.
    pvalue : float
        (1 + number of relabelings with a statistic at least as large) / (1 + n_permutations).
    null_distribution : ndarray of shape (n_permutations,)
        The statistic of each relabeling, without a tolerance.
    columns : list of ColumnTest
        The largest gap first.
    n_rows : pair of int
        Rows of X and Y that were compared.
    tolerance : float
    missing : MissingPair or None
        What ``nan_policy="omit"`` left out.
    signature : str
        How the numbers were made.
    moved_from : str or None
        The device that tensors were moved from to the host, such as "cuda:0".

    Examples
    --------
    >>> import isodepth
    >>> X, Y = [[0.0], [1.0], [2.0], [4.0]], [[3.0], [5.0], [6.0], [7.0]]
    >>> result = isodepth.two_sample_test(X, Y, n_permutations=99, scale=None, random_state=0)
    >>> result.columns == [("column 0", result.statistic, result.pvalue)]
    True
    >>> sorted(result.to_dict())[:4]
    ['columns', 'excess', 'n_permutations', 'null']
    """

    statistic: float
    pvalue: float
    null_distribution: np.ndarray
    columns: list[ColumnTest]
    n_rows: tuple[int, int]
    tolerance: float
    missing: MissingPair | None
    signature: str
    _compare: Callable[[], Comparison] = field(repr=False)
    moved_from: str | None = None
    _blocks: np.ndarray | None = field(default=None, repr=False)

    @property
    def null_mean(self) -> float:
        """What samples of one law give on average."""
        return float(self.null_distribution.mean())

    @property
    def null_deviation(self) -> float:
        """The standard deviation of `null_distribution`."""
        return float(self.null_distribution.std())

    @property
    def excess(self) -> float:
        """The statistic above `null_mean`, in standard deviations; 0 where both are constant."""
        above = self.statistic - self.null_mean
        spread = self.null_deviation
        if spread > _ROUNDING * self.null_mean:
            return above / spread
        return (
            0.0 if abs(above) <= _ROUNDING * self.null_mean else float(np.copysign(np.inf, above))
        )

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of the two samples with the same settings, made when first asked for."""
        return replace(self._compare(), test=self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and texts; the null distribution by a few quantiles."""
        result: dict[str, Any] = {
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "null": {
                "mean": self.null_mean,
                "deviation": self.null_deviation,
                **{
                    f"q{level:g}": float(np.quantile(self.null_distribution, level))
                    for level in (0.5, 0.95, 0.99)
                },
            },
            "excess": self.excess,
            "n_permutations": len(self.null_distribution),
            "tolerance": self.tolerance,
            "rows": list(self.n_rows),
            "columns": [column._asdict() for column in self.columns],
            "signature": self.signature,
        }
        if self.missing is not None:
            result["missing"] = [
                {"rows": m.n_rows, "dropped": m.n_dropped, "counts": dict(m.counts)}
                for m in (self.missing.x, self.missing.y)
            ]
        if self.moved_from is not None:
            result["moved_from"] = self.moved_from
        return plain(result)

    def _rows(self) -> dict[str, list[Any]]:
        """One row a column."""
        names = ColumnTest._fields
        return {name: [getattr(column, name) for column in self.columns] for name in names}

    def profile_of(self, comparison: Comparison) -> NullProfile:
        """What equal laws would give in a comparison of the same rows, at each level."""
        from isodepth.significance.null_profile import null_profile

        return null_profile(comparison, self._blocks, len(self.null_distribution))

    @property
    def summary(self) -> str:
        """One line: the p-value and what it is made of."""
        beyond = f" beyond a share {self.tolerance:g} of contamination" if self.tolerance else ""
        return (
            f"p = {self.pvalue:.3g}: statistic {self.statistic:.4g}{beyond}, {self.null_mean:.4g} "
            f"on average for the same distribution ({self.excess:+.1f} standard deviations)"
        )

    def __repr__(self) -> str:
        n, m = self.n_rows
        shown = ", ".join(
            f"{c.column} {c.gap:.3g} (p = {c.pvalue:.3g})" for c in self.columns[:_SHOWN_COLUMNS]
        )
        more = len(self.columns) - _SHOWN_COLUMNS
        lines = [
            f"TwoSampleResult: {n} against {m} rows",
            self.summary,
            f"by column: {shown}{f', and {more} more' if more > 0 else ''}",
        ]
        if self.missing is not None:
            lines.append(str(self.missing))
        if self.moved_from is not None:
            lines.append(f"worked out on the host, to which rows were moved from {self.moved_from}")
        return "\n  ".join([*lines, self.signature])


def permutation_pvalue(statistic: Any, null: np.ndarray) -> Any:
    """(1 + how many of `null` (B,) are at least as large) / (1 + B), for one or many statistics."""
    least = np.asarray(statistic) * (1.0 - _ROUNDING)
    found = (1 + (null >= least[..., None]).sum(axis=-1)) / (1 + len(null))
    return float(found) if np.ndim(statistic) == 0 else found
