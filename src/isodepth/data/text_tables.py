"""Tables in texts: .csv and .tsv."""

from __future__ import annotations

import csv
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.data.file_source import Source, refuse
from isodepth.data.frames import Table
from isodepth.data.wishes import Found, Wish, choose, numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What programs write into the cell of a value that is missing, and of a truth value.
_MISSING = ("", "na", "n/a", "nan", "null", "none")
_TRUTH = {"true": 1.0, "false": 0.0}
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{4}")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_SEPARATOR_NAMES = {",": "commas", "\t": "tabs"}


def read_text(source: Source, wish: Wish) -> Found:
    """Read a table of numbers from a text."""
    try:
        columns, header_lines, width = header_of(source)
        if wish.plain:
            # NumPy is quick where all is well; where it is not, the cells are walked one by one.
            points = _numbers(source, header_lines)
            if points is not None and points.size == 0:
                refuse(source.file, "it has a header but no rows")
            if points is not None and points.shape[1] == width:
                return Found(Table(points, columns), notes=_headerless(source, columns))
        return _surveyed(source, wish, columns, header_lines, width)
    except UnicodeDecodeError as error:
        refuse(source.file, f"it is not UTF-8 text (byte {error.start} of a block)", error)
    except csv.Error as error:
        refuse(source.file, f"its quotes are damaged ({error})", error)


def header_of(source: Source) -> tuple[tuple[str, ...] | None, int, int]:
    """Column names, how many lines to skip for them, and how many cells a row must have."""
    with source.lines() as lines:
        rows = csv.reader(lines, delimiter=_separator(source), strict=True)
        first = next((row for row in rows if row), None)
        if first is None:
            refuse(source.file, "it is empty")
        if any("\0" in cell for cell in first):
            refuse(source.file, "it is not a text file")
        names = [cell.strip() for cell in first]
        if any(map(is_number, names)) and all(is_number(name) or not name for name in names):
            return None, 0, len(names)
        _check_names(source.file, names)
        return tuple(names), rows.line_num, len(names)


