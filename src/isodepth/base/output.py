"""Output files, which are checked before the computation, replaced atomically and locked.

This module also reads and writes the archives in which isodepth stores monitors and region tables.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import secrets
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.base.paths import as_path, read_npy_header, refuse, system_reason
from isodepth.errors import BusyFileError, InvalidOptionError, UnreadableFileError

# Age of a draft (temporary file) after which it is removed. A draft becomes the output within
# seconds, so an older draft was left by a process that was killed.
_STALE_SECONDS = 600.0
# First characters of the cells that spreadsheets evaluate as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# A string such as "-1" is a number in a spreadsheet, not a formula.
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?\Z")


#: Allowed endings of the names of reports.
PAGE_ENDINGS = (".html", ".htm")


def check_target(path: Any, endings: Sequence[str] = ()) -> Path:
    """Check that a file can be written, before the computation of its content.

    Parameters
    ----------
    path : str or path-like
    endings : sequence of str
        Allowed endings of the name, in lower case; all endings are allowed if it is empty.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> check_target("absent/table.npz")
    Traceback (most recent call last):
    ...
    isodepth.errors.InvalidOptionError: cannot write absent/table.npz: there is no folder ...
    """
    target = as_path(path, InvalidOptionError)
    if endings and target.suffix.lower() not in endings:
        allowed = " or ".join(endings)
        raise InvalidOptionError(f"cannot write {os.fspath(path)}: its name must end in {allowed}")
    try:
        reason = _obstacle(Path(os.path.realpath(target)))
    except (OSError, ValueError) as error:
        reason = system_reason(error)
    if reason:
        raise InvalidOptionError(f"cannot write {os.fspath(path)}: {reason}")
    return target


def _obstacle(target: Path) -> str | None:
    folder = target.parent
    if target.is_dir():
        return "it is a folder, not a file"
    if target.exists() and not target.is_file():
        return "it is a device or a pipe, not a file"
    if not folder.is_dir():
        return f"there is no folder {folder}; make it first"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"files cannot be made in the folder {folder}"
    return None


def replace_file(target: Path, content: bytes) -> None:
    """Write `content` to `target`; an existing file is replaced atomically.

    An OSError, for example because the disk is full, names `target`.
    """
    # Follow links: the file that a link points to is replaced, and the link remains.
    target = Path(os.path.realpath(target))
    # The name of the draft (temporary file) is shortened, because the name of the target may
    # already have the maximum length.
    prefix = f".{target.name[:40]}."
    _remove_stale(target.parent, prefix)
    draft = target.with_name(f"{prefix}{secrets.token_hex(8)}.part")
    try:
        with open(draft, "xb") as file:
            file.write(content)
            file.flush()
            # Without fsync the file could be empty after a power failure.
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # The error names the draft, or no file if the disk is full.
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise


def _remove_stale(folder: Path, prefix: str) -> None:
    """Remove old temporary files that a killed process left in the folder.

    The names of these files start with `prefix`.
    """
    oldest = time.time() - _STALE_SECONDS
    for draft in folder.iterdir():
        if re.fullmatch(rf"{re.escape(prefix)}[0-9a-f]{{16}}\.part", draft.name):
            with suppress(OSError):
                if draft.stat().st_mtime < oldest:
                    draft.unlink()


@contextmanager
def locked(path: str | os.PathLike[str], timeout: float = 10.0) -> Iterator[None]:
    """Hold the lock of a file inside a ``with`` statement.

    If another process holds the lock for longer than `timeout`, BusyFileError is raised. The lock
    is the file ``NAME.lock``, which is removed on release. The operating system releases the lock
    when the process ends, even if it is killed.

    Parameters
    ----------
    path : str or path-like
    timeout : float
        Seconds to wait for another process.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(f"{os.path.realpath(path)}.lock", timeout=timeout)
    try:
        lock.acquire()
    except Timeout:
        raise BusyFileError(
            f"{os.fspath(path)} is in use by another process, for more than {timeout:g} s; wait "
            "until that process has finished"
        ) from None
    except OSError as error:
        # The error names the lock, which the user does not know.
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    try:
        yield
    finally:
        # The lock file is removed before the lock is released. A waiting process that has opened
        # the removed file detects the removal and creates a new lock file.
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


