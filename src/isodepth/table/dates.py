"""Dates in a column of one sample: range, formats, time zones, and values that are not dates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from isodepth.table.frames import holds_times, in_utc, present_values, time_zone
from isodepth.table.values import strings_of

# Formats of dates in strings, one per group of the regular expression. Numbers above 12 decide
# between the two formats _SLASHES.
_SLASHES = "DD/MM/YYYY", "MM/DD/YYYY"
_DATE_FORMATS = ("", "YYYY-MM-DD", "YYYY/MM/DD", " or ".join(_SLASHES), "DD.MM.YYYY")
_DATE = re.compile(
    r"(?:(\d{4}-\d\d?-\d\d?)|(\d{4}/\d\d?/\d\d?)|(\d\d?/\d\d?/\d{4})|(\d\d?\.\d\d?\.\d{4}))"
    r"(?:[ T]\d\d?(?::|\s?[AaPp][Mm]|$)|\s*$)"
)
_ZONE = re.compile(r"(Z|UTC|[+-]\d\d(?::?\d\d)?)$")


class Dates(NamedTuple):
    """Dates of one sample.

    Attributes
    ----------
    range : pair of dates, times or durations, or None
        Minimum and maximum, in UTC if the column type has a time zone. None if there are no dates,
        or if day and month cannot be told apart.
    missing, odd : float
        Fractions of the rows with a missing value, and with a value that is not a date.
    example : str
        The most frequent value that is not a date; "" if there is none.
    formats : set of str
        Formats of dates that are strings; empty for a column with a type of dates. The order of day
        and month is named if numbers above 12 show it.
    zones : set of str
        Time zones; "none" for times of day without a zone, and for a column type without one. Empty
        if the dates are strings without times of day.
    """

    range: Any = None
    missing: float = 0.0
    odd: float = 0.0
    example: str = ""
    formats: frozenset[str] = frozenset()
    zones: frozenset[str] = frozenset()


def apart(x: tuple[Any, Any], y: tuple[Any, Any]) -> bool:
    """Return whether two ranges of dates (minimum, maximum) do not overlap.

    If a bound is a date without a time of day, only the days are compared. Time zones are ignored
    if a bound has none. The result is False if dates and durations are compared.
    """
    bounds = [*x, *y]
    if any(getattr(value, "tzinfo", None) is None for value in bounds):
        bounds = [value.replace(tzinfo=None) if _is_time(value) else value for value in bounds]
    if not all(map(_is_time, bounds)):
        bounds = [value.date() if _is_time(value) else value for value in bounds]
    try:
        return bool(bounds[1] < bounds[2] or bounds[3] < bounds[0])
    except TypeError:  # durations are not comparable with dates
        return False


def _is_time(value: Any) -> bool:
    return isinstance(value, datetime)


def range_text(x: tuple[Any, Any], y: tuple[Any, Any]) -> str:
    """Return a string with the ranges of dates of both samples, "x0 to x1 -> y0 to y1".

    The string is "" if both ranges have the same first and last day and overlap. It ends with
    "without overlap" if they do not overlap. Times of day are shown if the days alone would not
    show this. Ranges of durations are not shortened. "UTC" follows times with a time zone, which
    must be in UTC.

    Examples
    --------
    >>> first, last = date(2024, 1, 1), date(2024, 2, 1)
    >>> range_text((first, first), (first, last)), range_text((first, last), (first, last))
    ('2024-01-01 to 2024-01-01 -> 2024-01-01 to 2024-02-01', '')
    """
    strings = [[str(value) for value in each] for each in (x, y)]
    shown = [[value[:10] for value in each] for each in strings]
    is_apart, days_overlap = apart(x, y), shown[0][1] >= shown[1][0] and shown[1][1] >= shown[0][0]
    if (is_apart and days_overlap) or any(isinstance(value, timedelta) for value in (*x, *y)):
        shown = strings
    if shown[0] == shown[1]:
        return ""
    text = " -> ".join(" to ".join(each) for each in shown)
    if any(getattr(value, "tzinfo", None) for value in (*x, *y)):
        text = f"{text.replace('+00:00', '')} UTC"
    return f"{text}, without overlap" if is_apart else text


def read_dates(series: Any, dates: bool) -> Dates:
    """Return the range, the formats and other attributes of the dates in a narwhals series.

    `dates` is whether strings may be dates. If it is false and the series does not have a type of
    dates, only the fraction of missing values is determined.
    """
    n, zone, series = max(1, len(series)), time_zone(series), in_utc(series)
    if series.dtype.is_temporal() or holds_times(series):
        missing = series.null_count()
        ends = None if missing == len(series) else _ends(series)
        return Dates(ends, missing / n, zones=frozenset([zone or "none"]))
    counts = Counter(strings_of(series.to_list()).values)
    missing = counts.pop(None, 0)
    if not dates:
        return Dates(missing=missing / n)
    parts = {value: value.replace("T", " ").partition(" ")[0] for value in counts}
    days = _parsed({part for part in {*parts.values()} if date_format(part)})
    odd = Counter({value: k for value, k in counts.items() if parts[value] not in days})
    known = [day for day in days.values() if day is not None]
    times = {value[len(part) :] for value, part in parts.items() if part in days} - {""}
    return Dates(
        (min(known), max(known)) if len(known) == len(days) > 0 else None,
        missing / n,
        odd.total() / n,
        odd.most_common(1)[0][0] if odd else "",
        _formats([*days]),
        frozenset(map(_zone, times)),
    )


def _formats(days: Sequence[str]) -> frozenset[str]:
    """Return the formats of strings that are dates.

    Numbers above 12 show which of the first two numbers of a format with slashes is the month.
    """
    formats = {date_format(day) for day in days}
    both = " or ".join(_SLASHES)
    if both in formats:
        shown = _day_position([day for day in days if date_format(day) == both])
        proved = {name for name, is_shown in zip(_SLASHES, shown, strict=True) if is_shown}
        formats = (formats - {both}) | (proved or {both})
    return frozenset(formats)


def _day_position(days: Iterable[str]) -> tuple[bool, bool]:
    """Return whether the first, and whether the second, number of a date is above 12.

    `days` are dates such as "30/1/2013".
    """
    parts = [day.split("/") for day in days]
    return any(int(each[0]) > 12 for each in parts), any(int(each[1]) > 12 for each in parts)


def formats_differ(x: Collection[str], y: Collection[str]) -> bool:
    """Return whether two samples have dates of different formats.

    The formats are those of `Dates`. An unknown order of day and month may be any order.

    Examples
    --------
    >>> formats_differ(["DD/MM/YYYY"], ["MM/DD/YYYY"])
    True
    >>> formats_differ(["DD/MM/YYYY"], ["DD/MM/YYYY or MM/DD/YYYY"])
    False
    """
    unknown = " or ".join(_SLASHES)
    x, y = {*x}, {*y}
    for own, others in ((x, y), (y, x)):
        if unknown in own and others & {*_SLASHES}:
            own.remove(unknown)
            own |= others & {*_SLASHES}
    return x != y


def _ends(series: Any) -> tuple[Any, Any]:
    """Return the minimum and the maximum of a series of dates, times or durations."""
    import narwhals as nw

    # pyarrow has no minimum of durations, and pandas none of objects with missing values.
    if series.dtype in (nw.Duration, nw.Object):
        known = present_values(series)
        return min(known), max(known)
    return series.min(), series.max()


def day_text(days: float, *, utc: bool = False) -> str:
    """Format days since 1970 as a date, with the time of day unless it is midnight.

    Days outside of the years 1 to 9999 are formatted as numbers. "UTC" is added if `utc`.

    Examples
    --------
    >>> day_text(19737.0), day_text(19737.5), day_text(1e9)
    ('2024-01-15', '2024-01-15 12:00', '1e+09')
    >>> day_text(19737.5, utc=True)
    '2024-01-15 12:00 UTC'
    """
    try:
        moment = datetime(1970, 1, 1) + timedelta(minutes=round(days * 1440))
    except (OverflowError, ValueError):
        return f"{days:.6g}"
    text = moment.isoformat(" ", "minutes")
    return text.removesuffix(" 00:00") + " UTC" * utc


def day_numbers(values: Collection[str]) -> dict[str, float | None]:
    """Return a dictionary that maps strings that are dates to days since 1970.

    Strings that are not dates are left out. The number is None if the order of day and month is
    unknown. A time of day without a time zone is in UTC.

    Examples
    --------
    >>> day_numbers(["1970-01-02", "1970-01-01 18:00", "31.1.1970", "unknown"])
    {'1970-01-02': 1.0, '1970-01-01 18:00': 0.75, '31.1.1970': 30.0}
    """
    parts = {value: value.replace("T", " ").partition(" ") for value in values}
    days = _parsed({day for day, _, _ in parts.values() if date_format(day)})
    numbers: dict[str, float | None] = {}
    for value, (day, _, clock) in parts.items():
        if day not in days:
            continue
        known = days[day]
        clock = clock.replace("UTC", "Z").replace(" ", "")
        if clock[1:2] == ":":
            clock = f"0{clock}"
        try:
            moment = time.fromisoformat(clock or "00:00")
        except ValueError:
            continue
        if known is None:
            numbers[value] = None
        else:
            zone = moment.tzinfo or UTC
            since = datetime.combine(known, moment, zone) - datetime(1970, 1, 1, tzinfo=UTC)
            numbers[value] = since / timedelta(days=1)
    return numbers


def _zone(clock: str) -> str:
    """Return the time zone at the end of a string with a time of day; "none" if it has no zone."""
    match = _ZONE.search(clock)
    return "none" if match is None else match.group(1)


def zones_of(values: Iterable[str]) -> frozenset[str]:
    """Return the time zones of strings that are dates with a time of day.

    "none" stands for a time without a zone. Dates without a time of day have no zone.

    Examples
    --------
    >>> sorted(zones_of(["2024-01-01", "2024-01-01 08:00Z", "2024-01-01T09:00"]))
    ['Z', 'none']
    """
    parts = (value.replace("T", " ").partition(" ") for value in values)
    return frozenset(_zone(clock) for day, _, clock in parts if clock and date_format(day))


def _parsed(days: set[str]) -> dict[str, date | None]:
    """Return a dictionary that maps strings such as "2013-01-30" and "30.1.2013" to dates.

    Strings that are not valid dates are left out. The date is None if the order of day and month is
    unknown.
    """
    numbers = {day: [int(part) for part in re.split("[-/.]", day)] for day in days}
    slashes = [day for day in numbers if date_format(day).startswith("DD/")]
    day_first, month_first = _day_position(slashes)
    parsed: dict[str, date | None] = {}
    for day, (first, second, third) in numbers.items():
        style = date_format(day)
        if style.startswith("YYYY"):
            order = first, second, third
        elif style == "DD.MM.YYYY" or day_first > month_first:
            order = third, second, first
        else:
            order = third, first, second
        try:
            found = date(*order)
        except ValueError:
            continue
        ambiguous = style.startswith("DD/") and day_first == month_first
        parsed[day] = None if ambiguous else found
    return parsed


def date_format(value: str) -> str:
    """Return the format of a date in a string, such as "YYYY-MM-DD"; "" if it is not a date.

    Examples
    --------
    >>> date_format("2013-01-30T08:00"), date_format("30.1.2013"), date_format("2013-130")
    ('YYYY-MM-DD', 'DD.MM.YYYY', '')
    >>> date_format("9/1/2005 - 8/1/2013")
    ''
    """
    match = _DATE.match(value)
    return "" if match is None else _DATE_FORMATS[match.lastindex or 0]
