"""Two samples and their nested regions, in the plane that shows the difference best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.data.arrays import column_labels
from isodepth.errors import InvalidInputError
from isodepth.plot.plane import difference_plane
from isodepth.plot.style import FIRST, SECOND, dress, legend_below, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: The regions drawn, as shares of the levels that enter the distance.
SHARES = (0.25, 0.5, 0.75, 1.0)
_MOST_POINTS = 1500
_FEW_POINTS = 300
# Characters of a mixture of columns along an axis.
_LONGEST_MIXTURE = 46
_SIDES = ((FIRST, "o", "solid", "x"), (SECOND, "^", "dashed", "+"))
# Margin around the regions, as a share of their extent.
_MARGIN = 0.2
_ANGLES = 360


def nested_regions(
    comparison: Any, ax: Axes | None = None, *, names: Sequence[str] = ("X", "Y")
) -> Axes:
    """Draw two samples with their nested regions in the plane that shows the difference best.

    The plane is spanned by the direction of the largest mean squared gap and the best one
    orthogonal to it (of two columns it is their plane; one column is refused). Regions of
    four levels are drawn as they look from there; mixtures of columns are measured from the center
    of the first sample. Rows that the distance leaves out, the outermost
    share eps of each sample, are crosses; rows that lie outside the frame are counted in a note.

    Parameters
    ----------
    comparison : Comparison
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    names : pair of str
        What to call the two samples.

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
    called = [short(name) for name in names]
    if len(called) != 2:
        raise InvalidInputError(f"names must be those of the two samples, got {len(called)}")
    basis = difference_plane(comparison)
    ax = ax or new_axes(7.2, 6.2)
    center = np.zeros(2)
    if len(basis) > 2:  # mixtures are measured from the mean of the deepest half of X
        first = comparison.regions[0]
        center = first.points[first.inside(0.5)].mean(axis=0) @ basis
    directions = plane_directions()
    chosen = chosen_levels(comparison)
    corners = []
    for side, (color, _, style, _) in enumerate(_SIDES):
        supports = _supports(comparison, side, directions @ basis.T, chosen)
        for place, row in enumerate(supports):
            polygon = outline(row, directions) - center
            corners.append(polygon)
            ax.fill(*polygon.T, facecolor=color, alpha=0.07, linewidth=0, zorder=2)
            closed = np.concatenate([polygon, polygon[:1]])
            last = place == len(chosen) - 1
            ax.plot(
                *closed.T, color=color, linestyle=style, linewidth=1.8 if last else 1.0, zorder=4
            )
    every = np.concatenate(corners)
    low, high = every.min(axis=0), every.max(axis=0)
    margin = _MARGIN * np.where(high > low, high - low, max(float((high - low).max()), 1.0))
    low, high = low - margin, high + margin
    for side, name in enumerate(called):
        points = comparison.regions[side].points.astype(float, copy=False) @ basis - center
        beyond = int(((points < low) | (points > high)).any(axis=1).sum())
        _draw_rows(ax, comparison, side, points, beyond, name)
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    across, up = _axis_labels(comparison, basis)
    dress(ax, "The two samples and their regions", x=across, y=up, grid=None)
    *most, widest = [f"{level:.0%}" for level in chosen]
    title = f"regions of the deepest {', '.join(most)} and {widest} of the rows"
    legend_below(ax, title=title, title_fontsize="small", handletextpad=0.2)
    return ax


def chosen_levels(comparison: Any) -> np.ndarray:
    """The levels of the regions that are drawn, all of them among those of the distance."""
    return np.array(SHARES) * _starts(comparison).max()


def _starts(comparison: Any) -> np.ndarray:
    """The levels (L,) of the distance; of pieces, where each begins."""
    levels = np.asarray(comparison.levels, dtype=float)
    return levels if levels.ndim == 1 else levels[:, 0]


