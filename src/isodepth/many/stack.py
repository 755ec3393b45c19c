"""Many tables of one making, held together or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth.data.validation import check_n_jobs
from isodepth.errors import InvalidInputError
from isodepth.metric.table import RegionTable, check_comparable, distances_between


class TableStack(Sequence[RegionTable]):
    """Many tables of one making in one array; a sequence of :class:`RegionTable`.

    Attributes
    ----------
    values : ndarray of shape (N, L, 2K)
    signature : str
    n_features : int
    columns : tuple of str or None
    algorithm : int or None
        As in :class:`RegionTable`.
    scale : ndarray of shape (d,) or None
    """

    def __init__(
        self,
        values: np.ndarray,
        signature: str,
        n_features: int,
        columns: tuple[str, ...] | None = None,
        algorithm: int | None = None,
        scale: np.ndarray | None = None,
    ) -> None:
        self.values = values
        self.signature = signature
        self.n_features = n_features
        self.columns = columns
        self.algorithm = algorithm
        self.scale = scale

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, item: Any) -> Any:
        made = (self.signature, self.n_features, self.columns, self.algorithm, self.scale)
        kind = TableStack if isinstance(item, slice) else RegionTable
        return kind(self.values[item], *made)

    def block(self, some: slice) -> np.ndarray:
        """Support values of some tables as one array (N, L, 2K)."""
        return self.values[some]

    def distances(self, table: RegionTable, *, n_jobs: int | None = None) -> np.ndarray:
        """Distances (N,) from one table to all of these.

        The nearest come first in ``stack.distances(table).argsort()``.

        Parameters
        ----------
        table : RegionTable, made with the same metric
        n_jobs : int or None

        Examples
        --------
        >>> import numpy as np, isodepth
        >>> rng = np.random.default_rng(0)
        >>> bags = [rng.normal(size=(60, 2)) + [i, 0] for i in range(200)]
        >>> tables = isodepth.tables(bags, n_directions=50, random_state=0)
        >>> tables.distances(tables[50]).argsort()[:3]
        array([50, 49, 51])
        """
        check_comparable(self[0], table, "these tables", "the table")
        n_jobs = check_n_jobs(n_jobs)
        return distances_between(self, self.values, table.values[None], n_jobs)[:, 0]

    def __repr__(self) -> str:
        return f"TableStack({len(self)} tables of {self[0]!r})"


class TableList:
    """Tables that the caller holds one by one: stacked a few at a time, never all at once."""

    def __init__(self, tables: Sequence[RegionTable], name: str) -> None:
        for i, table in enumerate(tables):
            if not isinstance(table, RegionTable):
                raise InvalidInputError(
                    f"{name} must be all tables: {name}[{i}] is {type(table).__name__}; make "
                    "tables with isodepth.tables"
                )
            check_comparable(tables[0], table, f"{name}[0]", f"{name}[{i}]")
        self.tables = tables

    def __len__(self) -> int:
        return len(self.tables)

    def __getitem__(self, item: int) -> RegionTable:
        return self.tables[item]

    def block(self, some: slice) -> np.ndarray:
        """Support values of some tables as one array (N, L, 2K)."""
        return np.stack([table.values for table in self.tables[some]])
