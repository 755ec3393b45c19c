"""evidently and alibi-detect, whose requirements conflict with ours, in their own environment.

Run with the Python of that environment (`make drift-peers` creates it):

    .venv-peers/bin/python -m experiments.drift.peers --splits 40 --out out/drift
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

from experiments.drift.study import main
from experiments.drift.tools import ALPHA, Answer, encode, timed

#: Maximum number of rows of both tables for MMD, whose time grows with the square of this number:
#: 15 seconds for 1,461 rows.
MMD_ROWS = 1000


def _preset(X: Any, Y: Any, seed: int) -> tuple[bool, str | None, None]:
    """Run the drift preset with its defaults: drift of the table, and the first drifted column."""
    from evidently import Report
    from evidently.presets import DataDriftPreset

    snapshot = Report([DataDriftPreset()]).run(current_data=Y, reference_data=X).dict()
    scores, table_drift = {}, False
    for metric in snapshot["metrics"]:
        config, value = metric["config"], metric["value"]
        if "drift_share" in config:
            table_drift = value["share"] >= config["drift_share"]
            continue
        # The preset selects a method per column; its score is a p-value or a distance.
        pvalue, threshold = "p_value" in config["method"], config["threshold"]
        drifts = value < threshold if pvalue else value >= threshold
        if drifts:
            scores[config["column"]] = value / threshold if pvalue else -value / threshold
    first = min(scores, key=lambda name: scores[name]) if scores else None
    return bool(table_drift), first, None


class _Evidently:
    """Both decisions of evidently about a pair of tables, from one run of its preset.

    It detects drift of the table if at least half of the columns drift.
    """

    def __init__(self) -> None:
        self._tables: tuple[Any, Any] | None = None
        self._answer: Answer | None = None

    def table(self, X: Any, Y: Any, seed: int) -> Answer:
        """Detect drift of the table."""
        if self._answer is None or self._tables is None or self._tables[1] is not Y:
            self._tables, self._answer = (X, Y), timed(_preset)(X, Y, seed)
        return self._answer

    def any_column(self, X: Any, Y: Any, seed: int) -> Answer:
        """Detect drift of any column."""
        answer = self.table(X, Y, seed)
        return answer._replace(detected=answer.column is not None)


def _tabular(X: Any, Y: Any, seed: int) -> Any:
    """Run Kolmogorov-Smirnov and chi-squared tests per column with Bonferroni."""
    import numpy as np
    from alibi_detect.cd import TabularDrift

    names = list(X.columns)
    numeric = set(X.select_dtypes("number").columns)
    x, y = (
        frame[names].apply(lambda c: c if c.name in numeric else c.astype(str)).to_numpy(object)
        for frame in (X, Y)
    )
    # The detector does not accept missing values; rows that have any are dropped.
    x, y = (rows[[not any(v != v for v in row) for row in rows]] for rows in (x, y))
    categories = {j: None for j, name in enumerate(names) if name not in numeric}
    answer = TabularDrift(x, p_val=ALPHA, categories_per_feature=categories).predict(y)["data"]
    first = names[int(np.argmin(answer["p_val"]))]
    return bool(answer["is_drift"]), first if answer["is_drift"] else None, None


def _mmd(X: Any, Y: Any, seed: int) -> Any:
    from alibi_detect.cd import MMDDrift

    if len(X) + len(Y) > MMD_ROWS:
        raise NotImplementedError(f"not run for more than {MMD_ROWS} rows")
    x, y = (rows.astype("float32") for rows in encode(X, Y))
    answer = MMDDrift(x, backend="pytorch", p_val=ALPHA).predict(y)["data"]
    return bool(answer["is_drift"]), None, None


def available() -> dict[str, Callable[[Any, Any, int], Answer]]:
    """Return the tools whose packages are installed here."""
    tools: dict[str, Any] = {}
    if importlib.util.find_spec("evidently"):
        evidently = _Evidently()
        tools["evidently, data set"] = evidently.table
        tools["evidently, any column"] = evidently.any_column
    if importlib.util.find_spec("alibi_detect"):
        tools["alibi-detect, KS / chi-squared"] = timed(_tabular)
        tools["alibi-detect, MMD"] = timed(_mmd)
    return tools


if __name__ == "__main__":
    raise SystemExit(main(tools=available()))
