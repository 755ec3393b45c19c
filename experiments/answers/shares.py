"""Bound on changed rows in twenty real comparisons, with the scores of other tools.

    python -m experiments.answers.shares > out/shares.jsonl
    .venv-peers/bin/python -m experiments.answers.shares --peers > out/shares-peers.jsonl

The tables are every second of the first 40 tables of the report set. Their changes are those of
`experiments.tables`, in turn. There is one JSON line per comparison.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from experiments.tables.changes import CHANGES
from experiments.tables.sources import REPORT
from experiments.tables.study import Pair, make

MAX_ROWS = 1000


def comparisons() -> list[tuple[Pair, Any]]:
    """Return twenty comparisons: a table with a change, and its two samples.

    A comparison is a `Pair` with the result of `make`. If a change is impossible in a table, the
    next change is used.
    """
    found = []
    names = list(CHANGES)
    for number, table in enumerate(REPORT[:40:2]):
        for name in [*names[number % len(names) :], *names]:
            pair = Pair(table, name, False, 0)
            made = make(pair, MAX_ROWS)
            if made is not None:
                found.append((pair, made))
                break
    return found


def ours(x: Any, y: Any) -> dict[str, Any]:
    """Compare two samples with isodepth.

    Return the p-value, the lower bound for the share of changed rows (`changed_share`), and the
    headline.
    """
    import isodepth

    result = isodepth.two_sample_test(x, y, n_permutations=999, random_state=0)
    return {
        "pvalue": float(result.pvalue), "changed_share": float(result.changed_share),
        "headline": result.headline,
    }  # fmt: skip


def peers(x: Any, y: Any) -> dict[str, Any]:
    """Return the largest score of evidently with its method, and the smallest p-value of alibi."""
    from evidently.presets import DataDriftPreset

    from experiments.drift.peers import _evidently_run, alibi_pvalues

    scores, share = [], 0.0
    for metric in _evidently_run([DataDriftPreset()], x, y)["metrics"]:
        config, value = metric["config"], metric["value"]
        if "drift_share" in config:
            share = value["share"]
            continue
        pvalue = "p_value" in config["method"]
        order = config["threshold"] / max(value, 1e-300) if pvalue else value / config["threshold"]
        scores.append((order, config["column"], config["method"], float(value)))
    _, column, method, value = max(scores)
    pvalues = alibi_pvalues(x, y)
    first = min(pvalues, key=lambda name: pvalues[name])
    return {
        "evidently": f"{column}: {method} {value:.3g}", "drifted": float(share),
        "alibi": f"{first}: p = {pvalues[first]:.2g}", "significant": pvalues[first] * len(pvalues),
    }  # fmt: skip


def main() -> int:
    """Print one JSON line per comparison."""
    warnings.simplefilter("ignore")
    for pair, (x, y, changed) in comparisons():
        line = {"table": pair.table, "change": pair.change, "columns": changed.columns, "n": len(y)}
        answer = peers(x, y) if "--peers" in sys.argv else ours(x, y)
        print(json.dumps(line | {"detail": changed.detail} | answer), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
