"""Base class of results about two samples, which lists their suspicious and typical rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar, Unpack

from isodepth.base.export import DrawnResult, Headline
from isodepth.base.messages import joined
from isodepth.base.showing import PairReportOptions, showing
from isodepth.errors import InvalidInputError, UnavailableError
from isodepth.rows.kept import KeptRows, ReleasedRows
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import RepeatedValue, SuspiciousRows
from isodepth.rows.suspicious.results import repeated_texts
from isodepth.rows.typical import TypicalRows, has_many_unnamed_columns
from isodepth.table.kinds import (
    ColumnKind,
    attention_lines,
    date_columns,
    number_lines,
    row_number_columns,
)
from isodepth.table.missing import MissingPair

T = TypeVar("T")
# Maximum number of suspicious rows in a summary.
_MAX_ROWS = 3
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

    kinds: tuple[ColumnKind, ...]
    missing: MissingPair | None
    _kept: KeptRows | ReleasedRows | None
    _names: tuple[str, str] = ("X", "Y")

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        return self._headline(self._names).sentence

    def _headline(self, names: Sequence[str]) -> Headline:
        """Return the headline, in which X and Y have the given names."""
        raise NotImplementedError

    @property
    def _test(self) -> Any:
        """Test of the two samples, or None."""
        return None

    @property
    def _tested(self) -> Any:
        """The test if there is one, else this result: the one that compared most columns."""
        return self if self._test is None else self._test

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

    @property
    def _typical(self) -> TypicalRows | None:
        """Typical rows if they describe the difference, see `_has_typical_rows`.

        None also if a sample has too few rows, for which `typical_rows` raises an error.
        """
        with suppress(InvalidInputError):
            return self.typical_rows() if self._has_typical_rows else None
        return None

    # -- sentences --------------------------------------------------------------------------

    def _remarks(self, rows: SuspiciousRows | None, names: Sequence[str]) -> list[str]:
        """Return short remarks that a summary and a report show below the headline.

        Subjects of the remarks are columns of doubtful kind, unusual values that many rows have in
        common, further changes, suspicious rows, and notes about numeric columns. Subclasses add
        checks, columns that are not compared, and dropped rows. `rows` is None to omit the remark
        about suspicious rows, and `names` are the names of X and Y.
        """
        headline = self._headline(names).sentence
        texts = repeated_texts(self._repeated_values, names, date_columns(self.kinds))
        return [
            *attention_lines(self.kinds),
            *(text for text in texts if text not in headline),
            *self._further_changes,
            *([] if rows is None else [rows._summary(names)]),
            *number_lines(self.kinds, codes=False),
        ]

    @property
    def _further_changes(self) -> list[str]:
        """List with the number of changes that the headline does not name, as a phrase; or []."""
        return []

    def _unused_part(self, names: Sequence[str]) -> str:
        """Return a sentence if less than half of the rows or values of a sample were compared.

        Values of columns that are left out, and missing values, count as not compared. Return "" if
        at least half of the rows and of the values of both samples were compared. `names` are the
        names of the samples.
        """
        numbers = row_number_columns(self.kinds)
        kinds = [kind for kind in self.kinds if kind.column not in numbers]
        columns = sum(kind.use != "omit" for kind in kinds) / len(kinds) if kinds else 1.0
        for side, name in enumerate(names):
            used = {"values": columns}
            if self.missing is not None:
                known = [1 - (share.before, share.after)[side] for share in self.missing.shares]
                used["values"] *= sum(known) / max(len(known), 1)
                n_rows, n_dropped = self.missing.n_rows[side], self.missing.n_dropped[side]
                used["rows"] = 1 - n_dropped / max(n_rows, 1)
            for noun, fraction in used.items():
                if fraction < 0.5:
                    return f"Only {fraction:.0%} of the {noun} of {name} could be compared."
        return ""

    def _summary(
        self, names: Sequence[str], rows: SuspiciousRows | None = None, chance: Any = None
    ) -> list[str]:
        """Return a summary in about 12 lines, in the order of the report.

        Parameters
        ----------
        names : pair of str
            Names of the samples.
        rows : SuspiciousRows or None
            None to replace the suspicious rows by a hint how to find them.
        chance : ChanceLevel, str or None
            Distances between random splits of the pooled rows, or the reason why there are none.
            None to replace them by a hint how to compute them.
        """
        lines = [self._headline(names).sentence, joined("; ", self._remarks(rows, names))]
        lines += self._difference_lines(names)
        if rows is not None:
            repeated = {(each.sample, each.value) for each in rows.repeated_values}
            single = [row for row in rows.rows if (row.sample, row.value) not in repeated]
            lines += [row._text(names["XY".index(row.sample)]) for row in single[:_MAX_ROWS]]
        elif self._keeps_rows:
            lines.append("suspicious_rows() lists the rows that look wrong")
        return [line for line in [*lines, *self._last_lines(chance)] if line]

    @property
    def _keeps_rows(self) -> bool:
        """Whether this object has the rows of both samples, or random rows of larger sources."""
        raise NotImplementedError

    def _difference_lines(self, names: Sequence[str]) -> list[str]:
        """Return the lines of a summary about changes, typical rows or contributions of columns."""
        raise NotImplementedError

    def _last_lines(self, chance: Any) -> list[str]:
        """Return the last lines of a summary; `chance` is the argument of `_summary`."""
        raise NotImplementedError

    # -- rows -------------------------------------------------------------------------------

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
