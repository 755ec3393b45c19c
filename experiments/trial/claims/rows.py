"""Claims about suspicious rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.trial.claims.case import TRUE, Case, Verdict, claim, compare
from experiments.trial.numbers import DATE, NUMBER, agrees, as_number, is_value, numbers, strings

#: Minimum share of the values of the other sample within a range that is called usual, of all
#: values, and of the values of similar rows.
USUAL, USUAL_NEARBY = 0.9, 0.6
#: Minimum share of the variance that another model must explain for an expected range.
RELATION = 0.1


@claim(
    "suspicious count",
    r"(?P<m>{i}) suspicious rows? in (?P<s>{s})(?: and (?P<n>{i}) suspicious rows? in (?P<t>{s}))?"
    r"(?: \(row positions, from 0\))?",
)
def _count(case: Case, m: re.Match[str]) -> Verdict:
    found = {m["s"]: int(m["m"]), **({m["t"]: int(m["n"])} if m["t"] else {})}
    if case.counts.get("suspicious") is None:  # the command line prints the sentence only
        return TRUE
    counts = {s: n for s, n in case.counts["suspicious"].items() if n}
    return TRUE if found == counts else Verdict("false", str(counts))


@claim(
    "suspicious value",
    r"(?P<k>{i}) rows? of (?P<s>{s}) looks? wrong: (?P<list>.+?)(?P<more> and {i} more values?)?",
)
def _look_wrong(case: Case, m: re.Match[str]) -> Verdict:
    """Check that few rows of the other sample have the values, and that the rows are counted."""
    own, other = case.sample(m["s"])
    rows = np.zeros(len(own), dtype=bool)
    named = _split_condition(case, re.sub(r" and \d+ more columns?(?= = )", "", m["list"]))
    if not named:
        return Verdict("unclear", "no value")
    single = len(named) == 1 and not m["more"]
    for name, value in named:
        mask, before = is_value(own[name], value), is_value(other[name], value)
        if not mask.any():
            return Verdict("false", f"no row has {name} = {value}")
        if before.mean() > 0.1 * mask.mean():
            return Verdict("false", f"{before.sum()} rows of the other sample have {value} too")
        if m["s"] == "X" and case.is_planted(name):
            # Values of X that Y lacks because of its accident are usual within X.
            own_values = numbers(own[name])
            low, high = own_values.quantile([0.01, 0.99])
            if low <= own_values[mask].iloc[0] <= high:
                return Verdict("false", "X is not broken, Y is")
        # Several far values of a column may differ: the largest is named.
        known = numbers(other[name]).dropna()
        if len(known):
            far = numbers(own[name])
            rows |= (mask | (far > known.max()) | (far < known.min())).to_numpy()
        else:
            rows |= mask.to_numpy()
    k = int(m["k"])
    name, value = named[0]
    same = own[name][
        is_value(own[name], value)
    ].value_counts()  # several values may be printed alike
    exact = single and k in (same.sum(), same.max())
    if not exact and k > rows.sum():
        return Verdict("false", f"{rows.sum()} rows have such values")
    if single and not exact and k < same.max():
        return Verdict("false", "more rows have this value")
    return TRUE


@claim(
    "suspicious value",
    r"(?P<c>{c})(?: and \d+ more columns?)? = (?P<v>.+) in (?P<a>{p}) of X and (?P<b>{p}) of Y",
)
def _both_have(case: Case, m: re.Match[str]) -> Verdict:
    return compare(
        (m["a"], m["b"]), [float(is_value(v, m["v"]).mean()) for v in case.values(m["c"])]
    )


@claim(
    "suspicious count",
    r"suspicious rows with a value far outside the reference, or a new category: (?P<k>{i})",
)
def _far_outside(case: Case, m: re.Match[str]) -> Verdict:
    new, outside = np.zeros(len(case.y), dtype=bool), np.zeros(len(case.y), dtype=bool)
    for name in case.compared:
        x, y = case.numbers(name)
        if x.notna().any():
            outside |= ((y < x.min()) | (y > x.max())).to_numpy()
        if not pd.api.types.is_numeric_dtype(case.x[name]):
            a, b = strings(case.x[name]), strings(case.y[name])
            new |= (b.notna() & ~b.isin(set(a.dropna()))).to_numpy()
    k = int(m["k"])
    if k > (new | outside).sum():
        return Verdict("false", f"{(new | outside).sum()} rows are outside or new")
    return TRUE


_ROW = r"(?:(?P<s>{s})\[(?P<i>{i})\]|(?P<file>\S*/(?P<t>[XY])\.csv), row (?P<j>{i})): "


@claim("suspicious row", _ROW + r"(?P<rest>.+)")
def _row(case: Case, m: re.Match[str]) -> Verdict:
    letter = m["s"] or m["t"]
    i = int(m["i"] or m["j"])
    own, other = case.sample(letter)
    column = next(
        (n for n in sorted(case.columns, key=len, reverse=True) if m["rest"].startswith(f"{n} = ")),
        None,
    )
    if column is None:
        return Verdict("unclear", "no column")
    rest = m["rest"].removeprefix(f"{column} = ")
    matches = ((re.fullmatch(pattern, rest), check) for pattern, check in _ROW_CHECKS)
    match, check = next((each for each in matches if each[0]), (None, None))
    if match is None or check is None:
        return Verdict("unclear", "no pattern for the row")
    if not is_value(own[column].iloc[[i]], match["v"]).all():
        return Verdict("false", f"the value is {own[column].iloc[i]}")
    row = _RowClaim(own, other, i, column)
    if letter == "X" and _is_other_sample_broken(case, row):
        return Verdict("false", "X is not broken, Y is")
    return check(case, row, match)


def _is_other_sample_broken(case: Case, row: _RowClaim) -> bool:
    """Return whether a row of X is listed only because the accident changed its column in Y.

    Its value is then usual among the other rows of X.
    """
    if not case.is_planted(row.column) or (case.accident.share or 0.0) < 0.02:
        return False
    low, high = numbers(row.own[row.column]).quantile([0.01, 0.99])
    return bool(np.isnan(row.value) or low <= row.value <= high)


class _RowClaim(NamedTuple):
    own: pd.DataFrame
    other: pd.DataFrame
    row: int
    column: str

    @property
    def value(self) -> float:
        return float(numbers(self.own[self.column]).iloc[self.row])

    @property
    def others(self) -> pd.Series:
        return numbers(self.other[self.column])


def _ends(text: str) -> tuple[float, float]:
    """Return the ends of a range, or of a list such as "1, 2 or 3"."""
    values = [as_number(each) for each in re.split(" to |, | or ", text)]
    return min(values), max(values)


def _inside(values: Any, ends: tuple[float, float]) -> Any:
    slack = 5e-4 * max(abs(ends[0]), abs(ends[1]), ends[1] - ends[0])
    return (values >= ends[0] - slack) & (values <= ends[1] + slack)


def _usual_among(row: _RowClaim, values: pd.Series, usual: str, least: float) -> Verdict:
    """Check that most of the values are usual, and that the value of the row is not."""
    known = values.dropna()
    if re.fullmatch(rf"(?:{DATE}|{NUMBER}) to (?:{DATE}|{NUMBER})", usual):
        ends = _ends(usual)
        share = float(_inside(known, ends).mean()) if len(known) else 0.0
        outside = row.value < ends[0] or row.value > ends[1]
    else:
        listed = re.split(", | or ", usual)
        masks = [known.map(lambda v, text=text: agrees(text, v)) for text in listed]
        share = float(np.any(masks, axis=0).mean()) if len(known) else 0.0
        outside = not any(agrees(text, row.value) for text in listed)
    if not outside:
        return Verdict("false", "the value is usual")
    if share < least:
        return Verdict("false", f"only {100 * share:.0f}% of {len(known)} values are usual")
    return TRUE


def _row_usual(case: Case, row: _RowClaim, m: re.Match[str]) -> Verdict:
    return _usual_among(row, row.others, m["u"], USUAL)


def _split_condition(case: Case, text: str) -> list[tuple[str, str]]:
    """Split "a = 1, b = 2 and c = 3" into pairs of columns and values."""
    names = "|".join(sorted(map(re.escape, case.columns), key=len, reverse=True))
    parts = re.split(rf"(?:^|, | and )({names}) = ", text)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def _row_given(case: Case, row: _RowClaim, m: re.Match[str]) -> Verdict:
    """Check a range given other values, by the rows of the other sample with similar values."""
    near = np.ones(len(row.other), dtype=bool)
    distance = np.zeros(len(row.other))
    given = _split_condition(case, m["g"])
    if not given:
        return Verdict("unclear", "no condition")
    for name, value in given:
        if not is_value(row.own[name].iloc[[row.row]], value).all():
            return Verdict("false", f"{name} is {row.own[name].iloc[row.row]}")
        column = numbers(row.other[name])
        if m["how"] == "for" or column.isna().all():
            near &= is_value(row.other[name], value).to_numpy()
        else:
            ranks = column.rank(pct=True)
            own = (
                float((column < as_number(value)).mean() + (column <= as_number(value)).mean()) / 2
            )
            distance += (ranks - own).abs().fillna(9.0).to_numpy()
    values = row.others[near]
    if m["how"] != "for":
        order = np.argsort(distance[near], kind="stable")
        values = values.iloc[order].dropna().iloc[:30]
    if len(values.dropna()) < 3:
        return Verdict("unclear", "fewer than 3 similar rows")
    least = USUAL if m["how"] == "for" else USUAL_NEARBY
    return _usual_among(row, values, m["u"], least)


def _row_expected(case: Case, row: _RowClaim, m: re.Match[str]) -> Verdict:
    """Check an expected range by another model of the other sample: a random forest."""
    given = m["g"].removesuffix(" and other columns")
    stated = [] if given == "the other columns" else _split_condition(case, given)
    for name, value in stated:
        if not is_value(row.own[name].iloc[[row.row]], value).all():
            return Verdict("false", f"{name} is {row.own[name].iloc[row.row]}")
    whole = given != m["g"] or given == "the other columns"
    features = [n for n in (case.compared if whole else [n for n, _ in stated]) if n != row.column]
    ends = _ends(m["u"])
    if ends[0] <= row.value <= ends[1]:
        return Verdict("false", "the value is expected")
    model = _model(row.other, row.column, tuple(features))
    if model.share < RELATION:
        return Verdict("false", f"other columns explain {100 * model.share:.0f}% of the variance")
    expected = float(model.predict(row.own.iloc[[row.row]])[0])
    error = float(np.quantile(model.errors, 0.8))
    if not (ends[0] - 3 * error <= expected <= ends[1] + 3 * error):
        return Verdict("false", f"another model expects {expected:.4g}")
    return TRUE


class _Model(NamedTuple):
    """Random forest that predicts a column from others.

    `share` is the explained share of the variance of ranks, and `errors` are the absolute errors,
    both in cross-validation. `predict` predicts the rows of a table.
    """

    share: float
    errors: np.ndarray
    predict: Callable[[pd.DataFrame], np.ndarray]


_MODELS: dict[Any, _Model] = {}


def _model(rows: pd.DataFrame, name: str, features: tuple[str, ...]) -> _Model:
    """Return a model of a column of a sample; models of the same sample are kept."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import KFold, cross_val_predict

    key = (id(rows), name, features)
    if key in _MODELS:
        return _MODELS[key]

    def table(frame: pd.DataFrame) -> pd.DataFrame:
        columns = {}
        for feature in features:
            values = numbers(frame[feature])
            if values.isna().all() or not pd.api.types.is_numeric_dtype(rows[feature]):
                words = sorted(set(strings(rows[feature]).dropna()))
                codes = {word: float(k) for k, word in enumerate(words)}
                values = strings(frame[feature]).map(codes).astype(float)
            columns[feature] = values
        return pd.DataFrame(columns)

    target = numbers(rows[name])
    known = target.notna().to_numpy()
    X, y = table(rows)[known], target[known]
    model = RandomForestRegressor(30, min_samples_leaf=3, random_state=0, n_jobs=1)
    # Rows are shuffled: many tables are sorted.
    predicted = cross_val_predict(model, X, y, cv=KFold(3, shuffle=True, random_state=0))
    ranks = y.rank(), pd.Series(predicted, index=y.index).rank()
    share = float(np.corrcoef(*ranks)[0, 1] ** 2) if min(np.std(predicted), y.std()) > 0 else 0.0
    model.fit(X, y)
    _MODELS[key] = _Model(share, np.abs(predicted - y), lambda frame: model.predict(table(frame)))
    return _MODELS[key]


