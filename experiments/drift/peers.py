"""evidently and alibi-detect, whose requirements conflict with ours, in their own environment.

Run with the Python of that environment (`make drift-peers` creates it):

    .venv-peers/bin/python -m experiments.drift.peers --splits 40 --out out/drift
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from experiments.drift.study import main
from experiments.drift.tools import ALPHA, Answer, encode, timed

#: Its time grows with the square of the number of rows: 15 seconds for 1,461 rows.
MMD_ROWS = 1000


@lru_cache(maxsize=1)
def _preset(pair: _Pair) -> tuple[bool, str | None]:
    """Run the drift preset with its defaults: drift of the table, and the first drifted column."""
    from evidently import Report
    from evidently.presets import DataDriftPreset

    snapshot = Report([DataDriftPreset()]).run(current_data=pair.Y, reference_data=pair.X).dict()
    scores, table_drift = {}, False
    for metric in snapshot["metrics"]:
        config, value = metric["config"], metric["value"]
        if "drift_share" in config:
            table_drift = value["share"] >= config["drift_share"]
            continue
        # The score is a p-value or a distance, by the method that the preset has chosen.
        pvalue, threshold = "p_value" in config["method"], config["threshold"]
        drifts = value < threshold if pvalue else value >= threshold
        if drifts:
            scores[config["column"]] = value / threshold if pvalue else -value / threshold
    return bool(table_drift), min(scores, key=lambda name: scores[name]) if scores else None


class _Pair:
    """Two frames, compared by identity, so that one run of the preset serves two tools."""

    def __init__(self, X: Any, Y: Any) -> None:
        self.X, self.Y = X, Y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pair) and self.X is other.X and self.Y is other.Y

    def __hash__(self) -> int:
        return hash((id(self.X), id(self.Y)))


def _evidently(X: Any, Y: Any, seed: int) -> Any:
    """Detect drift of the table: at least half of its columns drift."""
    return *_preset(_Pair(X, Y)), None


def _any_column_of_evidently(X: Any, Y: Any, seed: int) -> Any:
    """Detect drift of any column."""
    _, first = _preset(_Pair(X, Y))
    return first is not None, first, None


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
    found = TabularDrift(x, p_val=ALPHA, categories_per_feature=categories).predict(y)["data"]
    first = names[int(np.argmin(found["p_val"]))]
    return bool(found["is_drift"]), first if found["is_drift"] else None, None


def _mmd(X: Any, Y: Any, seed: int) -> Any:
    from alibi_detect.cd import MMDDrift

    if len(X) + len(Y) > MMD_ROWS:
        raise NotImplementedError(f"not run for more than {MMD_ROWS} rows")
    x, y = (rows.astype("float32") for rows in encode(X, Y))
    found = MMDDrift(x, backend="pytorch", p_val=ALPHA).predict(y)["data"]
    return bool(found["is_drift"]), None, None


def available() -> dict[str, Callable[[Any, Any, int], Answer]]:
    """Return the tools whose packages are installed here."""
    tools: dict[str, Any] = {}
    if importlib.util.find_spec("evidently"):
        tools["evidently, data set"] = timed(_evidently)
        tools["evidently, any column"] = timed(_any_column_of_evidently)
    if importlib.util.find_spec("alibi_detect"):
        tools["alibi-detect, KS / chi-squared"] = timed(_tabular)
        tools["alibi-detect, MMD"] = timed(_mmd)
    return tools


if __name__ == "__main__":
    raise SystemExit(main(tools=available()))
