"""Numbers that are stored as strings, such as "$1,500.00", "1.500,20" or "12 %"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

#: Words for a missing value in a column of numbers, in lower case.
MISSING_NUMBERS = ("", "na", "n/a", "nan", "null", "none")
_CURRENCY = "[$\u00a2-\u00a5\u20a0-\u20cf]"
_SPACES = re.compile(r"[\s'\u2019]+")  # \s includes the non-breaking spaces
_CELL = re.compile(
    rf"\s*([+\u2212-])?\s*({_CURRENCY})?\s*([+\u2212-])?\s*"
    rf"(\d[\d.,\s'\u2019]*|[.,]\d+)(e[+-]?\d+)?\s*({_CURRENCY}|%)?\s*",
    re.IGNORECASE,
)


class Style(NamedTuple):
    """Decimal mark and thousands separator; a space includes apostrophes."""

    decimal: str
    group: str

    def pattern(self) -> re.Pattern[str]:
        """Return the pattern of a number without sign, exponent and currency."""
        decimal, group = re.escape(self.decimal), re.escape(self.group)
        return re.compile(rf"(\d+|\d{{1,3}}({group}\d{{2,3}})*{group}\d{{3}})?({decimal}\d*)?")


# In order of preference: "1,500" is 1500 unless other values of the column exclude it.
_STYLES = {s: s.pattern() for s in map(Style, ".,.,", ",.  ")}


class _Parts(NamedTuple):
    sign: float
    digits: str
    exponent: str
    unit: str

    def number(self, style: Style) -> float | None:
        if not _STYLES[style].fullmatch(self.digits):
            return None
        digits = self.digits.replace(style.group, "").replace(style.decimal, ".")
        return self.sign * float(digits + self.exponent)


class Numerals:
    """Strings of one column in one sample, which may all be numbers.

    Attributes
    ----------
    rows : int
        Number of rows that are not missing.
    style : Style
        First style in which the largest number of rows can be read.
    count : int
        Number of rows that can be read in this style.
    example : str
        A string that is a number, preferably one with a separator, currency or percent sign.
    other : str or None
        The most frequent string that is not a number.

    Examples
    --------
    >>> prices = Numerals(["$1,500.00", "$12", None, "n/a"])
    >>> prices.rows, prices.count, prices.units, prices.numbers(prices.style).tolist()
    (2, 2, {'$'}, [1500.0, 12.0, nan, nan])
    >>> Numerals(["1.500,20", "XL"]).other
    'XL'
    """

    def __init__(self, values: Sequence[str | None]) -> None:
        self._values = values
        counts = Counter(v for v in values if v is not None and not is_missing_number(v))
        self._parts = {value: _split(value) for value in counts}
        self.rows = sum(counts.values())
        self._fits = {
            style: {v for v, parts in self._parts.items() if parts and _fits(parts, pattern)}
            for style, pattern in _STYLES.items()
        }
        rows = {style: sum(counts[v] for v in fits) for style, fits in self._fits.items()}
        self.style = max(rows, key=lambda style: rows[style])
        self.count = rows[self.style]
        fits = self._fits[self.style]
        self.other = next((v for v, _ in counts.most_common() if v not in fits), None)
        self.example = next((v for v in counts if v in fits and not _is_plain(v)), "") or next(
            (v for v in counts if v in fits), ""
        )
        self.units = {parts.unit for v in fits if (parts := self._parts[v])}

    @property
    def plain(self) -> bool:
        """Whether all strings are numbers as Python writes them."""
        return self.count == self.rows and (not self.rows or _is_plain(self.example))

    def fits(self, style: Style) -> bool:
        """Whether all strings are numbers in a style."""
        return len(self._fits[style]) == len(self._parts)

    def numbers(self, style: Style) -> np.ndarray:
        """Return the numbers (n,) in a style; NaN for the others."""
        known = {v: p.number(style) if p else None for v, p in self._parts.items()}
        return np.array([known.get(value) for value in self._values], dtype=float)  # type: ignore[arg-type]

    def faults(self) -> np.ndarray:
        """Return the mask (n,) of the rows that are neither missing nor numbers in `style`."""
        fits = self._fits[self.style]
        return np.array([v in self._parts and v not in fits for v in self._values], dtype=bool)


def is_missing_number(value: str) -> bool:
    """Whether a string is empty or a usual word for a missing number."""
    return value.strip().lower() in MISSING_NUMBERS


def common_style(samples: Sequence[Numerals]) -> Style | None:
    """Return the first style in which all strings of all samples are numbers; None without one."""
    return next((style for style in _STYLES if all(s.fits(style) for s in samples)), None)


def _fits(parts: _Parts, pattern: re.Pattern[str]) -> bool:
    return pattern.fullmatch(parts.digits) is not None


def _is_plain(value: str) -> bool:
    try:
        return "_" not in value and np.isfinite(float(value))
    except ValueError:
        return False


def _split(value: str) -> _Parts | None:
    match = _CELL.fullmatch(value)
    if match is None or (match[1] and match[3]) or (match[2] and match[6]):
        return None
    sign = 1.0 if (match[1] or match[3] or "+") == "+" else -1.0
    digits = _SPACES.sub(" ", match[4].strip())
    return _Parts(sign, digits, match[5] or "", match[2] or match[6] or "")
