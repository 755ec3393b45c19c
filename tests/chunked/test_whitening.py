"""Covariances of samples in chunks: exact sums, in any order, and the matrix that memory gives."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from isodepth.chunked.rows import NO_MASSES, Frame, Rows
from isodepth.chunked.whitening import MomentPass, digits_of, moments, whitening_matrix
from isodepth.core.sample import Sample
from isodepth.depth.base import center_and_exponent
from isodepth.depth.whitening import whitening_matrix as in_memory


def summed(
    points: np.ndarray, masses: np.ndarray, cuts: list[int], exponents: np.ndarray
) -> np.ndarray:
    """The sums of chunks, the last ones first."""
    frame = Frame(np.zeros(points.shape[1], points.dtype), 0, np.eye(points.shape[1]))
    work = MomentPass(frame, exponents)
    state = work.start()
    for some in reversed(np.split(np.arange(len(points)), cuts)):
        if len(some):
            own = work.start()
            work.step(own, Rows(points[some], masses[some] if len(masses) else masses))
            work.merge(state, own)
    return state


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_exact(weighted: bool) -> None:
    """Against fractions: numbers of 24 bits below 2**2 are whole in units of 2**-49."""
    rng = np.random.default_rng(0)
    points = np.ldexp(rng.integers(-(2**24), 2**24, (60, 3)), -22).astype(np.float32)
    masses = rng.integers(1, 2**55, 60) if weighted else NO_MASSES
    units = masses.tolist() if weighted else [1] * 60
    exponents = np.array([3, 2, 3])
    mean, covariance = moments(summed(points, masses, [7, 8, 40], exponents), exponents)
    rows = [[Fraction(float(x)) for x in row] for row in points]
    total = sum(units)
    means = [sum(m * row[j] for m, row in zip(units, rows, strict=True)) / total for j in range(3)]
    assert mean.tolist() == [float(one) for one in means]
    for i in range(3):
        for j in range(3):
            exact = sum(
                m * (row[i] - means[i]) * (row[j] - means[j])
                for m, row in zip(units, rows, strict=True)
            )
            assert covariance[i, j] == float(exact / total)


def test_digits_add_up() -> None:
    points = np.random.default_rng(1).uniform(-4, 4, (50, 2))
    digits = digits_of(points, np.array([2, 2]))
    assert np.abs(digits).max() <= 2**13
    whole = sum(digits[:, 2 * k : 2 * k + 2] * 2.0 ** (13 * (3 - k)) for k in range(4))
    # Rounded once, to 52 bits below 2**2.
    assert np.abs(whole * 2.0**-50 - points).max() <= 2.0**-51


@pytest.mark.parametrize("weighted", [False, True])
def test_any_cut_gives_the_same_bits(weighted: bool) -> None:
    rng = np.random.default_rng(2)
    points = rng.standard_t(2, (9000, 3))
    masses = rng.integers(1, 10**9, 9000) if weighted else NO_MASSES
    exponents = np.frexp(np.abs(points).max(axis=0))[1]
    whole = summed(points, masses, [], exponents)
    for cuts in ([1], [8192], list(range(100, 9000, 100))):
        assert np.array_equal(summed(points, masses, cuts, exponents), whole)


@pytest.mark.parametrize("kind", ["full", "constant column", "flat", "units"])
def test_the_matrix_is_that_of_memory(kind: str) -> None:
    rng = np.random.default_rng(3)
    points = rng.standard_normal((5000, 3)) @ rng.standard_normal((3, 3))
    if kind == "constant column":
        points[:, 1] = 0.1
    elif kind == "flat":
        points[:, 2] = points[:, 0] - points[:, 1]
    elif kind == "units":
        points *= [1e-9, 1.0, 1e6]
    sample = Sample.of(points)
    frame = Frame(*center_and_exponent(sample), np.eye(3))
    moved = frame.moved(sample.points)

    def fold(work: Any) -> Any:
        state = work.start()
        for some in np.array_split(points, 11):
            work.step(state, Rows(some, NO_MASSES))
        return state

    found = whitening_matrix(fold, frame)
    white = moved @ found.T
    # The product with the matrix in memory differs by rounding of a sum of 5000 products.
    expected = moved @ in_memory(sample, moved, "empirical").T
    assert np.allclose(white - white[0], expected - expected[0], rtol=0, atol=1e-9)
