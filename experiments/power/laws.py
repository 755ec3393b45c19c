"""Pairs of samples: with equal distributions, with contaminated rows, or with a change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaincinv

Pair = tuple[np.ndarray, np.ndarray]

# The 0.95 quantile of the normal distribution: the outermost level that is compared.
_EDGE = 1.645
_ON_ONE_SIDE = 0.85


def _clump(distance: float) -> Callable[[int, int, np.random.Generator], np.ndarray]:
    def rows(k: int, d: int, rng: np.random.Generator) -> np.ndarray:
        found = 0.1 * rng.standard_normal((k, d))
        found[:, 0] += distance
        return found

    return rows


def _wide(k: int, d: int, rng: np.random.Generator) -> np.ndarray:
    return 5.0 * rng.standard_normal((k, d))


def _edge(k: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return k contaminated rows (k, d) that differ from clean rows only along a diagonal.

    They are beyond every quantile along the diagonal, so that they use all of the tolerance. In all
    other directions they are distributed like clean rows, so that the variance of permutations is
    not larger.
    """
    along = np.ones(d) / np.sqrt(d)
    found = rng.standard_normal((k, d))
    found -= np.outer(found @ along, along)
    return found + np.outer(rng.uniform(_EDGE, 2.5, k), along)


#: Contaminated rows, where all others are standard normal.
CONTAMINATIONS: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "far": _clump(20.0),
    "near": _clump(3.0),
    "centre": _clump(0.0),
    "wide": _wide,
    "halfway": _clump(1.5),
    "worst": _edge,
}


def contaminated(
    kind: str, n: int, d: int, share: float, both: bool, rng: np.random.Generator
) -> Pair:
    """Return two normal samples with contaminated rows in the first sample, or in both.

    A share of the rows is contaminated, with the distribution `kind`, a key of `CONTAMINATIONS`.
    The contaminated rows of the second sample are on the opposite side of the center.
    """
    x, y = rng.standard_normal((2, n, d))
    k = int(share * n + 1e-9)
    x[:k] = CONTAMINATIONS[kind](k, d, rng)
    if both:
        y[:k] = -CONTAMINATIONS[kind](k, d, rng)
    return x, y


def _binary(n: int, d: int, k: int, rng: np.random.Generator, p: float) -> Pair:
    """Return two samples of 0/1 columns, the first k rows of which are contaminated.

    The contaminated rows increase the difference that the clean rows have by chance. `p` is the
    probability of 1.
    """
    x, y = (rng.random((2, n, d)) < p).astype(float)
    fewer = x[k:, 0].sum() < y[k:, 0].sum()
    x[:k, 0], y[:k, 0] = (0.0, 1.0) if fewer else (1.0, 0.0)
    return x, y


def _counts(n: int, d: int, k: int, rng: np.random.Generator) -> Pair:
    """Return two samples of tied counts and normal columns, k rows of each with extreme counts."""
    x, y = rng.standard_normal((2, n, d))
    x[:, 0], y[:, 0] = rng.poisson(0.7, (2, n))
    x[:k, 0], y[:k, 0] = 0.0, 3.0
    return x, y


def _steered(n: int, d: int, k: int, rng: np.random.Generator) -> Pair:
    """Return two normal samples whose first k rows increase the difference of the clean means.

    They lie along the direction of this difference, just beyond the clipping of statistics that
    learn a direction.
    """
    x, y = rng.standard_normal((2, n, d))
    along = x[k:].mean(axis=0) - y[k:].mean(axis=0)
    along /= np.linalg.norm(along)
    x[:k], y[:k] = 1.5 * along, -1.5 * along
    return x, y


def _most_leaning(n: int, d: int, k: int, rng: np.random.Generator) -> Pair:
    """Return two normal samples whose first k rows are extreme in one column.

    In this column the shares of positive values of the clean samples differ most. The contaminated
    rows increase the difference.
    """
    x, y = rng.standard_normal((2, n, d))
    gaps = (x[k:] > 0).mean(axis=0) - (y[k:] > 0).mean(axis=0)
    j = int(np.abs(gaps).argmax())
    x[:k, j], y[:k, j] = 3 * np.sign(gaps[j]), -3 * np.sign(gaps[j])
    return x, y


def _clump_of_few(n: int, d: int, k: int, rng: np.random.Generator) -> Pair:
    """Return two normal samples; the contaminated rows of one sample are a small cluster.

    The cluster is in the interval of the first column in which the counts of clean rows differ
    most, and it increases the difference. The contaminated rows of the other sample are far away.
    """
    x, y = rng.standard_normal((2, n, d))
    ends = np.linspace(-2, 2, 41)
    shares = [np.histogram(part[k:, 0], ends)[0] for part in (x, y)]
    at = int(np.abs(shares[0] - shares[1]).argmax())
    first, second = (x, y) if shares[0][at] > shares[1][at] else (y, x)
    first[:k, 0] = rng.uniform(ends[at], ends[at + 1], k)
    second[:k, 0] = 4.0
    return x, y


