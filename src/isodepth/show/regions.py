"""Figure of two samples and their depth-trimmed regions, in the plane of largest difference.

The region of level beta of a sample is the smallest set of its deepest rows with more than a
fraction beta of the total weight. The gap of a level is the distance between the regions of both
samples. It is computed along directions, which are unit vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.metric.comparison import Comparison
from isodepth.show.style import FIRST, SECOND, comparison_of, dress, legend_below, new_axes, short
from isodepth.significance.result import TwoSampleResult
from isodepth.table.arrays import column_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Levels of the regions that are drawn, as fractions of the largest level that enters the distance.
FRACTIONS = (0.25, 0.5, 0.75, 1.0)
_MAX_POINTS = 1500
# Maximum number of points of a sample that is drawn with large markers.
_SMALL_SAMPLE = 300
# Approximate maximum number of characters of a linear combination of columns in an axis label.
_MAX_COMBINATION = 40
_SIDES = ((FIRST, "o", "solid", "x"), (SECOND, "^", "dashed", "+"))
# Margin between the regions and the edges of the axes, as a fraction of the extent of the regions.
_MARGIN = 0.2
_ANGLES = 360
# Maximum number of directions of the comparison, and maximum number of levels, in the search for
# the plane in which two samples differ most.
_MAX_CANDIDATES, _MAX_LEVELS = 1000, 100


def nested_regions(
    result: Comparison | TwoSampleResult,
    *,
    ax: Axes | None = None,
    names: Sequence[str] = ("X", "Y"),
) -> Axes:
    """Draw two samples with their depth-trimmed regions in the plane in which they differ most.

    The gap along a direction is the difference of the support functions of two regions of the same
    level. The plane is spanned by two orthogonal directions with the largest squared gaps, averaged
    over levels. Samples with two columns are drawn without a projection, and samples with one
    column raise an error.

    Projections of the regions of four levels are drawn. With more than two columns, the origin of
    the axes is the center of the first sample. Rows that the distance ignores, the outermost
    fraction eps of each sample, are crosses. The legend has the number of rows outside the axes.

    Parameters
    ----------
    result : Comparison or TwoSampleResult
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.
    names : pair of str
        Names of the samples in the legend.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> from isodepth.plot import nested_regions
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((200, 3)), rng.standard_normal((200, 3)) + [0, 5, 0]
    >>> ax = nested_regions(isodepth.compare(X, Y, scale=None, random_state=0))
    >>> ax.get_xlabel()
    'along the largest difference: +1.00 column 1'
    """
    comparison = comparison_of(result)
    basis = difference_plane(comparison)
    ax = ax or new_axes(7.2, 6.2)
    center = np.zeros(2)
    if len(basis) > 2:  # the origin of the axes is the mean of the deepest half of the first sample
        first = comparison.regions[0]
        center = first.points[first.indices(0.5)].mean(axis=0) @ basis
    directions = plane_directions()
    levels = drawn_levels(comparison)
    corners = []
    for side, (color, _, line, _) in enumerate(_SIDES):
        for supports in _supports(comparison, side, directions @ basis.T, levels):
            polygon = outline(supports, directions) - center
            ax.fill(*polygon.T, facecolor=color, alpha=0.07, linewidth=0, zorder=2)
            closed = np.concatenate([polygon, polygon[:1]])
            ax.plot(*closed.T, color=color, linestyle=line, linewidth=1.0, zorder=4)
            corners.append(polygon)
        ax.lines[-1].set_linewidth(1.8)
    outer = np.concatenate(corners)
    low, high = outer.min(axis=0), outer.max(axis=0)
    margin = _MARGIN * np.where(high > low, high - low, max(float((high - low).max()), 1.0))
    frame = low - margin, high + margin
    for side, name in enumerate(names):
        points = comparison.regions[side].points.astype(float, copy=False) @ basis - center
        _draw_rows(ax, comparison, side, points, frame, short(name))
    ax.set_xlim(frame[0][0], frame[1][0])
    ax.set_ylim(frame[0][1], frame[1][1])
    across, up = _axis_labels(comparison, basis)
    dress(ax, "Samples and their regions", x=across, y=up, grid=None)
    *inner, outermost = [f"{level:.0%}" for level in levels]
    title = f"regions of the deepest {', '.join(inner)} and {outermost} of the rows"
    legend_below(ax, title=title, title_fontsize="small", handletextpad=0.2)
    return ax


def drawn_levels(comparison: Comparison) -> np.ndarray:
    """Return the four levels of the regions that are drawn, as fractions of the mass."""
    return np.array(FRACTIONS) * _starts(comparison).max()


def _starts(comparison: Comparison) -> np.ndarray:
    """Return the levels (L,) of a comparison, or the lower ends of its intervals of levels."""
    intervals = comparison.level_intervals
    return np.asarray(comparison.levels if intervals is None else intervals[:, 0], dtype=float)


def _supports(
    comparison: Comparison, side: int, directions: np.ndarray, levels: np.ndarray
) -> np.ndarray:
    """Return the support values (L, B) of the regions of one sample.

    They are those at `levels` (L,) along `directions` (B, d). `side` is 0 for the first sample
    and 1 for the second. Each level is rounded down to a level of the comparison.
    """
    starts = _starts(comparison)
    places = np.clip(np.searchsorted(starts, levels, side="right") - 1, 0, len(starts) - 1)
    units = directions.astype(comparison.regions[side].points.dtype, copy=False)
    each = [comparison._supports(side, units, slice(place, place + 1))[0] for place in places]
    return np.array(each)[:, : len(directions)]


def _draw_rows(
    ax: Axes, comparison: Comparison, side: int, points: np.ndarray, frame: Any, name: str
) -> None:
    """Draw the rows of one sample, given their coordinates `points` (n, 2) in the plane.

    `side` is 0 for the first sample and 1 for the second, and `name` its name in the legend.
    `frame` has the lower and the upper limits of both axes.
    """
    color, marker, _, cross = _SIDES[side]
    beyond = int(((points < frame[0]) | (points > frame[1])).any(axis=1).sum())
    step = -(-len(points) // _MAX_POINTS)
    drawn = np.arange(len(points)) % step == 0
    inside = comparison.regions[side].indices(float(_starts(comparison).max()))
    kept = np.isin(np.arange(len(points)), inside)
    size = 5 if len(points) <= _SMALL_SAMPLE else 3
    count = f"{len(points)} rows" if step == 1 else f"{len(points)} rows, one in {step} drawn"
    count += f", {beyond} outside the frame" if beyond else ""
    look: dict[str, Any] = {"color": color, "linestyle": "none", "zorder": 3, "rasterized": True}
    ax.plot(*points[drawn & kept].T, marker, markersize=size, alpha=0.45, markeredgewidth=0,
            label=f"{name} ({count})", **look)  # fmt: skip
    ax.plot(*points[drawn & ~kept].T, cross, markersize=size + 1, alpha=0.7, markeredgewidth=0.9,
            label=f"{name}, outermost rows: left out", **look)  # fmt: skip


def _axis_labels(comparison: Comparison, basis: np.ndarray) -> tuple[str, str]:
    names = comparison.columns or column_labels(len(basis))
    if len(basis) == 2:
        scale = getattr(comparison.regions[0]._origin, "scale", None)
        units = "" if scale is None else " (in units of its spread)"
        return f"{short(names[0])}{units}", f"{short(names[1])}{units}"
    largest = _combination(names, basis[:, 0])
    across = f"along the largest difference:{chr(10) if len(largest) > 25 else ' '}{largest}"
    return across, f"the next largest:\n{_combination(names, basis[:, 1])}"


def _combination(names: Sequence[str], direction: np.ndarray) -> str:
    """Format the largest entries of a direction (d,) as a string: "+0.80 temp +0.60 wind".

    `names` are the names of the columns, of which at most three occur in the string.
    """
    text, rest = "", 1.0
    for j in np.argsort(-np.abs(direction), kind="stable")[:3]:
        term = f"{direction[j]:+.2f} {short(names[j], 20)}".replace("-", "−", 1)
        if text and (abs(direction[j]) < 0.1 or len(text) + len(term) > _MAX_COMBINATION):
            break
        text, rest = f"{text} {term}".strip(), rest - float(direction[j] ** 2)
    return f"{text} + …" if rest > 0.02 else text


def plane_directions() -> np.ndarray:
    """Return unit vectors (360, 2) of the plane in steps of one degree."""
    angles = 2 * np.pi * np.arange(_ANGLES) / _ANGLES
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def outline(supports: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the corners, in order, of the polygon {z : <z, u> <= h(u) for all directions u}.

    Parameters
    ----------
    supports : ndarray of shape (B,)
        Values h(u) for each direction u. The function h need not be the support function of a
        convex set. If no point satisfies all inequalities, values of h are increased until the
        polygon is not empty.
    directions : ndarray of shape (B, 2)
        Unit vectors u on all sides of the origin.

    Examples
    --------
    >>> import numpy as np
    >>> sides = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> sorted(map(tuple, outline(np.array([2.0, 1.0, 0.0, 0.0]), sides).tolist()))
    [(0.0, 0.0), (0.0, 1.0), (2.0, 0.0), (2.0, 1.0)]
    """
    size = 2 * float(np.abs(supports).max()) + 1.0
    corners = size * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    for support, direction in zip(supports, directions, strict=True):
        height = corners @ direction - support
        # An inequality <z, u> <= h(u) that excludes the whole polygon is relaxed. Rounding can
        # cause such an inequality if the region is a point or a segment.
        height = height - max(float(height.min()), 0.0)
        inside = height <= 0
        if inside.all():
            continue
        after, next_height = np.roll(corners, -1, axis=0), np.roll(height, -1)
        crosses = inside != (next_height <= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = corners + (height / (height - next_height))[:, None] * (after - corners)
        # Clip the polygon at the line <z, u> = h(u): keep the corners on the inner side, and add a
        # corner where the line crosses an edge.
        both = np.stack([corners, cuts], axis=1)
        corners = both[np.stack([inside, crosses], axis=1)]
    return corners


# -- plane in which two samples differ most -------------------------------------------------------


def mean_squared_gaps(comparison: Comparison, directions: np.ndarray) -> np.ndarray:
    """Return the squared gaps (B,) along directions (B, d), averaged over all levels.

    The gap along a direction is the difference of the support functions of two regions of the same
    level. The squared gaps along a direction and along its opposite are averaged too. If there are
    more than 100 levels, 100 quantiles of the levels are used.
    """
    weights = comparison.level_widths
    levels: Any = slice(None)
    if len(weights) > _MAX_LEVELS:
        middles = (np.arange(_MAX_LEVELS) + 0.5) / _MAX_LEVELS
        levels = np.searchsorted(np.cumsum(weights), middles).clip(max=len(weights) - 1)
        weights = np.full(_MAX_LEVELS, 1.0 / _MAX_LEVELS)
    units = directions.astype(comparison.regions[0].points.dtype, copy=False)
    x, y = (comparison._supports(side, units, levels) for side in (0, 1))
    return (weights @ (x - y) ** 2).reshape(2, -1).mean(axis=0)


def difference_plane(comparison: Comparison) -> np.ndarray:
    """Return an orthonormal basis of the plane in which two samples differ most.

    The first vector is the candidate with the largest mean squared gap, see `mean_squared_gaps`.
    The second vector is chosen in the same way among the components of the candidates orthogonal to
    the first vector. Candidates are at most 1000 directions of the comparison, the difference of
    the centers, the coordinate axes, and two principal directions of the maximizing directions of
    all levels.

    Parameters
    ----------
    comparison : Comparison of samples of at least two columns

    Returns
    -------
    basis : ndarray of shape (d, 2), orthonormal columns
        For two columns, the axes of the data in their order.
    """
    comparison._require_rows("the plane of the difference needs")
    d = comparison.regions[0].n_features
    if d == 1:
        raise InvalidInputError(
            "regions are drawn in a plane, but these samples have one column; draw 'gap_profile' "
            "instead"
        )
    if d == 2:
        return np.eye(2)
    candidates = _candidates(comparison)
    first = _best(comparison, candidates, np.zeros((0, d)))
    second = _best(comparison, candidates, first[None])
    return np.stack([first, second], axis=1)


def _candidates(comparison: Comparison) -> np.ndarray:
    vectors = np.asarray(comparison._search_directions, dtype=float)
    vectors = vectors[:: -(-len(vectors) // _MAX_CANDIDATES)]
    x, y = (regions.points[regions.indices(0.5)].mean(axis=0) for regions in comparison.regions)
    # Two principal directions represent the maximizing directions of all levels. The maximizing
    # direction of a level is weighted by the squared gap times the width of the level.
    refined = comparison.gap_directions
    weights = comparison.level_widths * comparison.gaps**2
    principal = np.linalg.eigh(refined.T @ (refined * weights[:, None]))[1].T[-2:]
    return np.concatenate([np.eye(len(x)), vectors, (y - x).astype(float)[None], principal])


def _best(comparison: Comparison, candidates: np.ndarray, orthogonal: np.ndarray) -> np.ndarray:
    """Return the direction (d,) with the largest mean squared gap; see `mean_squared_gaps`.

    The maximum is over the components of the candidates orthogonal to the rows of `orthogonal`,
    with unit length. The entry with the largest absolute value is made positive.
    """
    candidates = _unit_parts(candidates, orthogonal)
    best = candidates[mean_squared_gaps(comparison, candidates).argmax()]
    return best * np.sign(best[np.abs(best).argmax()])


def _unit_parts(vectors: np.ndarray, orthogonal: np.ndarray) -> np.ndarray:
    """Return the components of the rows of `vectors` orthogonal to `orthogonal`, of unit length.

    The rows of `orthogonal` are orthonormal. Rows of `vectors` in their span are dropped.
    """
    for _ in range(2):  # the second pass removes rounding errors of the first pass
        vectors = vectors - vectors @ orthogonal.T @ orthogonal
        length = np.linalg.norm(vectors, axis=1)
        kept = length > 1e-6 * np.sqrt(vectors.shape[1])
        vectors = vectors[kept] / length[kept, None]
    return vectors
