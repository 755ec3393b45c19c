"""TableMaker: from samples to support values on a grid, along shared directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.backend.threads import Resources, fold_blocks, worker_count
from isodepth.errors import InvalidOptionError
from isodepth.regions import TrimmedRegions
from isodepth.sample import Sample

# A chunk of projections, rows by directions, stays in the second-level cache.
_BLOCK = 64
_CHUNK_ROWS = 512


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


def write_supports(
    ordered: np.ndarray,
    stops: np.ndarray,
    directions: np.ndarray,
    out: np.ndarray,
    resources: Resources,
) -> None:
    """Write h(u) and h(-u) of the prefixes of `ordered` (n, d) that end at `stops` (L,).

    Parameters
    ----------
    directions : ndarray of shape (K, d)
    out : ndarray of shape (L, 2K)
    """
    from isodepth.backend.product import project, tiles_of
    from isodepth.backend.table_loops import note_supports

    n_directions, last = len(directions), int(stops[-1])
    ordered = np.ascontiguousarray(ordered)
    units = np.ascontiguousarray(directions, dtype=ordered.dtype)

    def step(_: None, k: int) -> None:
        end = min(k + _BLOCK, n_directions)
        tiles = tiles_of(units[k:end])
        room = np.empty((min(_CHUNK_ROWS, last), end - k), dtype=ordered.dtype)
        top = np.full(end - k, -np.inf, dtype=ordered.dtype)
        low = np.full(end - k, np.inf, dtype=ordered.dtype)
        upper, lower = out[:, k:end], out[:, n_directions + k : n_directions + end]
        done = 0
        for first in range(0, last, _CHUNK_ROWS):
            rows = ordered[first : min(first + _CHUNK_ROWS, last)]
            projections = room[: len(rows)]
            project(tiles, rows, projections)
            done = note_supports(projections, first, stops, done, top, low, upper, lower)

    blocks = range(0, n_directions, _BLOCK)
    workers = worker_count(resources.n_jobs, len(blocks), last * n_directions)
    fold_blocks(blocks, lambda: None, step, workers)


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
