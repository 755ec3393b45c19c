"""What to read of a table in a file (`ReadOptions`), and what was read (`ReadResult`)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.frames import Names, Table, read_frame
from isodepth.errors import InvalidOptionError

# Names are listed in a message until there are this many.
_LISTED = 20


class Hints(NamedTuple):
    """How to ask for something, in the words of Python or of a shell."""

    columns: str = "columns=[...]"
    drop: str = "drop={names!r}"
    drop_text: str = "drop_text=True"
    missing: str = ""

    def leaving_out(self, names: Sequence[str]) -> str:
        """How to leave out columns that do not hold numbers."""
        if len(names) > _LISTED:
            return f"leave out all such columns with {self.drop_text}"
        by_name = self.drop.format(names=list(names), joined=",".join(names))
        return f"leave them out with {by_name}, or all such columns with {self.drop_text}"


PYTHON_HINTS = Hints()


@dataclass(frozen=True)
class ReadOptions:
    """What to read of a table.

    Attributes
    ----------
    missing : bool
        Whether values may be missing.
    columns : sequence of str or None
        The columns to read, in this order; None for all.
    drop : sequence of str
        Columns to leave out.
    text : {"raise", "drop", "keep"}
        What becomes of columns that hold text or dates.
    categories : sequence of str
        Columns that may hold numbers and texts, with ``text="keep"``.
    labels : str or None
        A column that is read as texts, and is not one of the numbers.
    lenient : bool
        Whether a column that is to be left out may be absent.
    hints : Hints
        The words of error messages.
    """

    missing: bool = False
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    text: str = "raise"
    categories: Sequence[str] = ()
    labels: str | None = None
    lenient: bool = False
    hints: Hints = PYTHON_HINTS

    @property
    def everything(self) -> bool:
        """Whether all columns are wanted, as numbers."""
        return self.columns is None and not self.drop and self.labels is None


@dataclass
class ReadResult:
    """What was read.

    Attributes
    ----------
    frame : pyarrow.Table, or ndarray of shape (n, d) for .npy and .npz
        The chosen columns in their order. With ``text="keep"`` those of text and dates are among
        them, as Arrow columns that `frame[name].to_numpy()` turns into arrays of objects.
    columns : tuple of str or None
        Their names; None where the file has none.
    labels : list of n texts, or None
    left_out : list of str
        Columns that were left out: by name, or because they hold text.
    notes : list of str
        What a person should know about the file.
    absent : list of str
        Columns that were to be left out and are not there.
    """

    frame: Any
    columns: Names
    labels: list[str] | None = None
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    @cached_property
    def numbers(self) -> Table:
        """The columns of numbers alone, without booleans; none may be left."""
        if isinstance(self.frame, np.ndarray):
            return self.table
        names = [field.name for field in self.frame.schema if _is_numeric(field.type)]
        if len(names) == self.frame.num_columns:
            return self.table
        chosen = self.frame.select(names)
        points = read_frame(chosen, "the table")[0] if names else np.empty((len(chosen), 0))
        return Table(points, tuple(names))

    @property
    def mixed(self) -> Any:
        """All columns: the frame where there are others than numbers, else the `table`."""
        if isinstance(self.frame, np.ndarray):
            return self.table
        whole = self.numbers.points.shape[1] == self.frame.num_columns
        return self.table if whole else self.frame

    @cached_property
    def table(self) -> Table:
        """The numbers as floats, with NaN for what is missing, and the names of the columns."""
        if isinstance(self.frame, np.ndarray):
            return Table(self.frame, self.columns)
        return Table(read_frame(self.frame, "the table")[0], self.columns)


def _is_numeric(kind: Any) -> bool:
    from pyarrow import types

    return types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind)


class Choice(NamedTuple):
    """Places of the columns that are wanted, that of the labels, and what is left out."""

    kept: list[int]
    labels: int | None
    dropped: list[str]
    absent: list[str]


def choose_columns(names: Sequence[str], options: ReadOptions, file: object) -> Choice:
    """Which of the columns of a file are wanted.

    Examples
    --------
    >>> choose_columns(["a", "b", "c"], ReadOptions(drop=["b"], labels="c"), "table.csv")
    Choice(kept=[0], labels=2, dropped=['b'], absent=[])
    >>> choose_columns(["a", "b", "c"], ReadOptions(columns=["c,a"]), "table.csv").kept
    [2, 0]
    """
    places = {name: place for place, name in enumerate(names)}

    def find(wanted: Sequence[str], lenient: bool) -> tuple[list[int], list[str]]:
        found, absent = [], []
        for name in wanted:
            # A name may hold commas itself.
            for part in [name] if name in places else name.split(","):
                if part in places:
                    found.append(places[part])
                elif lenient:
                    absent.append(part)
                else:
                    raise unknown_column(part, names, file)
        return found, absent

    labels = None if options.labels is None else find([options.labels], False)[0][0]
    dropped, absent = find(options.drop, options.lenient)
    kept = list(range(len(names)))
    if options.columns is not None:
        kept = list(dict.fromkeys(find(options.columns, False)[0]))
    unwanted = {*dropped, labels}
    kept = [place for place in kept if place not in unwanted]
    if not kept:
        raise InvalidOptionError(f"no column of {file} is left; it has {listed(names)}")
    return Choice(kept, labels, [names[place] for place in dropped], absent)


def unknown_column(name: str, names: Sequence[str], file: object) -> InvalidOptionError:
    """The error for a column that is not there."""
    near = difflib.get_close_matches(name, names[:1000], 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return InvalidOptionError(f"{file} has no column {name!r}{hint} (it has {listed(names)})")


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """Names in a message: the first, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def numbered(width: int) -> list[str]:
    """What columns without names are called in options."""
    return [str(place) for place in range(width)]
