"""Fit a small generator to data with a tenth of wrong rows, with four losses.

A network maps noise to the plane. Trained with isodepth it learns the clean part. With sliced
Wasserstein a tenth of the generated rows are wrong. With energy the mean and a standard deviation
of the generated rows are wrong. Run it with::

    python examples/robust_generator.py
"""

from __future__ import annotations

import sys

import torch
from gradient_flow import energy, sliced_wasserstein

from isodepth.torch import DepthLoss

LOSSES = {
    "isodepth, q=2": DepthLoss(q=2, eps=0.2, n_directions=50, resample=True),
    "isodepth, q=inf": DepthLoss(q=float("inf"), eps=0.2, n_directions=50, resample=True),
    "sliced Wasserstein": sliced_wasserstein(),
    "energy": energy,
}


def data(rows: int, seed: int = 0) -> torch.Tensor:
    """Return an elongated sample, with a tenth of the rows far above it."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(rows, 2, generator=generator, dtype=torch.float64)
    points = points @ torch.tensor([[1.5, 0.8], [0.0, 0.6]], dtype=torch.float64)
    points[: rows // 10] = points[: rows // 10] * 0.1 + torch.tensor([2.0, 9.0])
    return points


def fit(loss: object, target: torch.Tensor, steps: int = 300, rows: int = 200) -> torch.Tensor:
    """Train a network with one hidden layer, and return generated rows."""
    generator = torch.Generator().manual_seed(1)
    layers = [torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2)]
    network = torch.nn.Sequential(*layers).double()
    for weights in network.parameters():
        fresh = torch.randn(weights.shape, generator=generator, dtype=torch.float64)
        weights.data = 0.3 * fresh
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(steps):
        noise = torch.randn(rows, 2, generator=generator, dtype=torch.float64)
        batch = target[torch.randperm(len(target), generator=generator)[:rows]]
        optimizer.zero_grad()
        loss(network(noise), batch).backward()  # type: ignore[operator]
        optimizer.step()
    with torch.no_grad():
        return network(torch.randn(2000, 2, generator=generator, dtype=torch.float64))


def main() -> int:
    """Print the mean, the spread and the share of wrong rows of each generator."""
    target = data(2000)
    clean = target[200:]
    print("| trained with | mean off by | standard deviations | share above 5 |")
    print("|---|---|---|---|")
    print(f"| (clean data) | 0.00 | {clean.std(dim=0).numpy().round(2)} | 0.0% |")
    for name, loss in LOSSES.items():
        made = fit(loss, target)
        off = (made.mean(dim=0) - clean.mean(dim=0)).norm().item()
        above = (made[:, 1] > 5).double().mean().item()
        print(f"| {name} | {off:.2f} | {made.std(dim=0).numpy().round(2)} | {above:.1%} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
