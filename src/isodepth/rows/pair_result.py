"""Base class of results about two samples, which lists their suspicious and typical rows."""

from __future__ import annotations

from typing import Any, Self, TypeVar, Unpack

from isodepth.base.export import DrawnResult
from isodepth.base.showing import PairReportOptions, showing
from isodepth.errors import InvalidInputError, UnavailableError
from isodepth.rows.kept import KeptRows, ReleasedRows
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import RepeatedValue, SuspiciousRows
from isodepth.rows.typical import TypicalRows, has_many_unnamed_columns

T = TypeVar("T")
# Default maximum number of typical rows of each sample; the headline uses it too.
N_TYPICAL = 5


class PairResult(DrawnResult):
    """Base class of results about two samples, which can list suspicious rows.

    Attributes
    ----------
    _kept : KeptRows, ReleasedRows or None
        Rows of both samples, or `ReleasedRows` after `without_rows`. None if the result was
        created from its public fields. It is not part of the constructor.
    _names : pair of str
        Names of the samples in texts about the result.
    """

    _kept: KeptRows | ReleasedRows | None
    _names: tuple[str, str] = ("X", "Y")

    def _required(self, details: T | None) -> T:
        """Return `details`, private data of the result; raise UnavailableError if it is None."""
        if details is None:
            raise UnavailableError(
                f"this {type(self).__name__} was created from its public fields and lacks the "
                "details that this answer needs; use the original result"
            )
        return details

    @property
    def _kept_rows(self) -> KeptRows:
        """Rows of both samples. Raise InvalidInputError if the result does not have them."""
        if not isinstance(self._kept, KeptRows):
            raise InvalidInputError(
                f"this {type(self).__name__} has no rows, because it was returned by "
                "without_rows() or created from its public fields; use the original result"
            )
        return self._kept

    @property
    def _two_samples(self) -> TwoSamples:
        """Rows of both samples, see `KeptRows.samples`.

        Raise InvalidInputError if the result does not have them.
        """
        return self._kept_rows.samples

    @property
    def _has_all_rows(self) -> bool:
        """Whether `_two_samples` has all rows; False if it has random rows of larger sources."""
        return True

    @property
    def _repeated_values(self) -> tuple[RepeatedValue, ...]:
        """Unusual values, such as -9999, that many rows have in common; () if unknown."""
        return () if self._kept is None else self._kept.repeated_values

    @property
    def _known_suspicious_rows(self) -> SuspiciousRows | None:
        """Suspicious rows if they were already computed, else None."""
        return self._kept.suspicious if isinstance(self._kept, KeptRows) else None

    @property
    def _has_typical_rows(self) -> bool:
        """Whether the result can describe a difference by typical rows instead of columns.

        Typical rows are those of X and of Y that are farthest apart along the direction of the
        difference. They are used if there are more than 50 columns without names, and if
        `_has_all_rows` is true.
        """
        if isinstance(self._kept, KeptRows):
            return self._has_all_rows and has_many_unnamed_columns(self._kept.samples.columns)
        return self._kept is not None and self._kept.typical is not None

    def report(self, path: Any, **options: Unpack[PairReportOptions]) -> None:
        """Write a report as one self-contained HTML file.

        Reports of the same result with the same options are identical files.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which ends in .html or .htm. An existing file is replaced atomically.
        **options
            Optional: `title` of the page; `names` of the two samples; `notes`, warnings to show in
            the report; `command`, the command line that reproduces the report.
        """
        showing().write(self, path, **options)

    def without_rows(self) -> Self:
        """Return a copy of the result that does not keep the rows of the samples.

        A result keeps a copy of both samples, which it needs for `suspicious_rows`, `typical_rows`,
        random splits and figures of rows. Numbers, changes, the headline and `to_dict` do not need
        the rows: they are computed now and kept. Methods, attributes and figures that need rows
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
        isodepth.errors.InvalidInputError: this Comparison has no rows, because it was...
        """
        raise NotImplementedError

    def suspicious_rows(self) -> SuspiciousRows:
        """Find rows of each sample that do not look like any row of the other sample.

        A row is listed if a value is far outside the range of the other sample. It is also listed
        if a value does not fit the other columns, for example because of wrong units. Rows are
        numbered by their positions, from 0, in the samples as the user passed them. The threshold
        is a rule of thumb: listed rows may be correct, and wrong rows may be missed.

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
        return self._kept_rows.find_suspicious()

    def typical_rows(self, n: int = N_TYPICAL) -> TypicalRows:
        """Find the rows of X and of Y that are most typical of their difference.

        These are the rows that are farthest apart along the direction in which the means of the
        samples differ most, relative to the covariance within the samples. They help if the columns
        have no meaning of their own, such as those of embeddings: look at the texts or images
        behind these rows. The rows describe a difference and are not evidence of one. Rows with
        wrong values are left out if they are at most 5% of their sample.

        Parameters
        ----------
        n : int
            Maximum number of rows of each sample.

        Returns
        -------
        rows : TypicalRows
            Rows are numbered by their position, from 0, in the samples as the user passed them.

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
        if isinstance(self._kept, ReleasedRows) and self._kept.typical and n == N_TYPICAL:
            return self._kept.typical
        return self._kept_rows.find_typical(n)
