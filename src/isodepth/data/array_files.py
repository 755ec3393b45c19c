"""Tables in files of NumPy: .npy, and the arrays of a .npz."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any

import numpy as np

from isodepth.data.file_source import Source, refuse
from isodepth.data.frames import Table
from isodepth.data.npy_header import MOST_HEADER_BYTES, read_npy_header
from isodepth.data.wishes import Found, Wish, choose, numbered
from isodepth.errors import UnreadableFileError


def read_array(source: Source, wish: Wish) -> Found:
    """Read an array; a .npy file is mapped into memory."""
    points = array_of(source)
    if wish.plain:
        return Found(Table(points, None))
    if points.ndim != 2:
        refuse(source.file, f"it holds an array of shape {points.shape}, which has no columns")
    names = numbered(points.shape[1])
    kept, label_place, left_out, absent = choose(names, wish, source.file)
    labels = None
    if label_place is not None:
        labels = [f"{value:g}" for value in points[:, label_place].tolist()]
    # Not points[:, kept], which may lie in memory column by column.
    chosen = np.ascontiguousarray(points[:, kept])
    return Found(Table(chosen, None), labels, left_out, [], absent)


def array_of(source: Source) -> np.ndarray:
    """The array in a file."""
    return _from_npz(source) if source.ending == ".npz" else _from_npy(source)


def _from_npy(source: Source) -> np.ndarray:
    file = source.file
    if source.content is not None:
        return _of_bytes(source.content, file, f"not a {source.ending} file of numbers")
    size = file.stat().st_size
    with file.open("rb") as opened:
        start = opened.read(MOST_HEADER_BYTES)
    if start.startswith(b"PK"):
        refuse(file, "it is an archive of arrays; name it .npz, or save one with numpy.save")
    try:
        dtype, order, shape, offset = _header(start, size)
        if math.prod(shape):
            return np.memmap(file, dtype, "r", offset, shape, order)
        return np.empty(shape, dtype)
    except (ValueError, TypeError) as error:
        refuse(file, f"it is not a .npy file of numbers, or is damaged ({error})", error)


def _from_npz(source: Source) -> np.ndarray:
    file = source.file
    try:
        with zipfile.ZipFile(io.BytesIO(source.bytes())) as archive:
            members = [name for name in archive.namelist() if name.endswith(".npy")]
            names = [name.removesuffix(".npy") for name in members]
            if "header" in names and len(names) > 1:
                refuse(file, "it is a file of isodepth (tables or a monitor), not a table of rows")
            if source.inside is not None and source.inside not in names:
                refuse(file, f"it holds no array {source.inside!r}; there are {', '.join(names)}")
            wanted = names if source.inside is None else [source.inside]
            if len(wanted) != 1:
                refuse(
                    file,
                    f"it holds {len(names)} arrays ({', '.join(names)}); say which one, such as "
                    f"{file}:{names[0] if names else 'name'}",
                )
            content = archive.read(f"{wanted[0]}.npy")
    except UnreadableFileError:
        raise
    except Exception as error:
        # Whatever zipfile stumbles over, the file is what is wrong.
        refuse(file, f"it is not a .npz archive of arrays, or is damaged ({error})", error)
    return _of_bytes(content, file, f"its array {wanted[0]!r} is not one of numbers")


def _of_bytes(content: bytes, file: object, otherwise: str) -> np.ndarray:
    if content.startswith(b"PK"):
        refuse(file, "it is an archive of arrays; save one of them with numpy.save")
    try:
        dtype, order, shape, offset = _header(content[:MOST_HEADER_BYTES], len(content))
        count = math.prod(shape)
        if not count:
            return np.empty(shape, dtype)
        return np.frombuffer(content, dtype, count, offset).reshape(shape, order=order)
    except (ValueError, TypeError) as error:
        refuse(file, f"it is {otherwise}, or is damaged ({error})", error)


def _header(start: bytes, size: int) -> tuple[np.dtype, Any, tuple[int, ...], int]:
    dtype, order, shape, offset = read_npy_header(start)
    needed = math.prod(shape) * dtype.itemsize
    if needed != size - offset:
        raise ValueError(
            f"an array of shape {shape} and type {dtype} takes {needed} bytes, there are "
            f"{size - offset}"
        )
    return dtype, order, shape, offset
