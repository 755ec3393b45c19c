"""Kinds of columns do not depend on the assignment of rows, the library or the file format."""

from __future__ import annotations

import warnings
from decimal import Decimal
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.helpers import QUICK, refusal, run, run_json
from combined import compare_and_test

import isodepth
from isodepth.errors import (
    ColumnWarning,
    InvalidInputError,
    InvalidOptionError,
    UnreadableFileError,
)
from isodepth.table.columns import ColumnKind
from isodepth.table.kind_lines import MISSING, attention_lines, category_values, column_lines
from isodepth.table.numerals import Numerals
from isodepth.table.readers import ReadOptions, read_table
from isodepth.table.table import tables_of

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


def split_columns(frames, names, kinds=None) -> SimpleNamespace:
    """Return the kinds of columns, and the numbers and categories of each sample."""
    tables = tables_of(*frames, labels=[*names], kinds=kinds)
    schema = tables[0].schema
    return SimpleNamespace(
        columns=tuple(column.described for column in schema.columns),
        numeric=[pd.DataFrame(each.numbers, columns=schema.numeric_names) for each in tables],
        categories={name: [each.texts(name) for each in tables] for name in schema.category_names},
    )


def split(*columns, names="XY", **kinds):
    lists = [each if isinstance(each, pd.Series) else list(each) for each in columns]
    frames = [pd.DataFrame({"v": values}) for values in lists]
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
    values = isodepth.table.frames.read_frame(mixed.numeric[1], "Y")[0][:, 1]
    np.testing.assert_array_equal(values, PRICES)
    written = isinstance(frame["v"][0] if library == "polars" else cells["v"][0], str)
    told = any("read from strings such as" in line for line in column_lines(mixed.columns))
    assert told == (written and not (library == "csv" and style == "plain"))


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        (["$1,500.00", "$2"], ["1.500,20", "2,5"], "different styles"),
        (["1.5", "2.5"], ["3.5", "4,5"], "numbers in different styles: '1.5' and '4,5'"),
        (["1,500.5", "2"], ["3.5", "0,500"], "numbers in different styles: '1,500.5' and '0,500'"),
        (["1.5", "x"], ["3.5", "4,5", "7,25"], "numbers in different styles: '1.5' and '4,5'"),
        ([1.5, 2.5], ["$1.50", "$2"], "numbers in X and strings such as '\\$1.50' in Y"),
        ([1.5, 2.5, 3.5], ["$1.50", "?"], "numbers in X and strings such as '\\$1.50' in Y"),
    ],
)
def test_contradictory_numbers_are_refused(x: list, y: list, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=f"column 'v' .*{reason}"):
        split(x, y)
    assert split(x, y, v="category").columns[0].use == "category"


