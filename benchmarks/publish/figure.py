"""Figure of the speedups, of the ratio to the time of a sort, and of the growth of time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness.data import DEPTHS, DTYPES
from benchmarks.publish.checks import PROMISED
from benchmarks.sections.table import Row, fastest, ratio

COLOURS = {"halfspace": "C0", "projection": "C1", "irw": "C2", "ai_irw": "C3"}
_GROWS = {"n": "points n = m", "K": "directions K", "d": "dimensions d"}


def draw(results: dict[str, Any], path: Path) -> bool:
    """Write the figure to `path`. Return False if there is nothing to draw."""
    table, growth = results.get("table"), results.get("growth")
    if not table and not growth:
        return False
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    n_rows = bool(table) + bool(growth)
    figure, grid = plt.subplots(
        n_rows, 3, figsize=(15, 4.6 * n_rows), layout="constrained", squeeze=False
    )
    if table:
        threads = max(r["threads"] for r in table)
        rows = [r for r in table if r["threads"] == threads]
        _against_authors(grid[0, 0], rows, threads)
        _against_peers(grid[0, 1], rows, threads)
        _over_floor(grid[0, 2], rows, threads)
    if growth:
        for axis, along in zip(grid[-1], _GROWS, strict=True):
            _curves(axis, [c for c in growth if c["along"] == along], along)
    machine = results["machine"]
    figure.suptitle(f"isodepth, one distance: {machine['cpu']}, {machine['cores']} core(s)")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True


def _sizes(rows: list[Row]) -> list[tuple[int, int]]:
    return list(dict.fromkeys((r["n"], r["d"]) for r in rows))


def _bars(axis: Any, labels: list[str], series: dict[str, list[float]], styles: dict) -> None:
    width = 0.8 / max(1, len(series))
    for i, (name, heights) in enumerate(series.items()):
        places = [j + (i - (len(series) - 1) / 2) * width for j in range(len(labels))]
        axis.bar(places, heights, width, label=name, **styles.get(name, {}))
    axis.set_xticks(range(len(labels)), labels)
    axis.grid(axis="y", alpha=0.3)
    axis.set_axisbelow(True)


def _ours(n: int, d: int, depth: str, dtype: str) -> Row:
    return {"n": n, "d": d, "who": "isodepth", "depth": depth, "dtype": dtype, "refine": 0}


def _against_authors(axis: Any, rows: list[Row], threads: int) -> None:
    sizes = [s for s in _sizes(rows) if any(r["who"] == "authors" and r["n"] == s[0] for r in rows)]
    series, styles = {}, {}
    for depth in DEPTHS:
        for dtype in DTYPES:
            times = []
            for n, d in sizes:
                theirs = {"n": n, "d": d, "who": "authors", "depth": depth}
                times.append(ratio(rows, theirs, _ours(n, d, depth, dtype)) or 0.0)
            name = f"{depth}, {dtype}"
            series[name] = times
            faint = 1.0 if dtype == "float32" else 0.45
            styles[name] = {"color": COLOURS[depth], "alpha": faint}
    _bars(axis, [f"n={n}\nd={d}" for n, d in sizes], series, styles)
    width = 0.8 / len(DEPTHS)
    for place, size in enumerate(sizes):
        for i, depth in enumerate(DEPTHS):
            if depth in PROMISED.get(size, {}):
                left = place - 0.4 + i * width
                axis.hlines(PROMISED[size][depth], left, left + width, color="k", lw=1.5, ls=":")
    axis.set_title(f"times faster than Algorithm 1 in NumPy\n({threads} threads; dots: target)")
    _legend_above(axis, 1.35)


def _against_peers(axis: Any, rows: list[Row], threads: int) -> None:
    peers = [
        who
        for who in dict.fromkeys(r["who"] for r in rows)
        if who not in ("isodepth", "authors", "sort floor")
    ]
    sizes = [s for s in _sizes(rows) if fastest(rows, n=s[0], d=s[1], who=(peers or [""])[0])]
    series = {}
    for who in peers:
        times = []
        for n, d in sizes:
            peer = fastest(rows, n=n, d=d, who=who)
            mine = fastest(rows, **_ours(n, d, "halfspace", "float32"))
            if peer is None or mine is None:
                times.append(float("nan"))
            else:
                times.append(peer["seconds"] / mine["seconds"])
        series[who] = times
    _bars(axis, [f"n={n}\nd={d}" for n, d in sizes], series, {})
    axis.set_yscale("log")
    axis.axhline(1, color="k", lw=1)
    axis.set_title(f"peers: times the time of isodepth\n(halfspace, float32, {threads} threads)")
    if peers:
        _legend_above(axis, 5)


def _over_floor(axis: Any, rows: list[Row], threads: int) -> None:
    sizes = _sizes(rows)
    series = {
        depth: [
            ratio(rows, _ours(n, d, depth, "float32"), {"n": n, "d": d, "who": "sort floor"}) or 0.0
            for n, d in sizes
        ]
        for depth in DEPTHS
    }
    styles = {depth: {"color": COLOURS[depth]} for depth in DEPTHS}
    _bars(axis, [f"n={n}\nd={d}" for n, d in sizes], series, styles)
    axis.axhline(1, color="k", lw=1)
    axis.set_title(f"isodepth over the sort floor\n(float32, {threads} threads)")
    _legend_above(axis, 1.2)


def _legend_above(axis: Any, factor: float) -> None:
    """Place the legend above the bars by scaling the axis by `factor`."""
    bottom, top = axis.get_ylim()
    axis.set_ylim(bottom, top * factor)
    axis.legend(fontsize=8, ncols=2, loc="upper left")


def _curves(axis: Any, curves: list[dict[str, Any]], along: str) -> None:
    for curve in curves:
        label = f"{curve['depth']}: slope {curve['slope']:.2f}"
        axis.loglog(
            curve["sizes"], curve["seconds"], "o-", color=COLOURS[curve["depth"]], label=label
        )
    axis.set_xlabel(_GROWS[along])
    axis.set_ylabel("seconds")
    axis.set_title(f"growth in {along} (float32, {curves[0]['threads']} threads)")
    sizes = curves[0]["sizes"]
    axis.set_xticks(sizes, [f"{s:.0f}" if s < 10000 else f"{s:.1e}" for s in sizes], fontsize=8)
    axis.set_xticks([], minor=True)
    axis.grid(which="both", alpha=0.2)
    axis.legend(fontsize=9)
