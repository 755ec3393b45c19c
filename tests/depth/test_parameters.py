"""Settings of depths by name."""

from __future__ import annotations

import pytest

from isodepth.depth import BY_NAME


@pytest.mark.parametrize("name", BY_NAME)
def test_unknown_names_are_refused(name: str) -> None:
    depth = BY_NAME[name]()
    before = depth.get_params()
    with pytest.raises(ValueError, match=r"color"):
        depth.set_params(color="red")
    assert depth.get_params() == before
    assert not hasattr(depth, "color")


@pytest.mark.parametrize("name", BY_NAME)
def test_known_names_are_set(name: str) -> None:
    depth = BY_NAME[name]()
    assert depth.set_params(n_directions=7, random_state=3) is depth
    assert (depth.get_params()["n_directions"], depth.random_state) == (7, 3)
