"""Input files of tables: plain and compressed files, pipes, and standard input."""

from __future__ import annotations

import gzip
import io
import stat
import sys
import zlib
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from isodepth.base.paths import as_path, refuse, system_reason
from isodepth.errors import UnreadableFileError

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
