"""DepthLoss as a module of torch."""

from __future__ import annotations

import copy
import pickle

import pytest

from isodepth.errors import InvalidOptionError

torch = pytest.importorskip("torch")
from isodepth.torch import DepthLoss  # noqa: E402


@pytest.fixture
def pair():
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(2, 40, 3, generator=generator)
    return x, y + 1


def test_fixed_directions_give_one_value(pair):
    loss = DepthLoss(n_directions=30)
    assert loss(*pair) == loss(*pair)
    assert "refine=0" in repr(loss)
    assert "|q=" not in loss.signature
    assert "|q=2|" in DepthLoss(q=2).signature
    assert "seed=0" in loss.signature
    assert loss(*pair) != DepthLoss(n_directions=30, random_state=1)(*pair)


def test_directions_are_sampled_again_only_in_training(pair):
    loss = DepthLoss(n_directions=5, resample=True)
    first, second = loss(*pair), loss(*pair)
    assert first != second
    assert first == DepthLoss(n_directions=5)(*pair)
    assert "draws=2" in repr(loss)
    loss.eval()
    assert loss(*pair) == first
    assert loss.draws == 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_continue_independently(pair, copied):
    loss = DepthLoss(n_directions=5, resample=True)
    loss(*pair)
    other = copied(loss)
    assert other(*pair) == loss(*pair)
    assert other.draws == loss.draws == 2


def test_a_resumed_training_has_the_same_directions(pair):
    loss = DepthLoss(n_directions=5, resample=True)
    model = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "loss": loss})
    loss(*pair)
    state = model.state_dict()
    expected = loss(*pair)
    again = DepthLoss(n_directions=5, resample=True)
    other = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "loss": again})
    other.load_state_dict(state)
    assert again(*pair) == expected


def test_the_global_generator_is_not_used(pair):
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    DepthLoss(n_directions=5, resample=True)(*pair)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"refine": 5}, "'refine' is an option of Metric"),
        ({"resample": 1}, "resample must be True or False"),
        ({"random_state": -1}, "random_state must be an integer"),
        ({"seed": 1}, "unknown option"),
        ({"direction": 3}, "unknown option"),
    ],
)
def test_invalid_settings_are_refused(options, match):
    with pytest.raises(InvalidOptionError, match=match):
        DepthLoss(**options)
