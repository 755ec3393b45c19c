"""Outlines of convex regions in a plane, from their support functions."""

from __future__ import annotations

import numpy as np

_ANGLES = 360


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
        after = np.roll(corners, -1, axis=0)
        next_height = np.roll(height, -1)
        crosses = inside != (next_height <= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = height / (height - next_height)
            cuts = corners + share[:, None] * (after - corners)
        kept = []
        for i in range(len(corners)):
            if inside[i]:
                kept.append(corners[i])
            if crosses[i]:
                kept.append(cuts[i])
        corners = np.array(kept)
    return corners
