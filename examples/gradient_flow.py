"""Move one sample onto another by gradients, if a tenth of the target are outliers.

Three losses with the same steps: isodepth, sliced Wasserstein and the energy distance. In the first
third of the steps, gradients are averaged over neighboring rows, so that rows without a gradient
move along. After that, each row follows its own gradient. Run it with::

    python examples/gradient_flow.py

It prints how far each flow ends from the target, and draws ``docs/figures/gradient_flow.png``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch

import isodepth
from isodepth.torch import DepthLoss

ROWS, STEPS, OUTLIERS = 200, 400, 0.1
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / "gradient_flow.png"

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def clouds(rows: int = ROWS, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the start, the target with outliers, and the target without outliers."""
    generator = torch.Generator().manual_seed(seed)

    def normal(count: int) -> torch.Tensor:
        return torch.randn(count, 2, generator=generator, dtype=torch.float64)

    start = normal(rows) - torch.tensor([5.0, 0.0])
    bad = int(OUTLIERS * rows)
    clean = normal(rows - bad) @ torch.tensor([[1.5, 0.8], [0.0, 0.6]], dtype=torch.float64)
    wrong = 0.3 * normal(bad) + torch.tensor([2.0, 9.0])
    return start, torch.cat([clean, wrong]), clean


def sliced_wasserstein(directions: int = 50, seed: int = 0) -> Loss:
    """Return sliced W_2 of two samples of equal size."""
    generator = torch.Generator().manual_seed(seed)
    units = torch.randn(2, directions, generator=generator, dtype=torch.float64)
    units = units / units.norm(dim=0)

    def loss(X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
        apart = (X @ units).sort(dim=0).values - (Y @ units).sort(dim=0).values
        return (apart**2).mean().sqrt()

    return loss


def energy(X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """Return the square root of the energy distance."""

    def mean(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return ((A[:, None] - B[None]).square().sum(dim=2) + 1e-12).sqrt().mean()

    return (2 * mean(X, Y) - mean(X, X) - mean(Y, Y)).clamp(min=1e-12).sqrt()


def flow(start: torch.Tensor, target: torch.Tensor, loss: Loss, steps: int = STEPS) -> torch.Tensor:
    """Follow the gradient: first smoothed by a wide kernel, then row by row with Adam."""
    X = start.clone()
    approach = steps // 3
    for step in range(approach):
        (slope,) = torch.autograd.grad(loss(X.requires_grad_(), target), X)
        X = X.detach()
        apart = torch.cdist(X, X)
        kernel = torch.exp(-0.5 * (apart / (2 * apart.median())) ** 2)
        pull = kernel @ slope / kernel.sum(dim=1, keepdim=True)
        size = 2 * (start.mean(dim=0) - target.median(dim=0).values).norm() / approach
        X = X - size * (1 - step / approach) * pull / pull.norm(dim=1).mean().clamp(min=1e-12)
    X.requires_grad_()
    optimizer = torch.optim.Adam([X], lr=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps - approach)
    for _ in range(steps - approach):
        optimizer.zero_grad()
        loss(X, target).backward()
        optimizer.step()
        schedule.step()
    return X.detach()


LOSSES: dict[str, Loss] = {
    "isodepth": DepthLoss(depth="projection", q=2, eps=0.2, n_directions=50, directions="sobol"),
    "sliced Wasserstein": sliced_wasserstein(),
    "energy": energy,
}


def judged(X: torch.Tensor, start: torch.Tensor, target: torch.Tensor, clean: torch.Tensor) -> dict:
    """Return the final distance relative to the start, and the fractions of misplaced rows."""
    options = {"depth": "projection", "eps": 0.2, "n_directions": 200, "random_state": 1, "q": 2}
    whole = isodepth.distance(start, target, **options)
    outliers = target[len(clean) :].mean(dim=0)
    off = ((X - outliers).norm(dim=1) < (X - clean.mean(dim=0)).norm(dim=1)).double().mean()
    far = torch.cdist(X, clean).min(dim=1).values
    return {
        "distance": (isodepth.distance(X, target, **options) / whole).item(),
        "near the outliers": off.item(),
        "far from the clean target": (far > 1.0).double().mean().item(),
    }


def table(rows: int = ROWS, steps: int = STEPS) -> tuple[dict[str, dict], dict[str, torch.Tensor]]:
    """Return the results and the final positions of all flows."""
    start, target, clean = clouds(rows)
    ends = {name: flow(start, target, loss, steps) for name, loss in LOSSES.items()}
    return {name: judged(X, start, target, clean) for name, X in ends.items()}, ends


def draw(ends: dict[str, torch.Tensor], path: Path) -> None:
    """Draw one panel per loss: the start, the target with outliers, and the final positions."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    start, target, clean = clouds(len(next(iter(ends.values()))))
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True)
    for panel, (name, X) in zip(panels, ends.items(), strict=True):
        panel.scatter(*start.T, s=8, color="0.75", label="start")
        panel.scatter(*clean.T, s=14, facecolors="none", edgecolors="tab:blue", label="target")
        wrong = target[len(clean) :]
        panel.scatter(*wrong.T, s=22, marker="x", color="tab:red", label="outliers of the target")
        panel.scatter(*X.T, s=7, color="black", label="end of the flow")
        panel.set_title(name)
        panel.set_aspect("equal")
    panels[0].legend(loc="upper left", fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> int:
    """Print the table and draw the figure."""
    results, ends = table()
    print("| flow of | distance, share of the start | near the outliers | far from the target |")
    print("|---|---|---|---|")
    for name, row in results.items():
        print(f"| {name} | " + " | ".join(f"{value:.1%}" for value in row.values()) + " |")
    draw(ends, PICTURE)
    print(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
