"""Time of one distance on a GPU, compared with max-sliced W, and with isodepth on the CPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: Sizes (n = m, d, K), and the timed depths.
SHAPES = [(1_000_000, 64, 1000), (100_000, 10, 1000), (1_000_000, 5, 1000), (1_000_000, 2, 1000)]
QUICK = [(100_000, 10, 200)]
DEPTHS = ("projection", "halfspace")


def measure(quick: bool) -> dict[str, Any]:
    """Measure distances on the GPU: milliseconds and peak memory; no rows without a GPU."""
    try:
        import torch
    except ImportError:
        return {"rows": []}
    if not torch.cuda.is_available():
        return {"rows": []}
    rows = []
    for n, d, K in QUICK if quick else SHAPES:
        X, Y = samples(n, d)
        for depth in DEPTHS:
            rows.append(one(X, Y, depth, K, None))
        if (n, d) == SHAPES[0][:2]:
            rows += [one(X, Y, depth, K, 2048) for depth in DEPTHS]
        rows.append(peer(X, Y, K))
        if (n, d) == SHAPES[0][:2]:
            rows.append(on_processor(n, d, K, DEPTHS[0]))
        del X, Y
        torch.cuda.empty_cache()
    return {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}


def samples(n: int, d: int) -> tuple[Any, Any]:
    """Return two Gaussian samples in float32, one of them shifted and scaled."""
    import torch

    generator = torch.Generator("cuda").manual_seed(0)
    X = torch.randn(n, d, generator=generator, device="cuda")
    Y = 1.1 * torch.randn(n, d, generator=generator, device="cuda") + 0.3
    return X, Y


def one(X: Any, Y: Any, depth: str, K: int, memory_mb: float | None) -> dict[str, Any]:
    """Measure one distance of isodepth on the device of the tensors X and Y.

    It has exact levels and no refinement. Return the sizes, the name of the method, and the result
    of `timed`.
    """
    from isodepth import Metric

    budget = {} if memory_mb is None else {"memory_mb": memory_mb}
    metric = Metric(depth=depth, refine=0, n_directions=K, random_state=0, **budget)
    timing = timed(lambda: metric.distance(X, Y))
    limit = "" if memory_mb is None else f", memory_mb={memory_mb}"
    return {"n": len(X), "d": X.shape[1], "K": K, "who": f"isodepth {depth}{limit}"} | timing


def peer(X: Any, Y: Any, K: int) -> dict[str, Any]:
    """Measure max-sliced W_2 along K random directions, on the device of the tensors X and Y.

    It is computed by POT, or by the same operations if POT is not installed. Return the sizes, the
    name of the method, and the result of `timed`.
    """
    try:
        import ot
    except ImportError:
        run, who = (lambda: max_sliced(X, Y, K)), "max-sliced W (POT's algorithm in torch)"
    else:
        run = lambda: ot.sliced.max_sliced_wasserstein_distance(X, Y, n_projections=K, seed=0)  # noqa: E731
        who = "POT max-sliced W"
    shape = {"n": len(X), "d": X.shape[1], "K": K, "who": who}
    import torch

    try:
        return shape | timed(run)
    except torch.OutOfMemoryError:
        return shape | {"ms": float("nan"), "peak_gb": float("nan"), "value": float("nan")}


def max_sliced(X: Any, Y: Any, K: int) -> Any:
    """Compute max-sliced W_2 as POT does for equal masses: project, sort and compare."""
    import torch

    generator = torch.Generator(X.device).manual_seed(0)
    units = torch.randn(X.shape[1], K, generator=generator, device=X.device)
    units /= units.norm(dim=0)
    x, y = ((rows @ units).sort(dim=0).values for rows in (X, Y))
    return ((x - y) ** 2).mean(dim=0).max().sqrt()


def on_processor(n: int, d: int, K: int, depth: str) -> dict[str, Any]:
    """Time our distance on the CPU of the same machine, once, after a warm-up call."""
    from isodepth import Metric

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, n, d)).astype(np.float32)
    metric = Metric(depth=depth, refine=0, n_directions=K, random_state=0)
    metric.distance(x[:2000], y[:2000])
    start = time.perf_counter()
    metric.distance(x, y)
    took = time.perf_counter() - start
    return {"n": n, "d": d, "K": K, "who": f"isodepth {depth}, processor", "ms": 1e3 * took}


def timed(run: Callable[[], Any], repeats: int = 5) -> dict[str, float]:
    """Return the median time of `repeats` runs on the clock of the device, and their memory."""
    import torch

    value = float(run())
    run()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    held = torch.cuda.memory_allocated()
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    peak = (torch.cuda.max_memory_allocated() - held) / 1e9
    return {"ms": float(np.median(times)), "peak_gb": peak, "value": value}


def markdown(result: dict[str, Any]) -> str:
    """Return the times and memory on the GPU as a Markdown table, with one row per method."""
    if not result["rows"]:
        return "No GPU here: nothing measured."
    lines = [
        f"{result['device']}, torch {result['torch']}; float32, exact levels, refine=0.",
        "",
        "| n = m | d | K | what | ms | memory added, GB |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['n']:,} | {r['d']} | {r['K']} | {r['who']} | {r['ms']:.1f} | "
        f"{r.get('peak_gb', float('nan')):.2f} |"
        for r in result["rows"]
    ]
    return "\n".join(lines)
