"""Rows that say where a sample lies: by their number while they are few, by their mass if not."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth.core.sample import Sample
from isodepth.depth.base import center_and_exponent
from isodepth.engine import middle_rows
from isodepth.engine.middle_rows import probed_places, typical_size


@settings(max_examples=100, deadline=None)
@given(masses=st.lists(st.integers(1, 9), min_size=1, max_size=60), factor=st.integers(1, 5))
def test_places_and_sizes_are_those_of_repeated_rows(masses: list[int], factor: int) -> None:
    own = np.array(masses) * factor
    repeated = np.repeat(np.arange(len(own)), own)
    sizes = np.random.default_rng(len(masses)).permutation(len(own)).astype(np.float32)
    with mock.patch.object(middle_rows, "FEW_ROWS", 0):
        places = probed_places(len(own), own, int(own.sum()))
        # Where rows are repeated one by one, every place is a row and every row has mass one.
        expected = repeated[probed_places(len(repeated), None, len(repeated))]
        assert np.array_equal(places, expected)
        assert typical_size(sizes, own) == typical_size(sizes[repeated], None)


def test_few_rows_count_by_their_number() -> None:
    masses = np.array([100, 1, 1, 1, 1, 1, 1, 1, 1])
    assert np.arange(9)[probed_places(9, masses, 108)].tolist() == [0, 2, 4, 6, 8]
    assert typical_size(np.arange(9.0), masses) == 4.0


@pytest.mark.parametrize("copies", [2, 3])
def test_a_sample_that_is_there_several_times_has_one_middle(copies: int) -> None:
    points = np.random.default_rng(0).normal(size=(5000, 3))
    once, again = Sample.of(points), Sample.of(np.concatenate([points] * copies))
    weighted = Sample.of(points, np.full(5000, 0.3))
    for other in (again, weighted):
        center, exponent = center_and_exponent(other)
        assert np.array_equal(center, center_and_exponent(once)[0])
        assert exponent == center_and_exponent(once)[1]
