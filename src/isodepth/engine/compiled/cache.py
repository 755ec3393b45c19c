"""Compiled code on disk: read only if it is whole and made from the very code that is loaded.

The files are numba's, in numba's places and with its names, but each begins with a seal: a digest
of its content together with a fingerprint of the code it was made from. A file that is truncated,
damaged, left by other code or by numba itself does not match and counts as absent.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

_SEAL_BYTES = 32
# What plain numba reads first of an index: no version of numba, so that it leaves ours alone.
_INDEX_HEAD = pickle.dumps("isodepth sealed 1", protocol=4)


class SealedCache(FunctionCache):
    """Numba's cache of one function, which neither fails nor returns anything out of date.

    Parameters
    ----------
    function : the Python function
    stamp : bytes
        What stands for all code that may be compiled into it.
    still_loaded : callable
        Whether the stamp is still that of the files; what is compiled after they have changed
        may be a mixture, and is not kept.
    complain : callable
        Receives the error where code could not be written.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        stamp: bytes,
        still_loaded: Callable[[], bool],
        complain: Callable[[Exception], None],
    ) -> None:
        super().__init__(function)
        made_from = (numba.__version__, stamp, self._impl.locator.get_source_stamp())
        self._cache_file = _SealedFiles(
            self._cache_path,
            self._impl.filename_base,
            hashlib.blake2b(repr(made_from).encode(), digest_size=_SEAL_BYTES).digest(),
        )
        self._still_loaded = still_loaded
        self._complain = complain

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None where it has to be compiled."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            # Whatever is wrong with it, compiling is right.
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if that is possible."""
        if not self._still_loaded():
            return
        try:
            super().save_overload(sig, data)
        except Exception as error:
            self._complain(error)


class _SealedFiles(IndexDataCacheFile):
    """An index and the files it names; `source_stamp` is the fingerprint that goes into seals."""

    def save(self, key: Any, data: Any) -> None:
        # Another process may have given the number of this file to another signature.
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        found = super().load(key)
        if found is None or found[0] != key:
            return None
        return found[1]

    def _load_index(self) -> dict:
        try:
            with open(self._index_path, "rb") as file:
                content = file.read()
        except OSError:
            return {}
        return self._opened(content.removeprefix(_INDEX_HEAD)) or {}

    def _save_index(self, overloads: dict) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(_INDEX_HEAD + self._sealed(overloads))

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            return self._opened(file.read())

    def _save_data(self, name: str, data: Any) -> None:
        with self._open_for_write(self._data_path(name)) as file:
            file.write(self._sealed(data))

    def _sealed(self, thing: Any) -> bytes:
        content = self._dump(thing)
        return self._seal(content) + content

    def _opened(self, content: bytes) -> Any:
        seal, content = content[:_SEAL_BYTES], content[_SEAL_BYTES:]
        if seal != self._seal(content):
            return None
        try:
            return pickle.loads(content)
        except Exception:
            # Whole, and still not to be read: it names something that is gone.
            return None

    def _seal(self, content: bytes) -> bytes:
        return hashlib.blake2b(content, digest_size=_SEAL_BYTES, key=self._source_stamp).digest()
