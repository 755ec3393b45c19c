"""Nested regions on a device, the levels at which two are compared, and the mean of their gaps."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from isodepth.core.regions import SLIVER, SMALL_POWER, power_mean, tie_ends
from isodepth.depth.resolve import builtin_name, depth_text, is_plain
from isodepth.errors import InvalidOptionError
from isodepth.tensors.passes import passes_for
from isodepth.tensors.ranks import mean_rank_weight
from isodepth.torch.samples import DeviceSample


class DeviceRegions(NamedTuple):
    """The points of a sample from the deepest outwards."""

    sample: DeviceSample
    depth: torch.Tensor  # float64 (u,)
    order: torch.Tensor  # int64 (u,)
    counts: torch.Tensor  # int64 (g,), how many points have at least each distinct depth
    masses: torch.Tensor  # float64 (g,), their share of the mass


class DevicePlan(NamedTuple):
    """The levels at which two samples are compared, as `core.regions.LevelPlan` has them."""

    shares: torch.Tensor  # float64 (L,)
    prefix_sizes: tuple[torch.Tensor, torch.Tensor]  # int64 (L,) of X and of Y


def check_depth(source: Any, device: torch.device) -> None:
    """Check that a depth is implemented on devices."""
    name = builtin_name(source)
    if name in ("projection", "halfspace"):
        if is_plain(source):
            return
        name = depth_text(source)
    elif name == "irw":
        return
    elif name == "ai_irw":
        if isinstance(source.covariance, str) and source.covariance == "empirical":
            return
        name = f"{name} (covariance={source.covariance!r})"
    raise InvalidOptionError(
        f"the depth {name or source.name} is not available on the device {device}: use projection, "
        "halfspace, irw or ai_irw (with its empirical covariance), without refinement, or move the "
        "tensors to the host with .cpu()"
    )


def depths_on_device(
    source: Any, sample: DeviceSample, directions: torch.Tensor, budget: int
) -> torch.Tensor:
    """The depths (u,) in float64 of the points of a sample along directions (K, d)."""
    prepare = {"ai_irw": sample.whitened, "projection": sample.standardized}
    points = prepare.get(source.name, sample.with_ranks)()
    masses, total = sample.masses, sample.total
    passes = passes_for(points, masses)
    if source.name == "projection":
        far = passes.largest_outlyingness(points, masses, total, directions, budget)
        return 1.0 / (1.0 + far.double())
    if source.name == "halfspace":
        least = passes.smallest_halfspace(points, masses, total, directions, budget)
        return least.double() / total
    return mean_rank_weight(points, masses, total, directions, budget)


def regions_of(sample: DeviceSample, depth: torch.Tensor, tolerance: float) -> DeviceRegions:
    """Order the points of a sample by their depths (u,)."""
    falling, order = depth.sort(descending=True, stable=True)
    ends = _tie_ends(falling, tolerance)
    if sample.masses is None:
        cumulated = ends
    else:
        cumulated = sample.masses[order].cumsum(0)[ends - 1]
    return DeviceRegions(sample, depth, order, ends, cumulated.double() / sample.total)


def _tie_ends(falling: torch.Tensor, tolerance: float) -> torch.Tensor:
    steps = falling[:-1] - falling[1:]
    apart = steps > tolerance
    if tolerance > 0 and bool((~apart & (steps != 0)).any()):
        # Small steps may add up: rare, and not worth a second way to count them.
        return torch.from_numpy(tie_ends(falling.cpu().numpy(), tolerance)).to(falling.device)
    ends = apart.nonzero()[:, 0] + 1
    return torch.cat([ends, ends.new_full((1,), len(falling))])


def level_plan(
    x: DeviceRegions, y: DeviceRegions, betas: np.ndarray | None, eps: float
) -> DevicePlan:
    """Given levels (L,) of equal shares, or all pieces of [0, 1 - eps] on which nothing changes."""
    if betas is not None:
        starts = torch.from_numpy(np.sort(betas)).to(x.depth.device)
        shares = torch.full_like(starts, 1.0 / len(starts))
    else:
        end = 1.0 - eps
        inner = torch.cat([x.masses, y.masses])
        inner = inner[inner < end * (1.0 - SLIVER)].sort().values.unique_consecutive()
        edges = torch.cat([inner.new_zeros(1), inner, inner.new_full((1,), end)])
        starts = edges[:-1].contiguous()
        shares = edges.diff() / end if end > 0 else torch.ones_like(starts)
    return DevicePlan(shares, (_prefix_sizes(x, starts), _prefix_sizes(y, starts)))


def _prefix_sizes(regions: DeviceRegions, betas: torch.Tensor) -> torch.Tensor:
    """How many of the ordered points lie in the regions of levels (L,)."""
    return regions.counts[torch.searchsorted(regions.masses, betas, right=True)]


def mean_of_gaps(gaps: torch.Tensor, shares: torch.Tensor, p: float, length: float) -> torch.Tensor:
    """(length * sum of shares * gaps**p) ** (1/p), as `power_mean`, without leaving."""
    if p < SMALL_POWER:
        value = power_mean(gaps.cpu().numpy(), shares.cpu().numpy(), p, length)
        return gaps.new_tensor(value)
    largest = gaps.max()
    if math.isinf(p):
        return largest
    ratios = gaps / largest
    mean = largest * (length * (shares * ratios**p).sum()) ** (1.0 / p)
    return torch.where(largest > 0, mean, largest)
