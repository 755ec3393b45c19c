"""Tables in text files, read by pyarrow; separator and decimal mark are detected.

pyarrow reads what is well formed. Where it fails, the file is walked once more with Python's csv
module, so that the message can name the line.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np

from isodepth.data.arrays import numbered
from isodepth.data.input_file import InputFile, refuse

# What programs write into the cell of a value that is missing. Cells that say nan are numbers:
# whether they may be there is decided where data are checked.
_MISSING = ("", "na", "n/a", "null", "none")
_NULLS = sorted({spell(word) for word in _MISSING for spell in (str.lower, str.upper, str.title)})
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
_POINT_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_HEAD_BYTES = 1 << 18
_SNIFFED_ROWS = 100
_BLOCK_BYTES = 1 << 20
_CELL_BYTES = 256


class CsvFormat(NamedTuple):
    """How the cells of a text file are written.

    Attributes
    ----------
    names : tuple of str or None
        The header; None where the first row holds numbers.
    width : int
        How many cells a row has.
    delimiter, decimal : str
    header_lines : int
        How many lines come before the first row of data.
    """

    names: tuple[str, ...] | None
    width: int
    delimiter: str
    decimal: str
    header_lines: int

    def notes(self, file: InputFile) -> list[str]:
        """What a person should know about the format."""
        notes = []
        if self.delimiter != (usual := "\t" if file.ending == ".tsv" else ","):
            comma = ", and numbers have decimal commas" if self.decimal == "," else ""
            found, expected = _DELIMITERS[self.delimiter], _DELIMITERS[usual]
            notes.append(
                f"the cells of {file.path} are separated by {found}, not {expected}{comma}"
            )
        if self.names is None:
            notes.append(f"{file.path} has no header: its first row is taken for data")
        return notes


def csv_format(file: InputFile) -> CsvFormat:
    """Find out separator, decimal mark and header from the beginning of a file."""
    for size in (_HEAD_BYTES, -1):  # all of it, where the first row is longer than the beginning
        head = file.read(size)
        whole = len(head) != size
        try:
            text = codecs.getincrementaldecoder("utf-8-sig")().decode(head, whole)
        except UnicodeDecodeError as error:
            _refuse_encoding(file, error)
        lines = list(io.StringIO(text, newline=""))[: None if whole else -1]
        usual = "\t" if file.ending == ".tsv" else ","
        sniffed = {mark: _first_rows(lines, mark) for mark in (usual, *_DELIMITERS)}
        if whole or all(sniffed.values()):
            break
    delimiter = _best_delimiter(sniffed)
    rows = sniffed[delimiter]
    if not rows:
        blank = not any(line.strip() for line in lines)
        refuse(file.path, "it is empty" if blank else "its quotes are damaged: one stays open")
    if any("\0" in cell for cell in rows[0]):
        refuse(file.path, "it is not a text file")
    names = [cell.strip() for cell in rows[0]]
    known = [
        _is_number(n) or (delimiter != "," and bool(_COMMA_NUMBER.fullmatch(n))) for n in names
    ]
    if any(known) and all(number or not name for number, name in zip(known, names, strict=True)):
        return CsvFormat(None, len(names), delimiter, _decimal_mark(rows, delimiter), 0)
    _check_names(file, names)
    reader = csv.reader(lines, delimiter=delimiter)
    next(row for row in reader if row)
    decimal = _decimal_mark(rows[1:], delimiter)
    return CsvFormat(tuple(names), len(names), delimiter, decimal, reader.line_num)


def _first_rows(lines: list[str], delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a record that is cut; where it is damaged, reading it says so
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        rows.extend(islice(filter(None, reader), _SNIFFED_ROWS))
    return rows


def _best_delimiter(sniffed: dict[str, list[list[str]]]) -> str:
    """The separator that gives rows of one width, and among several most numbers."""

    def fitness(mark: str) -> tuple[bool, float]:
        rows = sniffed[mark]
        width = len(rows[0]) if rows else 0
        if width < 2 or any(len(row) != width for row in rows):
            return False, width
        cells = [cell for row in rows[1:] or rows for cell in row]
        commas = sum(mark != "," and _COMMA_NUMBER.fullmatch(cell) is not None for cell in cells)
        return True, (commas + sum(map(_is_number, cells))) / len(cells)

    return max(sniffed, key=fitness)


def _decimal_mark(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":  # "1,234" in quotes may as well be a thousand
        return "."
    cells = [cell for row in rows for cell in row]
    commas = any(map(_COMMA_NUMBER.fullmatch, cells))
    return "," if commas and not any(map(_POINT_NUMBER.fullmatch, cells)) else "."


def _number(cell: str, decimal: str = ".") -> float | None:
    # float() takes "1_000", which no program writes into a table; "1.234" in a file with decimal
    # commas may be a thousand.
    if "_" in cell or (decimal == "," and "." in cell):
        return None
    try:
        return float(cell.replace(decimal, "."))
    except ValueError:
        return None


def _is_number(cell: str) -> bool:
    return _number(cell) is not None


def _check_names(file: InputFile, names: Sequence[str]) -> None:
    number = next(filter(_is_number, names), None)
    if number is not None:
        text = next(name for name in names if name and not _is_number(name))
        said = f"its first row mixes numbers ({number!r}) and text ({text!r})"
        refuse(file.path, f"{said}: it is neither a header nor data")
    if "" in names:
        said = f"column {names.index('') + 1} has no name in the header; if it is a row index"
        refuse(file.path, f"{said}, save the table without it (index=False in pandas)")
    check_distinct(file.path, names)


def check_distinct(file: object, names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        refuse(file, f"two columns are named {twice!r}; give every column a name of its own")


# -- reading --------------------------------------------------------------------------------------


def read_csv_columns(
    file: InputFile, form: CsvFormat, places: Sequence[int], as_text: bool = False
) -> Any:
    """Columns of a file as a table of pyarrow, named "0", "1", ... by their places.

    Columns of numbers, booleans and dates have such types; all others are strings, and so are
    these with `as_text`. What is missing is null.
    """
    import pyarrow as pa
    from pyarrow.csv import read_csv

    try:
        with file.open() as opened:
            stream = _QuoteCounter(opened)
            types = dict.fromkeys(map(str, places), pa.string()) if as_text else {}
            table = read_csv(stream, **_arrow_options(form, places, types, True))
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
        _explain_fault(file, form, (), error)
    if stream.quotes % 2:
        _check_rows(file, form, ())
    if not len(table):
        refuse(file.path, "it has a header but no rows")
    for at, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_binary(column.type):
            _refuse_encoding(file)
        if pa.types.is_string(column.type) and not as_text:
            values, missing, faults = parse_numbers(column, form.decimal)
            if not faults.any():
                table = table.set_column(at, name, pa.array(values, mask=missing))
    return table


def csv_chunks(
    file: InputFile, form: CsvFormat, places: Sequence[int], rows: int
) -> Iterator[np.ndarray]:
    """Columns of a file as float64 arrays of at most so many rows; what is missing is NaN."""
    import pyarrow as pa
    from pyarrow.csv import open_csv

    types = dict.fromkeys(map(str, places), pa.float64())
    try:
        with file.open() as opened:
            stream = _QuoteCounter(opened)
            for batch in open_csv(stream, **_arrow_options(form, places, types, False)):
                for first in range(0, len(batch), rows):
                    columns = batch.slice(first, rows).columns
                    yield np.column_stack([c.to_numpy(zero_copy_only=False) for c in columns])
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
        if "Empty CSV file" not in str(error):
            _explain_fault(file, form, places, error)
    if stream.quotes % 2:
        _check_rows(file, form, places)


def _arrow_options(
    form: CsvFormat, places: Sequence[int], types: dict[str, Any], threads: bool
) -> dict[str, Any]:
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions

    return {
        "read_options": ReadOptions(
            column_names=numbered(form.width),
            skip_rows=form.header_lines,
            block_size=max(_BLOCK_BYTES, _CELL_BYTES * form.width),
            use_threads=threads,
        ),
        "parse_options": ParseOptions(delimiter=form.delimiter, newlines_in_values=True),
        "convert_options": ConvertOptions(
            include_columns=[str(place) for place in places],
            column_types=types,
            null_values=_NULLS,
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
            strings_can_be_null=True,
            decimal_point=form.decimal,
        ),
    }


class _QuoteCounter(io.RawIOBase):
    """Counts the quotes of a file that pyarrow reads, which does not mind one that stays open."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.quotes = file, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(size)
        self.quotes += content.count(b'"')
        return content


