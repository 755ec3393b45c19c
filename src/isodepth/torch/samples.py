"""A sample on a device: distinct rows with exact masses, moved and scaled for its depth."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from isodepth.core.weights import exact_masses
from isodepth.data.validation import check_weights
from isodepth.depth.base import exact_center
from isodepth.depth.whitening import column_exponents, inverse_root, stretch_of
from isodepth.errors import InvalidInputError
from isodepth.tensors.host import to_host

_SPACED_ROWS = 7
_COLUMNS_TRIED = 4


class DeviceSample(NamedTuple):
    """Distinct points and their masses, as `core.regions.Sample` has them, in any order.

    Where no two rows are equal the points are the caller's tensor itself.
    """

    points: torch.Tensor  # (u, d)
    masses: torch.Tensor | None  # int64 (u,), None where all are one unit
    total: int
    inverse: torch.Tensor | None  # int64 (n,), -1 for rows of weight zero; None for 0, ..., n - 1

    @classmethod
    def of(cls, points: torch.Tensor, weights: Any, name: str) -> DeviceSample:
        """The canonical form of points (n, d), finite, with weights (n,) or None."""
        checked = check_weights(to_host(weights), len(points), f"weights of {name}")
        if checked is None:
            return cls._merge(points, None)
        present = checked > 0
        masses = torch.from_numpy(exact_masses(checked[present])).to(points.device)
        if present.all():
            return cls._merge(points, masses)
        kept = torch.from_numpy(np.flatnonzero(present)).to(points.device)
        found = cls._merge(points[kept], masses)
        inverse = torch.full((len(points),), -1, dtype=torch.int64, device=points.device)
        inverse[kept] = found.places(len(kept))
        return found._replace(inverse=inverse)

    @classmethod
    def _merge(cls, points: torch.Tensor, masses: torch.Tensor | None) -> DeviceSample:
        inverse = None
        if _has_repeats(points):
            # Adding zero turns -0.0 into 0.0.
            points, inverse = torch.unique(points + 0.0, dim=0, return_inverse=True)
            units = torch.ones_like(inverse) if masses is None else masses
            masses = inverse.new_zeros(len(points)).index_add_(0, inverse, units)
        if masses is not None and bool((masses == masses[0]).all()):
            masses = None
        total = len(points) if masses is None else int(masses.sum())
        return cls(points, masses, total, inverse)

    def places(self, n: int) -> torch.Tensor:
        """For each of the n rows as given its place among the points."""
        if self.inverse is not None:
            return self.inverse
        return torch.arange(n, device=self.points.device)

    @property
    def shares(self) -> torch.Tensor:
        """The masses as float64 shares of the total, of shape (u,)."""
        if self.masses is None:
            return self.points.new_full((len(self.points),), 1.0 / self.total, dtype=torch.float64)
        return self.masses.double() / self.total

    def standardized(self) -> torch.Tensor:
        """Return the points (u, d) around zero and of size one, for depths by distances.

        Center and size come from evenly spaced rows, as in
        `isodepth.depth.base.center_and_exponent`.
        """
        few = self._spaced_rows()
        center = _lower_median(few)
        moved = self.points - torch.from_numpy(center).to(self.points.device)
        away = np.sort(np.abs(few - center).max(axis=1))
        size = float(away[len(away) // 2] or away[-1]) or float(moved.abs().max())
        return _scaled(moved, math.frexp(size)[1])

    def with_ranks(self) -> torch.Tensor:
        """Return points (u, d) with the ranks of these along every direction, for depths by ranks.

        A column is centered only if the difference is exact for all of its values. The scale is a
        power of two that no value leaves the normal numbers by. So no order and no tie changes.
        """
        low, high = (t.cpu().numpy() for t in torch.aminmax(self.points, dim=0))
        center = exact_center(_lower_median(self._spaced_rows()), low, high)
        moved = self.points - torch.from_numpy(center).to(self.points.device)
        sizes = moved.abs()
        largest = float(sizes.max())
        smallest = float(torch.where(sizes > 0, sizes, largest).min())
        kind = torch.finfo(moved.dtype)
        # Never down if a value would become subnormal, and up to one at most.
        most_down = max(0, math.frexp(smallest)[1] - math.frexp(kind.tiny)[1])
        return _scaled(moved, min(math.frexp(largest)[1], most_down))

    def whitened(self) -> torch.Tensor:
        """Return the points (u, d) times the inverse root of their covariance.

        As `isodepth.depth.whitening` does it: in double precision, for columns of one size.
        """
        if self.points.shape[1] == 1:
            return self.with_ranks()
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
    """Divide points (u, d) by 2**exponents, one exponent or one per column, in place."""
    half = np.asarray(exponents) // 2
    # In two steps: the power of two itself may be out of range.
    for part in (half, exponents - half):
        points.mul_(torch.as_tensor(np.ldexp(1.0, -part)).to(points))
    return points


def _has_repeats(points: torch.Tensor) -> bool:
    """Whether some rows are equal.

    Rows that share no entry of a column are not; in numbers that are not rounded to a few digits,
    the first columns leave none.
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
    """Raise for NaN, infinity, and numbers so large that projections or their gaps overflow."""
    limit = torch.finfo(points.dtype).max / (4.0 * math.sqrt(points.shape[1]))
    low, high = torch.stack(torch.aminmax(points)).tolist()
    if -limit <= low and high <= limit:
        return
    bad = ~torch.isfinite(points)
    if bool(bad.any()):
        row, column = (int(k) for k in bad.nonzero()[0])
        raise InvalidInputError(
            f"{name} contains {int(bad.sum())} NaN or infinite value(s) (as {points.dtype}), the "
            f"first at row {row}, column {column}; drop or impute them first"
        )
    raise InvalidInputError(
        f"{name} contains values up to {max(-low, high):.3g}, with which distances overflow in "
        f"{points.dtype} (they must not exceed {limit:.3g} with {points.shape[1]} column(s)); "
        "divide the data by a constant, or use float64"
    )