@pytest.mark.parametrize(
    ("x", "y", "kind", "note"),
    [
        (["a", "b", "7"], ["a", "b", "b"], "category", "1 of 6 values is a number, '7'"),
        (["$3", "$4"], ["€3", "€5"], "numeric", "different units: \\$, €"),
        (["12%", "0.5"], ["3%", "4%"], "numeric", "different units: none, %"),
        (
            ["1", "2", "x"],
            ["1", "2", "3"],
            "numeric",
            "not numbers, such as 'x', are read as missi",
        ),
        ([1.5, 2.5, 3.5], ["a", "b"], "numeric", "not numbers, such as 'a', are read as missing"),
        ([1.5, 2.5], ["a", "b"], "category", "2 of 4 values are numbers such as '1.5'"),
        (["1,500", "2,000"], ["1.500,20", "3,5"], "numeric", "',' as the decimal mark"),
        (["1,500", "2,000"], ["12,500", "-1,250"], "numeric", "',' is read as a thousands separa"),
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
    assert result.headline.endswith("; check column 'v'.")


CODES = ["1", "2", "3"] * 10


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (CODES, [*CODES, "NEW"]),
        ([1, 2, 3] * 5, [*CODES, "NEW"]),
        ([1.0, 2.0, None] * 5, ["1.0", "2", "3", "NEW"]),
        (pd.Series([1, 2, "NEW"], dtype=object), CODES),
    ],
)
def test_codes_with_a_new_word_are_a_category(x: list, y: list) -> None:
    with pytest.warns(ColumnWarning, match="column 'v': .*category.*'NEW' is not a number"):
        mixed = split(x, y)
    (column,) = mixed.columns
    assert (column.kind, column.use, column.option) == ("category", "category", "category")
    values = {value for part in mixed.categories["v"] for value in part}
    assert values - {None} == {"1", "2", "3", "NEW"}
    many = [str(v) for v in range(11)]
    with pytest.warns(ColumnWarning, match="'NEW', are read as missing; choose 'category'"):
        assert split(many, [*many, "NEW"]).columns[0].kind == "numeric"


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_codes_with_a_new_word_in_files(ending: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.{ending}" for name in "xy"]
    for path, cells in zip(paths, (CODES, [*CODES[1:], "NEW"]), strict=True):
        frame = pd.DataFrame({"w": np.arange(30.0) % 7, "v": cells})
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    for command in ("compare", "test", "report"):
        page = ["-o", tmp_path / "r.html"] if command == "report" else []
        found = run_json(command, *paths, *page, "--n-permutations", 9, *QUICK)
        assert "'NEW' is not a number" in str(found["warnings"])
        assert "check column 'v'" in str(found)
    run("monitor", "fit", paths[0], "-o", tmp_path / "m.npz")
    reason = refusal("monitor", "check", tmp_path / "m.npz", paths[1])
    assert "--category v" in reason
    run("monitor", "fit", paths[1], "-o", tmp_path / "m.npz", "--overwrite")
    assert not run_json("monitor", "check", tmp_path / "m.npz", paths[0])["alarm"]


@pytest.mark.filterwarnings("ignore:check column 'v'.*'NEW':isodepth.errors.ColumnWarning")
def test_a_new_word_in_a_batch_of_codes() -> None:
    batch = pd.DataFrame({"v": [*CODES, "NEW"]})
    for codes in (CODES, [1, 2, 3] * 10):
        monitor = isodepth.Monitor(pd.DataFrame({"v": codes}), random_state=0)
        with pytest.raises(InvalidInputError, match=r"kinds=\{'v': 'category'\}.*is fitted"):
            monitor.check(batch)


NUMBERS = [f"{value / 4}" for value in range(300)]


@pytest.mark.parametrize("library", ["pandas", "objects", "polars", "pyarrow", "csv", "parquet"])
def test_a_few_words_among_numbers_are_missing(library: str, tmp_path: Path) -> None:
    cells = [*NUMBERS[1:], "12a"]
    frame: Any = pd.DataFrame({"w": np.arange(300.0), "v": cells})
    if library == "objects":
        frame["v"] = pd.Series([*map(float, cells[:-1]), "12a"], dtype=object)
    elif library == "polars":
        frame = pl.DataFrame({name: frame[name].tolist() for name in frame})
    elif library == "pyarrow":
        frame = pa.table({name: frame[name].tolist() for name in frame})
    elif library in ("csv", "parquet"):
        path = tmp_path / f"t.{library}"
        frame.to_csv(path, index=False) if library == "csv" else frame.to_parquet(path)
        frame = read_table(path, ReadOptions(missing=True, text="keep")).frame
    reference = pd.DataFrame({"w": np.arange(300.0), "v": [*map(float, NUMBERS)]})
    with pytest.warns(ColumnWarning, match="'v': values that are not numbers, such as '12a', are"):
        mixed = split_columns([reference, frame], "XY")
    assert mixed.columns[1].option == "numeric"
    numbers = isodepth.table.frames.read_frame(mixed.numeric[1], "Y")[0][:, 1]
    np.testing.assert_array_equal(numbers, [*map(float, cells[:-1]), np.nan])


MANY_WORDS = [f"M{i}" for i in range(1000)]


@pytest.mark.parametrize(
    ("numbers", "words", "kind"),
    [
        # at most 1% words, at most ten distinct words, or marks without letters and digits
        (NUMBERS * 4, MANY_WORDS[:12], "numeric"),
        (NUMBERS[:50], ["unknown"] * 49, "numeric"),
        (NUMBERS[:50] * 2, ["unknown"] * 101, "category"),
        (NUMBERS[:50], ["unknown"] * 51, "numeric"),
        (NUMBERS[:50], MANY_WORDS[:10] * 4, "numeric"),
        (NUMBERS[:50], [*["-"] * 200, "..", "?", "--"], "numeric"),
        # many words: a category, unless it has too many distinct values
        (NUMBERS[:50] * 3, MANY_WORDS[:11] * 5, "category"),
        (NUMBERS[:100] * 3, MANY_WORDS[:100] * 3, "category"),
        (NUMBERS[:201] * 3, MANY_WORDS[:11] * 5, "numeric"),
        (NUMBERS[:11] * 5, MANY_WORDS[:201] * 3, "identifier"),
        (NUMBERS[:100], MANY_WORDS[:60], "numeric"),
        (NUMBERS[:60], MANY_WORDS[:100], "identifier"),
    ],
)
def test_numbers_and_words(numbers: list[str], words: list[str], kind: str) -> None:
    """Check that every split of the rows into two samples gives the same kind, values and note."""
    rng = np.random.default_rng(0)
    values = np.array([*numbers, *words], dtype=object)
    uses = {"numeric": "numeric", "category": "category", "identifier": "omit"}
    wanted = sorted(map(float, numbers))
    for cut in (len(numbers), 1, len(values) // 2):  # the first: all numbers, and all words
        order = np.arange(len(values)) if cut == len(numbers) else rng.permutation(len(values))
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            mixed = split(values[order[:cut]], values[order[cut:]])
        (column,) = mixed.columns
        assert (column.kind, column.use) == (kind, uses[kind])
        assert column.note
        assert column.attention == (kind != "identifier") == bool(issued)
        if kind == "numeric":
            found = np.concatenate([each["v"].to_numpy(np.float64) for each in mixed.numeric])
            np.testing.assert_array_equal(np.sort(found)[: len(wanted)], wanted)
            assert np.isnan(found).sum() == len(words)
        if column.option is None:
            continue
        again = {"v": column.option}  # a report repeats the test, and a monitor reads batches
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnWarning)
            repeated = split(values[order[:cut]], values[order[cut:]], **again)
        assert (repeated.columns[0].use, repeated.categories) == (column.use, mixed.categories)


@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
@pytest.mark.parametrize("words", [["M10", "M11", "N2"], ["unknown"], ["-"], MANY_WORDS])
def test_a_column_of_numbers_and_words_does_not_stop_the_test(words: list[str]) -> None:
    rng = np.random.default_rng(0)

    def sample(share: float) -> pd.DataFrame:
        numbers = rng.normal(size=400).round(2).astype(str)
        cells = np.where(rng.random(400) < share, rng.choice(words, 400), numbers)
        return pd.DataFrame({"v": cells, "w": rng.normal(size=400)})

    options: dict[str, Any] = {"n_permutations": 99, "random_state": 0}
    same = isodepth.two_sample_test(sample(0.3), sample(0.3), **options)
    assert same.pvalue > 0.05
    assert "; check column 'v'" in same.headline
    more = isodepth.two_sample_test(sample(0.1), sample(0.6), **options)
    assert more.pvalue == 0.01
    assert more.changes[0].columns == ("v",)


@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
def test_two_styles_of_numbers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="different styles of numbers"):
        split(NUMBERS, ["1,5", "2,5"])
    with pytest.raises(InvalidInputError, match=r"numbers in different styles: '0.0' and '1,5'"):
        split(NUMBERS, ["2.5", "1,5"])
    # Among many words they are words.
    assert split(MANY_WORDS[:9] * 4, ["2.5", "1,5"]).columns[0].kind == "category"


