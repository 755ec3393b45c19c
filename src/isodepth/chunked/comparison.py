"""Comparison of two sources: all that their tables say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from isodepth.chunked.table import SourceRegions
from isodepth.core.directions import mean_of_direction
from isodepth.core.levels import LevelPlan, power_mean
from isodepth.data.missing import MissingPair
from isodepth.data.results import plain
from isodepth.data.validation import check_same_columns
from isodepth.engine.gap_passes import direction_code
from isodepth.errors import InvalidInputError
from isodepth.gap.gaps import Gaps
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.signature import Signature


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


def compare_regions(x: SourceRegions, y: SourceRegions, fitted: FittedMetric) -> SourceComparison:
    """The comparison of two sources with the metric that made their tables."""
    assert fitted.betas is not None
    options, betas, directions = fitted.options, fitted.betas, fitted.directions
    q, count, rows = options["q"], len(directions), np.arange(len(betas))
    # Differences are rounded to the precision of the samples, as they are in memory.
    dtype = Signature.parse(x.table.signature).dtype
    apart = np.abs(x.table.values.astype(dtype) - y.table.values.astype(dtype)).astype(np.float64)
    place = np.maximum(apart[:, :count], apart[:, count:]).argmax(axis=1)
    signs = np.where(apart[rows, place] >= apart[rows, count + place], 1.0, -1.0)
    nothing = np.zeros(len(betas), dtype=np.int64)
    plan = LevelPlan(betas, np.full(len(betas), 1.0 / len(betas)), nothing, nothing)
    gaps = Gaps(plan, _over_directions(apart, q, x), directions, direction_code(place, signs))
    power = (options["p"], 1.0 if options["normalize"] else 1.0 - options["eps"])
    distance = x.table.distance_to(y.table)
    missing = None
    if x.missing is not None and y.missing is not None:
        missing = MissingPair(x.missing, y.missing)
    return SourceComparison(
        distance=distance,
        regions=(x, y),  # type: ignore[arg-type]
        signature=x.table.signature,
        columns=check_same_columns(x.table.columns, y.table.columns),
        _gaps=gaps,
        _power=power,
        _q=q,
        missing=missing,
        distance_bounds=_bounds(x, y, q, power, distance),
    )


def _over_directions(apart: np.ndarray, q: float, like: SourceRegions) -> np.ndarray:
    """The gap (L,) of each level: the largest of (L, 2K) differences, or their mean of order q."""
    most = apart.max(axis=1)
    if np.isinf(q):
        return most
    scale = np.maximum(most, np.finfo(np.float64).tiny)
    means = ((apart / scale[:, None]) ** q).mean(axis=1) ** (1 / q)
    return scale * means / mean_of_direction(like.n_features, q)


def _bounds(
    x: SourceRegions, y: SourceRegions, q: float, power: tuple[float, float], found: float
) -> tuple[float, float]:
    """Between what the distance of exact depths lies, along the same directions."""
    if x.inner is None and y.inner is None:
        return found, found
    x_low, y_low = (side.table.values if side.inner is None else side.inner for side in (x, y))
    x_high, y_high = (side.table.values if side.outer is None else side.outer for side in (x, y))
    with np.errstate(invalid="ignore"):
        least = np.fmax(0.0, np.fmax(x_low - y_high, y_low - x_high))
        most = np.maximum(x_high - y_low, y_high - x_low)
    shares = np.full(len(least), 1.0 / len(least))
    low, high = (
        math.inf
        if np.isinf(apart).any()
        else power_mean(_over_directions(apart, q, x), shares, *power)
        for apart in (least, most)
    )
    return min(low, found), max(high, found)
