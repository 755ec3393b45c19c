"""Suspicious rows: how many wrong rows are found, and how many correct rows are listed.

`python -m experiments.answers.rows` takes about two minutes.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from experiments.answers.changes import change
from experiments.answers.tables import TABLES, halves, load
from isodepth.suspicious import suspicious_rows
from isodepth.two_samples import TwoSamples


def one_split(name: str, seed: int) -> dict[str, float]:
    """Return the fractions found and listed for one split of a table."""
    table = load(name)
    x, y = halves(table, seed)
    found: dict[str, float] = {}
    clean = suspicious_rows(TwoSamples.read(x, y))
    found["clean"] = len(clean) / (len(x) + len(y))
    for kind in ("sentinel", "units"):
        made = change(kind, table, y, seed)
        rows = suspicious_rows(TwoSamples.read(x, made.frame))
        wrong = made.rows
        if kind == "units":
            column = table.units[0]
            values, known = made.frame[column].to_numpy(), x[column]
            outside = wrong & ((values < known.min()) | (values > known.max()))
            inside = wrong & ~outside
            found["units outside"] = _recall(rows, outside)
            found["units inside"] = _recall(rows, inside)
        else:
            found[kind] = _recall(rows, wrong)
        false = len(rows) - wrong[rows.indices("Y")].sum()
        found[f"{kind} false"] = false / max(len(rows), 1)
    return found


def _recall(rows: Any, wrong: np.ndarray) -> float:
    return float(wrong[rows.indices("Y")].sum() / wrong.sum()) if wrong.any() else np.nan


def study(n_splits: int) -> dict[str, list[dict[str, float]]]:
    """Run all tables."""
    return {name: [one_split(name, seed) for seed in range(n_splits)] for name in TABLES}


def main() -> None:
    """Print mean and worst split per table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    for name, splits in study(parser.parse_args().splits).items():
        parts = []
        for key in splits[0]:
            values = np.array([split[key] for split in splits])
            values = values[~np.isnan(values)]
            if len(values):
                worst = (
                    values.max()
                    if key in ("clean", "sentinel false", "units false")
                    else values.min()
                )
                parts.append(f"{key} {values.mean():.3f} ({worst:.3f})")
        print(f"{name:14s}", "; ".join(parts), flush=True)


if __name__ == "__main__":
    main()
