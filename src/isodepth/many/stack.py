"""TableStack: tables with the same settings in one array, and the distances between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.data.validation import check_n_jobs
from isodepth.errors import InvalidInputError
from isodepth.metric.table import RegionTable, check_comparable, distances_between
from isodepth.progress import progress_bar

# Target size in bytes of a block of tables.
_BLOCK_BYTES = 1 << 26


@dataclass(frozen=True, eq=False, repr=False)
class TableStack(Sequence[RegionTable]):
    """Many tables of the same settings in one array; a sequence of :class:`RegionTable`.

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

    values: np.ndarray
    signature: str
    n_features: int
    columns: tuple[str, ...] | None
    algorithm: int | None = None
    scale: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, item: Any) -> Any:
        kind = TableStack if isinstance(item, slice) else RegionTable
        return kind(**{**vars(self), "values": self.values[item]})

    @classmethod
    def of(cls, tables: Sequence[RegionTable], name: str) -> TableStack:
        """Stack the values of single tables."""
        if isinstance(tables, TableStack):
            return tables
        for i, table in enumerate(tables):
            if not isinstance(table, RegionTable):
                raise InvalidInputError(
                    f"{name} must be all tables: {name}[{i}] is {type(table).__name__}; make "
                    "tables with isodepth.region_tables"
                )
            check_comparable(tables[0], table, f"{name}[0]", f"{name}[{i}]")
        made = {**vars(tables[0]), "values": np.stack([table.values for table in tables])}
        return cls(**made)

    def distances(self, table: RegionTable, *, n_jobs: int | None = None) -> np.ndarray:
        """Compute the distances (N,) from one table to all tables of the stack.

        ``stack.distances(table).argsort()`` sorts the tables by distance.

        Parameters
        ----------
        table : RegionTable, made with the same metric
        n_jobs : int or None

        Examples
        --------
        >>> import numpy as np, isodepth
        >>> rng = np.random.default_rng(0)
        >>> bags = [rng.normal(size=(60, 2)) + [i, 0] for i in range(200)]
        >>> tables = isodepth.region_tables(bags, n_directions=50, random_state=0)
        >>> tables.distances(tables[50]).argsort()[:3]
        array([50, 49, 51])
        """
        check_comparable(self[0], table, "these tables", "the table")
        n_jobs = check_n_jobs(n_jobs)
        return distances_between(self, self.values, table.values[None], n_jobs)[:, 0]

    def __repr__(self) -> str:
        return f"TableStack({len(self)} tables of {self[0]!r})"


def fill_distances(
    rows: TableStack,
    columns: TableStack | None,
    out: np.ndarray,
    n_jobs: int | None = None,
    progress: bool = False,
) -> None:
    """Write all distances to `out` (N, M), or (N, N) and symmetric if `columns` is None."""
    against = rows if columns is None else columns
    # Several blocks, so that the progress bar moves.
    size = min(max(16, _BLOCK_BYTES // rows.values[0].nbytes), 512)
    blocks = [
        (slice(i, i + size), slice(j, j + size))
        for i in range(0, len(rows), size)
        for j in range(i if columns is None else 0, len(against), size)
    ]
    with progress_bar(progress, len(blocks), "distances", "block") as advance:
        for some, others in blocks:
            diagonal = columns is None and some == others
            right = None if diagonal else against.values[others]
            found = distances_between(rows[0], rows.values[some], right, n_jobs)
            out[some, others] = found
            if columns is None and not diagonal:
                out[others, some] = found.T
            advance(1)
    if isinstance(out, np.memmap):
        out.flush()
