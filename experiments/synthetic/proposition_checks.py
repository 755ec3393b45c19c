"""Checks of the propositions: functions that generate a case and return a value with limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from experiments.baselines import wasserstein
from experiments.theory import univariate_distance
from isodepth import AIIRWDepth, HalfspaceDepth, IRWDepth, Metric, ProjectionDepth, unit_vectors
from isodepth.theory import gaussian_bounds, gaussian_distance, translation_bounds

#: Relative tolerance for distances that are not small.
ROUNDING = 1e-9
#: Value of eps in place of the limit eps -> 0.
SMALL_EPS = 1e-13

DEPTHS = ("halfspace", "projection", "irw", "ai_irw")

#: Whitened centers and numbers of points of narrow clusters with a hollow between two of them.
CLUSTERS = np.array(
    [[1.37, -0.89], [0.8, -1.19], [2.56, -0.6], [0.15, 0.9], [0.28, -1.68], [-2.43, -0.69]]
)
CLUSTER_SIZES = (1, 29, 1, 54, 3, 12)
HOLLOW = (0, 4)
#: Distance of contaminated rows from the others, in units of their spread.
FAR = 1e6


class Case(NamedTuple):
    """Value that is computed in one random case, with the limits that the statement sets."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Check:
    """Statement of the paper, with a function that generates a random case.

    `draw` gets a random generator and a sample size.
    """

    name: str
    statement: str
    draw: Callable[[np.random.Generator, int], Case]


def equal(value: float, target: float) -> Case:
    return Case(value, target, target)


def at_most(value: float, high: float) -> Case:
    return Case(value, -np.inf, high)


