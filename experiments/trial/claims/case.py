"""Two samples with a printed answer, and the patterns of claims about them.

A pattern describes one kind of claim. `{c}` stands for the name of a column, `{n}` for a number or
a date, `{p}` for a percentage, and `{v}` for any value. A claim is "true", "false", or "unclear" if
it has no number that can be computed again. Printed digits are the tolerance. Claims about a cause,
such as a factor or an exchange of columns, are compared with the accident.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.trial.accidents import Accident
from experiments.trial.numbers import DATE, NUMBER, PERCENT, agrees, numbers


class Verdict(NamedTuple):
    """Verdict on a claim: "true", "false" or "unclear", and the reason if it is not true."""

    verdict: str
    why: str = ""


TRUE = Verdict("true")


class Claim(NamedTuple):
    """A claim of a sentence with its kind, such as "median", and the verdict."""

    kind: str
    text: str
    verdict: str
    why: str


@dataclass(frozen=True)
class Case:
    """Two samples as the user passed them, and the answer that the sentences describe.

    Attributes
    ----------
    x, y : pandas.DataFrame
    accident : Accident
        The accident of y; `accident.frame` is not used.
    pvalue, alpha : float
    compared : sequence of str
        Columns that were compared.
    counts : dict
        Other numbers of the answer by name, such as the numbers of suspicious rows.
    """

    x: pd.DataFrame
    y: pd.DataFrame
    accident: Accident
    pvalue: float = 1.0
    alpha: float = 0.05
    compared: Sequence[str] = ()
    counts: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns of both samples."""
        return list(dict.fromkeys([*map(str, self.x.columns), *map(str, self.y.columns)]))

    @cached_property
    def patterns(self) -> list[tuple[str, re.Pattern[str], Check]]:
        """Kinds, patterns with the names of the columns, and functions that check the claims."""
        names = sorted(map(re.escape, self.columns), key=len, reverse=True)
        column = "(?:" + "|".join([*names, r"column \d+", "''"]) + ")"
        return [
            (kind, re.compile(_filled(pattern, column), re.DOTALL), check)
            for kind, pattern, check in CHECKS
        ]

    @cached_property
    def _numbers(self) -> dict[str, tuple[pd.Series, pd.Series]]:
        return {}

    def numbers(self, name: str) -> tuple[pd.Series, pd.Series]:
        """Return a column of X and of Y as floats."""
        name = self.name(name)
        if name not in self._numbers:
            self._numbers[name] = numbers(self.x[name]), numbers(self.y[name])
        return self._numbers[name]

    def known(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the known numbers of a column of X and of Y."""
        x, y = self.numbers(name)
        return x.dropna().to_numpy(), y.dropna().to_numpy()

    def values(self, name: str) -> tuple[pd.Series, pd.Series]:
        """Return a column of X and of Y."""
        name = self.name(name)
        return self.x[name], self.y[name]

    def name(self, printed: str) -> str:
        """Return the name of a column from its printed form."""
        if printed in self.columns:
            return printed
        short = printed.removeprefix("column ").strip("'")
        return short if short in self.columns else printed

    def sample(self, letter: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the sample X or Y, and the other one."""
        return (self.x, self.y) if letter == "X" else (self.y, self.x)

    def is_planted(self, *columns: str) -> bool:
        """Return whether the accident changed one of the columns."""
        return bool({self.name(each) for each in columns} & {*self.accident.columns})

    def listed(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the columns of a list "a (note), b (note) and 3 more", with the notes."""
        text = re.sub(r" and \d+ more(?= \(|$)", "", text)
        names = "|".join(sorted(map(re.escape, self.columns), key=len, reverse=True))
        starts = [
            m.start() for m in re.finditer(rf"(?:(?<=^)|(?<=, ))(?:{names})(?= \(|, |$)", text)
        ]
        if not starts or starts[0] != 0:
            raise ValueError(f"no columns in {text!r}")
        for start, end in pairwise([*starts, len(text) + 2]):
            part = text[start : end - 2]
            name = re.match(names, part)
            assert name is not None
            longest = next(
                n for n in sorted(self.columns, key=len, reverse=True) if part.startswith(n)
            )
            yield longest, part[len(longest) :].strip()[1:-1]

    def all_listed(self, text: str, check: Callable[[str, str], Verdict]) -> Verdict:
        """Check the columns of a list with their notes; return the first verdict that is not true.

        Columns with the same note are listed before it.
        """
        verdicts, note = [], ""
        for name, own in reversed([*self.listed(text)]):
            note = own or note
            verdicts.append(check(name, note))
        return next((each for each in verdicts if each != TRUE), TRUE)


Check = Callable[[Case, re.Match[str]], Verdict]
CHECKS: list[tuple[str, str, Check]] = []


def _filled(pattern: str, column: str) -> str:
    replaced = {
        "{c}": column, "{n}": f"(?:{DATE}|{NUMBER})", "{p}": f"(?:{PERCENT})", "{v}": r"(?:.+?)",
        "{i}": r"(?:\d+)", "{s}": "(?:X|Y)",
    }  # fmt: skip
    for key, value in replaced.items():
        pattern = pattern.replace(key, value)
    return pattern


def claim(kind: str, *patterns: str) -> Callable[[Check], Check]:
    """Register the function that checks claims with one of the patterns."""

    def register(check: Check) -> Check:
        CHECKS.extend((kind, pattern, check) for pattern in patterns)
        return check

    return register


# -- printed and computed numbers ------------------------------------------------------------------


def compare(printed: Sequence[str], values: Sequence[float]) -> Verdict:
    if all(agrees(a, b) for a, b in zip(printed, values, strict=True)):
        return TRUE
    return Verdict("false", " -> ".join(f"{v:.6g}" for v in values))


QUANTITIES: dict[str, Callable[[np.ndarray], float]] = {
    "median": lambda v: float(np.median(v)),
    "mean": lambda v: float(np.mean(v)),
    "interquartile range": lambda v: float(np.subtract(*np.quantile(v, [0.75, 0.25]))),
    "standard deviation": lambda v: float(np.std(v, ddof=1)) if len(v) > 1 else 0.0,
    "minimum": lambda v: float(np.min(v)),
    "maximum": lambda v: float(np.max(v)),
}


def compare_shares(
    printed: Sequence[str], masks: Sequence[Any], known: Sequence[Any], text: str = ""
) -> Verdict:
    """Compare printed shares with those of masks: of all rows, or of the known values if stated."""
    of_all = [float(np.mean(mask)) for mask in masks]
    of_known = [float(np.sum(m) / max(1, np.sum(k))) for m, k in zip(masks, known, strict=True)]
    if "of the known values" in text:
        return compare(printed, of_known)
    if compare(printed, of_all) == TRUE:
        return TRUE
    shown = " -> ".join(f"{100 * v:.4g}%" for v in of_all)
    if compare(printed, of_known) == TRUE:
        return Verdict("false", f"share of the known values, {shown} of all rows")
    return Verdict("false", shown)


def either(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the first true verdict, or the last one: several readings of a printed number."""
    verdict = TRUE
    for verdict in verdicts:
        if verdict == TRUE:
            break
    return verdict


#: Patterns of the name of a quantity, and of two shares.
QUANTITY = "(?P<q>" + "|".join(QUANTITIES) + ")"
_OF = r"(?P<of>(?: of the known values)?)"
SHARES = r"(?P<a>{p}) -> (?P<b>{p})" + _OF
