"""Units of the columns, which are robust standard deviations, and the option `scale`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.errors import InvalidInputError, InvalidOptionError, ScaleWarning, warn_user
from isodepth.geometry.weights import exact_masses
from isodepth.table.arrays import column_labels
from isodepth.table.validation import check_finite, check_weights, to_array

#: Strings that the option `scale` accepts. It may also be None or an array.
SCALES = ("pooled", "reference")
#: Fraction of the values of a column that are clipped at each end before its robust standard
#: deviation is computed. The result tolerates this fraction of contaminated rows.
CLIPPED = 0.2
# Standard deviation of a standard normal variable clipped at its 0.2 and 0.8 quantiles, and MAD of
# a standard normal variable.
_CLIPPED_NORMAL = 0.6419398154859957
_MAD_OF_NORMAL = 0.6744897501960817
_LARGEST = float(np.finfo(np.float64).max)
# Weights are interpreted as numbers of rows only if all of them are integers below this value.
_LARGEST_COUNT = 2.0**32
# Ratio of the robust standard deviations of two columns above which a comparison without scaling
# warns.
_WIDE = 100.0
# Maximum number of rows per sample that are used to find columns of very different spreads.
_ROWS_FOR_WARNING = 256


def column_units(
    points: np.ndarray, weights: np.ndarray | None = None, eps: float = 0.0
) -> np.ndarray:
    """Compute the unit of each column: a robust standard deviation.

    The unit is the standard deviation of the values clipped at their k and 1 - k quantiles, divided
    by 0.642, which is its value for the standard normal distribution and k = 0.2. k is 0.2, or
    0.4 (1 - a) if a fraction a > 1/2 of the rows has the same value, so that the unit is continuous
    in a. If less than a fraction k of the rows is contaminated, their effect on the unit is
    bounded.

    If `eps` exceeds 0.2, more contamination is expected. The unit is then the MAD, divided by its
    value for the standard normal distribution; see `mad_spread` for a MAD of zero.

    Parameters
    ----------
    points : ndarray of shape (n, d), finite
        Rows of all samples that share the units, in any order.
    weights : ndarray of shape (n,) or None
        A row of integer weight w counts as w rows. Rows of weight zero are ignored.
    eps : float in [0, 1]
        Expected fraction of contaminated mass; option `eps` of :class:`isodepth.Metric`.

    Returns
    -------
    units : float64 ndarray of shape (d,), positive; 1 for a constant column

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.geometry.scaling import column_units
    >>> rows = np.random.default_rng(0).normal(size=(10_000, 2)) * [1, 20]
    >>> rows[:1000, 0] = -9999
    >>> column_units(rows).round(1)
    array([ 1.2, 20.2])
    """
    if eps > CLIPPED:
        return normalized_mad(_mads(points, weights))
    points, masses = _rows_with_mass(points, weights)
    return np.array([_clipped_spread(column, masses) for column in points.T])


def fence_ranks(total: int, off_median: int) -> np.ndarray:
    """Return the ranks that define the two fences of a column, the values at which it is clipped.

    The values are in increasing order, and a value of mass w has w ranks. Ranks are counted from 0.

    Parameters
    ----------
    total : int
        Mass of all rows: the number of ranks.
    off_median : int
        Mass of the rows whose value differs from the median of the column.

    Returns
    -------
    ranks : int64 ndarray of shape (2, 2)
        The lower fence is the mean of the values at the two ranks in the first row. The upper fence
        is the mean of those in the second row. The ranks in a row are equal or adjacent, as for a
        median.
    """
    # A column is clipped at two quantiles. The order of a quantile times the total mass is
    # multiplied by five, which gives an integer.
    below = max(1, min(total, 2 * off_median))
    orders = (below, 5 * total - below)
    return np.array([[-(-order // 5) - 1, order // 5] for order in orders], dtype=np.int64)


def clipped_unit(width: Any, variance: Any) -> np.ndarray:
    """Compute the units of columns from the standard deviations of their clipped values.

    `width` is the difference of the two values at which a column is clipped, and `variance` is the
    variance of the clipped values divided by ``width**2``: numbers, or arrays with an entry per
    column. The unit is 1 if the clipped values are constant.
    """
    spread = np.asarray(width) * np.sqrt(variance)
    return np.where(spread > 0, np.minimum(spread / _CLIPPED_NORMAL, _LARGEST), 1.0)


def normalized_mad(mads: np.ndarray) -> np.ndarray:
    """Divide MADs (d,) by the MAD of the standard normal distribution. Return 1 for a MAD of 0."""
    return np.where(mads > 0, mads / _MAD_OF_NORMAL, 1.0)


def mad_spread(points: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Compute the median absolute deviation of each column, without a consistency factor.

    If more than half of the values are equal, the MAD is zero. The result is then the median of the
    positive deviations, as in the projection depth. It is 1 for a constant column.

    Parameters
    ----------
    points : ndarray of shape (n, d), finite
    weights : ndarray of shape (n,) or None
        Rows of weight zero are ignored.

    Returns
    -------
    spread : float64 ndarray of shape (d,), positive

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.geometry.scaling import mad_spread
    >>> mad_spread(np.array([[1.0, 5, 0], [2, 5, 0], [4, 5, 0], [8, 5, 0], [16, 5, 9]]))
    array([3., 1., 9.])
    """
    mads = _mads(points, weights)
    return np.where(mads > 0, mads, 1.0)


