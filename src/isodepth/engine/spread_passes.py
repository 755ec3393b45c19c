"""The spread pass: how far out each point lies along every direction, in units of the MAD."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.engine.blocks import FEW, are_few, fold_directions, whole_slab
from isodepth.engine.copies import first_copies, repeated_rows
from isodepth.engine.middle_rows import typical_size
from isodepth.engine.rows import over_rows
from isodepth.engine.threads import Resources, best_of_workers

_ALONE = Resources(n_jobs=1)
_NOWHERE = np.empty(0, dtype=np.int64)
# How much longer a row takes with a mass, which is sorted, than without, where the middle is found.
_MASS_COST = 4.0
# np.finfo takes longer than what it is needed for.
_EPSILON = {code: float(np.finfo(code).eps) for code in "fd"}


def largest_outlyingness(
    points: np.ndarray,
    masses: np.ndarray | None,
    total: int,
    queries: np.ndarray | None,
    directions: np.ndarray,
    resources: Resources,
    locate: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Largest |<u,x> - med| / MAD of `queries`, or of the points themselves.

    Where half of the mass coincides along a direction there is no MAD, and the scale is the median
    of the deviations that are not zero: see :func:`raise_where_flat`.

    Parameters
    ----------
    points : ndarray of shape (u, d)
        Those that give median and MAD, around zero with size about one.
    masses : int64 ndarray of shape (u,), or None where each is one unit
    total : int
        The sum of the masses.
    queries : ndarray of shape (m, d), or None for the points
    directions : ndarray of shape (K, d)
    locate : bool
        Whether to say which direction gave it.

    Returns
    -------
    largest : ndarray of shape (m,) or (u,)
    where : int64 ndarray of that shape, or empty
    """
    plain = masses is None and queries is None and not locate
    if plain and are_few(points, directions, resources):
        return _few_outlyingness(points, directions), _NOWHERE
    from isodepth.engine.compiled.small_spread import small_outlyingness, small_workspace
    from isodepth.engine.compiled.sorting import sort_workspace
    from isodepth.engine.compiled.spread import (
        outlyingness_directions,
        spread_workspace,
        weighted_outlyingness_directions,
    )
    from isodepth.engine.compiled.tiles import (
        Tiles,
        empty_slab,
        multipliers,
        project,
        slab_of,
        tiles_of,
    )

    sizes, typical, zero = _rounding_sizes(points, masses, resources)
    copies, first = repeated_rows(masses, total, _MASS_COST), None
    if masses is not None and copies is not None:
        first = first_copies(masses)
        points, sizes, masses = points[copies], sizes[copies], None
    reach = reach_of(points, sizes, typical)
    n = len(points)
    tiles, judged_reach = None, reach
    if queries is not None:
        tiles, rows = tiles_of(queries), multipliers(directions, points.dtype)
        judged_reach = reach_of(points, largest_entries(queries, resources), typical)
    n_judged = n if queries is None else len(queries)
    n_located = n_judged if locate else 0
    few = masses is None and n <= FEW

    def start(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Any]:
        out = np.zeros(n_judged, dtype=points.dtype)
        where = np.zeros(n_located, dtype=np.int64)
        judged = np.empty((0 if queries is None else size, n_judged), dtype=points.dtype)
        flat = np.full(len(directions), np.nan, dtype=points.dtype)
        if few:
            return out, where, judged, flat, small_workspace(n, size, points.dtype)
        if masses is None:
            return out, where, judged, flat, spread_workspace(n, points.dtype)
        room = sort_workspace(n, points.dtype), np.empty(n, points.dtype)
        return out, where, judged, flat, room

    def step(state: tuple, slab: Any, turn: Any) -> None:
        out, where, judged, flat, workspace = state
        asked = empty_slab(slab) if tiles is None else slab_of(tiles, rows, judged)
        rest = (zero, asked, out, where, flat)
        if few:
            some_flat = small_outlyingness(slab, turn, workspace, *rest)
        elif masses is None:
            some_flat = outlyingness_directions(slab, turn, workspace, *rest)
        else:
            some_flat = weighted_outlyingness_directions(
                slab, turn, *workspace, masses, np.int64(total), *rest
            )
        for row in np.flatnonzero(~np.isnan(flat)) if some_flat else ():
            # Rare, and the projections are gone: these are the same bits again.
            along = np.empty((1, n), dtype=points.dtype)
            project(Tiles(slab.tiles, slab.starts), slab.rows[row : row + 1], along)
            seen = along[0], reach
            if tiles is not None:
                along = np.empty((1, n_judged), dtype=points.dtype)
                project(tiles, rows[row : row + 1], along)
            raise_where_flat(
                seen, masses, flat[row], (along[0], judged_reach), out, int(row), where
            )
            flat[row] = np.nan

    # Projections of the queries; of few points the projections once more, in columns.
    beside = (0 if queries is None else n_judged * points.itemsize) + few * n * points.itemsize
    states = fold_directions(points, directions, start, step, resources, beside)
    largest, where = best_of_workers([state[:2] for state in states], np.greater)
    if first is None or queries is not None:
        return largest, where
    return largest[first], where[first] if locate else where