def share_beyond(
    own: pd.DataFrame, other: pd.DataFrame, name: str, features: tuple[str, ...]
) -> float:
    """Return the share of rows with larger errors than 98% of the rows of the other sample.

    It is the larger share of two models: a random forest, and a linear model.
    """
    model = _model(other, name, features)
    errors = np.abs(model.predict(own) - numbers(own[name]).to_numpy())
    forest = float(np.mean(errors > np.quantile(model.errors, 0.98)))
    errors, others = (np.abs(each) for each in _linear_errors(own, other, name, features))
    return max(forest, float(np.mean(errors > np.nanquantile(others, 0.98))))


def _linear_errors(
    own: pd.DataFrame, other: pd.DataFrame, name: str, features: tuple[str, ...]
) -> list[np.ndarray]:
    """Return the errors of a linear model, fitted to the other sample, in both samples.

    Numbers that are positive in the other sample are replaced by their logarithms.
    """
    parts: list[list[np.ndarray]] = [[], []]
    for column in (name, *features):
        values = [numbers(t[column]).to_numpy(dtype=float) for t in (own, other)]
        if np.isnan(values[1]).all():
            continue
        low, middle = np.nanmin(values[1]), np.nanmedian(values[1])
        for part, each in zip(parts, values, strict=True):
            known = each if column == name else np.where(np.isnan(each), middle, each)
            part.append(np.log(np.maximum(known, low / 1000)) if low > 0 else known)
    target = parts[1][0]
    tables = [np.column_stack([np.ones(len(part[0])), *part[1:]]) for part in parts]
    rows = ~np.isnan(target)
    slopes = np.linalg.lstsq(tables[1][rows], target[rows], rcond=None)[0]
    return [part[0] - table @ slopes for part, table in zip(parts, tables, strict=True)]


