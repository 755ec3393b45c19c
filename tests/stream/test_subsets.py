"""Random rows of sources, and numbers of rows with a property, counted over all rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from stream.tables import FORMS, mixed_frame, scanned

import isodepth
from isodepth import scan
from isodepth.base.fold import Fold
from isodepth.errors import InvalidInputError
from isodepth.stream.passes import DaskRunner, FrameReading, Runner
from isodepth.stream.subsets import CountFold, MixedRows, random_rows, subset_pair
from isodepth.table.raw import RawChunk

X, Y = mixed_frame(300, 1), mixed_frame(240, 2, 0.5)


def drawn(source: Any, size: int, seed: int = 0, runner: Runner | None = None) -> Any:
    return random_rows(source, labels=["X"], max_rows=size, seeds=[seed], runner=runner)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 50, 299, 300, 1000])
def test_rows_are_those_of_the_source(form: str, size: int, tmp_path: Path) -> None:
    pytest.importorskip(form if form in ("dask", "polars") else "pandas")
    subset = drawn(scanned(form, X, tmp_path / "x"), size)
    (table,), indices = subset.tables, subset.indices(0)
    assert subset.n_rows == (300,)
    assert len(table) == len(indices) == min(size, 300)
    assert subset.is_whole == (size >= 300)
    assert np.all(np.diff(indices) > 0)
    expected = X.iloc[indices]
    assert table.origin.raw["id"].to_pylist() == expected["id"].tolist()
    np.testing.assert_array_equal(table.column("size"), expected["size"])
    if size == 300:
        sites = expected["site"].astype(object).where(expected["site"].notna(), None).tolist()
        assert table.texts("site") == sites
    if form in ("parquet", "csv"):
        places = [table.origin.place(row) for row in range(len(table))]
        assert [100 * (Path(file).stem == "2") + row for file, row in places] == indices.tolist()


@pytest.mark.parametrize("form", ["parquet", "csv", "call"])
def test_chunks_do_not_matter(form: str, tmp_path: Path) -> None:
    expected = drawn(scanned(form, X, tmp_path / "a"), 80)
    for number, rows in enumerate((1, 7, 100)):
        other = drawn(scanned(form, X, tmp_path / f"{number}", chunk_rows=rows), 80)
        assert other.tables[0].origin.raw.equals(expected.tables[0].origin.raw)
        assert np.array_equal(other.indices(0), expected.indices(0))
    assert not np.array_equal(drawn(scan(X), 80, 1).indices(0), expected.indices(0))


def test_dask_draws_the_same_rows(tmp_path: Path) -> None:
    dd = pytest.importorskip("dask.dataframe")
    source = scanned("parquet", X, tmp_path / "x")
    expected = drawn(source, 80).tables[0].origin.raw
    assert drawn(source, 80, runner=DaskRunner()).tables[0].origin.raw.equals(expected)
    # One partition per file, as `dask.dataframe.read_parquet` makes them.
    files = sorted((tmp_path / "x").iterdir())
    frame = dd.concat([dd.from_pandas(pd.read_parquet(file), npartitions=1) for file in files])
    assert drawn(scan(frame), 80).tables[0].origin.raw.equals(expected)


def test_every_row_is_equally_likely() -> None:
    """Check how often each of 40 rows is drawn: a chi-squared test with 39 degrees of freedom."""
    source = scan([np.arange(13.0)[:, None], np.arange(13.0, 40.0)[:, None]])
    counts = np.zeros(40)
    for seed in range(400):
        counts[drawn(source, 10, seed).indices(0)] += 1
    # The count of a row has mean 100 and variance 75; the draws are negatively correlated.
    statistic = np.square(counts - 100).sum() / 75 * 39 / 40
    assert 15 < statistic < 75  # probability of other values: 1e-3


def test_pairs_as_in_memory(tmp_path: Path) -> None:
    x, y = scanned("parquet", X, tmp_path / "x"), scanned("csv", Y, tmp_path / "y")
    pair = subset_pair(x, y, random_state=0)
    assert pair.is_whole
    assert pair.n_rows == (300, 240)
    options: dict[str, Any] = {"random_state": 0, "n_permutations": 49}
    tested = isodepth.two_sample_test(x, y, **options)
    whole = isodepth.two_sample_test(X, Y, **options)
    assert (tested.pvalue, tested.statistic) == (whole.pvalue, whole.statistic)
    assert [str(each) for each in tested.changes] == [str(each) for each in whole.changes]
    few = subset_pair(x, y, 60, random_state=0)
    assert (len(few.x), len(few.y), few.n_rows, few.is_whole) == (60, 60, (300, 240), False)
    assert not np.array_equal(few.indices(0), few.indices(1))
    again = subset_pair(x, y, 60, random_state=0)
    assert again.x.equals(few.x)
    # A table without names gets the names of the other table.
    unnamed = subset_pair(scan(X[["size", "count"]]), Y[["size", "count"]].to_numpy())
    assert unnamed.y.column_names == ["size", "count"]


def test_columns_of_one_sample_are_left_out() -> None:
    pair = subset_pair(scan(X), scan(Y.rename(columns={"id": "key"})), kinds={"id": "category"})
    assert pair.only == (("id",), ("key",))
    assert pair.x.column_names == pair.y.column_names == [*X.columns.drop("id")]


def test_pairs_that_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="must not have weights"):
        subset_pair(scan(X, weights="count"), scan(X.drop(columns="count")))
    with pytest.raises(InvalidInputError, match="differently"):
        subset_pair(scan(X), scan(X.add_suffix("_2")))
    with pytest.raises(isodepth.errors.InvalidOptionError, match="max_rows"):
        subset_pair(scan(X), scan(X), 1)
    with pytest.raises(InvalidInputError, match="it has no row"):
        subset_pair(scan(X[:0]), scan(X))


class Functions:
    """Four events of a row, to be counted: "size" missing, count = 3, size > 1, site = "x"."""

    def __len__(self) -> int:
        return 4

    def counts(self, rows: MixedRows) -> np.ndarray:
        size, count = rows.numbers[:, 0], rows.numbers[:, 1]
        site = rows.codes[:, 0]
        functions = (np.isnan(size), count == 3, size > 1, site == 1)
        return np.array([np.count_nonzero(function) for function in functions])


@pytest.mark.parametrize("form", FORMS)
def test_counts_are_those_of_all_rows(form: str, tmp_path: Path) -> None:
    pytest.importorskip(form if form in ("dask", "polars") else "pandas")
    pair = subset_pair(scanned(form, X, tmp_path / "x"), scan(Y), 50, random_state=0)
    categories = [["y", "x"] if name == "site" else [] for name in pair.schema.category_names]
    numbers = pair.tables[0].origin.row_numbers(0)
    for excluded, rows in (
        (numbers[:0], X), (numbers, X.drop(index=X.index[pair.indices(0)])),
    ):  # fmt: skip
        found = pair.schema.run(CountFold(Functions(), categories, excluded), pair.sources[0])
        expected = [
            rows["size"].isna().sum(), (rows["count"] == 3).sum(), (rows["size"] > 1).sum(),
            (rows["site"] == "x").sum(),
        ]  # fmt: skip
        assert found.tolist() == expected


@pytest.mark.parametrize("form", ["frames", "parquet", "csv"])
def test_threads_do_not_matter(form: str, tmp_path: Path) -> None:
    x = scanned(form, mixed_frame(900, 1), tmp_path / "x")
    y = scanned(form, mixed_frame(700, 2), tmp_path / "y")
    pairs = [subset_pair(x, y, 300, random_state=0, n_threads=count) for count in (1, 2, 5)]
    for pair in pairs[1:]:
        assert pair.schema == pairs[0].schema
        assert pair.x.equals(pairs[0].x)
        assert pair.y.equals(pairs[0].y)


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_an_error_in_a_thread_stops_the_others(place: int) -> None:
    class Failing(Fold):
        def start(self) -> list[int]:
            return []

        def step(self, state: list[int], rows: RawChunk, n_threads: int) -> None:
            seen.append(rows.place)
            time.sleep(0.001)
            if rows.place == place:
                raise RuntimeError("stop here")

    seen: list[int] = []
    source = isodepth.scan([np.zeros((5, 2))] * 1000)
    with pytest.raises(RuntimeError, match="stop here"):
        Runner(n_threads=2).fold(source, Failing(), FrameReading())
    assert len(seen) < 1000