def _supports(comparison: Any, side: int, directions: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Support values (levels, directions) of one sample, as the distance takes them."""
    starts = _starts(comparison)
    places = np.clip(np.searchsorted(starts, chosen, side="right") - 1, 0, len(starts) - 1)
    units = directions.astype(comparison.regions[side].points.dtype, copy=False)
    each = [comparison.supports(side, units, slice(place, place + 1))[0] for place in places]
    return np.array(each)[:, : len(directions)]


def _draw_rows(
    ax: Axes, comparison: Any, side: int, points: np.ndarray, beyond: int, name: str
) -> None:
    """The rows of one sample, at `points` (n, 2) of the plane; so many lie beyond the frame."""
    color, marker, _, cross = _SIDES[side]
    regions = comparison.regions[side]
    every = -(-len(points) // _MOST_POINTS)
    drawn = np.arange(len(points)) % every == 0
    kept = np.isin(np.arange(len(points)), regions.inside(float(_starts(comparison).max())))
    size = 5 if len(points) <= _FEW_POINTS else 3
    note = f"{len(points)} rows" if every == 1 else f"{len(points)} rows, one in {every} drawn"
    if beyond:
        note += f", {beyond} outside the frame"
    ax.plot(
        *points[drawn & kept].T, marker, color=color, markersize=size, alpha=0.45, linestyle="none",
        markeredgewidth=0, zorder=3, label=f"{name} ({note})", rasterized=True,
    )  # fmt: skip
    ax.plot(
        *points[drawn & ~kept].T, cross, color=color, markersize=size + 1, alpha=0.7,
        linestyle="none", markeredgewidth=0.9, zorder=3, rasterized=True,
        label=f"{name}, outermost rows: left out",
    )  # fmt: skip


def _axis_labels(comparison: Any, basis: np.ndarray) -> tuple[str, str]:
    names = comparison.columns or column_labels(len(basis))
    scaled = getattr(comparison.regions[0].origin, "scale", None) is not None
    units = " (in units of its spread)" if scaled else ""
    if len(basis) == 2:
        return f"{short(names[0])}{units}", f"{short(names[1])}{units}"
    largest = _mixture(names, basis[:, 0])
    # A long one would not fit beside what it is.
    across = f"along the largest difference:{chr(10) if len(largest) > 25 else ' '}{largest}"
    return across, f"the next largest:\n{_mixture(names, basis[:, 1])}"


def _mixture(names: Sequence[str], direction: np.ndarray) -> str:
    """The columns that a direction is made of, as far as they can be seen."""
    order = np.argsort(-np.abs(direction), kind="stable")
    text, rest = "", 1.0
    for j in order[:3]:
        term = f"{direction[j]:+.2f} {short(names[j], 20)}".replace("-", "−", 1)
        if text and (abs(direction[j]) < 0.1 or len(text) + len(term) > _LONGEST_MIXTURE):
            break
        text, rest = f"{text} {term}".strip(), rest - float(direction[j] ** 2)
    return f"{text} + …" if rest > 0.02 else text


def plane_directions() -> np.ndarray:
    """Unit vectors (360, 2) all around."""
    angles = 2 * np.pi * np.arange(_ANGLES) / _ANGLES
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def outline(supports: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Corners (k, 2) of the region {z : <z, u> <= h(u) for all u}, in order around it.

    Parameters
    ----------
    supports : ndarray of shape (B,)
        h(u) for each direction. Where no point satisfies all of them (supports that are quantiles
        need not be of a convex set), those that fit least are loosened as little as it takes.
    directions : ndarray of shape (B, 2), unit vectors all around

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
        # Rounding leaves a region that is a point or a segment.
        if height.min() > 0:
            height = height - height.min()
        inside = height <= 0
        if inside.all():
            continue
        after, next_height = np.roll(corners, -1, axis=0), np.roll(height, -1)
        crosses = inside != (next_height <= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = corners + (height / (height - next_height))[:, None] * (after - corners)
        # Each corner that is inside, and after it the cut of an edge that leaves or enters.
        both = np.stack([corners, cuts], axis=1)
        corners = both[np.stack([inside, crosses], axis=1)]
    return corners
