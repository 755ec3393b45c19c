"""Claims about several columns together."""

from __future__ import annotations

import re

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
from experiments.trial.claims.columns import COMPARISONS, near_limits
from experiments.trial.numbers import as_number, is_value


@claim("correlation", r"rank correlation of (?P<c>{c}) and (?P<d>{c}): (?P<a>{n}) -> (?P<b>{n})")
def _correlation(case: Case, m: re.Match[str]) -> Verdict:
    found = []
    for x, y in zip(case.numbers(m["c"]), case.numbers(m["d"]), strict=True):
        found.append(float(x.corr(y, method="spearman")))
    return compare((m["a"], m["b"]), found)


def _same_side(case: Case, c: str, d: str) -> list[float]:
    medians = [np.median(case.known(name)[0]) for name in (c, d)]
    shares = []
    for a, b in zip(case.numbers(c), case.numbers(d), strict=True):
        known = a.notna() & b.notna()
        shares.append(float((((a <= medians[0]) == (b <= medians[1])) & known).sum() / known.sum()))
    return shares


@claim(
    "correlation", r"quadrant correlation of (?P<c>{c}) and (?P<d>{c}): (?P<a>{n}) -> (?P<b>{n})"
)
def _quadrant(case: Case, m: re.Match[str]) -> Verdict:
    shares = _same_side(case, m["c"], m["d"])
    return compare((m["a"], m["b"]), [float(np.sin(np.pi * (s - 0.5))) for s in shares])


@claim(
    "correlation",
    rf"rows on the same side of the medians of (?P<c>{{c}}) and (?P<d>{{c}}): {SHARES}",
)
def _sides(case: Case, m: re.Match[str]) -> Verdict:
    return compare((m["a"], m["b"]), _same_side(case, m["c"], m["d"]))


def _inside(case: Case, m: re.Match[str]) -> list[pd.Series]:
    """Return the numbers of the column c of X and of Y in the rows in which d has the value v."""
    both = zip(case.numbers(m["c"]), case.values(m["d"]), strict=True)
    return [values[is_value(group, m["v"])] for values, group in both]


@claim(
    "within",
    rf"{QUANTITY} of (?P<c>{{c}}) within (?P<d>{{c}}) = (?P<v>.+): (?P<a>{{n}}) -> (?P<b>{{n}})",
)
def _within_category(case: Case, m: re.Match[str]) -> Verdict:
    parts = [v.dropna().to_numpy() for v in _inside(case, m)]
    return compare((m["a"], m["b"]), list(map(QUANTITIES[m["q"]], parts)))


@claim(
    "within",
    rf"share up to the median of (?P<c>{{c}}) within (?P<d>{{c}}) = (?P<v>.+): {SHARES}",
)
def _share_within(case: Case, m: re.Match[str]) -> Verdict:
    parts = _inside(case, m)
    low = [(v <= parts[0].median()).sum() for v in parts]
    sizes = [len(v) for v in parts], [v.count() for v in parts]  # all rows, or the known values
    return either(compare((m["a"], m["b"]), list(np.divide(low, n))) for n in sizes)


@claim(
    "joint",
    r"all columns together are (?:higher|lower)",
    r"the center of the data or its spread changes in several columns together",
    r"rows are (?:farther from|closer to) the center of the data",
    r"rows far from the center(?: of the data, mostly in {c})?: .*",
    r"(?P<c>{c}) depends differently on the distance from the center",
    r"share of rows up to a cut point of .*",
)
def _vague(case: Case, m: re.Match[str]) -> Verdict:
    return Verdict("unclear", "no number and no column that can be checked")


@claim(
    "joint",
    r"the joint distribution of (?P<list>.+) (?:changes its spread|changes)",
    r"the joint distribution changes, with the largest differences in (?P<list>.+)",
    r"rows are (?:farther from|closer to) the center of the data, mostly in (?P<list>.+)",
)
def _joint(case: Case, m: re.Match[str]) -> Verdict:
    planted = case.is_planted(*re.split(", | and ", m["list"]))
    return TRUE if planted else Verdict("false", "none of these columns changed")


@claim(
    "joint",
    r"joint shift: (?:means? of )?(?P<up>.+?) (?P<how>higher|lower)"
    r"(?: relative to (?:means? of )?(?P<down>.+?))?(?P<medians> {n} -> {n})?",
)
def _joint_shift(case: Case, m: re.Match[str]) -> Verdict:
    def moved(names: str) -> float:
        parts = []
        for name in re.split(", | and ", names):
            x, y = case.known(name)
            parts.append((y.mean() - x.mean()) / (np.concatenate([x, y]).std() or 1.0))
        return float(np.mean(parts))

    if m["medians"]:
        return Verdict("unclear", "medians in no unit")
    difference = moved(m["up"]) - (moved(m["down"]) if m["down"] else 0.0)
    right = (difference > 0) == (m["how"] == "higher")
    return TRUE if right else Verdict("false", f"standardized shift {difference:.3f}")


@claim(
    "correlation",
    rf"rows with (?P<c>{{c}}) above (?P<k>{{n}}) and (?P<d>{{c}}) above (?P<l>{{n}}), or "
    rf"(?P<e>{{c}}) below (?P<g>{{n}}) and (?P<f>{{c}}) below (?P<h>{{n}}): {SHARES}",
)
def _same_sides(case: Case, m: re.Match[str]) -> Verdict:
    found = []
    limits = [as_number(m[key]) for key in "kl"]
    for a, b in zip(case.numbers(m["c"]), case.numbers(m["d"]), strict=True):
        # Limits have four digits: a value at a rounded limit may be on either side.
        both = zip((a, b), limits, strict=True)
        near = np.any([(v - limit).abs() <= 1e-4 * abs(limit) for v, limit in both], axis=0)
        same = ((a > limits[0]) & (b > limits[1])) | ((a < limits[0]) & (b < limits[1]))
        found.append((float((same & ~near).mean()), float(near.mean())))
    slacks = (1.0, 0.5, 0.0)
    return either(
        compare((m["a"], m["b"]), [share + slack * at for share, at in found]) for slack in slacks
    )


@claim(
    "within",
    rf"(?P<c>{{c}}) (?P<side>at least|above|at most|below) (?P<l>{{n}}) within (?P<d>{{c}}) ="
    rf" (?P<v>.+): {SHARES}",
)
def _limit_within(case: Case, m: re.Match[str]) -> Verdict:
    parts = _inside(case, m)
    known = [v.notna() for v in parts]
    comparison = COMPARISONS[m["side"]]
    return either(
        compare_shares((m["a"], m["b"]), [comparison(v, limit) for v in parts], known, m["of"])
        for limit in near_limits(case, m["c"], m["l"])
    )
