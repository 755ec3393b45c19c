"""Values of options just inside and just outside of the allowed ranges."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from isodepth import region_tables
from isodepth.errors import DegenerateDepthWarning, InvalidInputError
from isodepth.many.collections import as_list
from isodepth.many.pairwise import table_metric

RNG = np.random.default_rng(0)
BAGS = [RNG.normal(size=(9, 3)) + i for i in range(3)]
OPTIONS = {"levels": 3, "n_directions": 5, "random_state": 0}
TABLES = region_tables(BAGS, **OPTIONS)


def test_only_simplices_warn() -> None:
    for n in (3, 4):
        with pytest.warns(DegenerateDepthWarning, match=f"cannot order {n} points"):
            region_tables([BAGS[0], RNG.normal(size=(n, 3))], **OPTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        region_tables([BAGS[0], RNG.normal(size=(5, 3))], **OPTIONS)


def test_a_collection_is_a_list_or_has_three_axes() -> None:
    assert len(as_list(np.zeros((1, 2, 3)), "bags")) == 1
    assert as_list(BAGS, "bags") is BAGS
    for array in (np.zeros(3), np.zeros((2, 3)), np.zeros((1, 2, 3, 4))):
        with pytest.raises(InvalidInputError, match=r"bags must be .* got an array of shape"):
            as_list(array, "bags")
    for empty in ([], np.zeros((0, 2, 3)), iter(())):
        with pytest.raises(InvalidInputError, match="bags is empty"):
            as_list(empty, "bags")
    for other in ("ab", b"ab", 3, None):
        with pytest.raises(InvalidInputError, match="bags must be a sequence of samples"):
            as_list(other, "bags")


def test_a_seed_is_drawn_only_for_random_directions() -> None:
    assert isinstance(table_metric({}).random_state, int)
    drawn = [table_metric({"random_state": np.random.default_rng(3)}).random_state for _ in "ab"]
    assert drawn[0] == drawn[1]
    assert table_metric({"random_state": 0}).random_state == 0
    for directions in ("equispaced", np.eye(2)):
        for seed in (None, np.random.default_rng(0)):
            found = table_metric({"directions": directions, "random_state": seed})
            assert found.random_state is None
