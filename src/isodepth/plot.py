"""Figures of samples, comparisons, tests, monitors and distance matrices."""

from isodepth.show.bagplot import bagplot
from isodepth.show.figures import contributions, gap_profile, null_distribution
from isodepth.show.matrix import distance_matrix
from isodepth.show.regions import nested_regions
from isodepth.show.timeline import timeline

__all__ = [
    "bagplot", "contributions", "distance_matrix", "gap_profile", "nested_regions",
    "null_distribution", "timeline",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
