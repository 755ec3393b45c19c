"""The decorator of loops that are translated.

A loop is translated for each combination of types it is called with, together with all loops that
it calls, and the machine code is kept on disk. What numba would do takes many times as long, most
of it spent on what these loops have no use for; so numba is not even imported, unless translating
fails: then all loops are compiled by numba, with the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from isodepth.engine.compiled.jit import called_by_numba, loaded_stamp, njit
from isodepth.engine.compiled.lanes import translated
from isodepth.engine.compiled.lite.entries import describe, entry_of, translating, type_of
from isodepth.engine.compiled.lite.function import Source


@called_by_numba
class Loop:
    """A function that is translated when it is called."""

    def __init__(self, function: Callable[..., Any], flags: frozenset[str]) -> None:
        # What the files were when they were loaded, whenever something is translated.
        loaded_stamp()
        self.lite_source = Source(function, " ".join(sorted(flags)))
        self._flags = flags
        self._entries: dict[Any, Callable[..., Any] | None] = {}
        self._by_numba: Any = None
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, *arguments: Any) -> Any:
        slots: list[Any] = []
        key: list[Any] = []
        for value in arguments:
            describe(value, slots, key)
        codes = tuple(key)
        try:
            entry = self._entries[codes]
        except KeyError:
            entry = self.prepare(codes, arguments)
        return self.by_numba(*arguments) if entry is None else entry(slots)

    @property
    def by_numba(self) -> Any:
        """The same, compiled by numba."""
        if self._by_numba is None:
            decorate = njit(cache=True, nogil=True, error_model="numpy", fastmath=set(self._flags))
            self._by_numba = decorate(self.lite_source.function)
        return self._by_numba

    def prepare(self, codes: Any, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Make ready to be called with such arguments; None to leave them to numba."""
        source = self.lite_source
        with translating:
            if codes not in self._entries:
                types = [type_of(one) for one in arguments]
                usable = None not in types and translated()
                self._entries[codes] = entry_of(source, tuple(types)) if usable else None
            return self._entries[codes]


def loop(function: Callable[..., Any] | None = None, *, fastmath: Collection[str] = ()) -> Any:
    """Translate a function when it is called; `fastmath` as in numba."""
    if function is None:
        return lambda decorated: Loop(decorated, frozenset(fastmath))
    return Loop(function, frozenset(fastmath))
