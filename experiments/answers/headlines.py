"""Fraction of clean halves of real tables for which the headline of a test names wrong rows.

`python -m experiments.answers.headlines` takes about two minutes. It reads all tables that
`experiments.tables.sources` finds with 60 to 20,000 rows, 2 to 40 columns, and a numeric column
with more than eight distinct values. Two random halves have at most 500 rows each. The headline
names values far beyond any extrapolation, and repeated values of at least 1% of the rows.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.tables.sources import candidates, numeric_columns, read
from isodepth.errors import ColumnWarning, InvalidInputError
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import repeated_values
from isodepth.rows.suspicious.far import far_texts, find_far_values
from isodepth.rows.suspicious.results import repeated_texts, split_repeated

MAX_ROWS = 500


def tables() -> Iterator[tuple[str, Any]]:
    """Yield the names and tables, each table once."""
    seen = set()
    for name in sorted(set(candidates())):
        try:
            frame = read(name)
        except (ValueError, OSError, KeyError, AttributeError):
            continue
        key = len(frame), frozenset(map(str.lower, frame.columns))
        sized = 60 <= len(frame) <= 20_000 and 2 <= frame.shape[1] <= 40
        varies = any(frame[column].nunique() > 8 for column in numeric_columns(frame))
        if sized and varies and key not in seen:
            seen.add(key)
            yield name, frame


def main() -> None:
    """Print the rows that headlines name, and the fractions of pairs with such rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ColumnWarning)
    n_pairs = n_far = n_repeated = 0
    for name, frame in tables():
        for seed in range(options.splits):
            order = np.random.default_rng([77, seed]).permutation(len(frame))[: 2 * MAX_ROWS]
            x, y = (
                frame.iloc[rows].reset_index(drop=True)
                for rows in np.split(order, [len(order) // 2])
            )
            try:
                samples = TwoSamples.read(x, y)
            except InvalidInputError as error:
                print(name, error)
                continue
            found = repeated_values(samples)
            wrong = [each for each in split_repeated(found)[0] if each.share >= 0.01]
            far = find_far_values(samples, found)
            n_pairs, n_far, n_repeated = n_pairs + 1, n_far + bool(far), n_repeated + bool(wrong)
            for text in far_texts(far, ("X", "Y")) + repeated_texts(wrong, ("X", "Y")):
                print(name, seed, text)
    print(f"{n_pairs} pairs; far values {n_far / n_pairs:.2%}; repeated {n_repeated / n_pairs:.2%}")


if __name__ == "__main__":
    main()
