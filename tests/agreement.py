"""Bound of `docs/tensors.md` on the difference between distances of two devices in float32."""

from __future__ import annotations

import math

import numpy as np

from isodepth.geometry.directions import mean_of_direction

UNIT = 2.0**-24


def rounding_bound(metric, samples, share=0.0):
    """Return a bound on the difference of two distances DR of the same float32 samples, for p >= 1.

    The two computations sum products in different orders. `share` is the fraction of the levels at
    which their regions contain different rows.
    """
    reach = sum(float(np.linalg.norm(rows.astype(float), axis=1).max()) for rows in samples)
    d = samples[0].shape[1]
    relative = (d + 4) * UNIT / (1.0 - (d + 4) * UNIT)
    unit = 1.0 if math.isinf(metric.q) else mean_of_direction(d, metric.q)
    swapped = share if math.isinf(metric.p) and not share else share ** (1.0 / metric.p)
    return 2.0 * reach * (relative + swapped) / unit


def share_of_swapped_levels(metric, host, device):
    """Return the fraction of the levels at which regions of the host and a device have other rows.

    `host` is a pair of TrimmedRegions, and `device` a pair of Nested, of the same two
    samples.
    """
    sides = [_Prefixes(one, other) for one, other in zip(host, device, strict=True)]
    end = 1.0 - metric.eps
    if metric._memory_levels == "exact":
        edges = np.unique(np.concatenate([[0.0], *(side.edges() for side in sides)]))
        edges = np.append(edges[edges < end], end)
        starts, widths = edges[:-1], np.diff(edges) / end if end > 0 else np.ones(1)
    else:
        starts = (np.arange(metric.levels) + 0.5) * end / metric.levels
        widths = np.full(metric.levels, 1.0 / metric.levels)
    swapped = np.zeros(len(starts), dtype=bool)
    for side in sides:
        swapped |= [not side.agree_at(beta) for beta in starts]
    return float(widths[swapped].sum())


class _Prefixes:
    """Rows of one sample in decreasing order of depth, as computed on the host and on a device."""

    def __init__(self, host, device):
        points = device.sample.points[device.order].cpu().numpy() + 0.0
        known = {row.tobytes(): i for i, row in enumerate(host._nested.points + 0.0)}
        places = np.array([known[row.tobytes()] for row in points])
        # So many rows from the deepest on are the same ones, whatever their order among them.
        self.same = np.maximum.accumulate(places) == np.arange(len(places))
        self.masses = [host.masses, device.masses]
        self.counts = [host._nested.counts, device.counts]

    def edges(self):
        return np.concatenate(self.masses)

    def agree_at(self, beta):
        stops = [
            counts[np.searchsorted(masses, beta, side="right")]
            for masses, counts in zip(self.masses, self.counts, strict=True)
        ]
        return stops[0] == stops[1] and self.same[stops[0] - 1]
