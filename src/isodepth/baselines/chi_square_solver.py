"""Interior points for transport between chi-square balls.

Minimize <C, P> over plans P >= 0 whose marginals lie in balls of radius sqrt(2 rho) around a and b,

    P 1 = a + D xi,  P^T 1 = b + E eta,  |xi| <= 1,  |eta| <= 1,  <sqrt(a), xi> = 0,

with D = diag(sqrt(2 rho a)) and E = diag(sqrt(2 rho b)). The dual maximizes <a, f> + <b, g> less
the lengths of zeta = D f - nu sqrt(a) and theta = E g, over potentials with Z = C - f - g >= 0.

All constraints are linear but for the cones, so every iterate is feasible on both sides and only
the products P Z, <(1, xi), (tip, zeta)> and <(1, eta), (tip, theta)> must go to zero: Newton's
method follows them down to mu a b^T, mu share and mu share, by Mehrotra's predictor and corrector.
P has n m entries, but each is tied to the others through its row and its column alone, so a step
costs one Cholesky factor of the size of the smaller sample.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from isodepth.baselines.chi_square_cone import Ball
from isodepth.engine.threads import single_threaded_blas

_RELATIVE_GAP = 1e-8
# Of the mean cost: what rounding leaves of a value that should be zero.
_ABSOLUTE_GAP = 1e-13
_MOST_STEPS = 100
# Where rounding wins, further steps no longer narrow the bounds.
_MOST_IDLE_STEPS = 15
# A larger one is told to the user.
_NOTABLE_GAP = 1e-5
# Share of the way to the boundary that a step may take.
_BOUNDARY = 0.99


class _Point(NamedTuple):
    """An iterate, or a step between iterates."""

    plan: np.ndarray
    slack: np.ndarray
    xi: np.ndarray
    eta: np.ndarray
    f: np.ndarray
    g: np.ndarray
    nu: float
    tip_x: float
    tip_y: float

    def moved(self, step: tuple[Any, ...], reach: float) -> _Point:
        values: Any = (value + reach * by for value, by in zip(self, step, strict=True))
        return _Point(*values)


def relaxed_transport(a: np.ndarray, b: np.ndarray, cost: np.ndarray, rho: float) -> float:
    """The least cost (n, m) over couplings of masses within rho of `a` (n,) and of `b` (m,)."""
    if cost.shape[1] > cost.shape[0]:
        a, b, cost = b, a, cost.T
    # The product of the marginals is feasible; its cost is the natural unit.
    unit = float(a @ cost @ b)
    if unit == 0:
        return 0.0
    programme = _Programme(a, b, np.ascontiguousarray(cost) / unit, rho)
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return unit * programme.solve()


class _Programme:
    def __init__(self, a: np.ndarray, b: np.ndarray, cost: np.ndarray, rho: float) -> None:
        self.a, self.b, self.cost = a, b, cost
        self.product = np.outer(a, b)
        self.radius = math.sqrt(2 * rho)
        self.root_a = np.sqrt(a)
        self.d, self.e = self.radius * self.root_a, self.radius * np.sqrt(b)
        # The tips end up of the order of the radius: where it is small they start small.
        self.share = min(1.0, self.radius)

    def solve(self) -> float:
        least, most = -math.inf, math.inf
        idle = 0
        point = self.start()
        for _ in range(_MOST_STEPS):
            upper, lower = self.bounds(point)
            idle = 0 if min(upper, most) - max(lower, least) < 0.9 * (most - least) else idle + 1
            # In this order what is not a number changes nothing.
            most, least = min(most, upper), max(least, lower)
            if most - least <= _RELATIVE_GAP * most + _ABSOLUTE_GAP or idle == _MOST_IDLE_STEPS:
                break
            try:
                point = self.advance(point)
            except (np.linalg.LinAlgError, ValueError, ZeroDivisionError):
                break
        if most - least > _NOTABLE_GAP * most + _ABSOLUTE_GAP:
            warnings.warn(
                f"ruot could not be solved to the end: the cost lies between {least:.9g} and "
                f"{most:.9g} times its mean over all pairs of points",
                RuntimeWarning,
                stacklevel=4,
            )
        return most

    def start(self) -> _Point:
        """The product of the marginals, and constant potentials below all costs."""
        n, m = self.cost.shape
        level = float(self.cost.min()) - 1.0
        slack = self.cost - level
        tip = self.share * float(np.vdot(self.product, slack))
        return _Point(
            plan=self.product.copy(),
            slack=slack,
            xi=np.zeros(n),
            eta=np.zeros(m),
            f=np.full(n, level),
            g=np.zeros(m),
            nu=self.radius * level,
            tip_x=tip,
            tip_y=tip,
        )

    def bounds(self, point: _Point) -> tuple[float, float]:
        """The cost of the plan, and a bound below from the potentials.

        Masses r within rho of `a` have <f, r> at least the mean of f less sqrt(2 rho) times its
        standard deviation, and f + g <= C makes <f, r> + <g, c> a bound below.
        """
        room = float((self.cost - point.f[:, None] - point.g).min())
        lower = room + self.least_mean(point.f, self.a) + self.least_mean(point.g, self.b)
        return float(np.vdot(point.plan, self.cost) / point.plan.sum()), lower

    def least_mean(self, values: np.ndarray, masses: np.ndarray) -> float:
        mean = float(values @ masses)
        return mean - self.radius * math.sqrt(float(np.square(values - mean) @ masses))

    def advance(self, point: _Point) -> _Point:
        newton = _Newton(self, point)
        predictor = newton.step(None, 0.0)
        reach = min(1.0, newton.reach(predictor))
        ratio = self.mean_product(point.moved(predictor, reach)) / newton.mu
        step = newton.step(predictor, max(0.0, ratio) ** 3 * newton.mu)
        return point.moved(step, min(1.0, _BOUNDARY * newton.reach(step)))

    def mean_product(self, point: _Point) -> float:
        ball_x, ball_y = self.balls(point)
        products = float(np.vdot(point.plan, point.slack)) + ball_x + ball_y
        return products / (1 + 2 * self.share)

    def balls(self, point: _Point) -> tuple[float, float]:
        zeta, theta = self.d * point.f - point.nu * self.root_a, self.e * point.g
        return point.tip_x + float(point.xi @ zeta), point.tip_y + float(point.eta @ theta)


class _Newton:
    """The linearised equations at one point, factored once."""

    def __init__(self, programme: _Programme, point: _Point) -> None:
        self.programme, self.point = programme, point
        d, e, root_a = programme.d, programme.e, programme.root_a
        self.mu = programme.mean_product(point)
        self.x = Ball(point.xi, point.tip_x, d * point.f - point.nu * root_a)
        self.y = Ball(point.eta, point.tip_y, e * point.g)
        self.ratio = point.plan / point.slack
        # D M D of the balls, but for a multiple of w1 w1^T that goes with <w1, dzeta>.
        soft_x, soft_y = (self.x.size * d) ** 2, (self.y.size * e) ** 2
        self.rows = soft_x + self.ratio.sum(axis=1)
        self.factor = self._factor(soft_x, soft_y)
        zero_x, zero_y = np.zeros_like(d), np.zeros_like(e)
        pull_x = (2 * self.x.size**2 / self.x.corner) * d * self.x.w1
        pull_y = (2 * self.y.size**2 / self.y.corner) * e * self.y.w1
        # Unknown numbers beside df and dg: <w1, dzeta>, <w1, dtheta> and dnu.
        self.df, self.dg = self._solve(
            np.stack([pull_x, zero_x, self.x.size**2 * d * root_a], axis=1),
            np.stack([zero_y, pull_y, zero_y], axis=1),
        )

    def _factor(self, soft_x: np.ndarray, soft_y: np.ndarray) -> Any:
        from scipy.linalg import cho_factor

        schur = self.ratio.T @ (self.ratio / -self.rows[:, None])
        # The diagonal is a difference of nearly equal numbers; row sums are known without one.
        np.fill_diagonal(schur, 0.0)
        dominance = soft_y + (soft_x / self.rows) @ self.ratio
        # In small balls it drowns in rounding: shifting f against g leaves f + g, and is then free.
        dominance = np.maximum(dominance, 1e-14 * self.ratio.sum(axis=0))
        np.fill_diagonal(schur, dominance - schur.sum(axis=1))
        return cho_factor(schur, lower=True, overwrite_a=True, check_finite=False)

    def _solve(self, side_x: np.ndarray, side_y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from scipy.linalg import cho_solve

        scaled = (side_x.T / self.rows).T
        dg = cho_solve(self.factor, side_y - self.ratio.T @ scaled, check_finite=False)
        return scaled - ((self.ratio @ dg).T / self.rows).T, dg

    def step(self, predictor: _Point | None, target: float) -> _Point:
        """Newton's step towards products `target`, corrected for the bend of a first step."""
        programme, point, x, y = self.programme, self.point, self.x, self.y
        d, e, root_a = programme.d, programme.e, programme.root_a
        products = target * programme.product
        bend_x: Any = (0.0, 0.0)
        bend_y: Any = (0.0, 0.0)
        if predictor is not None:
            products -= predictor.plan * predictor.slack
            d_zeta = d * predictor.f - predictor.nu * root_a
            bend_x = x.bend(predictor.xi, predictor.tip_x, d_zeta)
            bend_y = y.bend(predictor.eta, predictor.tip_y, e * predictor.g)
        free = products / point.slack - point.plan
        aim_x = x.aim(target * programme.share, bend_x)
        aim_y = y.aim(target * programme.share, bend_y)
        q_x = aim_x[1] - x.beside * aim_x[0] * x.w1
        q_y = aim_y[1] - y.beside * aim_y[0] * y.w1
        missing_x = programme.a + d * point.xi - point.plan.sum(axis=1)
        missing_y = programme.b + e * point.eta - point.plan.sum(axis=0)
        df, dg = self._solve(
            missing_x - free.sum(axis=1) + d * q_x, missing_y - free.sum(axis=0) + e * q_y
        )
        # What <w1, dzeta>, <w1, dtheta> and <sqrt(a), xi + dxi> = 0 say about the three numbers.
        half_x = 2 / x.corner * float(root_a @ x.w1)
        system = [
            (x.w1 * d) @ self.df - [1.0, 0.0, float(x.w1 @ root_a)],
            (y.w1 * e) @ self.dg - [0.0, 1.0, 0.0],
            (root_a * d) @ self.df - [half_x, 0.0, 1.0],
        ]
        sides = [
            -float((x.w1 * d) @ df),
            -float((y.w1 * e) @ dg),
            float(root_a @ (q_x + point.xi)) / x.size**2 - float((root_a * d) @ df),
        ]
        along_x, along_y, dnu = np.linalg.solve(system, sides)
        df = df + self.df @ [along_x, along_y, dnu]
        dg = dg + self.dg @ [along_x, along_y, dnu]
        change = df[:, None] + dg
        d_zeta, d_theta = d * df - dnu * root_a, e * dg
        return _Point(
            plan=free + self.ratio * change,
            slack=-change,
            xi=q_x - x.size**2 * (d_zeta - (2 / x.corner * along_x) * x.w1),
            eta=q_y - y.size**2 * (d_theta - (2 / y.corner * along_y) * y.w1),
            f=df,
            g=dg,
            nu=float(dnu),
            tip_x=(aim_x[0] / x.size**2 - 2 * x.w0 * along_x) / x.corner,
            tip_y=(aim_y[0] / y.size**2 - 2 * y.w0 * along_y) / y.corner,
        )

    def reach(self, step: _Point) -> float:
        """How much of the step can be taken until something reaches the boundary."""
        programme, point = self.programme, self.point
        fall = min(
            float((step.plan / point.plan).min()), float((step.slack / point.slack).min()), -1e-300
        )
        d_zeta = programme.d * step.f - step.nu * programme.root_a
        return min(
            -1 / fall,
            self.x.reach(step.xi, step.tip_x, d_zeta),
            self.y.reach(step.eta, step.tip_y, programme.e * step.g),
        )
