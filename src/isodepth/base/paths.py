"""Paths of files, and errors about files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from isodepth.errors import MissingFileError, UnreadableFileError


def as_path(path: Any, error: type[Exception]) -> Path:
    """Convert a str or path-like to a path; raise `error` for other objects and an empty string."""
    try:
        if path != "":
            return Path(path)
    except TypeError:
        pass
    raise error(f"a file must be given as a nonempty string or a path, got {path!r}")


def read_npy_header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape and the dtype of the array in an open .npy file of `size` bytes.

    Raise ValueError if the dtype is not real, or if `size` does not match the shape and the dtype.
    Only the header is read.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((4, 3), np.float32))
    >>> read_npy_header(io.BytesIO(file.getvalue()), len(file.getvalue()))
    ((4, 3), dtype('float32'))
    """
    if np.lib.format.read_magic(file) == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    if dtype.kind not in "biuf":
        raise ValueError(f"it contains {dtype}, not real numbers")
    there = size - file.tell()
    # The number of bytes is computed with Python integers, because they cannot overflow.
    if min(shape, default=0) < 0 or math.prod(map(int, shape)) * dtype.itemsize != there:
        raise ValueError(f"an array of shape {shape} and type {dtype} does not have {there} bytes")
    return shape, dtype


def refuse(file: object, reason: str, cause: BaseException | None = None) -> NoReturn:
    """Raise the error for a file that cannot be read, with a message of one line."""
    # The reason may be a message of another library with several lines, which are joined.
    error = MissingFileError if is_absent(cause) else UnreadableFileError
    raise error(f"cannot read {file}: {' '.join(reason.split())}") from cause


def system_reason(error: Exception) -> str:
    """Return the reason of an error of the operating system as a part of a sentence.

    A ValueError, which is raised for a path with a null byte, is allowed too.

    Examples
    --------
    >>> system_reason(IsADirectoryError(21, "Is a directory"))
    'it is a folder, not a file'
    """
    if is_absent(error):
        return "there is no such file or folder"
    if isinstance(error, IsADirectoryError):
        return "it is a folder, not a file"
    if isinstance(error, PermissionError):
        return "permission is denied"
    return getattr(error, "strerror", None) or str(error)


def is_absent(error: BaseException | None) -> bool:
    """Return whether an error means that there is no such file."""
    return isinstance(error, FileNotFoundError | NotADirectoryError)
