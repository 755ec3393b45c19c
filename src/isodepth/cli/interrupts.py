"""Ctrl-C ends a command at once, also while compiled code is at work."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Python itself ends a command between two blocks of work; blocks of large tables take longer.
_PATIENCE = 0.5


@contextmanager
def prompt_interrupts(wanted: bool, code: int) -> Iterator[None]:
    """End the process with `code` soon after an interrupt, whatever it is computing.

    Python raises KeyboardInterrupt once the main thread is back from compiled code, and waits for
    all threads when it ends. A process that has waited long enough is ended from another thread.
    Only for work that writes no files, in a process that belongs to the command line (`wanted`).
    """
    mine = threading.current_thread() is threading.main_thread()
    if not wanted or not mine or os.name != "posix":
        yield
        return
    read, write = os.pipe()
    os.set_blocking(write, False)
    done = threading.Event()

    def watch() -> None:
        while number := os.read(read, 1):
            if number[0] == signal.SIGINT and not done.wait(_PATIENCE):
                os._exit(code)

    before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    watcher = threading.Thread(target=watch, daemon=True, name="isodepth-interrupts")
    watcher.start()
    try:
        yield
    except KeyboardInterrupt:
        raise  # and the watcher stays until the process is gone
    except BaseException:
        done.set()
        raise
    else:
        done.set()
    finally:
        signal.set_wakeup_fd(before)
        if done.is_set():
            os.close(write)  # the end of what the watcher reads
            watcher.join()
            os.close(read)
