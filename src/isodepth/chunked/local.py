"""Passes on one machine: one thread reads ahead, the others compute."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from typing import Any

from isodepth.chunked.passes import Pass

# Interrupts are noticed at least this often.
_SECONDS = 0.1
_END = object()


def fold_chunks(
    chunks: Callable[[], Iterable[Any]],
    prepare: Callable[[int, Any], Any],
    work: Pass,
    n_workers: int,
    advance: Callable[[int], None] = lambda count: None,
) -> Any:
    """Run a pass over chunks as they are read.

    Parameters
    ----------
    chunks : gives a fresh iterator of raw chunks; it is read by a thread of its own
    prepare : turns the number of rows read before, and a chunk, into what the pass takes; the
        first field of both holds the rows
    n_workers : threads that compute; the result does not depend on it
    advance : told after each chunk
    """
    ahead: queue.Queue[Any] = queue.Queue(maxsize=2)
    stop = threading.Event()
    errors: list[BaseException] = []
    states: list[Any] = []

    def put(item: Any) -> bool:
        while not stop.is_set():
            try:
                ahead.put(item, timeout=_SECONDS)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            start = 0
            for chunk in chunks():
                if not put((start, chunk)):
                    return
                start += len(chunk[0])
        except BaseException as error:
            errors.append(error)
            stop.set()
        finally:
            for _ in range(n_workers):
                put(_END)

    def compute() -> None:
        try:
            state = work.start()
            while not stop.is_set():
                try:
                    item = ahead.get(timeout=_SECONDS)
                except queue.Empty:
                    continue
                if item is _END:
                    break
                rows = prepare(*item)
                if len(rows[0]):
                    work.step(state, rows)
                advance(1)
            states.append(state)
        except BaseException as error:
            errors.append(error)
            stop.set()

    threads = [threading.Thread(target=compute, daemon=True) for _ in range(n_workers)]
    reader = threading.Thread(target=read, daemon=True)
    try:
        for thread in (reader, *threads):
            thread.start()
        for thread in (*threads, reader):
            while thread.is_alive():
                # Short waits: a signal reaches this thread between two of them.
                thread.join(_SECONDS)
    finally:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if errors:
        raise errors[0]
    result = states[0]
    for state in states[1:]:
        work.merge(result, state)
    return result