def _mads(points: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    points, masses = _rows_with_mass(points, weights)
    return np.array([_mad(np.ascontiguousarray(column, np.float64), masses) for column in points.T])


def units_of_samples(
    samples: Sequence[np.ndarray], weights: Sequence[np.ndarray | None], eps: float
) -> np.ndarray:
    """Compute the unit (d,) of each column from the pooled rows of several samples.

    If all weights of a sample are integers below 2**32, a row of weight w counts as w rows. Other
    weights are scaled, so that their sum is the number of rows of positive weight of the sample.
    The unit is that of `column_units`, which also defines `eps`.
    """
    if all(w is None for w in weights):
        return column_units(np.concatenate(samples), None, eps)
    masses = [
        np.ones(len(points)) if w is None else _row_counts(w)
        for points, w in zip(samples, weights, strict=True)
    ]
    return column_units(np.concatenate(samples), np.concatenate(masses), eps)


class NamedScale(np.ndarray):
    """Divisors with the names of their columns, from the option `scale`; see `aligned_scale`.

    The attribute `names` is lost in arrays that are computed from this array.
    """

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, divisors: np.ndarray, names: Sequence[str]) -> NamedScale:
        """Return the array `divisors` (d,) with the names of the columns."""
        scale = np.array(divisors).view(cls)
        scale.names = tuple(names)
        scale.setflags(write=False)
        return scale

    def __reduce__(self) -> Any:
        return NamedScale.of, (np.asarray(self), self.names)

    def __deepcopy__(self, memo: Any) -> NamedScale:
        return self


def aligned_scale(scale: Any, columns: Sequence[str] | None) -> Any:
    """Return the option `scale` with its divisors in the order of `columns`.

    `scale` is returned unchanged unless it is a `NamedScale`. Raise an error if the columns have no
    names, or if a column has no divisor.

    Examples
    --------
    >>> aligned_scale(NamedScale.of(np.array([10.0, 1.0]), ["wind", "temp"]), ["temp", "wind"])
    array([ 1., 10.])
    """
    if not isinstance(scale, NamedScale) or not scale.names:
        return scale
    named = dict(zip(scale.names, scale.tolist(), strict=True))
    if columns is None or any(name not in named for name in columns):
        lacking = "which have no names"
        if columns is not None:
            lacking = f"and {next(name for name in columns if name not in named)!r} has none"
        raise InvalidOptionError(
            f"scale has divisors for {', '.join(scale.names):.80}, and its labels must be the "
            f"names of the columns, {lacking}; pass an array with one number per column",
            option="scale",
        )
    return np.array([named[name] for name in columns])


def _labels_of(scale: Any) -> list[str]:
    """Return the labels of a pandas Series; [] for other objects and for the labels 0, 1, ..."""
    index = getattr(scale, "index", None)
    if index is None or callable(index) or not hasattr(scale, "to_numpy"):
        return []
    labels = list(index)
    if labels == list(range(len(labels))):
        return []
    names = list(map(str, labels))
    if len({*names}) < len(names):
        raise InvalidOptionError(
            f"scale must have distinct labels, got {', '.join(names):.80}", option="scale"
        )
    return names


def check_scale(scale: Any) -> np.ndarray:
    """Convert an array-like `scale` to an array (d,), and check that its entries are positive.

    The result is a `NamedScale` if `scale` is one, or a pandas Series with names of columns.
    """
    names = scale.names if isinstance(scale, NamedScale) else _labels_of(scale)
    try:
        array = to_array(scale, "scale").astype(np.float64, casting="same_kind")
    except (InvalidInputError, TypeError):
        array = np.empty(0)
    if array.ndim == 1 and len(array):
        wrong = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
        if len(wrong):
            column = repr(names[wrong[0]]) if len(names) else str(wrong[0])
            raise InvalidOptionError(
                "scale must have one positive number per column (1 for a column without "
                f"scaling), got {array[wrong[0]]:g} for column {column}",
                option="scale",
            )
    else:
        raise InvalidOptionError(
            "scale must be None, 'pooled', 'reference' or an array with one positive number per "
            f"column (1 for a column without scaling), got {scale!r:.80}",
            option="scale",
        )
    return NamedScale.of(array, names) if len(names) else array


