"""Printed numbers, and columns of two tables as numbers or strings, by pandas alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

#: Patterns of a printed number, of a date, and of a percentage.
NUMBER = r"[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)"
DATE = r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?(?: UTC)?"
PERCENT = rf"{NUMBER}%"

Pair = tuple[Any, Any]


def unit(text: str) -> float:
    """Return the unit of the last printed digit of a number.

    Zeros at the end of an integer of five or more digits may be rounded.

    Examples
    --------
    >>> unit("84.2"), unit("16100"), unit("500"), unit("1.5e+09")
    (0.1, 100.0, 1.0, 100000000.0)
    """
    digits, _, exponent = text.lower().lstrip("+-").partition("e")
    whole, _, decimals = digits.partition(".")
    power = int(exponent or 0)
    if decimals:
        return float(10.0 ** (power - len(decimals)))
    zeros = len(whole) - len(whole.rstrip("0")) if len(whole) >= 5 else 0
    return float(10.0 ** (power + zeros))


def agrees(text: str, value: float) -> bool:
    """Return whether a printed number, date or percentage is a value in its printed precision.

    The value of a date is its number of days since 1970, and that of a percentage a fraction.

    Examples
    --------
    >>> agrees("84.2", 84.24), agrees("84.2", 84.26), agrees("6%", 0.061), agrees("1970-01-02", 1)
    (True, False, True, True)
    """
    if value is None or pd.isna(value):
        return False
    if re.fullmatch(DATE, text):
        # A day without a time of day may be a rounded number of days.
        return abs(day(text) - value) <= (1.0 / 1440 if " " in text else 0.5)
    if text.endswith("%"):
        text, value = text[:-1], 100 * value
    printed = float(text)
    if not np.isfinite(printed) or not np.isfinite(value):
        return printed == value
    return abs(printed - value) <= 0.5 * unit(text) * (1 + 1e-6) + 1e-9 * abs(value)


def as_number(text: str) -> float:
    """Return a printed number, or the days since 1970 of a date."""
    if re.fullmatch(DATE, text):
        return day(text)
    return float(text)


def day(text: str) -> float:
    """Return the days since 1970 of a printed date, of any year.

    Examples
    --------
    >>> day("1970-01-02"), day("1970-01-01 12:00 UTC"), day("1600-01-01")
    (1.0, 0.5, -135140.0)
    """
    time = np.datetime64(text.removesuffix(" UTC").replace(" ", "T"), "s")
    return float(time.astype(np.int64)) / 86_400


def days(values: pd.Series) -> pd.Series:
    """Convert dates, or strings with dates, to days since 1970; NaN for other values."""
    times = pd.to_datetime(values, errors="coerce", utc=True, format="mixed")
    return (times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)


def numbers(values: pd.Series, decimal_comma: bool = False) -> pd.Series:
    """Convert a column to floats: numbers, strings with numbers, dates, and booleans as 0 and 1.

    Other values are NaN. With `decimal_comma`, "1,5" is 1.5.
    """
    if pd.api.types.is_numeric_dtype(values):
        return values.astype(float)
    if pd.api.types.is_datetime64_any_dtype(values):
        return days(values)
    known = values.dropna()
    strings = values.astype(str).where(values.notna(), None).str.strip()
    if decimal_comma:
        strings = strings.str.replace(",", ".", regex=False)
    found = pd.to_numeric(strings, errors="coerce").astype(float)
    if found.notna().sum() >= 0.5 * len(known):
        return found
    if not decimal_comma and len(known):
        comma = numbers(values, decimal_comma=True)
        if comma.notna().sum() >= 0.5 * len(known):
            return comma
        with_digits = known.astype(str).str.contains(r"\d\d")
        if with_digits.mean() > 0.5:
            dated = days(values)
            if dated.notna().sum() >= 0.5 * len(known):
                return dated
    return found


def strings(values: pd.Series) -> pd.Series:
    """Convert a column to strings, None for missing values; whole numbers have no decimals."""
    if pd.api.types.is_float_dtype(values):
        return values.map(lambda v: None if pd.isna(v) else f"{v:.10g}").astype(object)
    return values.astype(object).map(lambda v: None if pd.isna(v) else str(v)).astype(object)


def is_value(values: pd.Series, text: str) -> pd.Series:
    """Return a mask of the rows with a printed value, which may be a number or a string."""
    if text == "(missing)" and values.isna().any():
        return values.isna()
    text = re.sub(r"^'(.*)' \+ (\d+) spaces$", lambda m: m[1] + " " * int(m[2]), text)
    both = strings(values)
    same = both == text
    if not same.any() and len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        same = both == text[1:-1]
    if not same.any():  # pages do not show spaces at the ends
        same = both.str.strip() == text.strip()
    if not same.any() and text in ("True", "False", "true", "false"):
        same = both.str.lower() == text.lower()
    if not same.any() and re.fullmatch(NUMBER + "|" + DATE, text):
        as_numbers = numbers(values)
        return as_numbers.map(lambda v: agrees(text, v) and agrees_closely(text, v)).astype(bool)
    return same.fillna(False).astype(bool)


def agrees_closely(text: str, value: float) -> bool:
    """Return whether a printed number is a value, at least in its first six digits.

    Examples
    --------
    >>> agrees_closely("455.05", 455.0498), agrees_closely("455.1", 455.0498)
    (True, False)
    """
    return bool(re.fullmatch(DATE, text)) or float(f"{value:.6g}") == float(f"{float(text):.6g}")


def both(x: pd.DataFrame, y: pd.DataFrame, name: str, convert: Callable[..., Any]) -> Pair:
    """Apply a conversion to a column of both tables."""
    return convert(x[name]), convert(y[name])
