"""Projection depth in the plane without directions: the supremum of the outlyingness, arc by arc.

While u turns, the median of the projections is ``<u, m>`` with m the mean of one or two points,
and the MAD is ``<u, w>`` with w made of one or two deviations; both only change where two
projections, or two deviations, become equal. On the arcs in between, the outlyingness ``|<u, x -
m>| / <u, w>`` is a ratio of two linear forms in u, which is monotone. So its supremum is reached
at the ends of the arcs.

Where a point holds more than half of the mass, the MAD is zero in every direction, and the median
of the positive deviations of the others takes its place: again a linear form on each arc. In the
single directions in which further points lie on the median, and are left out of that median, it is
larger than in the directions around them: the supremum is not there.

Across a line that holds more than half of the mass (or, in the case above, of the mass of the
others, on a line through the heavy point) the scale tends to zero as u turns to its normal, so that
a point off the line has an infinite supremum. In the normal itself the scale is not zero, which
does not matter for a supremum.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from isodepth.depth.exact.inputs import WeightedPoints, check_work, merge_points, merge_queries
from isodepth.errors import InvalidInputError

#: About a minute of one core.
MAX_WORK = 1e9

# Angles closer than this are not told apart where the MAD vanishes.
_ANGLE_RESOLUTION = 1e-13
_BLOCK_ELEMENTS = 1 << 20


class Arcs(NamedTuple):
    """Arcs of directions on which median and scale are linear forms.

    Attributes
    ----------
    starts, stops : (k,) angles
    medians, spreads : (k, 2), the vectors m and w
    """

    starts: np.ndarray
    stops: np.ndarray
    medians: np.ndarray
    spreads: np.ndarray


def exact_projection_depth_2d(
    points: np.ndarray,
    masses: np.ndarray,
    queries: np.ndarray,
    *,
    max_work: float = MAX_WORK,
) -> np.ndarray:
    """Projection depth of points in the plane, over all directions.

    The depth is ``1 / (1 + sup_u |<u, x> - med| / MAD)``, with the median of the positive
    deviations where the MAD is zero. Off a line that holds more than half of the mass (counting
    points that are off it by no more than rounding) the supremum is infinite and the depth 0:
    directions near the normal of the line have a MAD as small as one likes.

    Parameters
    ----------
    points : array of shape (n, 2)
        Repeated points count with the sum of their masses.
    masses : int array of shape (n,)
        None negative, not all zero. Points of mass zero do not belong to the sample.
    queries : array of shape (m, 2)
    max_work : float
        How many elementary steps may be taken; about ``n**3`` are, whatever the number of queries:
        half a second for n = 200, the limit being n = 1000.

    Returns
    -------
    depths : float64 ndarray of shape (m,)
        Exact up to rounding: relative errors are a few units of 1e-16 times the ratio of the size
        of the data, far points included, to the MAD in the worst direction.

    Examples
    --------
    >>> import numpy as np
    >>> cross = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> exact_projection_depth_2d(cross, np.ones(5, dtype=int), [[0, 0], [1, 0], [1, 1]])
    array([1., 0., 0.])
    """
    sample = merge_points(points, masses)
    if sample.points.shape[1] != 2 or sample.total == 0:
        raise InvalidInputError(
            "the exact projection depth needs points in the plane, some of positive mass; got "
            f"points of shape {np.shape(points)} and total mass {sample.total}"
        )
    distinct, inverse = merge_queries(queries, 2)
    n = len(sample.points)
    check_work(
        float(n) ** 3, max_work, f"the exact projection depth in a sample of {n} distinct points"
    )
    if n == 1:
        depths = (distinct == sample.points[0]).all(axis=1).astype(np.float64)
    else:
        depths = 1.0 / (1.0 + _outlyingness(sample, distinct))
    return depths[inverse]


def _outlyingness(sample: WeightedPoints, queries: np.ndarray) -> np.ndarray:
    """Supremum over all directions, of shape (m,), for a sample of two points or more."""
    from isodepth.depth.exact.projection_loops import are_in_line, find_heavy_lines

    # Moving and scaling each coordinate changes no depth, and makes angles and sizes comparable.
    n = len(sample.points)
    middle = np.sort(sample.points, axis=0)[n // 2]
    everything = np.concatenate([sample.points, queries])
    # Halves, so that differences of the largest floats do not overflow.
    exponents = np.frexp(np.abs(sample.points / 2 - middle / 2).max(axis=0))[1] + 1
    sizes = np.abs(everything / 2) + np.abs(middle / 2)
    with np.errstate(over="ignore"):
        moved = np.ldexp(everything / 2 - middle / 2, 1 - exponents)
        rounding = np.ldexp(sizes, 1 - exponents) * np.finfo(np.float64).eps
    rows, asked = moved[:n], moved[n:]

    # What the scale is the median of: all deviations, or those that are not always zero.
    spread_masses = sample.masses.copy()
    heaviest = int(sample.masses.argmax())
    if 2 * int(sample.masses[heaviest]) > sample.total:
        spread_masses[heaviest] = 0
    lines = find_heavy_lines(rows, rounding[:n], spread_masses)
    if spread_masses[heaviest] == 0:
        lines = lines[lines[:, heaviest]]
    worst = np.zeros(len(asked))
    forbidden = np.empty(len(lines))
    for i, members in enumerate(lines):
        first, last = np.flatnonzero(members)[[0, -1]]
        forbidden[i] = _normal_angle(rows[last] - rows[first])
        for q in range(len(asked)):
            if not are_in_line(moved, rounding, first, last, n + q):
                worst[q] = np.inf
    arcs = _linear_arcs(rows, sample.masses, spread_masses, lines, forbidden)
    _raise_to_largest(worst, asked, arcs, forbidden)
    if spread_masses[heaviest] == 0:
        # The median itself, which rounding must not move away from itself.
        worst[(queries == sample.points[heaviest]).all(axis=1)] = 0.0
    return worst


def _normal_angle(differences: np.ndarray) -> np.ndarray:
    """Angles in [0, pi) of directions orthogonal to vectors (..., 2)."""
    angles = np.arctan2(differences[..., 0], -differences[..., 1]) % np.pi
    return np.where(angles < np.pi, angles, 0.0)


def _linear_arcs(
    rows: np.ndarray,
    masses: np.ndarray,
    spread_masses: np.ndarray,
    lines: np.ndarray,
    forbidden: np.ndarray,
) -> Arcs:
    """Cut the half turn of directions into arcs on which median and scale are linear forms."""
    from isodepth.depth.exact.projection_loops import median_pairs, spread_vectors

    i, j = np.triu_indices(len(rows))
    apart = i < j
    swaps = _normal_angle(rows[j[apart]] - rows[i[apart]])
    for members, angle in zip(lines, forbidden, strict=True):
        swaps[(members[i] & members[j])[apart]] = angle
    swaps = np.unique(swaps)
    cuts = np.append(swaps, swaps[0] + np.pi)
    pairs = median_pairs(rows, masses, (cuts[1:] + cuts[:-1]) / 2)
    changes = np.flatnonzero((pairs[1:] != pairs[:-1]).any(axis=1)) + 1
    bounds = np.concatenate([[0], changes, [len(pairs)]])

    sums = rows[i] + rows[j]
    order = np.arange(len(rows))
    pieces = []
    for start, stop in pairwise(bounds):
        a, b = pairs[start]
        median = (rows[a] + rows[b]) / 2
        # Deviations on opposite sides of the median are equal where their sum is orthogonal to u.
        # Sums along a heavy line are so only where the line is, which is a cut already.
        candidates = sums - 2 * median
        for members in lines:
            if members[a] and members[b]:
                candidates[members[i] & members[j]] = 0.0
        meetings = _angles_between(candidates, cuts[start], cuts[stop])
        inner = np.unique(np.concatenate([cuts[start : stop + 1], meetings]))
        spreads = spread_vectors(rows - median, spread_masses, (inner[1:] + inner[:-1]) / 2, order)
        new = np.concatenate([[True], (spreads[1:] != spreads[:-1]).any(axis=1)])
        first = np.flatnonzero(new)
        ends = inner[np.append(first, len(spreads))]
        medians = np.tile(median, (len(first), 1))
        pieces.append(Arcs(ends[:-1], ends[1:], medians, spreads[first]))
    return Arcs(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


def _angles_between(vectors: np.ndarray, start: float, stop: float) -> np.ndarray:
    """Angles in (start, stop), an arc of at most pi, orthogonal to any of the vectors (k, 2)."""
    ahead = vectors @ [math.cos(start), math.sin(start)]
    behind = vectors @ [math.cos(stop), math.sin(stop)]
    inside = ((ahead > 0) & (behind < 0)) | ((ahead < 0) & (behind > 0))
    angles = _normal_angle(vectors[inside])
    angles += np.pi * np.ceil((start - angles) / np.pi)
    return angles[(angles > start) & (angles < stop)]


def _raise_to_largest(
    worst: np.ndarray, asked: np.ndarray, arcs: Arcs, forbidden: np.ndarray
) -> None:
    """Raise `worst` (m,) to the largest ratio at both ends, and inside, of all arcs.

    Where the scale vanishes at an end, a query that still counts is on the median there, so that
    its ratio is constant on the arc and the other end or the inside has it.
    """

    def usable(angles: np.ndarray) -> np.ndarray:
        turns = (angles[:, None] - forbidden) / np.pi
        return (np.abs(turns - np.rint(turns)) * np.pi > _ANGLE_RESOLUTION).all(axis=1)

    for angles in (arcs.starts, (arcs.starts + arcs.stops) / 2, arcs.stops):
        chosen = np.flatnonzero(usable(angles))
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        for block in np.array_split(chosen, 1 + len(chosen) * len(asked) // _BLOCK_ELEMENTS):
            if not len(block):
                continue
            u = directions[block]
            centers = (u * arcs.medians[block]).sum(axis=1)
            spreads = (u * arcs.spreads[block]).sum(axis=1)
            # Queries too far away for a float have an infinite ratio in some other direction.
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                ratios = np.abs(asked @ u.T - centers) / spreads
            np.fmax(worst, np.fmax.reduce(ratios, axis=1), out=worst)