def random_law(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return a sample of random shape, location and tails."""
    points = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    if rng.random() < 0.5:
        points = points * rng.chisquare(3, (n, 1)) / 3
    return points + rng.normal(scale=2, size=d)


def samples(rng: np.random.Generator, n: int, count: int, d: int | None = None) -> list[np.ndarray]:
    width = int(rng.integers(1, 4)) if d is None else d
    return [random_law(rng, n + int(rng.integers(0, 20)), width) for _ in range(count)]


def random_metric(rng: np.random.Generator, powers: tuple[float, ...] = (1, 2, 5)) -> Metric:
    """Return a metric with random depth, p and eps, which computes the exact supremum.

    `powers` are the possible values of p.
    """
    return Metric(
        depth=str(rng.choice(DEPTHS)),
        p=float(rng.choice(powers)),
        eps=float(rng.choice([0.05, 0.2, 0.5])),
        n_directions=100,
        gap="exact",
        random_state=int(rng.integers(2**31)),
    )


def positivity(rng: np.random.Generator, n: int) -> Case:
    X, Y = samples(rng, n, 2)
    return Case(random_metric(rng).distance(X, Y), 0.0, np.inf)


def symmetry(rng: np.random.Generator, n: int) -> Case:
    X, Y = samples(rng, n, 2)
    metric = random_metric(rng)
    return equal(metric.distance(Y, X), metric.distance(X, Y))


def identity(rng: np.random.Generator, n: int) -> Case:
    (X,) = samples(rng, n, 1)
    return equal(random_metric(rng).distance(X, X[rng.permutation(len(X))]), 0.0)


def triangle(rng: np.random.Generator, n: int) -> Case:
    X, Y, Z = samples(rng, n, 3)
    metric = random_metric(rng)
    return at_most(metric.distance(X, Z), metric.distance(X, Y) + metric.distance(Y, Z))


def triangle_small_p(rng: np.random.Generator, n: int) -> Case:
    # Y has the center of X and the outer part of Z: each of the two distances is zero in turn.
    X = np.sort(rng.standard_normal((2 * (n // 2), 1)), axis=0)
    Z, half = 3 * X, len(X) // 4
    Y = Z.copy()
    Y[half:-half] = X[half:-half]
    metric = Metric(depth="halfspace", p=0.5, eps=0.05)
    return at_most(metric.distance(X, Z), metric.distance(X, Y) + metric.distance(Y, Z))


def isometry(rng: np.random.Generator, n: int) -> Case:
    X, Y = samples(rng, n, 2, d=2)
    rotation, _ = np.linalg.qr(rng.standard_normal((2, 2)))
    metric = Metric(depth=HalfspaceDepth(algorithm="exact"), gap="exact", eps=0.2)
    moved = [points @ rotation.T + [3.0, -1.0] for points in (X, Y)]
    return equal(metric.distance(*moved), metric.distance(X, Y))


def isometry_of_all_depths(rng: np.random.Generator, n: int) -> Case:
    d = int(rng.integers(3, 6))
    X, Y = samples(rng, n, 2, d=d)
    rotation, _ = np.linalg.qr(rng.standard_normal((d, d)))
    directions = unit_vectors(d, 200, random_state=int(rng.integers(2**31)))
    depth = str(rng.choice(DEPTHS))
    if depth == "ai_irw":
        # The whitened directions rotate with the data only up to the error of their number.
        rotation = np.eye(d)[rng.permutation(d)] * rng.choice([-1.0, 1.0], d)
    distance, moved = (
        Metric(depth=depth, directions=u, gap="exact", eps=0.2).distance(*pair)
        for u, pair in (
            (directions, (X, Y)),
            (directions @ rotation.T, [points @ rotation.T + 3.0 for points in (X, Y)]),
        )
    )
    return equal(moved, distance)


def quasiconcavity(rng: np.random.Generator, n: int) -> Case:
    (X,) = samples(rng, n, 1, d=2)
    # Minima over directions are quasiconcave for any fixed directions.
    estimator = (HalfspaceDepth, ProjectionDepth)[int(rng.integers(2))]
    share = rng.random()
    ends = X[rng.choice(len(X), 2, replace=False)]
    return _depth_between(estimator(random_state=0).fit(X), ends, share)


def quasiconcavity_of_irw(rng: np.random.Generator, n: int) -> Case:
    labels = np.repeat(np.arange(len(CLUSTERS)), CLUSTER_SIZES)
    X = CLUSTERS[labels] + 1e-3 * rng.standard_normal((len(labels), 2))
    estimator = (IRWDepth, AIIRWDepth)[int(rng.integers(2))]
    fitted = estimator(directions="equispaced", n_directions=1000).fit(X)
    return _depth_between(fitted, CLUSTERS[list(HOLLOW)], 0.5)


def _depth_between(fitted: Any, ends: np.ndarray, share: float) -> Case:
    """Return the depth of a point between two others, which is at least the smaller of theirs."""
    point = share * ends[0] + (1 - share) * ends[1]
    value, *others = fitted.score_samples(np.vstack([point, ends]))
    return Case(float(value), float(min(others)), np.inf)


def _length_of_median(
    rng: np.random.Generator, n: int, d: int, depths: tuple[str, ...], share: float
) -> float:
    """Return the length of the median of a sample with a share of far rows, less than `share`.

    The far rows are at one point, along a ray, or a copy of the sample. The median is the deepest
    of all rows and of 1000 points with the distribution of the other rows.
    """
    X = rng.standard_normal((n, d))
    count = int(np.ceil(n * share / (1 - share))) - 1
    ray = FAR * unit_vectors(d, 1, random_state=int(rng.integers(2**31)))
    far = (
        np.repeat(ray, count, axis=0),
        ray * np.arange(1, count + 1)[:, None],
        ray + X[rng.permutation(n)[:count]],
    )[int(rng.integers(3))]
    sample = np.concatenate([X, far])
    estimators = {"halfspace": HalfspaceDepth, "irw": IRWDepth, "projection": ProjectionDepth}
    fitted = estimators[str(rng.choice(depths))](n_directions=500, random_state=0).fit(sample)
    points = np.concatenate([sample, rng.standard_normal((1000, d))])
    return float(np.linalg.norm(points[int(np.argmax(fitted.score_samples(points)))]))


def median_breakdown(rng: np.random.Generator, n: int) -> Case:
    d = int(rng.integers(1, 4))
    return at_most(_length_of_median(rng, n, d, ("halfspace", "irw"), 1 / (d + 1)), np.sqrt(FAR))


def projection_median_breakdown(rng: np.random.Generator, n: int) -> Case:
    d = int(rng.integers(1, 4))
    return at_most(_length_of_median(rng, n, d, ("projection",), 0.5 - d / n), np.sqrt(FAR))


def _shifted(
    rng: np.random.Generator, n: int, normalize: bool
) -> tuple[float, float, float, float]:
    """Return the square of DR_2 of two samples, and three numbers that bound it.

    They are DR_2 and DR_1 of the centered samples, and the distance of the means. If `normalize`,
    DR averages over levels.
    """
    X, Y = samples(rng, n, 2, d=2)
    X, Y = X + rng.normal(scale=3, size=2), Y
    common: dict[str, Any] = {
        "depth": HalfspaceDepth(algorithm="exact"), "gap": "exact", "eps": 0.3,
        "normalize": normalize,
    }  # fmt: skip
    centered = X - X.mean(axis=0), Y - Y.mean(axis=0)
    two, one = (Metric(p=p, **common).distance(*centered) for p in (2, 1))
    shift = float(np.linalg.norm(X.mean(axis=0) - Y.mean(axis=0)))
    return Metric(p=2, **common).distance(X, Y) ** 2, two, one, shift


def translation(rng: np.random.Generator, n: int) -> Case:
    value, two, one, shift = _shifted(rng, n, normalize=True)
    return Case(value, *translation_bounds(two, one, shift))


def translation_printed(rng: np.random.Generator, n: int) -> Case:
    # A pure shift, for which the printed bound is an equality.
    (X,) = samples(rng, n, 1, d=2)
    metric = Metric(depth="halfspace", eps=0.3, normalize=False)
    shift = rng.normal(scale=3, size=2)
    return equal(metric.distance(X, X + shift) ** 2, float(shift @ shift))


def _gaussians(rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    d = int(rng.integers(1, 7))
    roots = rng.standard_normal((2, d, d))
    means = rng.normal(scale=3, size=(2, d))
    return means[0], roots[0] @ roots[0].T, means[1], roots[1] @ roots[1].T


def gaussian(rng: np.random.Generator, n: int) -> Case:
    distributions, eps = _gaussians(rng), float(rng.uniform(0.01, 0.9))
    return Case(
        gaussian_distance(*distributions, p=1, eps=eps), *gaussian_bounds(*distributions, eps=eps)
    )


def gaussian_printed(rng: np.random.Generator, n: int) -> Case:
    m1, S1, m2, _ = _gaussians(rng)
    eps = 0.3
    return equal(
        gaussian_distance(m1, S1, m2, S1, p=1, eps=eps, normalize=False),
        float(np.linalg.norm(m1 - m2)),
    )


def equal_covariances(rng: np.random.Generator, n: int) -> Case:
    m1, S1, m2, _ = _gaussians(rng)
    p = float(rng.choice([1, 2]))
    return equal(gaussian_distance(m1, S1, m2, S1, p=p), float(np.linalg.norm(m1 - m2)))


def line_formula(rng: np.random.Generator, n: int) -> Case:
    X, Y = samples(rng, n, 2, d=1)
    p, eps = float(rng.choice([1, 2, 3])), float(rng.uniform(0.01, 0.9))
    value = Metric(depth="halfspace", p=p, eps=eps).distance(X, Y)
    return equal(value, univariate_distance(X[:, 0], Y[:, 0], p=p, eps=eps))


def line_wasserstein(rng: np.random.Generator, n: int) -> Case:
    X, Y = samples(rng, n, 2, d=1)
    return at_most(wasserstein(X, Y, p=2), univariate_distance(X[:, 0], Y[:, 0], eps=SMALL_EPS))


def _symmetric(rng: np.random.Generator, n: int, center: float) -> np.ndarray:
    half = np.abs(rng.standard_normal(n) * rng.uniform(0.5, 2))
    return np.concatenate([half, -half])[:, None] + center


def line_symmetric(rng: np.random.Generator, n: int) -> Case:
    X, Y = _symmetric(rng, n, 0.0), _symmetric(rng, n, 0.0)
    return equal(univariate_distance(X[:, 0], Y[:, 0], eps=SMALL_EPS), wasserstein(X, Y, p=2))


def line_symmetric_apart(rng: np.random.Generator, n: int) -> Case:
    X, Y = _symmetric(rng, n, 0.0), _symmetric(rng, n, 3.0)
    return equal(univariate_distance(X[:, 0], Y[:, 0], eps=SMALL_EPS), wasserstein(X, Y, p=2))


def zero_in_the_tails(rng: np.random.Generator, n: int) -> Case:
    # Only the outermost twentieth on either side differs, which eps = 0.1 trims.
    X = np.sort(rng.standard_normal(20 * n))
    Y, tail = X.copy(), n
    Y[:tail] -= rng.exponential(5, tail)
    Y[-tail:] += rng.exponential(5, tail)
    pair = X[:, None], Y[:, None]
    return at_most(
        Metric(depth="halfspace", eps=0.1).distance(*pair), ROUNDING * wasserstein(*pair)
    )


def zero_in_the_regions(rng: np.random.Generator, n: int) -> Case:
    # Median 0 and the same distribution of |X|: the projection depth in 1-D depends only on these.
    # Y has its inner part on the right and its outer part on the left, with equal mass.
    half = 20 * n
    radii = np.sort(np.abs(rng.standard_normal(2 * half)))
    points = np.concatenate([radii, -radii])[:, None]
    rightwards = np.repeat([8.0, 2.0], half)
    weights = np.full(4 * half, 5.0), np.concatenate([rightwards, 10 - rightwards])
    distance = Metric(depth="projection", eps=0.1).distance(points, points, weights=weights)
    return at_most(distance, ROUNDING * wasserstein(points, points, weights=weights))


CHECKS = [
    Check("positivity", "DR is not negative.", positivity),
    Check("symmetry", "DR(X, Y) = DR(Y, X).", symmetry),
    Check("identity", "DR(X, X) = 0, in any order of the points.", identity),
    Check("triangle", "Triangle inequality, p >= 1.", triangle),
    Check(
        "triangle p < 1", "Triangle inequality for p < 1 as well (p in (0, inf)).",
        triangle_small_p,
    ),
    Check(
        "zero, tails", "Two different distributions can be at distance 0: here only the tails "
        "differ (DR = 0, W > 0).", zero_in_the_tails,
    ),
    Check(
        "zero, regions", "Two different distributions can be at distance 0: here they have the "
        "same |X - median| (projection depth on the line; DR = 0, W > 0).",
        zero_in_the_regions,
    ),
    Check("isometry", "Rotations and translations of both do not change DR (halfspace, d = 2).",
          isometry),
    Check("isometry, all depths", "The same for all four depths, d = 3 to 5, with the directions "
          "rotated as well (AI-IRW: permutations and reflections of columns).",
          isometry_of_all_depths),
    Check("D4, halfspace, projection", "The depth of a point between two others is at least the "
          "smaller of theirs, with the halfspace and the projection depth.", quasiconcavity),
    Check("D4, IRW, AI-IRW", "The same with IRW and AI-IRW, in whitened narrow clusters: all three "
          "depths satisfy D1 to D4.", quasiconcavity_of_irw),
    Check("median, 1/(d+1)", "With a smaller share of far rows than 1/(d+1), the halfspace and the "
          "IRW median stay bounded (d = 1 to 3).", median_breakdown),
    Check("median, 1/2", "The projection median stays bounded up to a share of 1/2 - d/n.",
          projection_median_breakdown),
    Check("translation", "DR_2^2 lies within the translation bounds (averaged DR).", translation),
    Check(
        "translation, printed", "The same for the integral without 1/(1-eps), as printed (tested "
        "for pure shifts only).",
        translation_printed,
    ),
    Check("Gaussian bounds", "DR_1 of two Gaussian distributions lies within its bounds (averaged "
          "DR and C_eps).", gaussian),
    Check(
        "Gaussian, printed", "The same for the integrals without 1/(1-eps), as printed (tested for "
        "equal covariances only).",
        gaussian_printed,
    ),
    Check("equal covariances", "DR_1 = DR_2 = |m1 - m2| for Gaussians of one covariance.",
          equal_covariances),
    Check("d=1 formula", "On the line DR with the halfspace depth is the formula in the quantiles.",
          line_formula),
    Check("d=1, W", "On the line W_2 is at most the limit of DR_2 for eps -> 0.", line_wasserstein),
    Check("d=1, symmetric", "Equality for symmetric distributions with one center.",
          line_symmetric),
    Check("d=1, symmetric apart", "Equality for symmetric distributions, whatever their centers.",
          line_symmetric_apart),
]  # fmt: skip
