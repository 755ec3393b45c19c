"""Threads and memory for functions of the compiled core."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple, TypeVar

from isodepth import _core as core

Item = TypeVar("Item")
Value = TypeVar("Value")


class Resources(NamedTuple):
    """Number of threads and working memory that a computation may use.

    Attributes
    ----------
    n_threads : int
        Maximum number of threads.
    memory_mb : float
        Working memory of all threads together, in MiB.
    """

    n_threads: int
    memory_mb: float = 256.0

    @classmethod
    def of(cls, n_jobs: int | None = None) -> Resources:
        """Return resources with `n_jobs` threads; None or -1 for all available cores."""
        return cls(thread_count(n_jobs))


ALONE = Resources(1)


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that the option `n_jobs` selects.

    None or -1 selects all available cores, see `available_cores`.
    """
    return available_cores() if n_jobs is None or n_jobs == -1 else n_jobs


def worker_count(n_jobs: int | None, n_tasks: int, operations: int) -> int:
    """Return the number of threads for `n_tasks` tasks with `operations` operations in total.

    The number is at most `n_jobs`, see `thread_count`, and at most `n_tasks`. It is 1 if the tasks
    are too small for threads to be faster.
    """
    worth = min(n_tasks, operations // core.WORTH_A_THREAD)
    return max(1, min(worth, thread_count(n_jobs))) if worth > 1 else 1


def thread_map(function: Callable[[Item], Value], items: Iterable[Item], n: int) -> list[Value]:
    """Apply `function` to every item, and return the results in the order of the items.

    At most n items are processed at the same time: the first item, and some of the others, in the
    calling thread, the rest in a pool of n - 1 threads. Threads are useful for tasks that spend
    their time in functions of `isodepth._core`, which release the GIL. After an error or an
    interrupt no further item is started, and functions of `isodepth._core` that run in the pool
    end.
    """
    items = list(items)
    if n == 1 or len(items) < 2:
        return [function(item) for item in items]
    results: dict[int, Value] = {}
    waiting, lock, stop = iter(range(1, len(items))), threading.Lock(), core.StopFlag()
    failed = threading.Event()

    def process(index: int | None) -> None:
        try:
            while index is not None and not failed.is_set():
                results[index] = function(items[index])
                with lock:
                    index = next(waiting, None)
        except BaseException:
            failed.set()
            raise

    def process_others() -> None:
        with lock:
            index = next(waiting, None)
        process(index)

    count = min(n, len(items)) - 1
    pool = ThreadPoolExecutor(count, initializer=stop.watch)
    try:
        others = [pool.submit(process_others) for _ in range(count)]
        process(0)
        for other in others:
            other.result()  # raises the error of a thread
        return [results[index] for index in range(len(items))]
    finally:
        failed.set()
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


@cache
def available_cores() -> int:
    """Return the number of cores that this process should use. The first result is cached.

    joblib determines the number from the affinity mask, the CPU quota of a container and the
    environment variable LOKY_MAX_CPU_COUNT. The variable OMP_NUM_THREADS is a further upper bound.
    If OMP_NUM_THREADS has several numbers, such as "4,2" for nested parallelism, the first is used.
    """
    import joblib

    cores = joblib.cpu_count()
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) > 0 else cores
