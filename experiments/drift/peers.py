"""evidently, alibi-detect and pandera, whose requirements conflict with ours, in one environment.

Run with the Python of that environment (`make drift` creates it):

    .venv-peers/bin/python -m experiments.drift.peers --out out/drift
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from experiments.drift.study import evaluate, main, select
from experiments.drift.tools import ALPHA, MAX_CATEGORIES, Answer, Tool, encode, timed
from experiments.tables.sources import numeric_columns
from experiments.tables.study import Pair

#: Maximum number of rows of both tables for MMD, whose time grows with the square of this number:
#: 15 seconds for 1,461 rows.
MMD_ROWS = 1000


def _categories(X: Any) -> list[str]:
    """Return the columns of strings or booleans with at most 50 values."""
    numbers = set(numeric_columns(X))
    return [
        name
        for name in X.columns
        if name not in numbers and X[name].dtype.kind != "M" and X[name].nunique() <= MAX_CATEGORIES
    ]


def _evidently_run(metrics: list[Any], X: Any, Y: Any, **options: Any) -> dict[str, Any]:
    """Run evidently on the numeric columns and categories of two tables, with `metrics`.

    Other strings are left out: evidently trains a classifier for each such column, which takes 14
    seconds per pair of tables. Columns that are empty in one sample are left out, because they are
    an error of the preset.
    """
    from evidently import DataDefinition, Dataset, Report

    filled = [name for name in X if X[name].notna().any() and Y[name].notna().any()]
    numbers = [name for name in numeric_columns(X) if name in filled]
    categories = [name for name in _categories(X) if name in filled]
    definition = DataDefinition(numerical_columns=numbers, categorical_columns=categories)
    x, y = (
        Dataset.from_pandas(frame[numbers + categories], data_definition=definition)
        for frame in (X, Y)
    )
    return Report(metrics, **options).run(current_data=y, reference_data=x).dict()


def _preset(X: Any, Y: Any, seed: int) -> tuple[bool, list[str]]:
    """Run the drift preset of evidently: return whether the table drifts, and the drifted columns.

    The options of the preset have their defaults. `seed` is not used.
    """
    from evidently.presets import DataDriftPreset

    scores, table_drift = {}, False
    for metric in _evidently_run([DataDriftPreset()], X, Y)["metrics"]:
        config, value = metric["config"], metric["value"]
        if "drift_share" in config:
            table_drift = value["share"] >= config["drift_share"]
            continue
        # The preset selects a method per column; its score is a p-value or a distance.
        pvalue, threshold = "p_value" in config["method"], config["threshold"]
        drifts = value < threshold if pvalue else value >= threshold
        if drifts:
            scores[config["column"]] = value / threshold if pvalue else -value / threshold
    return bool(table_drift), sorted(scores, key=lambda name: scores[name])


class _Evidently:
    """Both decisions of evidently about a pair of tables, from one run of its preset.

    It detects drift of the table if at least half of the columns drift.
    """

    def __init__(self) -> None:
        self._tables: tuple[Any, Any] | None = None
        self._answer: Answer | None = None

    def table(self, X: Any, Y: Any, seed: int) -> Answer:
        """Return the decision about drift of the table."""
        if self._answer is None or self._tables is None or self._tables[1] is not Y:
            self._answer = None
            self._tables, self._answer = (X, Y), timed(_preset)(X, Y, seed)
        return self._answer

    def any_column(self, X: Any, Y: Any, seed: int) -> Answer:
        """Return the decision about drift of any column."""
        answer = self.table(X, Y, seed)
        return answer._replace(detected=bool(answer.columns))


def _quality(X: Any, Y: Any, seed: int) -> tuple[bool, list[str]]:
    """Test Y by the summary preset of evidently, whose limits are learned from X.

    Return whether any test fails, and the columns with failed tests, most tests first.
    """
    from evidently.presets import DataSummaryPreset

    tests = _evidently_run([DataSummaryPreset()], X, Y, include_tests=True)["tests"]
    failed = [test for test in tests if "FAIL" in str(test["status"])]
    columns = Counter(test["metric_config"]["params"].get("column") for test in failed)
    return bool(failed), [name for name, _ in columns.most_common() if name is not None]


def alibi_pvalues(X: Any, Y: Any) -> dict[str, float]:
    """Return the p-values of Kolmogorov-Smirnov and chi-squared tests per column."""
    import numpy as np
    from alibi_detect.cd import TabularDrift

    numbers, categories = numeric_columns(X), _categories(X)
    names = numbers + categories
    x, y = (
        np.column_stack(
            [frame[name] if name in numbers else frame[name].astype(str) for name in names]
        ).astype(object)
        for frame in (X, Y)
    )
    # The detector does not accept missing values; rows that have any are dropped.
    x, y = (rows[[not any(v != v for v in row) for row in rows]] for rows in (x, y))
    known = {j: None for j, name in enumerate(names) if name not in numbers}
    answer = TabularDrift(x, p_val=ALPHA, categories_per_feature=known).predict(y)["data"]
    return dict(zip(names, map(float, answer["p_val"]), strict=True))


def _tabular(X: Any, Y: Any, seed: int) -> tuple[bool, list[str]]:
    """Test every column with alibi-detect, with Bonferroni's correction at the level 5%.

    Return whether any column is significant, and the significant columns. `seed` is not used.
    """
    pvalues = alibi_pvalues(X, Y)
    order = sorted(pvalues, key=lambda name: pvalues[name])
    named = [name for name in order if pvalues[name] < ALPHA / len(pvalues)]
    return bool(named), named


def _mmd(X: Any, Y: Any, seed: int) -> tuple[bool, None]:
    from alibi_detect.cd import MMDDrift

    if len(X) + len(Y) > MMD_ROWS:
        raise NotImplementedError(f"not run for more than {MMD_ROWS} rows")
    x, y = (rows.astype("float32") for rows in encode(X, Y))
    answer = MMDDrift(x, backend="pytorch", p_val=ALPHA).predict(y)["data"]
    return bool(answer["is_drift"]), None


def learned_schema(X: Any) -> Any:
    """Return a schema of pandera with rules learned from X.

    Numbers lie in the range of X, widened by half of its length at both ends. Categories are those
    of X, if X has no category with fewer than five rows. The fraction of missing values is at most
    that of X plus 0.05. Rows are unique if those of X are. The limits are wide, because the range
    and the rare categories of a second random half differ from those of the first.
    """
    import pandera.pandas as pa

    columns = {}
    for name in X.columns:
        values, most = X[name], float(X[name].isna().mean()) + 0.05
        checks = [pa.Check(lambda v, most=most: v.isna().mean() <= most, ignore_na=False)]
        if name in numeric_columns(X) and values.notna().any():
            low, high = float(values.min()), float(values.max())
            margin = (high - low) / 2
            checks.append(pa.Check.in_range(low - margin, high + margin))
        elif name in _categories(X) and values.value_counts().min() >= 5:
            checks.append(pa.Check.isin(list(values.dropna().unique())))
        columns[name] = pa.Column(nullable=True, checks=checks)
    unique = None if X.duplicated().any() else list(X.columns)
    return pa.DataFrameSchema(columns, unique=unique)


def _schema(X: Any, Y: Any, seed: int) -> tuple[bool, list[str]]:
    from pandera.errors import SchemaErrors

    try:
        learned_schema(X).validate(Y, lazy=True)
    except SchemaErrors as error:
        cases = error.failure_cases
        named = cases.loc[cases["schema_context"] == "Column", "column"]
        return True, list(Counter(named).keys())
    return False, []


_EVIDENTLY = _Evidently()
TOOLS: dict[str, Tool] = {
    "evidently, data set": _EVIDENTLY.table,
    "evidently, any column": _EVIDENTLY.any_column,
    "evidently, quality tests": timed(_quality),
    "alibi-detect, KS / chi-squared": timed(_tabular),
    "alibi-detect, MMD": timed(_mmd),
    "pandera, learned rules": timed(_schema),
}


def evaluate_peers(pair: Pair, names: Sequence[str]) -> list[dict[str, Any]]:
    """Run the tools of this environment on one comparison; return their results, one dict per tool.

    Only tools whose names start with one of `names` are run.
    """
    return evaluate(pair, select(TOOLS, names))


if __name__ == "__main__":
    # Imported by its name, so that processes can find the function.
    from experiments.drift import peers

    raise SystemExit(main(name="peers", function=peers.evaluate_peers))
