"""Random number streams, one per purpose, independent of every generator of the user."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from isodepth.errors import InvalidOptionError

Purpose = Literal[
    "directions", "levels", "permutations", "column pairs", "splits", "batches", "subsamples",
    "tied depths", "local search", "resampling", "seeds",
]  # fmt: skip


def rng_for(random_state: Any, purpose: Purpose, *keys: int) -> np.random.Generator:
    """Return a generator for one purpose.

    Data that a user made with ``default_rng(seed)`` must not coincide with our directions for
    ``random_state=seed``, so the purpose is part of the spawn key of every stream.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator
        None for fresh entropy. The same integer gives the same stream. A generator is advanced, so
        each call gives another stream.
    purpose : str
    *keys : int
        Further keys, such as the number of a batch.

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
    """Return the seed sequence of `rng_for`."""
    if isinstance(random_state, np.random.Generator):
        entropy: Any = random_state.integers(2**32, size=4).tolist()
    elif random_state is None:
        entropy = None
    elif isinstance(random_state, (int, np.integer)) and random_state >= 0:
        entropy = int(random_state)
    else:
        raise InvalidOptionError(
            "random_state must be None, a non-negative integer or a numpy.random.Generator, got "
            f"{random_state!r:.80}",
            option="random_state",
        )
    spawn_key = (*f"isodepth {purpose}".encode(), *keys)
    return np.random.SeedSequence(entropy, spawn_key=spawn_key)


def integer_seed(random_state: Any) -> int:
    """Return `random_state` if it is an integer, else draw a seed below 2**31."""
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    return int(rng_for(random_state, "seeds").integers(2**31))
