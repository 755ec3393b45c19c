"""Origin: what decided the order of the points in regions, so that only like is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.depth.resolve import DepthSource, depth_key, depth_text
from isodepth.metric.signature_texts import directions_text, scale_text


@dataclass(frozen=True, eq=False)
class Origin:
    """Where regions come from.

    The power p, the share eps, the levels and the way of finding gaps do not matter to regions;
    the depth and the directions along which it is computed do.

    Attributes
    ----------
    source : DepthSource
    directions : ndarray of shape (K, d)
    family, count : str or ndarray, and int
        `directions` and `n_directions` of the metric.
    seed : str
        Its random state, as in a signature.
    scale : ndarray of shape (d,) or None
        What the columns were divided by.
    """

    source: DepthSource
    directions: np.ndarray
    family: Any
    count: int
    seed: str
    scale: np.ndarray | None = None

    @property
    def depth(self) -> str:
        """The depth with its settings, as in a signature."""
        return depth_text(self.source)

    @property
    def dirs(self) -> str:
        """Family and number of the directions, as in a signature."""
        return directions_text(self.family, self.count)

    def differences(self, other: Origin) -> list[str]:
        """What differs, each with the values of both; empty where regions can be compared."""
        if self is other:
            return []
        found = []
        if self.source is not other.source and depth_key(self.source) != depth_key(other.source):
            found.append(f"depth ({self.depth} and {other.depth})")
        if self.directions is not other.directions and not np.array_equal(
            self.directions, other.directions
        ):
            found.append(f"directions ({self._recipe} and {other._recipe})")
        if self.scale is not other.scale:
            texts = [scale_text(scale) or "none" for scale in (self.scale, other.scale)]
            if texts[0] != texts[1]:
                found.append(f"scale ({' and '.join(texts)})")
        return found

    @property
    def _recipe(self) -> str:
        return f"{self.dirs} with seed {self.seed}"
