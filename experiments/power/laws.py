"""Pairs of samples: of one law, with foreign rows among them, or of two laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaincinv

Pair = tuple[np.ndarray, np.ndarray]

# The 0.95 quantile of the normal law: the outermost level that is compared.
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
    """Rows like the others, but all beyond the outermost level along a diagonal.

    On the far side of every quantile along that direction, so that nothing of what a tolerance
    allows is left over, and among the other rows, so that relabelings vary as little as before.
    """
    along = np.ones(d) / np.sqrt(d)
    found = rng.standard_normal((k, d))
    found -= np.outer(found @ along, along)
    return found + np.outer(rng.uniform(_EDGE, 2.5, k), along)


#: Foreign rows, where all others are standard normal.
FOREIGN: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
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
    """Two normal samples of which a share of the first, or of both, is foreign.

    The foreign rows of the second lie on the opposite side.
    """
    x, y = rng.standard_normal((2, n, d))
    k = int(share * n + 1e-9)
    x[:k] = FOREIGN[kind](k, d, rng)
    if both:
        y[:k] = -FOREIGN[kind](k, d, rng)
    return x, y


def null(
    kind: str, n: int, d: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, object]:
    """Two samples of one law, the second smaller, and the blocks of their rows or None."""
    m = (4 * n) // 5
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


def _scale(size: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    return lambda y, rng: size * y


def _correlation(size: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    def change(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        y[:, 1] = size * y[:, 0] + np.sqrt(1 - size**2) * y[:, 1]
        return y

    return change


def _student(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    # One divisor for all entries of a row; the same median distance from the center along an axis
    # as the normal law, so that the tails are what differs.
    return y / np.sqrt(rng.chisquare(2, (len(y), 1)) / 2) * (0.6745 / 0.8165)


def _mixture(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Two clumps with the mean and the variances of the normal law along the first axis.

    Nearly the same outline: what differs is the mass inside.
    """
    sign = rng.integers(0, 2, len(y)) * 2 - 1
    y[:, 0] = 0.8 * sign + 0.6 * y[:, 0]
    return y


def _swapped_sides(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows or their mirror images: the inner half mostly on the right, the outer on the left.

    Along every direction as many rows lie on either side of the center as before, and just as far
    from it, so medians, spreads and depths are those of the normal law; and rows lie on all sides
    at every depth, so the hulls are the same as well. DR with the projection depth is exactly 0.
    """
    middle = 2 * gammaincinv(y.shape[1] / 2, 0.5)
    inner = (y * y).sum(axis=1) < middle
    right = rng.random(len(y)) < np.where(inner, _ON_ONE_SIDE, 1 - _ON_ONE_SIDE)
    y[(y[:, 0] > 0) != right] *= -1
    return y


#: What becomes of the second sample.
CHANGES: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "shift 0.25": _shift(0.25),
    "shift 0.35": _shift(0.35),
    "shift 0.6": _shift(0.6),
    "diagonal shift 0.35": _diagonal_shift(0.35),
    "scale 1.1": _scale(1.1),
    "scale 1.15": _scale(1.15),
    "scale 1.3": _scale(1.3),
    "correlation 0.5": _correlation(0.5),
    "t2": _student,
    "mixture inside": _mixture,
    "sides swapped": _swapped_sides,
}


def masked(kind: str, n: int, d: int, share: float, rng: np.random.Generator) -> Pair:
    """Samples of two laws, with foreign rows in both: a change and a kind of dirt, "a with b".

    Those of the second sample lie on the side away from the change.
    """
    change, _, dirt = kind.partition(" with ")
    x, y = contaminated(dirt, n, d, share, True, rng)
    k = int(share * n + 1e-9)
    y[k:] = CHANGES[change](y[k:], rng)
    return x, y


def changed(kind: str, n: int, d: int, rng: np.random.Generator) -> Pair:
    """A normal sample, and one of another law."""
    x, y = rng.standard_normal((2, n, d))
    return x, CHANGES[kind](y, rng)
