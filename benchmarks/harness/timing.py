"""Timing: the methods take turns, minima are compared, and every method has a time limit."""

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
    """Stopping rule for timing: minimum and maximum number of turns, and seconds per method.

    In each turn, a method runs once. A method that takes longer than `slow` seconds has one turn.
    """

    seconds: float = 0.7
    least: int = 2
    most: int = 40
    slow: float = 3.0


#: Enough to check that everything runs, but not to quote.
QUICK = Box(seconds=0.3, least=1, most=3)
FULL = Box()


@dataclass(frozen=True)
class Timing:
    """Minimum time of a method over its turns, and the result of the last turn."""

    seconds: float
    runs: int
    value: Any = None


def alternate(contenders: Mapping[str, Callable[[], Any]], box: Box = FULL) -> dict[str, Timing]:
    """Time all methods in turns, A B C A B C, and return the minimum time of each.

    Turns distribute disturbances of the machine over all methods, and the minimum is the least
    disturbed run. `box` limits the turns: a method that has used its seconds skips later turns.
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
    """Disable garbage collection inside a ``with`` statement, as in `timeit`."""
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
    """Limit BLAS to `threads` threads inside a ``with`` statement."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=threads, user_api="blas"):
        yield


def thread_counts() -> list[int]:
    """Return 1 and 2 threads, or 1 if there is a single core."""
    return [1, 2] if joblib.cpu_count() >= 2 else [1]


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the exponent of growth of a time: the slope of log(seconds) against log(size)."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
