"""Conversion of strings to numbers, such as "$1,500.00", "1.500,20" or "12 %"."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

#: Words for a missing value in a column of numbers, in lower case.
MISSING_NUMBERS = ("", "na", "n/a", "nan", "null", "none")
_CURRENCY = "[$\u00a2-\u00a5\u20a0-\u20cf]"
_SPACES = re.compile(r"[\s'\u2019]+")  # in regular expressions, \s matches non-breaking spaces
_CELL = re.compile(
    rf"\s*([+\u2212-])?\s*({_CURRENCY})?\s*([+\u2212-])?\s*"
    rf"(\d[\d.,\s'\u2019]*|[.,]\d+)(e[+-]?\d+)?\s*({_CURRENCY}|%)?\s*",
    re.IGNORECASE,
)


class Style(NamedTuple):
    """Style of numbers: decimal mark, and thousands separator `group`.

    The separator " " stands for spaces and apostrophes.
    """

    decimal: str
    group: str

    def pattern(self) -> re.Pattern[str]:
        """Return a regular expression for numbers in this style without sign, exponent and unit.

        The first group of digits does not start with 0: "0,500" is not a number with thousands.
        """
        decimal, group = re.escape(self.decimal), re.escape(self.group)
        grouped = rf"[1-9]\d{{0,2}}({group}\d{{2,3}})*{group}\d{{3}}"
        return re.compile(rf"(\d+|{grouped})?({decimal}\d*)?")


_PATTERNS = {s: s.pattern() for s in map(Style, ".,.,", ",.  ")}
#: Decimal marks and thousands separators in order of preference. The first style reads "1,500" as
#: 1500. A later style is used if it fits more values of the column.
STYLES = tuple(_PATTERNS)


class _Parts(NamedTuple):
    sign: float
    digits: str
    exponent: str
    unit: str

    def number(self, style: Style) -> float:
        digits = self.digits.replace(style.group, "").replace(style.decimal, ".")
        return self.sign * float(digits + self.exponent)


class Numerals:
    """Strings of one column in one sample, some or all of which are numbers.

    Parameters
    ----------
    values : sequence of str or None, or dict
        Strings of all rows, or the number of rows of each string.
    styles : sequence of Style
        Styles that are allowed. Numbers in other styles are treated like words.

    Attributes
    ----------
    rows : int
        Number of strings that do not stand for a missing value.
    style : Style
        Decimal mark and thousands separator with which most strings are numbers. Among equally good
        styles, the preferred one.
    count : int
        Number of strings that are numbers in this style.
    example : str
        A string that is a number in this style, preferably with a thousands separator, currency or
        percent sign; "" if there is none.
    others : set of str
        Strings that are neither missing nor numbers in this style.
    other : str or None
        The most frequent string in `others`; None if there is none.
    units : set of str
        Currency and percent signs of the numbers; "" for numbers without such a sign.
    distinct : set of str
        Distinct strings that do not stand for a missing value.

    Examples
    --------
    >>> prices = Numerals(["$1,500.00", "$12", None, "n/a"])
    >>> prices.rows, prices.count, prices.units, prices.numbers(prices.style).tolist()
    (2, 2, {'$'}, [1500.0, 12.0, nan, nan])
    >>> sizes = Numerals(["1.5", "XL"])
    >>> sizes.other, sizes.plain
    ('XL', False)
    """

    def __init__(
        self, values: Sequence[str | None] | Mapping[str, int], styles: Sequence[Style] = STYLES
    ) -> None:
        self._values, self._styles = values, styles
        self._counts = {
            value: count
            for value, count in Counter(values).items()
            if value is not None and value.strip().lower() not in MISSING_NUMBERS
        }
        self._parts = {v: parts for v in self._counts if (parts := _split(v)) is not None}
        self._fits: dict[Style, set[str]] = {}
        self.rows, self.distinct = sum(self._counts.values()), set(self._counts)
        self.style, self.count = styles[0], 0
        for style in styles if self._parts else ():
            count = sum(self._counts[value] for value in self._fitting(style))
            if count > self.count:
                self.style, self.count = style, count
            if count == self.rows:
                break
        fits = self._fitting(self.style)
        others = [v for v in self._counts if v not in fits]
        self.others = set(others)
        self.other = max(others, key=lambda v: self._counts[v], default=None)
        self.example = min((v for v in self._counts if v in fits), key=is_plain_number, default="")
        self.units = {self._parts[v].unit for v in fits}

    def _fitting(self, style: Style) -> set[str]:
        if style not in self._fits:
            match = _PATTERNS[style].fullmatch
            self._fits[style] = {v for v, parts in self._parts.items() if match(parts.digits)}
        return self._fits[style]

    @property
    def plain(self) -> bool:
        """Whether all strings, except for missing values, are finite numbers in Python notation."""
        return self.count == self.rows and (not self.rows or is_plain_number(self.example))

    def is_ambiguous(self, style: Style) -> bool:
        """Return whether the thousands separator of `style` may be a decimal mark in all strings.

        An example is "1,234" and "12,500" in the style in which a point is the decimal mark.
        """
        swapped = Style(style.group, style.decimal)
        parts = self._parts.values()
        return (
            swapped in self._styles
            and bool(self._counts)
            and self.fits(swapped)
            and all(style.group in each.digits for each in parts)
        )

    def fits(self, style: Style) -> bool:
        """Return whether all strings, except those for missing values, are numbers in `style`."""
        return len(self._parts) == len(self._counts) == len(self._fitting(style))

    def equivalent_styles(self, style: Style) -> tuple[Style, ...]:
        """Return the allowed styles in which all strings are the same numbers as in `style`."""
        numbers = [parts.number(style) for parts in self._parts.values()]
        return tuple(
            each
            for each in self._styles
            if self.fits(each) and numbers == [p.number(each) for p in self._parts.values()]
        )

    def without(self, words: Collection[str]) -> Numerals:
        """Return the strings without those in `words`."""
        if not words:
            return self
        return Numerals({v: n for v, n in self._counts.items() if v not in words}, self._styles)

    def mapped(self, style: Style, values: Iterable[str] | None = None) -> dict[str, float]:
        """Return a dictionary from the strings that are numbers in `style` to these numbers.

        If `values` is given, only these strings are converted.
        """
        fits = self._fitting(style)
        chosen = fits if values is None else fits.intersection(values)
        return {value: self._parts[value].number(style) for value in chosen}

    def numbers(self, style: Style) -> np.ndarray:
        """Convert the n strings to numbers (n,) in `style`.

        Strings that are not numbers in this style, and missing values, become NaN.
        """
        known = {v: self._parts[v].number(style) for v in self._fitting(style)}
        return np.array([known.get(v, np.nan) for v in self._values])  # type: ignore[arg-type]

    def faults(self) -> np.ndarray:
        """Return the mask (n,) of the strings that are in `others`."""
        fits = self._fitting(self.style)
        return np.array([v in self._counts and v not in fits for v in self._values], dtype=bool)


def common_style(samples: Sequence[Numerals], styles: Sequence[Style] = STYLES) -> Style | None:
    """Return the first of `styles` in which the strings of all samples are numbers or missing.

    Return None if there is no such style.
    """
    return next((style for style in styles if all(s.fits(style) for s in samples)), None)


def is_plain_number(value: str) -> bool:
    """Return whether a string is a finite number in Python notation."""
    try:
        return "_" not in value and math.isfinite(float(value))
    except ValueError:
        return False


def _split(value: str) -> _Parts | None:
    match = _CELL.fullmatch(value)
    if match is None:
        return None
    first, before, second, digits, exponent, after = match.groups("")
    if (first and second) or (before and after):
        return None
    sign = 1.0 if (first or second or "+") == "+" else -1.0
    return _Parts(sign, _SPACES.sub(" ", digits.strip()), exponent, before or after)
