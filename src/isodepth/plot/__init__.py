"""Pictures of a comparison."""

from isodepth.plot.gap_profile import gap_profile

__all__ = ["gap_profile"]
