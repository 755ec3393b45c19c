"""Tools with requirements that conflict with ours: evidently and alibi-detect, in their own environment.

Run with the Python of that environment (`make drift-peers` creates it):

    .venv-peers/bin/python -m experiments.drift.peers --splits 40 --out out/drift
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

from experiments.drift.study import main
from experiments.drift.tools import ALPHA, Answer, encode, timed


def _evidently(X: Any, Y: Any, seed: int) -> Any:
    """Run the drift preset with its defaults; drift of the data set if half of the columns drift."""
    from evidently import Report
    from evidently.presets import DataDriftPreset

    snapshot = Report([DataDriftPreset()]).run(current_data=Y, reference_data=X).dict()
    drifted, scores = [], {}
    for metric in snapshot["metrics"]:
        config, value = metric["config"], metric["value"]
        if "drift_share" in config:
            detected = value["share"] >= config["drift_share"]
        elif "column" in config:
            # The score is a p-value or a distance, by the method that the preset has chosen.
            threshold, method = config.get("threshold"), config.get("method") or ""
            is_pvalue = "p_value" in method
            limit = threshold if threshold is not None else (ALPHA if is_pvalue else 0.1)
            score = float(value)
            if score < limit if is_pvalue else score >= limit:
                drifted.append(config["column"])
                scores[config["column"]] = score / limit if is_pvalue else -score / limit
    first = min(drifted, key=lambda name: scores[name]) if drifted else None
    return detected, first, None


def _any_column_of_evidently(X: Any, Y: Any, seed: int) -> Any:
    """The same preset, counted as a detection if any column drifts."""
    _, first, rows = _evidently(X, Y, seed)
    return first is not None, first, rows


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

    x, y = (rows.astype("float32") for rows in encode(X, Y))
    found = MMDDrift(x, backend="pytorch", p_val=ALPHA, n_permutations=199).predict(y)["data"]
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
