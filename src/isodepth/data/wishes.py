"""What is wanted of a table in a file: which columns, which column of labels, missing values."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from isodepth.data.frames import Table
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
        by_name = self.drop.format(names=list(names), joined=",".join(names))
        return f"leave them out with {by_name}, or all such columns with {self.drop_text}"


PYTHON_HINTS = Hints()


@dataclass(frozen=True)
class Wish:
    """What is wanted of a table.

    Attributes
    ----------
    missing : bool
        Whether values may be missing.
    columns : sequence of str or None
        The columns to read, in this order; None for all.
    drop : sequence of str
        Columns to leave out.
    drop_text : bool
        Whether to leave out the columns that hold text or dates.
    labels : str or None
        A column that is read as texts, and is not one of the numbers.
    lenient : bool
        Whether a column that is to be left out may be absent.
    """

    missing: bool = False
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    drop_text: bool = False
    labels: str | None = None
    lenient: bool = False
    hints: Hints = PYTHON_HINTS

    @property
    def plain(self) -> bool:
        """Whether all columns are wanted, as numbers."""
        return self.columns is None and not self.drop and not self.drop_text and self.labels is None


@dataclass
class Found:
    """What was read.

    Attributes
    ----------
    table : Table
    labels : list of n texts, or None
    left_out : list of str
        Columns that were left out: by name, or because of `drop_text`.
    notes : list of str
        What a person should know about the file.
    absent : list of str
        Columns that were to be left out and are not there.
    """

    table: Table
    labels: list[str] | None = None
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


class Choice(NamedTuple):
    """Places of the columns that are wanted, that of the labels, and what is left out."""

    kept: list[int]
    labels: int | None
    dropped: list[str]
    absent: list[str]


def choose(names: Sequence[str], wish: Wish, file: object) -> Choice:
    """Which of the columns of a file are wanted.

    Examples
    --------
    >>> choose(["a", "b", "c"], Wish(drop=["b"], labels="c"), "table.csv")
    Choice(kept=[0], labels=2, dropped=['b'], absent=[])
    >>> choose(["a", "b", "c"], Wish(columns=["c,a"]), "table.csv").kept
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

    labels = None if wish.labels is None else find([wish.labels], False)[0][0]
    dropped, absent = find(wish.drop, wish.lenient)
    kept = list(range(len(names)))
    if wish.columns is not None:
        kept = list(dict.fromkeys(find(wish.columns, False)[0]))
    kept = [place for place in kept if place not in dropped and place != labels]
    if not kept:
        raise InvalidOptionError(f"no column of {file} is left; it has {_listed(names)}")
    return Choice(kept, labels, [names[place] for place in dropped], absent)


def unknown_column(name: str, names: Sequence[str], file: object) -> InvalidOptionError:
    """The error for a column that is not there."""
    near = difflib.get_close_matches(name, names, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return InvalidOptionError(f"{file} has no column {name!r}{hint} (it has {_listed(names)})")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"


def numbered(width: int) -> list[str]:
    """What columns without names are called in options."""
    return [str(place) for place in range(width)]
