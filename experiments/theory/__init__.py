"""Closed forms of the distance: formulas, bounds and breakdown points.

They do not use the computations of isodepth, so that each can be compared with the other.
"""

from experiments.theory.breakdown import breakdown_bound, breakdown_from_levels
from experiments.theory.gaussian import (
    gaussian_bounds,
    gaussian_distance,
    gaussian_gap,
    translation_bounds,
)
from experiments.theory.univariate import univariate_distance

__all__ = [
    "breakdown_bound",
    "breakdown_from_levels",
    "gaussian_bounds",
    "gaussian_distance",
    "gaussian_gap",
    "translation_bounds",
    "univariate_distance",
]
