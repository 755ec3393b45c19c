"""Conversion of the option `depth` to a depth object.

The option is a name, a depth of this package, an estimator with `score_samples`, or a function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.base.export import equal_values
from isodepth.base.options import must, suggested_value
from isodepth.base.words import describe
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.geometry.depth import BY_NAME
from isodepth.geometry.depth.base import (
    TAKEN_OVER,
    Depth,
    DepthSource,
    custom_text,
    depth_text,
    plain_name,
)
from isodepth.geometry.regions import Sample


class CustomDepth(DepthSource):
    """Depth that is computed by an estimator or a function of the user.

    Parameters
    ----------
    depth : estimator or function
        An estimator has methods `fit` and `score_samples`. A function is called with the points and
        their weights, or with the points alone if all weights are equal.
    """

    _tie_tolerance = 1e-12

    def __init__(self, depth: Any) -> None:
        self.depth = depth
        self._name = plain_name(depth)

    def _text(self) -> str:
        return custom_text(self.depth)

    def _all_depths(self, sample: Sample, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        points = sample.rows
        result = np.asarray(self._score(points, sample.weights))
        if result.shape != (len(points),) or result.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"depth {self._name} must return one number for each of {len(points)} rows, got "
                f"shape {result.shape} and dtype {result.dtype}"
            )
        depths = result.astype(np.float64)
        if not np.isfinite(depths).all():
            bad = ~np.isfinite(depths)
            raise InvalidInputError(
                f"depth {self._name} returned NaN or infinity for {int(bad.sum())} of {len(bad)} "
                f"rows, first for row {int(bad.argmax())}; depths must be finite"
            )
        present = sample.inverse >= 0
        distinct = np.full(sample.n_points, -np.inf)
        # Equal rows are one point. If the user's depth differs between equal rows, the maximum is
        # the depth of the point.
        np.maximum.at(distinct, sample.inverse[present], depths[present])
        return distinct, np.where(present, distinct[sample.inverse], depths)

    def _depths(self, sample: Any, directions: np.ndarray) -> np.ndarray:
        return self._all_depths(sample, directions)[0]

    def _score(self, points: np.ndarray, weights: np.ndarray | None) -> Any:
        if not _is_estimator(self.depth):
            # The array is read-only, so that the function cannot change the data of the caller.
            points = points.view()
            points.flags.writeable = False
            return self.depth(points) if weights is None else self.depth(points, weights)
        # Fit a copy of the estimator, because several threads may use the same estimator.
        options = {} if weights is None else {"sample_weight": weights}
        return _cloned(self.depth).fit(points, **options).score_samples(points)


def resolve_depth(depth: Any) -> DepthSource:
    """Convert the option `depth` to a depth object, and check the settings of a built-in depth.

    Settings of a depth that have no effect on a distance must have their default values.
    """
    if isinstance(depth, str) and depth in BY_NAME:
        return BY_NAME[depth]()
    if isinstance(depth, Depth):
        depth._check_options()
        _check_without_effect(depth)
        return depth
    if _is_estimator(depth) or callable(depth):
        return CustomDepth(depth)
    others = "a depth estimator (with fit and score_samples) or a callable"
    allowed = f"be one of {', '.join(BY_NAME)}, {others} that returns one depth per row"
    raise must("depth", allowed, depth, suggested_value(depth, [*BY_NAME]))


def _check_without_effect(depth: Depth) -> None:
    """Raise an error if a setting of a depth that has no effect in a metric is not the default.

    These settings are the directions, the seed and the number of threads: a metric has its own.
    """
    defaults = type(depth)()
    for name in TAKEN_OVER:
        value = getattr(depth, name)
        if not equal_values(value, getattr(defaults, name)):
            text = repr(value) if isinstance(value, str | int) else describe(value)
            raise InvalidOptionError(
                f"{name}={text} of the depth {type(depth).__name__} has no effect, because "
                "directions, seed and threads are those of the distance; remove it from the depth, "
                f"and give {name} as an option of the distance or of Metric",
                option="depth",
            )


def private_copy(depth: Any) -> Any:
    """Return a copy of the option `depth`, so that later changes of it do not affect the metric.

    An estimator is replaced with an unfitted copy. Names and functions are returned unchanged. A
    class is refused.
    """
    if isinstance(depth, type):
        raise InvalidOptionError(
            f"depth must be an instance, got the class {depth.__name__}; pass {depth.__name__}()",
            option="depth",
        )
    return _cloned(depth) if _is_estimator(depth) else depth


def same_depth(first: DepthSource, second: DepthSource) -> bool:
    """Return whether two depths have the same definition and settings.

    An estimator or a function of the user is equal only to itself. So is a depth one of whose
    settings is such an object, for example a covariance estimator.
    """
    if isinstance(first, CustomDepth) and isinstance(second, CustomDepth):
        return first.depth is second.depth
    text = depth_text(first)
    return first is second or ("custom:" not in text and text == depth_text(second))


def _is_estimator(depth: Any) -> bool:
    return hasattr(depth, "fit") and hasattr(depth, "score_samples")


def _cloned(estimator: Any) -> Any:
    from sklearn.base import clone

    try:
        return clone(estimator)
    except (TypeError, RuntimeError) as error:
        raise InvalidOptionError(
            f"depth must be an estimator that scikit-learn can clone, got {estimator!r} ({error})"
        ) from None