def _few_outlyingness(points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """The same for a few points of unit mass, along all directions at once."""
    from isodepth.engine.compiled.small_spread import outlyingness_at_once, small_workspace

    sizes, typical, zero = _rounding_sizes(points, None, _ALONE)
    slab = whole_slab(points, directions)
    n, count = len(points), len(directions)
    out = np.zeros(n, dtype=points.dtype)
    flat = np.empty(count, dtype=points.dtype)
    room = small_workspace(n, count, points.dtype)
    if outlyingness_at_once(slab, room, zero, out, _NOWHERE, flat):
        reach = reach_of(points, sizes, typical)
        for row in np.flatnonzero(~np.isnan(flat)):
            own = slab.room[row], reach
            raise_where_flat(own, None, flat[row], own, out, int(row), _NOWHERE)
    return out


def _rounding_sizes(
    points: np.ndarray, masses: np.ndarray | None, resources: Resources
) -> tuple[np.ndarray, Any, Any]:
    """How large each row (n, d) is, a typical one, and what rounding alone may make of that."""
    sizes = largest_entries(points, resources)
    typical = typical_size(sizes, masses)
    return sizes, typical, zero_of(points, typical)


def zero_of(points: np.ndarray, typical: Any) -> Any:
    """A deviation of at most this is rounding, where rows are of that size."""
    return points.dtype.type(_rounding(points) * typical)


def _rounding(points: np.ndarray) -> float:
    """Rounding of a projection of size one; a deviation no larger says nothing."""
    return _EPSILON[points.dtype.char] * (8 * points.shape[1])


def reach_of(points: np.ndarray, sizes: np.ndarray, typical: Any) -> np.ndarray:
    """What rounding alone may do to the projections of rows of those sizes."""
    return (_rounding(points) * (sizes + typical)).astype(points.dtype)


def raise_where_flat(
    sample: tuple[np.ndarray, np.ndarray],
    masses: np.ndarray | None,
    middle: np.floating[Any],
    judged: tuple[np.ndarray, np.ndarray],
    out: np.ndarray,
    direction: int,
    where: np.ndarray,
) -> None:
    """Raise `out` along a direction in which the MAD is zero.

    Points on the median are not outlying. The others are measured by the median of the deviations
    that are not zero, so that they keep an order, and an outlier is still the last of them. Where
    the whole sample coincides, a point off it is infinitely far out.

    Rare, and so not compiled: the usual directions must not pay for it.

    Parameters
    ----------
    sample, judged : pairs of arrays of one length
        The projections of the points that give the scale, and of those to judge, with what their
        deviations may be by rounding alone.
    masses : int64 ndarray, or None where each is one unit
    middle : the median of the sample
    out : updated in place
    direction : int
    where : int64 ndarray, the first direction that gave the largest, updated in place; or empty
    """
    deviations = np.abs(sample[0] - middle)
    off = deviations > sample[1]
    scale = _median_of(deviations[off], None if masses is None else masses[off])
    found = flat_outlyingness(judged[0], judged[1], middle, scale)
    if len(where):
        better = (found > out) | ((found == out) & (found > 0) & (direction < where))
        where[better] = direction
    np.maximum(out, found, out=out)


def flat_outlyingness(
    projections: np.ndarray, reach: np.ndarray, middle: Any, scale: Any
) -> np.ndarray:
    """Outlyingness (n,) along a direction whose deviations that are not zero have that median."""
    found = np.abs(projections - middle)
    found[found <= reach] = 0
    # Far points of float32 may overflow to the infinity that they nearly are.
    with np.errstate(over="ignore", divide="ignore"):
        np.divide(found, scale, out=found, where=found > 0)
    return found


def _median_of(values: np.ndarray, masses: np.ndarray | None) -> np.floating[Any]:
    """The median of `values` repeated `masses` times; 0 where there are none."""
    real = values.dtype.type
    if not len(values):
        return real(0)
    order = np.argsort(values)
    repeats = np.ones(len(values), dtype=np.int64) if masses is None else masses[order]
    cumulated = np.cumsum(repeats)
    lower = np.searchsorted(2 * cumulated, cumulated[-1])
    upper = np.searchsorted(2 * cumulated, cumulated[-1], side="right")
    return real(0.5) * values[order[lower]] + real(0.5) * values[order[upper]]


def largest_entries(points: np.ndarray, resources: Resources = _ALONE) -> np.ndarray:
    """The largest absolute value in each row of (n, d)."""
    n, width = points.shape
    largest = np.empty(n, dtype=points.dtype)

    def find(some: slice) -> None:
        rows = points[some]
        if width > 32:
            np.abs(rows).max(axis=1, out=largest[some])
        else:
            # Along the long axis a maximum is taken for several rows at once.
            np.abs(np.ascontiguousarray(rows.T)).max(axis=0, out=largest[some])

    over_rows(n, width, find, resources)
    return largest
