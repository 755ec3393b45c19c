"""Files of our own: .npz without pickles, guarded by a checksum, replaced whole or not at all.

The file is a plain .npz archive (``numpy.load`` opens it) with a JSON header and one array a
quantity. A SHA-256 digest of every other byte stands at the end, in the comment that a zip archive
may carry: a file that was cut short, or in which any bit changed, is refused before a single number
is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.errors import InvalidOptionError, UnreadableFileError

SUFFIX = ".npz"
_FORMAT = "isodepth"
_VERSION = 1
_DIGEST_LENGTH = 64
_HEADER = "header"
# The earliest date a zip archive can hold: equal tables give equal files.
_NO_DATE = (1980, 1, 1, 0, 0, 0)


def write_file(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a header and arrays; a file already there is replaced whole or not at all."""
    target = _checked_name(path, InvalidOptionError)
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "kind": kind, **header})
    everything = {_HEADER: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    replace_file(target, _archive(everything))


def read_file(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write_file` wrote; anything else raises UnreadableFileError."""
    source = _checked_name(path, UnreadableFileError)
    try:
        content = source.read_bytes()
    except OSError as error:
        raise UnreadableFileError(f"cannot read {source}: {error.strerror or error}") from None
    body, digest = content[:-_DIGEST_LENGTH], content[-_DIGEST_LENGTH:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise unreadable(source, "its checksum does not match its content")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop(_HEADER).tobytes())
        found = (header["format"], header["version"], header["kind"])
    except (ValueError, KeyError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise unreadable(source, f"its parts cannot be read ({error})") from None
    if found[0] != _FORMAT or found[1] != _VERSION:
        raise UnreadableFileError(
            f"{source} has format {found[0]!r} version {found[1]!r}; this isodepth reads "
            f"{_FORMAT!r} version {_VERSION}"
        )
    if found[2] != kind:
        raise UnreadableFileError(f"{source} holds a {found[2]}, not a {kind}")
    return header, arrays


def replace_file(target: Path, content: bytes) -> None:
    """Put `content` in the place of `target`: until the last moment the old file is there whole."""
    # A link stays a link: what it points to is replaced, in the folder where that lives.
    target = Path(os.path.realpath(target))
    draft = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with open(draft, "xb") as file:
            file.write(content)
            file.flush()
            # Without this a power cut could leave the new name on an empty file.
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    # Makes the new name itself last; only POSIX systems can open a folder.
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _archive(arrays: Mapping[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=_NO_DATE)
            with archive.open(member, "w", force_zip64=True) as file:
                little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
                np.lib.format.write_array(file, little_endian, allow_pickle=False)
        archive.comment = b"0" * _DIGEST_LENGTH
    body = buffer.getvalue()[:-_DIGEST_LENGTH]
    return body + hashlib.sha256(body).hexdigest().encode()


def _checked_name(path: str | os.PathLike[str], error: type[Exception]) -> Path:
    if Path(path).suffix.lower() != SUFFIX:
        raise error(f"table files are named *{SUFFIX}, got {os.fspath(path)!r}")
    return Path(path)


def unreadable(path: str | os.PathLike[str], reason: str) -> UnreadableFileError:
    """The error for a file that is not what it should be."""
    return UnreadableFileError(
        f"{os.fspath(path)} is damaged or was not written by isodepth: {reason}; make it again "
        "from the data"
    )
