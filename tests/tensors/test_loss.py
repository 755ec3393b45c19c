"""DepthLoss: a module among modules."""

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
    assert "|q=2|" in loss.signature
    assert "|q=" not in DepthLoss(q=float("inf")).signature
    assert "seed=0" in loss.signature
    assert loss(*pair) != DepthLoss(n_directions=30, random_state=1)(*pair)


def test_directions_are_drawn_anew_in_training_alone(pair):
    loss = DepthLoss(n_directions=5, resample=True)
    first, second = loss(*pair), loss(*pair)
    assert first != second
    assert first == DepthLoss(n_directions=5)(*pair)
    assert "draws=2" in repr(loss)
    loss.eval()
    assert loss(*pair) == first
    assert loss.draws == 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_go_on_by_themselves(pair, copied):
    loss = DepthLoss(n_directions=5, resample=True)
    loss(*pair)
    other = copied(loss)
    assert other(*pair) == loss(*pair)
    assert other.draws == loss.draws == 2


def test_a_resumed_training_draws_what_it_would_have(pair):
    loss = DepthLoss(n_directions=5, resample=True)
    model = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "loss": loss})
    loss(*pair)
    state = model.state_dict()
    expected = loss(*pair)
    again = DepthLoss(n_directions=5, resample=True)
    other = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "loss": again})
    other.load_state_dict(state)
    assert again(*pair) == expected


def test_the_global_generator_is_left_alone(pair):
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    DepthLoss(n_directions=5, resample=True)(*pair)
    assert torch.equal(before, torch.random.get_rng_state())


def test_training_brings_a_cloud_home(pair):
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 3)
    loss = DepthLoss(n_directions=50, resample=True)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    values = []
    for _ in range(60):
        optimizer.zero_grad()
        value = loss(layer(pair[0]), pair[1])
        value.backward()
        optimizer.step()
        values.append(value.item())
    assert values[-1] < 0.4 * values[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"refine": 5}, "refine=5"),
        ({"resample": 1}, "resample must be True or False"),
        ({"random_state": -1}, "random_state must be an integer"),
        ({"seed": 1}, "unknown option"),
        ({"direction": 3}, "unknown option"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, said):
    with pytest.raises(InvalidOptionError, match=said):
        DepthLoss(**options)
