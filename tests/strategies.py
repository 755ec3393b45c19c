"""Random samples for tests: generators with a seed, and strategies of hypothesis.

Depths of ranks can be compared with a reference only if both have the same ties. Equal rows are
tied along every direction. Different rows may be tied or not, depending on rounding, unless the
products are exact. Samples on a lattice are therefore projected on the axes (and, from four
dimensions on, on the exact unit vectors (+-1/2, +-1/2, +-1/2, +-1/2)). All other samples are
projected on random directions, along which different rows are not tied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import isodepth

Array = np.ndarray
ESTIMATORS = {
    "halfspace": isodepth.HalfspaceDepth,
    "projection": isodepth.ProjectionDepth,
    "irw": isodepth.IRWDepth,
    "ai_irw": isodepth.AIIRWDepth,
}


@dataclass(frozen=True)
class Case:
    """Two samples with the same number of columns, their weights or None, and unit directions."""

    x: Array
    y: Array
    wx: Array | None
    wy: Array | None
    directions: Array
    name: str

    @property
    def weights(self) -> tuple[Array | None, Array | None]:
        return self.wx, self.wy

    def __repr__(self) -> str:
        return self.name


# ---------------------------------------------------------------------------------------------
# directions
# ---------------------------------------------------------------------------------------------


def gaussian_directions(rng: np.random.Generator, d: int, n_directions: int) -> Array:
    """Return `n_directions` random unit vectors; in one dimension the single direction +1."""
    if d == 1:
        return np.ones((1, 1))
    u = rng.standard_normal((n_directions, d))
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def exact_directions(rng: np.random.Generator, d: int) -> Array:
    """Return unit vectors whose products with small integers are exact."""
    axes = np.eye(d)
    if d < 4:
        return axes
    halves = np.zeros((3, d))
    for row in halves:
        row[rng.choice(d, size=4, replace=False)] = rng.choice([-0.5, 0.5], size=4)
    return np.vstack([axes, halves])


# ---------------------------------------------------------------------------------------------
# points: each kind gives n rows of width d
# ---------------------------------------------------------------------------------------------


def gaussian(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.standard_normal((n, d)) * rng.uniform(0.5, 3.0, d) + rng.normal(0, 2.0, d)


def heavy_tailed(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.standard_t(1.5, (n, d)) + rng.normal(0, 1.0, d)


def lattice(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.integers(-3, 4, (n, d)).astype(float)


def duplicated(rng: np.random.Generator, n: int, d: int) -> Array:
    """Return about 5 n / 3 rows, n of which repeat others; at least d + 2 rows are distinct."""
    base = gaussian(rng, max(d + 2, (2 * n) // 3), d)
    rows = np.concatenate([np.arange(len(base)), rng.integers(0, len(base), n)])
    return base[rng.permutation(rows)]


def constant_columns(rng: np.random.Generator, n: int, d: int) -> Array:
    points = gaussian(rng, n, d)
    points[:, rng.choice(d, size=max(1, d // 2), replace=False)] = rng.choice([-1.5, 0.0, 2.25])
    return points


def collinear(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.normal(0, 2, d) + rng.standard_normal((n, 1)) * rng.standard_normal(d)


POINTS: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "gaussian": gaussian,
    "heavy_tailed": heavy_tailed,
    "lattice": lattice,
    "duplicated": duplicated,
    "constant_columns": constant_columns,
    "collinear": collinear,
}

# ---------------------------------------------------------------------------------------------
# weights and memory layouts
# ---------------------------------------------------------------------------------------------


def no_weights(rng: np.random.Generator, n: int) -> None:
    return None


def integer_weights(rng: np.random.Generator, n: int) -> Array:
    return rng.integers(1, 5, n)


def float_weights(rng: np.random.Generator, n: int) -> Array:
    return rng.uniform(0.05, 2.0, n)


def some_zero_weights(rng: np.random.Generator, n: int) -> Array:
    weights = rng.integers(1, 4, n).astype(float)
    weights[rng.choice(n, size=n // 4, replace=False)] = 0.0
    return weights


WEIGHTS: dict[str, Callable[[np.random.Generator, int], Array | None]] = {
    "unweighted": no_weights,
    "integer": integer_weights,
    "float": float_weights,
    "some_zero": some_zero_weights,
}


def read_only(points: Array) -> Array:
    frozen = points.copy()
    frozen.setflags(write=False)
    return frozen


def every_other_row(points: Array) -> Array:
    """Return a view with the same values that is not contiguous in memory."""
    spread = np.full((2 * len(points), points.shape[1]), np.nan)
    spread[::2] = points
    return spread[::2]


#: The same values in other memory layouts: none of them may change a result.
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "c_order": np.ascontiguousarray,
    "fortran_order": np.asfortranarray,
    "read_only": read_only,
    "strided": every_other_row,
}


# ---------------------------------------------------------------------------------------------
# whole cases
# ---------------------------------------------------------------------------------------------


def n_distinct(points: Array, weights: Array | None) -> int:
    """Return the number of distinct rows of positive weight."""
    present = points if weights is None else points[np.asarray(weights) > 0]
    return len(np.unique(present, axis=0))


def make_case(
    kind: str, seed: int, *, d: int | None = None, min_distinct: int | None = None
) -> Case:
    """Return the case of a kind of points and a seed, with random weights and memory layouts.

    There are 1 to 6 columns if `d` is None. The samples have at least `min_distinct` distinct rows,
    by default d + 2: the depths of fewer rows may be constant, which sampled directions do not
    show.
    """
    rng = np.random.default_rng([sorted(POINTS).index(kind), seed])
    if d is None:
        d = int(rng.integers(1, 7))
    if kind in ("collinear", "constant_columns"):
        d = max(d, 2)
    if kind == "lattice":
        directions = exact_directions(rng, d)
    else:
        directions = gaussian_directions(rng, d, int(rng.integers(2, 13)))
    needed = d + 2 if min_distinct is None else min_distinct

    names, samples, weights = [], [], []
    for _ in range(2):
        weighting = str(rng.choice(sorted(WEIGHTS)))
        layout = str(rng.choice(sorted(LAYOUTS)))
        n = needed + int(rng.integers(0, 10))
        while True:
            points = POINTS[kind](rng, n, d)
            w = WEIGHTS[weighting](rng, len(points))
            if n_distinct(points, w) >= needed:
                break
            n += 1
        samples.append(LAYOUTS[layout](points))
        weights.append(w)
        names.append(f"{weighting}/{layout}/n={len(points)}")
    name = f"{kind}-{seed}: d={d} K={len(directions)} x={names[0]} y={names[1]}"
    return Case(samples[0], samples[1], weights[0], weights[1], directions, name)


def cases(kinds: list[str] | None = None) -> st.SearchStrategy[Case]:
    """Return a strategy of the cases of `make_case`, of all kinds of points by default."""
    chosen = sorted(POINTS) if kinds is None else kinds
    return st.builds(make_case, st.sampled_from(chosen), st.integers(0, 10**6))


def lattice_points(d: int, min_size: int = 1, max_size: int = 12) -> st.SearchStrategy[Array]:
    """Return a strategy of samples of small integers in d columns, which have many ties."""
    shapes = st.tuples(st.integers(min_size, max_size), st.just(d))
    return hnp.arrays(np.float64, shapes, elements=st.integers(-2, 2).map(float))


@st.composite
def lattice_pairs(draw: st.DrawFn, max_dimension: int = 3) -> tuple[Array, Array]:
    """Return a strategy of two samples of small integers, with one or more rows each."""
    d = draw(st.integers(1, max_dimension))
    return draw(lattice_points(d)), draw(lattice_points(d))


def dyadic_weights(n: int) -> st.SearchStrategy[Array]:
    """Return a strategy of n weights that are multiples of 1/4, so their sums are exact."""
    quarters = st.integers(0, 8).map(lambda k: k / 4)
    return hnp.arrays(np.float64, n, elements=quarters).filter(lambda w: w.any())


def eps_values() -> st.SearchStrategy[float]:
    """Return a strategy of values of the option `eps`, in (0, 1]."""
    return st.one_of(st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 1.0]), st.floats(0.001, 1.0))


def orders() -> st.SearchStrategy[float]:
    """Return a strategy of values of the option `p`, the order of the mean, in (0, inf]."""
    return st.one_of(st.sampled_from([1.0, 2.0, 3.0, float("inf")]), st.floats(0.25, 12.0))


def odd_pair(kind: str) -> tuple[np.ndarray, np.ndarray, tuple]:
    """Return two small samples of a kind, such as "tied", and the pair of their weights."""
    rng = np.random.default_rng(7)
    none = (None, None)
    if kind == "tied":
        return rng.integers(0, 3, (9, 2)) * 1.0, rng.integers(0, 4, (8, 2)) * 1.0, none
    if kind == "weighted":
        weights = (rng.integers(0, 4, 8) + (np.arange(8) == 0), rng.integers(1, 9, 6))
        return rng.standard_normal((8, 3)), rng.standard_normal((6, 3)), weights
    if kind == "line":
        return rng.standard_normal((9, 1)), rng.standard_normal((7, 1)) + 1, none
    if kind == "single":
        return rng.standard_normal((1, 3)), rng.standard_normal((1, 3)), none
    if kind == "flat":
        return np.outer(rng.standard_normal(8), [1.0, 2, 0]), rng.standard_normal((9, 3)), none
    return rng.standard_normal((10, 3)), 2 * rng.standard_normal((9, 3)) + 0.5, none
