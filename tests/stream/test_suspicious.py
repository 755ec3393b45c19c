"""Suspicious rows of samples that are read in chunks, with the files of the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stream.tables import mixed_frame, scanned

import isodepth
from isodepth import scan
from isodepth.rows.suspicious import search

OPTIONS = {"random_state": 0, "n_permutations": 19}


def frames(n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    columns = ["size", "count", "site", "price"]
    x, y = mixed_frame(n, 1)[columns], mixed_frame(n, 2)[columns]
    y.loc[n // 2, "size"] = 60.0
    y.loc[n - 1, "count"] = -9999
    x.loc[7, "site"] = "only here"
    return x, y


@pytest.mark.parametrize("form", ["frames", "parquet", "csv", "dask"])
def test_all_rows_as_in_memory(form: str, tmp_path: Path) -> None:
    pytest.importorskip("dask" if form == "dask" else "pandas")
    x, y = frames(300)
    sources = scanned(form, x, tmp_path / "x"), scanned(form, y, tmp_path / "y")
    expected = isodepth.two_sample_test(x, y, **OPTIONS).suspicious_rows()
    found = isodepth.two_sample_test(*sources, **OPTIONS).suspicious_rows()
    assert len(found) >= 2
    assert [replace(row, file=None, file_row=None) for row in found] == [*expected]
    assert found.one_sided_values == expected.one_sided_values
    if form == "parquet":
        row = next(row for row in found if row.row == 150)
        assert row._text("Y") == f"{tmp_path / 'y' / '2.parquet'}, row 50: {row.text}"


@pytest.mark.parametrize("form", ["frames", "parquet", "dask"])
@pytest.mark.usefixtures("without_pictures")
def test_rows_that_were_not_tested_are_scored(form: str, tmp_path: Path) -> None:
    pytest.importorskip("dask" if form == "dask" else "pandas")
    x, y = frames(3000)
    sources = scanned(form, x, tmp_path / "x"), scanned(form, y, tmp_path / "y")
    result = isodepth.two_sample_test(*sources, max_rows=500, **OPTIONS)
    found = result.suspicious_rows()
    assert {1500, 2999} <= {*found.indices("Y").tolist()}
    assert len(found) <= 10
    row = next(row for row in found if row.row == 1500)
    assert (row.column, row.value) == ("size", 60.0)
    assert [(each.column, each.value, each.count, each.row) for each in found.one_sided_values] == [
        ("site", "only here", 1, 7)
    ]
    result.report(tmp_path / "report.html")
    assert "60" in (tmp_path / "report.html").read_text()
    grid = {"levels": 5, "refine": 0, "n_directions": 9, "random_state": 0}
    compared = isodepth.compare(*sources, nan_policy="omit", **grid)
    assert {1500, 2999} <= {*compared.suspicious_rows().indices("Y").tolist()}


def test_chunks_do_not_matter() -> None:
    x, y = frames(3000)
    lists = [
        isodepth.two_sample_test(
            scan(x), scan(y, chunk_rows=rows), max_rows=500, **OPTIONS
        ).suspicious_rows()
        for rows in (None, 100)
    ]
    assert lists[0].rows == lists[1].rows


def test_the_number_of_listed_rows_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_MOST_ROWS", 3)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 4000, 2))
    y[::100, 0] = 50 + np.arange(40)
    result = isodepth.two_sample_test(scan(x), scan(y), max_rows=800, **OPTIONS)
    found = result.suspicious_rows()
    assert [row.value for row in found if row.sample == "Y"] == [89.0, 88.0, 87.0]
    assert found.n_unlisted[1] >= 37
    assert "40 suspicious rows in Y" in found._summary()


def test_listed_rows_do_not_keep_their_chunks() -> None:
    x, y = frames(3000)
    result = isodepth.two_sample_test(scan(x), scan(y), max_rows=500, **OPTIONS)
    points = result.suspicious_rows()._points
    assert points
    assert all(point.base is None for point in points.values())


def test_pairs_of_categories_are_searched_among_random_rows() -> None:
    """A note says that contradictory pairs of categories were searched among random rows only.

    It occurs if the table has over `max_rows` rows.
    """
    x, y = (mixed_frame(900, seed)[["size", "site"]] for seed in (1, 2))
    x["zone"], y["zone"] = x["site"], y["site"]
    for rows, said in ((300, True), (900, False)):
        result = isodepth.two_sample_test(scan(x), scan(y), max_rows=rows, **OPTIONS)
        notes = result.suspicious_rows()._notes(("June", "July"))
        assert [note[:72] for note in notes] == [
            "Pairs of categories that contradict each other were searched among 300 r"
        ] * said
