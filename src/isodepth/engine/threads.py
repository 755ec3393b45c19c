"""Plain threads over independent blocks: the loops and products below release the GIL."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from isodepth.engine.forking import hold_at_fork
from isodepth.engine.pool import Job, current_job
from isodepth.engine.resources import Resources, available_cores

Block = TypeVar("Block")
State = TypeVar("State")

__all__ = ["Resources", "available_cores", "fold_blocks", "side_by_side", "single_threaded_blas"]

# Below this many projected numbers a thread costs more than it saves.
_WORTH_A_THREAD = 250_000


def worker_count(n_jobs: int | None, n_blocks: int, elements: int) -> int:
    """How many threads to use for `n_blocks` blocks of `elements` numbers in all."""
    worth = min(n_blocks, elements // _WORTH_A_THREAD)
    if worth <= 1:
        return 1
    return max(1, min(worth, available_cores() if n_jobs is None else n_jobs))


def workers_within(workers: int, held: int, memory_mb: float) -> int:
    """As many of the workers, at least one, as fit into the budget with `held` bytes each."""
    return max(1, int(min(workers, memory_mb * 2**20 // max(1, held))))


def bytes_of(state: Any) -> int:
    """Bytes of all arrays in a state, a tuple of arrays and tuples."""
    if isinstance(state, np.ndarray):
        return state.nbytes
    return sum(map(bytes_of, state)) if isinstance(state, tuple) else 0


def fold_blocks(
    blocks: Sequence[Block],
    start: Callable[[], State],
    step: Callable[[State, Block], None],
    workers: int,
    threads: int | None = None,
) -> list[State]:
    """Apply `step` to every block, each worker with a state of its own, and return the states.

    The caller combines the states with an operation that does not depend on order (a minimum, a
    maximum, an integer sum), so the result is the same for any number of workers. A step that
    calls BLAS needs `single_threaded_blas` around all of it for that. An exception or an interrupt
    stops all workers at their next block.

    Parameters
    ----------
    workers : int
        The most threads to use, with the caller's; those that find nothing to do make no state.
    threads : int or None
        The most threads to use together with the folds that the steps make themselves, where these
        may use more of them than there are workers here.
    """
    if workers == 1:
        around = current_job()
        state = start()
        for block in blocks:
            if around is not None:
                around.check()
            step(state, block)
        return [state]
    with single_threaded_blas():
        return Job(iter(blocks), start, step, workers, threads or workers).run()


def side_by_side(tasks: Sequence[Callable[[], Any]], threads: int) -> list[Any]:
    """What the tasks return, done at the same time; folds in them share the threads."""
    if threads == 1:
        return [task() for task in tasks]
    results: list[Any] = [None] * len(tasks)

    def step(_: None, i: int) -> None:
        results[i] = tasks[i]()

    workers = min(len(tasks), threads)
    fold_blocks(range(len(tasks)), lambda: None, step, workers, threads)
    return results


def best_of_workers(
    states: Sequence[tuple[np.ndarray, np.ndarray]],
    better: np.ufunc,
    place_of: Callable[[np.ndarray], np.ndarray] = np.asarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Combine (values, where) of all workers; of equal values the first direction is named.

    `where` may be empty, if nobody asked: then `better` is np.less or np.greater, and the first
    state is written over. `place_of` turns `where` into the numbers of directions.
    """
    values, where = states[0]
    if not len(where):
        # Of two numbers the better one: a pass over each state and nothing else.
        pick = np.minimum if better is np.less else np.maximum
        for other, _ in states[1:]:
            pick(values, other, out=values)
        return values, where
    for other, other_where in states[1:]:
        take = better(other, values)
        tied = (other == values) & (place_of(other_where) < place_of(where))
        where = np.where(take | tied, other_where, where)
        values = np.where(take, other, values)
    return values, where


class _SingleThreadedBlas:
    """Keep BLAS from starting threads of its own under ours, and its rounding the same.

    Entering it again inside costs next to nothing; the last one out restores what was there.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._users: dict[int, int] = {}  # how often each thread is inside
        self._libraries: list[Any] = []
        self._owned_kinds: list[Any] = []
        self._known: tuple[bool, ...] | None = None
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self.lock:
            if not self._users:
                self._limit()
            self._users[me] = self._users.get(me, 0) + 1

    def __exit__(self, *_: object) -> None:
        me = threading.get_ident()
        with self.lock:
            self._users[me] -= 1
            if self._users[me] == 0:
                del self._users[me]
            if not self._users:
                self._restore()

    def forget_others(self) -> None:
        """In a child just forked: of all threads inside, this one alone is left."""
        me = threading.get_ident()
        was_used = bool(self._users)
        self._users = {me: self._users[me]} if me in self._users else {}
        if was_used and not self._users:
            self._restore()

    def _limit(self) -> None:
        # These bring a BLAS of their own with them, perhaps only after the first look.
        loaded = tuple(name in sys.modules for name in ("scipy.linalg", "torch"))
        if loaded != self._known:
            from threadpoolctl import ThreadpoolController

            controller = ThreadpoolController().select(user_api="blas")
            self._libraries, self._known = controller.lib_controllers, loaded
            kinds = {type(library) for library in self._libraries}
            self._owned_kinds = [k for k in kinds if hasattr(k, "clear_controlling_thread")]
        self._before = [(library, library.num_threads) for library in self._libraries]
        self._set([(library, 1) for library, threads in self._before if threads != 1])

    def _restore(self) -> None:
        self._set([(library, threads) for library, threads in self._before if threads != 1])

    def _set(self, wanted: list[tuple[Any, int]]) -> None:
        """Tell each BLAS how many threads to use, from whichever thread comes first or last."""
        # Later versions of threadpoolctl let the first thread that sets a number own it for good,
        # for all libraries of a kind, and silently ignore all others.
        if wanted:
            self._disown()
            for library, threads in wanted:
                library.set_num_threads(threads)
            self._disown()

    def _disown(self) -> None:
        for kind in self._owned_kinds:
            kind.clear_controlling_thread(force=True)


_single_threaded_blas = _SingleThreadedBlas()
hold_at_fork(_single_threaded_blas.lock, _single_threaded_blas.forget_others)


def single_threaded_blas() -> _SingleThreadedBlas:
    """The context in which BLAS uses one thread."""
    return _single_threaded_blas
