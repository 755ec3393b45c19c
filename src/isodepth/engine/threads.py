"""Plain threads over independent blocks: the loops and products below release the GIL."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

Block = TypeVar("Block")
State = TypeVar("State")

# Below this many projected numbers a thread costs more than it saves.
_WORTH_A_THREAD = 100_000


class Resources(NamedTuple):
    """What a computation may use; none of it changes the result."""

    n_jobs: int | None = None
    memory_mb: float = 256.0


def available_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_count(n_jobs: int | None, n_blocks: int, elements: int) -> int:
    """How many threads to use for `n_blocks` blocks of `elements` numbers in all."""
    worth = min(n_blocks, elements // _WORTH_A_THREAD)
    if worth <= 1:
        return 1
    return max(1, min(worth, available_cores() if n_jobs is None else n_jobs))


def fold_blocks(
    blocks: Sequence[Block],
    start: Callable[[], State],
    step: Callable[[State, Block], None],
    workers: int,
) -> list[State]:
    """Apply `step` to every block, each worker with a state of its own, and return the states.

    The caller combines the states with an operation that does not depend on order (a minimum, a
    maximum, an integer sum), so the result is the same for any number of workers. A step that
    calls BLAS needs `single_threaded_blas` around all of it for that. An exception or an interrupt
    stops all workers at their next block.
    """
    if workers == 1:
        state = start()
        for block in blocks:
            step(state, block)
        return [state]
    queue: Iterator[Block] = iter(blocks)
    take = threading.Lock()
    stop = threading.Event()
    states: list[State] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            state = start()
            while not stop.is_set():
                with take:
                    block = next(queue, None)
                if block is None:
                    break
                step(state, block)
            states.append(state)
        except BaseException as error:
            stop.set()
            errors.append(error)

    with single_threaded_blas():
        helpers = [threading.Thread(target=work, daemon=True) for _ in range(workers - 1)]
        try:
            for helper in helpers:
                helper.start()
            work()
            for helper in helpers:
                helper.join()
        finally:
            # Reached early by an interrupt: whoever is still at work ends with its present block.
            stop.set()
            for helper in helpers:
                if helper.ident is not None:
                    helper.join()
    if errors:
        raise errors[0]
    return states


def best_of_workers(
    states: list[tuple[np.ndarray, np.ndarray]], better: np.ufunc
) -> tuple[np.ndarray, np.ndarray]:
    """Combine (values, where) of all workers; of equal values the first direction is named."""
    values, where = states[0]
    for other, other_where in states[1:]:
        take = better(other, values)
        if len(where):
            tied = (other == values) & (other_where < where)
            where = np.where(take | tied, other_where, where)
        values = np.where(take, other, values)
    return values, where


class _SingleThreadedBlas:
    """Keep BLAS from starting threads of its own under ours, and its rounding the same.

    Entering it again inside costs next to nothing; the last one out restores what was there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._libraries: list[Any] = []
        self._known: tuple[bool, ...] | None = None
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users > 1:
                return
            # These bring a BLAS of their own with them, perhaps only after the first look.
            loaded = tuple(name in sys.modules for name in ("scipy.linalg", "torch"))
            if loaded != self._known:
                from threadpoolctl import ThreadpoolController

                controller = ThreadpoolController().select(user_api="blas")
                self._libraries, self._known = controller.lib_controllers, loaded
            self._before = [(library, library.num_threads) for library in self._libraries]
            for library, threads in self._before:
                if threads != 1:
                    library.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                for library, threads in self._before:
                    if threads != 1:
                        library.set_num_threads(threads)


_single_threaded_blas = _SingleThreadedBlas()


def single_threaded_blas() -> _SingleThreadedBlas:
    """The context in which BLAS uses one thread."""
    return _single_threaded_blas
