"""Output files: checked before the computation, replaced atomically, locked while in use."""

from __future__ import annotations

import csv
import io
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.data.csv_files import csv_format
from isodepth.data.input_file import ARROW_ENDINGS, TEXT_ENDINGS, InputFile, as_path
from isodepth.data.readers import array_of, arrow_table
from isodepth.errors import BusyFileError, InvalidInputError, InvalidOptionError

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
