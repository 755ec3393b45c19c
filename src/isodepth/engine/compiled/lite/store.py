"""Machine code on disk: read only if it is whole and made from the very code that is loaded.

Each file begins with a seal, a digest of its content together with a stamp of the code it was made
from and of the machine it was made for. A file that is truncated, damaged or out of date does not
match and counts as absent.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from isodepth.engine.compiled.jit import PACKAGE, loaded_stamp, still_loaded, warn_uncached

_SEAL_BYTES = 32


class Store:
    """The file of one loop for arguments of given types."""

    def __init__(self, function: Callable[..., Any], types: str) -> None:
        from isodepth.engine.compiled.lite.machine import machine_description

        #: Where it was found, or put; None as long as it is nowhere.
        self.folder: str | None = None
        self._source = function.__code__.co_filename
        machine = machine_description()
        made_for = f"{self._source}\0{types}\0{machine}"
        name = hashlib.blake2b(made_for.encode(), digest_size=8).hexdigest()
        self._name = f"{function.__module__}.{function.__name__}.{name}.code"
        made_from = loaded_stamp() + machine.encode() + _stamp_of_others(self._source)
        # With the name, so that a file under that of another does not pass for it.
        made_from += self._name.encode()
        self._key = hashlib.blake2b(made_from, digest_size=_SEAL_BYTES).digest()

    def load(self) -> bytes | None:
        """What was kept, if it is there and whole."""
        for folder in _folders(self._source):
            try:
                with open(os.path.join(folder, self._name), "rb", buffering=0) as file:
                    found = file.read()
            except OSError:
                continue
            seal, content = found[:_SEAL_BYTES], found[_SEAL_BYTES:]
            if seal == self._seal(content):
                self.folder = folder
                return content
        return None

    def save(self, content: bytes) -> None:
        """Keep it, where that is possible, in the first folder that takes it."""
        if not still_loaded():
            return
        reason = OSError("there is no folder for it")
        for folder in _folders(self._source):
            try:
                _write(folder, self._name, self._seal(content) + content)
                self.folder = folder
                return
            except OSError as error:
                reason = error
        warn_uncached(reason)

    def _seal(self, content: bytes) -> bytes:
        return hashlib.blake2b(content, digest_size=_SEAL_BYTES, key=self._key).digest()


def check_writable(source: str) -> None:
    """Raise an OSError where no folder takes the code of a file."""
    reason = OSError("there is no folder for it")
    for folder in _folders(source):
        try:
            _write(folder, "trial.tmp", b"")
            os.unlink(os.path.join(folder, "trial.tmp"))
            return
        except OSError as error:
            reason = error
    raise reason


def _stamp_of_others(source: str) -> bytes:
    """Time and size of a file that is not part of the package, which has a stamp of its own."""
    if source.startswith(PACKAGE):
        return b""
    try:
        status = os.stat(source)
    except OSError:
        return b"not a file"
    return f"{status.st_mtime_ns} {status.st_size}".encode()


def _folders(source: str) -> Iterator[str]:
    """Where code may be kept: where the user says, or beside the source, or at the user's home."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield os.path.join(chosen, "isodepth")
        return
    yield os.path.join(os.path.dirname(source), "__pycache__")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    yield os.path.join(home, "isodepth")


def _write(folder: str, name: str, content: bytes) -> None:
    """Write a file at once: others see all of it or nothing."""
    os.makedirs(folder, exist_ok=True)
    handle, path = tempfile.mkstemp(dir=folder, prefix=name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(path, os.path.join(folder, name))
    except OSError:
        os.unlink(path)
        raise
