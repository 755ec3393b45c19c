"""Rows of two samples that a result keeps, and suspicious and typical rows among them.

Suspicious rows do not look like any row of the other sample. Typical rows are those of X and of Y
that are farthest apart along the direction in which the samples differ most.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from isodepth.errors import ColumnWarning
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import (
    UNCHANGED,
    ChangedColumns,
    RepeatedValue,
    SuspiciousRows,
    repeated_values,
    suspicious_rows,
)
from isodepth.rows.suspicious.far import FarValues, find_far_values
from isodepth.rows.typical import TypicalRows, typical_rows
from isodepth.stream.subsets import RandomRows, subset_pair


@dataclass(eq=False)
class KeptRows:
    """Base class of rows of two samples that a result keeps.

    Rows are read, and suspicious and typical rows are found, when they are first requested. A
    comparison and its test share one object.

    Attributes
    ----------
    suspicious : SuspiciousRows or None
        Suspicious rows; None before `find_suspicious` is called.
    typical : dict from int to TypicalRows
        Results of `find_typical` by the maximum number of rows.
    """

    suspicious: SuspiciousRows | None = field(init=False, default=None)
    typical: dict[int, TypicalRows] = field(init=False, default_factory=dict)

    @property
    def changed(self) -> ChangedColumns:
        """Names of the columns that changed according to a test."""
        return UNCHANGED

    @property
    def samples(self) -> TwoSamples:
        """Rows of both samples, with the missing values and categories that were kept.

        For samples that are read in chunks, these are random rows.
        """
        raise NotImplementedError

    @property
    def pair(self) -> RandomRows | None:
        """Random rows of two sources (samples in chunks); None if the samples are in memory."""
        return None

    def find_suspicious(self) -> SuspiciousRows:
        """Find the suspicious rows. Samples in chunks are read again, so all rows are searched."""
        if self.suspicious is None:
            from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

            # One small matrix is inverted per set of missing values. Further threads of the linear
            # algebra library take more processor time, and often more time.
            with threadpool_limits(1, "blas"):
                self.suspicious = suspicious_rows(self.samples, self.changed, self.pair)
        return self.suspicious

    def find_typical(self, n: int) -> TypicalRows:
        """Find at most `n` rows of each sample that are typical of the difference."""
        if n not in self.typical:
            self.typical[n] = typical_rows(self.samples, n)
        return self.typical[n]

    @cached_property
    def repeated_values(self) -> tuple[RepeatedValue, ...]:
        """Unusual values, such as -9999, that many rows have in common.

        They are computed without the other suspicious rows, which takes less time than
        `find_suspicious`. See `isodepth.rows.suspicious.repeated_values`.
        """
        return repeated_values(self.samples, changed=self.changed)

    @cached_property
    def far_values(self) -> tuple[FarValues, ...]:
        """Values far beyond any extrapolation from the other sample, see `find_far_values`."""
        return find_far_values(self.samples, self.repeated_values, self.changed)


class ReleasedRows(NamedTuple):
    """Repeated values, far values and typical rows for the headline of a result without rows.

    Attributes
    ----------
    repeated_values : tuple of RepeatedValue
    far_values : tuple of FarValues
    typical : TypicalRows or None
        None if the headline does not list typical rows.
    """

    repeated_values: tuple[RepeatedValue, ...]
    far_values: tuple[FarValues, ...]
    typical: TypicalRows | None


@dataclass(eq=False)
class RowsInMemory(KeptRows):
    """Rows of two samples in memory, as the user passed them.

    Attributes
    ----------
    X, Y : the samples
    kinds : dict or None
        Option `kinds` of the comparison or the test.
    """

    X: Any
    Y: Any
    kinds: Any

    @cached_property
    def samples(self) -> TwoSamples:
        with warnings.catch_warnings():
            # The warning about columns was already issued when the samples were first compared.
            warnings.simplefilter("ignore", ColumnWarning)
            return TwoSamples.read(self.X, self.Y, self.kinds)


@dataclass(eq=False)
class RowsOfSources(KeptRows):
    """Random rows of two samples, at least one of which is read in chunks.

    Attributes
    ----------
    X, Y : the samples
    kinds : dict or None
        Option `kinds` of the comparison or the test.
    """

    X: Any
    Y: Any
    kinds: Any

    @cached_property
    def pair(self) -> RandomRows:
        return subset_pair(self.X, self.Y, None, self.kinds, 0)

    @cached_property
    def samples(self) -> TwoSamples:
        samples = TwoSamples.of(*self.pair.tables)
        return samples.without_names() if self.pair.are_arrays else samples
