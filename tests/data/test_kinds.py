"""Kinds of columns are the same for all samples, libraries and files."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cli.helpers import QUICK, refusal, run, run_json

import isodepth
from isodepth.data.kinds import (
    MISSING,
    attention_lines,
    category_values,
    column_lines,
    split_columns,
)
from isodepth.data.numerals import Numerals
from isodepth.data.readers import ReadOptions, read_table
from isodepth.errors import ColumnWarning, InvalidInputError

PRICES = [1500.25, 980.5, 12_345.0, 7.75, 1500.25]
CONTINENTAL = str.maketrans(",.", ".,")
STYLES = {
    "decimal": lambda v: Decimal(f"{v:.2f}"),
    "float": float,
    "plain": str,
    "dollar": lambda v: f"${v:,.2f}",
    "continental": lambda v: f"{v:,.2f}".translate(CONTINENTAL),
    "spaces": lambda v: f"{v:,.2f} €".replace(",", "\u202f"),
    "percent": lambda v: f"{v} %",
}


def split(*columns, names="XY", **kinds):
    frames = [pd.DataFrame({"v": list(column)}) for column in columns]
    return split_columns(frames, names[: len(frames)], kinds or None)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "csv", "parquet"])
def test_numbers_in_any_style_are_numeric(style: str, library: str, tmp_path: Path) -> None:
    cells = pd.DataFrame({"a": [1.0] * 5, "v": pd.Series(map(STYLES[style], PRICES), dtype=object)})
    frame = cells
    if library == "polars":
        frame = pl.DataFrame({name: cells[name].tolist() for name in cells})
    elif library == "pyarrow":
        frame = pa.Table.from_pandas(cells)
    elif library != "pandas":
        path = tmp_path / f"t.{library}"
        cells.to_csv(path, index=False) if library == "csv" else cells.to_parquet(path)
        frame = read_table(path, ReadOptions(text="keep")).frame
    mixed = split_columns([frame, frame], ["X", "Y"])
    assert [(each.kind, each.attention) for each in mixed.columns] == [("numeric", False)] * 2
    values = isodepth.data.frames.read_frame(mixed.numeric[1], "Y")[0][:, 1]
    np.testing.assert_array_equal(values, PRICES)
    written = isinstance(frame["v"][0] if library == "polars" else cells["v"][0], str)
    told = any("read from strings such as" in line for line in column_lines(mixed.columns))
    assert told == (written and not (library == "csv" and style == "plain"))


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        (["$1,500.00", "$2"], ["1.500,20", "2,5"], "different styles"),
        (["1", "2", "x"], ["1", "2", "3"], "contains numbers in Y and 'x' in X"),
        (["1", "2", "x"], ["1", "2", "y"], "contains numbers in 2 of 3 rows of X"),
        ([1.5, 2.5], ["$1.50", "$2"], "numbers in X and strings such as '\\$1.50' in Y"),
        ([1.5, 2.5], ["a", "b"], "contains numbers in X and 'a' in Y"),
    ],
)
def test_contradictory_numbers_are_refused(x: list, y: list, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=f"column 'v' .*{reason}"):
        split(x, y)
    assert split(x, y, v="category").columns[0].use == "shares"


@pytest.mark.parametrize(
    ("x", "y", "kind", "note"),
    [
        (["a", "b", "7"], ["a", "b", "b"], "category", "1 of 6 values are numbers such as '7'"),
        (["$3", "$4"], ["€3", "€5"], "numeric", "different units: \\$, €"),
        (["12%", "0.5"], ["3%", "4%"], "numeric", "different units: none, %"),
        (["1,500", "2,000"], ["1.500,20", "3,5"], "numeric", "',' as the decimal mark"),
    ],
)
def test_doubtful_columns_get_attention(x: list, y: list, kind: str, note: str) -> None:
    with pytest.warns(ColumnWarning, match=f"check column 'v': .*{note}"):
        mixed = split(x, y)
    (column,) = mixed.columns
    assert (column.kind, column.attention) == (kind, True)
    assert column_lines(mixed.columns)[0] == attention_lines(mixed.columns)[0]
    X, Y = (pd.DataFrame({"v": side * 5, "w": np.arange(5.0 * len(side))}) for side in (x, y))
    with pytest.warns(ColumnWarning):
        result = isodepth.two_sample_test(X, Y, n_permutations=19, random_state=0)
    assert result.headline.endswith("; check the kind of 'v'")


CODES = ["1", "2", "3"] * 10


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (CODES, [*CODES, "NEW"]),
        ([1, 2, 3] * 5, [*CODES, "NEW"]),
        ([1.0, 2.0, None] * 5, ["1.0", "02", "3", "NEW"]),
        (pd.Series([1, 2, "NEW"], dtype=object), CODES),
    ],
)
def test_codes_with_a_new_word_are_a_category(x: list, y: list) -> None:
    with pytest.warns(ColumnWarning, match="column 'v': .*category.*'NEW' is not a number"):
        mixed = split(x, y)
    (column,) = mixed.columns
    assert (column.kind, column.use, column.given) == ("category", "shares", "category")
    values = {value for part in mixed.categories["v"] for value in part}
    assert values - {None} == {"1", "2", "3", "NEW"}
    many = [str(v) for v in range(11)]
    with pytest.raises(InvalidInputError, match=r"'NEW' in Y.*--missing.*--category v"):
        split(many, [*many, "NEW"])


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_codes_with_a_new_word_in_files(ending: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.{ending}" for name in "xy"]
    for path, cells in zip(paths, (CODES, [*CODES[1:], "NEW"]), strict=True):
        frame = pd.DataFrame({"w": np.arange(30.0) % 7, "v": cells})
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    for command in ("compare", "test", "report"):
        page = ["-o", tmp_path / "r.html"] if command == "report" else []
        found = run_json(command, *paths, *page, "--permutations", 9, *QUICK)
        assert "'NEW' is not a number" in str(found["warnings"])
        assert "check column 'v'" in str(found)
    run("monitor", "fit", paths[0], "-o", tmp_path / "m.npz")
    reason = refusal("monitor", "check", tmp_path / "m.npz", paths[1])
    assert "kinds={'v': 'category'}" in reason
    run("monitor", "fit", paths[1], "-o", tmp_path / "m.npz", "--overwrite")
    assert not run_json("monitor", "check", tmp_path / "m.npz", paths[0])["alarm"]


def test_a_new_word_in_a_batch_of_codes() -> None:
    batch = pd.DataFrame({"v": [*CODES, "NEW"]})
    for codes in (CODES, [1, 2, 3] * 10):
        monitor = isodepth.Monitor(pd.DataFrame({"v": codes}), random_state=0)
        with pytest.raises(InvalidInputError, match=r"kinds=\{'v': 'category'\}.*is fitted"):
            monitor.check(batch)


def test_one_style_for_both_samples() -> None:
    # Alone, "1500" is a number in any style, and "1.500" is 1.5.
    mixed = split(["1500", "2000"], ["1.500,5", "1.250"])
    assert mixed.numeric[1]["v"].tolist() == [1500.5, 1250.0]
    assert split(["1.500", "2.5"]).numeric[0]["v"].tolist() == [1.5, 2.5]
    days = split(pd.to_datetime(["1970-01-03 06:00", "1969-12-31 00:00"]), v="numeric")
    assert days.numeric[0]["v"].tolist() == [2.25, -1.0]
    assert column_lines(days.columns) == ["numbers: v (days since 1970)"]
    assert split(["10000000000000000000", "2"]).numeric[0]["v"].tolist() == [1e19, 2.0]
    assert split([1.5, 2.5], ["1.5", "n/a"]).columns[0].kind == "numeric"
    with pytest.raises(InvalidInputError, match="'x' in X, which is not a number"):
        split(["1", "x"], v="numeric")


@pytest.mark.parametrize("cell", ["12 34", "1_000", "2024-01-05", "$", ".", "1.2.3", "--1", "$5%"])
def test_other_strings_are_not_numbers(cell: str) -> None:
    assert Numerals([cell]).count == 0


def test_ordered_categoricals_share_one_order() -> None:
    def sizes(order: list[str]) -> pd.DataFrame:
        return pd.DataFrame({"v": pd.Categorical(["S", "L", "L", "S"], order, ordered=True)})

    X = sizes(["S", "M", "L"])
    mixed = split_columns([X, sizes(["S", "L"])], "XY", {"v": "numeric"})
    assert [each["v"].tolist() for each in mixed.numeric] == [[0, 2, 2, 0]] * 2
    assert mixed.columns[0].given == ["S", "M", "L"]  # a batch of a monitor is coded by it too
    result = isodepth.two_sample_test(
        X, sizes(["S", "L"]), kinds={"v": "numeric"}, n_permutations=19, random_state=0
    )
    assert result.pvalue == 1
    with pytest.raises(InvalidInputError, match=r"\[S, M, L\] in X and \[L, S\] in Y"):
        split_columns([X, sizes(["L", "S"])], "XY", {"v": "numeric"})


def test_missing_categories_are_not_merged_with_a_value_of_that_name() -> None:
    values = category_values([None, MISSING, "a"], "v", "X", "omit")
    assert len(set(values)) == 3


# -- the same table in all libraries and files ---------------------------------------------------


def test_na_is_a_category_and_a_missing_number_everywhere(tmp_path: Path) -> None:
    cells = {"land": ["NA", "DE", "", "NA"], "v": ["1.5", "NA", "2", "3"], "all": ["NA"] * 4}
    frame = pd.DataFrame(cells)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    samples = [frame, pl.DataFrame(cells), pa.table(cells)]
    options = ReadOptions(missing=True, text="keep")
    samples += [read_table(tmp_path / f"t.{e}", options).frame for e in ("csv", "parquet")]
    for sample in samples:
        mixed = split_columns([sample], ["X"])
        assert mixed.categories == {"land": [["NA", "DE", None, "NA"]], "all": [["NA"] * 4]}
        numbers = isodepth.data.frames.read_frame(mixed.numeric[0], "X")[0]
        np.testing.assert_array_equal(numbers, [[1.5], [np.nan], [2], [3]])
    options = ReadOptions(missing=True, text="keep", missing_words=["NA", "DE"])
    for ending in ("csv", "parquet"):
        found = read_table(tmp_path / f"t.{ending}", options).frame
        assert found["land"].null_count == 4
