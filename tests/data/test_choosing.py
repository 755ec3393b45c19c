"""Which columns of a file are read, in the words of Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isodepth.data.readers import read_table
from isodepth.data.wishes import Wish, choose
from isodepth.errors import InvalidOptionError, UnreadableFileError

TEXT = "site,a,when,b\nEWR,1,2013-06-01,2\nJFK,3,2013-06-02,\nJFK,5,2013-06-03,7\n"


@pytest.fixture(params=[".csv", ".tsv", ".parquet", ".feather"])
def path(request: Any, tmp_path: Path) -> Path:
    import io

    import pandas as pd

    frame = pd.read_csv(io.StringIO(TEXT))
    file = tmp_path / f"t{request.param}"
    if request.param == ".parquet":
        frame.to_parquet(file)
    elif request.param == ".feather":
        frame.to_feather(file)
    else:
        frame.to_csv(file, index=False, sep="\t" if request.param == ".tsv" else ",")
    return file


def test_columns_in_the_order_asked_for(path: Path) -> None:
    points, columns = read_table(path, columns=["b", "a"], missing=True)
    assert columns == ("b", "a")
    np.testing.assert_array_equal(points, [[2, 1], [np.nan, 3], [7, 5]])
    assert read_table(path, columns=["a"]).points.tolist() == [[1], [3], [5]]


@pytest.mark.parametrize("how", [{"drop": ["site", "when"]}, {"drop_text": True}])
def test_columns_left_out(path: Path, how: dict[str, Any]) -> None:
    points, columns = read_table(path, missing=True, **how)
    assert columns == ("a", "b")
    np.testing.assert_array_equal(points, [[1, 2], [3, np.nan], [5, 7]])


def test_what_is_wrong_is_said_in_the_words_of_python(path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"drop=\['site', 'when'\].*drop_text=True"):
        read_table(path)
    with pytest.raises(InvalidOptionError, match=r"has no column 'c'.*site, a, when, b"):
        read_table(path, columns=["c"])
    with pytest.raises(InvalidOptionError, match="has no column 'c'"):
        read_table(path, drop=["c"])
    with pytest.raises(UnreadableFileError, match=r"cell is empty|1 missing values"):
        read_table(path, columns=["b"])
    with pytest.raises(UnreadableFileError, match="none of its columns holds numbers"):
        read_table(path, columns=["site"], drop_text=True)


def test_names_with_commas() -> None:
    assert choose(["a,b", "a", "b"], Wish(columns=["a,b"]), "t").kept == [0]
    assert choose(["a", "b", "c"], Wish(columns=["c,a,c"]), "t").kept == [2, 0]
    assert choose(["a", "b"], Wish(drop=["c"], lenient=True), "t") == ([0, 1], None, [], ["c"])


@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_columns_of_arrays_are_numbered(tmp_path: Path, ending: str) -> None:
    points = np.arange(12.0).reshape(4, 3)
    file = tmp_path / f"t{ending}"
    if ending == ".npy":
        np.save(file, points)
    else:
        np.savez(file, points)
    found = read_table(file, columns=["2", "0"]).points
    np.testing.assert_array_equal(found, points[:, [2, 0]])
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(read_table(file, drop=["1"]).points, points[:, [0, 2]])
    with pytest.raises(InvalidOptionError, match="has no column '3'"):
        read_table(file, columns=["3"])


def test_numbers_read_cell_by_cell_keep_every_bit(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).standard_normal((40, 2)) * 10.0 ** np.array([-9, 9])
    lines = [f"{a!r},text,{b!r}" for a, b in numbers.tolist()]
    (tmp_path / "t.csv").write_text("\n".join(["a,t,b", *lines]))
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv", drop=["t"]).points, numbers)
