"""Run the study of power: one process per core, and all finished batches are stored on disk.

An interrupted run continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.power.results import finished

#: A batch is about this much work, in rows times tests, so that none takes minutes.
_BATCH = 40_000
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

# Size, number of the cell, part, first test, last test.
Batch = tuple[str, int, str, int, int]


def batches(size: str) -> Iterator[Batch]:
    """Yield all batches of tests of a size of the study, the most important cells first."""
    from experiments.power.cells import cells

    for number, cell in enumerate(cells(size)):
        step = max(1, min(500, _BATCH // (cell.n * (1 + cell.n // 2000))))
        for part in cell.parts:
            for first in range(0, cell.tests, step):
                yield size, number, part, first, min(first + step, cell.tests)


def work(batch: Batch) -> dict:
    """Return the p-values of the tests of one batch, by method."""
    from experiments.power.cells import cells

    size, number, part, first, last = batch
    cell = cells(size)[number]
    start = time.perf_counter()
    found: dict[str, dict[str, float]] = {}
    for test in range(first, last):
        for method, pvalue in cell.test(test, part).items():
            found.setdefault(method, {})[str(test)] = round(pvalue, 8)
    seconds = round(time.perf_counter() - start, 3)
    place = {"cell": cell.key, "part": part, "first": first, "last": last}
    return {**place, "p": found, "seconds": seconds}


def run(size: str, jobs: int, minutes: float | None, folder: Path) -> int:
    """Run the missing batches of tests within a time limit in minutes.

    `size` is that of `cells`. Return the number of batches that are still missing.
    """
    from experiments.power.cells import cells

    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
    keys = [cell.key for cell in cells(size)]
    done = {tuple(line[name] for name in ("cell", "part", "first", "last"))
            for line in finished(folder)}  # fmt: skip
    todo = [batch for batch in batches(size) if (keys[batch[1]], *batch[2:]) not in done]
    print(f"{size}: {len(done)} batches done, {len(todo)} to do, {jobs} processes", flush=True)
    if not todo:
        return 0
    # Children are started anew and read this before they load a BLAS.
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    context = multiprocessing.get_context("spawn")
    path = folder / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.jsonl"
    left = len(todo)
    with context.Pool(jobs) as pool, path.open("w", encoding="utf-8") as file:
        waiting = iter(todo)
        running = []
        for batch in waiting:
            running.append(pool.apply_async(work, (batch,)))
            if len(running) >= 2 * jobs:
                break
        while running and time.monotonic() < deadline:
            ready = [task for task in running if task.ready()]
            if not ready:
                time.sleep(0.02)
                continue
            for task in ready:
                running.remove(task)
                file.write(json.dumps(task.get()) + "\n")
                left -= 1
                following = next(waiting, None)
                if following is not None:
                    running.append(pool.apply_async(work, (following,)))
            file.flush()
            if sys.stdout.isatty():
                print(f"\r{left} batches left   ", end="", flush=True)
        pool.terminate()
    print(f"{left} batches left{'' if left else ': complete'}", flush=True)
    return left


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments power", description="level and power of two-sample tests"
    )
    parser.add_argument("--size", choices=("full", "reduced", "quick", "held-out"), default="full")
    parser.add_argument("--reduced", action="store_const", const="reduced", dest="size")
    parser.add_argument("--quick", action="store_const", const="quick", dest="size")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--minutes", type=float, help="stop after so long; go on another time")
    parser.add_argument("--out", type=Path, help="where results go (default out/power-SIZE)")
    parser.add_argument("--report", action="store_true", help="only tables and figures")
    parser.add_argument("--publish", type=Path, metavar="PAGE", help="fill the tables of a page")
    options = parser.parse_args(arguments)
    if options.publish and options.size != "full":
        parser.error(
            f"--publish needs --size full, got {options.size}: it would empty the other tables"
        )
    folder = options.out or Path(f"out/power-{options.size}")
    try:
        left = 0 if options.report else run(options.size, options.jobs, options.minutes, folder)
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here")
        return 130
    from experiments.power.report import publish, write_report

    write_report(options.size, folder)
    if options.publish:
        publish(options.size, folder, options.publish)
    return 0 if left == 0 else 75


if __name__ == "__main__":
    raise SystemExit(main())
