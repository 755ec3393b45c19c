"""From a raw chunk to rows: what `check_points`, `omit_missing` and weights are in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isodepth.chunked.rows import NO_MASSES, Rows
from isodepth.chunked.sources import Chunk
from isodepth.chunked.weights import MassRule
from isodepth.core.scaling import scaled
from isodepth.data.arrays import check_finite, to_float
from isodepth.errors import InvalidInputError


@dataclass(frozen=True)
class Preparation:
    """How raw chunks of a source become rows.

    Attributes
    ----------
    n_features : int
    columns : tuple of str or None
    dtype : {"float32", "float64"}
    weighted : bool
        Whether the last column holds weights.
    nan_policy : {"raise", "omit"}
    scale : ndarray of shape (d,) or None
    rule : MassRule or None
        How weights become masses; None while that is not known.
    checked : bool
        Whether all values are known to be finite, from an earlier pass.
    """

    n_features: int
    columns: tuple[str, ...] | None
    dtype: str
    weighted: bool
    nan_policy: str
    scale: np.ndarray | None = None
    rule: MassRule | None = None
    checked: bool = False

    def later(self, rule: MassRule | None = None) -> Preparation:
        """The same for passes over data that have been looked at once."""
        return replace(self, rule=rule or self.rule, checked=True)

    def split(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Points (n, d), weights (n,) or None, and which rows (m,) have a missing value, or None.

        Rows with a missing value are left out where `nan_policy` says so.
        """
        values, place, _ = chunk
        width = self.n_features + self.weighted
        if values.ndim != 2 or values.shape[1] != width:
            raise InvalidInputError(
                f"{place} has shape {values.shape}, and {width} columns are expected; all chunks "
                "must have the same columns"
            )
        weights = None
        if self.weighted:
            weights, values = np.array(values[:, -1], dtype=np.float64), values[:, :-1]
        points = to_float(values, place, self.dtype)
        missing = None
        if self.nan_policy == "omit":
            missing = np.isnan(points)
            kept = ~missing.any(axis=1)
            if not kept.all():
                points = points[kept]
                weights = None if weights is None else weights[kept]
        if not self.checked and len(points):
            hint = "" if self.nan_policy == "omit" else _HINT
            _check(points, place, chunk.first, self.columns, hint)
            if weights is not None:
                _check_weights(weights, place)
        return points, weights, missing

    def rows(self, chunk: Chunk) -> Rows:
        """The rows of a chunk, those of weight zero left out."""
        points, weights, _ = self.split(chunk)
        return self.finish(points, weights, chunk.place)

    def finish(self, points: np.ndarray, weights: np.ndarray | None, place: str) -> Rows:
        """Rows of points (n, d) and weights (n,) that have been split."""
        masses = NO_MASSES
        if weights is not None:
            assert self.rule is not None
            present = weights > 0
            if not present.all():
                points, weights = points[present], weights[present]
            masses = self.rule.masses(weights)
        if self.scale is not None and len(points):
            points = scaled(points, self.scale, place, self.columns)
        # Adding zero turns -0.0 into 0.0, and gives a copy that nobody else holds.
        return Rows(np.ascontiguousarray(points + points.dtype.type(0)), masses)


_HINT = ", or leave out these rows with nan_policy='omit'"


def _check(
    points: np.ndarray, place: str, first: int, columns: tuple[str, ...] | None, hint: str
) -> None:
    where = place if not first else f"{place}, from row {first} on,"
    check_finite(points, where, False, columns, hint)


def _check_weights(weights: np.ndarray, place: str) -> None:
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        raise InvalidInputError(
            f"the weights in {place} must be finite and not negative, got {weights[bad][0]} at "
            f"row {int(bad.argmax())}; drop these rows or give them weight 0"
        )


def preparation_of(source: Any, options: Any, scale: np.ndarray | None) -> Preparation:
    """How the chunks of a source are prepared under the options of a metric."""
    return Preparation(
        n_features=source.n_features,
        columns=source.columns,
        dtype=options["dtype"] or source.dtype,
        weighted=source.weighted,
        nan_policy=options["nan_policy"],
        scale=scale,
    )
