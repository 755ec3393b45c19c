"""Reading of tables in text files with pyarrow; separator and decimal mark are detected.

If pyarrow fails, the file is read again with Python's csv module, so that the error message can
name the faulty line.
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
from isodepth.data.columns.numerals import MISSING_NUMBERS
from isodepth.data.files.input_file import TEXT_ENDINGS, InputFile, refuse

# Words for missing values. Cells with "nan" are read as the number NaN instead, and later checks
# decide whether NaN is allowed.
_MISSING = tuple(word for word in MISSING_NUMBERS if word != "nan")
_DELIMITERS = {
    ",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "spaces"
}  # fmt: skip
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
_POINT_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
# Numbers with a decimal comma, in the syntax of RE2.
_COMMA_DIGITS = r"^(\s*[+-]?\d+),(\d+(?:[eE][+-]?\d+)?\s*)$"
_HEAD_BYTES = 1 << 18
# Maximum number of bytes of a line. A longer line is refused before it is read into memory, because
# a small compressed file may contain a huge line.
_LINE_BYTES = 1 << 24
_SNIFFED_ROWS = 100
_BLOCK_BYTES = 1 << 20
_CELL_BYTES = 256


class CsvFormat(NamedTuple):
    """Format of a text file.

    Attributes
    ----------
    names : tuple of str or None
        Names in the header. None without a header: the nonempty cells of the first row are
        numbers.
    width : int
        Number of cells per row.
    delimiter, decimal : str
        Separator of the cells, and decimal mark.
    header_lines : int
        Number of lines up to the end of the header; 0 without a header.
    """

    names: tuple[str, ...] | None
    width: int
    delimiter: str
    decimal: str
    header_lines: int

    def notes(self, file: InputFile) -> list[str]:
        """Return messages about an unusual separator, decimal commas, and a missing header."""
        notes = []
        if self.delimiter != (usual := TEXT_ENDINGS.get(file.ending, ",")):
            comma = ", and numbers have decimal commas" if self.decimal == "," else ""
            detected, expected = _DELIMITERS[self.delimiter], _DELIMITERS[usual]
            notes.append(
                f"the cells of {file.path} are separated by {detected}, not {expected}{comma}"
            )
        if self.names is None:
            notes.append(f"{file.path} has no header: its first row is read as data")
        return notes


def csv_format(file: InputFile) -> CsvFormat:
    """Detect separator, decimal mark and header from the beginning of a file."""
    # The first 256 KiB are usually enough. If they do not contain a whole row, 16 MiB are read.
    for size in (_HEAD_BYTES, _LINE_BYTES):
        lines, whole = _decoded_lines(file, size)
        sniffed = _sniffed_rows(lines, file.ending)
        if whole or all(sniffed.values()):
            break
    if not whole and not lines:
        _refuse_line(file, 1)
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
    return CsvFormat(tuple(names), len(names), delimiter, decimal, reader.line_num)


def _decoded_lines(file: InputFile, size: int) -> tuple[list[str], bool]:
    """Return the whole lines in the first `size` bytes, and whether these are the whole file."""
    head = file.read(size)
    whole = len(head) < size
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head, whole)
    except UnicodeDecodeError as error:
        _refuse_encoding(file, error)
    return list(io.StringIO(text, newline=""))[: None if whole else -1], whole


def _sniffed_rows(lines: list[str], ending: str) -> dict[str, list[list[str]]]:
    """Return the first rows, split by each possible separator; the usual separator comes first."""
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

    `sniffed` has the first rows of the file, split by each possible separator. Among several
    suitable separators, the one with the largest fraction of numeric cells is returned. If no
    separator is suitable, the one with the most cells in the first row is returned.

    Examples
    --------
    >>> lines = ["price, EUR;size", "1,234,567;2"]
    >>> _best_delimiter({mark: _first_rows(lines, mark) for mark in ",;"})
    ';'
    """

    def fitness(mark: str) -> tuple[bool, float]:
        rows = sniffed[mark]
        width = len(rows[0]) if rows else 0
        if width < 2 or any(len(row) != width for row in rows):
            return False, width
        cells = [cell for row in rows[1:] or rows for cell in row]
        commas = sum(mark != "," and _COMMA_NUMBER.fullmatch(cell) is not None for cell in cells)
        fraction = (commas + sum(map(_is_number, cells))) / len(cells)
        # Spaces are accepted only between numbers, because they also separate words.
        return (mark != " " or fraction == 1), fraction

    return max(sniffed, key=fitness)


def _decimal_mark(rows: list[list[str]], delimiter: str) -> str:
    # If commas separate the cells, the comma in a quoted cell such as "1,234" separates thousands.
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    commas = any(map(_COMMA_NUMBER.fullmatch, cells))
    return "," if commas and not any(map(_POINT_NUMBER.fullmatch, cells)) else "."


