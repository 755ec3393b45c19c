"""Full halfspace-depth regions of the plane, under their public name."""

from isodepth.depth.exact.planar import halfspace_region_vertices

__all__ = ["halfspace_region_vertices"]
