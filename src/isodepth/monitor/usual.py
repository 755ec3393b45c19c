"""Ranges of usual values of the reference, to find rows of a batch that look wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isodepth.rows.suspicious.scoring import Rows, RowScorer, bounded
from isodepth.table.table import Table


class UsualValues(NamedTuple):
    """Ranges of the values of d numeric columns. A value outside its range is suspicious.

    The ranges are those of `TwoSampleResult.suspicious_rows` for single values: they are
    extrapolated from the tails of the values and, if all values of the column are positive, of
    their logarithms. Relations between columns are not stored, so that a row with unusual
    combinations of usual values is not suspicious.
    """

    values: np.ndarray  # (2, d), minima and maxima for zeros: zero has no logarithm
    nonzero: np.ndarray  # (2, d), minima and maxima for all other values

    @classmethod
    def of_numbers(cls, numbers: np.ndarray) -> UsualValues:
        """Return the ranges of the numeric columns `numbers` (n, d) of the reference."""
        if not numbers.shape[1]:
            return cls(np.empty((2, 0)), np.empty((2, 0)))
        scorer = RowScorer(Rows(numbers, np.empty((len(numbers), 0), np.int64)), ())
        # Values beyond these limits are as usual as the limits.
        most = bounded(np.array(np.inf))
        return cls(*(
            np.where(each >= most, np.inf, np.where(each <= -most, -np.inf, each))
            for each in scorer.usual_values()
        ))  # fmt: skip

    def suspicious(self, rows: Table) -> np.ndarray:
        """Return an array (m,) of bool: whether each row is suspicious.

        A row is suspicious if a value is outside its range, or if it has a category that does not
        occur in the reference. Missing values are not suspicious.
        """
        numbers = rows.numbers
        outside = (numbers < self.nonzero[0]) | (numbers > self.nonzero[1])
        outside &= (numbers != 0) | (numbers < self.values[0]) | (numbers > self.values[1])
        known = [len(column.categories) for column in rows.schema.categorical]
        return outside.any(axis=1) | (rows.codes >= known).any(axis=1)