def check_distinct(file: object, names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        refuse(file, f"two columns are named {twice!r}; give every column a name of its own")


def is_number(cell: str) -> bool:
    """Whether a cell holds a number."""
    # float() takes "1_000", which no program writes into a table and NumPy refuses.
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def sort_of_text(cell: str) -> str:
    """What a cell that is no number holds."""
    return "dates" if _DATE.match(cell.strip()) else "text"


def _separator(source: Source) -> str:
    return _SEPARATORS.get(source.ending, ",")


def _check_names(file: object, names: Sequence[str]) -> None:
    number = next(filter(is_number, names), None)
    if number is not None:
        text = next(name for name in names if name and not is_number(name))
        refuse(
            file,
            f"its first row mixes numbers ({number!r}) and text ({text!r}): "
            "it is neither a header nor data",
        )
    if "" in names:
        refuse(
            file,
            f"column {names.index('') + 1} has no name in the header; if it is a row index, "
            "save the table without it (index=False in pandas)",
        )
    check_distinct(file, names)


def _headerless(source: Source, columns: tuple[str, ...] | None) -> list[str]:
    if columns is not None:
        return []
    return [
        f"{source.file} has no header: its first row is taken for data, and columns are numbered "
        "from 0"
    ]


def _numbers(
    source: Source,
    header_lines: int,
    kept: Sequence[int] | None = None,
    converters: Any = None,
) -> NDArray[np.float64] | None:
    """The numbers below the header, or None where something among them is not a number."""
    with source.lines() as lines, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*input contained no data.*")
        try:
            return np.loadtxt(
                lines,
                delimiter=_separator(source),
                comments=None,
                quotechar='"',
                skiprows=header_lines,
                ndmin=2,
                usecols=kept,
                converters=converters,
            )
        except UnicodeDecodeError:
            raise
        except ValueError:
            return None


# -- cell by cell ---------------------------------------------------------------------------------


@dataclass
class _Column:
    """What the cells of a column are."""

    numbers: int = 0
    truths: int = 0
    missing: int = 0
    texts: int = 0
    first_missing: int = 0
    first_text: tuple[int, str] | None = None

    def see(self, cell: str, line: int) -> None:
        if is_number(cell):
            self.numbers += 1
            return
        word = cell.strip().lower()
        if word in _MISSING:
            self.missing += 1
            self.first_missing = self.first_missing or line
        elif word in _TRUTH:
            self.truths += 1
            if self.numbers:  # a word among numbers
                self.first_text = self.first_text or (line, cell)
        else:
            self.texts += 1
            self.first_text = self.first_text or (line, cell)

    @property
    def boolean(self) -> bool:
        return self.truths > 0 and not self.numbers and not self.texts

    @property
    def no_numbers(self) -> bool:
        return self.texts > 0 or (self.truths > 0 and self.numbers > 0)


def _surveyed(
    source: Source,
    wish: Wish,
    columns: tuple[str, ...] | None,
    header_lines: int,
    width: int,
) -> Found:
    """Read a table whose cells are looked at one by one: some are not wanted, or no numbers."""
    names = list(columns) if columns else numbered(width)
    kept, label_place, left_out, absent = choose(names, wish, source.file)
    seen, labels, n_rows = _survey(source, header_lines, width, label_place)
    if not n_rows:
        refuse(source.file, "it has a header but no rows")
    texts = [place for place in kept if seen[place].no_numbers]
    notes = _headerless(source, columns)
    if texts and not wish.drop_text:
        refuse(source.file, _text_fault(source, columns, names, seen, texts, wish))
    kept = [place for place in kept if place not in texts]
    if not kept:
        refuse(source.file, "none of its columns holds numbers")
    if texts:
        about = ", ".join(_about_text(names[place], seen[place]) for place in texts)
        notes.append(f"left out of {source.file}: {about}")
    _refuse_missing(source, columns, seen, kept, wish)
    converters: dict[int, Callable[[str], float]] = {}
    for place in kept:
        if seen[place].boolean:
            notes.append(f"column {names[place]!r} of {source.file} is boolean: true is taken as 1")
        if seen[place].missing or seen[place].truths:
            converters[place] = _value
    points = _numbers(source, header_lines, kept, converters or None)
    if points is None or len(points) != n_rows:
        refuse(source.file, "its cells cannot be told apart; check quotes and line ends")
    left_out += [names[place] for place in texts]
    chosen = tuple(names[place] for place in kept) if columns else None
    return Found(Table(points, chosen), labels, left_out, notes, absent)


def _survey(
    source: Source, header_lines: int, width: int, label_place: int | None
) -> tuple[list[_Column], list[str] | None, int]:
    seen = [_Column() for _ in range(width)]
    labels: list[str] | None = None if label_place is None else []
    n_rows = 0
    with source.lines() as lines:
        rows = csv.reader(lines, delimiter=_separator(source), strict=True)
        for row in rows:
            line = rows.line_num
            if not row or line <= header_lines:
                continue
            if len(row) != width:
                refuse(source.file, f"line {line} has {len(row)} cells where {width} are expected")
            n_rows += 1
            for column, cell in zip(seen, row, strict=True):
                column.see(cell, line)
            if labels is not None and label_place is not None:
                labels.append(row[label_place].strip())
    return seen, labels, n_rows


def _where(line: int, place: int, columns: tuple[str, ...] | None) -> str:
    return f"line {line}, column {place + 1}" + (f" ({columns[place]!r})" if columns else "")


def _text_fault(
    source: Source,
    columns: tuple[str, ...] | None,
    names: Sequence[str],
    seen: Sequence[_Column],
    texts: Sequence[int],
    wish: Wish,
) -> str:
    faults = [(seen[place].first_text or (0, ""), place) for place in texts]
    (line, cell), place = min(faults, key=lambda fault: (fault[0][0], fault[1]))
    where = _where(line, place, columns)
    own = _separator(source)
    separator = next((mark for mark in ";\t," if mark != own and mark in cell), None)
    if len(names) == 1 and separator:
        return f"{where}: cells must be separated by {_SEPARATOR_NAMES[own]}, not by {separator!r}"
    listed = ", ".join(repr(names[place]) for place in texts)
    held = sorted({sort_of_text((seen[place].first_text or (0, ""))[1]) for place in texts})
    return (
        f"{where}: {cell!r} is not a number; {' or '.join(held)} in column(s) {listed}: "
        f"{wish.hints.leaving_out([names[place] for place in texts])}"
    )


def _about_text(name: str, column: _Column) -> str:
    line, cell = column.first_text or (0, "")
    text = f"{name!r} ({sort_of_text(cell)}"
    others = column.numbers
    if others:  # a slip in a column of numbers should not go unseen
        total = others + column.texts + column.truths
        return f"{text} in {total - others} of {total} cells, the first {cell!r} in line {line})"
    return f"{text}, such as {cell!r})"


def _refuse_missing(
    source: Source,
    columns: tuple[str, ...] | None,
    seen: Sequence[_Column],
    kept: Sequence[int],
    wish: Wish,
) -> None:
    holes = [(seen[place].first_missing, place) for place in kept if seen[place].missing]
    if holes and not wish.missing:
        where = _where(*min(holes), columns)
        refuse(
            source.file,
            f"{where}: the cell is empty; fill in or drop incomplete rows{wish.hints.missing}",
        )


def _value(cell: str) -> float:
    word = cell.strip().lower()
    if word in _MISSING:
        return math.nan
    return _TRUTH[word] if word in _TRUTH else float(cell)
