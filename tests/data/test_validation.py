"""Numbers that are no numbers for a setting: an error of the family."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import isodepth
from isodepth.data.validation import check_levels_inside, check_number
from isodepth.errors import InvalidInputError, InvalidOptionError


@pytest.mark.parametrize("value", [10**400, -(10**400), Fraction(10**400)])
def test_numbers_beyond_all_floats(value):
    with pytest.raises(InvalidOptionError, match=r"p must lie in .*too large for a float"):
        check_number(value, "p", 0, np.inf, low_open=True)
    with pytest.raises(InvalidOptionError):
        isodepth.Metric(p=value)


@pytest.mark.parametrize("betas", ["a", None, object(), [0.1, "b"], 10**400, [[0.1], [0.1, 0.2]]])
def test_levels_that_are_no_numbers(betas):
    with pytest.raises(InvalidInputError, match="beta"):
        check_levels_inside(betas)
    np.testing.assert_array_equal(check_levels_inside([0, 0.5]), [0, 0.5])


def test_alpha_of_a_word():
    points = np.arange(20.0).reshape(10, 2) ** 2
    regions = isodepth.Metric(n_directions=5, random_state=0).regions(points)
    with pytest.raises(InvalidInputError, match="beta"):
        regions.alpha("a")
