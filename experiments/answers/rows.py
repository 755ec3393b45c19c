"""Suspicious rows: fractions of wrong rows that are listed, and of listed rows that are correct.

`python -m experiments.answers.rows` takes about three minutes.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from experiments.answers.changes import change
from experiments.answers.tables import HELD_OUT, TABLES, halves, load
from isodepth.suspicious import suspicious_rows
from isodepth.two_samples import TwoSamples


def one_split(name: str, seed: int) -> dict[str, float]:
    """Return the fractions of wrong rows that are listed, and of listed rows that are correct."""
    table = load(name)
    x, y = halves(table, seed)
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


def _recall(rows: Any, wrong: np.ndarray) -> float:
    return float(wrong[rows.indices("Y")].sum() / wrong.sum()) if wrong.any() else np.nan


def main() -> None:
    """Print mean and worst split per table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--tables", nargs="*", default=TABLES + HELD_OUT)
    options = parser.parse_args()
    for name in options.tables:
        splits = [one_split(name, seed) for seed in range(options.splits)]
        cells = []
        for key in splits[0]:
            values = np.array([split[key] for split in splits])
            values = values[~np.isnan(values)]
            if len(values):
                worst = values.max() if key == "clean" or "false" in key else values.min()
                cells.append(f"{key} {values.mean():.3f} ({worst:.3f})")
        print(f"{name:14s}", "; ".join(cells), flush=True)


if __name__ == "__main__":
    main()
