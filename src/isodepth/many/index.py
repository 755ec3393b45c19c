"""RegionIndex: the nearest of many tables, exactly, without looking at most of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.results import ResultMixin, plain
from isodepth.data.validation import check_integer
from isodepth.errors import InvalidOptionError
from isodepth.many.bags import as_list
from isodepth.many.stack import TableList, TableStack
from isodepth.metric.signature import Signature
from isodepth.metric.table import RegionTable, check_comparable

# Rounding of a distance, with room to spare: no neighbor may be lost to it.
_SLACK = {"float64": 1e-12, "float32": 1e-6}
# With so much slack nothing is ever ruled out; more would overflow.
_MOST_SLACK = 1e6
_PROBED_TABLES = 256


class _Neighbors(NamedTuple):
    distances: np.ndarray
    indices: np.ndarray
    pruned: float


class Neighbors(ResultMixin, _Neighbors):
    """The answer to a query.

    Attributes
    ----------
    distances : ndarray of shape (k,), rising
    indices : int64 ndarray of shape (k,)
        Places of the neighbors in the indexed tables; of equal distances the first comes first.
    pruned : float
        Share of the work of comparing with every table that was not done: support values not
        looked at.
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers and lists."""
        return plain(self._asdict())

    def _rows(self) -> dict[str, list[Any]]:
        return {"index": self.indices.tolist(), "distance": self.distances.tolist()}

    def _heading(self) -> str:
        return f"Neighbors: the nearest {len(self.indices)}, {self.pruned:.0%} of the work saved"


class RegionIndex:
    """Exact nearest neighbors among many tables.

    Two facts save most of the work. The distance between tables is a metric, so the distances to a
    few *pivots*, known beforehand for all tables, bound the distance from below (the triangle
    inequality; for p < 1 it holds for the p-th powers; means over directions keep it, for every
    q). And the distance is a sum over levels, so
    a candidate is dropped as soon as the levels looked at so far make it too far away. What is
    found is exactly what comparing with all tables would give.

    Parameters
    ----------
    tables : sequence of RegionTable
        Made with one metric, as by :func:`isodepth.tables`.
    n_pivots : int
        How many tables to measure all others against.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(60, 2)) + [i, 0] for i in range(200)]
    >>> tables = isodepth.tables(bags, n_directions=50, random_state=0)
    >>> found = isodepth.RegionIndex(tables).query(tables[50], k=3)
    >>> found.indices
    array([50, 49, 51])
    >>> found.pruned > 0.5
    True
    """

    def __init__(self, tables: Iterable[RegionTable], *, n_pivots: int = 16) -> None:
        check_integer(n_pivots, "n_pivots", 1)
        given = as_list(tables, "tables")
        if not isinstance(given, TableStack):
            held = TableList(given, "tables")
            first = held[0]
            given = TableStack(
                held.block(0, len(held)),
                first.signature,
                first.n_features,
                first.columns,
                first.algorithm,
                first.scale,
            )
        self.tables: TableStack = given
        signature = Signature.parse(given.signature)
        self._p = signature.p
        over_directions = signature.mean_over_directions(given.n_features)
        self._means = tuple(map(float, (signature.p, *over_directions, signature.length)))
        # Below p = 1 the last root magnifies rounding; so do sums over very many directions.
        rounding = 4 * given.values.shape[2] * np.finfo(np.float64).eps
        slack = max(_SLACK[str(given.values.dtype)], rounding) / min(1.0, self._p)
        self._slack = min(slack, _MOST_SLACK)
        self._pivots, self._to_pivots = self._choose_pivots(min(n_pivots, len(given)))
        self._is_pivot = np.zeros(len(given), dtype=bool)
        self._is_pivot[self._pivots] = True
        self._levels = self._telling_levels()

    def __len__(self) -> int:
        return len(self.tables)

    def query(self, table: RegionTable, k: int = 1) -> Neighbors:
        """The k nearest of the indexed tables.

        Parameters
        ----------
        table : RegionTable, made with the same metric
        k : int
            At most the number of indexed tables.

        Returns
        -------
        neighbors : Neighbors, with `distances`, `indices` and `pruned`
        """
        from isodepth.many.index_loops import nearest

        check_comparable(self.tables[0], table, "the indexed tables", "the query")
        if check_integer(k, "k", 1) > len(self):
            raise InvalidOptionError(
                f"k must be at most the number of indexed tables, {len(self)}; got {k}"
            )
        query = np.array(table.values)
        to_pivots = self._distances(query, self._pivots)
        # Pivots are neighbors like any other, and the first to beat.
        distances, places = np.full(k, np.inf), np.full(k, -1, dtype=np.int64)
        best = np.lexsort((self._pivots, to_pivots))[:k]
        distances[: len(best)], places[: len(best)] = to_pivots[best], self._pivots[best]
        bounds = self._lower_bounds(to_pivots)
        order = np.argsort(bounds, kind="stable")
        order = order[~self._is_pivot[order]]
        rows = nearest(
            query, self.tables.values, order, bounds[order], self._levels,
            *self._means, float(self._slack), np.empty(len(self._levels)), distances, places,
        )  # fmt: skip
        n_levels = len(self._levels)
        done = rows + len(self._pivots) * n_levels
        return Neighbors(distances, places, 1.0 - done / (len(self) * n_levels))

    def _distances(self, query: np.ndarray, places: np.ndarray) -> np.ndarray:
        from isodepth.many.index_loops import distances_to

        out = np.empty(len(places))
        gaps = np.empty(query.shape[0])
        distances_to(query, self.tables.values, places, *self._means, gaps, out)
        return out

    def _choose_pivots(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Tables far from each other: each pivot is the one farthest from those before it."""
        everything = np.arange(len(self))
        chosen: list[int] = []
        to_pivots: list[np.ndarray] = []
        nearest_pivot = self._distances(self.tables.values[0], everything)
        while len(chosen) < count:
            chosen.append(int(nearest_pivot.argmax()))
            to_pivots.append(self._distances(self.tables.values[chosen[-1]], everything))
            # The distances to the first table only served to find the first pivot.
            nearest_pivot = np.min(to_pivots, axis=0)
            if not nearest_pivot.any():
                break
        return np.asarray(chosen), np.asarray(to_pivots)

    def _telling_levels(self) -> np.ndarray:
        """The levels by falling gaps: large gaps fill up a sum soonest."""
        values = self.tables.values
        few = values[:: -(-len(values) // _PROBED_TABLES)]
        gaps = np.abs(few - values[self._pivots[0]]).max(axis=2)
        return np.argsort(-gaps.mean(axis=0), kind="stable")

    def _lower_bounds(self, to_pivots: np.ndarray) -> np.ndarray:
        """What the triangle inequality says of the distances (N,) to all tables."""
        power = min(1.0, self._p)
        near, far = to_pivots[:, None] ** power, self._to_pivots**power
        bounds = np.abs(near - far) - self._slack * (near + far)
        return bounds.max(axis=0).clip(min=0.0) ** (1.0 / power)