# -- CSV files ------------------------------------------------------------------------------------


def csv_bytes(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return the content of a .csv file; floats are not rounded.

    `columns` maps the names of columns to their values. Strings that a spreadsheet would evaluate
    as a formula get a leading apostrophe.
    """
    text = io.StringIO()
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    csv.writer(text, lineterminator="\n").writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    formula = isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.match(value)
    return f"'{value}" if formula else value


# -- archives -------------------------------------------------------------------------------------
#
# The file format of isodepth: .npz archives with a version and a checksum, without pickles. A file
# contains a JSON header and one array per quantity; `numpy.load` opens it. The comment of the zip
# archive, at its end, is the SHA-256 digest of all other bytes. A truncated or modified file is
# refused before any array is read.
#
# The checksum does not protect against files that are crafted on purpose. Members must therefore be
# stored uncompressed, and types, shapes and sizes are compared with the number of bytes before any
# memory is allocated.

SUFFIX = ".npz"
_FORMAT = "isodepth"
_VERSION = 1
_DIGEST_LENGTH = 64
_HEADER = "header"
_MOST_MEMBERS = 16


def write_archive(
    path: str | os.PathLike[str],
    type_: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write an archive of a header and arrays; an existing file is replaced atomically.

    `type_` is the type of the stored object. It is written to the header and checked on reading.
    """
    target = check_archive_target(path)
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "kind": type_, **header}).encode()
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays})
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = b"0" * _DIGEST_LENGTH
    body = buffer.getvalue()[:-_DIGEST_LENGTH]
    replace_file(target, body + hashlib.sha256(body).hexdigest().encode())


def check_archive_target(path: Any) -> Path:
    """Check that an archive can be written to a path, whose name must end in .npz."""
    return check_target(_check_name(path, InvalidOptionError))


def read_archive(
    path: str | os.PathLike[str], type_: str, *more: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file that `write_archive` has written.

    The file must be of the type `type_`, or of one of the types in `more`. Any other file raises
    UnreadableFileError.
    """
    source = _check_name(path, UnreadableFileError)
    try:
        # Pipes and devices are refused, because reading them may never end.
        if source.exists() and not source.is_file():
            raise OSError("it is not a file")
        content = source.read_bytes()
    except (OSError, ValueError) as error:
        refuse(source, system_reason(error), error)
    body, digest = content[:-_DIGEST_LENGTH], content[-_DIGEST_LENGTH:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise unreadable(source, "its checksum does not match its content")
    try:
        arrays = _read_members(content)
        text = arrays.pop(_HEADER).tobytes().decode()
        header = json.loads(text, parse_constant=_refuse)
        read = (header["format"], header["version"], header["kind"])
    except Exception as error:
        # Every exception is caught: any error of zipfile, NumPy or json means a damaged file.
        raise unreadable(source, f"its members cannot be read ({error!r:.200})") from None
    if read[:2] != (_FORMAT, _VERSION) or type(read[1]) is not int:
        raise UnreadableFileError(
            f"{source} has format {read[0]!r:.80} version {read[1]!r:.80}; this isodepth reads "
            f"{_FORMAT!r} version {_VERSION}"
        )
    if read[2] not in (type_, *more):
        raise UnreadableFileError(f"{source} holds a {read[2]!s:.80}, not a {type_}")
    return header, arrays


def archive_digest(path: Path | None) -> bytes:
    """Return the SHA-256 digest at the end of an archive.

    Return b"" if `path` is None or if the file cannot be read.
    """
    try:
        return path.read_bytes()[-_DIGEST_LENGTH:] if path else b""
    except OSError:
        return b""


def unreadable(path: str | os.PathLike[str], reason: str) -> UnreadableFileError:
    """Return the error for a file that is damaged or was not written by isodepth."""
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
    """Return the arrays of an archive, given its bytes.

    Raise an error, before memory is allocated, if the arrays would be larger than the file.
    """
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
