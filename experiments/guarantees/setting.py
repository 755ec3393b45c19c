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
        Guaranteed upper bound on the expectation of a measured number, by the name of the number.
    run : function
        Return the measured numbers of one data set or stream, given a random generator and the
        number of the data set. Measured numbers without a limit are printed only.
    """

    name: str
    limits: dict[str, float]
    run: Callable[[Rng, int], dict[str, float]]
