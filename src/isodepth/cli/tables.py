"""Reading of the input of commands: tables, columns with labels, and groups of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.paths import refuse
from isodepth.base.words import listed
from isodepth.cli.commands import note
from isodepth.cli.options import ReadingOptions
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.table.arrays import EXACT_INTEGERS
from isodepth.table.frames import NamedArray, labels_of
from isodepth.table.input_file import STDIN, InputFile, open_input, table_files
from isodepth.table.raw import raw_table
from isodepth.table.readers import (
    ReadOptions,
    ReadResult,
    read_table,
    split_names,
    unknown_column,
)
from isodepth.table.validation import read_sample


def open_sources(paths: Sequence[str]) -> list[InputFile]:
    """Open and return all input files, so that a missing file is an error before any is read."""
    if sum(path in (STDIN, "/dev/stdin") for path in paths) > 1:
        raise InvalidOptionError("standard input can be read only once; use - for one table")
    return [open_input(path) for path in paths]


def read_tables(
    sources: Sequence[InputFile],
    reading: ReadingOptions,
    *,
    without: Sequence[str | None] = (),
    text: str = "raise",
) -> list[ReadResult]:
    """Read tables with the options `reading`.

    The columns named in `without` (None is ignored) contain labels of rows, and are left out of
    every table. `reading.left_out` is set to the other columns that are left out. `text` is the
    treatment of columns of strings if --numeric-only is not given: "raise" for an error, or "keep".
    """
    taken = [name for name in without if name is not None]
    options = ReadOptions(
        missing=reading.nan_policy != "raise", columns=reading.columns or None,
        drop=(*reading.drop, *taken), text="drop" if reading.numeric_only else text,
        categories=split_names(reading.category), missing_words=split_names(reading.missing),
    )  # fmt: skip
    results = [read_table(source, options) for source in sources]
    if reading.numeric_only:
        _leave_out_everywhere(results)
    for each in results:
        if each.numbers.points.size:
            _check_values(each, reading.nan_policy, text)
        for message in each.notes:
            note(message)
    _note_unused_words(results, options.missing_words)
    _check_column_names(results, reading, taken)
    left_out = dict.fromkeys(name for each in results for name in each.left_out)
    reading.left_out = [name for name in left_out if name not in taken]
    return results


def _leave_out_everywhere(results: Sequence[ReadResult]) -> None:
    """Leave out of all tables the columns that were left out of at least one table.

    A column is left out of a table because it is not numeric there.
    """
    text = {name for each in results for name in each.left_out}
    for each in results:
        numeric = [name for name in each.columns or () if name in text]
        if not numeric:
            continue
        if len(numeric) == len(each.columns or ()):
            refuse(each.path, "none of its columns is numeric in all tables")
        each.frame = each.frame.drop_columns(numeric)
        each.columns = tuple(each.frame.column_names)
        each.left_out += numeric
        names = listed([*map(repr, numeric)])
        each.notes.append(f"left out of {each.path}: {names} (not numeric in another table)")


def _check_values(table: ReadResult, nan_policy: str, text: str) -> None:
    """Check the numeric columns of a table, with the name of the file in error messages.

    `text` is the treatment of non-numeric columns. Commands with text="raise" compare only
    complete rows: a note reports the number of dropped rows. Tests and monitors have text="keep":
    they accept rows with missing values, even if no row is complete.
    """
    path, hint = str(table.path), ", or remove --nan-policy raise"
    policy = "keep" if (nan_policy, text) == ("omit", "keep") else nan_policy
    sample = read_sample(table.numbers, None, path, None, policy, hint=hint)
    if text == "raise" and sample.missing is not None and sample.missing.n_dropped:
        note(f"dropped {sample.missing} of {path}")


def _note_unused_words(results: Sequence[ReadResult], words: Sequence[str]) -> None:
    """Issue a note for each word of the option --missing that does not occur in any table."""
    found: set[str] = set().union(*(each.words for each in results))
    paths = listed([*dict.fromkeys(str(each.path) for each in results)])
    for word in [word for word in dict.fromkeys(words) if word not in found]:
        equal = ""
        with suppress(ValueError):
            number = float(word)
            if any((each.numbers.points == number).any() for each in results):
                equal = ", although some are equal as numbers"
        note(f"--missing {word} has no effect: no cell of {paths} is the string {word!r}{equal}")


def _check_column_names(
    results: Sequence[ReadResult], reading: ReadingOptions, labels: Sequence[str]
) -> None:
    """Raise an error if an option names a column that no table has, or that is left out.

    `labels` are the names of columns with labels of rows.
    """
    known = list(dict.fromkeys(name for each in results for name in each.names))
    absent = set.intersection(*(set(each.absent) for each in results))
    absent |= {*(reading.kinds or ())} - {*known}
    if absent:
        raise unknown_column(min(absent), results[0].names, results[0].path)
    selected = {name for each in results for name in each.columns or each.names}
    for name, kind in (reading.kinds or {}).items():
        if name not in selected:
            flag = (
                "--columns" if name not in {*(split_names(reading.columns) or known)}
                else "--drop" if name in split_names(reading.drop)
                else "the option for labels" if name in labels
                else "--numeric-only"
            )  # fmt: skip
            raise InvalidOptionError(
                f"--{kind} {name} has no effect, because {flag} leaves out this column; remove one"
            )


# -- columns --------------------------------------------------------------------------------------


def frames_of(results: Sequence[ReadResult], kinds: Any) -> list[Any]:
    """Return the data of each file: a `NamedArray` if all columns of all files are numeric.

    If a column is not numeric, or `kinds` is set, return `ReadResult.frame` of each file instead.
    """
    array = next((each for each in results if isinstance(each.frame, np.ndarray)), None)
    if kinds and array is not None:
        raise InvalidOptionError(
            f"--category and --numeric have no effect on {array.path}, because its columns are "
            "numbers; remove them, or use a .csv or .parquet file"
        )
    mixed = kinds or any(not isinstance(each.mixed, NamedArray) for each in results)
    return [each.frame if mixed else each.numbers for each in results]


def label_column(source: InputFile, name: str | None) -> np.ndarray | None:
    """Return the labels of the rows, the values of the column `name`; None if `name` is None.

    The labels are strings, or integers or floats if all of them are numbers below 2**53. A row
    without a label is an error, and so are labels such as "1" and "01", which are equal only as
    numbers.
    """
    if name is None:
        return None
    if len(split_names([name])) > 1:
        raise InvalidOptionError(
            f"{name!r} names several columns, and the labels of rows are one column; give one "
            f"name, or quote a name with a comma: '\"{name}\"'"
        )
    options = ReadOptions(missing=True, columns=[name], text="keep")
    frame = read_table(source, options).frame
    is_array = isinstance(frame, np.ndarray)
    column = frame[:, 0] if is_array else raw_table(frame, name).column(0).to_pylist()
    labels = ["" if value is None else str(value).strip() for value in column]
    if "" in labels:
        count = labels.count("")
        lacking = "1 row has" if count == 1 else f"{count} rows have"
        raise InvalidInputError(
            f"{source.path}: {lacking} no value in column {name!r}; remove such rows, or fill in "
            "the values"
        )
    try:
        # float() reads "2024_01" as 202401.
        values = np.array([float("" if "_" in label else label) for label in labels])
    except ValueError:
        return np.array(labels)
    if not (np.abs(values) < EXACT_INTEGERS).all():  # large numbers are rounded; NaN is no label
        return np.array(labels)
    written: dict[float, str] = {}
    for value, label in zip(values.tolist(), labels, strict=True):
        if written.setdefault(value, label) != label:
            raise InvalidInputError(
                f"{source.path}: column {name!r} has the labels {written[value]!r} and {label!r}, "
                "which are equal as numbers; write each label in one way"
            )
    whole = (values == np.round(values)).all()
    return values.astype(np.int64) if whole else values


def with_labels(table: Any, labels: Mapping[str, Any]) -> Any:
    """Return a table with column names as a pyarrow table, with the columns `labels` added.

    A column of the table with the same name is replaced. Without labels, and for a table without
    column names, the table is returned unchanged.
    """
    import pyarrow as pa

    columns = labels_of(table)
    if not labels or columns is None:
        return table
    if isinstance(table, NamedArray):
        table = pa.table(dict(zip(columns, table.points.T, strict=True)))
    for name, values in labels.items():
        if name in table.column_names:
            table = table.drop_columns([name])
        table = table.append_column(name, pa.array(values))
    return table


# -- many samples ---------------------------------------------------------------------------------


def read_samples(
    paths: Sequence[str], reading: ReadingOptions, by: str | None
) -> tuple[list[str], list[Any]]:
    """Return the names and the tables of samples, one per file or one per group of rows.

    A folder is replaced by the tables in it. If `by` is given, there must be a single file. Its
    rows with the same value in the column `by` form a sample.
    """
    files = files_of(paths)
    if by is None:
        results = read_tables(open_sources(files), reading)
        return file_names(files), frames_of(results, reading.kinds)
    grouped = read_groups(files, reading, by)
    return list(map(str, grouped.groups)), grouped.samples


class GroupedTable(NamedTuple):
    """Table in a file whose rows are split into groups.

    Attributes
    ----------
    table : ReadResult
    labels : ndarray of shape (n,)
        Label of the group of each row.
    groups : list of int, float or str
        Distinct labels in increasing order.
    samples : list
        Rows of each group.
    """

    table: ReadResult
    labels: np.ndarray
    groups: list[Any]
    samples: list[Any]


def read_groups(
    files: Sequence[str], reading: ReadingOptions, by: str, text: str = "raise"
) -> GroupedTable:
    """Read a table, and split its rows by the labels in the column `by`.

    `files` must have a single file. `text` is the treatment of columns of strings: "raise" for an
    error, or "keep".
    """
    if len(files) != 1:
        raise InvalidOptionError(f"--by needs a single table, got {len(files)}")
    sources = open_sources(files)
    labels = np.asarray(label_column(sources[0], by))
    results = read_tables(sources, reading, without=[by], text=text)
    (table,) = frames_of(results, reading.kinds)
    groups = np.unique(labels).tolist()
    masks = [labels == group for group in groups]
    if isinstance(table, NamedArray):
        parts = [NamedArray(table.points[mask], table.columns) for mask in masks]
        samples = parts if table.columns is not None else [part.points for part in parts]
    else:
        samples = [table.filter(mask) for mask in masks]
    return GroupedTable(results[0], labels, groups, samples)


def files_of(paths: Sequence[str]) -> list[str]:
    """Return the files at the given paths, with the tables in a folder in place of the folder."""
    folders = [sorted(map(str, table_files(path, recursive=False)), key=_natural) for path in paths]
    return [file for folder in folders for file in folder]


def _natural(text: str) -> list[Any]:
    """Return a sort key that compares numbers in file names by value: 2 comes before 10."""
    parts = re.split(r"(\d+)", text)
    return [(int(part), "") if i % 2 else (-1, part) for i, part in enumerate(parts)]


def file_names(files: Sequence[str]) -> list[str]:
    """Return distinct names of files for printed lines and reports.

    Four kinds of names are tried until all names are distinct: without folder and ending, without
    folder, the paths as given, and the paths with a number.
    """
    files = ["standard input" if file == "-" else file for file in files]
    stems = [Path(file.removesuffix(".gz")).stem for file in files]
    numbered = [f"{file} ({place})" for place, file in enumerate(files, start=1)]
    for names in (stems, [Path(file).name for file in files], list(files), numbered):
        if len(set(names)) == len(files):
            break
    # Escape bytes that are not UTF-8, which cannot be written into a table or a report.
    return [name.encode("utf-8", "backslashreplace").decode() for name in names]
