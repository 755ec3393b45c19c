"""One column: its kind, how its values are read, and the reasons for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, NamedTuple

from isodepth.table.kinds import ColumnKind
from isodepth.table.numerals import Style


class Reason(Enum):
    """Reason for the kind of a column, or for the way in which its values are read.

    The value of a reason is the template of its text. Names in braces are keys of `Note.values`.
    """

    # Columns that are left out
    ON_REQUEST = "on request"
    ONLY_IN = "only in {sample}"
    ROW_NUMBERS = "row numbers"
    INCREASES = "increases in every row"
    DISTINCT = "{distinct} of {rows} values are distinct"
    MANY_VALUES = "{distinct} values, more than {most} categories"
    DATES = "dates and times"
    DURATIONS = "durations"
    DATE_STRINGS = "dates as strings"
    ODD_DATES = "dates as strings; {odd} of {rows} values are not dates"
    # Categories
    CODES_AND_WORDS = "compared as a category: {word!r} is not a number ({distinct} values)"
    ZERO_AND_ONE = "0 and 1 in {sample} read as booleans"
    CATEGORICAL_IN = "categorical in {sample}, so compared as a category"
    # Contradictions between samples, and between values
    NUMBERS_AND_VALUE = "numbers in {numbers} and {value!r} in {sample}"
    NUMBERS_AND_STRINGS = "numbers in {numbers}, strings in {strings}:"
    ONE_NUMBER = (
        "{count} of {rows} values is a number, {number!r}, but others such as {word!r} are not"
    )
    SOME_NUMBERS = (
        "{count} of {rows} values are numbers such as {number!r}, but others such as {word!r} "
        "are not"
    )
    NUMBERS_ALONE = "choose 'numeric' to compare the numbers alone"
    WORDS_MISSING = (
        "values that are not numbers, such as {word!r}, are read as missing; choose 'category' if "
        "they are not missing values"
    )
    # Numbers
    MAYBE_CODES = "{count} distinct values; choose 'category' if they are codes"
    LEADING_ZEROS = "{value!r} is read without leading zeros; choose 'category' if they are codes"
    STRINGS = "read from strings such as {value!r}"
    UNITS = "different units: {units}"
    DECIMAL_MARK = "{value!r} in {sample} is read with {mark!r} as the decimal mark"
    THOUSANDS = (
        "{mark!r} is read as a thousands separator, but it may be a decimal mark; convert the "
        "strings to numbers if it is"
    )
    DIFFERENCE = "difference from {base}"
    RANKS = "ranks of its values"
    BOOLEANS = "0 and 1"
    DAYS = "days"
    SINCE_1970 = "days since 1970"
    SINCE_1970_UTC = "days since 1970 in UTC"


class Note(NamedTuple):
    """Reason with the values that its text names.

    Examples
    --------
    >>> Note(Reason.MAYBE_CODES, {"count": 3}).text
    "3 distinct values; choose 'category' if they are codes"
    """

    reason: Reason
    values: Mapping[str, Any] = {}

    @property
    def text(self) -> str:
        """Text of the note."""
        return self.reason.value.format(**self.values)


@dataclass(frozen=True)
class Column:
    """Column of a schema.

    Attributes
    ----------
    name : str
    kind : {"numeric", "category", "date", "identifier"}
        Kind of the values, see `isodepth.typing.ColumnKind`.
    use : {"numeric", "category", "omit"}
        How the column is compared.
    notes : tuple of Note
        Reasons for the kind, the most important first.
    attention : bool
        Whether the kind is doubtful.
    option : str, tuple of str, int or None
        Entry of the option `kinds` with which other samples are read in the same way.
    categories : tuple of str
        Values of a category column in all samples that determined the schema, sorted. The index of
        a value is its code.
    text_type : str or None
        Type to which the strings of text files are converted, see `isodepth.table.text_columns`.
    styles : tuple of Style
        Styles of numbers in strings; empty if no sample had strings.
    spelling : tuple of str
        Types of values like which the strings of a category column are written, see
        `isodepth.table.values.spelled`.
    """

    name: str
    kind: str
    use: str
    notes: tuple[Note, ...] = ()
    attention: bool = False
    option: Any = None
    categories: tuple[str, ...] = ()
    text_type: str | None = None
    styles: tuple[Style, ...] = ()
    spelling: tuple[str, ...] = ()

    def has(self, *reasons: Reason) -> bool:
        """Return whether one of `reasons` is among the notes."""
        return any(note.reason in reasons for note in self.notes)

    @property
    def is_date(self) -> bool:
        """Whether the column has dates that are compared as days since 1970."""
        return self.has(Reason.SINCE_1970, Reason.SINCE_1970_UTC)

    @property
    def base(self) -> int:
        """Integer that is subtracted from the values; 0 for other columns."""
        return self.option if isinstance(self.option, int) else 0

    @property
    def order(self) -> tuple[str, ...]:
        """Values in increasing order, of which the ranks are compared; () for other columns."""
        return self.option if isinstance(self.option, tuple) else ()

    @property
    def note(self) -> str:
        """Text of all notes."""
        text = ""
        for note in self.notes:
            text += (" " if text.endswith(":") else "; ") if text else ""
            text += note.text
        return text

    @property
    def described(self) -> ColumnKind:
        """Description of the column for users."""
        return ColumnKind(self.name, self.kind, self.use, self.note, self.option, self.attention)

    def to_json(self) -> dict[str, Any]:
        """Convert to a dictionary of the types of JSON."""
        notes = [[note.reason.name, dict(note.values)] for note in self.notes]
        return {**{each.name: getattr(self, each.name) for each in fields(self)}, "notes": notes}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Column:
        """Create a column from the result of `to_json`; raise an exception if it is damaged."""
        read = {key: tuple(v) if isinstance(v, list) else v for key, v in value.items()}
        read["notes"] = tuple(Note(Reason[name], values) for name, values in value["notes"])
        read["styles"] = tuple(Style(*style) for style in value["styles"])
        column = cls(**read)
        if not all(isinstance(each, str) for each in (column.name, *column.categories)):
            raise TypeError(f"names or categories that are not strings: {column.name!r:.80}")
        return column
