"""The tables that commands work on: read, checked, and matched by the names of their columns."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.cli.outputs import note
from isodepth.cli.settings import wish_of
from isodepth.data.frames import Table
from isodepth.data.input_file import InputFile, is_stdin, open_input, table_files
from isodepth.data.matching import differing, in_order
from isodepth.data.missing import MissingReport, omit_missing
from isodepth.data.read_options import ReadResult, unknown_column
from isodepth.data.readers import read_with_options
from isodepth.data.validation import check_points, check_same_width
from isodepth.errors import InvalidInputError, InvalidOptionError

_OMIT_HINT = ", or leave out these rows with --missing omit"
# So many rows left out for one column are pointed out.
_MANY_ROWS = 0.5
_NUMBER = re.compile(r"(\d+)")


def read_tables(
    paths: Sequence[str],
    options: argparse.Namespace,
    labels: str | None = None,
    sources: Sequence[InputFile] = (),
    checked: bool = True,
) -> list[ReadResult]:
    """Read tables as the options of a command say; what was left out is kept among them.

    `sources` are the first of the paths, where these were opened already. Values are checked to
    be finite, unless somebody else does so later (`checked`).
    """
    if sum(map(is_stdin, paths)) > 1:
        raise InvalidOptionError("standard input can be read once; give - for one table only")
    wish = wish_of(options, labels)
    # All are opened before any is read: a file that is not there is said first.
    opened = [*sources, *(open_input(path) for path in paths[len(sources) :])]
    found, omitted = [], []
    for path, given in zip(paths, opened, strict=True):
        found.append(read_with_options(given, wish))
        if checked:
            omitted.append(_check(found[-1].table, path, wish.missing))
    _refuse_unknown_drops(paths, found)
    for each in found:
        for text in each.notes:
            note(text)
    options.left_out = list(dict.fromkeys(name for each in found for name in each.left_out))
    options.omitted = [report for report in omitted if report is not None]
    return found


def omitted_rows(options: argparse.Namespace) -> dict[str, int] | None:
    """How many rows were read, and how many left out for missing values, where that was asked."""
    if options.nan_policy != "omit":
        return None
    return {
        "rows": sum(report.n_rows for report in options.omitted),
        "left_out": sum(report.n_dropped for report in options.omitted),
    }


def about_reading(options: argparse.Namespace) -> list[str]:
    """Lines about columns and rows that were left out."""
    lines = [f"left out     {', '.join(options.left_out)}"] if options.left_out else []
    rows = omitted_rows(options)
    if rows is not None:
        lines.append(f"missing      left out {rows['left_out']} of {rows['rows']} rows")
    return lines


def read_one(path: str, options: argparse.Namespace, labels: str | None = None) -> ReadResult:
    """Read one table."""
    return read_tables([path], options, labels)[0]


def aligned_tables(
    a_path: str, b_path: str, nan_policy: str, options: argparse.Namespace | None = None
) -> tuple[Table | np.ndarray, Table | np.ndarray]:
    """Both tables with the columns of the first, in its order."""
    if options is None:
        options = argparse.Namespace(nan_policy=nan_policy)
    a, b = align([a_path, b_path], read_tables([a_path, b_path], options))
    return plain_table(a), plain_table(b)


def align(paths: Sequence[str], found: Sequence[ReadResult]) -> list[Table]:
    """Tables with the columns of the first that has names, in its order."""
    tables = [each.table for each in found]
    first = next((i for i, table in enumerate(tables) if table.columns is not None), None)
    for path, table in zip(paths, tables, strict=True):
        start = tables[first or 0]
        if first is None or table.columns is None:
            check_same_width(
                start.points.shape[1], table.points.shape[1], str(paths[first or 0]), str(path)
            )
    if first is None:
        return tables
    names = tables[first].columns
    assert names is not None
    each = zip(paths, tables, strict=True)
    return [match(table, names, str(path), str(paths[first])) for path, table in each]


def match(table: Table, names: tuple[str, ...] | None, called: str, like: str) -> Table:
    """A table with its columns in the order of `names`, which those without names take over."""
    if names is None:
        return table
    if table.columns is not None and set(table.columns) != set(names):
        odd = str(differing(names, table.columns, like, called)).rpartition(";")[0]
        raise InvalidInputError(
            f"{odd}; compare columns that both have with --columns, or leave out others with --drop"
        )
    return Table(in_order(table, names, called, like).points, names)


def plain_table(table: Table) -> Table | np.ndarray:
    """A table without names as the array it is."""
    return table if table.columns is not None else table.points


def _check(table: Table, path: str, missing: bool) -> MissingReport | None:
    # Checked here and not only in the library, so that a complaint names the file.
    if missing:
        report = omit_missing(table, name=str(path)).report
        column, count = max(report.counts, key=lambda pair: pair[1])
        if report.share > _MANY_ROWS and len(report.counts) > 1:
            note(
                f"{report.n_dropped} of {report.n_rows} rows of {path} are left out, most of them "
                f"({count}) for {column!r}; --drop {column} would keep those that lack nothing else"
            )
        return report
    check_points(table, str(path), hint=_OMIT_HINT)
    return None


def _refuse_unknown_drops(paths: Sequence[str], found: Sequence[ReadResult]) -> None:
    """A column that is to be left out must be in one of the tables at least."""
    absent = set.intersection(*(set(each.absent) for each in found))
    if absent:
        columns = found[0].table.columns
        names = columns or [str(j) for j in range(found[0].table.points.shape[1])]
        listed = str(paths[0]) if len(paths) == 1 else "none of the tables"
        name = min(absent)
        if len(paths) == 1:
            raise unknown_column(name, [*names, *found[0].left_out], listed)
        raise InvalidOptionError(
            f"--drop {name}: {listed} has such a column; {paths[0]} has {', '.join(names)}"
        )


# -- many samples ---------------------------------------------------------------------------------


def read_samples(
    paths: Sequence[str], options: argparse.Namespace
) -> tuple[list[str], list[Table | np.ndarray]]:
    """The samples of a command, and their labels: files, folders of files, or groups of rows."""
    files = [file for path in paths for file in _files(path)]
    if options.group_by is not None:
        if len(files) != 1:
            raise InvalidOptionError(
                f"--group-by takes one table apart, got {len(files)} of them; give one table"
            )
        return _groups(files[0], options)
    tables = align(files, read_tables(files, options))
    options.sample_files = files
    return file_names(files), [plain_table(table) for table in tables]


def _files(path: str) -> list[str]:
    """A file, or the tables in a folder in the order of their names."""
    return sorted(map(str, table_files(path, recursive=False)), key=natural)


def natural(text: str) -> list[Any]:
    """A key that sorts 2 before 10."""
    parts = _NUMBER.split(text)
    return [(int(part), "") if i % 2 else (-1, part) for i, part in enumerate(parts)]


def file_names(files: Sequence[str]) -> list[str]:
    """The names of files without folder and ending, where that tells them apart."""
    stems = [Path(file.removesuffix(".gz")).stem for file in files]
    for names in (stems, [Path(file).name for file in files], list(files)):
        if len(set(names)) == len(files):
            return names
    return [f"{file} ({place})" for place, file in enumerate(files, start=1)]


def _groups(path: str, options: argparse.Namespace) -> tuple[list[str], list[Table | np.ndarray]]:
    found = read_one(path, options, options.group_by)
    assert found.labels is not None
    labels = np.array(found.labels, dtype=object)
    lacking = int((labels == "").sum())
    if lacking and not wish_of(options).missing:
        raise InvalidInputError(
            f"{path}: {lacking} rows have no value in column {options.group_by!r}, and belong to "
            f"no sample; fill it in{_OMIT_HINT}"
        )
    if lacking:
        note(f"{path}: left out {lacking} rows without a value in column {options.group_by!r}")
    points, columns = found.table
    order = sorted(set(found.labels) - {""}, key=natural)
    rows: Iterable[np.ndarray] = (points[labels == label] for label in order)
    return order, [plain_table(Table(some, columns)) for some in rows]
