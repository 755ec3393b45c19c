"""Output files: checked before the computation, replaced atomically, locked while in use.

Also the archives in which isodepth stores monitors and tables of regions.
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

from isodepth.data.csv_files import csv_format
from isodepth.data.input_file import (
    ARROW_ENDINGS,
    TEXT_ENDINGS,
    InputFile,
    as_path,
    read_npy_header,
)
from isodepth.data.readers import array_of, arrow_table
from isodepth.errors import (
    BusyFileError,
    InvalidInputError,
    InvalidOptionError,
    UnreadableFileError,
)

# A draft is complete within seconds. An older one was left by a process that was killed.
_STALE_SECONDS = 600.0
# Spreadsheets evaluate cells that start with one of these characters.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def check_target(path: Any) -> Path:
    """Check that a file can be written, before the computation of its content.

    Parameters
    ----------
    path : str or path-like

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
    try:
        reason = _obstacle(Path(os.path.realpath(target)))
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error)
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
    """Write `content` to `target`; an existing file is replaced atomically."""
    # If the target is a link, the file that it points to is replaced, and the link remains.
    target = Path(os.path.realpath(target))
    # The name of the draft is shortened: that of the target may have the maximum length.
    prefix = f".{target.name[:40]}."
    _remove_stale(target.parent, prefix)
    draft = target.with_name(f"{prefix}{secrets.token_hex(8)}.part")
    try:
        with open(draft, "xb") as file:
            file.write(content)
            file.flush()
            # Otherwise the file could be empty after a power failure.
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _remove_stale(folder: Path, prefix: str) -> None:
    """Remove drafts of a target that a killed process left behind."""
    oldest = time.time() - _STALE_SECONDS
    for draft in folder.iterdir():
        if re.fullmatch(rf"{re.escape(prefix)}[0-9a-f]{{16}}\.part", draft.name):
            with suppress(OSError):
                if draft.stat().st_mtime < oldest:
                    draft.unlink()


@contextmanager
def locked(path: str | os.PathLike[str], timeout: float = 10.0) -> Iterator[None]:
    """Hold the lock of a file; if another process holds it, wait, then raise BusyFileError.

    The lock is the file ``NAME.lock``, which is removed on release. The operating system releases
    the lock when the process ends, even if it is killed.

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
            "until it has finished"
        ) from None
    try:
        yield
    finally:
        # Removed while it is held: a process that has opened it will notice and open a new one.
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


# -- tables ---------------------------------------------------------------------------------------

KNOWN = (*TEXT_ENDINGS, *ARROW_ENDINGS, ".npy")


def check_table_target(path: Any, known: Sequence[str] = KNOWN, why: str = "") -> Path:
    """Check that a table of a supported format can be written, before the computation."""
    target = check_target(path)
    ending = target.suffix.lower()
    if ending not in known:
        received = f"its name ends in {ending!r}" if ending else "its name has no ending"
        raise InvalidOptionError(
            f"cannot write {target}: {received}; allowed are {', '.join(known)}{why}"
        )
    return target


def table_bytes(ending: str, columns: Mapping[str, Sequence[Any]], numbers: np.ndarray) -> bytes:
    """Return the bytes of a table with named columns; ``.npy`` contains the numbers only.

    In a text file, labels that a spreadsheet would evaluate as a formula get a leading apostrophe.
    """
    if ending in TEXT_ENDINGS:
        rows = [list(columns), *zip(*columns.values(), strict=True)]
        return _text_bytes([[_inert(cell) for cell in row] for row in rows], TEXT_ENDINGS[ending])
    if ending in ARROW_ENDINGS:
        import pyarrow as pa

        return _arrow_bytes(ending, pa.table(dict(columns)))
    return _array_bytes(numbers)


def endings_for(file: InputFile) -> tuple[str, ...]:
    """Return the formats that can store the table of a file without loss."""
    if file.ending in TEXT_ENDINGS:
        return tuple(TEXT_ENDINGS)
    return ARROW_ENDINGS if file.ending in ARROW_ENDINGS else (".npy",)


def with_column(file: InputFile, name: str, values: np.ndarray, ending: str) -> bytes:
    """Return the bytes of a file with a table and one more column.

    The cells of the table are copied as they are.

    Parameters
    ----------
    file : InputFile
    name : str
        Name of the new column; ignored if the table has no names.
    values : ndarray of shape (n,)
        NaN is a missing value.
    ending : str
        One of `endings_for` the file.
    """
    if file.ending in TEXT_ENDINGS:
        form = csv_format(file)
        _refuse_twice(name, form.names or ())
        with io.TextIOWrapper(file.open(), encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, delimiter=form.delimiter, strict=True)
            rows = [row for row in reader if row]
        if form.names:
            rows[0].append(name)
        for row, value in zip(rows[bool(form.names) :], values.tolist(), strict=True):
            row.append("" if np.isnan(value) else repr(value).replace(".", form.decimal))
        same = ending == file.ending
        return _text_bytes(rows, form.delimiter if same else TEXT_ENDINGS[ending])
    if file.ending in ARROW_ENDINGS:
        import pyarrow as pa

        table = arrow_table(file)
        _refuse_twice(name, table.column_names)
        made = pa.array(values, mask=np.isnan(values))
        return _arrow_bytes(ending, table.append_column(name, made))
    return _array_bytes(np.column_stack([array_of(file), values]))


def _text_bytes(rows: Sequence[Sequence[Any]], separator: str) -> bytes:
    """Write rows as text; floats are exact, and missing values are empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in rows)
    return buffer.getvalue().encode()


def _arrow_bytes(ending: str, table: Any) -> bytes:
    from pyarrow import feather, parquet

    buffer = io.BytesIO()
    (parquet.write_table if ending == ".parquet" else feather.write_feather)(table, buffer)
    return buffer.getvalue()


def _array_bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _inert(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _cell(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else repr(float(value))
    return value


def _refuse_twice(name: str, names: Sequence[str]) -> None:
    if name in names:
        raise InvalidInputError(
            f"the table already has a column {name!r}; choose another name for the new one"
        )


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
        read = (header["format"], header["version"], header["kind"])
    except Exception as error:
        # Any error of zipfile, NumPy or json means that the file is damaged.
        raise unreadable(source, f"its members cannot be read ({error!r:.200})") from None
    if read[:2] != (_FORMAT, _VERSION) or type(read[1]) is not int:
        raise UnreadableFileError(
            f"{source} has format {read[0]!r:.80} version {read[1]!r:.80}; this isodepth reads "
            f"{_FORMAT!r} version {_VERSION}"
        )
    if read[2] not in (kind, *more):
        raise UnreadableFileError(f"{source} holds a {read[2]!s:.80}, not a {kind}")
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
