"""Pictures of a comparison, and of a stream."""

from isodepth.plot.gap_profile import gap_profile
from isodepth.plot.monitor_timeline import monitor_timeline

__all__ = ["gap_profile", "monitor_timeline"]
