"""Reference implementations, in plain loops, of the contributions of columns to a distance."""

from __future__ import annotations

from collections.abc import Sequence

from twins import naive


def shares_of_levels(
    gaps: Sequence[float], widths: Sequence[float], directions: Sequence[Sequence[float]]
) -> list[float]:
    """Return the column contributions: means of squared entries of unit vectors over levels.

    A level has the weight width x gap^2.
    """
    total = sum(w * g**2 for w, g in zip(widths, gaps, strict=True))
    return [
        sum(w * g**2 * u[j] ** 2 for w, g, u in zip(widths, gaps, directions, strict=True)) / total
        for j in range(len(directions[0]))
    ]


def shares_of_directions(
    x: naive.NaiveRegions, y: naive.NaiveRegions, U: naive.Points, eps: float, q: float
) -> list[float]:
    """Return the column contributions if gaps are means of order q over directions.

    They are those of `isodepth.metric.attribution.shares_of_directions`, by their definition.
    """
    d = len(U[0])
    signed = naive.both_signs(U)
    numerator, weight = [0.0] * d, 0.0
    for start, stop in naive.pieces(x, y, eps):
        inside_x = [x.points[i] for i in x.inside(start)]
        inside_y = [y.points[i] for i in y.inside(start)]
        powers = [
            abs(naive.farthest(inside_x, u) - naive.farthest(inside_y, u)) ** q for u in signed
        ]
        if sum(powers) == 0:
            continue
        squared_gap = (sum(powers) / len(powers)) ** (2 / q)
        level = float(stop - start) * squared_gap
        weight += level
        for j in range(d):
            entry = sum(w * u[j] ** 2 for w, u in zip(powers, signed, strict=True)) / sum(powers)
            numerator[j] += level * entry
    shares = [max(0.0, ((d + q) * n / weight - 1) / q) for n in numerator]
    return [s / sum(shares) for s in shares]
