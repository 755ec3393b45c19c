"""Pictures: of a comparison, of a test, of one sample and of many, and of a stream."""

from isodepth.plot.bagplot import bagplot
from isodepth.plot.column_shares import column_shares
from isodepth.plot.depth_contours import depth_contours
from isodepth.plot.distance_matrix import distance_matrix
from isodepth.plot.gap_profile import gap_profile
from isodepth.plot.monitor_timeline import monitor_timeline
from isodepth.plot.nested_regions import nested_regions
from isodepth.plot.null_distribution import null_distribution
from isodepth.plot.sample_map import sample_map
from isodepth.plot.sample_tree import sample_tree

__all__ = [
    "bagplot",
    "column_shares",
    "depth_contours",
    "distance_matrix",
    "gap_profile",
    "monitor_timeline",
    "nested_regions",
    "null_distribution",
    "sample_map",
    "sample_tree",
]
