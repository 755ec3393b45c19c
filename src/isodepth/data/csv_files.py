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
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from isodepth.data.input_file import TEXT_ENDINGS, InputFile, refuse
from isodepth.data.read_options import numbered

# What programs write into the cell of a value that is missing, and of a truth value. Cells that
# say nan are numbers: whether they may be there is decided where data are checked.
_MISSING = ("", "na", "n/a", "null", "none")
_TRUTH = {"true": 1.0, "false": 0.0}
_DELIMITERS = ",;\t|"
_DELIMITER_NAMES = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
_POINT_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_HEAD_BYTES = 1 << 18
_BLOCK_BYTES = 1 << 20
_SNIFFED_ROWS = 100


class CsvFormat(NamedTuple):
    """How the cells of a text file are written.

    Attributes
    ----------
    names : tuple of str or None
        The header; None where the first row holds numbers.
    width : int
        How many cells a row has.
    delimiter, decimal : str
    start : int
        How many bytes come before the first row of data.
    record_bytes : int
        The length of the first row.
    """

    names: tuple[str, ...] | None
    width: int
    delimiter: str
    decimal: str
    start: int
    record_bytes: int

    def notes(self, file: InputFile) -> list[str]:
        """What a person should know about the format."""
        notes = []
        if self.delimiter != TEXT_ENDINGS.get(file.ending, ","):
            comma = ", and numbers have decimal commas" if self.decimal == "," else ""
            separated = _DELIMITER_NAMES[self.delimiter]
            notes.append(f"the cells of {file.path} are separated by {separated}{comma}")
        if self.names is None:
            notes.append(
                f"{file.path} has no header: its first row is taken for data, and columns are "
                "numbered from 0"
            )
        return notes


def csv_format(file: InputFile) -> CsvFormat:
    """Find out separator, decimal mark and header from the beginning of a file."""
    size = _HEAD_BYTES
    while True:
        head = file.read(size)
        whole = len(head) < size
        try:
            text = codecs.getincrementaldecoder("utf-8")().decode(head, whole)
        except UnicodeDecodeError as error:
            refuse_encoding(file, error)
        bom = text.startswith("\ufeff")
        lines = list(io.StringIO(text.removeprefix("\ufeff"), newline=""))
        if not whole:
            lines = lines[:-1]  # it may be cut
        default = TEXT_ENDINGS.get(file.ending, ",")
        candidates = default if default == "\t" else _DELIMITERS
        sniffed = {mark: _first_rows(lines, mark) for mark in candidates}
        if whole or all(rows for rows, _ in sniffed.values()):
            break
        size *= 8
    delimiter = _best_delimiter({mark: rows for mark, (rows, _) in sniffed.items()})
    rows, first_lines = sniffed[delimiter]
    if not rows:
        if any(line.strip() for line in lines):
            refuse(file.path, "its quotes are damaged: one is never closed")
        refuse(file.path, "it is empty")
    if any("\0" in cell for cell in rows[0]):
        refuse(file.path, "it is not a text file")
    record = len("".join(lines[:first_lines]).encode())
    names: tuple[str, ...] | None = tuple(cell.strip() for cell in rows[0])
    if any(map(_is_number, names)) and all(_is_number(n) or not n for n in names):  # type: ignore[arg-type, union-attr]
        names = None
        decimal = _decimal_mark(rows, delimiter)
    elif delimiter != "," and all(_COMMA_NUMBER.fullmatch(cell) or _is_number(cell) for cell in rows[0]):
        names, decimal = None, _decimal_mark(rows, delimiter)
    else:
        decimal = _decimal_mark(rows[1:], delimiter)
        _check_names(file, names)  # type: ignore[arg-type]
    start = 3 * bom + (record if names else 0)
    return CsvFormat(names, len(rows[0]), delimiter, decimal, start, record)


