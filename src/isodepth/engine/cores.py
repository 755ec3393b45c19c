"""How many cores a computation may use where nobody says it."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path

#: Read in this order; the smallest counts. Joblib, Dask and batch systems set them for processes
#: that share a machine.
LIMITS = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
# Tests that run side by side in this many processes.
_SHARED_BY = "PYTEST_XDIST_WORKER_COUNT"


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
def cpu_quota(root: str = "/") -> int | None:
    """Processors that the control group of this process may fill, rounded up; None for all.

    A container may run on every core and yet be stopped as soon as it has used up its share.
    """
    groups = Path(root, "sys/fs/cgroup")
    try:
        lines = Path(root, "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    found = []
    for line in lines:
        _, _, rest = line.partition(":")
        kinds, _, name = rest.partition(":")
        if not kinds:
            folders, read = [groups], _quota_of_second_version
        elif "cpu" in kinds.split(","):
            folders, read = [groups / kinds, groups / "cpu"], _quota_of_first_version
        else:
            continue
        # Inside a container the name may be that of the host: then only the top can be found.
        for top in folders:
            path = Path(os.path.normpath(f"{top}/{name}"))
            inside = [path, *path.parents] if path.is_relative_to(top) else [top]
            found += [read(folder) for folder in inside if folder.is_relative_to(top)]
    shares = [share for share in found if share is not None]
    return max(1, math.ceil(min(shares))) if shares else None


def _quota_of_second_version(folder: Path) -> float | None:
    try:
        quota, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _quota_of_first_version(folder: Path) -> float | None:
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text(encoding="utf-8"))
        period = int((folder / "cpu.cfs_period_us").read_text(encoding="utf-8"))
        return None if quota <= 0 else quota / period
    except (OSError, ValueError, ZeroDivisionError):
        return None