def check_scale_width(scale: np.ndarray, width: int) -> None:
    """Check that the scale has one number per column."""
    if len(scale) != width:
        raise InvalidInputError(
            f"scale must have one number per column, got {len(scale)} for {width} columns"
        )


def scaled(points: np.ndarray, scale: np.ndarray, name: str, columns: Any = None) -> np.ndarray:
    """Divide each column of points (n, d) by its scale (d,), and check that no value overflows.

    `name` and `columns` are used in messages. The dtype of the points is kept.
    """
    check_scale_width(scale, points.shape[1])
    out = np.empty(points.shape, points.dtype)
    with np.errstate(over="ignore"):
        np.divide(points, scale, out=out, casting="same_kind")
    check_finite(out, f"{name} divided by scale", False, columns)
    return out


def warn_of_different_spreads(
    x: np.ndarray, y: np.ndarray, columns: tuple[str, ...] | None
) -> None:
    """Warn if one column of two samples has over 100 times the spread of another column.

    The spread is a robust standard deviation of the pooled rows of `x` (n, d) and `y` (m, d), of
    which at most 256 evenly spaced rows per sample are used. Constant columns are ignored.
    `columns` are the names of the columns in the message, or None.
    """
    if x.shape[1] == 1:
        return
    rows = np.concatenate([part[:: -(-len(part) // _ROWS_FOR_WARNING)] for part in (x, y)])
    varied = np.flatnonzero((rows != rows[0]).any(axis=0))
    if len(varied) < 2:
        return
    spread = column_units(rows[:, varied])
    if not spread.max() / _WIDE > spread.min():
        return
    labels = columns or column_labels(x.shape[1])
    widest, narrowest = (labels[varied[at]] for at in (spread.argmax(), spread.argmin()))
    warn_user(
        f"the columns have very different spreads: {spread.max():.3g} in {widest} and "
        f"{spread.min():.3g} in {narrowest}; the former dominates the distance. scale='pooled' "
        "divides every column by its spread",
        ScaleWarning,
    )


def _rows_with_mass(
    points: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the rows of positive weight, and their integer masses.

    If `weights` is None, return all rows, and None instead of the masses.
    """
    checked = check_weights(weights, len(points))
    if checked is None:
        return points, None
    return points[checked > 0], exact_masses(checked[checked > 0])


def _row_counts(weights: np.ndarray) -> np.ndarray:
    if is_integral(weights):
        return weights
    # Divide the weights by their maximum first, so that their sum cannot overflow.
    relative = weights / weights.max()
    return relative * (np.count_nonzero(weights) / relative.sum())


def is_integral(weights: np.ndarray) -> bool:
    """Return whether all weights are integers below 2**32, which count as numbers of rows."""
    return bool((weights == np.rint(weights)).all() and weights.max() < _LARGEST_COUNT)


def _clipped_spread(column: np.ndarray, masses: np.ndarray | None) -> float:
    # Values are sorted before they are summed, so that the result does not depend on the order of
    # the rows.
    if masses is None:
        values = np.sort(column.astype(np.float64))
        total = len(values)
        middle = values[(total - 1) // 2]
        ends = np.searchsorted(values, [middle]), np.searchsorted(values, [middle], side="right")
        at_median = int(ends[1][0] - ends[0][0])
        indices = fence_ranks(total, total - at_median)
    else:
        order = np.lexsort((masses, column))
        values, masses = column[order].astype(np.float64), masses[order]
        upto = np.cumsum(masses)
        total = int(upto[-1])
        middle = values[np.searchsorted(upto, (total - 1) // 2, side="right")]
        off_median = int(masses[values != middle].sum())
        indices = np.searchsorted(upto, fence_ranks(total, off_median), side="right")
    low, high = (0.5 * values[indices]).sum(axis=1)
    if not low < high:
        return 1.0
    # The difference cannot overflow: `check_finite` refuses values above a quarter of the maximum.
    width = high - low
    relative = (np.clip(values, low, high) - low) / width
    shares = 1.0 / total if masses is None else masses / total
    mean = (shares * relative).sum()
    return float(clipped_unit(width, (shares * np.square(relative - mean)).sum()))


def _mad(column: np.ndarray, masses: np.ndarray | None) -> float:
    deviations = np.abs(column - _median(column, masses))
    spread = _median(deviations, masses)
    if spread > 0:
        return spread
    positive = deviations > 0
    if not positive.any():
        return 0.0
    return _median(deviations[positive], None if masses is None else masses[positive])


def _median(numbers: np.ndarray, masses: np.ndarray | None) -> float:
    return float(_core.quantile(numbers[None], 0.5, masses)[0])
