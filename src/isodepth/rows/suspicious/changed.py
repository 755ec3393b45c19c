"""Columns that changed according to a test, whose ordinary rows look unusual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class ChangedColumns(NamedTuple):
    """Names of the columns that changed from X to Y according to a test.

    Attributes
    ----------
    named : frozenset of str
        Columns of all changes.
    whole : frozenset of str
        Those whose whole distribution differs.
    """

    named: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()

    def unscored(self, side: int) -> frozenset[str]:
        """Return the columns whose usual values are not scored in rows of X (0) or Y (1).

        Changes are changes of Y. Ordinary rows of X look unusual in all changed columns. Rows of Y
        are unusual because of the change, and are listed unless the whole distribution differs.
        """
        return self.whole if side else self.named

    def indices(self, columns: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the indices of the columns `unscored` for rows of X and for rows of Y."""
        first, second = (
            [j for j, name in enumerate(columns) if name in self.unscored(side)] for side in (0, 1)
        )
        return first, second


#: Columns of a comparison without a test.
UNCHANGED = ChangedColumns()
