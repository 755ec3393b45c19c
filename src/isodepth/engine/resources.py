"""What a computation may use: threads and memory. None of it changes the result."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

#: Read in this order; the smallest counts. Joblib, Dask and batch systems set them for processes
#: that share a machine.
LIMITS = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
# Below this many elementary operations (a projected number is one) a thread costs more than it
# saves.
_WORTH_A_THREAD = 250_000
# Tests that run side by side in this many processes.
_SHARED_BY = "PYTEST_XDIST_WORKER_COUNT"


class Resources(NamedTuple):
    """Threads and scratch memory of a computation.

    Attributes
    ----------
    n_jobs : int or None
        None for as many threads as there are cores.
    memory_mb : float
    """

    n_jobs: int | None = None
    memory_mb: float = 256.0

    @property
    def n_threads(self) -> int:
        """How many threads may be used."""
        return available_cores() if self.n_jobs is None else self.n_jobs

    @property
    def limits(self) -> dict[str, int | float]:
        """As the passes of `isodepth._core` take them."""
        return {"n_threads": self.n_threads, "memory_mb": self.memory_mb}


def worker_count(n_jobs: int | None, n_tasks: int, operations: int) -> int:
    """How many threads to use for `n_tasks` tasks of so many elementary operations in all."""
    worth = min(n_tasks, operations // _WORTH_A_THREAD)
    return max(1, min(worth, Resources(n_jobs).n_threads)) if worth > 1 else 1


def thread_map(function: Callable[[Item], Value], items: Iterable[Item], n: int) -> list[Value]:
    """`function` of every item, by n threads; an error or an interrupt ends it.

    For tasks that spend their time in passes of `isodepth._core`, which release the GIL.
    """
    if n == 1:
        return [function(item) for item in items]
    pool = ThreadPoolExecutor(n)
    try:
        return list(pool.map(function, items))
    finally:
        pool.shutdown(cancel_futures=True)


def available_cores() -> int:
    """Cores this process should use: what it may run on, less what others are meant to have.

    The affinity mask and the quota of a container bound it, as does an environment variable of
    `LIMITS` that is set to a positive number.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    bounds = [cores // (_number(_SHARED_BY) or 1), *map(_number, LIMITS), cpu_quota()]
    return max(1, min(bound for bound in bounds if bound is not None))


def _number(variable: str) -> int | None:
    """A positive integer in the environment; nested levels of OpenMP ("4,2") give the first."""
    text = os.environ.get(variable, "").partition(",")[0].strip()
    return int(text) if text.isdecimal() and int(text) > 0 else None


@cache
def cpu_quota(root: str = "/sys/fs/cgroup") -> int | None:
    """Processors that this container may fill, rounded up; None for all.

    A container may run on every core and yet be stopped as soon as it has used up its share.
    """
    try:
        quota, period = Path(root, "cpu.max").read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        try:
            quota = Path(root, "cpu/cpu.cfs_quota_us").read_text(encoding="utf-8")
            period = Path(root, "cpu/cpu.cfs_period_us").read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None
    try:
        share = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):
        return None
    return max(1, math.ceil(share)) if share > 0 else None
