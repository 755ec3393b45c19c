"""`isodepth.read_table` reads a file as the command line does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli.helpers import run_json
from stream.test_types import as_text, text_table, write

import isodepth
from isodepth.errors import ColumnWarning, InvalidInputError, UnreadableFileError
from isodepth.table.table import Schema

OPTIONS: dict[str, Any] = {"n_permutations": 99, "random_state": 0}


@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_results_are_those_of_the_command(ending: str, tmp_path: Path) -> None:
    write(text_table(300, 0), 240, tmp_path)
    paths = [tmp_path / f"{name}.{ending}" for name in "xy"]
    found = isodepth.two_sample_test(*map(isodepth.read_table, paths), **OPTIONS)
    command = run_json("test", *paths, "--n-permutations", 99, "--random-state", 0)
    headline = found.headline.replace("X and Y", "x and y")
    assert (found.pvalue, headline) == (command["pvalue"], command["headline"])
    texts = [as_text(tmp_path / f"{name}.csv") for name in "xy"]
    assert isodepth.two_sample_test(*texts, **OPTIONS).pvalue == found.pvalue


def test_columns_have_types_and_remember_their_strings(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("code,two,wind,flag,day,word\n01,1,1.50,true,2024-01-01,a\n02,01,NA,false,,b\n")
    with pytest.warns(ColumnWarning, match="leading zeros"):
        table = isodepth.read_table(path)
    types = [str(type_) for type_ in table.schema.types]
    assert types == ["int64", "string", "double", "bool", "date32[day]", "string"]
    assert table["wind"].to_pylist() == [1.5, None]
    schema = Schema.of(table, kinds=dict.fromkeys(["code", "two", "flag"], "category"))
    assert schema["code"].categories == ("01", "02")
    assert schema["two"].categories == ("01", "1")
    assert schema["flag"].categories == ("false", "true")
    # A part of the rows remembers its strings, too.
    assert Schema.of(table[1:], kinds={"code": "category"})["code"].categories == ("02",)
    assert Schema.of(table).numeric_names == ("code", "two", "wind")


def test_columns_words_and_other_files(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": [1, -9, 3], "b": [1.5, 2.5, 3.5], "c": list("xyz")}).to_csv(
        path, index=False
    )
    assert isodepth.read_table(path, ["b", "a"]).column_names == ["b", "a"]
    table = isodepth.read_table(path, drop=["b", "d"], missing=["-9", "z"])
    assert table.to_pydict() == {"a": [1, None, 3], "c": ["x", "y", None]}
    np.save(tmp_path / "t.npy", np.eye(3))
    assert np.array_equal(isodepth.read_table(tmp_path / "t.npy"), np.eye(3))
    table.to_pandas().to_parquet(tmp_path / "t.parquet")
    assert isinstance(isodepth.read_table(tmp_path / "t.parquet"), pa.Table)
    with pytest.raises(InvalidInputError, match=r"columns must be a sequence .*write \['a'\]"):
        isodepth.read_table(path, "a")
    with pytest.raises(UnreadableFileError, match=r"no\.csv"):
        isodepth.read_table(tmp_path / "no.csv")
