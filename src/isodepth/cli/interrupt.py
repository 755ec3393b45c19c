"""Interrupts by Ctrl-C that are not lost while modules are imported."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# File name of the frames of the import system.
_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
# Seconds until an interrupt that could not be raised is sent again.
_DELAY = 0.05


@contextmanager
def interrupts_between_imports(caller: FrameType) -> Iterator[None]:
    """Postpone KeyboardInterrupt to the end of an import.

    Extension modules and callbacks of the import system discard errors. An interrupt that is raised
    within an import may therefore be lost. Only the default handler of SIGINT is replaced.

    Parameters
    ----------
    caller : frame
        An interrupt is postponed by imports that started after this frame.
    """

    def raise_or_postpone(signum: int, frame: FrameType | None) -> None:
        while frame is not None and frame is not caller:
            if frame.f_code.co_filename == _IMPORT_SYSTEM:
                # The low-level function does not take a lock that the interrupted code may hold.
                _thread.start_new_thread(_interrupt_again, (threading.get_ident(),))
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, raise_or_postpone)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt_again(main_thread: int) -> None:
    time.sleep(_DELAY)
    if hasattr(signal, "pthread_kill"):
        # Unlike `interrupt_main`, a signal also ends a system call that waits for input.
        signal.pthread_kill(main_thread, signal.SIGINT)
    else:
        _thread.interrupt_main()
