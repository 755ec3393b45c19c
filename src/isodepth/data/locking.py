"""A file that one process at a time may change."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isodepth.errors import BusyFileError

_PAUSE = 0.05


@contextmanager
def locked(path: str | os.PathLike[str], patience: float = 10.0) -> Iterator[None]:
    """Hold the lock of a file; another process waits, and gives up with BusyFileError.

    The lock lies beside the file, in ``NAME.lock``, and stays there: the operating system lets go
    of it when the process ends, however it ends, so that nothing has to be cleaned up after a
    crash.

    Parameters
    ----------
    path : str or path-like
    patience : float
        Seconds to wait for another process.
    """
    target = Path(os.path.realpath(path))
    lock = target.with_name(f"{target.name}.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        deadline = time.monotonic() + patience
        while not _take(descriptor):
            if time.monotonic() >= deadline:
                raise BusyFileError(
                    f"{os.fspath(path)} is in use by another process, for more than {patience:g} "
                    "s; wait until it has finished"
                )
            time.sleep(_PAUSE)
        try:
            yield
        finally:
            _release(descriptor)
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    with suppress(BlockingIOError, PermissionError):
        if os.name == "posix":
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:  # pragma: no cover
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return True
    return False


def _release(descriptor: int) -> None:
    if os.name == "posix":
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)
    else:  # pragma: no cover
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
