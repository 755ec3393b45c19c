"""Functions that call the compiled core, with a number of threads and a limit of memory.

The rows of a sample are sorted by depth, deepest first, so that each region consists of the first
rows. The functions compute the support values of the regions along directions, and the gap at each
level: the largest or the mean absolute difference of the support functions of two samples. The
direction of the largest difference is encoded by one integer: k for direction k, and -1 - k for its
opposite.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple, TypeVar

import numpy as np

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


def level_gaps(
    x: np.ndarray,
    y: np.ndarray,
    prefix_sizes: tuple[np.ndarray, np.ndarray],
    directions: np.ndarray,
    resources: Resources = ALONE,
    q: float = math.inf,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the gap between the regions of two samples at each level.

    The gap is a mean or maximum of |h_x(u) - h_y(u)| over the directions u and their opposites. The
    support functions h_x(u) and h_y(u) are the maximum projections of both regions on u.

    Parameters
    ----------
    x, y : ndarrays of shape (n, d) and (m, d), deepest rows first
    prefix_sizes : pair of non-decreasing int64 ndarrays of shape (L,)
        Number of rows of each sample in the region of each level.
    directions : ndarray of shape (K, d)
    resources : Resources
    q : float in [1, inf]
        Order of the mean over directions; inf for the maximum.

    Returns
    -------
    gaps : float64 ndarray of shape (L,)
        (mean of |h_x(u) - h_y(u)|**q over the 2K directions) ** (1/q), or the maximum for q = inf.
        The bits of the result do not depend on the order of the samples or on the number of
        threads.
    codes : int64 ndarray of shape (L,)
        Direction with the largest difference |h_x(u) - h_y(u)|: k for direction k, and -1 - k for
        its opposite. If several directions are tied, it is the first of them.

    Examples
    --------
    >>> import numpy as np
    >>> sizes = np.array([1, 2])
    >>> x, y = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, -3.0]])
    >>> gaps, codes = level_gaps(x, y, (sizes, sizes), np.eye(2))
    >>> gaps.tolist(), codes.tolist()
    ([1.0, 3.0], [1, -2])
    """
    units = np.ascontiguousarray(directions, dtype=x.dtype)
    sizes_x, sizes_y = map(_sizes, prefix_sizes)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    n_threads, memory_mb = resources.n_threads, resources.memory_mb
    return core.gaps(x, y, sizes_x, sizes_y, units, q, n_threads, memory_mb)


def write_supports(
    ordered: np.ndarray,
    prefix_sizes: np.ndarray,
    directions: np.ndarray,
    out: np.ndarray,
    resources: Resources,
) -> None:
    """Write the support values h(u) and h(-u) of nested regions along directions u to `out`.

    The support value h(u) of a region is the maximum projection of its rows on u.

    Parameters
    ----------
    ordered : ndarray of shape (n, d), deepest rows first
    prefix_sizes : non-decreasing int64 ndarray of shape (L,)
        Number of rows in the region of each level.
    directions : ndarray of shape (K, d)
    out : contiguous ndarray of shape (L, 2K)
        Output: h(u) for the K directions, then h(-u).
    resources : Resources
    """
    ordered = np.ascontiguousarray(ordered)
    units = np.ascontiguousarray(directions, dtype=ordered.dtype)
    sizes, n_threads = _sizes(prefix_sizes), resources.n_threads
    with np.errstate(over="ignore"):
        out[:] = core.supports(ordered, sizes, units, n_threads, resources.memory_mb)


class SupportRows(NamedTuple):
    """Extreme projections of the rows of L regions on K directions, and rows that attain them.

    Attributes
    ----------
    tops, lows : ndarrays of shape (L, K)
        Maximum and minimum projection of the region of each level on each direction.
    top_rows, low_rows : int64 ndarrays of shape (L, K)
        Indices of the first rows with these projections.
    """

    tops: np.ndarray
    lows: np.ndarray
    top_rows: np.ndarray
    low_rows: np.ndarray


def support_rows(
    ordered: np.ndarray, prefix_sizes: np.ndarray, directions: np.ndarray
) -> SupportRows:
    """Compute the extreme projections of nested regions, and the rows that attain them.

    `ordered` (n, d) has the deepest rows first, and `directions` has shape (K, d). `prefix_sizes`
    has shape (L,): the region of level l consists of the first `prefix_sizes[l]` rows.
    """
    along = ordered @ directions.T
    last = prefix_sizes - 1
    values, rows = [], []
    for sign in (1, -1):
        reach = np.maximum.accumulate(sign * along)
        further = np.zeros(along.shape, dtype=np.int64)
        further[1:] = np.where(reach[1:] > reach[:-1], np.arange(1, len(along))[:, None], 0)
        values.append(sign * reach[last])
        rows.append(np.maximum.accumulate(further)[last])
    return SupportRows(*values, *rows)