def _number(cell: str, decimal: str = ".") -> float | None:
    # float() would misread two kinds of strings: "1_000" is not a number here, and in a file with
    # decimal commas the point in "1.234" separates thousands.
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
        other = next(name for name in names if name and not _is_number(name))
        mixed = f"its first row mixes numbers ({number!r}) and other strings ({other!r})"
        refuse(file.path, f"{mixed}: it is not a header and not data")
    if "" in names:
        advice = "if it is a row index, save the table without it (index=False in pandas)"
        refuse(file.path, f"column {names.index('') + 1} has no name in the header; {advice}")
    check_distinct(file.path, names)


def check_distinct(file: object, names: Sequence[str]) -> None:
    """Raise an error if two columns have the same name."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        refuse(file, f"two columns are named {twice!r}; give all columns different names")


# -- reading of columns ---------------------------------------------------------------------------


def read_csv_columns(
    file: InputFile,
    form: CsvFormat,
    places: Sequence[int],
    strings: Sequence[int] = (),
    missing_words: Sequence[str] = (),
) -> Any:
    """Read the columns at the positions `places` as a pyarrow table, with positions as names.

    Columns of numbers, booleans and dates are converted, with null for missing values. All other
    columns, and those at the positions `strings`, remain strings as in the file. In a column at a
    position in `strings`, words for missing values such as "NA" become null if all other cells are
    numbers. `missing_words` are additional words for missing values.
    """
    import pyarrow as pa
    from pyarrow.csv import read_csv

    kept = set(map(str, strings))
    types = dict.fromkeys(kept, pa.string())
    table = None
    while table is None:
        try:
            with file.open() as opened:
                stream = _QuoteCounter(opened)
                table = read_csv(stream, **_arrow_options(form, places, types, True, missing_words))
        except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
            _explain_fault(file, form, (), error)
        # A column that contains only missing values is read again as strings, because "NA" in all
        # rows may be a category.
        untyped = [field.name for field in table.schema if pa.types.is_null(field.type)]
        if untyped:
            types |= dict.fromkeys(untyped, pa.string())
            table = None
    if stream.quotes % 2:
        _check_rows(file, form, ())
    if not len(table):
        refuse(file.path, "it has a header but no rows")
    for at, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_binary(column.type):
            _refuse_encoding(file)
        if pa.types.is_string(column.type):
            numbers = _numbers_of(column.unique().to_pylist(), form.decimal, missing_words)
            if numbers is not None:
                cells = column.to_pylist()
                if name in kept:
                    made = pa.array([cell if cell in numbers else None for cell in cells])
                else:
                    made = pa.array([numbers.get(cell) for cell in cells], pa.float64())
                table = table.set_column(at, name, made)
    return table


def csv_chunks(
    file: InputFile, form: CsvFormat, places: Sequence[int], rows: int
) -> Iterator[np.ndarray]:
    """Yield the columns at the positions `places` in float64 arrays of at most `rows` rows.

    Missing values are NaN. A cell that is not a number raises an error.
    """
    for batch in _batches(file, form, places, "double"):
        for first in range(0, len(batch), rows):
            columns = batch.slice(first, rows).columns
            yield np.column_stack([c.to_numpy(zero_copy_only=False) for c in columns])


def csv_string_chunks(file: InputFile, form: CsvFormat, places: Sequence[int]) -> Iterator[Any]:
    """Yield the columns at the positions `places` as strings, in pyarrow tables of about 1 MB.

    In a file with decimal commas, cells that are numbers are written with a decimal point.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in _batches(file, form, places, "string"):
        columns = batch.columns
        if form.decimal == ",":
            columns = [pc.replace_substring_regex(c, _COMMA_DIGITS, r"\1.\2") for c in columns]
        yield pa.Table.from_arrays(columns, batch.schema.names)


def first_types(file: InputFile, form: CsvFormat) -> list[Any]:
    """Return the types of all columns in the first lines of a file, as pyarrow detects them."""
    import pyarrow as pa
    from pyarrow.csv import open_csv

    try:
        with file.open() as stream:
            options = _arrow_options(form, range(form.width), {}, False)
            return list(open_csv(stream, **options).schema.types)
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error):
        return [pa.null()] * form.width  # reading the rows raises the error with the reason


def _batches(file: InputFile, form: CsvFormat, places: Sequence[int], kind: str) -> Iterator[Any]:
    """Yield record batches of the columns at the positions `places`, all of the type `kind`."""
    import pyarrow as pa
    from pyarrow.csv import open_csv

    types = dict.fromkeys(map(str, places), pa.type_for_alias(kind))
    numbers = places if kind == "double" else ()
    try:
        with file.open() as opened:
            stream = _QuoteCounter(opened)
            yield from open_csv(stream, **_arrow_options(form, places, types, False))
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
        if "Empty CSV file" not in str(error):
            _explain_fault(file, form, numbers, error)
    if stream.quotes % 2:
        _check_rows(file, form, numbers)


