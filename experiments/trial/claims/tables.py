"""Claims about rows, and checks of tables: repeated rows, constant columns, new categories."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.trial.claims.case import TRUE, Case, Verdict, claim, compare
from experiments.trial.numbers import agrees, is_value, strings


def _rows_equal(case: Case, text: str) -> list[pd.DataFrame]:
    columns = list(case.compared) if "compared columns" in text else case.columns
    return [t[[c for c in columns if c in t]] for t in (case.x, case.y)]


@claim(
    "repeated rows",
    r"repeated rows(?P<where>[^(]*?)"
    r"(?: \((?P<k>all|{p} of the) copies have (?P<c>{c}) = (?P<v>.+)\))?:?"
    r" (?P<a>{p}) -> (?P<b>{p})",
)
def _repeated(case: Case, m: re.Match[str]) -> Verdict:
    repeated = [t.duplicated(keep=False) for t in _rows_equal(case, m["where"])]
    verdict = compare((m["a"], m["b"]), [float(each.mean()) for each in repeated])
    if verdict != TRUE or not m["k"]:
        return verdict
    side = int(repeated[1].mean() > repeated[0].mean())
    own = case.values(m["c"])[side][repeated[side]]
    share = float(is_value(own, m["v"]).mean())
    return compare(("100%" if m["k"] == "all" else m["k"].split()[0],), [share])


@claim(
    "repeated rows",
    r"repeated rows(?P<where>.*) within a batch of (?P<n>{i}) rows: (?P<a>{p}) -> (?P<b>{p})",
    r"repeated rows(?P<where>.*) within the reference \((?P<n>{i}) rows\) and within the batch"
    r" \((?P<m>{i})\): (?P<a>{p}) -> (?P<b>{p})",
)
def _repeated_within(case: Case, m: re.Match[str]) -> Verdict:
    """Compare with the expected share in n random rows of X, and with the share of Y."""
    x, y = _rows_equal(case, m["where"])
    n, total = int(m["n"]), len(x)
    counts = x.value_counts(dropna=False).to_numpy()
    # Probability that none of the other copies of a drawn row is among the other n - 1 rows.
    alone = [
        float(np.prod([(total - n - j) / (total - 1 - j) for j in range(k - 1)])) for k in counts
    ]
    expected = float(np.sum(counts * (1 - np.array(alone))) / total)
    return compare((m["a"], m["b"]), [expected, float(y.duplicated(keep=False).mean())])


@claim(
    "repeated rows",
    r"(?P<a>{i}) -> (?P<b>{i}) rows are copies of another row, without regard to (?P<c>{c})",
)
def _copies(case: Case, m: re.Match[str]) -> Verdict:
    tables = [t.drop(columns=case.name(m["c"])) for t in (case.x, case.y)]
    return compare((m["a"], m["b"]), [float(t.duplicated().sum()) for t in tables])


def _shared(case: Case, columns: Sequence[str]) -> np.ndarray:
    x, y = (pd.DataFrame({c: strings(t[c]) for c in columns}).fillna("") for t in (case.x, case.y))
    known = set(map(tuple, x.to_numpy()))
    return np.array([tuple(row) in known for row in y.to_numpy()])


@claim(
    "shared rows",
    r"(?P<a>{p}) of the rows of the second sample also occur in the first"
    r" \((?P<k>{i}) of (?P<n>{i}) rows(?P<where>.*)\)",
)
def _shared_rows(case: Case, m: re.Match[str]) -> Verdict:
    columns = case.compared if m["where"] else case.columns
    mask = _shared(case, columns)
    return compare((m["a"], m["k"], m["n"]), [float(mask.mean()), float(mask.sum()), len(mask)])


@claim(
    "shared rows",
    r"(?P<s>X|Y|the first sample|the second sample) contains all (?P<n>{i}) rows of .+?"
    r"(?: and (?P<k>{i}) (?:new|other) ones?)?; a test of independent samples does not apply",
)
def _contained(case: Case, m: re.Match[str]) -> Verdict:
    x, y = (pd.DataFrame({c: strings(t[c]) for c in case.compared}) for t in (case.x, case.y))
    own, other = (x, y) if m["s"] in ("X", "the first sample") else (y, x)
    known = set(map(tuple, own.fillna("").to_numpy()))
    inside = [tuple(row) in known for row in other.fillna("").to_numpy()]
    right = all(inside) and len(other) == int(m["n"])
    return TRUE if right else Verdict("false", f"{sum(inside)} of {len(other)} rows")


@claim(
    "shared rows",
    r"[Aa]?(?P<i>ll|{i} of) (?P<n>{i}) rows of (?P<s>X|the first sample) also occur in .+?, and"
    r" (?P<j>all|{i} of) (?P<k>{i}) rows of .+?; a test of independent samples does not apply",
)
def _overlap(case: Case, m: re.Match[str]) -> Verdict:
    x, y = (
        [*map(tuple, pd.DataFrame({c: strings(t[c]) for c in case.compared}).fillna("").to_numpy())]
        for t in (case.x, case.y)
    )
    counts = [sum(row in known for row in own) for own, known in ((x, {*y}), (y, {*x}))]
    printed = [int(m["n"]) if m["i"] == "ll" else int(m["i"].split()[0])]
    printed.append(int(m["k"]) if m["j"] == "all" else int(m["j"].split()[0]))
    right = counts == printed and (len(x), len(y)) == (int(m["n"]), int(m["k"]))
    return TRUE if right else Verdict("false", f"{counts} rows")


@claim(
    "changed share",
    r"(?:changed +)?at least (?P<s>{p}) of the rows(?: of this batch)?(?: changed)?"
    r" \([\d.]+% confidence\)",
)
def _changed_share(case: Case, m: re.Match[str]) -> Verdict:
    share = float(m["s"][:-1]) / 100
    planted = case.accident.share or 0.0
    return TRUE if share <= planted + 1e-9 else Verdict("false", f"at most {planted:.3f} changed")


@claim(
    "changed share",
    r"no change of at least 1% of the rows can be claimed \([\d.]+% confidence\)",
)
def _no_share(case: Case, m: re.Match[str]) -> Verdict:
    if case.pvalue <= case.alpha:
        return Verdict("false", "beside a significant change")
    return TRUE


@claim("empty", r"(?P<c>{c}) (?P<how>became empty|is not empty any more)")
def _empty(case: Case, m: re.Match[str]) -> Verdict:
    x, y = (len(v) for v in case.known(m["c"]))
    x, y = (int(v.notna().sum()) for v in case.values(m["c"]))
    right = (not y and x) if m["how"].startswith("became") else (not x and y)
    return TRUE if right else Verdict("false", f"{x} -> {y} values")


def _constant_of(values: pd.Series) -> bool:
    return values.dropna().nunique() == 1


@claim(
    "constant",
    r"(?P<c>{c}) (?P<how>became constant|is not constant any more) \((?:it was )?(?P<v>.+)\)",
)
def _became_constant(case: Case, m: re.Match[str]) -> Verdict:
    x, y = case.values(m["c"])
    now, other = (y, x) if m["how"].startswith("became") else (x, y)
    right = _constant_of(now) and not _constant_of(other) and is_value(now.dropna(), m["v"]).all()
    return TRUE if right else Verdict("false", f"{now.nunique()} values")


@claim("constant", r"(?P<c>{c}) is constant in each sample: (?P<v>.+) -> (?P<w>.+)")
def _constant_each(case: Case, m: re.Match[str]) -> Verdict:
    pairs = zip(case.values(m["c"]), (m["v"], m["w"]), strict=True)
    right = all(is_value(v.dropna(), text).all() for v, text in pairs)
    return TRUE if right else Verdict("false")


@claim(
    "constant",
    r"(?P<k>{i}) columns are (?P<how>constant|empty|constant in one sample|empty in one sample):"
    r" (?P<list>.+)",
    r"(?P<list>{c}) is (?P<how>empty in one sample|empty)",
    r"(?P<list>{c} \(.+\)|{c}) is (?P<how>constant in one sample|constant)(?P<one> \(.+\))?",
)
def _together(case: Case, m: re.Match[str]) -> Verdict:
    for name, value in case.listed(m["list"] + (m.groupdict().get("one") or "")):
        values = case.values(name)
        distinct = [v.dropna().nunique() for v in values]
        wanted = 0 if "empty" in m["how"] else 1
        right = wanted in distinct if "one sample" in m["how"] else {*distinct} <= {wanted, 0}
        if value and wanted:
            right &= any(is_value(v.dropna(), value).all() for v in values)
        if not right:
            return Verdict("false", f"{name} has {distinct} values")
    return TRUE


@claim(
    "one sample only",
    r"(?P<how>missing column|new column|{i} (?:missing|new) columns), not compared: (?P<list>.+)",
    r"not compared: (?P<how>)(?P<list>.+ \(only in {s}\).*)",
)
def _columns(case: Case, m: re.Match[str]) -> Verdict:
    names = re.sub(r" \(only in [XY]\)| and \d+ more$", "", m["list"]).split(", ")
    right = all((n in case.x) != (n in case.y) for n in names)
    return TRUE if right else Verdict("false")


@claim("type", r"(?P<c>{c}): type (?P<a>[a-z]+) -> (?P<b>[a-z]+)")
def _types(case: Case, m: re.Match[str]) -> Verdict:
    def fits(values: pd.Series, word: str) -> bool:
        known = values.dropna()
        if pd.api.types.is_bool_dtype(values):
            return word == "booleans"
        if pd.api.types.is_numeric_dtype(values):
            return word == "numbers"
        if pd.api.types.is_datetime64_any_dtype(values):
            return word == "dates"
        as_numbers = pd.to_numeric(known, errors="coerce").notna().all()
        return word in ("strings", "categories") or (word == "numbers" and bool(as_numbers))

    right = all(fits(v, w) for v, w in zip(case.values(m["c"]), (m["a"], m["b"]), strict=True))
    return TRUE if right and m["a"] != m["b"] else Verdict("false")


@claim(
    "new category",
    r"(?P<c>{c}): (?:(?P<k>{i}) )?(?P<how>new|vanished) categor(?:y|ies:) (?P<list>.+)",
)
def _new_category(case: Case, m: re.Match[str]) -> Verdict:
    x, y = (strings(v) for v in case.values(m["c"]))
    own, other = (y, x) if m["how"] == "new" else (x, y)
    only = set(own.dropna()) - set(other.dropna())
    items = re.findall(r"(?:^|, )(.+?) \((\d+) rows?, ([\d.]+%)\)", m["list"])
    if not items:
        return Verdict("false", "no values")
    for value, count, share in items:
        mask = is_value(own, value)
        if mask.sum() != int(count) or not agrees(share, float(mask.mean())):
            return Verdict("false", f"{value}: {mask.sum()} rows, {100 * mask.mean():.3g}%")
        if is_value(other, value).any():
            return Verdict("false", f"{value} is in both samples")
    if m["k"] and int(m["k"]) > len(only):
        return Verdict("false", f"{len(only)} categories")
    return TRUE


@claim("new category", r"rare categories in one sample only: (?P<list>.+)")
def _rare_categories(case: Case, m: re.Match[str]) -> Verdict:
    for name, note in case.listed(m["list"]):
        x, y = (set(strings(v).dropna()) for v in case.values(name))
        for count, word in re.findall(r"(\d+) (new|vanished)", note):
            most = len(y - x) if word == "new" else len(x - y)
            if int(count) > most:
                return Verdict("false", f"{name}: {most} {word}")
    return TRUE


@claim(
    "spelling",
    r"(?P<c>{c}): spellings that differ in case or spaces: (?P<list>.+?)(?P<end>;.*)?",
)
def _spelling(case: Case, m: re.Match[str]) -> Verdict:
    x, y = (strings(v) for v in case.values(m["c"]))
    items = re.findall(r"(?:^|, )'(.+?)'(?: \+ \d+ spaces)? \((\d+) -> (\d+) rows?\)", m["list"])
    for value, a, b in items:
        counts = int((x == value).sum()), int((y == value).sum())
        if counts != (int(a), int(b)):
            return Verdict("false", f"{value}: {counts}")
    return TRUE if items else Verdict("unclear", "no values")


@claim("row number", r"(?P<c>{c}) looks like a row number")
def _row_number(case: Case, m: re.Match[str]) -> Verdict:
    x, y = case.known(m["c"])
    right = (np.diff(x) > 0).all() and (np.diff(y) > 0).all()
    return TRUE if right else Verdict("false")


@claim(
    "date range",
    r"(?P<c>{c}): (?P<a>{n}) to (?P<b>{n}) -> (?P<d>{n}) to (?P<e>{n})"
    r"(?P<apart>, without overlap)?",
)
def _date_range(case: Case, m: re.Match[str]) -> Verdict:
    x, y = case.known(m["c"])
    ends = [np.floor(v) for v in (x.min(), x.max(), y.min(), y.max())]
    apart = x.max() < y.min() or y.max() < x.min()
    if bool(m["apart"]) != bool(apart):
        return Verdict("false", "overlap")
    return compare((m["a"], m["b"], m["d"], m["e"]), ends)


@claim(
    "type", r"(?P<c>{c}): (?:date format|time zone|not a date) .*",
    r"(?P<c>{c}): (?P<x>\d+ of \d+ values are? not.*)",
)  # fmt: skip
def _formats(case: Case, m: re.Match[str]) -> Verdict:
    return TRUE if case.is_planted(m["c"]) else Verdict("unclear", "formats")


@claim("only one sample has", r"only (?P<s>{s}) has (?P<c>{c}) = (?P<v>.+) \((?P<k>{i}) rows?\)")
def _only(case: Case, m: re.Match[str]) -> Verdict:
    own, other = (is_value(t[case.name(m["c"])], m["v"]) for t in case.sample(m["s"]))
    if own.sum() == int(m["k"]) and not other.any():
        return TRUE
    return Verdict("false", f"{own.sum()} and {other.sum()} rows")


@claim("only one sample has", r"only (?P<s>{s}) has (?P<c>{c}) = (?P<list>.+)")
def _only_these(case: Case, m: re.Match[str]) -> Verdict:
    own, other = (strings(t[case.name(m["c"])]).str.strip() for t in case.sample(m["s"]))
    only = set(own.dropna()) - set(other.dropna())
    text = m["list"].removesuffix(", ...")
    # Values may contain commas: the list must consist of values of one sample only.
    for value in sorted(only, key=len, reverse=True):
        text = text.replace(value, "")
    if text.strip(" ,'"):
        return Verdict("false", f"left of the list: {text.strip(' ,')!r}"[:80])
    return TRUE


@claim(
    "not compared", r"(?P<how>all values are rare|constant or empty), not compared: (?P<list>.+)"
)
def _rare_columns(case: Case, m: re.Match[str]) -> Verdict:
    for name, _ in case.listed(m["list"]):
        pooled = pd.concat(case.values(name)).dropna()
        if m["how"].startswith("constant") and pooled.nunique() > 1:
            return Verdict("false", f"{name} has {pooled.nunique()} values")
        if m["how"].startswith("all") and pooled.value_counts(normalize=True).max() > 0.1:
            return Verdict("false", f"{name} has a frequent value")
    return TRUE