def parse_numbers(column: Any, decimal: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Texts of pyarrow as numbers; which are missing, and which are neither, as booleans (n,)."""
    encoded = column.dictionary_encode().combine_chunks()
    cells = [*encoded.dictionary.to_pylist(), ""]
    words = [cell.strip().lower() for cell in cells]
    missing = np.array([word in _MISSING for word in words])
    numbers = [_number(word, decimal) for word in words]
    faults = np.array([number is None for number in numbers]) & ~missing
    values = np.array(numbers, dtype=float)  # None becomes NaN
    index = encoded.indices.fill_null(len(cells) - 1).to_numpy(zero_copy_only=False)
    return values[index], missing[index], faults[index]


# -- faults ---------------------------------------------------------------------------------------


def cell_name(form: CsvFormat, line: int, place: int) -> str:
    """The line and the column of a cell, for a message."""
    name = f" ({form.names[place]!r})" if form.names else ""
    return f"line {line}, column {place + 1}{name}"


def line_of_row(file: InputFile, form: CsvFormat, row: int) -> int:
    """The line in which a row of data ends."""
    return next(line for at, (line, _) in enumerate(_walk(file, form)) if at == row)


def _explain_fault(
    file: InputFile, form: CsvFormat, numbers: Sequence[int], error: BaseException
) -> NoReturn:
    """Say what is wrong with a file that pyarrow refused."""
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        refuse(file.path, f"it is damaged or not compressed by gzip ({error})", error)
    if isinstance(error, OSError) and error.strerror:
        refuse(file.path, error.strerror, error)
    _check_rows(file, form, numbers)
    if next(_walk(file, form), None) is None:
        refuse(file.path, "it has a header but no rows", error)
    refuse(file.path, f"its cells cannot be told apart ({error})", error)


def _check_rows(file: InputFile, form: CsvFormat, numbers: Sequence[int]) -> None:
    """Refuse quotes, encoding, widths of rows, and what is no number in the columns `numbers`."""
    try:
        for line, row in _walk(file, form):
            if len(row) != form.width:
                said = f"line {line} has {len(row)} cells where {form.width} are expected"
                refuse(file.path, said)
            for place in numbers:
                if _number(row[place], form.decimal) is None and row[place] not in _NULLS:
                    said = f"{cell_name(form, line, place)}: {row[place]!r} is not a number"
                    refuse(file.path, f"{said}; choose columns of numbers to read in chunks")
    except csv.Error as error:
        refuse(file.path, f"its quotes are damaged ({error})", error)
    except UnicodeDecodeError as error:
        _refuse_encoding(file, error)


def _walk(file: InputFile, form: CsvFormat) -> Iterator[tuple[int, list[str]]]:
    """The rows of data, each with the number of its last line."""
    with io.TextIOWrapper(file.open(), encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines, delimiter=form.delimiter, strict=True)
        rows = ((reader.line_num, row) for row in reader if row)
        if form.names:
            next(rows)
        yield from rows


def _refuse_encoding(file: InputFile, error: UnicodeDecodeError | None = None) -> NoReturn:
    at = f" (byte {error.start} of a block)" if error is not None else ""
    refuse(file.path, f"it is not UTF-8 text{at}; save it as UTF-8", error)
