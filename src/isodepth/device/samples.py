"""Samples that are tensors.

This module checks the tensors, merges equal rows into distinct points with integer weights
(masses), and centers and scales the points before a depth is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from isodepth.device.gaps import mean_gaps, supports
from isodepth.device.host import check_both_tensors, to_host
from isodepth.device.kernels import passes_for
from isodepth.device.ranks import mean_rank_weight
from isodepth.errors import InvalidInputError
from isodepth.geometry.backend import Backend, Queries
from isodepth.geometry.regions import SupportRows
from isodepth.geometry.transforms import column_exponents, exact_center, inverse_root, stretch_of
from isodepth.geometry.weights import exact_masses
from isodepth.table.validation import (
    check_finite,
    check_same_width,
    check_table_shape,
    check_weights,
    split_weights,
)

_SPACED_ROWS = 7
_COLUMNS_TRIED = 4


class TensorPair(NamedTuple):
    """Two validated tensors of shapes (n, d) and (m, d) on one device, with their weights."""

    x: torch.Tensor
    y: torch.Tensor
    weights: tuple[Any, Any]
    dtype: torch.dtype  # dtype of the distance
    precision: torch.dtype  # dtype of the computation, float32 or float64
    device: torch.device


def check_tensors(X: Any, Y: Any, weights: Any, dtype: str | None) -> TensorPair:
    """Check that two samples are real tensors on one device with equal numbers of columns.

    Return the samples as a pair. `dtype` is the dtype of the computation. None means float64 if a
    tensor has float64 or integers, and otherwise float32.
    """
    check_both_tensors(X, Y)
    for name, sample in (("X", X), ("Y", Y)):
        if sample.is_complex():
            raise InvalidInputError(
                f"Complex data not supported: {name} must hold real numbers, got dtype "
                f"{sample.dtype}; choose a part, such as {name}.real"
            )
        if sample.is_quantized:
            raise InvalidInputError(
                f"{name} is quantized ({sample.dtype}); pass {name}.dequantize()"
            )
        check_table_shape(tuple(sample.shape), name)
    if X.device != Y.device:
        raise InvalidInputError(
            f"X is on the device {X.device} and Y on {Y.device}; move one of them, such as "
            "Y.to(X.device)"
        )
    check_same_width(X.shape[1], Y.shape[1])
    both_weights = split_weights(weights)
    for name, w in zip("XY", both_weights, strict=True):
        if isinstance(w, torch.Tensor) and w.device != X.device:
            raise InvalidInputError(
                f"the weights of {name} are on the device {w.device} and the samples on "
                f"{X.device}; move the weights there"
            )
        if isinstance(w, torch.Tensor) and w.requires_grad:
            raise InvalidInputError(
                f"the weights of {name} require grad, but distances have no gradient with respect "
                "to weights; pass them with .detach()"
            )
    # The distance of integer tensors is float64, as for integer arrays.
    result = torch.promote_types(
        *(t.dtype if t.is_floating_point() else torch.float64 for t in (X, Y))
    )
    double = dtype == "float64" if dtype is not None else result == torch.float64
    precision = torch.float64 if double else torch.float32
    return TensorPair(X, Y, both_weights, result, precision, X.device)


@dataclass(frozen=True, eq=False)
class DeviceSample(Backend):
    """Distinct points of a sample, in any order, with their masses (integer weights).

    If no two rows are equal and no weight is zero, `points` is the input tensor, not a copy.
    `isodepth.geometry.regions.Sample` is the corresponding class on the host.
    """

    points: torch.Tensor  # u distinct points, of shape (u, d)
    masses: torch.Tensor | None  # masses (u,) of the points, int64; None if all masses are equal
    total: int  # sum of the masses, or the number of points if `masses` is None
    # Index in `points` of each of the n input rows, or -1 for a row of weight zero. None if
    # `points` has the input rows in the same order.
    inverse: torch.Tensor | None
    rows: torch.Tensor  # the n input rows, of shape (n, d)
    weights: np.ndarray | None  # weights (n,) of the rows on the host
    budget: int = 0  # bytes for blocks of projections
    locates: bool = True  # whether `level_gaps` returns the maximizing directions, for gradients

    #: The points are not the vertices of a simplex: such samples are computed on the host.
    is_simplex: ClassVar[bool] = False

    @classmethod
    def of(cls, points: torch.Tensor, weights: Any, name: str, budget: int) -> DeviceSample:
        """Return the distinct rows of `points` (n, d), which must be finite.

        The mass of a distinct row is proportional to the sum of its `weights` (n,), or to its
        number of copies if `weights` is None. Rows of weight zero are dropped. `name` is the name
        of the sample in messages. `budget` is the working memory in bytes for projections.
        """
        checked = check_weights(to_host(weights), len(points), f"weights of {name}")
        if checked is None:
            return replace(cls._merge(points, None), budget=budget)
        present = checked > 0
        masses = torch.from_numpy(exact_masses(checked[present])).to(points.device)
        if present.all():
            return replace(cls._merge(points, masses), weights=checked, budget=budget)
        kept = torch.from_numpy(np.flatnonzero(present)).to(points.device)
        merged = cls._merge(points[kept], masses)
        inverse = torch.full((len(points),), -1, dtype=torch.int64, device=points.device)
        inverse[kept] = merged.index_of_rows()
        return replace(merged, inverse=inverse, rows=points, weights=checked, budget=budget)

    @classmethod
    def _merge(cls, rows: torch.Tensor, masses: torch.Tensor | None) -> DeviceSample:
        points, inverse = rows, None
        if _has_repeats(points):
            # Adding zero converts -0.0 to 0.0, so that equal rows have equal bits.
            points, inverse = torch.unique(points + 0.0, dim=0, return_inverse=True)
            units = torch.ones_like(inverse) if masses is None else masses
            masses = inverse.new_zeros(len(points)).index_add_(0, inverse, units)
        if masses is not None and bool((masses == masses[0]).all()):
            masses = None
        total = len(points) if masses is None else int(masses.sum())
        return cls(points, masses, total, inverse, rows, None)

    def index_of_rows(self) -> torch.Tensor:
        """Return the index in `points` of each of the n input rows; -1 for rows of weight zero."""
        if self.inverse is not None:
            return self.inverse
        return torch.arange(len(self.rows), device=self.points.device)

    # -- primitives, see `Backend` ------------------------------------------------------------

    def outlyingness(self, directions: np.ndarray, queries: Queries = None) -> torch.Tensor:
        points = self.standardized()
        passes = passes_for(points, self.masses)
        units = self._units(directions)
        far = passes.largest_outlyingness(points, self.masses, self.total, units, self.budget)
        return far.double()

    def smallest_masses(self, directions: np.ndarray, queries: Queries = None) -> torch.Tensor:
        points = self.with_ranks()
        passes = passes_for(points, self.masses)
        units = self._units(directions)
        least = passes.smallest_halfspace(points, self.masses, self.total, units, self.budget)
        return least.double()

    def rank_weights(
        self, directions: np.ndarray, queries: Queries = None, white: torch.Tensor | None = None
    ) -> torch.Tensor:
        points = self.with_ranks() if white is None else white
        units = self._units(directions)
        return mean_rank_weight(points, self.masses, self.total, units, self.budget)

    def descending(self, depths: torch.Tensor) -> tuple[torch.Tensor, np.ndarray]:
        falling, order = depths.sort(descending=True, stable=True)
        return order, falling.cpu().numpy()

    def cumulated_masses(self, order: torch.Tensor) -> np.ndarray | None:
        return None if self.masses is None else self.masses[order].cumsum(0).cpu().numpy()

    def ordered(self, order: torch.Tensor) -> torch.Tensor:
        return self.points[order]

    def level_gaps(
        self, x: torch.Tensor, y: torch.Tensor, plan: Any, directions: np.ndarray, q: float,
        resources: Any = None,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        first, second = (self.from_host(each) for each in plan.prefix_sizes)
        units = self._units(directions)
        x, y = (rows[: int(each[-1])] for rows, each in zip((x, y), plan.prefix_sizes, strict=True))
        search = passes_for(x, None).search_gaps
        gaps, codes = search(
            x, y, first, second, units, self.budget, self.locates and math.isinf(q)
        )
        if q < math.inf:
            gaps = mean_gaps(x, y, first, second, units, q, gaps, self.budget)
        codes = torch.zeros_like(first) if codes is None else codes
        return gaps.cpu().numpy(), codes.cpu().numpy()

    def support_rows(
        self, points: torch.Tensor, prefix_sizes: np.ndarray, directions: np.ndarray
    ) -> SupportRows:
        along = points[: int(prefix_sizes[-1])] @ self._units(directions).T
        sizes = self.from_host(prefix_sizes)
        tops, top_rows = supports(along, sizes)
        lows, low_rows = supports(-along, sizes)
        return SupportRows(tops.double(), -lows.double(), top_rows, low_rows)

    xp: ClassVar[Any] = torch

    @property
    def is_double(self) -> bool:
        return self.points.dtype == torch.float64

    def from_host(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.array(array)).to(self.points.device)

    def to_host(self, array: torch.Tensor) -> np.ndarray:
        return array.cpu().numpy()

    def block_size(self, n_numbers: int) -> int:
        return max(1, self.budget // (64 * n_numbers))

    def scattered(self, values: torch.Tensor, rows: torch.Tensor, n: int) -> torch.Tensor:
        return values.new_zeros(n, values.shape[1]).scatter_add_(0, rows, values)

    def _units(self, directions: np.ndarray) -> torch.Tensor:
        """Return directions (K, d) as a tensor on the device, with the precision of the points."""
        # Directions are rounded on the host, so that all devices use the same directions.
        dtype = "float64" if self.is_double else "float32"
        return self.from_host(np.array(directions, dtype=dtype))

    @property
    def shares(self) -> torch.Tensor:
        """Masses of the u points as float64 fractions of the total mass, of shape (u,)."""
        if self.masses is None:
            return self.points.new_full((len(self.points),), 1.0 / self.total, dtype=torch.float64)
        return self.masses.double() / self.total

    def standardized(self) -> torch.Tensor:
        """Return the points (u, d), centered and divided by a power of two near their spread.

        The projection depth is computed from these points. The center (the medians of the columns)
        and the spread (the median distance from the center) are those of a subset of evenly spaced
        rows, as in `isodepth.geometry.depth.base.center_and_exponent`.
        """
        rows = self._spaced_rows()
        center = _lower_median(rows)
        moved = self.points - torch.from_numpy(center).to(self.points.device)
        away = np.sort(np.abs(rows - center).max(axis=1))
        size = float(away[len(away) // 2] or away[-1]) or float(moved.abs().max())
        return _scaled(moved, math.frexp(size)[1])

    def with_ranks(self) -> torch.Tensor:
        """Return the points (u, d), centered and scaled without rounding.

        Depths that are defined by ranks are computed from these points.

        A column is centered only if the subtraction is exact for all of its values. The points are
        divided by a power of two for which no value becomes subnormal. Neither step rounds, so
        the order and the ties of the values in a column are preserved.
        """
        low, high = (t.cpu().numpy() for t in torch.aminmax(self.points, dim=0))
        center = exact_center(_lower_median(self._spaced_rows()), low, high)
        moved = self.points - torch.from_numpy(center).to(self.points.device)
        sizes = moved.abs()
        largest = float(sizes.max())
        smallest = float(torch.where(sizes > 0, sizes, largest).min())
        limits = torch.finfo(moved.dtype)
        # The divisor is the power of two that makes the maximum absolute value about one. A smaller
        # power is used if the smallest nonzero value would become subnormal and lose digits.
        most_down = max(0, math.frexp(smallest)[1] - math.frexp(limits.tiny)[1])
        return _scaled(moved, min(math.frexp(largest)[1], most_down))

    def whitening(self, covariance: Any) -> torch.Tensor:
        """Return the centered points (u, d) times the inverse square root of their covariance.

        As in `geometry.transforms`, the covariance is computed in double precision from
        columns that are scaled to a common size.
        """
        low, high = (t.cpu().numpy() for t in torch.aminmax(self.points, dim=0))
        copy = self.points.to(torch.float64, copy=True)
        scaled = _scaled(copy, column_exponents(low, high))
        rows = scaled - self.shares @ scaled
        stretch = stretch_of(rows.abs().amax(dim=0).cpu().numpy(), low == high)
        rows *= torch.from_numpy(stretch).to(rows)
        root = inverse_root(((rows.T * self.shares) @ rows).cpu().numpy())
        return (rows @ torch.from_numpy(root).to(rows)).to(self.points.dtype)

    def _spaced_rows(self) -> np.ndarray:
        return self.points[:: -(-len(self.points) // _SPACED_ROWS)].cpu().numpy()


def _lower_median(rows: np.ndarray) -> np.ndarray:
    return np.sort(rows, axis=0)[(len(rows) - 1) // 2]


def _scaled(points: torch.Tensor, exponents: Any) -> torch.Tensor:
    """Divide points (u, d) by 2**exponents in place, with one exponent or one per column."""
    half = np.asarray(exponents) // 2
    # The division has two steps, because 2**-exponents itself may overflow or underflow.
    for part in (half, exponents - half):
        points.mul_(torch.as_tensor(np.ldexp(1.0, -part)).to(points))
    return points


def _has_repeats(points: torch.Tensor) -> bool:
    """Return whether any two rows of `points` (n, d) are equal.

    Rows with a unique value in one of the first four columns are excluded first. Unless the values
    are rounded to a few digits, this usually excludes all rows, and whole rows need not be sorted.
    """
    rows = points
    for column in range(min(_COLUMNS_TRIED, points.shape[1])):
        entries, order = rows[:, column].sort()
        tied = torch.nn.functional.pad(entries[1:] == entries[:-1], (1, 1))
        rows = rows[order[tied[1:] | tied[:-1]]]
        if not len(rows):
            return False
    return len(torch.unique(rows + 0.0, dim=0)) < len(rows)


def check_finite_tensor(points: torch.Tensor, name: str) -> None:
    """Raise an error for NaN, infinity, and values so large that projections may overflow.

    `name` is the name of `points` in the message.
    """
    limit = torch.finfo(points.dtype).max / (4.0 * math.sqrt(points.shape[1]))
    low, high = torch.stack(torch.aminmax(points)).tolist()
    if not (-limit <= low and high <= limit):
        # `check_finite` raises the error. It counts and locates the values for the message on the
        # host.
        check_finite(points.cpu().numpy(), name, False)
