"""TrimmedRegions: what they print, and which levels they take."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import InvalidInputError, Metric

LINE = [[1.0], [2.0], [4.0], [8.0], [16.0]]
REGIONS = Metric(depth="halfspace").regions(LINE)


def test_repr_goes_from_the_least_deep_to_the_deepest() -> None:
    assert repr(REGIONS) == "TrimmedRegions(n=5, d=1, regions=3, depth from 0.2 to 0.6)"


@pytest.mark.parametrize(
    "beta", ["a", "0.5", None, [0.1, "b"], 1j, [[0.1], [0.2, 0.3]], object], ids=repr
)
def test_levels_are_numbers(beta: object) -> None:
    for ask in (REGIONS.alpha, REGIONS.inside, lambda b: REGIONS.support([[1.0]], b)):
        with pytest.raises(InvalidInputError, match="beta must be a number in"):
            ask(beta)


@pytest.mark.parametrize("beta", [1, 1.0, -1e-9, np.nan, np.inf, [0.5, 1.0]])
def test_levels_lie_below_one(beta: object) -> None:
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\)"):
        REGIONS.alpha(beta)


def test_levels_of_any_kind_of_number() -> None:
    assert REGIONS.alpha(0) == REGIONS.alpha(0.0) == REGIONS.alpha(np.float32(0)) == 0.6
    assert REGIONS.alpha([0, 0.2, 0.999]).tolist() == [0.6, 0.4, 0.2]
    assert REGIONS.alpha(np.array([False])).tolist() == [0.6]
