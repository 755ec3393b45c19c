"""Units of the columns: robust spreads, and the scales a user gives."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.core.weights import exact_masses
from isodepth.data.arrays import column_labels, describe
from isodepth.data.validation import check_finite, check_weights, to_array
from isodepth.errors import InvalidInputError, InvalidOptionError, ScaleWarning

#: What `scale=` may be, apart from None and an array.
SCALES = ("pooled", "reference")
# From this ratio of spreads on, a comparison warns.
_WIDE = 100.0
# A warning needs no more rows of each sample than these.
_ROWS_FOR_WARNING = 256


def pooled_spread(points: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Robust spread of each column: what one unit of it is worth.

    The median absolute deviation from the median, without a consistency factor, both being the
    middle of the lower and the upper median. Where it is zero (half of the rows coincide), the
    median of the deviations that are positive, as in the projection depth; where there are none
    (a constant column), 1.

    Parameters
    ----------
    points : ndarray of shape (n, d), finite
        The rows of all samples that share the scale, in any order: the result does not depend on
        which row belongs to which sample.
    weights : ndarray of shape (n,) or None
        Rows of weight zero do not count; None for equal weights.

    Returns
    -------
    spread : float64 ndarray of shape (d,), positive

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.core.scaling import pooled_spread
    >>> pooled_spread(np.array([[1.0, 5, 0], [2, 5, 0], [4, 5, 0], [8, 5, 0], [16, 5, 9]]))
    array([3., 1., 9.])
    """
    masses = None
    checked = check_weights(weights, len(points))
    if checked is not None:
        points, checked = points[checked > 0], checked[checked > 0]
        masses = exact_masses(checked)
    # A column at a time: never more than a few numbers a row beside the sample itself.
    return np.array(
        [_spread(np.ascontiguousarray(column, np.float64), masses) for column in points.T]
    )


def spread_of_samples(
    samples: Sequence[np.ndarray], weights: Sequence[np.ndarray | None]
) -> np.ndarray:
    """The spread of each column in several samples together, of shape (d,).

    Each sample counts for as many rows as it has, whatever its weights add up to.
    """
    if all(w is None for w in weights):
        return pooled_spread(np.concatenate(samples))
    shares = []
    for points, w in zip(samples, weights, strict=True):
        if w is None:
            shares.append(np.ones(len(points)))
        else:
            # Divided by the largest first: no sum overflows.
            relative = w / w.max()
            shares.append(relative * (np.count_nonzero(w) / relative.sum()))
    return pooled_spread(np.concatenate(samples), np.concatenate(shares))


def check_scale(scale: Any, width: int | None = None) -> np.ndarray:
    """Check an array of scales, one positive number a column, where its number is known."""
    try:
        array = to_array(scale, "scale")
        if array.dtype.kind not in "biuf":
            raise TypeError(f"dtype {array.dtype}")
        array = array.astype(np.float64)
    except (InvalidInputError, TypeError, ValueError):
        raise InvalidOptionError(
            "scale must be None, 'pooled', 'reference' or an array of one positive number for "
            f"each column, got {scale!r:.80}"
        ) from None
    if array.ndim != 1 or len(array) == 0:
        raise InvalidOptionError(
            f"scale must hold one number for each column, got {describe(array)}; a single number "
            "for all columns does not change how they compare"
        )
    bad = ~(np.isfinite(array) & (array > 0))
    if bad.any():
        at = int(bad.argmax())
        raise InvalidOptionError(
            f"scale must be positive and finite in every column, got {array[at]:g} for column "
            f"{at}; use 1 for a column that is to stay as it is"
        )
    if width is not None:
        check_scale_width(array, width)
    return array


def check_scale_width(scale: np.ndarray, width: int) -> None:
    """Check that there is a scale for every column."""
    if len(scale) != width:
        raise InvalidInputError(
            f"scale must hold one number for each of the {width} columns, got {len(scale)}"
        )


def scaled(points: np.ndarray, scale: np.ndarray, name: str, columns: Any = None) -> np.ndarray:
    """Points (n, d) with each column divided by its scale (d,), in the precision they have."""
    check_scale_width(scale, points.shape[1])
    out = np.empty(points.shape, points.dtype)
    with np.errstate(over="ignore"):
        np.divide(points, scale, out=out, casting="same_kind")
    check_finite(out, f"{name} divided by scale", False, columns)
    return out


def warn_of_different_spreads(
    x: np.ndarray, y: np.ndarray, columns: tuple[str, ...] | None
) -> None:
    """Warn where one column of two samples (n, d), (m, d) spreads far more widely than another."""
    if x.shape[1] == 1:
        return
    rows = np.concatenate([part[:: -(-len(part) // _ROWS_FOR_WARNING)] for part in (x, y)])
    varied = np.flatnonzero((rows != rows[0]).any(axis=0))
    if len(varied) < 2:
        return
    spread = pooled_spread(rows[:, varied])
    if not spread.max() / _WIDE > spread.min():
        return
    labels = columns or column_labels(x.shape[1])
    widest, narrowest = (labels[varied[at]] for at in (spread.argmax(), spread.argmin()))
    warnings.warn(
        f"the columns have very different spreads: {spread.max():.3g} in {widest} and "
        f"{spread.min():.3g} in {narrowest}, so that the former decides alone; scale='pooled' "
        "compares every column in units of its own spread",
        ScaleWarning,
        stacklevel=5,
    )


def _spread(column: np.ndarray, masses: np.ndarray | None) -> float:
    deviations = np.abs(column - _median(column, masses))
    spread = _median(deviations, masses)
    if spread > 0:
        return spread
    positive = deviations > 0
    if not positive.any():
        return 1.0
    return _median(deviations[positive], None if masses is None else masses[positive])


def _median(numbers: np.ndarray, masses: np.ndarray | None) -> float:
    return float(_core.quantile(numbers[None], 0.5, masses)[0])
