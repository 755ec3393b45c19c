"""Generation of Python code that reads the files of a report like the command line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from isodepth.show.python_code import Code, keywords
from isodepth.table.input_file import TEXT_ENDINGS
from isodepth.table.readers import ReadResult
from isodepth.table.text_columns import MISSING_WORDS, narrowed_type

# Strings that `pandas.read_csv` reads as missing values in all columns, except the empty string.
_PANDAS_MISSING = (
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip

# Types that `pandas.read_csv` detects in columns of strings.
_INFERRED = ("int64", "double", "bool")


class RowLabels(NamedTuple):
    """Labels of the rows of a file: blocks of dependent rows, or groups of rows.

    Attributes
    ----------
    column : str
        Column with the labels.
    labels : ndarray of shape (n,)
        Label of each row, a number or a string.
    group : int, float or str, or None
        Label of the rows that are the sample; None if all rows are.
    """

    column: str
    labels: np.ndarray
    group: Any = None


class TableFile(NamedTuple):
    """File of a sample, and the options with which the command line read the file.

    Attributes
    ----------
    path : str
        Name of the file or folder.
    table : ReadResult or None
        Result of reading the file; None if all columns of a usual file are the sample.
    columns : sequence of str
        Columns that the command line selected, in order; empty for all.
    dropped : sequence of str
        Columns that were left out.
    categories : sequence of str
        Columns that the command line declared to be categories.
    missing_words : sequence of str
        Strings that stand for missing values.
    labels : RowLabels or None
        Labels of blocks, or of groups of rows.
    named : bool
        Whether the columns of the sample have names.
    in_chunks : bool
        Whether the file is read in chunks.
    """

    path: str
    table: ReadResult | None = None
    columns: Sequence[str] = ()
    dropped: Sequence[str] = ()
    categories: Sequence[str] = ()
    missing_words: Sequence[str] = ()
    labels: RowLabels | None = None
    named: bool = True
    in_chunks: bool = False

    @property
    def ending(self) -> str:
        """Ending of the name without the dot, such as "csv"; also that before ".gz" of a text."""
        name = self.path.lower()
        text = name.removesuffix(".gz").rpartition(".")[2]
        return text if f".{text}" in TEXT_ENDINGS else name.rpartition(".")[2]

    def column(self, name: str) -> str | int:
        """Return the name of a column in the data frame of pandas: an index without a header."""
        no_names = self.table is not None and self.table.columns is None
        return int(name) if no_names else name


def reading_lines(files: Sequence[TableFile], blocked: bool) -> list[str] | None:
    """Return statements that read the samples X and Y from files, and select their columns.

    If `blocked`, the column with the labels of blocks becomes the variable `blocks`. Return None if
    pandas and NumPy cannot read a file, or read other values than the command line.
    """
    if any(file.in_chunks for file in files):
        return _scanning_lines(files)
    calls = [_reading_call(file) for file in files]
    if None in calls:
        return None
    modules = {str(call).partition(".")[0] for call in calls}
    lines = [*(f"import {module}" for module in sorted(modules)), ""]
    labels = [file.labels for file in files]
    if labels[0] is not None and labels[0].group is not None:
        lines += [f"table = {calls[0]}", f"labels = {_labels_code('table', files[0])}"]
        lines += [
            f"{name} = table[labels == {each.group!r}]"
            for name, each in zip("XY", labels, strict=True)
            if each is not None
        ]
    else:
        lines += [f"{name} = {call}" for name, call in zip("XY", calls, strict=True)]
    if blocked:
        both = [_labels_code(name, file) for name, file in zip("XY", files, strict=True)]
        lines.append(f"blocks = ({', '.join(both)})")
    for name, file in zip("XY", files, strict=True):
        lines += _selecting_lines(name, file)
    return lines


def _scanning_lines(files: Sequence[TableFile]) -> list[str] | None:
    """Return statements that open files and folders for reading in chunks."""
    if any(file.missing_words or file.dropped for file in files):
        return None
    columns = [f", {[*file.columns]!r}" if file.columns else "" for file in files]
    both = zip("XY", files, columns, strict=True)
    return ["", *(f"{name} = isodepth.scan({file.path!r}{names})" for name, file, names in both)]


def _labels_code(variable: str, file: TableFile) -> str:
    """Return code for the labels of the rows of the data frame `variable`."""
    assert file.labels is not None
    code = f"{variable}[{file.column(file.labels.column)!r}]"
    return code if file.labels.labels.dtype.kind in "if" else f"{code}.map(str).str.strip()"


def _reading_call(file: TableFile) -> str | None:
    """Return a call of pandas or NumPy that reads a file; None if there is no such call."""
    if file.ending == "parquet":
        return f"pandas.read_parquet({file.path!r})"
    if file.ending == "npy":
        return f"numpy.load({file.path!r})"
    if f".{file.ending}" not in TEXT_ENDINGS:
        return None
    reader = {"csv": "read_csv", "tsv": "read_table"}[file.ending]
    if file.table is None:
        return f"pandas.{reader}({file.path!r})"
    options = _csv_options(file, file.table)
    return None if options is None else f"pandas.{reader}({file.path!r}{keywords(options)})"


def _csv_options(file: TableFile, table: ReadResult) -> dict[str, Any] | None:
    """Return the options with which pandas reads a text file like the command line.

    `table` is the result of reading `file`. Return None if there are no such options.
    """
    form, types = table.form, dict(zip(*_names_and_types(table), strict=True))
    assert form is not None
    strings = [name for name in types if _is_string(types[name])]
    distinct = {name: table.frame[name].unique().drop_null() for name in strings}
    # pandas would read strings such as "01" and "true" as numbers and booleans.
    as_strings = [
        name
        for name in strings
        if name in file.categories or narrowed_type(distinct[name], None) in _INFERRED
    ]
    columns = [each.to_pylist() for each in distinct.values()]
    values = {value for column in columns for value in column}
    if file.labels is not None:
        values.update(map(str, file.labels.labels.tolist()))
        if file.labels.labels.dtype.kind not in "if":
            as_strings.append(file.labels.column)
    words, header = [*file.missing_words], 0 if form.padded else None
    if _has_values(table, values, words):
        return None
    has_usual_words = values.isdisjoint(_PANDAS_MISSING)
    if not has_usual_words:  # pandas would read a category such as "NA" as a missing value
        words += sorted({*MISSING_WORDS, "nan", "NaN", "NAN"} - values)
    return {
        "sep": None if form.delimiter == TEXT_ENDINGS[f".{file.ending}"] else form.delimiter,
        "decimal": None if form.decimal == "." else form.decimal,
        "header": Code("None") if form.names is None else header,
        "index_col": 0 if form.has_index else None,
        "names": [*form.names] if form.names is not None and form.padded else None,
        "dtype": {file.column(name): Code("str") for name in as_strings},
        "parse_dates": [file.column(name) for name in types if _is_date(types[name])],
        "keep_default_na": None if has_usual_words else Code("False"),
        "na_values": words,
    }


def _selecting_lines(name: str, file: TableFile) -> list[str]:
    """Return statements that select the columns of the sample `name` after a file is read."""
    if file.table is None:
        return []
    lines, array = [], file.ending == "npy"
    names, types = _names_and_types(file.table)
    kept = [file.column(each) for each in file.columns]
    dropped = [file.column(each) for each in file.dropped]
    if kept:
        lines.append(f"{name} = {name}[:, {kept!r}]" if array else f"{name} = {name}[{kept!r}]")
    elif dropped and array:
        lines.append(f"{name} = numpy.delete({name}, {dropped!r}, axis=1)")
    elif dropped:
        lines.append(f"{name} = {name}.drop(columns={dropped!r})")
    strings = [each for each, type_ in zip(names, types, strict=True) if _is_string(type_)]
    if file.ending == "parquet" and strings and file.missing_words:
        words = [*file.missing_words]
        lines.append(f"{name} = {name}.replace({dict.fromkeys(strings, words)!r}, None)")
    if not file.named and not array:
        lines.append(f"{name} = {name}.to_numpy()")
    return lines


def _has_values(table: ReadResult, strings: set[str], words: Sequence[str]) -> bool:
    """Return whether a table has values that equal one of `words`, but are not missing.

    `strings` are the values of the columns of strings and labels. The command line compares
    strings, so that -999.0 is not missing if the word is -999. pandas compares numbers.
    """
    numbers = _numbers(words)
    equal = strings.intersection(words) or numbers & _numbers(strings)
    return bool(equal) or bool(np.isin(table.numbers.points, [*numbers]).any())


def _numbers(texts: Collection[str]) -> set[float]:
    """Return the numbers among strings."""
    numbers = set()
    for text in texts:
        with suppress(ValueError):
            numbers.add(float(text))
    return numbers


def _names_and_types(table: ReadResult) -> tuple[list[str], list[Any]]:
    """Return the names and the pyarrow types of the columns; empty lists for an array."""
    if isinstance(table.frame, np.ndarray):
        return [], []
    return table.frame.schema.names, table.frame.schema.types


def _is_string(type_: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(type_) or types.is_large_string(type_))


def _is_date(type_: Any) -> bool:
    from pyarrow import types

    return bool(types.is_date(type_) or types.is_timestamp(type_))
