"""The ball of masses near given ones, as a slice of a second-order cone."""

from __future__ import annotations

import math

import numpy as np


class Ball:
    """Newton's equations for x = (1, xi) and z = (tip, zeta) in the cone |xi| <= 1, |zeta| <= tip.

    The pair is scaled so that both become the same point lam (Nesterov and Todd): with the
    hyperbolic reflection W of `size` and axis (`w0`, `w1`), W z = lam = W^-1 x.
    """

    def __init__(self, xi: np.ndarray, tip: float, zeta: np.ndarray) -> None:
        self.xi, self.tip, self.zeta = xi, tip, zeta
        length, slope = math.sqrt(float(xi @ xi)), math.sqrt(float(zeta @ zeta))
        room, dual_room = (1 - length) * (1 + length), (tip - slope) * (tip + slope)
        x0, z0 = 1 / math.sqrt(room), tip / math.sqrt(dual_room)
        x1, z1 = x0 * xi, zeta / math.sqrt(dual_room)
        double = math.sqrt(2 * (1 + x0 * z0 + float(x1 @ z1)))
        self.w0, self.w1 = (x0 + z0) / double, (x1 - z1) / double
        self.size = (room / dual_room) ** 0.25
        self.lam = self.scaled(tip, zeta)
        # W^2 = size^2 (2 w w^T - J) has these in its corner and beside it.
        self.corner = 2 * self.w0 * self.w0 - 1
        self.beside = 2 * self.w0 / self.corner

    @property
    def product(self) -> float:
        """<x, z>, which is zero at the optimum."""
        return self.tip + float(self.xi @ self.zeta)

    def scaled(self, v0: float, v1: np.ndarray) -> tuple[float, np.ndarray]:
        """W v."""
        along = float(self.w1 @ v1)
        top = self.size * (self.w0 * v0 + along)
        return top, self.size * (v1 + (v0 + along / (1 + self.w0)) * self.w1)

    def unscaled(self, v0: float, v1: np.ndarray) -> tuple[float, np.ndarray]:
        """W^-1 v."""
        along = float(self.w1 @ v1)
        top = (self.w0 * v0 - along) / self.size
        return top, (v1 + (along / (1 + self.w0) - v0) * self.w1) / self.size

    def aim(self, target: float, bend: tuple[float, np.ndarray]) -> tuple[float, np.ndarray]:
        """W r, where r solves lam o r = target e - lam o lam - bend."""
        l0, l1 = self.lam
        v0 = target - l0 * l0 - float(l1 @ l1) - bend[0]
        v1 = -2 * l0 * l1 - bend[1]
        length = math.sqrt(float(l1 @ l1))
        r0 = (l0 * v0 - float(l1 @ v1)) / ((l0 - length) * (l0 + length))
        return self.scaled(r0, (v1 - r0 * l1) / l0)

    def bend(self, d_xi: np.ndarray, d_tip: float, d_zeta: np.ndarray) -> tuple[float, np.ndarray]:
        """The product of a step's two scaled halves, which a straight step leaves out."""
        p0, p1 = self.unscaled(0.0, d_xi)
        q0, q1 = self.scaled(d_tip, d_zeta)
        return p0 * q0 + float(p1 @ q1), p0 * q1 + q0 * p1

    def reach(self, d_xi: np.ndarray, d_tip: float, d_zeta: np.ndarray) -> float:
        """How much of a step stays inside both cones."""
        return min(
            until_boundary(1.0, self.xi, 0.0, d_xi),
            until_boundary(self.tip, self.zeta, d_tip, d_zeta),
        )


def until_boundary(x0: float, x1: np.ndarray, d0: float, d1: np.ndarray) -> float:
    """The first positive k at which x + k d leaves the cone |x1| <= x0; x is inside."""
    length = math.sqrt(float(x1 @ x1))
    inside = (x0 - length) * (x0 + length)
    linear = x0 * d0 - float(x1 @ d1)
    square = d0 * d0 - float(d1 @ d1)
    # inside + 2 k linear + k^2 square = 0, solved without subtracting what is nearly equal.
    disc = linear * linear - square * inside
    if (linear >= 0 and square >= 0) or disc < 0:
        return math.inf
    denominator = math.sqrt(disc) - linear
    return inside / denominator if denominator > 0 else math.inf
