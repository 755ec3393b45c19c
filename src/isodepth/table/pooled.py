"""One column of several samples: its pooled profile, from which the rules decide its kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

from isodepth.base.messages import InPython, Message, OnCommandLine
from isodepth.errors import InvalidInputError
from isodepth.table.arrays import EXACT_INTEGERS
from isodepth.table.dates import day_numbers, zones_of
from isodepth.table.numerals import Numerals
from isodepth.table.profile import ColumnProfile
from isodepth.table.text_columns import MISSING_WORDS, category_type, common_type
from isodepth.table.values import boolean, boolean_word, spelled

#: Maximum number of distinct values for which the numbers in a column may be codes of categories.
FEW_VALUES = 10
# Integers beyond 2**53 are reduced by a multiple of this number, which keeps multiples of 10. The
# differences exceed it, so that none is a number that often replaces missing values, such as 9999.
_BASE_UNIT = 100_000
# Numbers with leading zeros, such as postal codes, and hexadecimal numbers.
_PADDED = re.compile(r"\s*[+-]?(0\d+(\.\d*)?|0[xX][0-9a-fA-F]+)\s*")
# Types of columns, and value types, of the strings of text files.
_TEXT_TYPES = {"int64": "number", "double": "number", "bool": "boolean", "timestamp[us]": "date"}


class PooledColumn:
    """One column of several samples.

    Attributes
    ----------
    name : str
    profiles : sequence of ColumnProfile
        Profile of the column in each sample.
    samples : sequence of str
        Names of the samples for messages.
    option : str, tuple of str, int or None
        Entry of the option `kinds`.
    """

    def __init__(
        self, name: str, profiles: Sequence[ColumnProfile], samples: Sequence[str], option: Any
    ) -> None:
        self.name, self.profiles, self.samples, self.option = name, profiles, samples, option

    # -- types -------------------------------------------------------------------------------------

    @cached_property
    def text_type(self) -> str | None:
        """Type to which the strings of text files are converted, see `narrowed_type`.

        It is the type of the strings of all samples together.
        """
        type_ = common_type(map(self._own_text_type, self.profiles))
        return category_type(type_) if self.option == "category" else type_

    def _own_text_type(self, profile: ColumnProfile) -> str | None:
        if "text" not in profile.types:
            return profile.text_type
        is_boolean = all(map(boolean_word, profile.counts)) and not profile.plain.counts
        return common_type((profile.text_type, "bool" if is_boolean else "string"))

    @cached_property
    def types(self) -> list[str]:
        """Type of the column in each sample; "empty" for a sample without values.

        Other types are "number", "date", "duration", "boolean", "category" and "text". A sample
        without values has no influence on the kind of the column.
        """
        return [self._type(profile) for profile in self.profiles]

    def _type(self, profile: ColumnProfile) -> str:
        types = {*profile.types}
        if profile.text_type is not None and (other := types - {"text", self._text_values}):
            raise InvalidInputError(
                f"column {self.name!r} has values of type {self._text_values} in text files and "
                f"of type {min(other)} in other files of one sample; convert one of them, or "
                "select other columns"
            )
        if profile.text_type is not None:
            types.add(_TEXT_TYPES.get(self.text_type or "", "text"))
        for type_ in ("category", "text", "boolean", "number", "date", "duration"):
            if type_ in types:
                return type_
        return "empty"

    @cached_property
    def known_types(self) -> set[str]:
        """Set of the types of the column in all samples, without "empty"."""
        return {*self.types} - {"empty"}

    def sample_of(self, type_: str) -> str:
        """Return the name of the first sample in which the column has the type `type_`."""
        return self.samples[self.types.index(type_)]

    @cached_property
    def value_types(self) -> set[type]:
        """Types of the values of all samples together: bool, float for any number, and str."""
        types: set[type] = set().union(*(each.value_types for each in self.profiles))
        if any(each.text_type for each in self.profiles):
            types.add({"number": float, "boolean": bool}.get(self._text_values, str))
        return types

    @property
    def _text_values(self) -> str:
        """Type of the values of text files."""
        return _TEXT_TYPES.get(self.text_type or "", "text")

    # -- values ------------------------------------------------------------------------------------

    @cached_property
    def _pooled(self) -> ColumnProfile:
        """Profile of all samples together."""
        pooled = ColumnProfile()
        for profile in self.profiles:
            pooled.merge(profile)
        return pooled

    @cached_property
    def _stored(self) -> list[Counter[str]]:
        """Number of rows of each string in each sample, as it is stored.

        Only the strings that the pooled profile has are counted.
        """
        kept = self._pooled.counts
        found = []
        for profile in self.profiles:
            words = profile.text_type is not None and self.text_type not in ("string", None)
            missing = MISSING_WORDS if words else ()
            counts = profile.counts.items()
            found.append(Counter({v: n for v, n in counts if v in kept and v not in missing}))
        return found

    @cached_property
    def words(self) -> set[str]:
        """Distinct strings that are values of type str, before they are spelled."""
        words: set[str] = set()
        for profile, counts in zip(self.profiles, self._stored, strict=True):
            if profile.value_types == {str} or (profile.text_type and self._text_values == "text"):
                words |= {*counts}
            words |= profile.texts
        return words

    @cached_property
    def spelling(self) -> tuple[str, ...]:
        """Types of values like which strings are written, determined from all samples together.

        * "boolean": a value is a boolean, or all values are the words true and false in any case;
          these words are then written "True" and "False".
        * "binary": in addition, all values are these words, 0 or 1, and 0 and 1 are booleans too.
        * "number": a value is a number; strings that are numbers are written like the number.

        The spelling of a column of strings is empty, except for words of booleans: all strings
        remain as they are.
        """
        types, found = self.value_types, set()
        if bool in types:
            found.add("boolean")
            if all(map(boolean, set().union(*self._stored))):
                return ("binary", "boolean")
        if float in types:
            found.add("number")
        if types == {str} and self.option != "category" and all(map(boolean_word, self.words)):
            found.add("boolean")
        return tuple(sorted(found))

    @cached_property
    def counts_by_sample(self) -> list[Counter[str]]:
        """Number of rows of each value in each sample. Equal values have equal strings."""
        return [self._spelled(counts) for counts in self._stored]

    def _spelled(self, stored: Counter[str]) -> Counter[str]:
        if not self.spelling:
            return stored
        counts: Counter[str] = Counter()
        for value, count in stored.items():
            counts[spelled(value, self.spelling)] += count
        return counts

    @cached_property
    def counts(self) -> Counter[str]:
        """Number of rows of each value in all samples together, without missing values.

        If there are too many distinct values to count all of them, the numbers of rows of the
        others are distributed to the counted values.
        """
        stored = sum(self._stored, Counter())
        for strings in self._pooled.parts:
            if strings.limit is not None:
                factor = strings.n_rows / strings.counts.total()
                stored |= Counter({v: round(n * factor) for v, n in strings.counts.items()})
        return self._spelled(stored)

    @property
    def n_distinct(self) -> int:
        """Number of distinct values in all samples together."""
        if all(part.limit is None for part in self._pooled.parts):
            return len(self.counts)
        return sum(part.n_distinct for part in self._pooled.parts)

    @cached_property
    def numerals(self) -> list[Numerals]:
        """Values of each sample, read as numbers if possible."""
        return [Numerals(counts) for counts in self.counts_by_sample]

    @cached_property
    def pooled_numerals(self) -> Numerals:
        """Values of all samples together, read as numbers if possible."""
        return Numerals(self.counts)

    @property
    def is_boolean(self) -> bool:
        """Whether all values are "True" or "False"."""
        return {*self.counts} <= {"True", "False"}

    # -- errors ------------------------------------------------------------------------------------

    def check_texts(self) -> None:
        """Raise an error if the values cannot be compared as strings.

        Numbers and booleans have lost the text of a file, so that they are compared with strings
        only if every value has one string: "1" and 1, but not "01" and 1, and not "1.0" and "1"
        and 1.
        """
        dates = self.known_types & {"date", "duration"}
        if dates and len(self.known_types) > 1:
            other = next(type_ for type_ in self.types if type_ not in (*dates, "empty"))
            raise self._types_error(
                f"has dates in {self.sample_of(min(dates))} and other values in "
                f"{self.sample_of(other)}, but the original text of the dates is not known"
            )
        if not self.words or not {"number", "boolean"} & {*self.spelling}:
            return
        padded = min(filter(is_padded, self.words), default=None)
        if "number" in self.spelling and padded is not None:
            raise self._strings_error("numbers", padded)
        if self.value_types == {str}:
            return
        # In a column of booleans the case of a word does not matter.
        fold = str.lower if "binary" in self.spelling else str
        seen: dict[str, str] = {}
        for word in sorted(self.words):
            before = seen.setdefault(spelled(word, self.spelling), word)
            if fold(before) != fold(word):
                kind = "booleans" if boolean(word) else "numbers"
                raise self._strings_error(kind, before, word)

    def _strings_error(self, kind: str, *words: str) -> InvalidInputError:
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

    def error(self, fault: str, value: str | None = None) -> InvalidInputError:
        """Return the error for a column with contradictory values, described by `fault`.

        The advice names `value`, the value that may stand for a missing value.
        """
        return InvalidInputError(contradiction(self.name, fault, value))

    # -- integers and dates ------------------------------------------------------------------------

    def integer_base(self) -> int | None:
        """Return an integer to subtract from a column of integers, so that floats are exact.

        It is a multiple of 100,000, below the minimum by 100,000 to 199,999. Return None if all
        integers are at most 2**53 in absolute value, if a difference would exceed 2**53, or if the
        column has other values than integers.
        """
        known = [each for each in self.profiles if each.ends]
        is_text = any(each.text_type for each in self.profiles) and self.text_type != "int64"
        if not known or is_text or not all(each.is_whole for each in self.profiles):
            return None
        low, high = min(each.ends[0] for each in known), max(each.ends[1] for each in known)
        base = low - low % _BASE_UNIT - _BASE_UNIT
        if max(high, -low) <= EXACT_INTEGERS or high - base > EXACT_INTEGERS:
            return None
        return base

    def n_codes(self, numbers: Collection[float] | None = None) -> int:
        """Return the number of distinct integers if they may be codes of categories, else 0.

        Integers may be codes if there are two to ten distinct values in more than ten rows.
        `numbers` are the distinct numbers of a column of strings.
        """
        integers: set[float] = {*(numbers or ())}
        for profile in self.profiles:
            if not profile.is_whole:
                return 0
            integers |= profile.integers
            if self.text_type == "int64" and profile.text_type and len(integers) <= FEW_VALUES:
                integers.update(map(int, profile.counts))
        n_values = sum(each.n_values for each in self.profiles)
        is_code = 1 < len(integers) <= FEW_VALUES < n_values
        return len(integers) if is_code and all(v == int(v) for v in integers) else 0

    @property
    def days(self) -> Mapping[str, float | None]:
        """Days since 1970 of the values that are dates; None if day and month are unclear."""
        return day_numbers(self.counts)

    def time_zone(self) -> str | None:
        """Return a time zone of the times in this column; None if they have none.

        Raise an error if only some of the times have a time zone.
        """
        zones: dict[str, str] = {}
        for profile, counts, sample in zip(
            self.profiles, self.counts_by_sample, self.samples, strict=True
        ):
            zones |= dict.fromkeys(sorted(profile.zones or zones_of(counts)), sample)
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


def is_padded(value: str) -> bool:
    """Return whether a string is a number with leading zeros, or a hexadecimal number."""
    return _PADDED.fullmatch(value) is not None


def contradiction(name: str, fault: str, value: str | None = None, hint: str = "") -> Message:
    """Return the message about the column `name` with contradictory values, described by `fault`.

    The advice names `value`, the value that may stand for a missing value. `hint` is further
    advice.
    """
    template = (
        "column {omit!r} {fault}; correct the values, or replace them by missing values{missing}, "
        "or compare the column as a category ({--category=}), or leave it out ({--omit=}){hint}"
    )
    missing = OnCommandLine(f" (--missing {'WORD' if value is None else value})")
    values = {"category": name, "omit": name, "missing": missing, "hint": hint}
    return Message(template, fault=fault, **values)