def test_words_in_a_column_that_is_numeric_on_request() -> None:
    with pytest.warns(ColumnWarning, match="such as '12a', are read as missing"):
        mixed = split(["1", "12a"], ["2", "3.5"], v="numeric")
    np.testing.assert_array_equal(mixed.numeric[0]["v"], [1, np.nan])
    shuffled = np.random.default_rng(0).permutation(NUMBERS)
    monitor = isodepth.Monitor(pd.DataFrame({"v": shuffled}), random_state=0, nan_policy="keep")
    with pytest.warns(ColumnWarning, match="such as 'x', are read as missing"):
        assert not monitor.check(pd.DataFrame({"v": [*NUMBERS[::7], "x"]})).alarm


@pytest.mark.usefixtures("without_pictures")
def test_words_among_numbers_in_results_and_sources(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.csv" for name in "xy"]
    for path, word in zip(paths, ("1", "12a"), strict=True):
        pd.DataFrame({"v": [*NUMBERS, word]}).to_csv(path, index=False)
    fact = "v: 1 of 602 values is not a number ('12a'), read as missing"
    for command in ("test", "report"):
        page = ["-o", tmp_path / "r.html"] if command == "report" else []
        found = run_json(command, *paths, *page, "--n-permutations", 9, *QUICK)
        assert fact in str(found)
        assert "type numbers" not in str(found)
    assert fact in unescape((tmp_path / "r.html").read_text())
    with pytest.warns(ColumnWarning, match="'12a', are read as missing"):
        result = isodepth.two_sample_test(
            *map(isodepth.scan, paths), n_permutations=9, random_state=0
        )
    assert result.checks[0].text == fact
    assert "--missing 12a" in refusal("depth", paths[1], "-o", tmp_path / "d.csv")
    run("depth", paths[1], "-o", tmp_path / "d.csv", "--missing", "12a", "--nan-policy", "omit")


def test_one_style_for_both_samples() -> None:
    # Alone, "1500" is a number in any style, and "1.500" is 1.5.
    mixed = split(["1500", "2000"], ["1.500,5", "1.250"])
    assert mixed.numeric[1]["v"].tolist() == [1500.5, 1250.0]
    assert split(["1.500", "2.5"]).numeric[0]["v"].tolist() == [1.5, 2.5]
    # A number with thousands does not start with 0, and "900" has no separator.
    with pytest.warns(ColumnWarning, match="'2,500' in Y is read with ',' as the decimal mark"):
        mixed = split(["0,500", "2,500"], ["2,500", "3,500"])
    assert [each["v"].tolist() for each in mixed.numeric] == [[0.5, 2.5], [2.5, 3.5]]
    assert split(["1,500", "900"], ["1,234,567"]).numeric[0]["v"].tolist() == [1500, 900]
    days = split(pd.to_datetime(["1970-01-03 06:00", "1969-12-31 00:00"]), v="numeric")
    assert days.numeric[0]["v"].tolist() == [2.25, -1.0]
    assert column_lines(days.columns) == ["numbers: v (days since 1970)"]
    few = [
        ColumnKind(name, "numeric", "numeric", note)
        for name, note in zip("abc", "xyx", strict=True)
    ]
    assert column_lines(few) == ["numbers: a, c (x), b (y)"]
    assert split(["10000000000000000000", "2"]).numeric[0]["v"].tolist() == [1e19, 2.0]
    assert split([1.5, 2.5], ["1.5", "n/a"]).columns[0].kind == "numeric"
    with pytest.raises(InvalidInputError, match="'x' in X, which is not a number"):
        split(["x", "y"], v="numeric")


@pytest.mark.parametrize("form", ["%F %T", "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M", "%Y/%m/%dT%H:%MZ"])
def test_dates_as_strings_are_converted_like_dates(form: str) -> None:
    zone = "UTC" if form.endswith("Z") else None
    dates = pd.date_range("2020-01-28", periods=20, freq="31h", tz=zone)
    both = [dates, dates[5:]]
    wanted = split(*both, v="numeric")
    for samples in ([each.strftime(form) for each in both], [dates.strftime(form), dates[5:]]):
        found = split(*map(pd.Series, samples), v="numeric")
        assert found.columns == wanted.columns
        for array, other in zip(found.numeric, wanted.numeric, strict=True):
            np.testing.assert_array_equal(array["v"], other["v"])


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([*["2020-01-30"] * 30, "soon"], "'soon' in X, which is not a date"),
        (["01/02/2020", "03/02/2020"], "'01/02/2020' in X, where the order of day and month is"),
    ],
)
def test_strings_that_are_not_clear_dates_are_refused(values: list[str], reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        split(values, v="numeric")


def in_zone(zone: str | None, library: str, days: int = 0) -> Any:
    """Return a table with a column "v" of times with a time zone, or without one."""
    start = pd.Timestamp("2024-06-01", tz=zone) + pd.Timedelta(days=days)
    frame = pd.DataFrame({"v": pd.date_range(start, periods=40, freq="31h")})
    if library == "pandas":
        return frame
    return pl.from_pandas(frame) if library == "polars" else pa.Table.from_pandas(frame)


@pytest.mark.parametrize("kind", ["numeric", "category", None])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "Etc/GMT+5", "UTC"])
def test_times_with_a_time_zone_are_converted_to_utc(
    zone: str, library: str, kind: str | None, tmp_path: Path
) -> None:
    kinds = {} if kind is None else {"v": kind}
    x = in_zone(zone, library)
    in_utc = in_zone(zone, "pandas")["v"].dt.tz_convert("UTC").to_frame()
    mixed = split_columns([x, in_utc], "XY", kinds)
    if kind is None:
        assert column_lines(mixed.columns) == ["left out: v (dates and times)"]
    elif kind == "category":
        assert mixed.categories["v"][0] == mixed.categories["v"][1]
    else:
        days = pd.DataFrame(in_utc["v"].dt.tz_convert(None))
        naive = split_columns([days], "X", kinds)
        for each in mixed.numeric:
            found = nw.from_native(each)["v"].to_numpy()
            np.testing.assert_array_equal(found, naive.numeric[0]["v"])
        assert column_lines(mixed.columns) == ["numbers: v (days since 1970 in UTC)"]
        path = tmp_path / "x.parquet"
        pq.write_table(in_zone(zone, "pyarrow"), path)
        y = in_zone("UTC", library, 2)
        pvalues = {
            isodepth.two_sample_test(each, y, kinds=kinds, n_permutations=19, random_state=0).pvalue
            for each in (x, in_utc, isodepth.scan(path))
        }
        assert len(pvalues) == 1


