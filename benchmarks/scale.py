"""Time and memory of region tables in chunks, compared with the path in memory.

    python -m benchmarks.scale make FOLDER --rows 1e8         # two folders of parquet files
    python -m benchmarks.scale memory FOLDER --rows 1e6       # time in memory of the first rows
    python -m benchmarks.scale chunks FOLDER --memory-mb 600  # time and peak memory in chunks
    python -m benchmarks.scale ratio FOLDER                   # both, one after the other
    python -m benchmarks.scale equal FOLDER                   # both, and whether bits are equal
    python -m benchmarks.scale workers FOLDER --workers 2     # the same by a Dask cluster here

Each prints one line of JSON. The data stay out of the repository. On a machine with
other users, processor time (`cpu`) is more reliable than wall-clock time.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

_GROUP = 1 << 18
_FILE = 16 * _GROUP


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("make", "memory", "chunks", "ratio", "equal", "workers"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10**6)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--directions", type=int, default=200)
    parser.add_argument("--levels", type=int, default=20)
    parser.add_argument("--depth", default="projection")
    parser.add_argument("--memory-mb", type=float, default=600.0)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    print(json.dumps({"what": options.what, **_WORK[options.what](options)}), flush=True)


def make(options: argparse.Namespace) -> dict[str, Any]:
    """Write normal rows, and shifted rows with heavier tails, in float32."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{j}" for j in range(options.columns)]
    for side, name in enumerate(("a", "b")):
        folder = options.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        for number, first in enumerate(range(0, options.rows, _FILE)):
            rng = np.random.default_rng([side, number])
            rows = min(_FILE, options.rows - first)
            with pq.ParquetWriter(
                folder / f"{number:05d}.parquet",
                pa.schema([(column, pa.float32()) for column in names]),
                use_dictionary=False,
                compression="none",
            ) as writer:
                for start in range(0, rows, _GROUP):
                    size = min(_GROUP, rows - start)
                    points = rng.standard_normal((size, options.columns), dtype=np.float32)
                    if side:
                        points *= np.sqrt(6 / rng.chisquare(6, (size, 1))).astype(np.float32)
                        points += np.float32(0.1)
                    arrays = [pa.array(points[:, j]) for j in range(options.columns)]
                    writer.write_table(pa.table(arrays, names=names), row_group_size=_GROUP)
    return {"rows": options.rows}


def _metric(options: argparse.Namespace) -> Any:
    from isodepth import Metric

    metric = Metric(
        depth=options.depth,
        n_directions=options.directions,
        levels=options.levels,
        refine=0,
        random_state=0,
        n_jobs=options.jobs,
        memory_mb=options.memory_mb,
    )
    # Warm up: loading is not part of the measured time.
    warm = np.random.default_rng(0).standard_normal((80_000, options.columns), dtype=np.float32)
    metric.table(warm)
    _in_chunks(metric, [warm, warm + 1])
    return metric


def _in_chunks(metric: Any, source: Any, runner: Any = None) -> Any:
    from isodepth import scan
    from isodepth.chunked.table import stream_table

    return stream_table(metric, scan(source), in_memory=False, runner=runner).table


def memory(options: argparse.Namespace) -> dict[str, Any]:
    """Time both region tables in memory, without reading."""
    import pyarrow.parquet as pq

    metric = _metric(options)
    seconds = cpu = 0.0
    for name in ("a", "b"):
        parts, rows = [], 0
        for file in sorted((options.folder / name).iterdir()):
            if rows >= options.rows:
                break
            part = pq.read_table(file).to_pandas().to_numpy()[: options.rows - rows]
            parts.append(part)
            rows += len(part)
        points = np.ascontiguousarray(np.concatenate(parts))
        start, cpu_start = time.perf_counter(), time.process_time()
        metric.table(points)
        seconds += time.perf_counter() - start
        cpu += time.process_time() - cpu_start
    return _times(options.rows, seconds, cpu)


def _times(rows: int, seconds: float, cpu: float) -> dict[str, Any]:
    """Return the time and memory of two region tables with the given number of rows."""
    return {
        "rows": rows,
        "seconds": seconds,
        "cpu": cpu,
        "us_a_row": seconds / 2 / rows * 1e6,
        "cpu_us_a_row": cpu / 2 / rows * 1e6,
    }


def chunks(options: argparse.Namespace) -> dict[str, Any]:
    """Time both region tables in chunks, including reading, and measure the additional memory."""
    from isodepth import scan

    metric = _metric(options)
    before = _resident()
    start, cpu_start = time.perf_counter(), time.process_time()
    tables = [_in_chunks(metric, options.folder / name) for name in ("a", "b")]
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    rows = scan(options.folder / "a").n_rows or 1
    return {
        **_times(rows, seconds, cpu),
        "mb_above": _peak() - before,
        "distance": tables[0].distance_to(tables[1]),
    }


def ratio(options: argparse.Namespace) -> dict[str, Any]:
    """Run chunks first, because their peak memory is measured, then the path in memory."""
    parts = chunks(options)
    whole = memory(options)
    return {
        "chunks": parts,
        "memory": whole,
        "ratio": parts["us_a_row"] / whole["us_a_row"],
        "cpu_ratio": parts["cpu_us_a_row"] / whole["cpu_us_a_row"],
    }


def equal(options: argparse.Namespace) -> dict[str, Any]:
    """Check that both paths give the same bits; the data must fit into memory."""
    import pyarrow.parquet as pq

    metric = _metric(options)
    same, rows, distances = True, 0, []
    for name in ("a", "b"):
        files = sorted((options.folder / name).iterdir())
        points = np.concatenate([pq.read_table(file).to_pandas().to_numpy() for file in files])
        rows = len(points)
        whole = metric.table(np.ascontiguousarray(points))
        del points
        parts = _in_chunks(metric, options.folder / name)
        same = same and bool(np.array_equal(whole.values, parts.values))
        distances.append((whole, parts))
    values = [distances[0][i].distance_to(distances[1][i]) for i in (0, 1)]
    return {"rows": rows, "same_bits": same, "distances": values}


def workers(options: argparse.Namespace) -> dict[str, Any]:
    """Time both region tables on a Dask cluster of single-threaded processes."""
    import distributed

    from isodepth.sources.passes import DaskRunner

    options.jobs = 1
    metric = _metric(options)
    with (
        distributed.LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        runner = DaskRunner(client)
        _in_chunks(metric, options.folder / "a", runner)  # all workers are warm
        before = client.run(time.process_time)
        start = time.perf_counter()
        _in_chunks(metric, options.folder / "b", runner)
        seconds = time.perf_counter() - start
        after = client.run(time.process_time)
    # With one core per worker, the slowest worker determines the time.
    spent = [after[name] - before[name] for name in before]
    return {
        "workers": options.workers,
        "seconds": seconds,
        "cpu": sum(spent),
        "cpu_of_busiest": max(spent),
    }


def _resident() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


_WORK = {
    "make": make,
    "memory": memory,
    "chunks": chunks,
    "ratio": ratio,
    "equal": equal,
    "workers": workers,
}

if __name__ == "__main__":
    main()
