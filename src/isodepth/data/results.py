"""What every result can be turned into: JSON, data frames, a notebook's HTML, pictures, a report.

A result says what it holds (`to_dict`), what its rows are (`_rows`), and prints itself; everything
else follows from these here, once for all of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from isodepth.data.extras import load_extra
from isodepth.data.markup import escaped, html_table
from isodepth.errors import InvalidOptionError

_SHOWN_ROWS = 10
_BACKENDS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def plain(value: Any) -> Any:
    """A value as numbers, texts, lists and dictionaries that JSON knows.

    Numbers that JSON has no word for (NaN and the infinities) become None.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"a": np.arange(2), "b": (np.float64(0.5), float("inf")), "c": np.bool_(True)})
    {'a': [0, 1], 'b': [0.5, None], 'c': True}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def named_shares(shares: Any) -> list[dict[str, Any]]:
    """Pairs of a column and its share, as dictionaries."""
    return [{"name": str(name), "share": float(share)} for name, share in shares]


class ResultMixin:
    """A result that can be read by programs, frames and notebooks."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, texts, lists and dictionaries that JSON knows.

        What is not finite is None.
        """
        raise NotImplementedError

    def _rows(self) -> dict[str, list[Any]]:
        """The rows of the result, as columns of one length."""
        raise NotImplementedError

    def to_json(self, **options: Any) -> str:
        """`to_dict` as JSON; the options are those of `json.dumps`."""
        return json.dumps(self.to_dict(), **{"allow_nan": False, **options})

    def to_frame(self, backend: str = "pandas") -> Any:
        """The rows of the result as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library whose frame it is; needs ``isodepth[frames]``.
        """
        if backend not in _BACKENDS:
            raise InvalidOptionError(
                f"backend must be one of {', '.join(map(repr, _BACKENDS))}, got {backend!r}"
            )
        library = load_extra(backend, "frames", "making a data frame")
        return getattr(library, _BACKENDS[backend])(self._rows())

    def _heading(self) -> str:
        """A few lines that say what it is, above the rows in a notebook."""
        return str(self)

    def _repr_html_(self) -> str:
        first, *rest = self._heading().splitlines()
        lines = "".join(f"<br>{escaped(line.strip())}" for line in rest)
        table = html_table(self._rows(), _SHOWN_ROWS)
        return f'<div class="isodepth"><p><strong>{escaped(first)}</strong>{lines}</p>{table}</div>'


class PlottableResult(ResultMixin):
    """A result that can be drawn."""

    __slots__ = ()

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
        from isodepth.plot import draw

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
        from isodepth.report import write_report

        write_report(self, path, **options)
