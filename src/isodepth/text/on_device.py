"""Clouds of token vectors where the encoder left them: checked, scaled, and their depths found.

What the gaps need comes to the host in one piece; the depths of all clouds are worked out together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch

from isodepth.core.regions import Sample, TrimmedRegions
from isodepth.data.arrays import describe
from isodepth.depth.base import center_and_exponent
from isodepth.depth.integrated import MOST_POINTS, counts_fit, steady_depth
from isodepth.depth.resolve import builtin_name
from isodepth.errors import InvalidInputError
from isodepth.metric.fitted import FittedMetric
from isodepth.tensors.products import budget_on, full_precision
from isodepth.tensors.ranks import (
    centered_ranks,
    coordinates_in_span,
    mean_rank_weight,
    mean_squared_ranks,
)

# Samples of different sizes share a batch as long as little is padded.
_PADDED = 8
_MOST_BYTES = 1 << 30


def clean_tensors(clouds: Sequence[Any], l2_normalize: bool) -> list[torch.Tensor | None]:
    """Token vectors of one device as they are compared: float32 (n, d), None for an empty text.

    As `clouds.clean_clouds` does it for arrays; everything is checked at once.
    """
    place = next(cloud.device for cloud in clouds if _is_elsewhere(cloud))
    sizes = [_rows_of(cloud, place) for cloud in clouds]
    held = [cloud for cloud, size in zip(clouds, sizes, strict=True) if size]
    if not held:
        return [None] * len(clouds)
    widths = sorted({cloud.shape[1] for cloud in held})
    if len(widths) > 1:
        raise InvalidInputError(
            f"all token vectors must have one width, got {', '.join(map(str, widths))}"
        )
    with torch.no_grad():
        rows = torch.cat([cloud.detach().to(torch.float64) for cloud in held])
        points = _unit_rows(rows).float() if l2_normalize else rows.float()
        usable = torch.stack([torch.isfinite(rows).all(), torch.isfinite(points).all()])
        vanished = bool(rows.any()) and not bool(points.any())
    finite, held_finite = usable.tolist()
    if not finite:
        raise InvalidInputError("the token vectors of a text contain NaN or infinite values")
    if not held_finite or vanished:
        raise InvalidInputError(
            "the token vectors of a text are too large or too small for single precision; scale "
            "them, or use l2_normalize=True"
        )
    parts = iter(points.split([size for size in sizes if size]))
    return [next(parts) if size else None for size in sizes]


def regions_on_device(
    drawn: FittedMetric, clouds: Sequence[torch.Tensor]
) -> list[TrimmedRegions] | None:
    """The regions of float32 clouds (n, d) of one device; None for depths that only the host knows.

    Parameters
    ----------
    drawn : FittedMetric
    clouds : sequence of tensors, as `clean_tensors` gives them
    """
    if builtin_name(drawn.source) not in ("steady_irw", "dual"):
        return None
    together = torch.cat(list(clouds))
    starts = np.cumsum([0, *(len(cloud) for cloud in clouds)])
    host = together.cpu().numpy()
    members = []
    for first, last in pairwise(starts):
        points = host[first:last]
        sample = Sample.of(points)
        places = np.empty(sample.n_points, dtype=np.int64)
        places[sample.inverse] = np.arange(first, last)
        members.append(_Member(points, sample, places))
    with full_precision(together.device):
        depths = _depths(drawn, together, members)
    return [
        TrimmedRegions.from_depths(
            m.sample, own, points=m.points, depth=own[m.sample.inverse], origin=drawn.origin
        )
        for m, own in zip(members, depths, strict=True)
    ]


class _Member(NamedTuple):
    """One of the clouds, on the host, and where its distinct rows lie among all."""

    points: np.ndarray
    sample: Sample
    places: np.ndarray


def _depths(
    drawn: FittedMetric, rows: torch.Tensor, members: Sequence[_Member]
) -> list[np.ndarray]:
    """The depths of the distinct points of every cloud."""
    budget = min(_MOST_BYTES, budget_on(rows.device, None))
    directions = torch.from_numpy(np.array(drawn.directions, dtype=np.float32)).to(rows.device)
    steady = builtin_name(drawn.source) == "steady_irw"
    result: list[Any] = [None] * len(members)
    for which in _batches(members, steady, len(directions)):
        batch = [members[i] for i in which]
        points, masses = _padded(rows, batch)
        totals = [m.sample.total for m in batch]
        if steady and not _is_few(batch[0], len(directions)):
            own = None if batch[0].sample.masses is None else masses[0]
            found = mean_rank_weight(points[0], own, totals[0], directions, budget)[None]
        else:
            found = _few_depths(points, masses, totals, directions, steady, budget)
        for i, m, depth in zip(which, batch, found.cpu().numpy(), strict=True):
            result[i] = depth[: m.sample.n_points]
    return result


def _few_depths(
    points: torch.Tensor,
    masses: torch.Tensor,
    totals: list[int],
    directions: torch.Tensor,
    steady: bool,
    budget: int,
) -> torch.Tensor:
    """The depths (B, n) of B clouds of a few points (B, n, d)."""
    whole = torch.tensor(totals, device=points.device)[:, None]
    spanned = points.double()
    if 1 < points.shape[1] <= points.shape[2]:
        edges = coordinates_in_span(spanned[:, 1:] - spanned[:, :1])
        spanned = torch.cat([torch.zeros_like(edges[:, :1]), edges], dim=1)
    squares = mean_squared_ranks(spanned, masses.double() / whole, budget)
    if not steady:
        return (1.0 - squares) / 2.0
    units = directions[:, : spanned.shape[2]]
    found = centered_ranks(spanned.to(points.dtype), masses, units, budget)
    size, square = (part.double() for part in found)
    count = len(directions)
    return steady_depth(size / (count * whole), square / (count * whole**2), squares)


def _batches(members: Sequence[_Member], steady: bool, count: int) -> list[list[int]]:
    """Which clouds are worked on together: of about one size, and not too many."""
    sizes = [m.sample.n_points for m in members]
    batches: list[list[int]] = []
    for i in sorted(range(len(members)), key=lambda i: -sizes[i]):
        head = batches[-1][0] if batches else None
        # Points that span all dimensions there are have no frame of their own, nor has one alone.
        if (
            head is None
            or sizes[head] > sizes[i] + _PADDED
            or _kind(members[head], steady, count) != _kind(members[i], steady, count)
            or (steady and not _is_few(members[i], count))
            or len(batches[-1]) * sizes[head] * (count + sizes[head] ** 2) * 64 > _MOST_BYTES
        ):
            batches.append([])
        batches[-1].append(i)
    return batches


def _kind(member: _Member, steady: bool, count: int) -> tuple[bool, ...]:
    n, d = member.sample.points.shape
    return n > d, n == 1, steady and not _is_few(member, count)


def _is_few(member: _Member, count: int) -> bool:
    return member.sample.n_points <= MOST_POINTS and counts_fit(member.sample.total, count)


def _padded(rows: torch.Tensor, batch: Sequence[_Member]) -> tuple[torch.Tensor, torch.Tensor]:
    """The points (B, n, d) of clouds, moved and scaled, and their masses (B, n)."""
    longest = max(m.sample.n_points for m in batch)
    places = np.empty((len(batch), longest), dtype=np.int64)
    masses = np.zeros((len(batch), longest), dtype=np.int64)
    centers, exponents = [], []
    for i, m in enumerate(batch):
        n = m.sample.n_points
        places[i, :n], places[i, n:] = m.places, m.places[0]
        masses[i, :n] = 1 if m.sample.masses is None else m.sample.masses
        center, exponent = center_and_exponent(m.sample)
        centers.append(center)
        exponents.append(exponent)
    device = rows.device
    moved = rows[torch.from_numpy(places).to(device)]
    moved -= torch.from_numpy(np.stack(centers)).to(device)[:, None]
    # In two steps, where the power of two itself may be out of range.
    halves = np.array(exponents) // 2
    for half in (halves, np.array(exponents) - halves):
        moved *= torch.from_numpy(np.ldexp(np.float32(1), -half)).to(moved)[:, None, None]
    return moved, torch.from_numpy(masses).to(device)


def _is_elsewhere(cloud: Any) -> bool:
    return isinstance(cloud, torch.Tensor) and cloud.device.type != "cpu"


def _rows_of(cloud: Any, place: torch.device) -> int:
    """How many rows a cloud has, if it is one of that device."""
    if not isinstance(cloud, torch.Tensor) or cloud.device != place:
        where = f"on {cloud.device}" if isinstance(cloud, torch.Tensor) else describe(cloud)
        raise InvalidInputError(
            f"the token vectors of one text are on {place} and those of another {where}; the "
            "encoder must leave all of them in one place"
        )
    if cloud.requires_grad:
        raise InvalidInputError(
            "token vectors require grad, which would be lost; give them with .detach()"
        )
    if cloud.numel() == 0:
        return 0
    if cloud.ndim != 2 or cloud.is_complex() or cloud.layout != torch.strided:
        raise InvalidInputError(
            "the token vectors of a text must be a dense table of real numbers of shape (tokens, "
            f"width), got {cloud.dtype} of shape {tuple(cloud.shape)}"
        )
    return len(cloud)


def _unit_rows(rows: torch.Tensor) -> torch.Tensor:
    """Rows scaled to length one, whatever their size; zeros stay zeros."""
    # A power of two first: it brings the squares into range and changes no digit.
    exponents = torch.frexp(rows.abs().amax(dim=1, keepdim=True)).exponent
    rows = torch.ldexp(torch.ldexp(rows, -(exponents // 2)), -(exponents - exponents // 2))
    lengths = rows.norm(dim=1, keepdim=True)
    return rows / torch.where(lengths > 0, lengths, 1.0)
