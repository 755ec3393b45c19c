"""Projection depth."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.backend.projecting import fold_projections
from isodepth.backend.threads import Resources
from isodepth.depth.base import standardise
from isodepth.depth.minimised import MinimisedDepth
from isodepth.depth.ranked import best_of_workers
from isodepth.depth.search import search_directions
from isodepth.errors import InvalidOptionError
from isodepth.sample import Sample


class ProjectionDepth(MinimisedDepth):
    """Projection depth: 1 / (1 + the largest |<u,x> - med| / MAD over directions u).

    Median and median absolute deviation are the usual sample ones, without a consistency factor. In
    a direction where the MAD is zero, a point off the median has depth 0 and a point on it is not
    outlying.

    Parameters
    ----------
    method : {"directions", "exact"}
        `directions` takes the maximum over the given directions: the depth is an upper bound that
        falls towards the exact one as directions are added. `exact` (in one or two dimensions, for
        some hundred points) finds it by combinatorics.
    refine : int
        Steps of local search from the best direction of each point, which tighten the bound in
        more than a few dimensions; only with ``method="directions"``.
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.

    Attributes
    ----------
    depth_ : ndarray of shape (n,)
        Depth of each row of the fitted sample.

    Examples
    --------
    >>> from isodepth import ProjectionDepth
    >>> ProjectionDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_
    array([0.5 , 0.6 , 1.  , 0.42857143, 0.2 ])
    """

    name = "projection"
    tie_tolerance = 1e-12

    def along_directions(
        self,
        sample: Sample,
        queries: np.ndarray | None,
        directions: np.ndarray,
        resources: Resources,
    ) -> np.ndarray:
        points = standardise(sample, sample.points)
        asked = None if queries is None else standardise(sample, queries)
        if self.refine:

            def judge(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                return _outlyingness(sample, points, asked, rows, resources, locate=True)

            searched = points if asked is None else asked
            directions = search_directions(searched, directions, self.refine, judge)
        largest, _ = _outlyingness(sample, points, asked, directions, resources)
        return 1.0 / (1.0 + largest.astype(np.float64))

    def exactly(self, sample: Sample, queries: np.ndarray) -> np.ndarray:
        from isodepth.depth.exact_projection import exact_projection_depth_2d

        if sample.width > 2:
            raise InvalidOptionError(
                f"method='exact' of the projection depth needs data of one or two dimensions, got "
                f"{sample.width}; use method='directions' with refine"
            )
        points, asked = sample.points.astype(np.float64), queries.astype(np.float64)
        if sample.width == 1:
            # A line is a plane whose second coordinate is always zero.
            points, asked = (np.column_stack([rows, 0 * rows]) for rows in (points, asked))
        return exact_projection_depth_2d(points, sample.unit_masses, asked)

    def tied_depth(self, sample: Sample) -> np.ndarray:
        # Projections of the corners of a simplex can be made anything. Letting all but one
        # coincide gives a zero MAD, unless that one holds half of the mass or more.
        if sample.n_points <= 2 and sample.masses is None:
            return np.full(sample.n_points, 1.0 / sample.n_points)
        twice = 2 * sample.unit_masses
        return np.where(twice > sample.total, 1.0, np.where(twice == sample.total, 0.5, 0.0))


def _outlyingness(
    sample: Sample,
    points: np.ndarray,
    queries: np.ndarray | None,
    directions: np.ndarray,
    resources: Resources,
    locate: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Largest |<u,x> - med| / MAD of `queries`, or of the sample, and where it was found."""
    from isodepth.backend.product import multipliers, project, tiles_of
    from isodepth.backend.small_spread import SMALL, small_outlyingness_block
    from isodepth.backend.sorting import sort_room
    from isodepth.backend.spread import (
        outlyingness_block,
        spread_room,
        weighted_outlyingness_block,
    )

    real = points.dtype.type
    sizes = _largest_entries(points)
    typical = np.sort(sizes)[len(sizes) // 2]
    # Rounding of a projection of size s; a deviation no larger says nothing.
    rounding = 8 * np.finfo(points.dtype).eps * sample.width
    zero = real(rounding * typical)
    reach = (rounding * (sizes + typical)).astype(points.dtype)
    none = np.empty((0, 0), dtype=points.dtype)
    tiles, judged_reach = None, none.reshape(0)
    if queries is not None:
        tiles, rows = tiles_of(queries), multipliers(directions, points.dtype)
        judged_reach = (rounding * (_largest_entries(queries) + typical)).astype(points.dtype)
    n_judged = len(points) if queries is None else len(queries)
    n_located = n_judged if locate else 0

    def start() -> tuple[np.ndarray, np.ndarray, Any]:
        make = spread_room if sample.masses is None else sort_room
        out = np.zeros(n_judged, dtype=points.dtype)
        return out, np.zeros(n_located, dtype=np.int64), make(len(points), points.dtype)

    def step(
        state: tuple[np.ndarray, np.ndarray, Any], projections: np.ndarray, which: slice
    ) -> None:
        out, where, room = state
        other = none
        if tiles is not None:
            other = np.empty((len(projections), n_judged), dtype=points.dtype)
            project(tiles, rows[which], other)
        rest = (zero, reach, other, judged_reach, out, which.start, where)
        if sample.masses is None and len(points) <= SMALL:
            small_outlyingness_block(projections, *rest)
        elif sample.masses is None:
            outlyingness_block(projections, room, *rest)
        else:
            deviations = np.empty(len(points), dtype=points.dtype)
            total = np.int64(sample.total)
            weighted_outlyingness_block(projections, room, deviations, sample.masses, total, *rest)

    states = fold_projections(points, directions, start, step, resources)
    return best_of_workers([state[:2] for state in states], np.greater)


def _largest_entries(points: np.ndarray) -> np.ndarray:
    """The largest absolute value in each row of (n, d)."""
    if points.shape[1] > 32:
        return np.abs(points).max(axis=1)
    # Along the long axis a maximum is taken for several rows at once.
    return np.abs(np.ascontiguousarray(points.T)).max(axis=0)
