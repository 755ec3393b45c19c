"""Rows that are most typical of the difference between two samples.

Columns of embeddings have no names that help a reader. The difference is described by rows instead:
those of X and of Y that are farthest apart along the direction in which the samples differ most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.export import ResultMixin, ResultPart, table_of
from isodepth.base.options import Integer
from isodepth.base.seeds import rng_for
from isodepth.errors import InvalidInputError
from isodepth.geometry.scaling import mad_spread
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious.repeated import find_sentinels
from isodepth.rows.suspicious.scoring import Rows, RowScorer
from isodepth.table.arrays import column_labels

#: Samples with more unnamed columns are described by rows instead of columns.
MANY_COLUMNS = 50
# Maximum number of rows of each sample in a headline.
_IN_PHRASE = 3
# Number of folds of the cross-fitting, and minimum number of rows of a sample: one per fold.
_FOLDS = _MIN_ROWS = 5
# Fraction of all rows that count as extreme, and the minimum number of extreme rows.
_EXTREME, _MIN_EXTREME = 0.05, 10
# Maximum distance of a value from the median of its column, in MADs. Larger values are clipped, so
# that a few wrong values do not determine the direction.
_FAR = 12.0
# Maximum number of rows per sample and fold from which directions are estimated. All rows are
# scored.
_MAX_ROWS = 1_000
# Maximum fraction of the rows of a sample that are left out because of wrong values. If more rows
# look wrong, they are part of the difference.
_MAX_WRONG = 0.05
# Maximum number of rows of a sample from which the ranges of usual values are estimated.
_MAX_REFERENCE = 2_000
# Samples with more columns are not whitened, because time and memory grow with the square of the
# number of columns.
_MAX_WHITENED = 2_000


@dataclass(frozen=True, eq=False)
class TypicalRow(ResultPart):
    """A row that is typical of one of two samples.

    Attributes
    ----------
    sample : {"X", "Y"}
    row : int
        Index of the row, from 0, in the sample as the user passed it.
    score : float
        Position of the row along the direction of the difference, from the middle between the
        samples towards Y. The unit is the standard deviation within the samples.
    """

    sample: str
    row: int
    score: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TypicalRows(ResultMixin):
    """Rows of two samples that are most typical of their difference.

    Attributes
    ----------
    rows : tuple of TypicalRow
        Rows of X, the most typical first, then rows of Y, the most typical first.
    purity : pair of float in [0, 1]
        Among the 5% of all rows (at least 10) that are most extreme towards X, the fraction that
        belongs to X; and the same for Y.
    expected : pair of float in [0, 1]
        Expected values of `purity` if the samples do not differ along the direction: the fractions
        of all rows that belong to X and to Y. If `purity` is not larger, the rows are not more
        typical than others.

    Rows with wrong values are left out, see `typical_rows`.
    """

    _result_type = "typical_rows"

    rows: tuple[TypicalRow, ...]
    purity: tuple[float, float]
    expected: tuple[float, float]

    def indices(self, sample: str) -> np.ndarray:
        """Return the row indices of one sample, "X" or "Y", the most typical first."""
        return np.array([row.row for row in self.rows if row.sample == sample], dtype=np.int64)

    def _rows(self) -> dict[str, list[Any]]:
        return table_of(self.rows, [each.name for each in fields(TypicalRow)])

    def _phrase(self, names: Sequence[str] = ("X", "Y")) -> str:
        """Return the first rows of each sample in one phrase, for headlines."""
        parts = [
            f"rows {', '.join(map(str, self.indices(sample)[:_IN_PHRASE].tolist()))} of {name}"
            for sample, name in zip("XY", names, strict=True)
        ]
        return f"most typical of the difference are {' and '.join(parts)}"

    def _texts(self, names: Sequence[str] = ("X", "Y")) -> list[str]:
        """Return one line per sample; `names` are the names of X and Y."""
        return [
            f"rows most typical of {name}: {', '.join(map(str, self.indices(sample).tolist()))} "
            f"({purity:.0%} of the most extreme rows belong to {name}, {expected:.0%} by chance)"
            for sample, name, purity, expected in zip(
                "XY", names, self.purity, self.expected, strict=True
            )
        ]

    def __repr__(self) -> str:
        return "\n".join(self._texts())


def has_many_unnamed_columns(columns: tuple[str, ...]) -> bool:
    """Return whether there are more than 50 numeric columns, all without names of their own."""
    return len(columns) > MANY_COLUMNS and columns == column_labels(len(columns))


def typical_rows(samples: TwoSamples, n: int = 5) -> TypicalRows:
    """Find the rows of X and of Y that are most typical of the difference between the samples.

    The direction of the difference is the difference of the means of Y and X after whitening, the
    linear discriminant of Fisher. The covariance matrix of d columns within the samples is shrunk
    towards a multiple of the identity, by the fraction d / (d + number of all rows). With more than
    2000 columns there is no whitening. Values far from the median of their column are clipped.

    Rows with a wrong value, such as -1 in a column of positive numbers, would often be the farthest
    ones. They are left out if they are at most 5% of their sample: rows with a value far outside
    the values of the other sample, or with a value that many rows of only one sample repeat. See
    `suspicious_rows`, which lists them.

    A row is scored along a direction that was estimated without this row (five-fold cross-fitting).
    Otherwise, with more columns than rows, every row would look typical of its sample.

    The rows describe a difference. They are not evidence of a difference, which is the subject of
    the two-sample test. A difference without a shift of the means has no such direction; the
    `purity` of the rows is then not larger than expected.

    Parameters
    ----------
    samples : TwoSamples
        Missing values are replaced by the median of their column. Categories are not used.
    n : int
        Maximum number of rows of each sample.

    Returns
    -------
    rows : TypicalRows

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.rows.rows import TwoSamples
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 200, 60))
    >>> Y[:40, 20:40] += 2
    >>> rows = typical_rows(TwoSamples.read(X, Y), 3)
    >>> bool((rows.indices("Y") < 40).all())
    True
    """
    Integer(1).check("n", n)
    if min(samples.n_rows) < _MIN_ROWS or not samples.columns:
        raise InvalidInputError(
            f"typical rows need numeric columns and at least {_MIN_ROWS} rows of each sample, got "
            f"{len(samples.columns)} numeric columns and {samples.n_rows[0]} and "
            f"{samples.n_rows[1]} rows"
        )
    kept = [np.flatnonzero(~wrong) for wrong in _wrong_rows(samples)]
    x, y = (part[rows] for part, rows in zip(_clipped(samples), kept, strict=True))
    scores = _scores(x, y)
    rows = []
    for sample, own, each, sign in zip("XY", kept, scores, (1.0, -1.0), strict=True):
        order = np.argsort(sign * each, kind="stable")[:n]
        rows += [TypicalRow(sample, int(own[i]), float(each[i])) for i in order]
    total = len(x) + len(y)
    expected = len(x) / total, len(y) / total
    return TypicalRows(rows=tuple(rows), purity=_purity(*scores), expected=expected)


def _wrong_rows(samples: TwoSamples) -> list[np.ndarray]:
    """Return bool arrays (n,) and (m,): whether a row is left out because of a wrong value."""
    wrong = []
    for points, other in (samples.points, samples.points[::-1]):
        reference = other[:: len(other) // _MAX_REFERENCE + 1]
        both = [Rows(part, np.empty((len(part), 0), np.int64)) for part in (reference, points)]
        rows = np.zeros(len(points), bool)
        rows[RowScorer(both[0], related=()).candidates(both[1])] = True
        wrong.append(rows)
    for side, column, value, *_ in find_sentinels(samples.points, samples.categories):
        wrong[side] |= samples.points[side][:, column] == value
    return [each & (each.mean() <= _MAX_WRONG) for each in wrong]


def _clipped(samples: TwoSamples) -> list[np.ndarray]:
    """Return both samples, standardized by pooled medians and MADs, with clipped values."""
    pooled = np.concatenate(samples.points).astype(float)
    # A column without any value is constant.
    empty = np.isnan(pooled).all(axis=0)
    pooled[:, empty] = 0.0
    medians = np.nanmedian(pooled, axis=0)
    missing = np.isnan(pooled)
    pooled[missing] = np.broadcast_to(medians, pooled.shape)[missing]
    pooled = np.clip((pooled - medians) / mad_spread(pooled), -_FAR, _FAR)
    return np.split(pooled, [samples.n_rows[0]])


def _scores(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores (n,) and (m,) of the rows of x and y, by cross-fitting.

    The direction of a score is estimated without the row and the other rows of its fold.
    """
    rng = rng_for(0, "subsamples")
    folds = [rng.permutation(len(part)) % _FOLDS for part in (x, y)]
    parts = [[part[of == fold] for fold in range(_FOLDS)]
             for part, of in zip((x, y), folds, strict=True)]  # fmt: skip
    # Rows at equal distances: the first rows of a sorted sample differ from the others.
    moments = [
        [_Moments.of(rows[:: len(rows) // _MAX_ROWS + 1]) for rows in part] for part in parts
    ]
    scores = np.empty(len(x)), np.empty(len(y))
    for fold in range(_FOLDS):
        direction, middle = _direction(*(_Moments.total(part, fold) for part in moments))
        for part, of, score in zip(parts, folds, scores, strict=True):
            score[of == fold] = (part[fold] - middle) @ direction
    return scores


class _Moments(NamedTuple):
    """Number of rows, their sum (d,), and the sum of their squares (d,) or products (d, d).

    Whitening needs the sum of the products x x' of the rows x. Without whitening, the squares of
    the entries are sufficient.
    """

    n_rows: int
    first: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> _Moments:
        whitened = rows.shape[1] <= _MAX_WHITENED
        return cls(len(rows), rows.sum(axis=0), rows.T @ rows if whitened else (rows**2).sum(0))

    @classmethod
    def total(cls, parts: list[_Moments], without: int) -> _Moments:
        """Return the moments of all parts together, except the part with the index `without`."""
        kept = [part for place, part in enumerate(parts) if place != without]
        return cls(*(sum(values[1:], values[0]) for values in zip(*kept, strict=True)))


def _direction(x: _Moments, y: _Moments) -> tuple[np.ndarray, np.ndarray]:
    """Return the direction (d,) of the difference, and the middle (d,) between the means.

    The standard deviation within the samples along the direction is about 1.
    """
    means = x.first / x.n_rows, y.first / y.n_rows
    difference = means[1] - means[0]
    n, d = x.n_rows + y.n_rows, len(difference)
    if x.second.ndim == 1:
        within = (x.second + y.second - x.n_rows * means[0] ** 2 - y.n_rows * means[1] ** 2) / n
        deviation = np.sqrt(within @ difference**2)
        return difference / (deviation or 1.0), (means[0] + means[1]) / 2
    within = x.second + y.second
    for part, mean in zip((x, y), means, strict=True):
        within -= part.n_rows * np.outer(mean, mean)
    within /= n
    # Without shrinkage the matrix would be singular if there are more columns than rows.
    shrinkage = d / (d + n)
    shrunk = (1 - shrinkage) * within
    shrunk[np.diag_indices(d)] += shrinkage * (np.trace(within) / d or 1.0)
    direction = np.linalg.solve(shrunk, difference)
    deviation = np.sqrt(max(direction @ within @ direction, 0.0))
    return direction / (deviation or 1.0), (means[0] + means[1]) / 2


def _purity(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the purity of the extreme scores, see `TypicalRows`, as two fractions.

    The first is the fraction of rows of X among the rows with the lowest scores. The second is the
    fraction of rows of Y among the rows with the highest scores. `x` (n,) and `y` (m,) are the
    scores. Of tied rows, all or none are among the extreme rows.
    """
    ordered = np.sort(np.concatenate([x, y]))
    count = min(max(_MIN_EXTREME, round(_EXTREME * len(ordered))), len(ordered))
    low, high = ordered[count - 1], ordered[-count]
    x_low, y_low = (int((scores <= low).sum()) for scores in (x, y))
    x_high, y_high = (int((scores >= high).sum()) for scores in (x, y))
    return x_low / (x_low + y_low), y_high / (x_high + y_high)
