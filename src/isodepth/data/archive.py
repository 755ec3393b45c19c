"""Files of our own: .npz archives of NumPy with a version and a checksum, without pickles.

A file holds a JSON header and one array for each quantity; ``numpy.load`` opens it. A SHA-256
digest of every other byte stands at the end, in the comment that a zip archive may carry: a file
that was cut short, or in which any bit changed, is refused before a single number is read.

A right checksum says nothing about who wrote the file. So members must be stored uncompressed (a
small file that unpacks to a large one is refused), and types, shapes and sizes are checked against
the bytes that are there before anything is allocated.
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
    """Write a header and arrays; a file already there is replaced whole or not at all."""
    target = check_archive_target(path)
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "kind": kind, **header}).encode()
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays})
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = b"0" * _DIGEST_LENGTH
    body = buffer.getvalue()[:-_DIGEST_LENGTH]
    replace_file(target, body + hashlib.sha256(body).hexdigest().encode())


def check_archive_target(path: Any) -> Path:
    """Check that a file of ours can be written there."""
    return check_target(_check_name(path, InvalidOptionError))


def read_archive(
    path: str | os.PathLike[str], kind: str, *more: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write_archive` wrote; anything else raises UnreadableFileError.

    Files of the kinds in `more` will do as well.
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
        # Whatever zipfile, NumPy or json stumble over, the file is what is wrong.
        raise unreadable(source, f"its parts cannot be read ({error!r:.200})") from None
    if found[:2] != (_FORMAT, _VERSION) or type(found[1]) is not int:
        raise UnreadableFileError(
            f"{source} has format {found[0]!r:.80} version {found[1]!r:.80}; this isodepth reads "
            f"{_FORMAT!r} version {_VERSION}"
        )
    if found[2] not in (kind, *more):
        raise UnreadableFileError(f"{source} holds a {found[2]!s:.80}, not a {kind}")
    return header, arrays


def unreadable(path: str | os.PathLike[str], reason: str) -> UnreadableFileError:
    """The error for a file that is not what it should be."""
    return UnreadableFileError(
        f"{os.fspath(path)} is damaged or was not written by isodepth: {reason}; make it again "
        "from the data"
    )


def _check_name(path: Any, error: type[Exception]) -> Path:
    name = as_path(path, error)
    if name.suffix.lower() != SUFFIX:
        raise error(f"files of isodepth are named *{SUFFIX}, got {os.fspath(path)!r}")
    return name


def _read_members(content: bytes) -> dict[str, np.ndarray]:
    """The arrays, which together take no more bytes than the file."""
    arrays: dict[str, np.ndarray] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if len(members) > _MOST_MEMBERS or len(set(archive.namelist())) < len(members):
            raise ValueError(f"{len(members)} parts, or two of one name")
        if not all(member.filename.endswith(".npy") for member in members):
            raise ValueError("parts that are no arrays")
        if any(
            m.compress_type != zipfile.ZIP_STORED or m.file_size != m.compress_size for m in members
        ):
            raise ValueError("packed parts")
        if sum(member.file_size for member in members) > len(content):
            raise ValueError("parts that take more bytes than the file")
        for member in members:
            data = archive.read(member)
            read_npy_header(io.BytesIO(data), len(data))
            array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
            arrays[member.filename.removesuffix(".npy")] = array
    return arrays


def _refuse(text: str) -> Any:
    raise ValueError(f"a header that holds {text}")
