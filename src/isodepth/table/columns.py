"""One column: its kind, how its values are read, and the reasons for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from isodepth.base.export import ResultPart
from isodepth.base.messages import Message, Wording, joined
from isodepth.table.numerals import Style


class Reason(Wording):
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
    NUMBERS_AND_STRINGS = "numbers in {numbers}, strings in {strings}"
    ONE_NUMBER = (
        "{count} of {rows} values is a number, {number!r}, but others such as {word!r} are not"
    )
    SOME_NUMBERS = (
        "{count} of {rows} values are numbers such as {number!r}, but others such as {word!r} "
        "are not"
    )
    NUMBERS_ALONE = "choose {--numeric} to compare the numbers alone"
    WORDS_MISSING = (
        "values that are not numbers, such as {word!r}, are read as missing; choose {--category} "
        "if they are not missing values"
    )
    # Numbers
    MAYBE_CODES = "{count} distinct values; choose {--category} if they are codes"
    LEADING_ZEROS = "{value!r} is read without leading zeros; choose {--category} if they are codes"
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

    @property
    def key(self) -> str:
        """Constant of the reason in results."""
        return self.name.lower()


class Note(NamedTuple):
    """Reason with the values that its text names.

    Examples
    --------
    >>> Note(Reason.MAYBE_CODES, {"count": 3}).text
    "3 distinct values; choose 'category' if they are codes"
    """

    reason: Reason
    values: Mapping[str, str | int] = {}

    @property
    def text(self) -> Message:
        """Text of the note."""
        return self.reason(**self.values)


@dataclass(frozen=True, eq=False)
class ColumnKind(ResultPart):
    """Kind of one column, and how it is compared.

    Attributes
    ----------
    column : str
        Name of the column.
    kind : {"numeric", "category", "date", "identifier"}
        Kind of the values. An identifier is a column of integers that number the rows, or a
        non-numeric column with too many distinct values for a category.
    use : {"numeric", "category", "omit"}
        How the column is compared, in the words of the option `kinds`. "numeric": the values enter
        distances, tests and monitors. "category": the relative frequencies of the values enter
        tests and monitors, but not distances. "omit": the column is not compared.
    note : str
        Reason why the column is left out, or how its values were read; may be empty.
    option : str, tuple of str, int or None
        Entry of the option `kinds` with which the column is read in the same way from other
        samples. None if no entry is needed.
    attention : bool
        Whether the kind is doubtful, so that results show the note first.
    reasons : tuple of str
        Constants for the parts of the note, such as "row_numbers" or "since_1970".
    """

    column: str
    kind: str
    use: str
    note: str = ""
    option: Any = None
    attention: bool = False
    reasons: tuple[str, ...] = ()

    def has(self, *reasons: Reason) -> bool:
        """Return whether one of `reasons` is among those of the note."""
        return any(reason.key in self.reasons for reason in reasons)

    @property
    def numbers_rows(self) -> bool:
        """Whether the column is left out because it numbers the rows."""
        return self.has(Reason.ROW_NUMBERS, Reason.INCREASES)


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
    option: tuple[str, ...] | str | int | None = None
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
        texts = [note.text for note in self.notes]
        if self.notes and self.notes[0].reason is Reason.NUMBERS_AND_STRINGS:
            texts[:2] = [joined(": ", texts[:2])]
        return joined("; ", texts) if texts else ""

    @property
    def described(self) -> ColumnKind:
        """Description of the column for users."""
        reasons = tuple(note.reason.key for note in self.notes)
        return ColumnKind(
            self.name, self.kind, self.use, self.note, self.option, self.attention, reasons
        )
