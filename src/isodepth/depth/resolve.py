"""What `depth=` may be: a name, a depth, any estimator that scores points, or a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from isodepth.core.sample import Sample
from isodepth.depth import BY_NAME
from isodepth.depth.base import Depth
from isodepth.engine.threads import Resources
from isodepth.errors import InvalidInputError, InvalidOptionError


class DepthSource(Protocol):
    """The one thing a metric asks of a depth."""

    @property
    def tie_tolerance(self) -> float:
        """Depths closer than this are one depth."""

    def warn_if_uninformative(self, *samples: Sample) -> None:
        """Say so where the depth cannot order the points of a sample."""

    def all_depths(
        self,
        sample: Sample,
        points: np.ndarray,
        weights: np.ndarray | None,
        directions: np.ndarray,
        resources: Resources,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Depths of the distinct points, and of the rows as given."""


class ForeignDepth:
    """Depths computed by something that is not ours, for the rows as the caller gave them."""

    tie_tolerance = 1e-12

    def __init__(self, score: Callable[[np.ndarray, np.ndarray | None], Any], name: str) -> None:
        self.score = score
        self.name = name

    def warn_if_uninformative(self, *samples: Sample) -> None:
        """Nothing is known of a foreign depth."""

    def all_depths(
        self,
        sample: Sample,
        points: np.ndarray,
        weights: np.ndarray | None,
        directions: np.ndarray,
        resources: Resources,
    ) -> tuple[np.ndarray, np.ndarray]:
        result = np.asarray(self.score(points, weights))
        if result.shape != (len(points),) or result.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"depth {self.name} must give one number for each of the {len(points)} rows, got "
                f"shape {result.shape} and dtype {result.dtype}"
            )
        depths = result.astype(np.float64)
        if not np.isfinite(depths).all():
            raise InvalidInputError(
                f"depth {self.name} gave {int((~np.isfinite(depths)).sum())} NaN or infinite "
                f"value(s), the first for row {int((~np.isfinite(depths)).argmax())}; depths must "
                "be finite"
            )
        present = sample.inverse >= 0
        distinct = np.full(sample.n_points, -np.inf)
        # Equal rows count as one point, whatever the scores say.
        np.maximum.at(distinct, sample.inverse[present], depths[present])
        return distinct, np.where(present, distinct[sample.inverse], depths)


def resolve_depth(depth: Any) -> DepthSource:
    """The depth that a user's `depth=` stands for, with its settings checked."""
    if isinstance(depth, str):
        if depth not in BY_NAME:
            raise InvalidOptionError(
                f"depth must be one of {', '.join(BY_NAME)}, a depth estimator or a callable that "
                f"gives one depth for each row; got {depth!r}"
            )
        return BY_NAME[depth]()
    if isinstance(depth, type) and issubclass(depth, Depth):
        return depth()
    if isinstance(depth, Depth):
        depth.check_options()
        return depth
    name = getattr(depth, "__name__", type(depth).__name__)
    if hasattr(depth, "fit") and hasattr(depth, "score_samples"):
        return ForeignDepth(_estimator_scores(depth), name)
    if callable(depth):
        return ForeignDepth(lambda X, w: depth(X) if w is None else depth(X, w), name)
    raise InvalidOptionError(
        f"depth must be one of {', '.join(BY_NAME)}, a depth estimator (with fit and "
        f"score_samples) or a callable that gives one depth for each row; got {depth!r}"
    )


def _estimator_scores(estimator: Any) -> Callable[[np.ndarray, np.ndarray | None], Any]:
    def score(points: np.ndarray, weights: np.ndarray | None) -> Any:
        from sklearn.base import clone

        fresh = clone(estimator)
        if weights is None:
            return fresh.fit(points).score_samples(points)
        return fresh.fit(points, sample_weight=weights).score_samples(points)

    return score