def _arrow_options(
    form: CsvFormat,
    places: Sequence[int],
    types: dict[str, Any],
    threads: bool,
    missing_words: Sequence[str] = (),
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
            null_values=[*MISSING_WORDS, *missing_words],
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
            strings_can_be_null=False,
            decimal_point=form.decimal,
        ),
    }


class _QuoteCounter(io.RawIOBase):
    """File object that counts quotation marks while pyarrow reads the file.

    If their number is odd, a closing quotation mark is missing, which pyarrow does not report.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.quotes = file, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(size)
        self.quotes += content.count(b'"')
        return content


def _spellings(words: Sequence[str]) -> list[str]:
    return sorted({spell(word) for word in words for spell in (str.lower, str.upper, str.title)})


#: Strings that stand for missing values in columns of numbers, booleans and dates.
MISSING_WORDS = tuple(_spellings(_MISSING))


def _numbers_of(
    cells: Sequence[str], decimal: str, missing_words: Sequence[str]
) -> dict[str, float] | None:
    """Return a dictionary from each cell of a column that is not missing to its number.

    Return None if the column is not numeric: a cell is neither a number nor missing, or there are
    words for missing values such as "NA" but no number.
    """
    numbers: dict[str, float] = {}
    for cell in cells:
        word = cell.strip().lower()
        if word not in _MISSING and cell not in missing_words:
            number = _number(word, decimal)
            if number is None:
                return None
            numbers[cell] = number
    # A column without any number is not numeric, because "NA" in all rows may be a category.
    return numbers if numbers or not any(cells) else None


# -- errors in a file -----------------------------------------------------------------------------


def cell_name(form: CsvFormat, line: int, place: int) -> str:
    """Return a string with the line and the column of a cell for a message."""
    name = f" ({form.names[place]!r})" if form.names else ""
    return f"line {line}, column {place + 1}{name}"


def line_of_row(file: InputFile, form: CsvFormat, row: int) -> int:
    """Return the number of the line of the file in which the row with index `row` ends."""
    return next(line for at, (line, _) in enumerate(_walk(file, form)) if at == row)


def _explain_fault(
    file: InputFile, form: CsvFormat, numbers: Sequence[int], error: BaseException
) -> NoReturn:
    """Raise an error that explains why pyarrow cannot read a file, with the line if possible.

    `numbers` are the positions of columns that must be numeric. `error` is the error of pyarrow.
    """
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        refuse(file.path, f"it is damaged or not compressed by gzip ({error})", error)
    if isinstance(error, OSError) and error.strerror:
        refuse(file.path, error.strerror, error)
    _check_rows(file, form, numbers)
    if next(_walk(file, form), None) is None:
        refuse(file.path, "it has a header but no rows", error)
    refuse(file.path, f"its cells cannot be separated ({error})", error)


def _check_rows(file: InputFile, form: CsvFormat, numbers: Sequence[int]) -> None:
    """Raise an error for damaged quotes, wrong encoding, or a row with a wrong number of cells.

    Also raise an error for non-numeric cells in the columns at the positions `numbers`.
    """
    try:
        for line, row in _walk(file, form):
            if len(row) != form.width:
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                refuse(file.path, f"line {line} has {cells} instead of {form.width}")
            for place in numbers:
                if _number(row[place], form.decimal) is None and row[place].lower() not in _MISSING:
                    cell = f"{cell_name(form, line, place)}: {row[place]!r}"
                    refuse(file.path, f"{cell} is not a number; select numeric columns")
    except csv.Error as error:
        refuse(file.path, f"its quotes are damaged ({error})", error)
    except UnicodeDecodeError as error:
        _refuse_encoding(file, error)


def _walk(file: InputFile, form: CsvFormat) -> Iterator[tuple[int, list[str]]]:
    """Yield, for each row of data, the number of the line in which it ends and its cells."""
    with io.TextIOWrapper(file.open(), encoding="utf-8-sig", newline="") as stream:

        def lines() -> Iterator[str]:
            while line := stream.readline(_LINE_BYTES):
                if len(line) == _LINE_BYTES:
                    _refuse_line(file, reader.line_num + 1)
                yield line

        reader = csv.reader(lines(), delimiter=form.delimiter, strict=True)
        rows = ((reader.line_num, row) for row in reader if row)
        if form.names:
            next(rows)
        yield from rows


def _refuse_line(file: InputFile, line: int) -> NoReturn:
    refuse(file.path, f"line {line} is longer than {_LINE_BYTES >> 20} MB; it is not a table")


def _refuse_encoding(file: InputFile, error: UnicodeDecodeError | None = None) -> NoReturn:
    byte = "" if error is None else f" (byte 0x{error.object[error.start]:02x})"
    refuse(
        file.path,
        f"it is not UTF-8 text{byte}, probably Latin-1, Windows-1252 or UTF-16; save it as UTF-8, "
        "for example with pandas.read_csv(..., encoding='latin-1').to_csv(...)",
        error,
    )
