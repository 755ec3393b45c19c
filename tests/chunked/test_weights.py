"""Weights of a stream become the masses that they are in memory."""

from __future__ import annotations

from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth import InvalidInputError, Metric, scan
from isodepth.chunked import weights as chunked_weights
from isodepth.chunked.weights import Looked
from isodepth.core.sample import exact_masses


def looked_at(weights: np.ndarray, cuts: list[int]) -> Looked:
    """Merged from chunks, the last first."""
    result = Looked()
    ends = [0, *sorted(min(cut, len(weights)) for cut in cuts), len(weights)]
    for start, stop in reversed(list(pairwise(ends))):
        part = Looked()
        part.add(stop - start, stop - start, weights[start:stop], None)
        part.merge(result)
        result = part
    return result


WEIGHTS = {
    "integers": lambda rng, n: rng.integers(1, 50, n) * 6.0,
    "large": lambda rng, n: np.rint(rng.uniform(2**45, 2**46, n)),
    "shares": lambda rng, n: (lambda w: w / w.sum())(rng.integers(1, 50, n)),
    "tenths": lambda rng, n: 0.1 * rng.integers(1, 50, n),
    "floats": lambda rng, n: rng.random(n) + 1e-3,
    "wide": lambda rng, n: 10.0 ** rng.uniform(-12, 12, n),
    "single": lambda rng, n: rng.random(n).astype(np.float32).astype(float) + 1e-3,
}


@settings(max_examples=120, deadline=None)
@given(
    kind=st.sampled_from(sorted(WEIGHTS)),
    n=st.integers(1, 60),
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(0, 60), max_size=4),
)
def test_masses_as_in_memory(kind: str, n: int, seed: int, cuts: list[int]) -> None:
    weights = WEIGHTS[kind](np.random.default_rng(seed), n)
    expected = exact_masses(weights)
    rule = looked_at(weights, cuts).rule()
    assert np.array_equal(rule.masses(weights), expected)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["integers", "large", "floats", "wide"]),
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(0, 60), max_size=4),
)
def test_more_weights_than_are_kept(kind: str, seed: int, cuts: list[int]) -> None:
    """Weights that are in no small proportion need not be known one by one."""
    weights = WEIGHTS[kind](np.random.default_rng(seed), 60)
    expected = exact_masses(weights)
    with mock.patch.object(chunked_weights, "MOST_DISTINCT", 5):
        looked = looked_at(weights, cuts)
        if len(np.unique(weights)) > 5:
            assert looked.weights is None
        assert np.array_equal(looked.rule().masses(weights), expected)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_weights_name_their_chunk(bad: float) -> None:
    rows = np.ones((20, 3))
    rows[13, 2] = bad
    metric = Metric(n_directions=5, levels=3, random_state=0)
    with pytest.raises(InvalidInputError, match="weights in chunk 1 must be finite and not neg"):
        metric.table(scan([rows[:10], rows[10:]], weights=2))


def test_data_that_change_between_readings() -> None:
    calls = []

    def chunks() -> list[np.ndarray]:
        calls.append(1)
        rng = np.random.default_rng(len(calls))
        return [rng.random((50, 2)) + 0.1]

    metric = Metric(n_directions=5, levels=3, random_state=0)
    with pytest.raises(InvalidInputError, match="changed between two readings"):
        metric.table(scan(chunks, weights=1))
