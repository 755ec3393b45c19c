"""Functions that are translated, ready to be called: what Python passes to machine code."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable
from ctypes import create_string_buffer
from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.jit import still_loaded
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
    folder: str | None  # where it is kept; None where that is impossible
    functions: int  # how many were translated with it
    translating: float  # seconds of the processor, and
    optimizing: float  # those of LLVM; where it was found on disk, to read and load it


#: What was made ready by this process, in order.
journal: list[Prepared] = []


def entry_of(source: Source, types: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The machine code of a function for arguments of such types, from disk or made anew.

    None where the files have changed since they were loaded: their text is not what this process
    runs.
    """
    from isodepth.engine.compiled.lite.machine import loaded_entry, machine_code

    start = time.thread_time()
    store = Store(source.function, repr(types))
    kept = store.load()
    functions, middle = 0, time.thread_time()
    if kept is None:
        if not still_loaded():
            return None
        module = Module()
        text, results = module.text_with_entry(source, types)
        functions, middle = len(module), time.thread_time()
        kept = ",".join(results).encode() + b"\n" + machine_code(text)
        store.save(kept)
    names, _, code = kept.partition(b"\n")
    entry = _caller(loaded_entry(code), types, tuple(filter(None, names.decode().split(","))))
    end = time.thread_time()
    name = f"{source.function.__module__}.{source.function.__name__}"
    times = middle - start, end - middle
    journal.append(Prepared(name, not functions, store.folder, functions, *times))
    return entry


def call_translated(source: Source, *arguments: Any) -> Any:
    """Translate a function and call it, whether that can be trusted or not."""
    slots: list[Any] = []
    for value in arguments:
        describe(value, slots, [])
    with translating:
        entry = entry_of(source, tuple(type_of(one) for one in arguments))
    if entry is None:
        raise LiteError("the files have changed since they were loaded")
    return entry(slots)


def describe(value: Any, slots: list[Any], key: list[Any]) -> None:
    """List what is passed to machine code, and what decides which."""
    if isinstance(value, np.ndarray):
        slots.append(id(value))
        key += (value.dtype, value.ndim, value.flags.num & _LAYOUT)
    elif isinstance(value, tuple):
        for one in value:
            describe(one, slots, key)
    else:
        slots.append(value)
        key.append(type(value))


def type_of(value: Any) -> Any:
    """The type of an argument, None for one that is not translated."""
    if isinstance(value, np.ndarray):
        if value.dtype not in _DTYPES or not value.flags.num & _ALIGNED:
            return None
        dense = bool(value.flags.num & _DENSE)
        return ArrayType(_DTYPES[value.dtype], value.ndim, dense)
    if isinstance(value, tuple):
        types = tuple(type_of(one) for one in value)
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