@pytest.mark.parametrize("kind", ["numeric", "category"])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "strings", "scan"])
@pytest.mark.parametrize("zone", ["America/New_York", "UTC"])
def test_times_with_and_without_a_time_zone_are_not_compared(
    zone: str, library: str, kind: str, tmp_path: Path
) -> None:
    if library == "strings":
        tables = [in_zone(each, "pandas").astype(str) for each in (zone, None)]
    else:
        tables = [in_zone(each, library) for each in (zone, None)]
    if library == "scan":
        for name, table in zip("xy", tables, strict=True):
            pq.write_table(table, tmp_path / f"{name}.parquet")
        paths = [tmp_path / f"{name}.parquet" for name in "xy"]
        tables = [isodepth.scan(path) for path in paths]
        with pytest.raises(UnreadableFileError, match="contains times with a time zone in"):
            isodepth.scan(paths)
    if (library, kind) == ("strings", "category"):
        assert isodepth.two_sample_test(*tables, kinds={"v": kind}, n_permutations=9).kinds
        return
    for x, y in (tables, tables[::-1]):
        with pytest.raises(InvalidInputError, match=r"times with the time zone .*tz_localize"):
            isodepth.two_sample_test(x, y, kinds={"v": kind})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monitor = isodepth.Monitor(in_zone(zone, "pandas", 3), kinds={"v": "numeric"})
    monitor.check(in_zone("Asia/Tokyo", "polars"))
    with pytest.raises(
        InvalidInputError, match="since 1970 in UTC in the reference and days since"
    ):
        monitor.check(in_zone(None, "pyarrow"))


@pytest.mark.parametrize("cell", ["12 34", "1_000", "2024-01-05", "$", ".", "1.2.3", "--1", "$5%"])
def test_other_strings_are_not_numbers(cell: str) -> None:
    assert Numerals([cell]).count == 0


def test_ordered_categoricals_share_one_order() -> None:
    def sizes(order: list[str]) -> pd.DataFrame:
        return pd.DataFrame({"v": pd.Categorical(["S", "L", "L", "S"], order, ordered=True)})

    X = sizes(["S", "M", "L"])
    mixed = split_columns([X, sizes(["S", "L"])], "XY", {"v": "numeric"})
    assert [each["v"].tolist() for each in mixed.numeric] == [[0, 2, 2, 0]] * 2
    assert mixed.columns[0].option == ("S", "M", "L")  # a batch of a monitor is coded by it too
    result = isodepth.two_sample_test(
        X, sizes(["S", "L"]), kinds={"v": "numeric"}, n_permutations=19, random_state=0
    )
    assert result.pvalue == 1
    with pytest.raises(InvalidInputError, match=r"\[S, M, L\] in X and \[L, S\] in Y"):
        split_columns([X, sizes(["L", "S"])], "XY", {"v": "numeric"})