def forget_models() -> None:
    """Forget the models of former cases."""
    _MODELS.clear()


def _row_repeated(case: Case, row: _RowClaim, m: re.Match[str]) -> Verdict:
    # Several values may be printed alike.
    own, other = (int((v == row.value).sum()) for v in (numbers(row.own[row.column]), row.others))
    stated = 0 if m["never"] == "never" else int(m["never"].split()[1])
    right = (own, other) == (int(m["k"]), stated)
    return TRUE if right else Verdict("false", f"{own} and {other} rows")


def _row_always(case: Case, row: _RowClaim, m: re.Match[str]) -> Verdict:
    ((name, value),) = _split_condition(case, m["g"])
    inside = row.other[is_value(row.other[name], value)][row.column].dropna()
    right = len(inside) >= 5 and is_value(inside, m["e"]).all()
    return TRUE if right else Verdict("false", f"{inside.nunique()} values in {len(inside)} rows")


_U = rf"(?P<u>(?:{DATE}|{NUMBER}) to (?:{DATE}|{NUMBER})|not repeated|.+)"
_ROW_CHECKS: list[tuple[str, Callable[[Case, _RowClaim, re.Match[str]], Verdict]]] = [
    (rf"(?P<v>{DATE}|{NUMBER}), usually {_U}", _row_usual),
    (rf"(?P<v>{DATE}|{NUMBER}) (?P<how>for|at) (?P<g>.+), usually {_U}", _row_given),
    (rf"(?P<v>{DATE}|{NUMBER}), expected {_U} from (?P<g>.+)", _row_expected),
    (rf"(?P<v>{DATE}|{NUMBER}) in (?P<k>\d+) rows, (?P<never>never|only \d+ times) in the other "
     r"sample", _row_repeated),
    (r"(?P<v>.+), but always (?P<e>.+) for (?P<g>.+)", _row_always),
]  # fmt: skip
