"""Checked, merged and scaled input of the exact depths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isodepth import _core
from isodepth.data.validation import check_number, check_points, check_same_width
from isodepth.errors import InvalidInputError, InvalidOptionError


class WeightedPoints(NamedTuple):
    """Distinct points (u, d) in lexicographic order, each of positive mass (u,), and the total."""

    points: np.ndarray
    masses: np.ndarray
    total: int


def merge_points(points: np.ndarray, masses: np.ndarray) -> WeightedPoints:
    """Put equal points together and leave out those of mass zero.

    Parameters
    ----------
    points : array-like of shape (n, d)
    masses : int array-like of shape (n,), none negative
    """
    rows, _ = check_points(points, "points", "float64", any_size=True)
    units = np.asarray(masses)
    if units.shape != (len(rows),) or units.dtype.kind not in "biu":
        raise InvalidInputError(
            f"masses must be one integer for each of the {len(rows)} points, got shape "
            f"{units.shape} and dtype {units.dtype}; scale fractional weights to integers first"
        )
    if (units < 0).any():
        raise InvalidInputError(
            f"masses must not be negative, got {units.min()} at position {int(units.argmin())}"
        )
    present = units > 0
    distinct, inverse = _distinct(rows[present])
    merged = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(merged, inverse, units[present].astype(np.int64))
    return WeightedPoints(distinct, merged, int(merged.sum()))


def merge_queries(queries: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct queries (v, d), and for each query (m,) its index among them."""
    rows, _ = check_points(queries, "queries", "float64", any_size=True)
    check_same_width(rows.shape[1], width, "queries", "points")
    return _distinct(rows)


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows (u, d) in lexicographic order, and where each of `rows` (n, d) is, (n,)."""
    if not len(rows):
        return rows, np.zeros(0, dtype=np.int64)
    return _core.distinct_rows(np.ascontiguousarray(rows))[:2]


def scale_columns(*tables: np.ndarray) -> tuple[np.ndarray, ...]:
    """Bring each column of all tables (n_i, d) to sizes below one, by a power of two.

    The tables stay as they are where dividing would lose digits.
    """
    largest = np.max([np.abs(table).max(axis=0) for table in tables], axis=0)
    exponents = np.frexp(largest)[1]
    scaled = tuple(np.ldexp(table, -exponents) for table in tables)
    pairs = zip(scaled, tables, strict=True)
    exact = all(np.array_equal(np.ldexp(new, exponents), old) for new, old in pairs)
    return scaled if exact else tables


def check_work(work: float, max_work: float, what: str) -> None:
    """Refuse a computation of more than `max_work` elementary steps."""
    limit = check_number(max_work, "max_work", 0.0, low_open=True)
    if work > limit:
        raise InvalidOptionError(
            f"{what} takes about {work:.2g} steps, more than max_work={limit:.2g}; use random "
            "directions instead of the exact method, take fewer points, or raise max_work "
            "(10**9 steps take from ten seconds to a minute)"
        )
