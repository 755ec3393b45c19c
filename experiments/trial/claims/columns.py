"""Claims about one column: medians, factors, shares of values and of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.trial.claims.case import (
    QUANTITIES,
    QUANTITY,
    SHARES,
    TRUE,
    Case,
    Verdict,
    claim,
    compare,
    compare_shares,
    either,
)
from experiments.trial.numbers import PERCENT, agrees, as_number, is_value, strings, unit


def _quantity(case: Case, name: str, quantity: str, printed: Sequence[str]) -> Verdict:
    return compare(printed, [QUANTITIES[quantity](v) for v in case.known(name)])


@claim(
    "quantity", rf"(?P<c>{{c}}): {QUANTITY}(?: \(mean of 1 batches\))? (?P<a>{{n}}) -> (?P<b>{{n}})"
)
def _of_column(case: Case, m: re.Match[str]) -> Verdict:
    return _quantity(case, m["c"], m["q"], (m["a"], m["b"]))


@claim(
    "factor",
    rf"(?P<c>{{c}}): values multiplied by (?P<about>about )?(?P<f>{{n}})(?: \([^)]*\))?"
    rf"(?P<plus>, (?:plus|minus) {{n}})?, {QUANTITY} (?P<a>{{n}}) -> (?P<b>{{n}})",
    rf"(?P<c>{{c}}): (?P<about>about )(?P<f>{{n}}) times(?: the values)?(?P<plus>),"
    rf" {QUANTITY} (?P<a>{{n}}) -> (?P<b>{{n}})",
    rf"(?P<c>{{c}}): (?P<about>)(?P<f>)all values (?P<plus>(?:plus|minus) {{n}}),"
    rf" {QUANTITY} (?P<a>{{n}}) -> (?P<b>{{n}})",
)
def _factor(case: Case, m: re.Match[str]) -> Verdict:
    planted = case.accident.facts.get("map") if case.is_planted(m["c"]) else None
    if planted is None:
        return Verdict("false", f"the cause is another one: {case.accident.facts}"[:90])
    factor, constant = float(m["f"] or 1.0), 0.0
    if m["plus"]:
        sign, number = m["plus"].removeprefix(", ").split()
        constant = float(number) * (1 if sign == "plus" else -1)
    slack = 0.1 if m["about"] else 0.0005
    near = abs(factor / planted[0] - 1) <= slack or (bool(m["f"]) and agrees(m["f"], planted[0]))
    if not near or abs(constant - planted[1]) > max(slack * abs(planted[1]), 1e-9):
        return Verdict("false", f"factor {planted[0]:g}, constant {planted[1]:g}")
    return _quantity(case, m["c"], m["q"], (m["a"], m["b"]))


@claim("quantity", r"(?P<c>{c}): median of (?P<s>{s}) (?P<a>{n})")
def _median_of(case: Case, m: re.Match[str]) -> Verdict:
    x, y = case.known(m["c"])
    return compare((m["a"],), [float(np.median(x if m["s"] == "X" else y))])


@claim(
    "value",
    r"(?P<c>{c}): (?P<list>.+?: {p} and {p}(?:, .+: {p} and {p})*)"
    r"(?:, and (?P<k>{i}) more values?)?",
)
def _shares_of_values(case: Case, m: re.Match[str]) -> Verdict:
    for value, a, b in re.findall(rf"(?:^|, )(.+?): ({PERCENT}) and ({PERCENT})", m["list"]):
        if value == "other values":
            continue
        masks = [is_value(v, value) for v in case.values(m["c"])]
        verdict = compare_shares((a, b), masks, [v.notna() for v in case.values(m["c"])])
        if verdict != TRUE:
            return Verdict(verdict.verdict, f"{value}: {verdict.why}")
    return TRUE


@claim("sign", rf"(?P<c>{{c}}): sign changed, {QUANTITY} (?P<a>{{n}}) -> (?P<b>{{n}})")
def _sign(case: Case, m: re.Match[str]) -> Verdict:
    if not case.is_planted(m["c"]) or case.accident.facts.get("map") != (-1.0, 0.0):
        return Verdict("false", "no sign was changed")
    return _quantity(case, m["c"], m["q"], (m["a"], m["b"]))


@claim(
    "exchange",
    rf"(?P<c>{{c}}) and (?P<d>{{c}}) exchanged their values: {QUANTITY} of (?P<e>{{c}})"
    rf" (?P<a>{{n}}) -> (?P<b>{{n}})",
)
def _exchange(case: Case, m: re.Match[str]) -> Verdict:
    if case.accident.facts.get("exchanged") != {case.name(m["c"]), case.name(m["d"])}:
        return Verdict("false", "these columns were not exchanged")
    if m["a"] == m["b"]:
        return Verdict("false", "equal numbers")
    return _quantity(case, m["e"], m["q"], (m["a"], m["b"]))


@claim(
    "quantity", rf"(?P<c>{{c}}): {QUANTITY} of ranks \((?P<ends>.*)\) (?P<a>{{n}}) -> (?P<b>{{n}})"
)
def _ranks(case: Case, m: re.Match[str]) -> Verdict:
    return Verdict("unclear", "ranks")


def _known_of(case: Case, name: str) -> list[Any]:
    return [v.notna() for v in case.values(name)]


@claim("missing", rf"(?P<c>{{c}}): missing {SHARES}")
def _missing(case: Case, m: re.Match[str]) -> Verdict:
    return compare_shares((m["a"], m["b"]), [v.isna() for v in case.values(m["c"])], [1, 1])


@claim("missing", rf"(?P<c>{{c}}): missing or not a number {SHARES}")
def _missing_number(case: Case, m: re.Match[str]) -> Verdict:
    masks = [pd.to_numeric(v, errors="coerce").isna() for v in case.values(m["c"])]
    return compare_shares((m["a"], m["b"]), masks, [1, 1])


@claim(
    "precision",
    rf"(?P<c>{{c}}): (?P<u>whole tenths|whole numbers|multiples of {{n}})"
    rf"(?: \(all new values: of (?P<k>{{n}})\))? {SHARES}",
)
def _precision(case: Case, m: re.Match[str]) -> Verdict:
    step = {"whole tenths": 0.1, "whole numbers": 1.0}.get(m["u"]) or float(m["u"].split()[-1])

    def on_grid(values: Any, step: float) -> Any:
        return np.abs(values / step - np.round(values / step)) < 1e-6

    both = case.numbers(m["c"])
    verdict = compare_shares(
        (m["a"], m["b"]), [on_grid(v, step) for v in both], [v.notna() for v in both], m["of"]
    )
    if verdict == TRUE:
        x, y = case.known(m["c"])
        named = float(m["k"] or step)
        if not on_grid(y, named).all() and m["k"]:
            return Verdict("false", f"not all new values are multiples of {named:g}")
        coarser = [s for s in 10.0 ** np.arange(7) if s > named and on_grid(y, s).all()]
        if coarser and on_grid(y, step).all() and not on_grid(x, coarser[-1]).all() and y.any():
            return Verdict("false", f"all new values are multiples of {coarser[-1]:g}")
    return verdict


COMPARISONS: dict[str, Callable[[Any, float], Any]] = {
    "at least": lambda v, limit: v >= limit,
    "above": lambda v, limit: v > limit,
    "at most": lambda v, limit: v <= limit,
    "below": lambda v, limit: v < limit,
}


@claim(
    "limit",
    rf"(?P<c>{{c}}) (?P<side>at least|above|at most|below) (?P<l>{{n}}): {SHARES}",
    rf"(?P<c>{{c}}): (?P<side>share of values up to) (?P<l>{{n}}) {SHARES}",
    rf"(?P<c>{{c}}): (?P<side>)values up to (?P<l>{{n}}): {SHARES}",
)
def _limit(case: Case, m: re.Match[str]) -> Verdict:
    comparison = COMPARISONS.get(m["side"], COMPARISONS["at most"])
    both = case.numbers(m["c"])
    known = [v.notna() for v in both]
    return either(
        compare_shares((m["a"], m["b"]), [comparison(v, limit) for v in both], known, m["of"])
        for limit in near_limits(case, m["c"], m["l"])
    )


def near_limits(case: Case, name: str, text: str) -> list[float]:
    """Return a printed limit, and the numbers that are printed in the same way."""
    limit, slack = as_number(text), 0.5 * unit(text) if "-" not in text[1:] else 0.5
    pooled = np.unique(np.concatenate(case.known(name)))
    near = pooled[np.abs(pooled - limit) <= slack * (1 + 1e-9)]
    return [limit, *near.tolist(), limit - slack, limit + slack]


@claim(
    "limit",
    rf"(?P<c>{{c}}): share of values within (?P<l>{{n}}) of (?P<m>the median) {SHARES}",
    rf"(?P<c>{{c}}) within (?P<l>{{n}})(?: days)? of (?P<m>{{n}}): {SHARES}",
)
def _within(case: Case, m: re.Match[str]) -> Verdict:
    both, limit = case.numbers(m["c"]), float(m["l"])
    x, y = case.known(m["c"])
    if m["m"] == "the median":
        centers = [float(np.median(x)), float(np.median(np.concatenate([x, y])))]
    else:
        centers = [as_number(m["m"]), *near_limits(case, m["c"], m["m"])]
    known = [v.notna() for v in both]
    ends = [
        # Rounding of the limit and of differences must not decide.
        (center, limit + slack + 1e-9 * abs(center))
        for center in centers
        for slack in (0.0, 0.5 * unit(m["l"]), -0.5 * unit(m["l"]))
    ]
    return either(
        compare_shares((m["a"], m["b"]), [(v - c).abs() <= e for v in both], known, m["of"])
        for c, e in ends
    )


@claim("limit", rf"(?P<c>{{c}}) far from its usual values: {SHARES}")
def _far(case: Case, m: re.Match[str]) -> Verdict:
    return Verdict("unclear", "no limit")


@claim("rare values", rf"(?P<c>{{c}}) = \(rare values\): {SHARES}")
def _rare_category(case: Case, m: re.Match[str]) -> Verdict:
    """Compare with the values whose number in both samples is at most any limit."""
    counts = strings(pd.concat(case.values(m["c"]))).value_counts()
    return _shares_of_rare(case, m, counts)


def _shares_of_rare(case: Case, m: re.Match[str], counts: pd.Series) -> Verdict:
    """Compare with the values whose number is at most a limit, which is not printed."""
    both = [strings(v) for v in case.values(m["c"])]
    known = [v.notna() for v in both]

    def shares(limit: int) -> Verdict:
        frequent = set(counts.index[counts > limit])
        masks = [k & ~v.isin(frequent) for v, k in zip(both, known, strict=True)]
        return compare_shares((m["a"], m["b"]), masks, known, m["of"])

    verdict = either(shares(limit) for limit in sorted({0, *counts.tolist()}))
    return verdict if verdict == TRUE else Verdict("false", "no limit gives these shares")


@claim("value", rf"(?P<c>{{c}}) = (?P<v>.+): {SHARES}")
def _value(case: Case, m: re.Match[str]) -> Verdict:
    masks = [is_value(v, m["v"]) for v in case.values(m["c"])]
    return compare_shares((m["a"], m["b"]), masks, _known_of(case, m["c"]), m["of"])


@claim("rare values", rf"(?P<c>{{c}}): new values \(such as (?P<v>.+)\):? {SHARES}")
def _new_values(case: Case, m: re.Match[str]) -> Verdict:
    x, y = (strings(v) for v in case.values(m["c"]))
    masks = [v.notna() & ~v.isin(set(x.dropna())) for v in (x, y)]
    if not (masks[1] & is_value(y, m["v"])).any():
        return Verdict("false", f"{m['v']} is not new")
    return compare_shares((m["a"], m["b"]), masks, [x.notna(), y.notna()], m["of"])


@claim("rare values", rf"(?P<c>{{c}}): rare or new values(?: \(such as (?P<v>.+)\))? {SHARES}")
def _rare(case: Case, m: re.Match[str]) -> Verdict:
    x, y = (strings(v) for v in case.values(m["c"]))
    counts = x.value_counts()
    if m["v"] and (m["v"] in counts.index or not (y == m["v"]).any()):
        return Verdict("false", f"{m['v']} is not new")
    return _shares_of_rare(case, m, counts)
