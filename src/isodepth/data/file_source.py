"""Where a table is read from: a file, a compressed file, a pipe, or standard input."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import sys
import zlib
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO

from isodepth.errors import UnreadableFileError

#: The name of standard input.
STDIN = "-"
ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".npy", ".npz")
_GZIP = b"\x1f\x8b"
_STARTS = {b"PAR1": ".parquet", b"ARROW1": ".feather", b"\x93NUMPY": ".npy", b"PK\x03\x04": ".npz"}
# One array of an archive: scores.npz:july.
_INSIDE = re.compile(r"(.+\.npz):([^:/\\]+)", re.IGNORECASE)


class Source(NamedTuple):
    """A file that can be opened again and again, or what came through a pipe.

    Attributes
    ----------
    file : Path
    content : bytes or None
        All of it, where it could be read once only.
    ending : str
        Which kind of table it is, such as ".csv"; empty where the name has no ending.
    inside : str or None
        Which array of an archive.
    """

    file: Path
    content: bytes | None
    ending: str
    inside: str | None = None

    def lines(self) -> TextIO:
        """The lines of a text."""
        if self.content is None:
            return self.file.open(encoding="utf-8-sig", newline="")
        return io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8-sig", newline="")

    def bytes(self) -> bytes:
        """All of it."""
        return self.file.read_bytes() if self.content is None else self.content


def open_source(path: Any) -> Source:
    """Find out what a path stands for; what can be read only once is read."""
    if path == STDIN:
        return _of_content(Path("standard input"), _stdin(), "")
    try:
        file = Path(path)
    except TypeError:
        raise UnreadableFileError(f"a file is named by a text or a path, got {path!r}") from None
    inside = _INSIDE.fullmatch(str(file))
    try:
        if inside is not None and not file.exists():
            file = Path(inside[1])
            return Source(file, None, ".npz", inside[2]) if file.is_file() else _opened(file)
        return _opened(file)
    except (FileNotFoundError, NotADirectoryError) as error:
        refuse(file, "there is no such file", error)
    except OSError as error:
        refuse(file, error.strerror or str(error), error)
    except UnreadableFileError:
        raise
    except ValueError as error:  # a path with a null byte
        refuse(file, str(error), error)


def _opened(file: Path) -> Source:
    mode = file.stat().st_mode
    if stat.S_ISDIR(mode):
        refuse(file, "it is a folder, not a file")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        refuse(file, "it is a device, not a file")
    ending = file.suffix.lower()
    # A file that the shell opened as /dev/stdin can be read once as a pipe can.
    if not stat.S_ISREG(mode) or file.is_relative_to("/dev"):
        return _of_content(file, file.read_bytes(), ending)
    if ending == ".gz":
        return _of_content(file, file.read_bytes(), ending)
    return Source(file, None, ending)


def _stdin() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise UnreadableFileError("cannot read standard input: it is closed")
    if sys.stdin.isatty():
        raise UnreadableFileError(
            "cannot read standard input: it is a terminal; write cat table.csv | isodepth ..."
        )
    return sys.stdin.buffer.read()


def _of_content(file: Path, content: bytes, ending: str) -> Source:
    """A source of these bytes, of the kind that its name says, or its first bytes."""
    if content.startswith(_GZIP) or ending == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            refuse(file, f"it is damaged or not compressed by gzip ({error})", error)
        if ending == ".gz":
            ending = file.with_suffix("").suffix.lower()
    if not ending:
        ending = _kind_of(content)
    return Source(file, content, ending)


def _kind_of(content: bytes) -> str:
    for start, ending in _STARTS.items():
        if content.startswith(start):
            return ending
    first = content[:65536].lstrip().partition(b"\n")[0]
    return ".tsv" if b"\t" in first and b"," not in first else ".csv"


def refuse(file: object, reason: str, cause: Exception | None = None) -> NoReturn:
    """Raise the one error for files that cannot be read."""
    # Messages of other libraries may span lines; a report of ours is always one.
    raise UnreadableFileError(f"cannot read {file}: {' '.join(reason.split())}") from cause


def is_stdin(path: str | os.PathLike[str]) -> bool:
    """Whether a path stands for what can be read once for a whole command."""
    return path == STDIN or os.fspath(path) == "/dev/stdin"
