"""Fair timing: contenders take turns, minima are compared, every contender has a time box."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np


@dataclass(frozen=True)
class Box:
    """How long to go on: at least and at most so many turns, about so many seconds for each.

    What takes longer than `slow` seconds has had its turn.
    """

    seconds: float = 0.7
    least: int = 2
    most: int = 40
    slow: float = 3.0


#: Enough to see that everything runs; not enough to quote.
QUICK = Box(seconds=0.3, least=1, most=3)
FULL = Box()


@dataclass(frozen=True)
class Timing:
    """The fastest of `runs` turns, and what the last of them returned."""

    seconds: float
    runs: int
    value: Any = None


def alternate(contenders: Mapping[str, Callable[[], Any]], box: Box = FULL) -> dict[str, Timing]:
    """Time all contenders in turns, A B C A B C, and keep the minimum of each.

    Taking turns lets a slow moment of the machine hit everybody; the minimum is the run that it hit
    least. A contender that has used up its seconds sits out the later turns.
    """
    best = dict.fromkeys(contenders, math.inf)
    spent = dict.fromkeys(contenders, 0.0)
    runs = dict.fromkeys(contenders, 0)
    values: dict[str, Any] = {}
    with no_collection():
        for turn in range(box.most):
            waiting = [
                k
                for k in contenders
                if spent[k] < box.seconds or (turn < box.least and spent[k] < box.slow)
            ]
            if not waiting:
                break
            for name in waiting:
                start = time.perf_counter()
                values[name] = contenders[name]()
                took = time.perf_counter() - start
                best[name] = min(best[name], took)
                spent[name] += took
                runs[name] += 1
    return {name: Timing(best[name], runs[name], values[name]) for name in contenders}


@contextmanager
def no_collection() -> Iterator[None]:
    """No garbage collection in the middle of a measurement, as in `timeit`."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def blas_threads(threads: int) -> Iterator[None]:
    """Give NumPy's products of every contender the same number of threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=threads, user_api="blas"):
        yield


def thread_counts() -> list[int]:
    """1 and 2 threads, or 1 alone where there is a single core."""
    return [1, 2] if joblib.cpu_count() >= 2 else [1]


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Exponent of growth: the slope of a straight line through the points in log-log scale."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
