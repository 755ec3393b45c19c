"""Rooms that compiled code writes to: too small a one would be written past its end."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.depth.exact.elimination import elimination


@pytest.mark.parametrize(("n", "d"), [(5, 2), (7, 3), (6, 5)])
def test_every_level_of_an_elimination_has_its_room(n: int, d: int) -> None:
    points, masses = np.zeros((n, d)), np.ones(n, dtype=np.int64)
    state = elimination(points, masses, False)
    assert state.vectors.shape == state.errors.shape == (d - 1, n, d)
    assert state.ids.shape == (d - 1, n)
    assert state.columns.shape == (d - 1, d)
    for part in (state.counts, state.divisors, state.orders, state.scales):
        assert part.shape == (d - 1,)
    assert not state.errors.any()
    for part in (state.divisors, state.orders, state.scales):
        assert (part == 1).all()
    exact = state.exact
    assert exact.origin.shape == exact.chosen.shape == exact.pivots.shape == (d,)
    assert state.lattice is False
