"""Slow reference implementations of the exact depths, in rational arithmetic.

Points may be any floats. They are converted to integers in a common unit, or to fractions, so
nothing is rounded. Each function enumerates all candidates and returns the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cmp_to_key
from itertools import combinations

Number = int | Fraction
Vector = tuple[Number, ...]
Weighted = list[tuple[Vector, int]]
Rows = Iterable[Iterable[float]]


def exactly(*tables: Rows) -> list[list[Vector]]:
    """Return tables of floats as tables of integers, in a common unit that divides all of them."""
    fractions = [[[Fraction(float(x)) for x in row] for row in table] for table in tables]
    unit = max((x.denominator for table in fractions for row in table for x in row), default=1)
    return [[tuple(int(x * unit) for x in row) for row in table] for table in fractions]


def dot(u: Vector, v: Vector) -> Number:
    return sum(a * b for a, b in zip(u, v, strict=True))


def minus(u: Vector, v: Vector) -> Vector:
    return tuple(a - b for a, b in zip(u, v, strict=True))


# ---------------------------------------------------------------------------------------------
# halfspace depth: all hyperplanes through the query and d - 1 points
# ---------------------------------------------------------------------------------------------


def pivot_columns(vectors: Sequence[Vector]) -> list[int]:
    """Return the indices of coordinates that determine every vector in the span of the vectors.

    Their number is the dimension of the span. They are found by Gaussian elimination.
    """
    rows = [list(v) for v in vectors]
    columns: list[int] = []
    for column in range(len(rows[0])):
        pivot = next((r for r in rows if r[column]), None)
        if pivot is None:
            continue
        columns.append(column)
        rows = [
            [x * pivot[column] - r[column] * p for x, p in zip(r, pivot, strict=True)] for r in rows
        ]
    return columns


def normal(vectors: Sequence[Vector]) -> Vector:
    """Return a vector orthogonal to d - 1 vectors of length d, or zero if they are dependent."""
    width = len(vectors) + 1
    cofactors = []
    for k in range(width):
        minor = [tuple(x for c, x in enumerate(v) if c != k) for v in vectors]
        cofactors.append((-1) ** k * determinant(minor))
    return tuple(cofactors)


def determinant(rows: Sequence[Vector]) -> Number:
    if not rows:
        return 1
    total: Number = 0
    for k, x in enumerate(rows[0]):
        if x:
            total += (-1) ** k * x * determinant([r[:k] + r[k + 1 :] for r in rows[1:]])
    return total


def smallest_mass(vectors: Weighted) -> int:
    """Return the minimum mass of a closed halfspace with the origin on its boundary.

    `vectors` are pairs of a vector and its mass. An optimal boundary can be rotated until it
    contains as many vectors as possible. Rotating it back slightly puts each of these vectors on
    one side. The best choice is the same problem for these vectors alone.
    """
    at_origin = sum(mass for v, mass in vectors if not any(v))
    vectors = [(v, mass) for v, mass in vectors if any(v)]
    if not vectors:
        return at_origin
    columns = pivot_columns([v for v, _ in vectors])
    vectors = [(tuple(v[c] for c in columns), mass) for v, mass in vectors]
    best = sum(mass for _, mass in vectors)
    borders_seen = set()
    for chosen in combinations([v for v, _ in vectors], len(columns) - 1):
        u = normal(chosen)
        if not any(u):
            continue
        products = [dot(u, v) for v, _ in vectors]
        border = frozenset(i for i, product in enumerate(products) if product == 0)
        if border in borders_seen:
            continue
        borders_seen.add(border)
        ahead = sum(m for p, (_, m) in zip(products, vectors, strict=True) if p > 0)
        behind = sum(m for p, (_, m) in zip(products, vectors, strict=True) if p < 0)
        if min(ahead, behind) < best:
            best = min(best, min(ahead, behind) + smallest_mass([vectors[i] for i in border]))
    return at_origin + best


def halfspace_masses(points: Rows, masses: Iterable[int], queries: Rows) -> list[int]:
    """Return, for each query, the minimum mass of a closed halfspace that contains the query.

    `masses` are the masses of the points.
    """
    rows, asked = exactly(points, queries)
    sample = [(x, int(m)) for x, m in zip(rows, masses, strict=True) if m]
    return [smallest_mass([(minus(x, q), m) for x, m in sample]) for q in asked]


# ---------------------------------------------------------------------------------------------
# projection depth in the plane: all directions where anything changes
# ---------------------------------------------------------------------------------------------


def directions_of_change(points: Sequence[Vector]) -> tuple[list[Vector], list[Vector]]:
    """Return the normals of all x_i - x_j and x_i + x_j - x_a - x_b, and vectors between them.

    The second list has one vector between each normal and the next.
    """
    # The sums hold twice each point, so their differences hold those of the points.
    sums = {(a[0] + b[0], a[1] + b[1]) for a in points for b in points}
    differences = {minus(s, t) for s in sums for t in sums}
    normals = [(-y, x) for x, y in differences if y > 0 or (y == 0 and x > 0)]
    normals.sort(key=cmp_to_key(lambda u, v: 1 if u[0] * v[1] - u[1] * v[0] < 0 else -1))
    normals = [
        u
        for before, u in zip([(0, 0)] + normals[:-1], normals, strict=True)
        if before == (0, 0) or before[0] * u[1] != before[1] * u[0]
    ]
    # The sum of two neighbors is between them; the last and the opposite of the first are
    # neighbors too.
    following = normals[1:] + [(-normals[0][0], -normals[0][1])]
    between = [(u[0] + v[0], u[1] + v[1]) for u, v in zip(normals, following, strict=True)]
    if len(normals) == 1:
        between = [(-normals[0][1], normals[0][0])]
    return normals, between


def linear_forms(
    u: Vector, sample: Sequence[Vector], units: Sequence[int]
) -> tuple[Vector, Vector | None]:
    """Return (m, w): <u, m> is twice the median along u, and <u, w> is four times the scale.

    `units` are the masses of the points in `sample`. The scale is the MAD, or the median of the
    positive deviations if the MAD is 0. w is None if all deviations are 0. Near a direction u at
    which no order of projections changes, the same m and w hold.
    """

    def two_middle(rows: Sequence[Vector], masses: Sequence[int]) -> Vector:
        """Return the sum of the lower and the upper median row along the direction u."""
        repeated = sorted(
            (row for row, m in zip(rows, masses, strict=True) for _ in range(m)),
            key=lambda row: dot(u, row),
        )
        low, high = repeated[(len(repeated) - 1) // 2], repeated[len(repeated) // 2]
        return (low[0] + high[0], low[1] + high[1])

    m = two_middle(sample, units)
    offsets = [minus((2 * x[0], 2 * x[1]), m) for x in sample]
    offsets = [y if dot(u, y) >= 0 else (-y[0], -y[1]) for y in offsets]
    w = two_middle(offsets, units)
    if dot(u, w) == 0:
        positive = [(y, k) for y, k in zip(offsets, units, strict=True) if dot(u, y) > 0]
        if not positive:
            return m, None
        w = two_middle([y for y, _ in positive], [k for _, k in positive])
    return m, w


def projection_depths(points: Rows, masses: Iterable[int], queries: Rows) -> list[Fraction]:
    """Return the projection depths of the queries in the plane, over all directions.

    `masses` are the masses of the points. At finitely many directions, the order of the projections
    changes. The supremum is over these directions and over the arcs between them. On an arc the
    outlyingness is a ratio of two linear forms, which is monotone. Its supremum follows from its
    value in the middle and its limits at both ends.
    """
    rows, asked = exactly(points, queries)
    weighted = [(x, int(m)) for x, m in zip(rows, masses, strict=True) if m]
    sample, units = [x for x, _ in weighted], [m for _, m in weighted]
    distinct = sorted(set(sample))
    if len(distinct) == 1:
        return [Fraction(q == distinct[0]) for q in asked]
    changes, between = directions_of_change(distinct)
    #: (directions whose forms hold, direction to evaluate them in)
    places = [(u, u) for u in changes]
    following = changes[1:] + [(-changes[0][0], -changes[0][1])]
    for start, middle, stop in zip(changes, between, following, strict=True):
        places += [(middle, middle), (middle, start), (middle, stop)]
    worst: list[Fraction | None] = [Fraction(0)] * len(asked)  # None: infinite
    for holds, u in places:
        m, w = linear_forms(holds, sample, units)
        scale = 0 if w is None else dot(u, w)
        for i, q in enumerate(asked):
            before = worst[i]
            deviation = 2 * abs(2 * dot(u, q) - dot(u, m))
            # Where both vanish at an end, the ratio is constant on the arc: the middle has it.
            if before is None or deviation == 0:
                continue
            worst[i] = None if scale == 0 else max(before, Fraction(deviation, scale))
    return [Fraction(0) if w is None else 1 / (1 + w) for w in worst]
