"""Ranges of usual values of the reference, to find rows of a batch that look wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isodepth.rows.suspicious.scoring import Rows, RowScorer, bounded


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
    def of_rows(cls, rows: np.ndarray, width: int) -> UsualValues:
        """Return the ranges of the first `width` columns of `rows` (n, d + C)."""
        if not width:
            return cls(np.empty((2, 0)), np.empty((2, 0)))
        scorer = RowScorer(Rows(rows[:, :width], np.empty((len(rows), 0), np.int64)), ())
        return cls(*scorer.usual_values())

    def suspicious(self, rows: np.ndarray) -> np.ndarray:
        """Return an array (m,) of bool: whether each of the rows (m, d + C) is suspicious.

        A row is suspicious if a value is outside its range, or if it has a category that does not
        occur in the reference. Missing values are not suspicious.
        """
        width = self.values.shape[1]
        numbers, codes = bounded(rows[:, :width]), rows[:, width:]
        outside = (numbers < self.nonzero[0]) | (numbers > self.nonzero[1])
        outside &= (numbers != 0) | (numbers < self.values[0]) | (numbers > self.values[1])
        return outside.any(axis=1) | (codes < 0).any(axis=1)
