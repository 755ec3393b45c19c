"""Handling of Ctrl-C during imports, in which an interrupt could be lost."""

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
# Seconds until a postponed interrupt is sent again.
_DELAY = 0.01


@contextmanager
def interrupts_between_imports(caller: FrameType) -> Iterator[None]:
    """Return a context manager that postpones KeyboardInterrupt during imports.

    The exception is raised when the import has ended. Extension modules and callbacks of the import
    system discard exceptions, so that an interrupt within an import could be lost. Only the default
    handler of SIGINT is replaced.

    Parameters
    ----------
    caller : frame
        Frame of the function with the ``with`` statement, ``sys._getframe()``. Imports that are
        running before this statement do not postpone an interrupt. Otherwise, a command that an
        import starts could never be interrupted.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    handler = _Handler(caller)
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if handler.postponed:
            handler.postponed = False
            raise KeyboardInterrupt


class _Handler:
    """Handler of SIGINT; `postponed` is whether an interrupt has not been raised yet."""

    def __init__(self, caller: FrameType) -> None:
        self._caller, self._main_thread = caller, threading.get_ident()
        self.postponed = False

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        self.postponed = self._is_import(frame)
        if not self.postponed:
            raise KeyboardInterrupt
        # The low-level function does not take a lock that the interrupted code may hold.
        _thread.start_new_thread(self._send_again, ())

    def _is_import(self, frame: FrameType | None) -> bool:
        while frame is not None and frame is not self._caller:
            if frame.f_code.co_filename == _IMPORT_SYSTEM:
                return True
            frame = frame.f_back
        return False

    def _send_again(self) -> None:
        time.sleep(_DELAY)
        if not self.postponed:
            return
        if hasattr(signal, "pthread_kill"):
            # Unlike `interrupt_main`, a signal also ends a system call that waits for input.
            signal.pthread_kill(self._main_thread, signal.SIGINT)
        else:
            _thread.interrupt_main()
