"""The header of a .npy file, compared with what it may be and never evaluated.

What a damaged header evaluates to can fail in every way there is, and take any amount of memory.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

MOST_HEADER_BYTES = 1 << 16

_MAGIC = b"\x93NUMPY"
# The three entries of a header, in any order and spacing, as any program may write them.
_ENTRIES = {
    "descr": re.compile(r"""['"]descr['"]\s*:\s*['"]([<>|=]?[biuf]\d{1,2})['"]"""),
    "fortran_order": re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)"""),
    "shape": re.compile(
        r"""['"]shape['"]\s*:\s*\(((?:\s*\d{1,18}L?\s*,)*(?:\s*\d{1,18}L?)?)\s*\)"""
    ),
}


class NpyHeader(NamedTuple):
    """What a .npy file holds, and where its numbers begin."""

    dtype: np.dtype
    order: Any
    shape: tuple[int, ...]
    offset: int


def read_npy_header(start: bytes) -> NpyHeader:
    """Read the header of an array of numbers; anything else raises ValueError or TypeError.

    Parameters
    ----------
    start : bytes
        The first `MOST_HEADER_BYTES` of the file, or all of it.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((4, 3), np.float32))
    >>> read_npy_header(file.getvalue())
    NpyHeader(dtype=dtype('float32'), order='C', shape=(4, 3), offset=128)
    """
    version = start[6:8]
    if not start.startswith(_MAGIC) or version not in (b"\1\0", b"\2\0", b"\3\0"):
        raise ValueError("it does not begin as one")
    prefix = 10 if version == b"\1\0" else 12
    offset = prefix + int.from_bytes(start[8:prefix], "little")
    if offset > len(start):
        raise ValueError("its header is cut short")
    text = start[prefix:offset].decode("utf-8" if version == b"\3\0" else "latin1").strip()
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError("its header is damaged")
    text, found = text[1:-1], {}
    for key, pattern in _ENTRIES.items():
        entry = pattern.search(text)
        if entry is None:
            raise ValueError(f"its header has no {key} of an array of numbers")
        found[key] = entry[1]
        text = text[: entry.start()] + text[entry.end() :]
    if text.replace(",", "").strip():
        raise ValueError("its header is damaged")
    shape = tuple(int(size.rstrip("L")) for size in found["shape"].replace(",", " ").split())
    order = "F" if found["fortran_order"] == "True" else "C"
    return NpyHeader(np.dtype(found["descr"]), order, shape, offset)
