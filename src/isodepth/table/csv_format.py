"""Detection of the format of text files: separator, decimal mark and header."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple, NoReturn

from isodepth.base.paths import refuse
from isodepth.table.input_file import TEXT_ENDINGS, InputFile

_DELIMITERS = {
    ",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "spaces"
}  # fmt: skip
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
_POINT_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_HEAD_BYTES = 1 << 18
#: Maximum number of bytes of a line. A longer line is refused before it is read into memory,
#: because a small compressed file may contain a huge line.
LINE_BYTES = 1 << 24
_SNIFFED_ROWS = 100
# Byte order marks at the start of a file, and its encoding. The mark of UTF-32 starts with that of
# UTF-16, so it is compared first.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip


class CsvFormat(NamedTuple):
    """Format of a text file.

    Attributes
    ----------
    names : tuple of str or None
        Names in the header. None if there is no header, because the nonempty cells of the first row
        are numbers. The first name may be empty, see `has_index`.
    width : int
        Number of cells per row.
    delimiter, decimal : str
        Separator of the cells, and decimal mark.
    header_lines : int
        Number of lines up to the end of the header; 0 without a header.
    padded : bool
        Whether names in the header have spaces at their ends, which `names` does not have.
    """

    names: tuple[str, ...] | None
    width: int
    delimiter: str
    decimal: str
    header_lines: int
    padded: bool = False

    @property
    def has_index(self) -> bool:
        """Whether the first column is the index that `DataFrame.to_csv` writes: it has no name."""
        return self.names is not None and not self.names[0]

    def notes(self, file: InputFile) -> list[str]:
        """Return messages about an unusual separator or decimal mark, the header and an index."""
        notes = []
        if self.delimiter != (usual := TEXT_ENDINGS.get(file.ending, ",")):
            comma = ", and numbers have decimal commas" if self.decimal == "," else ""
            detected, expected = _DELIMITERS[self.delimiter], _DELIMITERS[usual]
            notes.append(
                f"the cells of {file.path} are separated by {detected}, not {expected}{comma}"
            )
        if self.names is None:
            notes.append(f"{file.path} has no header: its first row is read as data")
        if self.has_index:
            notes.append(index_note(file.path))
        return notes


def index_note(path: object) -> str:
    """Return the message about a file whose first column is read as the index."""
    return f"the first column of {path} has no name and is left out as the index"


def csv_format(file: InputFile) -> CsvFormat:
    """Return the separator, decimal mark and header of a file, detected from its beginning."""
    # The first 256 KiB are usually enough. If they do not contain a whole row, 16 MiB are read.
    for size in (_HEAD_BYTES, LINE_BYTES):
        lines, whole = _decoded_lines(file, size)
        sniffed = _sniffed_rows(lines, file.ending)
        if whole or all(sniffed.values()):
            break
    if not whole and not lines:
        refuse_line(file, 1)
    delimiter = _best_delimiter(sniffed)
    rows = sniffed[delimiter]
    _check_first_row(file, lines, rows)
    if _is_data(rows[0], delimiter):
        return CsvFormat(None, len(rows[0]), delimiter, _decimal_mark(rows, delimiter), 0)
    names = [cell.strip() for cell in rows[0]]
    _check_names(file, names)
    reader = csv.reader(lines, delimiter=delimiter)
    next(row for row in reader if row)
    decimal = _decimal_mark(rows[1:], delimiter)
    padded = names != rows[0]
    return CsvFormat(tuple(names), len(names), delimiter, decimal, reader.line_num, padded)


def _decoded_lines(file: InputFile, size: int) -> tuple[list[str], bool]:
    """Return the complete lines in the first `size` bytes, and whether these are the whole file."""
    head = file.read(size)
    whole = len(head) < size
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head, whole)
    except UnicodeDecodeError as error:
        refuse_encoding(file, error)
    return list(io.StringIO(text, newline=""))[: None if whole else -1], whole


def _sniffed_rows(lines: list[str], ending: str) -> dict[str, list[list[str]]]:
    """Return a dictionary that maps each possible separator to the first rows, split into cells.

    `lines` are the first lines of the file. The first key is the usual separator of files whose
    name ends in `ending`.
    """
    marks = (TEXT_ENDINGS.get(ending, ","), *_DELIMITERS)
    return {mark: _first_rows(lines, mark) for mark in marks}


def _check_first_row(file: InputFile, lines: list[str], rows: list[list[str]]) -> None:
    """Raise an error if there is no row, or if the first row is not a row of a table."""
    if not rows:
        blank = not any(line.strip() for line in lines)
        refuse(file.path, "it is empty" if blank else "its quotes are damaged: one is not closed")
    if any("\0" in cell for cell in rows[0]):
        refuse(file.path, "it is not a text file")
    if len(rows[0]) == 1 and _separated_by_spaces(lines):
        example = "pandas.read_csv(..., sep=r'\\s+').to_csv(...)"
        advice = f"separate them with commas, for example with {example}"
        refuse(file.path, f"its cells are separated by several spaces; {advice}")


def _is_data(row: list[str], delimiter: str) -> bool:
    """Return whether the first row is not a header: its nonempty cells are numbers."""
    cells = [cell for cell in map(str.strip, row) if cell]
    return bool(cells) and all(
        _is_number(cell) or (delimiter != "," and bool(_COMMA_NUMBER.fullmatch(cell)))
        for cell in cells
    )


def _separated_by_spaces(lines: list[str]) -> bool:
    """Return whether the lines are columns of numbers that are separated by one or more spaces.

    The first line may be a header.
    """
    rows = [line.split() for line in lines[:_SNIFFED_ROWS] if line.strip()]
    width = len(rows[0])
    return width > 1 and all(
        len(row) == width and all(map(_is_number, row)) for row in rows[1:] or rows
    )


def _first_rows(lines: list[str], delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    with suppress(csv.Error):  # csv.Error is raised if the last row is incomplete
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        rows.extend(islice(filter(None, reader), _SNIFFED_ROWS))
    return rows


def _best_delimiter(sniffed: dict[str, list[list[str]]]) -> str:
    """Return the separator that splits all rows into the same number of cells, two or more.

    `sniffed` has the first rows of the file, split by each possible separator. Spaces are suitable
    only if all cells below the header are numbers. Among several suitable separators, the one with
    the largest fraction of numeric cells is returned. If no separator is suitable, the one with the
    most cells in the first row is returned.

    Examples
    --------
    >>> lines = ["price, EUR;size", "1,234,567;2"]
    >>> _best_delimiter({mark: _first_rows(lines, mark) for mark in ",;"})
    ';'
    >>> _best_delimiter({mark: _first_rows(["mean radius", "17.99"], mark) for mark in ", "})
    ','
    """

    def fitness(mark: str) -> tuple[bool, float]:
        rows = sniffed[mark]
        width = len(rows[0]) if rows else 0
        body = rows[1:] or rows
        cells = [cell for row in body for cell in row]
        n_numbers = sum(
            _is_number(cell) or (mark != "," and _COMMA_NUMBER.fullmatch(cell) is not None)
            for cell in cells
        )
        # Spaces are accepted only between numbers, because they also separate words.
        if mark == " " and (n_numbers < len(cells) or all(len(row) == 1 for row in body)):
            return False, 0
        if width < 2 or any(len(row) != width for row in rows):
            return False, width
        return True, n_numbers / len(cells)

    return max(sniffed, key=fitness)


def _decimal_mark(rows: list[list[str]], delimiter: str) -> str:
    # If commas separate the cells, the comma in a quoted cell such as "1,234" separates thousands.
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    commas = any(map(_COMMA_NUMBER.fullmatch, cells))
    return "," if commas and not any(map(_POINT_NUMBER.fullmatch, cells)) else "."


def parse_number(cell: str, decimal: str = ".") -> float | None:
    """Return the number in a cell of a file with the decimal mark `decimal`.

    Return None if the cell is not a number.
    """
    # float() would misread two kinds of strings: "1_000" is not a number here, and in a file with
    # decimal commas the point in "1.234" separates thousands.
    if "_" in cell or (decimal == "," and "." in cell):
        return None
    try:
        return float(cell.replace(decimal, "."))
    except ValueError:
        return None


def _is_number(cell: str) -> bool:
    return parse_number(cell) is not None


def _check_names(file: InputFile, names: Sequence[str]) -> None:
    number = next(filter(_is_number, names), None)
    if number is not None:
        other = next(name for name in names if name and not _is_number(name))
        mixed = f"its first row mixes numbers ({number!r}) and other strings ({other!r})"
        advice = "if the file has no header, add a first row with the names of the columns"
        refuse(file.path, f"{mixed}, so it is not a header; {advice}")
    if "" in names[1:] or names == [""]:
        place = names.index("", min(1, len(names) - 1)) + 1
        refuse(file.path, f"column {place} has no name in the header; give all columns names")
    check_distinct(file.path, names)


def check_distinct(file: object, names: Sequence[str]) -> None:
    """Raise an error if two columns have the same name."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        refuse(file, f"two columns are named {twice!r}; give all columns different names")


def refuse_line(file: InputFile, line: int) -> NoReturn:
    """Raise the error for a line that is too long."""
    refuse(file.path, f"line {line} is longer than {LINE_BYTES >> 20} MB; it is not a table")


def refuse_encoding(file: InputFile, error: UnicodeDecodeError | None = None) -> NoReturn:
    """Raise the error for a file that is not in UTF-8.

    The message names the encoding of the byte order mark, if there is one, or a possible encoding.
    A file with null bytes is not a text file.
    """
    byte = "" if error is None else f" (byte 0x{error.object[error.start]:02x})"
    encoding, possible = "latin-1", "perhaps Latin-1 or Windows-1252"
    head = file.read(_HEAD_BYTES)
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            encoding, possible = name, f"but has the byte order mark of {name.upper()}"
            break
    else:
        if b"\0" in head:
            refuse(file.path, "it is not a text file", error)
    refuse(
        file.path,
        f"it is not UTF-8 text{byte}, {possible}; save it as UTF-8, for example with "
        f"pandas.read_csv(..., encoding={encoding!r}).to_csv(...)",
        error,
    )
