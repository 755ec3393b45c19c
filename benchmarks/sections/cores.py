"""Speedup of one distance by all cores, with default options and without refinement.

``python -m benchmarks.sections.cores`` runs this section alone. It needs only NumPy and joblib.
"""

from __future__ import annotations

from typing import Any

import joblib

from benchmarks.harness.contenders import DEFAULT_REFINE, load_all, ours
from benchmarks.harness.data import pair
from benchmarks.harness.timing import Box, alternate

DEPTHS = ("halfspace", "projection", "irw")
SIZES = ((1000, 10), (10_000, 10), (100_000, 10))
_TURNS = Box(seconds=2.0, least=3, most=200, slow=12.0)
_QUICK = Box(seconds=0.0, least=1, most=1)


def measure(quick: bool) -> list[dict[str, Any]]:
    """Measure one distance with one thread and with all cores, in float64 with K = 1000."""
    load_all()
    K = 100 if quick else 1000
    box = _QUICK if quick else _TURNS
    cores = joblib.cpu_count()
    return [
        row(n, d, K, refine, cores, box)
        for n, d in (SIZES[:2] if quick else SIZES)
        for refine in (DEFAULT_REFINE, 0)
    ]


def row(n: int, d: int, K: int, refine: int, cores: int, box: Box) -> dict[str, Any]:
    """Measure one distance of size n, d, K with one thread and with all cores, for each depth.

    Return the seconds, the speedup, and whether both results have the same bits.
    """
    X, Y = pair(n, d)
    result: dict[str, Any] = {"n": n, "d": d, "K": K, "refine": refine, "cores": cores}
    for depth in DEPTHS:
        timings = alternate(
            {str(t): ours(X, Y, depth, K, threads=t, refine=refine) for t in (1, cores)}, box
        )
        one, all_cores = timings["1"], timings[str(cores)]
        result[depth] = {
            "seconds": [one.seconds, all_cores.seconds],
            "speedup": one.seconds / all_cores.seconds,
            "same": float(one.value).hex() == float(all_cores.value).hex(),
        }
    return result


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the speedups of all cores over one thread as a Markdown table."""
    lines = [
        f"Milliseconds of one distance with one thread and with {rows[0]['cores']}, and the "
        f"speedup; K = {rows[0]['K']}, float64.",
        "",
        "| n | d | refine | " + " | ".join(DEPTHS) + " |",
        "|---|---|---|" + "---|" * len(DEPTHS),
    ]
    for each in rows:
        cells = [
            f"{1e3 * each[depth]['seconds'][0]:.1f} / {1e3 * each[depth]['seconds'][1]:.1f} "
            f"({each[depth]['speedup']:.1f})"
            for depth in DEPTHS
        ]
        sizes = f"| {each['n']} | {each['d']} | {each['refine']} | "
        lines.append(sizes + " | ".join(cells) + " |")
    same = all(each[depth]["same"] for each in rows for depth in DEPTHS)
    lines += ["", f"Same bits with one thread and with all cores: {'yes' if same else 'NO'}."]
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown(measure(quick=False)))