def _inner_and_outer(n: int, d: int, k: int, rng: np.random.Generator) -> Pair:
    """Return two normal samples whose contaminated rows are close to the center.

    They increase the difference that the inner clean rows have by chance in one column. They attack
    statistics of products of columns and the distance from the center.
    """
    x, y = rng.standard_normal((2, n, d))
    inner = np.median(np.linalg.norm(x, axis=1))
    leans = [
        (np.sign(part[k:]) * (np.linalg.norm(part[k:], axis=1) < inner)[:, None]).mean(axis=0)
        for part in (x, y)
    ]
    gaps = leans[0] - leans[1]
    j = int(np.abs(gaps).argmax())
    x[:k], y[:k] = 0.0, 0.0
    x[:k, j], y[:k, j] = 0.3 * np.sign(gaps[j]), -0.3 * np.sign(gaps[j])
    return x, y


#: Contaminations that depend on the clean rows, or that affect discrete columns.
ATTACKS: dict[str, Callable[[int, int, int, np.random.Generator], Pair]] = {
    "binary 0.05": lambda n, d, k, rng: _binary(n, d, k, rng, 0.05),
    "binary 0.1": lambda n, d, k, rng: _binary(n, d, k, rng, 0.1),
    "counts": _counts,
    "steered": _steered,
    "most leaning column": _most_leaning,
    "small clump": _clump_of_few,
    "inner and outer": _inner_and_outer,
}


def selective(n: int, d: int, share: float, rng: np.random.Generator) -> Pair:
    """Return two normal samples in which rows with extreme values in the first column are changed.

    A share of the rows is changed, those with the highest values in X and with the lowest values in
    Y: the sign of these values is reversed.
    """
    x, y = rng.standard_normal((2, n, d))
    k = int(share * n + 1e-9)
    x[np.argsort(x[:, 0])[n - k :], 0] *= -1
    y[np.argsort(y[:, 0])[:k], 0] *= -1
    return x, y


def unchanged_column(kind: str, n: int, rng: np.random.Generator) -> Pair:
    """Return samples with equal distributions of column 0 and a change of column 1.

    `kind` is "two clumps", "Cauchy tails" or another string, for a dependence on column 0.
    """
    x, y = rng.standard_normal((2, n, 2))
    if kind == "two clumps":
        y[:, 1] = 3 * np.sign(y[:, 1]) + 0.3 * y[:, 1]
    elif kind == "Cauchy tails":
        y[:, 1] = rng.standard_cauchy(n)
    else:
        y[:, 1] = 0.9 * y[:, 0] + np.sqrt(1 - 0.81) * y[:, 1]
    return x, y


#: Changes of column 1.
UNCHANGED = ("two clumps", "Cauchy tails", "dependence")


def null(
    kind: str, n: int, d: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, object]:
    """Return two samples of n and 0.8 n rows with one distribution, and labels of blocks or None.

    `kind` is "d > n", "ties" (counts), "blocks" (dependent rows) or another string (normal rows).
    """
    m = (4 * n) // 5
    if kind == "d > n":
        return rng.standard_normal((n, 2 * n)), rng.standard_normal((m, 2 * n)), None
    if kind == "ties":
        return rng.poisson(1.0, (n, d)).astype(float), rng.poisson(1.0, (m, d)).astype(float), None
    if kind == "blocks":
        blocks = np.repeat(np.arange((n + m) // 4), rng.integers(1, 8, (n + m) // 4))
        shared = rng.standard_normal((blocks.max() + 1, d))
        rows = shared[blocks] + 0.5 * rng.standard_normal((len(blocks), d))
        first = blocks < (blocks.max() + 1) // 2
        return rows[first], rows[~first], blocks
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)), None


