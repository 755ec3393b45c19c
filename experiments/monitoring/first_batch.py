"""Changes of a few rows in the first batch: fractions of alarms and of right explanations.

Run with ``python -m experiments.monitoring.first_batch``. The reference has 10,000 rows of four
independent columns (normal, exponential, prices with two decimals, and one of five categories). The
first batch of 500 rows has one change.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from isodepth import Monitor

REFERENCE, BATCH = 10_000, 500
#: Kind of `Change` that each change must be named by.
KINDS = {
    "values x1000 in 3% of the rows": "extremes",
    "-9999 in 8%": "value",
    "-9999 in 2%": "value",
    "rounded to whole numbers": "precision",
    "missing in 5%": "missing",
    "30% of the rows are copies of other rows": "repeated",
    "new category in 3%": "shares",
}


def table(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return n rows without a change."""
    return pd.DataFrame({
        "temperature": rng.normal(15.0, 8.0, n),
        "wind": rng.exponential(5.0, n),
        "price": np.round(np.exp(rng.normal(3.0, 1.0, n)), 2),
        "grade": rng.choice(list("ABCDE"), n),
    })  # fmt: skip


def changes() -> dict[str, Callable[[pd.DataFrame, Any], pd.DataFrame]]:
    """Return the changes by name: functions of a batch and of its row indices in random order."""

    def some(rows: pd.DataFrame, order: Any, share: float, column: str, value: Any) -> pd.DataFrame:
        changed = rows.copy()
        index = order[: round(share * len(rows))]
        changed.loc[index, column] = value(rows.loc[index, column]) if callable(value) else value
        return changed

    def copied(rows: pd.DataFrame, order: Any) -> pd.DataFrame:
        changed, n = rows.copy(), round(0.3 * len(rows))
        changed.loc[order[:n]] = rows.loc[order[-n:]].to_numpy()
        return changed.astype(rows.dtypes)

    return dict(zip(KINDS, (
        lambda rows, order: some(rows, order, 0.03, "wind", lambda v: 1000 * v),
        lambda rows, order: some(rows, order, 0.08, "temperature", -9999.0),
        lambda rows, order: some(rows, order, 0.02, "temperature", -9999.0),
        lambda rows, order: rows.assign(price=np.round(rows["price"])),
        lambda rows, order: some(rows, order, 0.05, "wind", np.nan),
        lambda rows, order: copied(rows, order),
        lambda rows, order: some(rows, order, 0.03, "grade", "G"),
    ), strict=True))  # fmt: skip


def main() -> None:
    """Print one line per change, with an example.

    A line has the fractions of alarms, and of alarms that name the right column and change.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--streams", type=int, default=100)
    streams = parser.parse_args().streams
    alarms, named, examples = Counter[str](), Counter[str](), {}
    for stream in range(streams):
        rng = np.random.default_rng([stream, 44])
        reference = table(REFERENCE, rng)
        for name, change in changes().items():
            monitor = Monitor(reference, random_state=stream)
            rows = table(BATCH, rng)
            verdict = monitor.check(change(rows, rng.permutation(BATCH)))
            alarms[name] += verdict.alarm
            if verdict.changes:
                named[name] += verdict.changes[0].kind == KINDS[name]
                examples.setdefault(name, verdict.changes[0].text)
    for name in KINDS:
        print(f"{name:45} {alarms[name]:4} {named[name]:4} of {streams}  {examples.get(name)}")


if __name__ == "__main__":
    main()
