"""Files that are written: checked before the work, replaced whole or not at all, by one process."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from isodepth.errors import BusyFileError, InvalidOptionError


def check_target(path: Any) -> Path:
    """Check that a file can be written there, before the work whose result it will hold.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    path : Path

    Examples
    --------
    >>> check_target("absent/table.npz")
    Traceback (most recent call last):
    ...
    isodepth.errors.InvalidOptionError: cannot write absent/table.npz: there is no folder ...
    """
    try:
        target = Path(path)
        reason = _obstacle(Path(os.path.realpath(target)))
    except TypeError:
        raise InvalidOptionError(f"a file is named by a text or a path, got {path!r}") from None
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error)
    if reason:
        raise InvalidOptionError(f"cannot write {os.fspath(path)}: {reason}")
    return target


def _obstacle(target: Path) -> str | None:
    folder = target.parent
    if target.is_dir():
        return "it is a folder, not a file"
    if target.exists() and not target.is_file():
        return "it is a device or a pipe, not a file"
    if not folder.exists():
        return f"there is no folder {folder}; make it first"
    if not folder.is_dir():
        return f"{folder} is not a folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"files cannot be made in the folder {folder}"
    return None


def replace_file(target: Path, content: bytes) -> None:
    """Put `content` in the place of `target`: until the last moment the old file is there whole."""
    # A link stays a link: what it points to is replaced, in the folder where that lives.
    target = Path(os.path.realpath(target))
    # The name of the draft must not become too long where that of the target just fits.
    draft = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.part")
    try:
        with open(draft, "xb") as file:
            file.write(content)
            file.flush()
            # Without this a power cut could leave the new name on an empty file.
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: str | os.PathLike[str], timeout: float = 10.0) -> Iterator[None]:
    """Hold the lock of a file; another process waits, and gives up with BusyFileError.

    The lock lies beside the file, in ``NAME.lock``, and goes when it is released. The operating
    system lets go of it when the process ends, however it ends.

    Parameters
    ----------
    path : str or path-like
    timeout : float
        Seconds to wait for another process.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(f"{os.path.realpath(path)}.lock", timeout=timeout)
    try:
        lock.acquire()
    except Timeout:
        raise BusyFileError(
            f"{os.fspath(path)} is in use by another process, for more than {timeout:g} s; wait "
            "until it has finished"
        ) from None
    try:
        yield
    finally:
        # While it is held: who has opened it meanwhile finds it unlinked, and opens a new one.
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()
