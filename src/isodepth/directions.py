"""Unit vectors, under their public name."""

from isodepth.core.directions import FAMILIES, unit_vectors

__all__ = ["FAMILIES", "unit_vectors"]
