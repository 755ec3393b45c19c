"""TableMaker: from samples to support values on a grid, along shared directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.core.regions import TrimmedRegions
from isodepth.core.sample import Sample
from isodepth.engine.support_passes import write_supports
from isodepth.engine.threads import Resources
from isodepth.errors import InvalidOptionError


@dataclass(frozen=True, eq=False)
class TableMaker:
    """Turns samples of one width into tables along the same directions and levels.

    Attributes
    ----------
    regions_of : function of (points, weights, sample) that gives TrimmedRegions
    warn_if_uninformative : function of samples
    directions : ndarray of shape (K, d)
    betas : ndarray of shape (L,), rising
    storage : {"float64", "float32"}
    signature : str
    dtype : {"float64", "float32"}
        Precision of the points, and so of the computation.
    resources : Resources
    """

    regions_of: Callable[[np.ndarray, np.ndarray | None, Sample], TrimmedRegions]
    warn_if_uninformative: Callable[..., None]
    directions: np.ndarray
    betas: np.ndarray
    storage: str
    signature: str
    dtype: str
    resources: Resources

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (L, 2K) of a table."""
        return len(self.betas), 2 * len(self.directions)

    def fill(
        self, points: np.ndarray, weights: np.ndarray | None, sample: Sample, out: np.ndarray
    ) -> None:
        """Write the support values of one sample to `out` (L, 2K)."""
        regions = self.regions_of(points, weights, sample)
        stops = regions.counts[regions.group(self.betas)]
        write_supports(regions.ordered, stops, self.directions, out, self.resources)


def needs_seed(directions: Any) -> bool:
    """Whether directions of that family are drawn at random."""
    return isinstance(directions, str) and directions != "equispaced"


def check_table_settings(levels: Any, directions: Any, random_state: Any, gap: str) -> None:
    """Check that tables made one by one will have the same levels and directions."""
    if isinstance(levels, str):
        raise InvalidOptionError(
            f"a table needs a fixed grid of levels, got levels={levels!r}; give their number, such "
            "as levels=20"
        )
    if needs_seed(directions) and not isinstance(random_state, int):
        raise InvalidOptionError(
            f"tables can only be compared along the same directions, got random_state="
            f"{random_state!r}; give an integer, such as random_state=0, or an array of directions"
        )
    if gap != "search":
        raise InvalidOptionError(
            f"tables are compared along their directions only, got gap={gap!r}; use "
            "Metric.distance for the exact supremum"
        )
