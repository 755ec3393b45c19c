"""Helper threads that stay between passes, and whom they help.

Starting a thread takes longer than a small pass. So helpers wait for a while for the next one, and
end when none comes. What one call of a user leads to is a family: folds inside of folds share its
threads, of which there are never more than the outermost of them asked for. Whoever has nothing
left to do in one fold of a family goes on to another.

One lock guards everything here, and is held while the process forks. It is taken once or twice for
each helper and fold, never for a block.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from isodepth.engine.forking import hold_at_fork
from isodepth.errors import ForkError

#: A helper that had nothing to do for this long ends.
IDLE_SECONDS = 0.5

_END = object()


class Stopped(BaseException):
    """Ends a fold because one around it has failed; never seen outside of that one."""


class Family:
    """The threads of one outermost fold."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.active = 1  # the caller
        self.open: list[Job] = []
        self.changed = threading.Condition(_lock)


class Job:
    """One fold: blocks that are taken one by one by whoever joins."""

    def __init__(
        self,
        blocks: Iterator[Any],
        start: Callable[[], Any],
        step: Callable[[Any, Any], None],
        workers: int,
        limit: int,
    ) -> None:
        self.parent: Job | None = current_job()
        self.family: Family = Family(limit) if self.parent is None else self.parent.family
        self.states: list[Any] = []
        self._blocks, self._start, self._step = blocks, start, step
        self._take = threading.Lock()
        self._room = workers - 1  # how many may still join
        self._inside = 0  # those who have, and are still at work
        self._errors: list[BaseException] = []
        self._stop = False
        self._generation = _pool.generation

    def run(self) -> list[Any]:
        """Work until all blocks are done, with whoever comes to help; return the states."""
        try:
            _pool.invite(self)
            self.work(always=True)
            self._wait(helping=True)
        finally:
            # Reached early by an interrupt: whoever is still at work ends with its present block.
            self._stop = True
            self._wait(helping=False)
        if self._errors:
            raise self._errors[0]
        if self.parent is not None:
            self.parent.check()
        return self.states

    def stopped(self) -> bool:
        """Whether this fold, or one around it, has failed."""
        job: Job | None = self
        while job is not None:
            if job._stop:
                return True
            job = job.parent
        return False

    def check(self) -> None:
        """Give up what is only a part of a fold that has failed."""
        if self.stopped():
            raise Stopped

    def work(self, always: bool = False) -> None:
        """Take blocks until there are none; only `always` makes a state where there is not one."""
        before, _thread.job = current_job(), self
        try:
            block = self._next()
            if block is not _END or always:
                state = self._start()
                while block is not _END and not self.stopped():
                    self._step(state, block)
                    block = self._next()
                self.states.append(state)
        except BaseException as error:
            self._errors.append(error)
            self._stop = True
        finally:
            _thread.job = before

    def _next(self) -> Any:
        with self._take:
            block = next(self._blocks, _END)
        if block is _END:
            # Nobody else need come.
            self._room = 0
        return block

    # -- who may join; under the lock --------------------------------------------------------

    def joined(self) -> bool:
        """Join, if there is room."""
        if self._room <= 0 or self._stop:
            return False
        self._room -= 1
        self._inside += 1
        return True

    def left(self) -> None:
        """Leave, and tell who waits for that."""
        self._inside -= 1
        if self._inside == 0:
            self.family.changed.notify_all()

    def within(self, other: Job) -> bool:
        """Whether this fold is a part of another."""
        job: Job | None = self
        while job is not None and job is not other:
            job = job.parent
        return job is other

    def _wait(self, helping: bool) -> None:
        """Wait for all who have joined; meanwhile help with what they wait for themselves."""
        while True:
            other: Job | None = None
            try:
                with _lock:
                    if self in self.family.open:
                        self.family.open.remove(self)
                    if self._generation != _pool.generation:
                        raise ForkError(
                            "this process was forked in the middle of a computation, and the "
                            "threads that were at work on it did not come along; fork before or "
                            "after it"
                        )
                    if self._inside == 0:
                        return
                    if helping:
                        for job in self.family.open:
                            if job.within(self) and job.joined():
                                other = job
                                break
                    if other is None:
                        self.family.changed.wait()
                if other is not None:
                    other.work()
            finally:
                if other is not None:
                    with _lock:
                        other.left()


class _Pool:
    """The helpers: how many there are, and how many of them wait."""

    def __init__(self) -> None:
        self.generation = 0
        self.reset()

    def reset(self) -> None:
        """In a child just forked no helper is left."""
        self.generation += 1
        self.helpers = 0
        self._idle = 0
        self._calls: SimpleQueue[Job] = SimpleQueue()

    def invite(self, job: Job) -> None:
        """Open a fold to the threads of its family, waking or starting helpers for it."""
        family = job.family
        fresh = 0
        with _lock:
            family.open.append(job)
            # Those who wait inside the family are asked first; they look for themselves.
            family.changed.notify_all()
            for _ in range(min(job._room, family.limit - family.active)):
                if self._idle:
                    self._idle -= 1
                    self._calls.put(job)
                elif self.helpers < family.limit - 1:
                    self.helpers += 1
                    fresh += 1
        for _ in range(fresh):
            self._start(job)

    def _start(self, job: Job) -> None:
        helper = threading.Thread(target=self._help, args=(job,), name="isodepth", daemon=True)
        try:
            helper.start()
        except BaseException as error:
            if helper.ident is None:
                with _lock:
                    self.helpers -= 1
            # Without further threads there is still this one.
            if not isinstance(error, RuntimeError):
                raise

    def _help(self, job: Job | None) -> None:
        while job is not None:
            self._serve(job)
            job = None
            with _lock:
                self._idle += 1
            job = self._next_call()

    def _next_call(self) -> Job | None:
        try:
            return self._calls.get(timeout=IDLE_SECONDS)
        except Empty:
            with _lock:
                if not self._calls.empty():
                    # Called in this very moment.
                    return self._calls.get()
                self._idle -= 1
                self.helpers -= 1
                return None

    def _serve(self, job: Job) -> None:
        """Join a family and go from fold to fold as long as one needs somebody."""
        family = job.family
        with _lock:
            if family.active >= family.limit:
                return
            family.active += 1
            found = self._open_job(family, job)
        while found is not None:
            found.work()
            with _lock:
                found.left()
                found = self._open_job(family, None)
                if found is None:
                    family.active -= 1
                    return
        with _lock:
            family.active -= 1

    def _open_job(self, family: Family, first: Job | None) -> Job | None:
        if first is not None and first in family.open and first.joined():
            return first
        return next((job for job in family.open if job.joined()), None)


class _Thread(threading.local):
    job: Job | None = None


def current_job() -> Job | None:
    """The innermost fold that this thread is at work on."""
    return _thread.job


_lock = threading.Lock()
_thread = _Thread()
_pool = _Pool()
hold_at_fork(_lock, _pool.reset)


def helper_count() -> int:
    """How many helpers there are, at work or waiting."""
    return _pool.helpers
