"""Main table: one distance of isodepth, of the authors and of alternatives, and a sort.

The time of sorting all projections is a lower bound for distances based on ranks, called the sort
floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.harness.contenders import DEFAULT_REFINE, load_all, ours, the_authors
from benchmarks.harness.data import DEPTHS, DTYPES, pair
from benchmarks.harness.timing import FULL, QUICK, Box, alternate, blas_threads, thread_counts
from benchmarks.peers import authors, pot
from isodepth.geometry.directions import unit_vectors

Row = dict[str, Any]

SIZES = [(1000, 5), (1000, 50), (10000, 10), (100000, 10)]
#: Size beyond which only isodepth without refinement and the floor are run.
_LARGEST_FOR_PEERS = 20000


def measure(quick: bool) -> list[Row]:
    """Measure the distances of all methods for all sizes, with 1 and with 2 threads."""
    load_all()
    sizes = SIZES[:1] if quick else SIZES
    rows: list[Row] = []
    for n, d in sizes:
        for threads in thread_counts():
            rows += measure_size(n, d, K=1000, threads=threads, box=QUICK if quick else FULL)
    return rows


def measure_size(n: int, d: int, *, K: int, threads: int, box: Box) -> list[Row]:
    """Measure the distances of all methods for one size and number of threads, in turns."""
    described: dict[str, Row] = {}
    running: dict[str, Callable[[], object]] = {}
    for what, run in _contenders(n, d, K, threads):
        name = " ".join(map(str, what.values()))
        described[name], running[name] = what, run
    with blas_threads(threads):
        timings = alternate(running, box)
    size = {"n": n, "d": d, "K": K, "threads": threads}
    rows = []
    for name, timing in timings.items():
        value = None if timing.value is None else float(timing.value)
        measured = {"seconds": timing.seconds, "runs": timing.runs, "value": value}
        rows.append(described[name] | size | measured)
    return rows


def _contenders(n: int, d: int, K: int, threads: int) -> Iterator[tuple[Row, Callable[[], object]]]:
    X, Y = pair(n, d)
    in_precision = {dtype: (X.astype(dtype), Y.astype(dtype)) for dtype in DTYPES}
    for depth in DEPTHS:
        for dtype in DTYPES:
            for refine in (0,) if n > _LARGEST_FOR_PEERS else (0, DEFAULT_REFINE):
                what = {"who": "isodepth", "depth": depth, "dtype": dtype, "refine": refine}
                x, y = in_precision[dtype]
                yield what, ours(x, y, depth, K, threads=threads, refine=refine)
    U = unit_vectors(d, K)
    floor = pot.sort_floor(X, Y, U, threads)
    yield {"who": "sort floor", "depth": None, "dtype": "float32", "refine": None}, floor
    if n > _LARGEST_FOR_PEERS:
        return
    for depth in authors.DEPTHS:
        what = {"who": "authors", "depth": depth, "dtype": "float64", "refine": None}
        yield what, the_authors(X, Y, depth, K)
    x32, y32 = in_precision["float32"]
    for name, run in pot.transport_peers(X, Y, x32, y32, K).items():
        who, _, dtype = name.partition(", ")
        yield {"who": who, "depth": None, "dtype": dtype or "float64", "refine": None}, run
    mmd = {"who": "MMD (scikit-learn)", "depth": None, "dtype": "float64", "refine": None}
    yield mmd, lambda: pot.mmd(X, Y)


def find(rows: list[Row], **wanted: Any) -> Row | None:
    """Return the first row of the results that has all entries `wanted`, or None."""
    return next((r for r in rows if all(r.get(k) == v for k, v in wanted.items())), None)


def ratio(rows: list[Row], over: Row, under: Row) -> float | None:
    """Return the seconds of the row `over` divided by those of the row `under`."""
    a, b = find(rows, **over), find(rows, **under)
    return None if a is None or b is None else a["seconds"] / b["seconds"]


def fastest(rows: list[Row], **wanted: Any) -> Row | None:
    """Return the row with the smallest time among those that have all entries `wanted`, or None."""
    matches = [r for r in rows if all(r.get(k) == v for k, v in wanted.items())]
    return min(matches, key=lambda r: r["seconds"], default=None)


def precision_cost(rows: list[Row], refine: int) -> float | None:
    """Return the maximum relative difference between float32 and float64 distances of isodepth.

    Return None if no size was measured in both.
    """
    differences = []
    mine = {"who": "isodepth", "refine": refine}
    for row in rows:
        if row["dtype"] == "float32" and all(row[k] == v for k, v in mine.items()):
            same = mine | {k: row[k] for k in ("depth", "n", "d", "K", "threads")}
            other = find(rows, dtype="float64", **same)
            if other is not None:
                differences.append(abs(row["value"] / other["value"] - 1))
    return max(differences, default=None)


def markdown(rows: list[Row]) -> str:
    """Return the results as Markdown tables, one per number of threads.

    A table has the seconds of each method, and ratios to the time of isodepth.
    """
    threads = sorted({r["threads"] for r in rows})
    parts = [_table([r for r in rows if r["threads"] == t], t) for t in threads]
    for refine in (0, DEFAULT_REFINE):
        cost = precision_cost(rows, refine)
        if cost is not None:
            parts.append(
                "Largest relative difference between a float32 and a float64 distance, "
                f"refine={refine}: {cost:.1e}."
            )
    return "\n\n".join(parts)


def _table(rows: list[Row], threads: int) -> str:
    sizes = list(dict.fromkeys((r["n"], r["d"]) for r in rows))
    kinds = list(dict.fromkeys((r["who"], r["depth"], r["dtype"], r["refine"]) for r in rows))
    head = [f"n = {n}, d = {d}" for n, d in sizes]
    K = rows[0]["K"]
    lines = [
        f"Seconds for one distance, K = {K}, {threads} thread(s); in brackets, how many times the "
        "time of isodepth with the same depth (for peers without a depth: halfspace), float32, "
        "refine=0.",
        "",
        "| | " + " | ".join(head) + " |",
        "|---|" + "---|" * len(head),
    ]
    for who, depth, dtype, refine in kinds:
        label = ", ".join(
            str(x) for x in (who, depth, dtype, None if refine is None else f"refine={refine}") if x
        )
        cells = []
        for n, d in sizes:
            here = {"n": n, "d": d, "who": who, "depth": depth, "dtype": dtype, "refine": refine}
            base = {
                "n": n, "d": d, "who": "isodepth", "depth": depth or "halfspace",
                "dtype": "float32", "refine": 0,
            }  # fmt: skip
            times = ratio(rows, here, base)
            row = find(rows, **here)
            cells.append("" if row is None else f"{row['seconds']:.4f} ({times:.2f})")
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