def test_missing_categories_are_not_merged_with_a_value_of_that_name() -> None:
    values = category_values([None, MISSING, "a"], "v", "X", "keep")
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
        numbers = isodepth.table.frames.read_frame(mixed.numeric[0], "X")[0]
        np.testing.assert_array_equal(numbers, [[1.5], [np.nan], [2], [3]])
    options = ReadOptions(missing=True, text="keep", missing_words=["NA", "DE"])
    for ending in ("csv", "parquet"):
        found = read_table(tmp_path / f"t.{ending}", options).frame
        assert found["land"].null_count == 4


# -- values, not strings, are compared -------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "values"),
    [
        (pd.Categorical([1, 2, 3]), pd.Categorical([1.0, 2.0, None]), {"1", "2", "3"}),
        (pd.Categorical([1, 2, 3]), [1, 2, 3], {"1", "2", "3"}),
        ([1.0, 2.0, None], pd.Categorical([1, 2, 3]), {"1", "2", "3"}),
        (pd.Categorical(["1", "2.0"]), [1, 2], {"1", "2"}),
        (pd.Categorical([0.5, 1]), pd.Categorical(["0.50", "a"]), {"0.5", "1", "a"}),
        ([True, False], pd.Series([True, None], dtype=object), {"True", "False"}),
        ([True, False], ["true", "FALSE"], {"True", "False"}),
        ([True, False], [1.0, None], {"True", "False"}),
        ([0, 1], [True, True], {"True", "False"}),
        (pd.Categorical([True, False]), ["0", "1"], {"True", "False"}),
        ([True, False], ["yes", "1"], {"True", "False", "yes", "1"}),
        (pd.Series([1, Decimal("2.0"), "x"], dtype=object), ["a", "b"], {"1", "2", "x", "a", "b"}),
    ],
)
def test_categories_are_compared_by_value(x, y, values: set[str]) -> None:
    mixed = split(pd.Series(x), pd.Series(y), v="category")
    assert {v for part in mixed.categories["v"] for v in part} - {None} == values
    if "a" not in values:
        assert split(pd.Series(x), pd.Series(y)).categories == mixed.categories


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([True, False], [1, 2], "contains numbers in Y and 'False' in X"),
        (pd.to_datetime(["2013-01-01"]), [1.5], "contains numbers in Y and '2013-01-01 00:00:00'"),
    ],
)
def test_two_types_without_common_values_are_refused(x, y, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        split(pd.Series(x), pd.Series(y))


def test_a_categorical_without_numbers_in_one_sample() -> None:
    with pytest.warns(ColumnWarning, match="numbers in Y and 'a' in X; categorical in X, so comp"):
        mixed = split(pd.Series(pd.Categorical(["a"])), pd.Series([1]))
    assert mixed.categories == {"v": [["a"], ["1"]]}


def test_categoricals_of_numbers_in_tests_and_monitors() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(1, 4, 200)
    X = pd.DataFrame({"k": pd.Categorical(codes[:100])})
    Y = pd.DataFrame({"k": pd.Categorical(np.where(np.arange(100) == 5, np.nan, codes[100:]))})
    result = isodepth.two_sample_test(X, Y, n_permutations=99, random_state=0, nan_policy="keep")
    assert result.pvalue > 0.05
    monitor = isodepth.Monitor(X, random_state=0, nan_policy="keep")
    assert not monitor.check(Y).alarm
    assert not monitor.check(pd.DataFrame({"k": codes[100:]})).alarm
    both = [pd.DataFrame({"v": pd.Categorical(c, ordered=True)}) for c in ([1, 2], [1.0, 2.0])]
    mixed = split_columns(both, "XY", {"v": "numeric"})
    assert [each["v"].tolist() for each in mixed.numeric] == [[0, 1]] * 2


def test_booleans_of_any_type_are_numbers_on_request() -> None:
    mixed = split([True, False], ["true", None], v="numeric")
    assert [each["v"].tolist() for each in mixed.numeric[:1]] == [[1, 0]]
    np.testing.assert_array_equal(mixed.numeric[1]["v"], [1, np.nan])


def test_a_sample_without_values_does_not_change_the_kind() -> None:
    empty = [
        pd.Series([None] * 3, dtype=object), pd.Series([np.nan] * 3),
        pd.Series(pd.Categorical([None] * 3)), pd.Series([pd.NaT] * 3),
    ]  # fmt: skip
    full = {
        "numeric": pd.Series([1, 2, 3]), "category": pd.Series(["a", "b", "a"]),
        "date": pd.Series(pd.to_datetime(["2013-01-01"] * 3)),
    }  # fmt: skip
    for kind, values in full.items():
        for none in empty:
            for pair in ((values, none), (none, values)):
                mixed = split(*pair)
                assert mixed.columns[0].kind == kind
                if kind == "numeric":
                    isodepth.table.frames.read_frame(mixed.numeric[1], "Y")


# -- decisions from pooled rows --------------------------------------------------------------------

WORDS = ["x", "y", "z"]
POOLS = {
    "ids and a word": [*map("id{}".format, range(95)), *["unknown"] * 12],
    "ids at the limit": [*map("id{}".format, range(90)), *["unknown"] * 10],
    "ids in both": [*map("id{}".format, range(50))] * 2,
    "few rows": [*map("id{}".format, range(38))],
    "many values": [*map("v{}".format, range(201))] * 3,
    "dates": [f"2013-01-{day:02}" for day in range(1, 31)],
    "dates and words": [*[f"2013-01-{day:02}" for day in range(1, 31)] * 2, *WORDS],
    "fewer dates": [*[f"2013-01-{day:02}" for day in range(1, 20)], *WORDS],
    "formats": ["2013-01-02", "3.1.2013", "01/04/2013"] * 10,
    "codes and a word": [*["1", "2", "3"] * 10, "NEW"],
    "words among numbers": [*NUMBERS, "12a", "?", "n/a"],
    "mostly words": [*map(str, range(12)), *map("w{}".format, range(15))],
    "styles": ["1,500.00", "2", "3.5", "$4"] * 5,
    "objects": [1, 1.0, "1", "a", None] * 5,
    "two strings of a value": [1, "01", "a", None] * 5,
    "numbers": [1, 2.5, "3", None] * 8,
    "booleans": [True, False, 0, 1.0, "TRUE", None] * 5,
    "booleans and others": [True, 0, 2, "no"] * 8,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
@pytest.mark.parametrize("pool", POOLS)
def test_decisions_do_not_depend_on_the_labels(pool: str) -> None:
    """Check that all assignments of rows to samples give one kind and equal values, or an error."""
    rng = np.random.default_rng(0)
    values = np.array(POOLS[pool], dtype=object)
    outcomes = set()
    for trial in range(100):
        order = np.arange(len(values)) if trial == 0 else rng.permutation(len(values))
        n = len(values) // 2 if trial < 50 else int(rng.integers(1, len(values)))
        parts = [pd.DataFrame({"v": pd.Series(values[i])}) for i in (order[:n], order[n:])]
        try:
            mixed = split_columns(parts, "XY")
        except InvalidInputError:
            continue
        (column,) = mixed.columns
        compared = None
        if column.use == "category":
            compared = [value for part in mixed.categories["v"] for value in part]
        elif column.use == "numeric":
            compared = [value for part in mixed.numeric for value in part["v"].tolist()]
        outcomes.add((column.kind, repr(compared and sorted(map(str, compared)))))
    assert len(outcomes) == (pool != "two strings of a value")


def test_unbalanced_columns_of_identifiers_are_not_selected() -> None:
    # Each sample alone may have more or fewer than 90% distinct values. A column that is tested
    # only if it is unbalanced would raise the level: 26% rejections at 5% with 60 columns.
    rng = np.random.default_rng(0)
    ids = np.array([f"id{i}" for i in range(200)], dtype=object)
    uses = set()
    for _ in range(30):
        column = np.where(rng.random(200) < 0.055, "unknown", ids)
        mixed = split(column[:100], column[100:])
        uses.add(mixed.columns[0].use)
    assert uses == {"omit"}


# -- odd names, values and options -----------------------------------------------------------------


def test_the_use_of_a_column_is_a_word_of_the_option_kinds() -> None:
    rng = np.random.default_rng(3)
    x, y = (
        pd.DataFrame(
            {
                "number": rng.normal(size=60),
                "word": rng.choice(["a", "b"], 60),
                "flag": rng.random(60) < 0.5,
                "day": pd.date_range("2024-01-01", periods=60),
                "id": [f"r{i}" for i in range(60)],
            }
        )
        for _ in range(2)
    )
    first = isodepth.two_sample_test(x, y, n_permutations=19, random_state=0)
    uses = {each.column: each.use for each in first.kinds}
    assert uses == {
        "number": "numeric", "word": "category", "flag": "category", "day": "omit", "id": "omit",
    }  # fmt: skip
    again = isodepth.two_sample_test(x, y, n_permutations=19, random_state=0, kinds=uses)
    assert {each.column: each.use for each in again.kinds} == uses
    assert again.pvalue == first.pvalue


def test_lone_surrogates_in_categories_are_escaped() -> None:
    X = pd.DataFrame({"v": pd.Series(["\ud800", "b"] * 20, dtype=object)})
    mixed = split_columns([X, X], "XY")
    assert set(mixed.categories["v"][0]) == {"\\ud800", "b"}
    result = isodepth.two_sample_test(X, X[::2], n_permutations=19, random_state=0)
    str(result).encode()
    names = pd.DataFrame([["a", 1]], columns=pd.Index(["\udcff", "w"], dtype=object))
    with pytest.raises(InvalidInputError, match="lone surrogate; rename the column"):
        split_columns([names, names], "XY")


def test_labels_that_are_equal_as_strings_are_refused() -> None:
    frame = pd.DataFrame([[1, "a"]], columns=pd.Index([1, "1"], dtype=object))
    with pytest.raises(InvalidInputError, match="two columns of X are named '1'"):
        split_columns([frame, frame], "XY")


@pytest.mark.parametrize("option", [np.array(["S", "L"]), True, 1.5, ["S"], ["S", "S"], "text", {}])
def test_wrong_entries_of_kinds_are_described(option: object) -> None:
    with pytest.raises(InvalidOptionError, match=r"kinds\['v'\] must be one of numeric, category"):
        split(["S", "L"], v=option)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "objects"])
