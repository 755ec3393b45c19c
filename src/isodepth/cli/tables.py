"""The tables that commands work on: read, checked, and matched by the names of their columns."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.cli.commands import note
from isodepth.cli.options import Reading
from isodepth.data.file_source import ENDINGS, Source, is_stdin, open_source
from isodepth.data.frames import Table
from isodepth.data.matching import differing, in_order
from isodepth.data.missing import omit_missing
from isodepth.data.readers import read_file
from isodepth.data.validation import check_points, check_same_width
from isodepth.data.wishes import Found, Hints, Wish, unknown_column
from isodepth.errors import InvalidInputError, InvalidOptionError, UnreadableFileError

_OMIT = ", or leave out these rows with --nan-policy omit"
_HINTS = Hints(
    columns="--columns NAME,NAME", drop="--drop {joined}", drop_text="--drop-text", missing=_OMIT
)
# So many rows left out for one column are pointed out.
_MANY_ROWS = 0.5
_NUMBER = re.compile(r"(\d+)")


def open_sources(paths: Sequence[str]) -> list[Source]:
    """Open all files before any is read: one that is not there is said first."""
    if sum(map(is_stdin, paths)) > 1:
        raise InvalidOptionError("standard input can be read once; give - for one table only")
    return [open_source(path) for path in paths]


def read_tables(
    paths: Sequence[str],
    reading: Reading,
    labels: str | None = None,
    sources: Sequence[Source] | None = None,
) -> list[Found]:
    """Read tables as the options say; `reading` keeps what was left out.

    A column of `labels` is read as texts. `sources` are the files, where they were opened already.
    """
    options = _read_options(reading, labels)
    found = [read_file(source, options) for source in sources or open_sources(paths)]
    reading.omitted = []
    for path, each in zip(paths, found, strict=True):
        _check(each.table, path, reading)
        for text in each.notes:
            note(text)
    _refuse_unknown_drops(paths, found)
    reading.left_out = list(dict.fromkeys(name for each in found for name in each.left_out))
    return found


def _read_options(reading: Reading, labels: str | None = None) -> Wish:
    return Wish(
        missing=reading.nan_policy == "omit", columns=reading.columns, drop=reading.drop,
        drop_text=reading.drop_text, labels=labels, lenient=True, hints=_HINTS,
    )  # fmt: skip


def _check(table: Table, path: str, reading: Reading) -> None:
    # Checked here and not only in the library, so that a complaint names the file.
    if reading.nan_policy != "omit":
        check_points(table, str(path), hint=_OMIT)
        return
    report = omit_missing(table, name=str(path)).report
    reading.omitted.append(report)
    column, count = max(report.counts, key=lambda pair: pair[1])
    if report.share > _MANY_ROWS and len(report.counts) > 1:
        note(
            f"{report.n_dropped} of {report.n_rows} rows of {path} are left out, most of them "
            f"({count}) for {column!r}; --drop {column} would keep those that lack nothing else"
        )


def _refuse_unknown_drops(paths: Sequence[str], found: Sequence[Found]) -> None:
    """A column that is to be left out must be in one of the tables at least."""
    absent = set.intersection(*(set(each.absent) for each in found))
    if not absent:
        return
    columns = found[0].table.columns
    names = columns or [str(j) for j in range(found[0].table.points.shape[1])]
    name = min(absent)
    if len(paths) == 1:
        raise unknown_column(name, [*names, *found[0].left_out], paths[0])
    raise InvalidOptionError(
        f"--drop {name}: none of the tables has such a column; {paths[0]} has {', '.join(names)}"
    )


# -- columns --------------------------------------------------------------------------------------


def aligned(paths: Sequence[str], found: Sequence[Found]) -> list[Any]:
    """Tables with the columns of the first that has names; arrays where none has any."""
    tables = [each.table for each in found]
    names = next((table.columns for table in tables if table.columns is not None), None)
    like = next((i for i, table in enumerate(tables) if table.columns is not None), 0)
    for path, table in zip(paths, tables, strict=True):
        if names is None or table.columns is None:
            width = tables[like].points.shape[1]
            check_same_width(width, table.points.shape[1], str(paths[like]), str(path))
    if names is None:
        return [table.points for table in tables]
    each = zip(paths, tables, strict=True)
    return [matched(table, names, str(path), str(paths[like])) for path, table in each]


def matched(table: Table, names: tuple[str, ...] | None, called: str, like: str) -> Table:
    """A table with its columns in the order of `names`, which those without names take over."""
    if names is None:
        return table
    if table.columns is not None and set(table.columns) != set(names):
        odd = str(differing(names, table.columns, like, called)).rpartition(";")[0]
        raise InvalidInputError(
            f"{odd}; compare columns that both have with --columns, or leave out others with --drop"
        )
    return Table(in_order(table, names, called, like).points, names)


def label_column(source: Source, name: str) -> np.ndarray:
    """The labels in a column: numbers where all are, whole ones written as such, else texts."""
    options = Wish(missing=True, drop_text=True, labels=name, hints=_HINTS)
    labels = read_file(source, options).labels or []
    if "" in labels:
        raise InvalidInputError(
            f"{source.file}: {labels.count('')} rows have no value in column {name!r}; fill it in"
        )
    try:
        values = np.array([float(label) for label in labels])
    except ValueError:
        return np.array(labels)
    whole = bool(np.isfinite(values).all() and (values == np.round(values)).all())
    return values.astype(np.int64) if whole else values


def read_with_labels(
    paths: Sequence[str], reading: Reading, columns: Sequence[str | None]
) -> tuple[list[Found], list[list[np.ndarray | None]]]:
    """Tables without some columns, and these columns of each table as labels."""
    sources = open_sources(paths)
    taken = [name for name in columns if name is not None]
    labels = [
        [None if name is None else label_column(source, name) for name in columns]
        for source in sources
    ]
    without = replace(reading, drop=(*reading.drop, *taken))
    found = read_tables(paths, without, sources=sources)
    reading.left_out = [name for name in without.left_out if name not in taken]
    reading.omitted = without.omitted
    return found, labels


# -- many samples ---------------------------------------------------------------------------------


def read_samples(
    paths: Sequence[str], reading: Reading, group_by: str | None
) -> tuple[list[str], list[Any]]:
    """The samples of a command, and their labels: files, folders of files, or groups of rows."""
    files = [file for path in paths for file in _files(path)]
    if group_by is None:
        return file_names(files), aligned(files, read_tables(files, reading))
    if len(files) != 1:
        raise InvalidOptionError(
            f"--group-by takes one table apart, got {len(files)} of them; give one table"
        )
    return _groups(files[0], reading, group_by)


def _files(path: str) -> list[str]:
    """A file, or the tables in a folder in the order of their names."""
    try:
        if not os.path.isdir(path):
            return [path]
        found = [str(file) for file in Path(path).iterdir() if _is_table(file)]
    except (OSError, ValueError) as error:
        raise UnreadableFileError(f"cannot read {path}: {error}") from None
    if not found:
        raise UnreadableFileError(
            f"cannot read {path}: the folder holds no file that ends in {', '.join(ENDINGS)}"
        )
    return sorted(found, key=_natural)


def _is_table(file: Path) -> bool:
    name = file.name.lower().removesuffix(".gz")
    return file.is_file() and name.endswith(ENDINGS) and not name.startswith((".", "_"))


def _natural(text: str) -> list[Any]:
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


def _groups(path: str, reading: Reading, group_by: str) -> tuple[list[str], list[Any]]:
    (found,) = read_tables([path], reading, group_by)
    labels = np.array(found.labels, dtype=object)
    lacking = int((labels == "").sum())
    if lacking and reading.nan_policy != "omit":
        raise InvalidInputError(
            f"{path}: {lacking} rows have no value in column {group_by!r}, and belong to no "
            f"sample; fill it in{_OMIT}"
        )
    if lacking:
        note(f"{path}: left out {lacking} rows without a value in column {group_by!r}")
    points, columns = found.table
    order = sorted(set(labels) - {""}, key=_natural)
    groups = [points[labels == label] for label in order]
    return order, [some if columns is None else Table(some, columns) for some in groups]
