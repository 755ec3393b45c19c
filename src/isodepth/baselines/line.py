"""Optimal transport between samples on the line, for many projections at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isodepth.baselines.pair import Pair
from isodepth.engine.blocks import fold_projections
from isodepth.engine.threads import Resources


class Coupling(NamedTuple):
    """Pieces of mass, each moved from one point of X to one of Y, all of shape (c,)."""

    i_of: np.ndarray
    j_of: np.ndarray
    mass: np.ndarray


def line_cost(pair: Pair, p: float) -> float:
    """W_p^p of samples of one column."""
    return float(projected_costs(pair, np.ones((1, 1)), p, Resources())[0])


def projected_costs(
    pair: Pair, directions: np.ndarray, p: float, resources: Resources
) -> np.ndarray:
    """W_p^p between the projections of both samples on each direction (K, d), of shape (K,)."""
    from isodepth.baselines.line_loops import costs_of_rows
    from isodepth.engine.compiled.sorting import sort_workspace

    wx, wy, total = _units(pair)
    paired = pair.equal_weights and len(wx) == len(wy)
    costs = np.empty(len(directions))

    points = np.concatenate([pair.x, pair.y])

    def start() -> tuple[tuple, tuple]:
        return sort_workspace(len(wx), points.dtype), sort_workspace(len(wy), points.dtype)

    def step(rooms: tuple[tuple, tuple], projections: np.ndarray, which: slice) -> None:
        costs_of_rows(projections, wx, wy, paired, p, *rooms, costs[which])

    fold_projections(points, directions, start, step, resources)
    return costs / total


def line_coupling(pair: Pair, xs: np.ndarray, ys: np.ndarray) -> Coupling:
    """The optimal coupling of both samples when seen as the numbers `xs` (n,) and `ys` (m,)."""
    from isodepth.baselines.line_loops import couple

    wx, wy, total = _units(pair)
    most = len(xs) + len(ys) - 1
    i_of, j_of, mass = (
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most),
    )
    x_order, y_order = np.argsort(xs).astype(np.int32), np.argsort(ys).astype(np.int32)
    count = couple(wx, x_order, wy, y_order, i_of, j_of, mass)
    return Coupling(i_of[:count], j_of[:count], mass[:count] / total)


def _units(pair: Pair) -> tuple[np.ndarray, np.ndarray, float]:
    """Masses of both samples and their total: whole numbers for equal weights, never rounded."""
    if not pair.equal_weights:
        return pair.a, pair.b, 1.0
    n, m = len(pair.a), len(pair.b)
    shared = np.lcm(n, m)
    return np.full(n, float(shared // n)), np.full(m, float(shared // m)), float(shared)
