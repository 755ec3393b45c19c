"""Input files of tables: plain and compressed files, pipes, and standard input."""

from __future__ import annotations

import gzip
import io
import math
import stat
import sys
import zlib
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, NoReturn, cast

import numpy as np

from isodepth.errors import MissingFileError, UnreadableFileError

#: Path that stands for standard input.
STDIN = "-"
TEXT_ENDINGS = {".csv": ",", ".tsv": "\t"}
ENDINGS = (*TEXT_ENDINGS, ".parquet", ".npy")
_GZIP = b"\x1f\x8b"
_STARTS = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy"}


class InputFile(NamedTuple):
    """Input file that can be opened repeatedly, or the content of a pipe or of standard input.

    Attributes
    ----------
    path : Path
    ending : str
        Ending of the name without ".gz", such as ".csv"; it determines the format. If the name of a
        pipe has no ending, the ending is chosen by the content.
    content : bytes or None
        Decompressed content of a pipe or of standard input, because a pipe can be read only once.
        None for a file on disk.
    compressed : bool
        Whether the name of the file ends in ".gz".
    """

    path: Path
    ending: str
    content: bytes | None = None
    compressed: bool = False

    @property
    def plain(self) -> bool:
        """Whether the file is stored on disk without compression."""
        return self.content is None and not self.compressed

    def open(self) -> BinaryIO:
        """Return an open file object that reads the decompressed bytes."""
        if self.content is not None:
            return io.BytesIO(self.content)
        if self.compressed:
            # Closing the object that gzip.open returns also closes the file on disk.
            return cast(BinaryIO, gzip.open(self.path))
        return self.path.open("rb")

    def read(self, size: int = -1) -> bytes:
        """Read the first `size` decompressed bytes, or all bytes if `size` is negative."""
        try:
            with self.open() as file:
                return file.read(size)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            refuse(self.path, f"it is damaged or not compressed by gzip ({error})", error)


def open_input(path: Any) -> InputFile:
    """Return the input file at a path, or standard input if the path is "-".

    The content of standard input or of a pipe is read immediately.
    """
    if path == STDIN:
        return _from_content(Path("standard input"), _stdin(), "")
    file = as_path(path, UnreadableFileError)
    try:
        return _from_path(file)
    except UnreadableFileError:
        raise
    except (OSError, ValueError) as error:  # a path with a null byte raises ValueError
        refuse(file, system_reason(error), error)


def as_path(path: Any, error: type[Exception]) -> Path:
    """Convert a str or path-like to a path; raise `error` for other objects and an empty string."""
    try:
        if path != "":
            return Path(path)
    except TypeError:
        pass
    raise error(f"a file must be given as a nonempty string or a path, got {path!r}")


def table_files(path: Any, recursive: bool = True) -> list[Path]:
    """Return the sorted paths of all tables in a folder; for a file, a list with its path.

    Subfolders are searched if `recursive`. Files and subfolders whose names start with a dot or an
    underscore (`.crc`, `_SUCCESS`) are skipped, and so are files whose names start with "readme".
    Raise an error if another file does not have the ending of a table, or if there is no table.
    """
    folder = as_path(path, UnreadableFileError)
    try:
        if not folder.is_dir():
            return [folder]
        entries = sorted(folder.rglob("*") if recursive else folder.iterdir())
    except (OSError, ValueError) as error:
        refuse(folder, system_reason(error), error)
    files = [
        file
        for file in entries
        if file.is_file()
        and not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
        and not file.name.lower().startswith("readme")
    ]
    odd = next((file for file in files if _ending(file)[0] not in ENDINGS), None)
    endings = f"{', '.join(ENDINGS)}, also with .gz"
    if odd is not None:
        name = f"{odd.relative_to(folder)} in this folder is not a table"
        refuse(folder, f"{name} ({endings}); move it away, or list the files to read")
    if not files:
        refuse(folder, f"the folder has no file that ends in {endings}")
    return files


def _ending(file: Path) -> tuple[str, bool]:
    """Return the ending of a file name without ".gz", and whether the name ends in ".gz"."""
    compressed = file.suffix.lower() == ".gz"
    return (file.with_suffix("") if compressed else file).suffix.lower(), compressed


def _from_path(file: Path) -> InputFile:
    mode = file.stat().st_mode
    if stat.S_ISDIR(mode):
        refuse(file, "it is a folder, not a file; name one of its files")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        refuse(file, "it is a device, not a file")
    ending, compressed = _ending(file)
    # A pipe can be read only once, so its content is read now. The content of /dev/stdin is also
    # read now: on macOS, a second opening would continue at the current position.
    if not stat.S_ISREG(mode) or file.is_relative_to("/dev"):
        return _from_content(file, file.read_bytes(), ending)
    return InputFile(file, ending, compressed=compressed)


def _stdin() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise UnreadableFileError("cannot read standard input: it is closed")
    if sys.stdin.isatty():
        raise UnreadableFileError(
            "cannot read standard input: it is a terminal; write cat table.csv | isodepth ..."
        )
    return sys.stdin.buffer.read()


def _from_content(file: Path, content: bytes, ending: str) -> InputFile:
    """Return an input file with the bytes `content`, which are decompressed if necessary.

    If `ending` is "", the ending of the file is chosen by the content.
    """
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            refuse(file, f"it is damaged or not compressed by gzip ({error})", error)
    if not ending:
        first = content[:65536].lstrip().partition(b"\n")[0]
        text = ".tsv" if b"\t" in first and b"," not in first else ".csv"
        ending = next((kind for start, kind in _STARTS.items() if content.startswith(start)), text)
    return InputFile(file, ending, content)


def read_npy_header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape and the dtype of the array in an open .npy file of `size` bytes.

    Raise ValueError if the dtype is not real, or if `size` does not match the shape and the dtype.
    Only the header is read.

    Examples
    --------
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