class SearchedPoints(NamedTuple):
    """Coordinates for the search of vertices in `refined_gaps`.

    Attributes
    ----------
    x, y : float64 ndarrays of shape (n, r) and (m, r), C-contiguous
        Rows of both samples, with a common origin and scale.
    exponent : int
        Original lengths are lengths in these coordinates times ``2 ** exponent``.
    """

    x: np.ndarray
    y: np.ndarray
    exponent: int


def refined_gaps(
    x: np.ndarray,
    y: np.ndarray,
    prefix_sizes: tuple[np.ndarray, np.ndarray],
    shares: np.ndarray,
    directions: np.ndarray,
    *,
    n_ascents: int,
    steps: int,
    slack: float,
    points: SearchedPoints | None,
    limit: float,
    resources: Resources = ALONE,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute gaps as `level_gaps` with q = inf, raised by ascent and a search of vertices.

    The ascent maximizes h_x(u) - h_y(u) over unit vectors u, for the support functions of the
    regions of at most eight levels. All levels are compared along the vectors that it finds.

    Parameters
    ----------
    x, y, prefix_sizes, directions, resources
        As in `level_gaps`.
    shares : ndarray of shape (L,)
        Weights of the levels.
    n_ascents : int
        Maximum number of ascents, which start from the vectors with the largest differences; 0 for
        none.
    steps : int
        Maximum number of steps of an ascent, each of which projects a sample once.
    slack : float
        Relative tolerance. An ascent or a search ends if the gap could increase by at most this
        fraction.
    points : SearchedPoints or None
        Coordinates for the search of vertices; None for those of x and y.
    limit : float
        Maximum number of point coordinates that the search reads; 0 for no search. Levels are
        searched from the innermost one outwards.

    Returns
    -------
    gaps : float64 ndarray of shape (L,)
    codes : int64 ndarray of shape (L,)
        Vector that attains each gap, as in `level_gaps`. The vectors are the directions, followed
        by `ascended` and `searched`.
    ascended : ndarray of shape (J, d), with J <= n_ascents
        Unit vectors at which the ascents ended.
    searched : ndarray of shape (R, r)
        Unit vectors that the search found, in the coordinates of `points`, or r = d.
    """
    units = np.ascontiguousarray(directions, dtype=x.dtype)
    sizes_x, sizes_y = map(_sizes, prefix_sizes)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    points_x, points_y, exponent = points or (None, None, 0)
    return core.refined_gaps(
        x, y, sizes_x, sizes_y, shares, units, n_ascents, steps, slack, points_x, points_y,
        exponent, limit, resources.n_threads, resources.memory_mb,
    )  # fmt: skip


def table_distances(
    rows: np.ndarray,
    columns: np.ndarray | None,
    *,
    p: float,
    q: float,
    unit: float,
    length: float,
    resources: Resources = ALONE,
) -> np.ndarray:
    """Compute the distances (N, M) between region tables.

    A table (L, 2K) contains the support values of the regions of a sample, at L levels and along K
    directions and their opposites.

    Parameters
    ----------
    rows : ndarray of shape (N, L, 2K)
        Tables of N samples, which are the rows of the result.
    columns : ndarray of shape (M, L, 2K) of the same dtype, or None
        Tables of M samples, which are the columns of the result. None for the tables in `rows`.
    p : float in (0, inf]
        Order of the mean of the gaps over levels.
    q : float in [1, inf]
        Order of the mean over directions that defines the gap of a level.
    unit : float
        Divisor of the mean over directions.
    length : float
        Factor of the mean over levels: 1, or 1 - eps for the integral over [0, 1 - eps].
    resources : Resources
    """
    rows = np.ascontiguousarray(rows)
    against = None if columns is None else np.ascontiguousarray(columns)
    found = core.table_distances(rows, against, p, q, length, resources.n_threads)
    found /= unit
    return found


def _sizes(numbers: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(numbers, dtype=np.int64)


def decode(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices (L,) and the signs (L,), 1.0 or -1.0, of the directions `codes` (L,).

    The code k means direction k, and the code -1 - k its opposite.
    """
    forward = codes >= 0
    return np.where(forward, codes, -1 - codes), np.where(forward, 1.0, -1.0)


def signed_directions(directions: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the unit vectors (L, d) that `codes` (L,) select from `directions` (K, d).

    The code k means direction k, and the code -1 - k its opposite.
    """
    indices, signs = decode(codes)
    return directions[indices] * signs[:, None]
