"""File format of isodepth: .npz archives with a version and a checksum, without pickles.

A file contains a JSON header and one array per quantity; ``numpy.load`` opens it. The comment of
the zip archive, at its end, is the SHA-256 digest of all other bytes. A truncated or modified file
is refused before any array is read.

The checksum does not protect against files that are crafted on purpose. Members must therefore be
stored uncompressed, and types, shapes and sizes are compared with the number of bytes before any
memory is allocated.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.data.input_file import as_path, read_npy_header
from isodepth.data.output import check_target, replace_file
from isodepth.errors import InvalidOptionError, UnreadableFileError

SUFFIX = ".npz"
_FORMAT = "isodepth"
_VERSION = 1
_DIGEST_LENGTH = 64
_HEADER = "header"
_MOST_MEMBERS = 16


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a header and arrays; an existing file is replaced atomically."""
    target = check_archive_target(path)
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "kind": kind, **header}).encode()
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays})
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = b"0" * _DIGEST_LENGTH
    body = buffer.getvalue()[:-_DIGEST_LENGTH]
    replace_file(target, body + hashlib.sha256(body).hexdigest().encode())


def check_archive_target(path: Any) -> Path:
    """Check that an archive can be written to a path."""
    return check_target(_check_name(path, InvalidOptionError))


def read_archive(
    path: str | os.PathLike[str], kind: str, *more: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a file of `write_archive`; any other file raises UnreadableFileError.

    Files of the kinds in `more` are accepted too.
    """
    source = _check_name(path, UnreadableFileError)
    try:
        if source.exists() and not source.is_file():  # a pipe or a device may have no end
            raise OSError("it is not a file")
        content = source.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFileError(f"cannot read {source}: {reason}") from None
    body, digest = content[:-_DIGEST_LENGTH], content[-_DIGEST_LENGTH:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise unreadable(source, "its checksum does not match its content")
    try:
        arrays = _read_members(content)
        text = arrays.pop(_HEADER).tobytes().decode()
        header = json.loads(text, parse_constant=_refuse)
        found = (header["format"], header["version"], header["kind"])
    except Exception as error:
        # Any error of zipfile, NumPy or json means that the file is damaged.
        raise unreadable(source, f"its members cannot be read ({error!r:.200})") from None
    if found[:2] != (_FORMAT, _VERSION) or type(found[1]) is not int:
        raise UnreadableFileError(
            f"{source} has format {found[0]!r:.80} version {found[1]!r:.80}; this isodepth reads "
            f"{_FORMAT!r} version {_VERSION}"
        )
    if found[2] not in (kind, *more):
        raise UnreadableFileError(f"{source} holds a {found[2]!s:.80}, not a {kind}")
    return header, arrays


def unreadable(path: str | os.PathLike[str], reason: str) -> UnreadableFileError:
    """Return the error for a damaged or foreign file."""
    return UnreadableFileError(
        f"{os.fspath(path)} is damaged or was not written by isodepth: {reason}; create it again "
        "from the data"
    )


def _check_name(path: Any, error: type[Exception]) -> Path:
    name = as_path(path, error)
    if name.suffix.lower() != SUFFIX:
        raise error(f"files of isodepth are named *{SUFFIX}, got {os.fspath(path)!r}")
    return name


def _read_members(content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays; their total size must not exceed that of the file."""
    arrays: dict[str, np.ndarray] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if len(members) > _MOST_MEMBERS or len(set(archive.namelist())) < len(members):
            raise ValueError(f"{len(members)} members, or two with the same name")
        if not all(member.filename.endswith(".npy") for member in members):
            raise ValueError("members that are not arrays")
        if any(
            m.compress_type != zipfile.ZIP_STORED or m.file_size != m.compress_size for m in members
        ):
            raise ValueError("compressed members")
        if sum(member.file_size for member in members) > len(content):
            raise ValueError("members that are larger than the file")
        for member in members:
            data = archive.read(member)
            read_npy_header(io.BytesIO(data), len(data))
            array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
            arrays[member.filename.removesuffix(".npy")] = array
    return arrays


def _refuse(text: str) -> Any:
    raise ValueError(f"a header that contains {text}")