def _first_rows(lines: list[str], delimiter: str) -> tuple[list[list[str]], int]:
    """The first rows that are not empty, and how many lines the first of them ends after."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    first = 0
    try:
        for row in reader:
            if row:
                rows.append(row)
                first = first or reader.line_num
            if len(rows) == _SNIFFED_ROWS:
                break
    except csv.Error:
        pass  # a record that is cut; where it is damaged, reading it says so
    return rows, first


def _best_delimiter(sniffed: dict[str, list[list[str]]]) -> str:
    """The separator that gives rows of one width, and among several most numbers."""

    def share_of_numbers(mark: str) -> float:
        cells = [cell for row in sniffed[mark][1:] or sniffed[mark] for cell in row]
        known = sum(
            _is_number(c) or (mark != "," and _COMMA_NUMBER.fullmatch(c) is not None) for c in cells
        )
        return known / len(cells)

    even = [
        mark
        for mark, rows in sniffed.items()
        if rows and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1
    ]
    if even:
        return max(even, key=share_of_numbers)
    return max(sniffed, key=lambda mark: len(sniffed[mark][0]) if sniffed[mark] else 0)


def _decimal_mark(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":  # "1,234" in quotes may as well be a thousand
        return "."
    cells = [cell for row in rows for cell in row]
    commas = any(map(_COMMA_NUMBER.fullmatch, cells))
    return "," if commas and not any(map(_POINT_NUMBER.fullmatch, cells)) else "."


def _is_number(cell: str) -> bool:
    # float() takes "1_000", which no program writes into a table.
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _check_names(file: InputFile, names: Sequence[str]) -> None:
    number = next(filter(_is_number, names), None)
    if number is not None:
        text = next(name for name in names if name and not _is_number(name))
        refuse(
            file.path,
            f"its first row mixes numbers ({number!r}) and text ({text!r}): "
            "it is neither a header nor data",
        )
    if "" in names:
        refuse(
            file.path,
            f"column {names.index('') + 1} has no name in the header; if it is a row index, "
            "save the table without it (index=False in pandas)",
        )
    check_distinct(file.path, names)


def check_distinct(file: object, names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            refuse(file, f"two columns are named {name!r}; give every column a name of its own")
        seen.add(name)


# -- reading --------------------------------------------------------------------------------------


def read_csv_columns(
    file: InputFile, form: CsvFormat, places: Sequence[int], texts: Sequence[int] = ()
) -> Any:
    """Columns of a file as a table of pyarrow, named "0", "1", ... by their places.

    Columns of numbers, booleans and dates have such types; those at `texts`, and all others, are
    strings. What is missing is null.
    """
    import pyarrow as pa

    types = {str(place): pa.string() for place in texts}
    try:
        with _CountingQuotes(file, form) as stream:
            table = _reader("read_csv", stream, form, places, types)
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
        if isinstance(error, pa.ArrowInvalid) and "Empty CSV file" in str(error):
            refuse(file.path, "it has a header but no rows", error)
        explain_fault(file, form, error)
    if stream.odd:
        _check_quotes(file, form)
    for at, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_binary(column.type):
            refuse_encoding(file)
        if pa.types.is_string(column.type) and int(name) not in texts:
            values, holes, faults = parse_numbers(column, form.decimal)
            if not faults.any():
                table = table.set_column(at, name, pa.array(values, mask=holes))
    return table


def csv_chunks(
    file: InputFile, form: CsvFormat, places: Sequence[int], rows: int
) -> Iterator[np.ndarray]:
    """Columns of a file as float64 arrays of at most so many rows; what is missing is NaN."""
    import pyarrow as pa

    done = 0
    for kind in (pa.float64(), pa.string()):
        start = 0
        try:
            with _CountingQuotes(file, form) as stream:
                for batch in _reader("open_csv", stream, form, places, dict.fromkeys(map(str, places), kind)):
                    for first in range(0, batch.num_rows, rows):
                        some = batch.slice(first, rows)
                        if start >= done:
                            yield _floats(some, file, form, places, start)
                            done += some.num_rows
                        start += some.num_rows
            if stream.odd:
                _check_quotes(file, form)
            return
        except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
            if isinstance(error, pa.ArrowInvalid) and "Empty CSV file" in str(error):
                return
            # Numbers that pyarrow does not take for such are looked at as texts.
            if pa.types.is_string(kind) or "conversion error" not in str(error):
                explain_fault(file, form, error)


def _floats(
    batch: Any, file: InputFile, form: CsvFormat, places: Sequence[int], start: int
) -> np.ndarray:
    import pyarrow as pa

    values = np.empty((batch.num_rows, batch.num_columns))
    for at, column in enumerate(batch.columns):
        if not pa.types.is_string(column.type):
            values[:, at] = column.to_numpy(zero_copy_only=False)
            continue
        values[:, at], _, faults = parse_numbers(column, form.decimal, True)
        if faults.any():
            row = int(faults.argmax())
            where = cell_name(file, form, start + row, places[at])
            refuse(file.path, f"{where}: {column[row].as_py()!r} is not a number")
    return values


def _reader(
    how: str, stream: Any, form: CsvFormat, places: Sequence[int], types: dict[str, Any]
) -> Any:
    from pyarrow import csv as arrow_csv

    spellings = {spell(word) for word in _MISSING for spell in (str.lower, str.upper, str.title)}
    truth = {word: [word, word.upper(), word.title()] for word in _TRUTH}
    return getattr(arrow_csv, how)(
        stream,
        read_options=arrow_csv.ReadOptions(
            column_names=numbered(form.width),
            block_size=max(_BLOCK_BYTES, 16 * form.record_bytes),
            use_threads=how == "read_csv",
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=[str(place) for place in places],
            column_types=types,
            null_values=sorted(spellings),
            true_values=truth["true"],
            false_values=truth["false"],
            strings_can_be_null=True,
            decimal_point=form.decimal,
        ),
    )


class _CountingQuotes:
    """The bytes of a file after its header, for pyarrow, which does not mind an open quote."""

    closed = False

    def __init__(self, file: InputFile, form: CsvFormat) -> None:
        self.file = file.open()
        self.file.read(form.start)
        self.odd = False

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(size)
        self.odd ^= bool(content.count(b'"') % 2)
        return content

    def close(self) -> None:
        self.closed = True
        self.file.close()

    def __enter__(self) -> _CountingQuotes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def parse_numbers(
    column: Any, decimal: str, truths: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Texts of pyarrow as numbers; which are missing, and which are neither, as booleans (n,).

    Spaces around numbers and odd spellings are allowed. With `truths` true and false are 1 and 0.
    """
    encoded = column.dictionary_encode()
    encoded = encoded.combine_chunks() if hasattr(encoded, "chunks") else encoded
    cells = [*encoded.dictionary.to_pylist(), ""]
    values = np.full(len(cells), np.nan)
    holes, faults = np.zeros(len(cells), bool), np.zeros(len(cells), bool)
    for at, cell in enumerate(cells):
        word = cell.strip().lower()
        if word in _MISSING:
            holes[at] = True
        elif truths and word in _TRUTH:
            values[at] = _TRUTH[word]
        elif decimal == "," and "." in word:
            faults[at] = True
        else:
            word = word.replace(decimal, ".")
            faults[at] = not _is_number(word)
            values[at] = np.nan if faults[at] else float(word)
    index = encoded.indices.fill_null(len(cells) - 1).to_numpy(zero_copy_only=False)
    return values[index], holes[index], faults[index]


