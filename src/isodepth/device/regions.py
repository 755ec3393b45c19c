"""Depth-trimmed regions of tensors, compared levels, and mean gaps, computed on a device.

The region of level beta of a sample is the smallest set of its deepest points with more than a
fraction beta of the total weight. The gap of a level is the distance between the regions of both
samples.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from isodepth.device.kernels import passes_for
from isodepth.device.ranks import mean_rank_weight
from isodepth.device.samples import DeviceSample
from isodepth.errors import InvalidOptionError
from isodepth.geometry.depth.base import depth_text
from isodepth.geometry.depth.resolve import builtin_name, is_plain
from isodepth.geometry.regions import SLIVER, SMALL_POWER, power_mean, tie_ends


class DeviceRegions(NamedTuple):
    """Nested depth-trimmed regions of a sample with u distinct points, stored on a device.

    `isodepth.geometry.regions.TrimmedRegions` is the corresponding class on the host.
    """

    sample: DeviceSample
    depth: torch.Tensor  # depths (u,) of the points, float64
    order: torch.Tensor  # indices (u,) of the points from the deepest to the least deep, int64
    # `counts` and `masses` have one entry per distinct depth, in decreasing order of depth: the
    # number of points with at least this depth, and the fraction of the total mass of these points.
    counts: torch.Tensor
    masses: torch.Tensor

    def prefix_sizes(self, betas: torch.Tensor) -> torch.Tensor:
        """Return the number of points (L,) in the region of each level `betas` (L,)."""
        return self.counts[torch.searchsorted(self.masses, betas, right=True)]


def check_depth(source: Any, device: torch.device) -> None:
    """Raise an error if the depth function `source` is implemented only on the host.

    `device` is the device of the tensors, for the message.
    """
    name = builtin_name(source)
    if name == "irw" or (name in ("projection", "halfspace") and is_plain(source)):
        return
    if name == "ai_irw":
        if isinstance(source.covariance, str) and source.covariance == "empirical":
            return
        name = f"{name} (covariance={source.covariance!r})"
    elif name in ("projection", "halfspace"):
        name = depth_text(source)
    raise InvalidOptionError(
        f"the depth {name or source._name} is not available on the device {device}: use "
        "projection, halfspace, irw or ai_irw (with its empirical covariance), without refinement, "
        "or move the tensors to the host with .cpu()"
    )


def depths_on_device(
    source: Any, sample: DeviceSample, directions: torch.Tensor, budget: int
) -> torch.Tensor:
    """Compute the depths of the u points of a sample, given directions (K, d).

    The result is a float64 tensor of shape (u,). `source` is a depth estimator, and `budget` the
    memory in bytes for blocks of projections.
    """
    prepare = {"ai_irw": sample.whitened, "projection": sample.standardized}
    points = prepare.get(source._name, sample.with_ranks)()
    masses, total = sample.masses, sample.total
    passes = passes_for(points, masses)
    if source._name == "projection":
        far = passes.largest_outlyingness(points, masses, total, directions, budget)
        return 1.0 / (1.0 + far.double())
    if source._name == "halfspace":
        least = passes.smallest_halfspace(points, masses, total, directions, budget)
        return least.double() / total
    return mean_rank_weight(points, masses, total, directions, budget)


def regions_of(sample: DeviceSample, depth: torch.Tensor, tolerance: float) -> DeviceRegions:
    """Return the depth-trimmed regions of a sample, given the depths (u,) of its points.

    Points of equal depth enter a region together. The points are divided into groups, the deepest
    first: a group has the points whose depth is at most `tolerance` below that of its deepest
    point. These depths count as equal.
    """
    falling, order = depth.sort(descending=True, stable=True)
    ends = _tie_ends(falling, tolerance)
    cumulated = ends if sample.masses is None else sample.masses[order].cumsum(0)[ends - 1]
    return DeviceRegions(sample, depth, order, ends, cumulated.double() / sample.total)


def _tie_ends(falling: torch.Tensor, tolerance: float) -> torch.Tensor:
    steps = falling[:-1] - falling[1:]
    apart = steps > tolerance
    if tolerance > 0 and bool((~apart & (steps != 0)).any()):
        # Small differences between successive depths may add up to more than the tolerance. Such
        # differences are rare, so the groups of ties are then computed on the host.
        return torch.from_numpy(tie_ends(falling.cpu().numpy(), tolerance)).to(falling.device)
    ends = apart.nonzero()[:, 0] + 1
    return torch.cat([ends, ends.new_full((1,), len(falling))])


def level_plan(
    x: DeviceRegions, y: DeviceRegions, betas: np.ndarray | None, eps: float
) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Return the weights of the L compared levels, and the sizes of the regions of x and of y.

    The size of a region is its number of points. All three tensors have shape (L,), in increasing
    order of the levels. If `betas` (L,) is given, it contains the levels, which have equal weights.
    If it is None, there is one level for each interval of [0, 1 - eps] on which the regions of both
    samples are constant. The weight of such a level is proportional to the length of its interval.
    """
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
    return shares, (x.prefix_sizes(starts), y.prefix_sizes(starts))


def mean_of_gaps(gaps: torch.Tensor, shares: torch.Tensor, p: float, length: float) -> torch.Tensor:
    """Compute the distance (length * sum of shares * gaps**p) ** (1/p) from the gaps (L,).

    `shares` (L,) are the weights of the L levels, which sum to 1. `length` is 1, or 1 - eps if the
    option `normalize` is False. For p = inf, return the maximum gap. The corresponding function on
    the host is `isodepth.geometry.regions.power_mean`.
    """
    if p < SMALL_POWER:
        return gaps.new_tensor(power_mean(gaps.cpu().numpy(), shares.cpu().numpy(), p, length))
    largest = gaps.max()
    if math.isinf(p):
        return largest
    mean = largest * (length * (shares * (gaps / largest) ** p).sum()) ** (1.0 / p)
    return torch.where(largest > 0, mean, largest)
