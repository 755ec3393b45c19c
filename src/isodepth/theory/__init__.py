"""Closed forms of the distance, its bounds, and breakdown points.

They are computed without samples and directions. The distances of Gaussian distributions can
therefore be compared with those of samples.
"""

from isodepth.theory.breakdown import breakdown_bound, breakdown_from_levels
from isodepth.theory.gaussian import (
    gaussian_bounds,
    gaussian_distance,
    gaussian_gap,
    translation_bounds,
)

__all__ = [
    "breakdown_bound",
    "breakdown_from_levels",
    "gaussian_bounds",
    "gaussian_distance",
    "gaussian_gap",
    "translation_bounds",
]


def __dir__() -> list[str]:
    return __all__