# -- faults ---------------------------------------------------------------------------------------


def cell_name(file: InputFile, form: CsvFormat, row: int, place: int) -> str:
    """The line and the column of a cell, for a message."""
    line = next((line for at, (line, _) in enumerate(_walk(file, form)) if at == row), row + 1)
    name = f" ({form.names[place]!r})" if form.names else ""
    return f"line {line}, column {place + 1}{name}"


def explain_fault(file: InputFile, form: CsvFormat, error: Exception) -> NoReturn:
    """Say what is wrong with a file that pyarrow refused."""
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        refuse(file.path, f"it is damaged or not compressed by gzip ({error})", error)
    if isinstance(error, OSError) and error.strerror:
        refuse(file.path, error.strerror, error)
    for line, row in _check_quotes(file, form):
        if len(row) != form.width:
            refuse(file.path, f"line {line} has {len(row)} cells where {form.width} are expected")
    refuse(file.path, f"its cells cannot be told apart ({error})", error)


def _check_quotes(file: InputFile, form: CsvFormat) -> list[tuple[int, list[str]]]:
    """The rows that have another width than they should, where quotes and encoding are right."""
    try:
        return [(line, row) for line, row in _walk(file, form) if len(row) != form.width]
    except csv.Error as error:
        refuse(file.path, f"its quotes are damaged ({error})", error)
    except UnicodeDecodeError as error:
        refuse_encoding(file, error)


def _walk(file: InputFile, form: CsvFormat) -> Iterator[tuple[int, list[str]]]:
    """The rows of data, each with the number of its last line."""
    with io.TextIOWrapper(file.open(), encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines, delimiter=form.delimiter, strict=True)
        rows = ((reader.line_num, row) for row in reader if row)
        if form.names:
            next(rows)
        yield from rows


def refuse_encoding(file: InputFile, error: UnicodeDecodeError | None = None) -> NoReturn:
    """Raise the error for bytes that are not UTF-8."""
    at = f" (byte {error.start} of a block)" if error is not None else ""
    refuse(file.path, f"it is not UTF-8 text{at}; save it as UTF-8", error)
