"""Brackets of the Hausdorff distances of nested hulls, rounding included."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isodepth.data.validation import check_number
from isodepth.hull.levels import LevelBounds, level_bounds
from isodepth.hull.nested import nested_pair


def hausdorff_bracket(
    first: ArrayLike,
    second: ArrayLike,
    stops_first: ArrayLike,
    stops_second: ArrayLike,
    *,
    tolerance: float = 0.02,
    initial_directions: ArrayLike | None = None,
) -> LevelBounds:
    """Bracket the Hausdorff distance of each level between a value attained and one never exceeded.

    A point of one hull is at most as far from the other hull as from any point known to be in it.
    Such points are improved until the largest of those distances is within the tolerance of the
    largest gap that some direction attains. What rounding may have changed is added on both sides.

    Parameters
    ----------
    first, second, stops_first, stops_second, initial_directions
        As in :func:`hausdorff_levels`.
    tolerance : float in [0, 1)
        The bounds of a level differ by about this share of its distance at most. Larger is
        cheaper.

    Returns
    -------
    LevelBounds
        ``lower``, ``upper``, ``directions`` and ``from_first``.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.hull import hausdorff_bracket, hausdorff_levels
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(30, 8)), rng.normal(size=(40, 8)) + 1
    >>> exact, _ = hausdorff_levels(x, y, [10, 30], [20, 40])
    >>> bounds = hausdorff_bracket(x, y, [10, 30], [20, 40], tolerance=0.1)
    >>> bool((bounds.lower <= exact).all() and (exact <= bounds.upper).all())
    True
    >>> bool((bounds.upper <= 1.12 * bounds.lower).all())
    True
    """
    from isodepth.hull.nearest_loops import EXACT

    slack = max(check_number(tolerance, "tolerance", 0.0, 1.0, high_open=True), EXACT)
    pair = nested_pair(first, second, stops_first, stops_second)
    bounds = level_bounds(pair, slack, initial_directions)
    # The exact routine stops at a relative gap of its own, so the bracket is wider by as much.
    margin = pair.frame.lengths(pair.rounding()) + 2 * EXACT * bounds.upper
    return bounds._replace(
        lower=np.maximum(bounds.lower - margin, 0.0), upper=bounds.upper + margin
    )


def hausdorff_upper(
    first: ArrayLike,
    second: ArrayLike,
    stops_first: ArrayLike,
    stops_second: ArrayLike,
    *,
    tolerance: float = 0.02,
    initial_directions: ArrayLike | None = None,
) -> np.ndarray:
    """Upper bounds (L,) of the Hausdorff distance of each level: see :func:`hausdorff_bracket`.

    Examples
    --------
    >>> from isodepth.hull import hausdorff_upper
    >>> bounds = hausdorff_upper([[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]], [1, 2], [1, 1])
    >>> bounds.round(9).tolist()
    [0.0, 5.0]
    """
    return hausdorff_bracket(
        first,
        second,
        stops_first,
        stops_second,
        tolerance=tolerance,
        initial_directions=initial_directions,
    ).upper
