"""Refined distances are between the distance without refinement and the exact distance."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth

DEPTHS = ["halfspace", "projection", "irw"]


def random_pair(case: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two samples of different location, spread, shape or tails, in 2 to 20 dimensions."""
    rng = np.random.default_rng(case)
    d = int(rng.integers(2, 21))
    n, m = rng.integers(d + 3, 120, 2)
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    kind = case % 5
    if kind == 1:
        Y += rng.standard_normal(d) * rng.choice([0.2, 1.0, 3.0])
    elif kind == 2:
        Y *= rng.uniform(0.3, 3, d)
    elif kind == 3:
        Y /= np.abs(rng.standard_normal((m, 1)))
    elif kind == 4:
        Y = rng.uniform(-2, 2, (m, d)) + 0.3
    return X, Y


@pytest.mark.parametrize("case", range(18))
def test_never_below_the_search_nor_above_the_supremum(case: int) -> None:
    X, Y = random_pair(case)
    options = {"depth": DEPTHS[case % 3], "n_directions": 50, "random_state": case}
    plain = isodepth.compare(X, Y, scale=None, refine=0, **options)
    refined = isodepth.compare(X, Y, scale=None, refine=20, **options)
    exact = isodepth.compare(X, Y, scale=None, gap="exact", **options)
    assert (refined.gaps >= plain.gaps).all()
    assert (refined.gaps <= exact.gaps * (1 + 1e-9)).all()
    for result in (refined, exact):
        x, y = result.regions
        middles = result.levels
        hx = np.array(
            [x.support(u, b) for u, b in zip(result.gap_directions, middles, strict=True)]
        )
        hy = np.array(
            [y.support(u, b) for u, b in zip(result.gap_directions, middles, strict=True)]
        )
        # The named direction attains the gap, up to the rounding error of a dot product.
        np.testing.assert_allclose(np.abs(hx - hy), result.gaps, rtol=1e-9, atol=1e-12)


def test_refined_is_close_to_exact() -> None:
    """Check an error of at most 1% in 95% of random cases with up to 20 dimensions."""
    short = []
    for case in range(100):
        X, Y = random_pair(case)
        options = {"depth": DEPTHS[case % 3], "random_state": case}
        refined = isodepth.distance(X, Y, **options)
        exact = isodepth.distance(X, Y, gap="exact", **options)
        short.append(1 - refined / exact)
    assert np.mean(np.array(short) <= 0.01) >= 0.95


def test_the_limit_is_not_exhausted_before_a_last_level_of_many_rows() -> None:
    """The search of vertices reaches the last level, although 43% of the rows enter there at once.

    The number of its operations is limited for all levels together.
    """
    rng = np.random.default_rng(1108)
    rng.random(3)  # chosen from many cases, because the limit is reached in few
    X, Y = rng.standard_normal((547, 30)), rng.standard_normal((391, 30)) + 0.5
    options = {"depth": "halfspace", "n_directions": 1000, "random_state": 108}
    refined = isodepth.compare(X, Y, **options)
    exact = isodepth.compare(X, Y, gap="exact", **options)
    assert refined.gaps[-1] >= 0.999 * exact.gaps[-1]
