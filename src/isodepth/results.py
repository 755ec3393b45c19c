"""Results that draw themselves and write a report, with the functions of the layers below."""

from __future__ import annotations

from typing import Any, ClassVar

from isodepth.data.results import ResultMixin


class PlottableResult(ResultMixin):
    """A result that can be drawn.

    Attributes
    ----------
    result_type : {"comparison", "test", "verdict", "monitor", "matrix"}
        Which figures, and which report, there are of it.
    """

    __slots__ = ()
    result_type: ClassVar[str]

    def plot(self, kind: str | None = None, ax: Any = None) -> Any:
        """Draw the result; a short cut to the functions of `isodepth.plot`.

        Parameters
        ----------
        kind : str, optional
            Which picture. Of a comparison "gaps" (the default), "regions", "columns", and where it
            was tested "null" and "shares" (of categories); of a test "null" (the default), "gaps",
            "regions", "columns" and "shares"; of a matrix of distances "matrix" (the default),
            "tree" and "map"; of a verdict "columns"; of a monitor "timeline".
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default. A timeline makes its own.

        Returns
        -------
        ax : matplotlib.axes.Axes, or the Figure of a timeline
        """
        from isodepth.plot import draw  # matplotlib is optional, and slow to import

        return draw(self, kind, ax)


class ReportableResult(PlottableResult):
    """A result that can be written down for a colleague."""

    __slots__ = ()

    def report(self, path: Any, **options: Any) -> None:
        """Write a report: one HTML file that needs nothing else, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            Where it goes; a file already there is replaced.
        **options
            All may be left out. `title`: that of the page. `names`: what to call the two samples of
            a comparison, and `sources`: the files they came from. `labels`: what to call the
            batches of a monitor. `notes`: warnings to pass on. `command`: what to type to make the
            report again. `when`: a date to put under it; without one, the same result gives the
            same bytes.
        """
        from isodepth.report import write_report  # needs the figures

        write_report(self, path, **options)
