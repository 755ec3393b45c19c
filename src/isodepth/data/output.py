"""Files that are written: checked before the work, replaced whole or not at all, by one process."""

from __future__ import annotations

import csv
import io
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.data.csv_files import csv_format
from isodepth.data.input_file import ARROW_ENDINGS, TEXT_ENDINGS, InputFile, as_path
from isodepth.data.readers import array_of, arrow_table
from isodepth.errors import BusyFileError, InvalidInputError, InvalidOptionError


def check_target(path: Any) -> Path:
    """Check that a file can be written there, before the work whose result it will hold.

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
    """Put `content` in the place of `target`: until the last moment the old file is there whole."""
    # A link stays a link: what it points to is replaced, in the folder where that lives.
    target = Path(os.path.realpath(target))
    # The name of the draft must not become too long where that of the target just fits.
    draft = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.part")
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


@contextmanager
def locked(path: str | os.PathLike[str], timeout: float = 10.0) -> Iterator[None]:
    """Hold the lock of a file; another process waits, and gives up with BusyFileError.

    The lock lies beside the file, in ``NAME.lock``, and goes when it is released. The operating
    system lets go of it when the process ends, however it ends.

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
        # While it is held: who has opened it meanwhile finds it unlinked, and opens a new one.
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


# -- tables ---------------------------------------------------------------------------------------

KNOWN = (*TEXT_ENDINGS, *ARROW_ENDINGS, ".npy")


def check_table_target(path: Any, known: Sequence[str] = KNOWN, why: str = "") -> Path:
    """Check that a table of a known kind can be written there, before the work."""
    target = check_target(path)
    ending = target.suffix.lower()
    if ending not in known:
        said = f"its name ends in {ending!r}" if ending else "its name has no ending"
        raise InvalidOptionError(
            f"cannot write {target}: {said}; the known ones are {', '.join(known)}{why}"
        )
    return target


def table_bytes(ending: str, columns: Mapping[str, Sequence[Any]], numbers: np.ndarray) -> bytes:
    """The bytes of a table: its columns by name, or for ``.npy`` the numbers alone."""
    if ending in TEXT_ENDINGS:
        rows = zip(*columns.values(), strict=True)
        return _text_bytes([list(columns), *map(list, rows)], TEXT_ENDINGS[ending])
    if ending in ARROW_ENDINGS:
        import pyarrow as pa

        return _arrow_bytes(ending, pa.table(dict(columns)))
    return _array_bytes(numbers)


def endings_for(file: InputFile) -> tuple[str, ...]:
    """The kinds of files that a table can be written to without losing anything."""
    if file.ending in TEXT_ENDINGS:
        return tuple(TEXT_ENDINGS)
    return ARROW_ENDINGS if file.ending in ARROW_ENDINGS else (".npy",)


def with_column(file: InputFile, name: str, values: np.ndarray, ending: str) -> bytes:
    """The bytes of a file that holds a table and one more column.

    Parameters
    ----------
    file : InputFile
    name : str
        Of the new column; a table without names has none for it either.
    values : ndarray of shape (n,)
        NaN is what is missing.
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
    """Rows of cells as text; floats keep every bit, and what is missing is empty."""
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


def _cell(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else repr(float(value))
    return value


def _refuse_twice(name: str, names: Sequence[str]) -> None:
    if name in names:
        raise InvalidInputError(
            f"the table has a column {name!r} already; give the new one another name"
        )