def test_differences_of_integers_beyond_the_exact_floats(library: str) -> None:
    base = 1_700_000_000_000_000_000
    x, y = [base + 3, base + 5], [base + 4, base]
    make = {
        "pandas": lambda v: pd.DataFrame({"t": v}), "polars": lambda v: pl.DataFrame({"t": v}),
        "pyarrow": lambda v: pa.table({"t": v}),
        "objects": lambda v: pd.DataFrame({"t": pd.Series(v, dtype=object)}),
    }[library]  # fmt: skip
    mixed = split_columns([make(x), make(y)], "XY")
    points = [
        isodepth.table.frames.read_frame(each, "X")[0][:, 0].tolist() for each in mixed.numeric
    ]
    # Multiples of 10 remain multiples, and no difference is a number such as 0 or 9999.
    assert points == [[100_003, 100_005], [100_004, 100_000]]
    note = f"difference from {base - 100_000}"
    assert mixed.columns[0] == ColumnKind(
        "t", "numeric", "numeric", note, base - 100_000, reasons=("difference",)
    )
    again = split_columns([make([base + 7, base + 1])], ["Z"], {"t": mixed.columns[0].option})
    assert isodepth.table.frames.read_frame(again.numeric[0], "Z")[0][:, 0].tolist() == [
        100_007,
        100_001,
    ]
    with pytest.warns(ColumnWarning, match=r"beyond 2\*\*53"):
        isodepth.distance(make([0, base]), make([1, base]), random_state=0)


