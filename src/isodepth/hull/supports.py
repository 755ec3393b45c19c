"""Gaps of support functions along given directions: what they attain bounds the supremum below."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isodepth.data.validation import check_direction_rows
from isodepth.hull.frame import NestedPair, nested_pair

_BLOCK_ELEMENTS = 1 << 21


def hausdorff_lower(
    first: ArrayLike,
    second: ArrayLike,
    prefix_sizes_first: ArrayLike,
    prefix_sizes_second: ArrayLike,
    directions: ArrayLike,
) -> tuple[np.ndarray, np.ndarray]:
    """Largest gap that given directions attain at each level, both u and -u.

    Parameters
    ----------
    first, second, prefix_sizes_first, prefix_sizes_second
        As in :func:`hausdorff_levels`.
    directions : array-like of shape (K, d)

    Returns
    -------
    gaps : ndarray of shape (L,)
    directions : ndarray of shape (L, d)
        The unit vectors that attain them.

    Examples
    --------
    >>> from isodepth.hull import hausdorff_lower
    >>> gaps, _ = hausdorff_lower([[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]], [1, 2], [1, 1], [[0, 1]])
    >>> gaps.tolist()
    [0.0, 4.0]
    """
    pair = nested_pair(first, second, prefix_sizes_first, prefix_sizes_second)
    gaps, where, _ = largest_gaps(pair, directions)
    return pair.frame.lengths(gaps), where


def largest_gaps(
    pair: NestedPair, directions: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Try every direction u, and -u, on every level.

    Returns
    -------
    gaps : (L,) largest gap of each level, in lengths of the frame
    where : (L, d) unit vectors that attain it, of the caller
    from_first : bool (L,) whether the first hull reaches further along it
    """
    units = check_direction_rows(directions, pair.frame.dimension)
    first, second = pair.frame.first, pair.frame.second
    n_levels = len(pair.prefix_sizes_first)
    gaps, found = np.full(n_levels, -1.0), np.zeros(n_levels, dtype=np.int64)
    signs, from_first = np.ones(n_levels), np.zeros(n_levels, dtype=bool)
    block = max(1, _BLOCK_ELEMENTS // (len(first) + len(second)))
    for start in range(0, len(units), block):
        vectors = pair.frame.covectors(units[start : start + block]).T
        along_first, along_second = first @ vectors, second @ vectors
        for sign, reach in ((1.0, np.maximum), (-1.0, np.minimum)):
            ahead = sign * (
                reach.accumulate(along_first)[pair.prefix_sizes_first - 1]
                - reach.accumulate(along_second)[pair.prefix_sizes_second - 1]
            )
            best = np.abs(ahead).argmax(axis=1)
            value = ahead[np.arange(n_levels), best]
            better = np.abs(value) > gaps
            gaps[better] = np.abs(value)[better]
            found[better] = start + best[better]
            signs[better] = sign
            from_first[better] = value[better] > 0
    return gaps, signs[:, None] * units[found], from_first
