"""Reading of columns of text files with pyarrow.

If pyarrow fails, the file is read again with Python's csv module, so that the error message can
name the faulty line. The argument `form` of functions is the format of the file: its separator,
decimal mark and header.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO, NoReturn

import numpy as np

from isodepth.base.paths import refuse, system_reason
from isodepth.base.words import numbered
from isodepth.table.csv_format import (
    LINE_BYTES,
    CsvFormat,
    parse_number,
    refuse_encoding,
    refuse_line,
)
from isodepth.table.input_file import InputFile
from isodepth.table.text_columns import (
    MISSING_NUMBER_WORDS,
    MISSING_WORDS,
    days_at_midnight,
    narrowed_type,
    remembering,
    typed_column,
)

_BLOCK_BYTES = 1 << 20
_CELL_BYTES = 256


def read_csv_columns(
    file: InputFile,
    form: CsvFormat,
    places: Sequence[int],
    missing_words: Sequence[str] = (),
    *,
    with_texts: bool,
) -> Any:
    """Read the columns at the positions `places` as a pyarrow table, with positions as names.

    `form` is the format of the file. A column has the type of its values in this file.
    `missing_words` are additional words for missing values. If `with_texts`, columns remember their
    strings, see `isodepth.table.text_columns.remembering`.
    """
    import pyarrow as pa

    batches = list(_batches(file, form, places, "string"))
    if not any(map(len, batches)):
        refuse(file.path, "it has a header but no rows")
    table = pa.Table.from_batches(batches)
    columns, fields = [], []
    for column, place in zip(table.columns, places, strict=True):
        strings = typed_column(column, "string", missing_words)
        type_, metadata = narrowed_type(strings, None, form.decimal), None
        numbers = None
        if type_ in ("string", None):
            numbers = _numbers_of(strings.unique().to_pylist(), form.decimal)
        if numbers is not None:
            values = [numbers.get(cell) for cell in strings.to_pylist()]
            typed = pa.chunked_array([pa.array(values, pa.float64())])
        elif with_texts:
            typed, metadata = remembering(strings, type_, form.decimal)
        else:
            typed = days_at_midnight(typed_column(strings, type_))
        columns.append(typed)
        fields.append(pa.field(str(place), typed.type, metadata=metadata))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


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
    """Yield the columns at the positions `places` as strings, in pyarrow tables of about 1 MB."""
    import pyarrow as pa

    for batch in _batches(file, form, places, "string"):
        yield pa.Table.from_arrays(batch.columns, batch.schema.names)


def words_in_csv(
    file: InputFile, form: CsvFormat, places: Sequence[int], words: Sequence[str]
) -> set[str]:
    """Return those of `words` that are cells of the columns at the positions `places`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted, found = pa.array(words, pa.string()), set()
    for batch in _batches(file, form, places, "string"):
        for column in batch.columns:
            found.update(column.filter(pc.is_in(column, value_set=wanted)).unique().to_pylist())
    return found


def first_rows(file: InputFile, form: CsvFormat) -> Any:
    """Return the first rows of a file as a pyarrow table, with the types of their values.

    Columns without values have the type null. The table is empty, with columns of type null, if
    pyarrow cannot read the lines.
    """
    import pyarrow as pa
    from pyarrow.csv import open_csv

    names = numbered(form.width)
    try:
        with file.open() as stream:
            strings = dict.fromkeys(names, pa.string())
            reader = open_csv(stream, **_arrow_options(form, range(form.width), strings, False))
            first = pa.Table.from_batches([*islice(reader, 1)], reader.schema)
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error):
        # Reading the rows raises the error with the reason.
        return pa.schema([(name, pa.null()) for name in names]).empty_table()
    types = [narrowed_type(column, None, form.decimal) for column in first.columns]
    typed = [
        pa.nulls(len(first)) if type_ is None else typed_column(column, type_)
        for column, type_ in zip(first.columns, types, strict=True)
    ]
    return pa.Table.from_arrays(typed, names)


def _batches(file: InputFile, form: CsvFormat, places: Sequence[int], type_: str) -> Iterator[Any]:
    """Yield pyarrow record batches of the columns at the positions `places`.

    The columns have the type `type_`, "double" or "string". Cells that cannot be converted raise an
    error.
    """
    import pyarrow as pa
    from pyarrow.csv import open_csv

    types = dict.fromkeys(map(str, places), pa.type_for_alias(type_))
    numbers = places if type_ == "double" else ()
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
            null_values=list(MISSING_WORDS),
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


def _numbers_of(cells: Sequence[str | None], decimal: str) -> dict[str | None, float] | None:
    """Return a dictionary that maps each cell of a column, except missing values, to its number.

    `cells` are the distinct cells, None if missing, and `decimal` is the decimal mark. Return None
    if the column is not numeric: a cell is neither a number nor missing, or there are words for
    missing values such as "NA" but no number.
    """
    numbers: dict[str | None, float] = {}
    for cell in cells:
        word = (cell or "").strip().lower()
        if word not in MISSING_NUMBER_WORDS:
            number = parse_number(word, decimal)
            if number is None:
                return None
            numbers[cell] = number
    # A column without any number is not numeric, because "NA" in all rows may be a category.
    return numbers if numbers or not any(cells) else None


# -- errors in a file -----------------------------------------------------------------------------


def cell_name(form: CsvFormat, line: int, place: int) -> str:
    """Return a string with the line and the column of a cell for a message.

    `line` is counted from 1, and `place`, the position of the column, from 0.
    """
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
        refuse(file.path, system_reason(error), error)
    _check_rows(file, form, numbers)
    if next(_walk(file, form), None) is None:
        refuse(file.path, "it has a header but no rows", error)
    refuse(file.path, f"its cells cannot be separated ({error})", error)


def _check_rows(file: InputFile, form: CsvFormat, numbers: Sequence[int]) -> None:
    """Raise an error for an unclosed quote, wrong encoding, or a row with a wrong number of cells.

    Also raise an error for a cell in the columns at the positions `numbers` that is neither numeric
    nor missing.
    """
    try:
        for line, row in _walk(file, form):
            if len(row) != form.width:
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                refuse(file.path, f"line {line} has {cells} instead of {form.width}")
            for place in numbers:
                if (
                    parse_number(row[place], form.decimal) is None
                    and row[place].lower() not in MISSING_NUMBER_WORDS
                ):
                    cell = f"{cell_name(form, line, place)}: {row[place]!r}"
                    refuse(file.path, f"{cell} is not a number; select numeric columns")
    except csv.Error as error:
        refuse(file.path, f"its quotes are damaged ({error})", error)
    except UnicodeDecodeError as error:
        refuse_encoding(file, error)


def _walk(file: InputFile, form: CsvFormat) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of data: the number of the line in which a row ends, and its cells."""
    with io.TextIOWrapper(file.open(), encoding="utf-8-sig", newline="") as stream:

        def lines() -> Iterator[str]:
            while line := stream.readline(LINE_BYTES):
                if len(line) == LINE_BYTES:
                    refuse_line(file, reader.line_num + 1)
                yield line

        reader = csv.reader(lines(), delimiter=form.delimiter, strict=True)
        rows = ((reader.line_num, row) for row in reader if row)
        if form.names:
            next(rows)
        yield from rows