def test_monitors_read_batches_from_the_base_of_the_reference() -> None:
    base = 1_700_000_000_000_000_000
    rng = np.random.default_rng(0)
    reference, batch = (pd.DataFrame({"t": base + rng.integers(0, 100, 200)}) for _ in range(2))
    monitor = isodepth.Monitor(reference, random_state=0)
    assert not monitor.check(batch).alarm
    assert monitor.check(batch + 50).alarm


def test_keys_of_kinds_are_labels_of_columns() -> None:
    frame = pd.DataFrame({7: [1.0, 2.0, 3.0], "a": [3.0, 4.0, 6.0]})
    test = isodepth.two_sample_test(frame, frame, kinds={7: "omit"}, n_permutations=5)
    assert [each.use for each in test.kinds] == ["omit", "numeric"]
    with pytest.raises(InvalidOptionError, match="equal as strings"):
        isodepth.compare(frame, frame, kinds={7: "omit", "7": "numeric"})


@pytest.mark.parametrize("call", [isodepth.distance, isodepth.compare, isodepth.two_sample_test])
def test_a_path_is_named_before_the_columns_of_the_other_sample(call: Any) -> None:
    frame = pd.DataFrame({"name": ["a", "b", "c"], "v": [1.0, 2.0, 3.0]})
    for both, sample in (((frame, "feb.csv"), "Y"), (("feb.csv", frame), "X")):
        with pytest.raises(InvalidInputError, match=f"{sample} must be a table, got the path"):
            call(*both)
        with pytest.raises(InvalidInputError, match=f"{sample} must be a table, got the path"):
            call(*both, kinds={"v": "category"})


@pytest.mark.parametrize("chunked", [False, True])
def test_columns_of_one_sample_are_listed(chunked: bool) -> None:
    """Check that distances and tests leave out, and name, a column that only one sample has."""
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame(rng.normal(size=(30, 2)), columns=["v", "w"]) for _ in range(2))
    wanted = isodepth.distance(x, y, levels=5, refine=0, random_state=0)
    x, y = (
        x.assign(name="a", id=range(30)),
        y.assign(when=pd.Timestamp("2024-01-01"))[["when", "w", "v"]],
    )
    options: dict[str, Any] = {"levels": 5, "refine": 0, "random_state": 0}
    options["kinds"] = {"id": "omit", "when": "numeric"}
    samples = [isodepth.scan(each) for each in (x, y)] if chunked else [x, y]
    with pytest.warns(ColumnWarning, match="column 'name': only in X; check column 'when': only"):
        assert isodepth.distance(*samples, **options) == wanted
    result = compare_and_test(*samples, n_permutations=19, **options)
    assert result.distance == wanted
    unmatched = {each.column: (each.kind, each.note) for each in result.kinds if each.attention}
    assert unmatched == {
        "name": ("category", "only in X"), "id": ("numeric", "only in X"),
        "when": ("date", "only in Y"),
    }  # fmt: skip
    assert "missing columns, not compared: name, id" in str(result.test)
    assert "check column 'when': only in Y" in str(isodepth.compare(*samples, **options))
    result.suspicious_rows()
    with pytest.raises(InvalidInputError, match="no column in common; rename the columns of one"):
        isodepth.compare(samples[0], pd.DataFrame({"u": [1.0, 2.0]}))
    with pytest.raises(InvalidInputError, match="no column in common; rename the columns of one"):
        isodepth.two_sample_test(samples[0], pd.DataFrame({"u": [1.0, 2.0]}))


def days_from(start: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 30, 200), unit="D")
    return pd.DataFrame(
        {"when": pd.Timestamp(start) + days, "wait": days, "v": rng.normal(size=200)}
    )


@pytest.mark.parametrize("chunked", [False, True])
def test_changes_of_dates_are_shown_as_dates(chunked: bool) -> None:
    frames = [days_from("2024-01-01"), days_from("2024-03-01")]
    samples = [isodepth.scan(each) for each in frames] if chunked else frames
    test = isodepth.two_sample_test(
        *samples, kinds={"when": "numeric"}, n_permutations=19, random_state=0
    )
    before, after = (f"{each['when'].median():%Y-%m-%d}" for each in frames)
    assert test.changes[0].text == f"when: median {before} -> {after}"
    assert f"{before} -> {after}" in test.headline
    assert test.changes[0].before == (frames[0]["when"].median() - pd.Timestamp("1970")).days
    assert test.to_dict()["changes"][0]["text"] == test.changes[0].text


