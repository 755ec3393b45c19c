"""One column of several data frames: its types, its values, and their conversion to numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from isodepth.base.messages import InPython, Message, OnCommandLine
from isodepth.base.words import is_missing, listed
from isodepth.errors import InvalidInputError
from isodepth.table.arrays import EXACT_INTEGERS, warn_of_rounded_objects
from isodepth.table.dates import read_dates
from isodepth.table.frames import holds_times, object_numbers, present_values
from isodepth.table.numerals import STYLES, Numerals, Style
from isodepth.table.values import Strings, boolean, boolean_word, spelled, strings_of

#: Maximum number of distinct values for which the numbers in a column may be codes of categories.
FEW_VALUES = 10
#: Note of a column of integers that may be codes, after the number of distinct values.
MAYBE_CODES = "distinct values; choose {--category} if they are codes"
_MICROSECONDS_PER_DAY = 86_400_000_000
# Integers beyond 2**53 are reduced by a multiple of this number, which keeps multiples of 10. The
# differences exceed it, so that none is a number that often replaces missing values, such as 9999.
_BASE_UNIT = 100_000
# Numbers with leading zeros, such as postal codes, and hexadecimal numbers.
_PADDED = re.compile(r"\s*[+-]?(0\d+(\.\d*)?|0[xX][0-9a-fA-F]+)\s*")


class PooledColumn:
    """One column with its values in all samples.

    Attributes
    ----------
    name : str
    samples : sequence of str
        Names of the samples for messages.
    series : list of narwhals series
        Values of the column in each sample. Python objects are converted to numbers if all of them
        are numbers.
    stored : list of narwhals series
        Values as stored in the frames; the same list as `series` if nothing is converted.
    styles : sequence of Style
        Allowed styles of strings that are numbers, see `isodepth.table.numerals`.
    given : collection of str or None
        The attribute `spelling` of an earlier sample, which is then used for these samples too.
    literal : bool
        Whether a column of strings remains as it is: words such as "true" are not booleans.
    """

    def __init__(
        self,
        name: str,
        stored: list[Any],
        samples: Sequence[str],
        styles: Sequence[Style] = STYLES,
        *,
        given: Collection[str] | None = None,
        literal: bool = False,
    ) -> None:
        self.name, self.samples, self.stored, self.styles = name, samples, stored, styles
        self.given, self.literal = given, literal
        converted = [object_numbers(each) for each in stored]
        same = all(a is b for a, b in zip(converted, stored, strict=True))
        self.series = stored if same else converted
        for before, after, sample in zip(stored, converted, samples, strict=True):
            if after is not before and after.dtype.is_float():
                warn_of_rounded_objects(present_values(before), f"column {name!r} of {sample}")

    # -- types and values --------------------------------------------------------------------------

    @cached_property
    def _strings(self) -> list[Strings]:
        """Values of each sample as strings, which do not depend on the other samples."""
        return [strings_of(each.to_list()) for each in self.series]

    @property
    def value_types(self) -> set[type]:
        """Types of values in all samples together: bool, float for any number, and str."""
        return set().union(*(each.types for each in self._strings))

    @cached_property
    def _words(self) -> set[str]:
        """Distinct values of type str in all samples together."""
        return set().union(*(each.words for each in self._strings))

    @cached_property
    def spelling(self) -> frozenset[str]:
        """Types of values that strings are written like, determined from all samples together.

        * "boolean": a value is a boolean, or all values are the words true and false in any case;
          these words are then written "True" and "False".
        * "binary": in addition, all values are these words, 0 or 1, and 0 and 1 are booleans too.
        * "number": a value is a number; strings that are numbers are written like the number.

        The spelling of a column of strings is empty, except for words of booleans: all strings
        remain as they are.
        """
        if self.given is not None:
            return frozenset(self.given)
        types, found = self.value_types, set()
        if bool in types:
            found.add("boolean")
            if all(v is None or boolean(v) for each in self._strings for v in {*each.values}):
                return frozenset({"boolean", "binary"})
        if float in types:
            found.add("number")
        if types == {str} and not self.literal and all(map(boolean_word, self._words)):
            found.add("boolean")
        return frozenset(found)

    @cached_property
    def values(self) -> list[list[str | None]]:
        """Values of each sample as strings in one `spelling`; None if missing.

        Equal values have equal strings, for any type of the column in each sample.
        """
        values = [each.values for each in self._strings]
        if not self.spelling or not (self._words or "binary" in self.spelling):
            return values
        distinct = {v for part in values for v in {*part} if v is not None}
        texts: dict[str | None, str | None] = {v: spelled(v, self.spelling) for v in distinct}
        texts[None] = None
        return [[texts[v] for v in part] for part in values]

    def check_texts(self) -> None:
        """Raise an error if the values cannot be compared as strings.

        Numbers and booleans have lost the text of a file, so that they are compared with strings
        only if every value has one string: "1" and 1, but not "01" and 1, and not "1.0" and "1"
        and 1.
        """
        if self.given is None and "date" in self.known_types and len(self.known_types) > 1:
            other = next(type_ for type_ in self.types if type_ not in ("date", "empty"))
            raise self._types_error(
                f"has dates in {self.sample_of('date')} and other values in "
                f"{self.sample_of(other)}, but the original text of the dates is not known"
            )
        if not self._words or not {"number", "boolean"} & self.spelling:
            return
        padded = min(filter(is_padded, self._words), default=None)
        if "number" in self.spelling and padded is not None:
            raise self.strings_error("numbers", padded)
        if self.given is not None or self.value_types == {str}:
            return
        # In a column of booleans the case of a word does not matter.
        fold = str.lower if "binary" in self.spelling else str
        seen: dict[str, str] = {}
        for word in sorted(self._words):
            before = seen.setdefault(spelled(word, self.spelling), word)
            if fold(before) != fold(word):
                kind = "booleans" if boolean(word) else "numbers"
                raise self.strings_error(kind, before, word)

    def strings_error(self, kind: str, *words: str) -> InvalidInputError:
        """Return the error for strings `words`, which cannot be compared with numbers or booleans.

        `kind` is "numbers" or "booleans".
        """
        strings = f"the string{'s' if len(words) > 1 else ''} {' and '.join(map(repr, words))}"
        return self._types_error(
            f"has {kind} and {strings}, but the original text of the {kind} is not known"
        )

    def _types_error(self, fault: str) -> InvalidInputError:
        template = (
            "column {omit!r} {fault}; read the column as text in all samples{pandas}, or leave it "
            "out ({--omit=})"
        )
        pandas = InPython(f" (in pandas dtype={{{self.name!r}: str}})")
        return InvalidInputError(Message(template, omit=self.name, fault=fault, pandas=pandas))

    @cached_property
    def types(self) -> list[str]:
        """Type of the column in each sample, see `column_type`.

        If the types differ, the type is "empty" for a sample in which all values are missing.
        """
        types = [column_type(series) for series in self.series]
        if len({*types}) == 1:
            return types
        # A sample of missing values has no influence on the kind of the column.
        both = zip(types, self.values, strict=True)
        return [type_ if any(v is not None for v in part) else "empty" for type_, part in both]

    @cached_property
    def known_types(self) -> set[str]:
        """Set of the types of the column in all samples, without "empty" (see `types`)."""
        return {*self.types} - {"empty"}

    def sample_of(self, type_: str) -> str:
        """Return the name of the first sample in which the column has the type `type_`."""
        return self.samples[self.types.index(type_)]

    @cached_property
    def numerals(self) -> list[Numerals]:
        """Values of each sample, read as numbers if possible."""
        return [Numerals(part, self.styles) for part in self.values]

    @cached_property
    def pooled_numerals(self) -> Numerals:
        """Values of all samples together, read as numbers if possible."""
        return Numerals([value for part in self.values for value in part], self.styles)

    @cached_property
    def counts(self) -> Counter[str]:
        """Number of rows of each value in all samples together, without missing values."""
        counts: Counter[Any] = Counter()
        for part in self.values:
            counts.update(part)
        del counts[None]
        return counts

    @property
    def is_boolean(self) -> bool:
        """Whether all entries of `values` are "True", "False" or missing."""
        return {*self.counts} <= {"True", "False"}

    def without(self, words: Collection[str]) -> PooledColumn:
        """Return the column with missing values in place of the values `words`."""
        column = PooledColumn(
            self.name, self.stored, self.samples, self.styles, given=self.given,
            literal=self.literal,
        )  # fmt: skip
        column.values = [[None if v in words else v for v in part] for part in self.values]
        return column

    def error(self, fault: str, value: str | None = None) -> InvalidInputError:
        """Return the error for a column with contradictory values, described by `fault`.

        The advice names `value`, the value that may stand for a missing value.
        """
        template = (
            "column {omit!r} {fault}; correct the values, or replace them by missing values"
            "{missing}, or compare the column as a category ({--category=}), or leave it out "
            "({--omit=})"
        )
        missing = OnCommandLine(f" (--missing {'WORD' if value is None else value})")
        values = {"category": self.name, "omit": self.name, "missing": missing}
        return InvalidInputError(Message(template, fault=fault, **values))

    # -- integers ----------------------------------------------------------------------------------

    def codes_note(self, series: Sequence[Any] | None = None) -> str:
        """Return a note if a column of integers may contain codes of categories, else "".

        Integers may be codes if there are two to ten distinct values in more than ten rows.
        `series` are the converted values; None for the values of the column.
        """
        series = self.series if series is None else series
        if not all(each.dtype.is_integer() for each in series):
            return ""
        known = [each.drop_nulls() for each in series]
        count = len(set().union(*(each.unique().to_list() for each in known)))
        if not 1 < count <= FEW_VALUES < sum(map(len, known)):
            return ""
        return Message("{count} " + MAYBE_CODES, count=count)

    def integer_base(self) -> int | None:
        """Return an integer to subtract from a column of integers, so that floats are exact.

        It is a multiple of 100,000, below the minimum by 100,000 to 199,999. Return None if all
        integers are at most 2**53 in absolute value, if a difference would exceed 2**53, or if the
        column has other values than integers.
        """
        if not all(each.dtype.is_integer() for each in self.series):
            return None
        known = [part for each in self.series if len(part := each.drop_nulls())]
        if not known:
            return None
        low, high = min(int(part.min()) for part in known), max(int(part.max()) for part in known)
        base = low - low % _BASE_UNIT - _BASE_UNIT
        if max(high, -low) <= EXACT_INTEGERS or high - base > EXACT_INTEGERS:
            return None
        return base

    # -- conversion to numbers ---------------------------------------------------------------------

    def differences(self, base: int) -> list[Any]:
        """Return the series of a column of integers after subtraction of `base`, as floats.

        Raise an error if the column has a type other than numbers.
        """
        import narwhals as nw

        if self.known_types != {"number"}:
            raise self.error(f"must contain integers, from which {base} is subtracted")
        return [
            nw.new_series(
                each.name,
                # Python integers are exact. Floats are already rounded.
                [None if is_missing(v) else float(v - base) for v in each.to_list()],
                nw.Float64,
                backend=each.implementation,
            )
            for each in self.filled()
        ]

    def filled(self) -> list[Any]:
        """Return the series of a numeric column, with NaN for a sample without values."""
        import narwhals as nw

        if "empty" not in self.types:
            return self.series
        return [
            nw.new_series(each.name, [np.nan] * len(each), nw.Float64, backend=each.implementation)
            if type_ == "empty"
            else each
            for each, type_ in zip(self.series, self.types, strict=True)
        ]

    def series_of(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Convert arrays of numbers, one per sample, to series of the data frame libraries.

        The series are integers if all numbers in all arrays are integers, else floats.
        """
        import narwhals as nw

        whole = all(np.array_equal(a, np.floor(a)) and (np.abs(a) < 2**53).all() for a in arrays)
        dtype = nw.Int64 if whole else nw.Float64
        lists = [(a.astype(np.int64) if whole else a).tolist() for a in arrays]
        return [
            nw.new_series(each.name, numbers, dtype, backend=each.implementation)
            for each, numbers in zip(self.series, lists, strict=True)
        ]

    @property
    def has_durations(self) -> bool:
        """Whether the column contains durations in all samples."""
        import narwhals as nw

        return all(each.dtype == nw.Duration for each in self.series)

    def days(self) -> list[Any] | None:
        """Return dates and times as days since 1970, and durations as days.

        Return None if a sample has another type, or if one sample has dates and another durations.
        """
        import narwhals as nw

        if self.has_durations:
            return [_in_days(each.dt.total_microseconds()) for each in self.series]
        if not all(each.dtype in (nw.Date, nw.Datetime) for each in self.series):
            return None
        return [_in_days(each.dt.timestamp("us")) for each in self.series]

    def time_zone(self) -> str | None:
        """Return a time zone of the times in this column; None if they have none.

        Raise an error if only some of the times have a time zone.
        """
        zones = {
            zone: sample
            for series, sample in zip(self.stored, self.samples, strict=True)
            if (dates := read_dates(series, True)).missing < 1
            for zone in sorted(dates.zones)
        }
        without = zones.pop("none", None)
        zone = next(iter(zones), None)
        if zone is not None and without is not None:
            template = (
                "column {omit!r} has times with the time zone {zone} in {with_zone}, and times "
                "without a time zone in {without}; add the zone to the latter (in pandas, "
                ".dt.tz_localize), or remove it from the former (.dt.tz_convert(None) converts to "
                "UTC), or leave the column out ({--omit=})"
            )
            values = {"zone": zone, "with_zone": zones[zone], "without": without}
            raise InvalidInputError(Message(template, omit=self.name, **values))
        return zone

    def codes(self, numbers: dict[str, float]) -> list[Any]:
        """Convert each value of the column to a number by the dictionary `numbers`.

        Return one series per sample. Missing values become NaN.
        """
        arrays = [[np.nan if v is None else numbers[v] for v in part] for part in self.values]
        return self.series_of([np.array(each, dtype=np.float64) for each in arrays])

    def ranks(self, order: Sequence[str]) -> list[Any]:
        """Convert values to their positions 0, 1, ... in the list `order`.

        Missing values become NaN. Raise an error if a value is not in the list.
        """
        known = set(order)
        for part, sample in zip(self.values, self.samples, strict=True):
            unknown = next((v for v in part if v is not None and v not in known), None)
            if unknown is not None:
                raise self.error(
                    f"has {unknown!r} in {sample}, which is not in the list of its values "
                    f"({listed(order)})"
                )
        return self.codes({value: float(rank) for rank, value in enumerate(order)})

    def common_order(self) -> list[str] | None:
        """Return the common categories of ordered categoricals, in order.

        These are the categories of the sample with the most categories. Other samples may have only
        some of them. Raise an error if a sample has a further category, or another order. Return
        None if the column is not an ordered categorical in every sample.
        """
        categories = [getattr(each.dtype, "categories", None) for each in self.series]
        orders = [strings_of(each).values for each in categories if each is not None]
        if len(orders) < len(categories):
            return None
        longest = max(orders, key=len)
        if any(order != [v for v in longest if v in set(order)] for order in orders):
            both = zip(orders, self.samples, strict=True)
            lists = " and ".join(f"[{', '.join(order)}] in {sample}" for order, sample in both)
            raise self.error(f"has categories in different orders: {lists}")
        return longest


def is_padded(value: str) -> bool:
    """Return whether a string is a number with leading zeros, or a hexadecimal number."""
    return _PADDED.fullmatch(value) is not None


def column_type(series: Any) -> str:
    """Return the type of a series: "number", "date", "boolean", "category" or "text"."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal() or holds_times(series):
        return "date"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    # narwhals does not know sparse columns of pandas, long doubles and complex numbers. The values
    # of an interval of pandas in a frame of polars are rows of an array.
    values = series.to_numpy() if dtype == nw.Unknown else None
    unknown = values is not None and values.ndim == 1 and values.dtype.kind in "biufc"
    return "number" if unknown else "text"


def _in_days(microseconds: Any) -> Any:
    """Convert a series of microseconds to days. Missing values become NaN."""
    import narwhals as nw

    # Division by polars is not correctly rounded, so that days would differ from those of pandas.
    numbers = microseconds.cast(nw.Float64).to_numpy() / _MICROSECONDS_PER_DAY
    return nw.new_series(
        microseconds.name, numbers, nw.Float64, backend=microseconds.implementation
    )
