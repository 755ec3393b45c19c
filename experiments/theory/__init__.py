"""Closed forms that check the package: distances on the line, and means over directions."""

from experiments.theory.means import gaussian_mean_distance
from experiments.theory.univariate import univariate_distance

__all__ = ["gaussian_mean_distance", "univariate_distance"]
