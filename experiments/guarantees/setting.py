"""A simulated setting of a guarantee."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Rng = np.random.Generator


@dataclass(frozen=True)
class Setting:
    """Simulation of a guarantee.

    Attributes
    ----------
    name : str
    limits : dict
        Name of a measured number -> upper bound on its expectation that is guaranteed.
    run : function
        Returns the measured numbers of one data set or stream, given a random generator and its
        number. Numbers without a limit are only shown.
    """

    name: str
    limits: dict[str, float]
    run: Callable[[Rng, int], dict[str, float]]
