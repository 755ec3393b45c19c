"""Base classes of results that can draw figures, write reports and list suspicious rows."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack, cast

import numpy as np

from isodepth.data.export import ResultMixin
from isodepth.errors import ColumnWarning, InvalidInputError
from isodepth.inspection.rows import TwoSamples
from isodepth.inspection.suspicious import (
    RepeatedValue,
    SuspiciousRows,
    repeated_values,
    suspicious_rows,
)
from isodepth.inspection.typical import TypicalRows, typical_rows
from isodepth.results.protocols import AnyResult, ReportOptions


class ReportableResult(ResultMixin):
    """Base class of results with the methods `plot` and `report`.

    Attributes
    ----------
    _result_type : {"comparison", "test", "monitor"}
        Determines the available figures and the template of the report.
    """

    __slots__ = ()
    _result_type: ClassVar[str]

    def plot(self, kind: str | None = None, ax: Any = None) -> Any:
        """Draw the result with a function of `isodepth.plot`.

        Parameters
        ----------
        kind : str, optional
            Kind of figure. For a comparison "gaps" (the default), "regions" and "columns", and
            with a test "null"; for a test "null" (the default), "gaps", "regions" and "columns";
            for a monitor "timeline".
        ax : matplotlib.axes.Axes, optional
            Axes to draw into; a new figure by default. A timeline always creates its own figure.

        Returns
        -------
        ax : matplotlib.axes.Axes, or the Figure of a timeline
        """
        from isodepth.plot import draw  # not imported at the top: figures need optional packages

        return draw(cast(AnyResult, self), kind, ax)

    def _repr_html_(self) -> str:
        """Return the result as HTML, which notebooks display.

        It has the headline, the first changes with small figures if matplotlib is installed, and
        the first suspicious rows. `isodepth.report.notebook` states the bounds on the computations.
        """
        # Imported here and not at the top, because `isodepth.report` imports Jinja, which is slow.
        from isodepth.report.notebook import result_html

        return result_html(cast(AnyResult, self))

    def report(self, path: Any, **options: Unpack[ReportOptions]) -> None:
        """Write a report as one self-contained HTML file.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which ends in .html or .htm. An existing file is replaced atomically.
        **options
            Optional: `title` of the page; `names` of the two samples of a comparison; `labels` of
            the batches of a monitor; `notes`, warnings to show in the report; `command`, the
            command line that reproduces the report. Reports of the same result with
            the same options are identical files.
        """
        # Imported here and not at the top, because `isodepth.report` imports Jinja, which is slow.
        from isodepth.report import write_report

        write_report(cast(AnyResult, self), path, **options)


class TwoSampleReport(ReportableResult):
    """Base class of results about two samples, which can list suspicious rows.

    Private fields are not part of the constructor, and are set by `_with`.

    Attributes
    ----------
    _inputs : tuple (X, Y, kinds) or None
        Samples as the user passed them, not copied. None if the result was computed from regions.
    """

    _inputs: Any
    # Attributes that are computed before the rows are released, and kept.
    _WITHOUT_ROWS: ClassVar[tuple[str, ...]] = ("_repeated_values",)

    # Hidden from type checkers, which would otherwise accept every attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if any(each.name == name for each in fields(self)):
                raise InvalidInputError(
                    f"this {type(self).__name__} has no rows, because it was returned by "
                    "without_rows() or created from its public fields; use the original result"
                )
            # Raise the usual error, or again the AttributeError of a property.
            return object.__getattribute__(self, name)

    @cached_property
    def _two_samples(self) -> TwoSamples:
        """Rows of both samples as the user passed them, with missing values and categories."""
        if self._inputs is None:
            return self._samples_of_regions()
        with warnings.catch_warnings():
            # The warning about columns was already issued when the samples were first compared.
            warnings.simplefilter("ignore", ColumnWarning)
            return TwoSamples.read(*self._inputs)

    @property
    def _has_all_rows(self) -> bool:
        """Whether `_two_samples` has all rows; False if it has random rows of larger sources."""
        return True

    def _samples_of_regions(self) -> TwoSamples:
        raise InvalidInputError("this result does not contain the rows of the samples")

    def without_rows(self) -> Self:
        """Return a copy of the result that does not keep the rows of the samples.

        A result keeps a copy of both samples, which it needs for `suspicious_rows`,
        `typical_rows`, random splits and figures of rows. Numbers, changes, the headline and
        `to_dict` do not need the rows: they are computed now and kept. The methods that need rows
        raise an error. Use this method to keep many results in memory or in files.

        Examples
        --------
        >>> import numpy as np, pickle, isodepth
        >>> X, Y = np.random.default_rng(0).normal(size=(2, 2000, 5))
        >>> result = isodepth.compare(X, Y, n_directions=50, random_state=0)
        >>> small = result.without_rows()
        >>> small.distance == result.distance, small.contributions == result.contributions
        (True, True)
        >>> small.suspicious_rows()
        Traceback (most recent call last):
        ...
        isodepth.errors.InvalidInputError: suspicious rows need the rows of both samples...
        """
        result = replace(self)  # type: ignore[type-var]
        vars(result).update({name: getattr(self, name) for name in self._WITHOUT_ROWS})
        return result

    def suspicious_rows(self) -> SuspiciousRows:
        """Find rows of each sample that do not look like any row of the other sample.

        A row is listed if a value is far outside the range of the other sample. It is also listed
        if a value does not fit the other columns, for example because of wrong units. Row indices
        refer to the samples as the user passed them. The threshold is a rule of thumb: listed rows
        may be correct, and wrong rows may be missed.

        Returns
        -------
        rows : SuspiciousRows
            Most suspicious rows first. It also lists categories that occur in only one sample.

        Examples
        --------
        >>> import numpy as np, isodepth
        >>> X = np.random.default_rng(5).normal(size=(200, 2))
        >>> Y = np.random.default_rng(6).normal(size=(100, 2))
        >>> Y[7, 1] = -9999
        >>> isodepth.compare(X, Y, random_state=0).suspicious_rows().indices("Y")
        array([7])
        """
        return self._suspicious

    def typical_rows(self, n_rows: int = 5) -> TypicalRows:
        """Find the rows of X and of Y that are most typical of their difference.

        These are the rows that are farthest apart along the direction in which the means of the
        samples differ most. They help if the columns have no meaning of their own, such as those of
        embeddings: look at the texts or images behind these rows. The rows describe a difference
        and are not evidence of one. Rows with wrong values are left out if they are at most 5% of
        their sample. See `isodepth.inspection.typical`.

        Parameters
        ----------
        n_rows : int
            Maximum number of rows of each sample.

        Returns
        -------
        rows : TypicalRows
            Row indices refer to the samples as the user passed them.

        Examples
        --------
        >>> import numpy as np, isodepth
        >>> X, Y = np.random.default_rng(0).normal(size=(2, 200, 60))
        >>> Y[:40, 20:40] += 2
        >>> rows = isodepth.compare(X, Y, random_state=0).typical_rows(3)
        >>> bool((rows.indices("Y") < 40).all())
        True
        """
        if not self._has_all_rows:
            raise InvalidInputError(
                "typical rows need both samples in memory, and these were read in chunks; pass a "
                "part of the rows as arrays or data frames"
            )
        known = vars(self).setdefault("_typical", {})
        if n_rows not in known:
            known[n_rows] = typical_rows(self._two_samples, n_rows)
        return known[n_rows]

    @cached_property
    def _suspicious(self) -> SuspiciousRows:
        return suspicious_rows(self._two_samples)

    @cached_property
    def _repeated_values(self) -> tuple[RepeatedValue, ...]:
        """Unusual values, such as -9999, that many rows have in common.

        Only the minima and maxima of columns are considered, which is faster than
        `suspicious_rows`. The tuple is empty if the samples were read in chunks.
        """
        try:
            return repeated_values(self._two_samples)
        except InvalidInputError:
            return ()


def unscaled_points(regions: Any) -> np.ndarray:
    """Return the points (n, d) of a sample's regions in the units of the data, before scaling."""
    scale = getattr(regions._origin, "scale", None)
    return regions.points if scale is None else regions.points * np.asarray(scale, dtype=float)
