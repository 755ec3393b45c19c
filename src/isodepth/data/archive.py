"""Files of our own: .npz without pickles, guarded by a checksum, replaced whole or not at all.

The file is a plain .npz archive (``numpy.load`` opens it) with a JSON header and one array a
quantity. A SHA-256 digest of every other byte stands at the end, in the comment that a zip archive
may carry: a file that was cut short, or in which any bit changed, is refused before a single number
is read.

A right checksum says nothing about who wrote the file. So nothing is believed: members must be
stored as they are (a small file that unpacks to a large one is refused), names, types, shapes and
sizes are checked against the bytes that are there, and no more than these bytes is ever allocated.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.data.output import check_target, replace_file
from isodepth.errors import InvalidInputError, InvalidOptionError, UnreadableFileError

SUFFIX = ".npz"
_FORMAT = "isodepth"
_VERSION = 1
_DIGEST_LENGTH = 64
_HEADER = "header"
# The earliest date a zip archive can hold: equal tables give equal files.
_NO_DATE = (1980, 1, 1, 0, 0, 0)

_MEMBER_NAME = re.compile(r"[a-z][a-z_0-9]{0,31}\.npy")
_MOST_MEMBERS = 16
_MOST_HEADER_BYTES = 1 << 24
_MOST_DIMENSIONS = 4
_MOST_COLUMNS = 1 << 31
# What a zip archive adds to its members: two headers and their extra fields for each, and the end.
_MEMBER_OVERHEAD = 256
_END_OVERHEAD = 256
# The beginning of a member, as NumPy writes it for an array in C order. It is compared, never
# evaluated.
_NPY_START = re.compile(
    rb"\x93NUMPY\x01\x00(..)"
    rb"\{'descr': '(<f8|<f4|<i8|<i4|\|u1|\|b1)', 'fortran_order': False, "
    rb"'shape': \(((?:\d{1,18}(?:, |,(?=\))|(?=\))))*)\), \} *\n",
    re.DOTALL,
)
_NPY_PREFIX = 10


def write_file(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a header and arrays; a file already there is replaced whole or not at all."""
    _check_name(path, InvalidOptionError)
    target = check_target(path)
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "kind": kind, **header}).encode()
    if len(text) > _MOST_HEADER_BYTES:
        raise InvalidInputError(
            f"the names of the columns take {len(text)} bytes, and a file holds at most "
            f"{_MOST_HEADER_BYTES}; shorten them"
        )
    everything = {_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    replace_file(target, _archive(everything))


def read_file(
    path: str | os.PathLike[str], kind: str, *more: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write_file` wrote; anything else raises UnreadableFileError.

    Files of the kinds in `more` will do as well.
    """
    source = _check_name(path, UnreadableFileError)
    content = _content(source)
    body, digest = content[:-_DIGEST_LENGTH], content[-_DIGEST_LENGTH:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise unreadable(source, "its checksum does not match its content")
    try:
        members = _members(content)
        header = _read_header(members.pop(_HEADER, b""))
        arrays = {name: _read_array(member, name) for name, member in members.items()}
    except UnreadableFileError as error:
        raise unreadable(source, str(error)) from None
    except Exception as error:
        # Whatever zipfile or json stumble over, the file is what is wrong.
        raise unreadable(source, f"its parts cannot be read ({error!r:.200})") from None
    found = (header["format"], header["version"], header["kind"])
    if found[:2] != (_FORMAT, _VERSION) or isinstance(found[1], bool | float):
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


# -- writing --------------------------------------------------------------------------------------


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


# -- reading --------------------------------------------------------------------------------------


def _check_name(path: Any, error: type[Exception]) -> Path:
    try:
        name = Path(path)
    except TypeError:
        raise error(f"a file is named by a text or a path, got {path!r}") from None
    if name.suffix.lower() != SUFFIX:
        raise error(f"table files are named *{SUFFIX}, got {os.fspath(path)!r}")
    return name


def _content(source: Path) -> bytes:
    try:
        if source.exists() and not source.is_file():
            # A pipe or a device may have no end.
            raise UnreadableFileError(f"cannot read {source}: it is not a file")
        return source.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, UnreadableFileError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFileError(f"cannot read {source}: {reason}") from None


def _members(content: bytes) -> dict[str, bytes]:
    """The bytes of each member, which together are no more than those of the file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        listed = archive.infolist()
        if len(listed) > _MOST_MEMBERS:
            raise UnreadableFileError(f"it has {len(listed)} parts")
        names = [member.filename for member in listed]
        for member in listed:
            if not _MEMBER_NAME.fullmatch(member.filename) or names.count(member.filename) > 1:
                raise UnreadableFileError(f"it has a part named {member.filename!r:.80}")
            packed = member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1
            if packed or member.file_size != member.compress_size:
                raise UnreadableFileError(f"its part {member.filename} is packed or encrypted")
        total = sum(member.file_size for member in listed)
        overhead = len(listed) * _MEMBER_OVERHEAD + _END_OVERHEAD
        if not total <= len(content) <= total + overhead:
            raise UnreadableFileError(
                f"its parts take {total} bytes, which does not fit a file of {len(content)}"
            )
        return {member.filename.removesuffix(".npy"): archive.read(member) for member in listed}


def _read_array(member: bytes, name: str) -> np.ndarray:
    start = _NPY_START.match(member)
    if start is None:
        raise UnreadableFileError(f"its part {name} is not an array of numbers as NumPy writes it")
    if int.from_bytes(start[1], "little") != start.end() - _NPY_PREFIX:
        raise UnreadableFileError(f"its part {name} has a header of another length than it says")
    dtype = np.dtype(start[2].decode())
    shape = tuple(int(size) for size in start[3].replace(b",", b" ").split())
    there = len(member) - start.end()
    # Python's integers: a product of sizes cannot overflow.
    if len(shape) > _MOST_DIMENSIONS or math.prod(shape) * dtype.itemsize != there:
        raise UnreadableFileError(
            f"its part {name} has {there} bytes for an array of shape {shape} and type {dtype}"
        )
    return np.frombuffer(member, dtype, offset=start.end()).reshape(shape).copy()


def _read_header(member: bytes) -> dict[str, Any]:
    if not member or len(member) > _MOST_HEADER_BYTES + _MEMBER_OVERHEAD:
        raise UnreadableFileError(f"its parts cannot be read (a header of {len(member)} bytes)")
    text = _read_array(member, _HEADER).tobytes().decode()
    header = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    if not isinstance(header, dict) or not {"format", "version", "kind"} <= set(header):
        raise UnreadableFileError("its header does not say what it holds")
    return header


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnreadableFileError("its header says something twice")
    return found


def _refuse_constant(text: str) -> Any:
    raise UnreadableFileError(f"its header holds {text}")


# -- tables ---------------------------------------------------------------------------------------
