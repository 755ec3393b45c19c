"""The decorator of loops that are translated, and what happens when one is called.

A loop is translated for each combination of types it is called with, together with all loops that
it calls, and the machine code is kept on disk. What numba would do takes many times as long, most
of it spent on what these loops have no use for; so numba is not even imported, unless translating
fails: then all loops are compiled by numba, with the same results.
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Collection
from ctypes import create_string_buffer
from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.jit import loaded_stamp, njit, still_loaded
from isodepth.engine.compiled.lite.function import Source
from isodepth.engine.compiled.lite.kinds import (
    ELEMENTS,
    SAME,
    ArrayType,
    LiteError,
    RecordType,
    leaves,
)
from isodepth.engine.compiled.lite.module import Module
from isodepth.engine.compiled.lite.store import Store

_DTYPES = {np.dtype(char): char for char in ELEMENTS} | {np.dtype("l"): SAME["l"]}
# Bits of the flags of an array: numbers side by side in C order, each at a place it may have.
_DENSE, _ALIGNED = 0x1, 0x100
_LAYOUT = _DENSE | _ALIGNED
_FORMATS = {"double": "d", "float": "f4x"}

#: Held while anything is translated.
translating = threading.RLock()


class Prepared(NamedTuple):
    """A loop made ready for one combination of types."""

    name: str
    found: bool  # on disk, and not translated
    functions: int  # how many were translated with it
    translating: float  # seconds
    optimizing: float


#: What was made ready by this process, in order.
journal: list[Prepared] = []


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
            _describe(value, slots, key)
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

    def translated(self, *arguments: Any) -> Any:
        """Call it without asking whether translation can be trusted."""
        slots: list[Any] = []
        for value in arguments:
            _describe(value, slots, [])
        with translating:
            entry = self.entry(tuple(_type_of(one) for one in arguments))
        if entry is None:
            raise LiteError("the files have changed since they were loaded")
        return entry(slots)

    def prepare(self, codes: Any, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Make ready to be called with such arguments; None to leave them to numba."""
        from isodepth.engine.compiled.lanes import translated

        with translating:
            if codes not in self._entries:
                types = [_type_of(one) for one in arguments]
                usable = None not in types and translated()
                self._entries[codes] = self.entry(tuple(types)) if usable else None
            return self._entries[codes]

    def entry(self, types: tuple[Any, ...]) -> Callable[..., Any] | None:
        """The machine code for arguments of such types, from disk or made anew."""
        from isodepth.engine.compiled.lite.machine import loaded_entry, machine_code

        start = time.perf_counter()
        store = Store(self.lite_source.function, repr(types))
        kept = store.load()
        functions, middle = 0, time.perf_counter()
        if kept is None:
            if not still_loaded():
                # The text on disk is not what this process runs; numba does not need it.
                return None
            module = Module()
            text, results = module.text_with_entry(self.lite_source, types)
            functions, middle = len(module), time.perf_counter()
            kept = ",".join(results).encode() + b"\n" + machine_code(text)
            store.save(kept)
        names, _, code = kept.partition(b"\n")
        entry = _caller(loaded_entry(code), types, tuple(filter(None, names.decode().split(","))))
        end = time.perf_counter()
        name = f"{self.lite_source.function.__module__}.{self.__name__}"
        journal.append(Prepared(name, not functions, functions, middle - start, end - middle))
        return entry


def loop(function: Callable[..., Any] | None = None, *, fastmath: Collection[str] = ()) -> Any:
    """Translate a function when it is called; `fastmath` as in numba."""
    if function is None:
        return lambda decorated: Loop(decorated, frozenset(fastmath))
    return Loop(function, frozenset(fastmath))


def _describe(value: Any, slots: list[Any], key: list[Any]) -> None:
    """List what is passed to machine code, and what decides which."""
    if isinstance(value, np.ndarray):
        slots.append(id(value))
        key += (value.dtype, value.ndim, value.flags.num & _LAYOUT)
    elif isinstance(value, tuple):
        for one in value:
            _describe(one, slots, key)
    else:
        slots.append(value)
        key.append(type(value))


def _type_of(value: Any) -> Any:
    """The type of an argument, None for one that is not translated."""
    if isinstance(value, np.ndarray):
        if value.dtype not in _DTYPES or not value.flags.num & _ALIGNED:
            return None
        dense = bool(value.flags.num & _DENSE)
        return ArrayType(_DTYPES[value.dtype], value.ndim, dense)
    if isinstance(value, tuple):
        types = tuple(_type_of(one) for one in value)
        return None if None in types else RecordType(value._fields, types)  # type: ignore[attr-defined]
    if isinstance(value, (bool, np.bool_)):
        return "i1"
    if isinstance(value, (int, np.integer)):
        return "i64"
    if isinstance(value, np.float32):
        return "float"
    if isinstance(value, float):
        return "double"
    raise LiteError(f"loops take arrays and numbers, got {value!r}")


def _format(kinds: Any) -> str:
    return "=" + "".join(_FORMATS.get(kind, "q") for kind in kinds)


def _caller(code: Any, types: tuple[Any, ...], results: tuple[str, ...]) -> Callable[..., Any]:
    """A function that passes what is in its slots to machine code, and returns what that gives."""
    pack = struct.Struct(_format(leaf for one in types for leaf in leaves(one))).pack
    if not results:
        return lambda slots: code(pack(*slots), None)
    unpack = struct.Struct(_format(results)).unpack
    size = 8 * len(results)

    def call(slots: list[Any]) -> Any:
        found = create_string_buffer(size)
        code(pack(*slots), found)
        values = unpack(found)
        if "i1" in results:
            values = tuple(
                bool(one) if kind == "i1" else one
                for one, kind in zip(values, results, strict=True)
            )
        return values if len(values) > 1 else values[0]

    return call
