"""Comparison: how far apart two samples are, and where."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isodepth.core.levels import power_mean
from isodepth.core.regions import TrimmedRegions
from isodepth.data.missing import MissingPair
from isodepth.engine.cached import cached_property
from isodepth.errors import InvalidOptionError
from isodepth.gap.supremum import Gaps


class LargestGap(NamedTuple):
    """Where two samples differ most.

    Attributes
    ----------
    level : float
        The level beta of the largest gap (the middle of its piece).
    gap : float
    direction : ndarray of shape (d,)
        The unit vector along which the two regions differ by that much.
    columns : list of (str, float)
        The columns with their share of the direction (squared entries), largest first.
    """

    level: float
    gap: float
    direction: np.ndarray
    columns: list[tuple[str, float]]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of comparing two samples.

    Attributes
    ----------
    distance : float
        DR_{p,eps}; `float(comparison)` is the same.
    regions : pair of TrimmedRegions
    signature : str
        How the number was made; `Metric.from_signature` rebuilds the settings.
    columns : tuple of str or None

    Examples
    --------
    >>> import isodepth
    >>> result = isodepth.compare([[0.0], [1.0], [2.0]], [[3.0], [4.0], [5.0]], depth="halfspace")
    >>> result.distance
    3.0
    >>> result.largest_gap.gap, result.largest_gap.columns
    (3.0, [('column 0', 1.0)])
    """

    distance: float
    regions: tuple[TrimmedRegions, TrimmedRegions]
    signature: str
    columns: tuple[str, ...] | None
    _gaps: Gaps
    _power: tuple[float, float]
    _q: float = math.inf
    missing: MissingPair | None = None

    @property
    def levels(self) -> np.ndarray:
        """Pieces [start, stop) of [0, 1 - eps] of shape (L, 2), or single levels of shape (L,)."""
        return self._gaps.plan.levels

    @property
    def gaps(self) -> np.ndarray:
        """Hausdorff distance of the two regions at each level, of shape (L,)."""
        return self._gaps.values

    @property
    def direction(self) -> np.ndarray:
        """The unit vector where each gap is attained, of shape (L, d)."""
        return self._gaps.directions()

    @cached_property
    def bracket(self) -> tuple[float, float]:
        """The distance attained, and an upper bound of what any directions could attain.

        Both are for the samples at hand with the depths they have; between them lies the value of
        ``gap="exact"``. Worked out when first asked for: it may cost more than the distance.
        """
        if self._q < math.inf:
            raise InvalidOptionError(
                f"bracket bounds the supremum over directions, which is q=inf; this comparison has "
                f"q={self._q:g}, a mean over directions"
            )
        if self._gaps.exact:
            return self.distance, self.distance
        from isodepth.hull import hausdorff_bracket

        x, y = self.regions
        plan = self._gaps.plan
        bounds = hausdorff_bracket(
            x.ordered,
            y.ordered,
            plan.stops_x,
            plan.stops_y,
            initial_directions=np.unique(self.direction, axis=0),
        )
        upper = np.maximum(bounds.upper, self.gaps)
        return self.distance, power_mean(upper, plan.shares, *self._power)

    @property
    def largest_gap(self) -> LargestGap:
        """The largest gap, its level, its direction and the columns that carry it."""
        at = int(self.gaps.argmax())
        direction = self._gaps.directions(slice(at, at + 1))[0]
        names = self.columns or [f"column {j}" for j in range(len(direction))]
        shares = direction**2
        ranked = sorted(range(len(direction)), key=lambda j: -shares[j])
        return LargestGap(
            level=float(np.mean(self.levels[at])),
            gap=float(self.gaps[at]),
            direction=direction,
            columns=[(names[j], float(shares[j])) for j in ranked],
        )

    @property
    def worst(self) -> LargestGap:
        """The former name of `largest_gap`, for one more release."""
        warnings.warn(
            "comparison.worst is called comparison.largest_gap now, and goes with the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.largest_gap

    def __float__(self) -> float:
        return self.distance

    def __repr__(self) -> str:
        x, y = self.regions
        largest = self.largest_gap
        along = ", ".join(f"{name} ({share:.0%})" for name, share in largest.columns[:3])
        return (
            f"Comparison: distance {self.distance:.6g} between {x.n_points} and {y.n_points} "
            f"points in {x.n_features} dimension(s)\n"
            f"  largest gap {largest.gap:.6g} at level beta = {largest.level:.3g}, along {along}\n"
            f"  {self.signature}"
        )
