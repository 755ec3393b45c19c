"""Random number generators for all purposes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from isodepth.base.options import Seed

Purpose = Literal[
    "directions", "levels", "permutations", "column pairs", "splits", "batches", "subsamples",
    "tied depths", "local search", "resampling", "seeds",
]  # fmt: skip


def rng_for(random_state: Any, purpose: Purpose, *keys: int) -> np.random.Generator:
    """Return a random number generator for one purpose, such as sampling directions.

    Generators for different purposes are independent, even with the same seed, because the purpose
    is part of the spawn key of the seed sequence. They are also independent of
    ``default_rng(seed)``, with which a user may have created the data.

    Parameters
    ----------
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        None for entropy of the operating system. The same integer gives the same random numbers. A
        `Generator` or `RandomState` is advanced, so each call gives other random numbers.
    purpose : str
        One of the strings in `Purpose`, such as "directions".
    *keys : int
        Further integers that distinguish generators, such as the number of a batch.

    Returns
    -------
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> rng_for(0, "directions").random() == np.random.default_rng(0).random()
    False
    >>> rng_for(0, "directions").random() == rng_for(0, "directions").random()
    True
    """
    return np.random.default_rng(seed_sequence(random_state, purpose, *keys))


def seed_sequence(random_state: Any, purpose: Purpose, *keys: int) -> np.random.SeedSequence:
    """Return the seed sequence from which `rng_for` creates a generator for these arguments."""
    checked = random_state if type(random_state) is int else check_random_state(random_state)
    entropy: Any = checked
    if isinstance(checked, np.random.Generator):
        entropy = checked.integers(2**32, size=4).tolist()
    elif isinstance(checked, np.random.RandomState):
        entropy = checked.randint(2**32, size=4, dtype=np.uint64).tolist()
    spawn_key = (*f"isodepth {purpose}".encode(), *keys)
    return np.random.SeedSequence(entropy, spawn_key=spawn_key)


def check_random_state(random_state: Any) -> Any:
    """Check that `random_state` is None, an integer, a Generator or a RandomState.

    Return `random_state`; a NumPy integer is converted to a Python integer.
    """
    return Seed().check("random_state", random_state)