@pytest.mark.parametrize("chunked", [False, True])
def test_durations_are_days_by_option(chunked: bool) -> None:
    x, y = days_from("2024-01-01"), days_from("2024-01-01")
    y["wait"] *= 2
    samples = [isodepth.scan(each) for each in (x, y)] if chunked else [x, y]
    options: dict[str, Any] = {"n_permutations": 19, "random_state": 0}
    default = isodepth.two_sample_test(*samples, **options)
    assert default.kinds[1] == ColumnKind(
        "wait", "date", "omit", "durations", reasons=("durations",)
    )
    test = isodepth.two_sample_test(*samples, kinds={"wait": "numeric"}, **options)
    assert test.kinds[1] == ColumnKind(
        "wait", "numeric", "numeric", "days", "numeric", reasons=("days",)
    )
    assert test.changes[0].columns == ("wait",)


def test_columns_with_the_same_note_share_a_line() -> None:
    columns = {name: [*map(str, range(60)), "."] for name in "abcdefgh"}
    frame = pd.DataFrame({**columns, "i": [*map(str, range(60)), "?"]})
    with pytest.warns(ColumnWarning) as found:
        result = isodepth.two_sample_test(frame, frame, n_permutations=9, random_state=0)
    (warning,) = found
    assert str(warning.message).count("such as '.'") == str(result).count("such as '.'") == 1
    assert "check columns 'a', 'b', 'c', 'd', 'e', 'f' and 2 more: values that are" in str(result)
    assert "check column 'i': values" in str(result)
    shared, alone = result.checks[:2]
    assert (shared.columns, alone.columns) == (tuple("abcdefgh"), ("i",))
    assert shared.text.startswith("a, b, c, d, e, f and 2 more: in each column, 2 of 122 values")


def test_a_kind_of_dates_is_refused_with_the_remedy() -> None:
    frame = pd.DataFrame({"when": pd.date_range("2024", periods=9), "x": np.arange(9.0)})
    with pytest.raises(InvalidOptionError, match=r"dates are left out unless .* 'numeric'"):
        isodepth.two_sample_test(frame, frame, kinds={"when": "date"})


SIZES = ["xs", "s", "m", "l", "xl"]


@pytest.mark.parametrize(
    ("x", "y", "text", "value"),
    [
        ([0, 4] * 50, [0] * 100, "a = xs: 50% -> 100%", "xs"),
        (
            [0, 1, 1, 2, 3] * 20,
            [2, 3] * 50,
            "a: median of ranks (0 = xs, 4 = xl) 1.0 -> 2.5",
            None,
        ),
        ([0, 0, 1, 1, 2] * 40, [1] * 190 + [4] * 10, "a at least xl: 0% -> 5%", None),
    ],
)
@pytest.mark.parametrize("listed", [True, False])
def test_ranks_are_described_by_their_values(
    x: list[int], y: list[int], text: str, value: str | None, listed: bool
) -> None:
    X, Y = (pd.DataFrame({"a": pd.Categorical.from_codes(v, SIZES, ordered=True)}) for v in (x, y))
    X, Y = (each.astype(str) for each in (X, Y)) if listed else (X, Y)
    kinds = {"a": SIZES if listed else "numeric"}
    result = isodepth.two_sample_test(X, Y, kinds=kinds, n_permutations=99, random_state=0)
    assert (result.changes[0].text, result.changes[0].value) == (text, value)
    assert [each.text for each in result.checks] == ["a became constant (xs)"] * (value is not None)


def test_the_only_value_of_a_sample_is_a_date_or_a_large_integer() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-02-01"])
    for values, kinds, shown in (
        (days, {"a": "numeric"}, "2024-02-01"),
        ([2**60, 2**60 + 1], {}, 2**60 + 1),
    ):
        X, Y = (pd.DataFrame({"a": part}) for part in ([*values] * 50, [values[1]] * 100))
        result = isodepth.two_sample_test(X, Y, kinds=kinds, n_permutations=99, random_state=0)
        assert result.changes[0].text == f"a = {shown}: 50% -> 100%"


@pytest.mark.parametrize(
    "function",
    [
        isodepth.distance,
        lambda x, y: isodepth.two_sample_test(x, y, n_permutations=19),
        lambda x, _: isodepth.Monitor(x),
    ],
)
def test_lost_leading_zeros_are_a_warning_at_the_line_of_the_user(function: Any) -> None:
    rng = np.random.default_rng(0)
    frames = [pd.DataFrame({"zip": rng.choice(["00512", "47371"], 50)}) for _ in range(2)]
    with pytest.warns(
        ColumnWarning, match="'zip'.*'00512' is read without leading zeros"
    ) as caught:
        function(*frames)
    assert {each.filename for each in caught} == {__file__}


@pytest.mark.parametrize("word", ["01", "0x1"])
def test_numbers_are_not_compared_with_strings_of_another_spelling(word: str) -> None:
    """A reader of another file may have read these strings as numbers."""
    X = pd.DataFrame({"code": [word, "A1"] * 20, "v": np.arange(40.0)})
    Y = X.assign(code=[1, 2] * 20)
    for samples in ((X, Y), (Y, X)):
        with pytest.raises(InvalidInputError, match=f"has numbers and the string '{word}'"):
            isodepth.two_sample_test(*samples, n_permutations=19)
