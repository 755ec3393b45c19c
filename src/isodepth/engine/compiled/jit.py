"""The one decorator of all compiled code: that of numba, with a cache that is safe to trust.

Numba stamps what it caches with the file of the function alone, although the machine code holds
whatever the function calls; it trusts the files it finds; and it raises where there is no place to
write to. Here the stamp is that of all compiled code of the package, see `code_stamp`, files are
checked before they are used, and a cache that cannot be read or written costs time, nothing else.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterator
from functools import cache as once
from typing import Any

from isodepth._version import __version__
from isodepth.errors import CacheWarning

#: The folder of the package.
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Any of these in a file says that its code is compiled, or goes into code that is. Such files
# import each other alone, so that nothing outside of them can change what is compiled.
_MARKS = (
    b"isodepth.engine.compiled.jit import",
    b"isodepth.engine.compiled.lite",
    b"from numba",
    b"goes into compiled code",
)


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with a cache of our own; the options are those of numba."""

    import numba

    _teach_numba()

    def decorate(function: Callable[..., Any]) -> Any:
        compiled = numba.njit(**options)(function)
        # With NUMBA_DISABLE_JIT the function comes back as it is.
        if cache and hasattr(compiled, "enable_caching"):
            compiled._cache = _cache_of(function)
        return compiled

    return decorate


_others: list[type] = []
_taught: set[type] = set()


def called_by_numba(kind: type) -> type:
    """Let what numba compiles call the instances of a class, which have a `by_numba`."""
    _others.append(kind)
    return kind


def _teach_numba() -> None:
    from numba.core import types
    from numba.extending import typeof_impl

    for kind in set(_others) - _taught:
        typeof_impl.register(kind)(lambda called, _: types.Dispatcher(called.by_numba))
        _taught.add(kind)


def plain_loops_wanted() -> bool:
    """Whether the user asks for numba and plain loops instead of vector instructions."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return True
    return os.environ.get("ISODEPTH_PLAIN_LOOPS", "0") not in ("", "0")


def code_stamp(package: str = PACKAGE) -> bytes:
    """A digest of every file of the package that holds compiled code, and of the version."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    if not os.path.isdir(package):
        return digest.digest() + _archive_stamp(package)
    for path in _source_files(package):
        with open(path, "rb", buffering=0) as file:
            text = file.read()
        if any(mark in text for mark in _MARKS):
            name = os.path.relpath(path, package)
            digest.update(f"\0{name}\0{len(text)}\0".encode())
            digest.update(text)
    return digest.digest()


def _archive_stamp(path: str) -> bytes:
    """Size and time of the archive, or frozen program, that the package lies in."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    status = os.stat(path)
    return f"{status.st_size} {status.st_mtime_ns}".encode()


def _source_files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _source_files(entry.path)


@once
def loaded_stamp() -> bytes:
    """The stamp of what this process runs, taken when the first of it is loaded."""
    return code_stamp()


def _cache_of(function: Callable[..., Any]) -> Any:
    from numba.core.caching import NullCache

    from isodepth.engine.compiled.cache import SealedCache

    try:
        return SealedCache(function, loaded_stamp(), still_loaded, warn_uncached)
    except (RuntimeError, OSError) as error:
        # Numba has no place to write to, or the sources cannot be read.
        warn_uncached(error)
        return NullCache()


def still_loaded() -> bool:
    """Whether the files are still those that this process runs."""
    try:
        return code_stamp() == loaded_stamp()
    except OSError:
        return False


_warned: list[bool] = []


def warn_uncached(error: Exception) -> None:
    """Say once in a process that code is compiled again in each."""
    if _warned:
        return
    _warned.append(True)
    warnings.warn(
        f"compiled code cannot be kept ({error}), so every process compiles it again, which takes "
        "a while; set the environment variable NUMBA_CACHE_DIR to a folder that can be written",
        CacheWarning,
        stacklevel=2,
    )
