"""Compiled: climb |h_X(u) - h_Y(u)| over the sphere, many climbers at once.

For a fixed corner a of one region, max_u <a, u> - h(u) over the other region is its distance to
that region, a convex problem. A climber solves it step by step: its direction is the one from the
hull of the few points it has met (the *active* ones) to its corner; the support point found along
it joins them. When another corner reaches further along the direction, the climber changes over
to it, so the value found never falls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.gap.factor_loops import Workspace, append, descend, factorize, move_to


class Climbers(NamedTuple):
    """The state of C climbers: see :func:`climbers`."""

    level: Any  # (C,) the level each works on
    side: Any  # (C,) 0 where the corner belongs to x, 1 where to y
    corner: Any  # (C,) its row
    active: Any  # (C, k) rows of the other sample
    weights: Any  # (C, k) their weights in the nearest point
    count: Any  # (C,) how many there are
    height: Any  # (C,) of the factorization
    distance: Any  # (C,) from the corner to the nearest point known
    value: Any  # (C,) largest gap found at the level
    best: Any  # (C, d) the direction that attains it
    trial: Any  # (C, d) the direction to try next
    basis: Any  # (C, k, d + 1) and
    triangle: Any  # (C, k, k) factorizations
    affine: Any  # (k,) and the next two: scratch space of a factorization
    offset: Any  # (d,)
    column: Any  # (d + 1,)
    unused: Any  # (0,)
    unlisted: Any  # int64 (0,)


def climbers(n_climbers: int, dim: int, steps: int) -> Climbers:
    """Room for climbers that meet at most one point a step."""
    k = min(dim + 1, steps + 2)
    return Climbers(
        level=np.zeros(n_climbers, dtype=np.int64),
        side=np.zeros(n_climbers, dtype=np.int64),
        corner=np.zeros(n_climbers, dtype=np.int64),
        active=np.zeros((n_climbers, k), dtype=np.int64),
        weights=np.zeros((n_climbers, k)),
        count=np.zeros(n_climbers, dtype=np.int64),
        height=np.zeros(n_climbers),
        distance=np.zeros(n_climbers),
        value=np.zeros(n_climbers),
        best=np.zeros((n_climbers, dim)),
        trial=np.zeros((n_climbers, dim)),
        basis=np.zeros((n_climbers, k, dim + 1)),
        triangle=np.zeros((n_climbers, k, k)),
        affine=np.empty(k),
        offset=np.empty(dim),
        column=np.empty(dim + 1),
        unused=np.empty(0),
        unlisted=np.empty(0, dtype=np.int64),
    )


@loop
def _aim(work, state, c, distance, reach):
    """Point the next trial from the nearest point to the corner; False when they coincide."""
    state.distance[c] = distance
    if distance <= 1e-12 * reach:
        return False
    for k in range(work.offset.shape[0]):
        state.trial[c, k] = -work.offset[k] / distance
    return True


@loop
def _restart(work, state, c, rows, query, met):
    """Start from the single active row `met`."""
    state.active[c, 0] = met
    state.weights[c, 0] = 1.0
    state.count[c] = 1
    usable, state.height[c] = factorize(work, rows, state.active[c], 1, query)
    return usable


@loop
def place(x, y, state, c, met):
    """Let climber `c` start at its corner with the row `met` of the other sample."""
    rows = y if state.side[c] == 0 else x
    query = x[state.corner[c]] if state.side[c] == 0 else y[state.corner[c]]
    work = Workspace(
        state.basis[c], state.triangle[c], state.affine, state.offset, state.column, state.unused,
        state.unlisted, state.unlisted,
    )  # fmt: skip
    if not _restart(work, state, c, rows, query, met):
        return False
    distance, reach = move_to(work, rows, state.active[c], state.weights[c], 1, query)
    return _aim(work, state, c, distance, reach)


@loop
def climb(x, y, sx, sy, state, live, slack, going):
    """Judge the trial of each live climber and propose its next.

    Parameters
    ----------
    x, y : (n, d) and (m, d) points, deepest first
    sx, sy : float64 (4, S, J) from `supports` for the trials of the J live climbers
    state : Climbers, changed in place
    live : int64 (J,) the climbers that are still under way
    slack : relative distance to the best the corner can give at which a climber stops
    going : bool (J,), False; set to which of them go on
    """
    dim = x.shape[1]
    for j in range(live.shape[0]):
        c = live[j]
        level = state.level[c]
        outer = sx if state.side[c] == 0 else sy
        inner = sy if state.side[c] == 0 else sx
        corners = x if state.side[c] == 0 else y
        rows = y if state.side[c] == 0 else x
        found = outer[0, level, j] - inner[0, level, j]
        if found > state.value[c]:
            state.value[c] = found
            for k in range(dim):
                state.best[c, k] = state.trial[c, k]
        furthest = np.int64(outer[2, level, j])
        met = np.int64(inner[2, level, j])
        along = 0.0
        for k in range(dim):
            along += corners[state.corner[c], k] * state.trial[c, k]
        solved = state.distance[c] - (along - inner[0, level, j]) <= slack * state.distance[c]
        count = state.count[c]
        known = False
        for i in range(count):
            known |= state.active[c, i] == met
        work = Workspace(
            state.basis[c], state.triangle[c], state.affine, state.offset, state.column,
            state.unused, state.unlisted, state.unlisted,
        )  # fmt: skip
        if furthest != state.corner[c] and (solved or known or found >= state.distance[c]):
            state.corner[c] = furthest
            query = corners[furthest]
            usable, state.height[c] = factorize(work, rows, state.active[c], count, query)
            if usable:
                count, _ = descend(work, state.active[c], state.weights[c], count)
            elif _restart(work, state, c, rows, query, met):
                count = 1
            else:
                continue
        elif solved or known:
            continue
        query = corners[state.corner[c]]
        known = count == state.active.shape[1]
        for i in range(count):
            known |= state.active[c, i] == met
        if not known and append(work, count, rows[met], query, state.height[c]):
            state.active[c, count] = met
            state.weights[c, count] = 0.0
            count, _ = descend(work, state.active[c], state.weights[c], count + 1)
        state.count[c] = count
        distance, reach = move_to(work, rows, state.active[c], state.weights[c], count, query)
        going[j] = _aim(work, state, c, distance, reach)
