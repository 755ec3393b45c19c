"""Random numbers of isodepth differ from those that a user draws with the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isodepth
from isodepth.base.seeds import rng_for
from isodepth.errors import InvalidOptionError
from isodepth.geometry.directions import integer_seed

N, D, K = 60, 40, 200

GENERATORS = {
    "normal": lambda rng: rng.normal(size=(N, D)),
    "uniform": lambda rng: rng.uniform(size=(N, D)) * np.sqrt(12),
    "integers": lambda rng: rng.integers(0, 100, (N, D)) / 29.0,
}


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
@pytest.mark.parametrize("as_generator", [False, True], ids=["int", "Generator"])
def test_data_of_the_same_seed_have_the_distances_of_unrelated_data(
    make: Any, as_generator: bool
) -> None:
    def distance_with(seed: int, data_seed: Any) -> float:
        random_state = np.random.default_rng(seed) if as_generator else seed
        x, y = make(np.random.default_rng(data_seed)), make(np.random.default_rng([9, 9, 9, seed]))
        return isodepth.distance(
            x, y, depth="irw", q=2, n_directions=K, random_state=random_state, levels=20
        )

    same = np.array([distance_with(seed, seed) for seed in range(6)])
    other = np.array([distance_with(seed, [7, 7, 7, i]) for seed in range(6) for i in range(3)])
    # 5 standard errors of the difference of the means.
    error = other.std(ddof=1) * np.sqrt(1 / len(same) + 1 / len(other))
    assert abs(same.mean() - other.mean()) < 5 * error
    assert np.abs(same - other.mean()).max() < 6 * other.std(ddof=1)


def test_the_test_of_data_of_its_own_seed_keeps_its_level() -> None:
    pvalues = [
        isodepth.two_sample_test(
            *np.split(np.random.default_rng(seed).normal(size=(60, 5)), 2),
            random_state=seed,
            n_permutations=99,
        ).pvalue
        for seed in range(6)
    ]
    # Each is at most 0.01 with probability 0.01.
    assert np.count_nonzero(np.array(pvalues) <= 0.01) <= 1


def test_streams_differ_by_purpose_and_key_and_repeat_for_integers() -> None:
    streams = [
        rng_for(0, "directions"), rng_for(0, "levels"), rng_for(1, "directions"),
        rng_for(0, "batches", 0), rng_for(0, "batches", 1), rng_for(None, "levels"),
        rng_for(None, "levels"), np.random.default_rng(0),
        *(np.random.default_rng(child) for child in np.random.SeedSequence(0).spawn(3)),
    ]  # fmt: skip
    assert len({rng.random() for rng in streams}) == len(streams)
    assert rng_for(np.int64(3), "levels").random() == rng_for(3, "levels").random()


def test_a_generator_is_advanced() -> None:
    rng = np.random.default_rng(0)
    first, second = (rng_for(rng, "levels").random() for _ in range(2))
    assert first != second
    assert first == rng_for(np.random.default_rng(0), "levels").random()
    assert integer_seed(rng) != integer_seed(rng)
    assert integer_seed(np.int64(5)) == 5


@pytest.mark.parametrize("random_state", [-1, 1.5, "a", np.random.PCG64(0)])
def test_other_seeds_are_refused(random_state: Any) -> None:
    with pytest.raises(InvalidOptionError, match="random_state") as caught:
        rng_for(random_state, "levels")
    assert caught.value.option == "random_state"
