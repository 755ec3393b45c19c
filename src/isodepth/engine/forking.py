"""Forks while other threads compute.

A fork copies one thread and all locks, as they stand. Whoever held one is not there to release it,
so that the child waits for ever. Before a fork we therefore wait until no other thread imports a
module on our behalf (modules are imported when first used, under a lock of their own), and hold the
remaining locks ourselves: those under which code is compiled, and those given to `hold_at_fork`.
"""

from __future__ import annotations

# These two have lock holders of their own at forks. Loaded by another thread while a fork waits for
# it, they would release what they have not taken.
import concurrent.futures.thread  # noqa: F401
import logging  # noqa: F401
import os
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from isodepth.errors import ForkError

#: How long a fork waits for the first calls of other threads to load and compile what they need.
PATIENCE_SECONDS = 120.0
# Locks are given back and tried again after this long, so that nobody waits in a circle.
_TRY_SECONDS = 0.05
_IMPORTING = "<frozen importlib._bootstrap>"
_PACKAGE = __name__.partition(".")[0]

# What a distance loads when it is first needed.
_NEEDED = {_PACKAGE, "numba", "llvmlite", "numpy", "scipy", "sklearn", "threadpoolctl", "joblib"}

_locks: list[Any] = []
_held: list[Any] = []
_forsaken: list[bool] = []


def hold_at_fork(lock: Any, in_child: Callable[[], None]) -> None:
    """Hold `lock` while the process forks; `in_child` then puts right what it guards."""
    _locks.append(lock)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_child)


def refuse_forsaken_child() -> None:
    """Raise in a process that was forked in the middle of an import, where calls would hang."""
    if _forsaken:
        raise ForkError(
            "this process was forked while another thread was still loading or compiling what "
            "isodepth needs, which can never end here; start processes with the method 'spawn' or "
            "'forkserver'"
        )


def _before() -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (_hold_all() and not _others_import()):
        _release_all()
        if time.monotonic() > deadline:
            return
        time.sleep(0.001)


def _in_child() -> None:
    given_up = len(_held) < len(_wanted())
    _release_all()
    # An import may have begun after the last look; only those of this thread can still end.
    mine = _modules_on_stack(sys._getframe())
    if given_up or any(
        getattr(getattr(module, "__spec__", None), "_initializing", False)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in _NEEDED and name not in mine
    ):
        _forsaken.append(True)


def _wanted() -> list[Any]:
    """All locks to hold, those of compilers first: they are held for long."""
    compiler = sys.modules.get("numba.core.compiler_lock")
    lock = getattr(getattr(compiler, "global_compiler_lock", None), "_lock", None)
    # Likewise our own: it is looked up, as the modules of loops import each other alone.
    own = getattr(sys.modules.get(f"{_PACKAGE}.engine.compiled.lite.entries"), "translating", None)
    return [*(one for one in (lock, own) if one is not None), *_locks]


def _hold_all() -> bool:
    for lock in _wanted():
        if not lock.acquire(timeout=_TRY_SECONDS):
            return False
        _held.append(lock)
    return True


def _release_all() -> None:
    while _held:
        _held.pop().release()


def _others_import() -> bool:
    me = threading.get_ident()
    frames = sys._current_frames()
    return any(_imports_for_us(frame) for thread, frame in frames.items() if thread != me)


def _imports_for_us(frame: FrameType | None) -> bool:
    """Whether a thread is inside an import that our code asked for, or an import of our code."""
    importing = ours = False
    while frame is not None:
        importing = importing or frame.f_code.co_filename == _IMPORTING
        ours = ours or str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE
        frame = frame.f_back
    return importing and ours


def _modules_on_stack(frame: FrameType | None) -> set[str]:
    names = set()
    while frame is not None:
        names.add(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    return names


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_release_all, after_in_child=_in_child)
