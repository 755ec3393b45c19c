"""Comparison of two sources: all that their tables say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from isodepth.chunked.table import Streamed
from isodepth.core.directions import mean_of_direction
from isodepth.core.regions import LevelPlan, power_mean
from isodepth.data.results import plain
from isodepth.engine import direction_code
from isodepth.errors import InvalidInputError
from isodepth.gap.gaps import Gaps
from isodepth.metric.base import BaseMetric
from isodepth.metric.comparison import Comparison
from isodepth.metric.signature import Signature
from isodepth.metric.table import RegionTable


@dataclass(frozen=True)
class SourceRegions:
    """What is left of the regions of a source: its table, and how many rows there were.

    Attributes
    ----------
    table : RegionTable
    n_points : int
        Rows of positive weight.
    n_features : int
    depth_bound : float
        What the depth of a row may be off by; 0 where it is that of the path in memory.
    """

    table: RegionTable
    n_points: int
    n_features: int
    depth_bound: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class SourceComparison(Comparison):
    """A comparison of samples that were read in chunks: everything but lists of rows.

    Attributes
    ----------
    distance_bounds : (float, float)
        Between these lies the distance that exact depths would give, along the same directions.
        Both are the distance itself for depths that are exact.
    """

    distance_bounds: tuple[float, float] = (0.0, 0.0)

    @property
    def bracket(self) -> tuple[float, float]:  # type: ignore[override]
        """Not known: it needs the rows inside the regions."""
        self._needs_rows("bracket")

    def rows_outside(self) -> Any:
        """Not known: rows are not kept."""
        self._needs_rows("rows_outside")

    def to_dict(self) -> dict[str, Any]:
        """As of any comparison, with `distance_bounds`."""
        return {**super().to_dict(), "distance_bounds": plain(self.distance_bounds)}

    def __repr__(self) -> str:
        lines = super().__repr__().splitlines()
        low, high = self.distance_bounds
        levels, directions = len(self._gaps.values), len(self._gaps.vectors)
        lines.insert(
            1, f"  read in chunks: {levels} levels, {directions} directions, no refinement"
        )
        if low < high:
            lines.insert(2, f"  exact depths would give between {low:.6g} and {high:.6g}")
        return "\n".join(lines)

    def gradient(self, *_: Any, **__: Any) -> Any:
        """Not known: it has a row for each row of the samples."""
        self._needs_rows("gradient")

    def _needs_rows(self, what: str) -> NoReturn:
        raise InvalidInputError(
            f"{what} needs the rows of both samples, and these were read in chunks; compare a part "
            "of them that fits into memory"
        )

    def _supports(
        self, side: int, directions: np.ndarray, levels: slice = slice(None)
    ) -> np.ndarray:
        table = self.regions[side].table.values  # type: ignore[attr-defined]
        count = table.shape[1] // 2
        # These come as blocks of the directions of the tables, in their order.
        first = int(np.flatnonzero((self._gaps.vectors == directions[0]).all(axis=1))[0])
        places = np.arange(first, first + len(directions))
        return table[levels][:, np.concatenate([places, count + places])]


def table_gaps(
    x: RegionTable, y: RegionTable, betas: np.ndarray, directions: np.ndarray, q: float
) -> Gaps:
    """The gaps of all levels (L,) and where they are attained.

    Differences are rounded to the precision of the samples, as they are in memory.
    """
    dtype = Signature.parse(x.signature).dtype
    apart = np.abs(x.values.astype(dtype) - y.values.astype(dtype)).astype(np.float64)
    count = len(directions)
    larger = np.maximum(apart[:, :count], apart[:, count:])
    place = larger.argmax(axis=1)
    rows = np.arange(len(betas))
    signs = np.where(apart[rows, place] >= apart[rows, count + place], 1.0, -1.0)
    if np.isinf(q):
        values = larger[rows, place]
    else:
        most = np.maximum(larger.max(axis=1), np.finfo(np.float64).tiny)[:, None]
        means = ((apart / most) ** q).mean(axis=1) ** (1 / q)
        values = most[:, 0] * means / mean_of_direction(x.n_features, q)
    nothing = np.zeros(len(betas), dtype=np.int64)
    plan = LevelPlan(betas, np.full(len(betas), 1.0 / len(betas)), nothing, nothing)
    return Gaps(plan, values, directions, direction_code(place, signs))


def bounds_of_distance(
    x: Streamed, y: Streamed, used: BaseMetric, found: float
) -> tuple[float, float]:
    """Between what the distance of exact depths lies, along the same directions."""
    if x.made.inner is None and y.made.inner is None:
        return found, found
    (x_low, x_high), (y_low, y_high) = (_between(side) for side in (x, y))
    with np.errstate(invalid="ignore"):
        least = np.fmax(0.0, np.fmax(x_low - y_high, y_low - x_high))
        most = np.maximum(x_high - y_low, y_high - x_low)
    power = (used.p, 1.0 if used.normalize else 1.0 - used.eps)
    shares = np.full(len(least), 1.0 / len(least))
    ends = []
    for apart in (least, most):
        if np.isinf(apart).any():
            ends.append(math.inf)
        elif math.isinf(used.q):
            ends.append(power_mean(apart.max(axis=1), shares, *power))
        else:
            means = (apart**used.q).mean(axis=1) ** (1 / used.q)
            unit = mean_of_direction(x.table.n_features, used.q)
            ends.append(power_mean(means / unit, shares, *power))
    return min(ends[0], found), max(ends[1], found)


def _between(side: Streamed) -> tuple[np.ndarray, np.ndarray]:
    if side.made.inner is None or side.made.outer is None:
        exact = side.made.values.astype(np.float64)
        return exact, exact
    return side.made.inner, side.made.outer
