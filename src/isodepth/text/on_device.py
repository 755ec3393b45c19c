"""The depths of many small clouds of token vectors, together on the device of their encoder."""

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

# Samples in a batch.
_BATCH = 64
_MOST_BYTES = 1 << 30


def regions_on_device(
    drawn: FittedMetric, clouds: Sequence[np.ndarray], device: str
) -> list[TrimmedRegions]:
    """The regions of clouds (n, d); long texts, and other depths, are left to the host.

    Parameters
    ----------
    drawn : FittedMetric
    clouds : sequence of float32 arrays, as `clean_clouds` gives them
    device : str
    """
    samples = [Sample.of(points) for points in clouds]
    count = len(drawn.directions)
    name = builtin_name(drawn.source)
    known = name in ("steady_irw", "dual")
    short = [
        i
        for i, each in enumerate(samples)
        if known and each.n_points <= MOST_POINTS and counts_fit(each.total, count)
    ]
    place = torch.device(device)
    directions = torch.from_numpy(np.array(drawn.directions, dtype=np.float32)).to(place)
    found: dict[int, TrimmedRegions] = {}
    # Neighbors of about one size share a batch: little is padded.
    short.sort(key=lambda i: samples[i].n_points)
    with full_precision(place):
        for start in range(0, len(short), _BATCH):
            batch = short[start : start + _BATCH]
            chosen = [samples[i] for i in batch]
            depths = _depths(chosen, directions, name == "steady_irw")
            for i, sample, depth in zip(batch, chosen, depths, strict=True):
                own = depth[: sample.n_points]
                found[i] = TrimmedRegions.from_depths(
                    sample, own, points=clouds[i], depth=own[sample.inverse], origin=drawn.origin
                )
    others = [i for i in range(len(clouds)) if i not in found]
    found.update(zip(others, drawn.all_regions([clouds[i] for i in others]), strict=True))
    return [found[i] for i in range(len(clouds))]


def _depths(samples: Sequence[Sample], directions: torch.Tensor, steady: bool) -> np.ndarray:
    """The depths (B, n) of the points of B samples; what follows their own is padding."""
    spans = [span_of_sample(sample) for sample in samples]
    n, r = np.max([span.shape for span in spans], axis=0)
    # Points that are added have no mass.
    points, masses = np.zeros((len(spans), n, r)), np.zeros((len(spans), n), dtype=np.int64)
    for i, (span, sample) in enumerate(zip(spans, samples, strict=True)):
        points[i, : len(span), : span.shape[1]] = span
        masses[i, : len(span)] = sample.unit_masses
    device = directions.device
    budget = min(_MOST_BYTES, budget_on(device, None))
    placed, mass = torch.from_numpy(points).to(device), torch.from_numpy(masses).to(device)
    total = mass.sum(dim=1, keepdim=True).double()
    squares = mean_squared_ranks(placed, mass / total, budget)
    if not steady:
        return ((1.0 - squares) / 2.0).cpu().numpy()
    count = len(directions)
    sizes, own = centered_ranks(placed.float(), mass, directions[:, :r], budget)
    depths = steady_depth(sizes / (count * total), own / (count * total**2), squares)
    return depths.cpu().numpy()