def _shift(size: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    def change(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        y[:, 0] += size
        return y

    return change


def _diagonal_shift(size: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    return lambda y, rng: y + size / np.sqrt(y.shape[1])


def _random_shift(size: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    def change(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        along = rng.standard_normal(y.shape[1])
        return y + size * along / np.linalg.norm(along)

    return change


def _scale(size: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    return lambda y, rng: size * y


def _correlation(size: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    def change(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        y[:, 1] = size * y[:, 0] + np.sqrt(1 - size**2) * y[:, 1]
        return y

    return change


def _student(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    # All entries of a row have the same divisor. The median distance from the center along an axis
    # is that of the normal distribution, so that only the tails differ.
    return y / np.sqrt(rng.chisquare(2, (len(y), 1)) / 2) * (0.6745 / 0.8165)


def _mixture(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows in two clusters along the first axis, with the mean and variances of `y`.

    The convex hulls are nearly equal; only the mass inside differs.
    """
    sign = rng.integers(0, 2, len(y)) * 2 - 1
    y[:, 0] = 0.8 * sign + 0.6 * y[:, 0]
    return y


def _swapped_sides(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows or their mirror images: the inner half mostly right, the outer half mostly left.

    Along every direction, the numbers of rows on either side of the center and their distances from
    the center are unchanged. Medians, spreads and depths are therefore those of the normal
    distribution. Rows are on all sides at every depth, so the convex hulls are also equal. DR with
    the projection depth is exactly 0.
    """
    middle = 2 * gammaincinv(y.shape[1] / 2, 0.5)
    inner = (y * y).sum(axis=1) < middle
    right = rng.random(len(y)) < np.where(inner, _ON_ONE_SIDE, 1 - _ON_ONE_SIDE)
    y[(y[:, 0] > 0) != right] *= -1
    return y


#: Changes of the second sample.
CHANGES: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "random shift 0.35": _random_shift(0.35),
    "shift 0.25": _shift(0.25),
    "shift 0.35": _shift(0.35),
    "shift 0.6": _shift(0.6),
    "diagonal shift 0.35": _diagonal_shift(0.35),
    "one scale 1.3": lambda y, rng: y * np.r_[1.3, np.ones(y.shape[1] - 1)],
    "scale 1.1": _scale(1.1),
    "scale 1.15": _scale(1.15),
    "scale 1.3": _scale(1.3),
    "correlation 0.5": _correlation(0.5),
    "t2": _student,
    "mixture inside": _mixture,
    "sides swapped": _swapped_sides,
}


#: Changes of one column or pair, with their kinds, for the verdict.
PURE = {
    "shift 0.35": "location",
    "one scale 1.3": "spread",
    "correlation 0.5": "dependence",
    "mixture inside": "shape",
}


def masked(kind: str, n: int, d: int, share: float, rng: np.random.Generator) -> Pair:
    """Return two samples of different distributions, with the share `share` of contaminated rows.

    `kind` is "CHANGE with CONTAMINATION", with keys of `CHANGES` and `CONTAMINATIONS`. Contaminated
    rows of X and of Y are on opposite sides of the center, so that they may hide the change.
    """
    change, _, contamination = kind.partition(" with ")
    x, y = contaminated(contamination, n, d, share, True, rng)
    k = int(share * n + 1e-9)
    y[k:] = CHANGES[change](y[k:], rng)
    return x, y


def changed(kind: str, n: int, d: int, rng: np.random.Generator) -> Pair:
    """Return a normal sample, and a sample of the distribution `kind`, a key of `CHANGES`."""
    x, y = rng.standard_normal((2, n, d))
    return x, CHANGES[kind](y, rng)


# -- changes that were not used to choose the weights of the statistics ---------------------------


def held_out(kind: str, n: int, d: int, rng: np.random.Generator) -> Pair:
    """Return two samples that differ by the change `kind`, one of `HELD_OUT`.

    These changes were not used to choose the weights of the statistics of the test.
    """
    x, y = rng.standard_normal((2, n, d))
    if kind == "gamma skew":
        # Gamma with shape 3, standardized.
        y[:, 0] = (rng.gamma(3.0, size=n) - 3.0) / np.sqrt(3.0)
    elif kind == "one column bimodal":
        y[:, 0] = 0.8 * np.sign(rng.standard_normal(n)) + 0.6 * y[:, 0]
    elif kind == "rotation":
        for rows, angle in ((x, 0.0), (y, np.pi / 9)):
            rows[:, 0] *= 2
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            rows[:, :2] = rows[:, :2] @ turn
    elif kind == "subgroup of 8%":
        y[: int(0.08 * n), :2] += 2.0
    elif kind == "lognormal scale":
        x, y = np.exp(x), np.exp(y)
        y[:, 0] *= 1.25
    elif kind == "counts":
        x, y = rng.poisson(2.0, (2, n, d)).astype(float)
        y[:, 0] = rng.poisson(2.35, n)
    elif kind == "heavy-tailed shift":
        x, y = (rows / np.sqrt(rng.chisquare(2, (n, 1)) / 2) for rows in (x, y))
        y[:, 0] += 0.4
    elif kind == "autoregressive columns":
        for rows, rho in ((x, 0.2), (y, 0.4)):
            for j in range(1, d):
                rows[:, j] = rho * rows[:, j - 1] + np.sqrt(1 - rho**2) * rows[:, j]
    else:
        # A total shift for which a chi-squared test of the means has a power of about 0.7.
        y += np.sqrt((4.4 * np.sqrt(2 * d) + 4) / (n * d))
    return x, y


#: Kinds of change of `held_out`.
HELD_OUT = (
    "gamma skew", "one column bimodal", "rotation", "subgroup of 8%", "lognormal scale", "counts",
    "heavy-tailed shift", "autoregressive columns", "dense shift",
)  # fmt: skip
