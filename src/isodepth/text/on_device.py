"""Depths of many small token clouds, computed in batches on the device of the encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from isodepth.core.regions import Sample, TrimmedRegions
from isodepth.depth.integrated import MOST_POINTS, counts_fit, span_of_sample, steady_depth
from isodepth.depth.resolve import builtin_name
from isodepth.metric.fitted import FittedMetric
from isodepth.tensors.products import budget_on, full_precision
from isodepth.tensors.ranks import centered_ranks, mean_squared_ranks

# Samples per batch, and the maximum memory of a batch in bytes.
_BATCH = 64
_MOST_BYTES = 1 << 30


def regions_on_device(
    fitted: FittedMetric, clouds: Sequence[np.ndarray], device: str
) -> list[TrimmedRegions]:
    """Return the regions of samples of shape (n, d), with depths computed on `device`.

    Large samples, and depths other than "steady_irw" and "dual", are computed on the host.

    Parameters
    ----------
    fitted : FittedMetric
    clouds : sequence of float32 arrays returned by `clean_clouds`
    device : str
    """
    samples = [Sample.of(points) for points in clouds]
    n_directions = len(fitted.directions)
    depth_name = builtin_name(fitted.source)
    supported = depth_name in ("steady_irw", "dual")
    small = [
        i
        for i, sample in enumerate(samples)
        if supported and sample.n_points <= MOST_POINTS and counts_fit(sample.total, n_directions)
    ]
    torch_device = torch.device(device)
    directions = torch.from_numpy(np.array(fitted.directions, dtype=np.float32)).to(torch_device)
    regions: dict[int, TrimmedRegions] = {}
    # Sorting by size reduces the padding in a batch.
    small.sort(key=lambda i: samples[i].n_points)
    with full_precision(torch_device):
        for start in range(0, len(small), _BATCH):
            indices = small[start : start + _BATCH]
            batch = [samples[i] for i in indices]
            depths = _depths(batch, directions, depth_name == "steady_irw")
            for i, sample, padded in zip(indices, batch, depths, strict=True):
                depth = padded[: sample.n_points]
                row_depth = depth[sample.inverse]
                regions[i] = TrimmedRegions.from_depths(
                    sample, depth, points=clouds[i], depth=row_depth, origin=fitted.origin
                )
    others = [i for i in range(len(clouds)) if i not in regions]
    regions.update(zip(others, fitted.all_regions([clouds[i] for i in others]), strict=True))
    return [regions[i] for i in range(len(clouds))]


def _depths(samples: Sequence[Sample], directions: torch.Tensor, steady: bool) -> np.ndarray:
    """Return the depths of B samples as an array of shape (B, n), padded to the largest sample."""
    spans = [span_of_sample(sample) for sample in samples]
    n, r = np.max([span.shape for span in spans], axis=0)
    # Padding points have mass zero.
    points, masses = np.zeros((len(spans), n, r)), np.zeros((len(spans), n), dtype=np.int64)
    for i, (span, sample) in enumerate(zip(spans, samples, strict=True)):
        points[i, : len(span), : span.shape[1]] = span
        masses[i, : len(span)] = sample.unit_masses
    device = directions.device
    budget = min(_MOST_BYTES, budget_on(device, None))
    points_on_device = torch.from_numpy(points).to(device)
    mass = torch.from_numpy(masses).to(device)
    total = mass.sum(dim=1, keepdim=True).double()
    squares = mean_squared_ranks(points_on_device, mass / total, budget)
    if not steady:
        return ((1.0 - squares) / 2.0).cpu().numpy()
    count = len(directions)
    absolute, squared = centered_ranks(points_on_device.float(), mass, directions[:, :r], budget)
    depths = steady_depth(absolute / (count * total), squared / (count * total**2), squares)
    return depths.cpu().numpy()
