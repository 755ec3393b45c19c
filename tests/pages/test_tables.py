"""Tables of results have the columns that the page "JSON" lists."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import isodepth
from isodepth.base.export import ResultMixin
from isodepth.text import Scores

PAGE = Path(__file__).parents[2] / "docs" / "json.md"


def listed() -> dict[str, list[str]]:
    section = PAGE.read_text("utf-8").split("## Tables\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| [^|]+ \| ([^|]+) \|$", section, re.MULTILINE)
    return {name.split(".")[-1]: re.findall(r"`(\w+)`", columns) for name, columns in rows}


def results() -> list[ResultMixin]:
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2))
    y[:, 1] += 2
    options = {"n_permutations": 39, "random_state": 0}
    comparison = isodepth.compare(x, y, random_state=0)
    monitor = isodepth.Monitor(x, random_state=0)
    return [
        comparison, isodepth.two_sample_test(x, y, **options), comparison.largest_gap,
        comparison.chance_level(3), comparison.suspicious_rows(), comparison.typical_rows(),
        Scores(values=[0.5]),
        isodepth.pairwise_test({"a": x, "b": y}, **options), monitor.check(y), monitor,
    ]  # fmt: skip


def test_columns_of_tables_are_those_of_the_page() -> None:
    pytest.importorskip("pandas")
    tables = listed()
    for result in results():
        name = type(result).__name__
        columns = tables.pop(name)
        if name == "SuspiciousRows":
            columns = [each for each in columns if not each.startswith("file")]
        if name == "Verdict":
            assert columns == ["text", "columns"]
            assert {*columns} < {*result.to_frame().columns}
            continue
        assert list(result.to_frame().columns) == columns, name
    assert set(tables) == {"DistanceMatrix"}
