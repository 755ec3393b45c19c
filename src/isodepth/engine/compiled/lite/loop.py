"""The decorator of loops that are translated."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from isodepth.engine.compiled.lite.kinds import ELEMENTS, SAME, ArrayType, LiteError, RecordType

_DTYPES = {np.dtype(char): char for char in ELEMENTS} | {np.dtype("l"): SAME["l"]}
_DENSE, _ALIGNED = 0x1, 0x100


class Loop:
    """A function that is translated for each combination of types it is called with."""

    def __init__(self, function, flags=""):
        from isodepth.engine.compiled.lite.function import Source
        self.lite_source = Source(function, flags)
        self._entries = {}
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, *args):
        slots, types, codes = [], [], []
        for a in args:
            _describe(a, slots, codes)
        key = tuple(codes)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = self._prepare(tuple(_type_of(a) for a in args), len(slots))
        call, pack, unpack = entry
        room = ctypes.create_string_buffer(max(len(slots), 8) * 8)
        pack(room, 0, *slots)
        call(ctypes.addressof(room))
        if unpack is not None:
            return unpack(room)

    def _prepare(self, types, n):
        import time
        from isodepth.engine.compiled.lite.function import Module
        from isodepth.engine.compiled.lite.machine import machine_code, loaded_entry
        t0=time.perf_counter()
        m = Module()
        text, results = m.text_with_entry(self.lite_source, types, "entry", object.__basicsize__)
        t1=time.perf_counter()
        code = machine_code(text)
        t2=time.perf_counter()
        call = loaded_entry(code, "entry")
        t3=time.perf_counter()
        import os
        if os.environ.get('LITE_DEBUG'):
            print(self.__name__, 'text %.3f code %.3f load %.3f'%(t1-t0,t2-t1,t3-t2), text.count('\n'),'lines')
        fmt=''.join({'double':'d','float':'f4x'}.get(k,'q') for t in types for k in _leaves(t))
        pack = struct.Struct('='+fmt).pack_into
        unpack=None
        if results:
            s = struct.Struct('='+''.join({'double':'d','float':'f4x'}.get(k,'q') for k in results))
            def unpack(room):
                v = s.unpack_from(room)
                v = tuple(bool(x) if k=='i1' else x for x,k in zip(v,results))
                return v[0] if len(v)==1 else v
        return call, pack, unpack

def _leaves(kind):
    if isinstance(kind, str): return [kind]
    if isinstance(kind, RecordType): return [l for t in kind.types for l in _leaves(t)]
    return ['ptr']

def _describe(value, slots, codes):
    if isinstance(value, np.ndarray):
        codes.append((_DTYPES[value.dtype], value.ndim, value.flags.num & 0x101))
        slots.append(id(value))
    elif isinstance(value, tuple):
        for one in value: _describe(one, slots, codes)
    else:
        codes.append(type(value))
        slots.append(value)

def _type_of(value):
    if isinstance(value, np.ndarray):
        return ArrayType(_DTYPES[value.dtype], value.ndim, bool(value.flags.num & 1))
    if isinstance(value, tuple):
        return RecordType(value._fields, tuple(_type_of(v) for v in value))
    if isinstance(value, (bool, np.bool_)): return "i1"
    if isinstance(value, (int, np.integer)): return "i64"
    if isinstance(value, np.float32): return "float"
    if isinstance(value, (float, np.floating)): return "double"
    raise LiteError(type(value))


def loop(function=None, *, fastmath=frozenset()):
    """Translate a function."""
    if function is None:
        return lambda f: Loop(f, " ".join(sorted(fastmath)))
    return Loop(function)
