"""Notes on columns that are not compared, or whose kind is doubtful, and counts."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

from experiments.trial.claims.case import TRUE, Case, Verdict, claim
from experiments.trial.claims.rows import share_beyond
from experiments.trial.numbers import strings


@claim("not compared", r"(?:not compared|left out): (?P<list>.+)")
def _not_compared(case: Case, m: re.Match[str]) -> Verdict:
    def check(name: str, note: str) -> Verdict:
        # The compared columns are unknown if only sentences are known.
        if name in case.compared and case.counts:
            return Verdict("false", f"{name} is compared")
        return _note(case, name, note)

    return case.all_listed(m["list"], check)


@claim(
    "column note", r"numbers: (?P<list>.+)", r"check columns? (?P<quoted>'.*?')(?:: (?P<note>.+))?"
)
def _notes(case: Case, m: re.Match[str]) -> Verdict:
    if m.groupdict().get("quoted"):
        name = m["quoted"].strip("'")
        names = name.split("', '")
        if not {*names} <= {*case.columns}:
            return Verdict("false", f"no column {name}")
        return _note(case, names[0], m["note"] or "")
    return case.all_listed(m["list"], lambda name, note: _note(case, name, note))


def _note(case: Case, name: str, note: str) -> Verdict:
    """Check the numbers and values of a note, such as "6 distinct values; choose ..."."""
    pooled = pd.concat([strings(v) for v in case.values(name)], ignore_index=True).dropna()
    distinct, values = pooled.nunique(), set(pooled)

    def some_are_numbers(m: re.Match[str]) -> bool:
        counts = int(m[1]) == _count_numbers(pooled) and int(m[2]) == len(pooled)
        return counts and {m[3], m[4]} <= values

    rules: list[tuple[str, Callable[[re.Match[str]], bool]]] = [
        (r"(\d+) distinct values", lambda m: int(m[1]) == distinct),
        (r"(\d+) of (\d+) values are distinct",
         lambda m: (int(m[1]), int(m[2])) == (distinct, len(pooled))),
        (r"(\d+) values, more than \d+ categories", lambda m: int(m[1]) == distinct),
        (r"read from strings such as '(.*?)'", lambda m: m[1] in values),
        (r"(\d+) of (\d+) values (?:are numbers|is a number)(?: such as|,) '(.*?)', but others such"
         r" as '(.*?)' are not", some_are_numbers),
        (r"'(.*?)' (?:in [XY] )?is read with '(.)' as the decimal mark", lambda m: m[1] in values),
        (r"'(.*?)' is read without leading zeros", lambda m: m[1] in values),
        (r".*strings.* '(.*?)',? are read as missing", lambda m: m[1] in values),
        (r"compared as a category: '(.*?)' is not a number \((\d+) values\)",
         lambda m: m[1] in values and int(m[2]) == distinct),
        (r"numbers in [XY](?:,| and) strings in [XY]: (.*)",
         lambda m: _note(case, name, m[1]) == TRUE),
        (r"numbers in [XY] and '(.*?)' in [XY]", lambda m: m[1] in values),
        (r"increases in every row",
         lambda m: all((np.diff(v) > 0).all() for v in case.known(name))),
        (r"(?:days|dates)\b.*|choose .*|categorical in [XY], so compared as a category"
         r"|.*row numbers?.*|.*index.*|.*numbers the rows.*", lambda m: True),
    ]  # fmt: skip
    for part in filter(None, note.split("; ")):
        matches = ((re.fullmatch(pattern, part, re.DOTALL), right) for pattern, right in rules)
        match, right = next((each for each in matches if each[0]), (None, bool))
        if match is None:
            return Verdict("unclear", f"note {part!r}")
        if not right(match):
            return Verdict("false", f"{name}: {part}, {distinct} values")
    return TRUE


def _count_numbers(values: pd.Series) -> int:
    plain = values.str.strip().str.replace(",", ".", regex=False)
    return int(pd.to_numeric(plain, errors="coerce").notna().sum())


@claim(
    "search note",
    r"Columns without search for single values: (?P<list>.+)\. Values are unusual in more than"
    r" 20% of the rows of a sample, so the whole distribution differs",
)
def _skipped(case: Case, m: re.Match[str]) -> Verdict:
    for name, _ in case.listed(m["list"]):
        x, y = case.known(name)
        share = max(
            float(((a < np.quantile(b, 0.01)) | (a > np.quantile(b, 0.99))).mean())
            for a, b in ((x, y), (y, x))
        )
        if share < 0.15:
            return Verdict("false", f"{name}: {100 * share:.0f}% beyond 98% of the other sample")
    return TRUE


@claim(
    "search note",
    r"Columns searched without other columns and categories: (?P<list>.+)\. Together with these,"
    r" values are unusual in more than 20% of the rows of a sample",
)
def _unrelated(case: Case, m: re.Match[str]) -> Verdict:
    """Check by random forests that one sample predicts the column badly in the other one."""
    for name, _ in case.listed(m["list"]):
        features = tuple(c for c in case.compared if c != name)
        shares = [share_beyond(own, other, name, features) for own, other in
                  ((case.x, case.y), (case.y, case.x))]  # fmt: skip
        if max(shares) < 0.1:
            return Verdict("unclear", f"{name}: {100 * max(shares):.0f}% beyond another model")
    return TRUE


@claim("search note", r"(?P<s>{s}) has only (?P<k>{i}) rows?, too few .*")
def _small(case: Case, m: re.Match[str]) -> Verdict:
    n = len(case.sample(m["s"])[0])
    return TRUE if n == int(m["k"]) else Verdict("false", f"{n} rows")


@claim("count", r"(?:and )?(?P<k>{i}) (?:more )?changes?")
def _more(case: Case, m: re.Match[str]) -> Verdict:
    n, k = case.counts.get("changes"), int(m["k"])
    if n is None:
        return TRUE
    return TRUE if k in (n - 1, n, n - 5) else Verdict("false", f"{n} changes")


@claim("p-value", r"p-value +(?P<p>1e-300 or less|[\d.e+-]+) for this batch \(rows: (?P<k>{i})\)")
def _batch(case: Case, m: re.Match[str]) -> Verdict:
    return TRUE if int(m["k"]) == len(case.y) else Verdict("false", f"{len(case.y)} rows")


@claim("p-value", r"window +p = (?P<p>.+) for this batch, threshold (?P<t>[\d.e+-]+).*")
def _window(case: Case, m: re.Match[str]) -> Verdict:
    return TRUE
