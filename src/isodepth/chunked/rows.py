"""Rows of a chunk, ready for a pass: checked, without missing values, with integer weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.sources import Chunk, Source
from isodepth.core.scaling import scaled
from isodepth.core.weights import TOTAL_BITS, exact_masses
from isodepth.data.validation import OMIT_HINT, check_finite, to_float
from isodepth.errors import InvalidInputError


class Rows(NamedTuple):
    """Checked rows of a chunk, those of weight zero left out.

    Attributes
    ----------
    points : ndarray of shape (n, d), C-contiguous
    weights : float64 ndarray of shape (n,) or None, as given
    masses : int64 ndarray of shape (n,), or None where each is one or they are not known yet
    numbers : int64 ndarray of shape (n,)
        The number of each row in its source.
    n_read, n_complete : int
        Rows as they were read, and those without a missing value.
    missing : ndarray of shape (d,) or None
        How many values were missing in each column.
    checksum : int
        Of all values: the sum of their bits.
    """

    points: np.ndarray
    weights: np.ndarray | None
    masses: np.ndarray | None
    numbers: np.ndarray
    n_read: int
    n_complete: int
    missing: np.ndarray | None
    checksum: int


@dataclass(frozen=True)
class MassRule:
    """How weights become integers in proportion: by a table, or times a power of two.

    Attributes
    ----------
    weights, masses : ndarrays of shape (k,), or None
        All distinct weights, rising, and their masses.
    factor, exponent : float, int
        Where there is no table weights times factor * 2**exponent are rounded.
    """

    weights: np.ndarray | None
    masses: np.ndarray | None
    factor: float = 1.0
    exponent: int = 0

    def of(self, weights: np.ndarray) -> np.ndarray:
        """Masses (n,), int64, of positive weights (n,)."""
        if self.weights is None or self.masses is None:
            integers = np.rint(np.ldexp(weights * self.factor, self.exponent))
            return np.maximum(integers, 1).astype(np.int64)
        places = np.searchsorted(self.weights, weights).clip(max=len(self.weights) - 1)
        return self.masses[places]


class WeightTotals:
    """The weights of a sample: the distinct ones with their counts, while they are few."""

    #: More distinct weights than this are not kept.
    MOST_DISTINCT = 1 << 16

    def __init__(self) -> None:
        self.distinct: np.ndarray | None = np.empty(0)
        self.counts = np.empty(0, dtype=np.int64)
        self.n, self.sum, self.largest = 0, 0.0, 0.0

    def add(self, weights: np.ndarray, counts: np.ndarray | None = None) -> None:
        """Take in positive weights (n,), each of which stands for so many rows."""
        own = np.ones(len(weights), dtype=np.int64) if counts is None else counts
        self.n += int(own.sum())
        self.sum += float((weights * own).sum())
        self.largest = max(self.largest, float(weights.max(initial=0.0)))
        if self.distinct is None:
            return
        joined = np.concatenate([self.distinct, weights])
        self.distinct, inverse = np.unique(joined, return_inverse=True)
        total = np.zeros(len(self.distinct), dtype=np.int64)
        np.add.at(total, inverse, np.concatenate([self.counts, own]))
        self.counts = total
        if len(self.distinct) > self.MOST_DISTINCT:
            self.distinct = None

    def merge(self, other: WeightTotals) -> None:
        """Take in what another has seen."""
        if other.distinct is not None:
            self.add(other.distinct, other.counts)
            return
        self.distinct = None
        self.n, self.sum = self.n + other.n, self.sum + other.sum
        self.largest = max(self.largest, other.largest)


def mass_rules(totals: list[WeightTotals], shared: bool = False) -> list[MassRule]:
    """How the weights of one sample, or of several together, become masses.

    With `shared` each sample counts for as many rows as it has, whatever its weights add up to.
    """
    distinct = [one.distinct for one in totals if one.distinct is not None]
    if len(distinct) == len(totals):
        weights = [_shares(one) for one in totals] if shared else distinct
        counts = np.concatenate([one.counts for one in totals])
        masses = np.split(
            exact_masses(np.concatenate(weights), counts), np.cumsum([len(w) for w in weights])[:-1]
        )
        return [MassRule(one.distinct, own) for one, own in zip(totals, masses, strict=True)]
    factors = [one.n / one.sum if shared else 1.0 for one in totals]
    total = sum(one.sum * factor for one, factor in zip(totals, factors, strict=True))
    exponent = TOTAL_BITS - int(np.frexp(total)[1])
    return [MassRule(None, None, factor, exponent) for factor in factors]


def _shares(totals: WeightTotals) -> np.ndarray:
    """Distinct weights so that those of all rows add up to the number of rows."""
    assert totals.distinct is not None
    relative = totals.distinct / totals.largest
    return relative * (totals.n / (relative * totals.counts).sum())


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

    @classmethod
    def of(cls, source: Source, options: Any, scale: np.ndarray | None) -> Preparation:
        """How the chunks of a source are prepared under the options of a metric."""
        return cls(
            source.n_features, source.columns, options["dtype"] or source.dtype, source.weighted,
            options["nan_policy"], scale,
        )  # fmt: skip

    def later(self, rule: MassRule | None = None) -> Preparation:
        """The same for passes over data that have been looked at once."""
        return replace(self, rule=rule or self.rule, checked=True)

    def rows(self, chunk: Chunk, start: int) -> Rows:
        """The rows of a chunk, the first of which has the number `start`."""
        points, weights = self.split(chunk)
        n_read, missing = len(points), None
        numbers = np.arange(start, start + n_read)
        if self.nan_policy == "omit":
            holes = np.isnan(points)
            missing = holes.sum(axis=0)
            if missing.any():
                kept = ~holes.any(axis=1)
                points, numbers = points[kept], numbers[kept]
                weights = None if weights is None else weights[kept]
        n_complete = len(points)
        if not self.checked:
            self.check(points, weights, chunk)
        # Adding zero turns -0.0 into 0.0, and gives a copy that nobody else holds.
        points = np.ascontiguousarray(points + points.dtype.type(0))
        checksum = int(points.view(f"u{points.itemsize}").sum(dtype=np.uint64))
        if weights is not None and not (weights > 0).all():
            present = weights > 0
            points, weights, numbers = points[present], weights[present], numbers[present]
        if self.scale is not None and len(points):
            points = scaled(points, self.scale, chunk.place, self.columns)
        masses = None
        if self.rule is not None:
            masses = self.rule.of(np.ones(len(points)) if weights is None else weights)
        return Rows(points, weights, masses, numbers, n_read, n_complete, missing, checksum)

    def split(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray | None]:
        """Points (n, d), and weights (n,) or None, as they were read."""
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
        return to_float(values, place, self.dtype), weights

    def check(self, points: np.ndarray, weights: np.ndarray | None, chunk: Chunk) -> None:
        """Raise unless all values are finite, and weights not negative."""
        if not len(points):
            return
        place, first = chunk.place, chunk.first
        hint = "" if self.nan_policy == "omit" else OMIT_HINT
        where = place if not first else f"{place}, from row {first} on,"
        check_finite(points, where, False, self.columns, hint)
        bad = np.zeros(1, bool) if weights is None else ~(np.isfinite(weights) & (weights >= 0))
        if weights is not None and bad.any():
            raise InvalidInputError(
                f"the weights in {place} must be finite and not negative, got {weights[bad][0]} at "
                f"row {int(bad.argmax())}; drop these rows or give them weight 0"
            )
