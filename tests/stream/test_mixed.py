"""Tables read in chunks have the same kinds, numbers and categories as tables in memory."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from stream.tables import FORMS, mixed_frame, scanned

import isodepth
from isodepth import scan
from isodepth.errors import ColumnWarning, InvalidInputError
from isodepth.table.table import Schema, Table, tables_of
from isodepth.table.text_columns import narrowed_type

X, Y = mixed_frame(300, 1), mixed_frame(240, 2, 0.5)
KINDS: dict[str, Any] = {"count": "category", "when": "numeric", "ok": "numeric"}


def kinds_and_uses(columns: Any) -> list[tuple[str, str, str]]:
    return [(each.column, each.kind, each.use) for each in columns]


def texts(table: Table) -> list[list[str | None]]:
    return [table.texts(name) for name in table.schema.category_names]


@pytest.mark.parametrize("kinds", [None, KINDS, {"site": ["x", "y", "z", 'été, "q"']}])
@pytest.mark.parametrize("form", FORMS)
def test_kinds_and_values_as_in_memory(form: str, kinds: Any, tmp_path: Path) -> None:
    pytest.importorskip(form if form in ("dask", "polars") else "pandas")
    x, y = scanned(form, X, tmp_path / "x"), scanned(form, Y, tmp_path / "y")
    expected = tables_of(X, Y, kinds=kinds)
    schema = Schema.of(x, y, kinds=kinds)
    assert kinds_and_uses(schema.kinds) == kinds_and_uses(expected[0].schema.kinds)
    for source, whole in zip((x, y), expected, strict=True):
        chunks = list(schema.chunks(replace(source, chunk_rows=64)))
        assert len(chunks) > 3
        found = Table.pooled(*chunks)
        np.testing.assert_array_equal(found.numbers, whole.numbers)
        assert texts(found) == texts(whole)
        assert [found.origin.row_numbers(0).tolist()] == [sorted(found.origin.numbers)]


def test_kinds_from_a_part_of_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that rare words determine a kind, although not all numbers are counted."""
    monkeypatch.setattr("isodepth.table.profile._MOST_STRINGS", 600)
    n = 6000
    frame = pd.DataFrame(
        {
            "few": ["1", "2", "3"] * (n // 3),
            "many": [f"v{i % 201}" for i in range(n)],
            "some": [f"v{i % 200}" for i in range(n)],
            "number": [str(i / 7) for i in range(n)],
            "word": ["1.5"] * (n - 1) + ["a"],
        }
    )
    with pytest.warns(isodepth.errors.ColumnWarning, match=r"'word'.*'a' is not a number"):
        schema = Schema.of(scan(frame), scan(frame))
    uses = {each.name: each.use for each in schema.columns}
    assert uses == {
        "few": "numeric", "many": "omit", "some": "category", "number": "numeric",
        "word": "category",
    }  # fmt: skip
    assert [each.kind for each in schema.columns][:3] == ["numeric", "identifier", "category"]
    odd = frame.assign(number=[*frame["number"][:-1], "unknown"])
    with pytest.warns(
        isodepth.errors.ColumnWarning, match=r"'number'.*'unknown', are read as missing"
    ):
        schema = Schema.of(scan(odd), scan(odd))
    number = schema.columns[3]
    assert (number.use, number.option) == ("numeric", "numeric")
    chunk = pa.table({"number": ["0.5", "unknown", "0.25"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numbers = Schema((number,)).read(chunk).numbers
    np.testing.assert_array_equal(numbers, [[0.5], [np.nan], [0.25]])
    comma = frame.assign(number=[f"{i / 7:.2f}".replace(".", ",") for i in range(n - 1)] + ["?"])
    with pytest.warns(isodepth.errors.ColumnWarning, match=r"'number'.*'\?', are read as missing"):
        schema = Schema.of(scan(comma), scan(comma))
    chunk = pa.table({"number": ["1,250", "?", "2"]})
    numbers = Schema((schema.columns[3],)).read(chunk).numbers
    np.testing.assert_array_equal(numbers, [[1.25], [np.nan], [2]])


@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_chunks_of_words_in_a_column_of_numbers(ending: str, tmp_path: Path) -> None:
    """A column of numbers and words is read correctly if some chunks have only words.

    The file is sorted by this column.
    """
    numbers = [f"{i / 7:.3f}" for i in range(6000)]
    frame = pd.DataFrame({"v": [*numbers, *["unknown"] * 4000, *["-"] * 900]})
    path = tmp_path / f"t.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    source = scan(path, chunk_rows=500)
    schema = Schema.of(source, scan(frame))
    assert (schema.columns[0].use, schema.columns[0].option) == ("numeric", "numeric")
    values = schema.read(source).numbers
    np.testing.assert_array_equal(values[:, 0], [*map(float, numbers), *[np.nan] * 4900])
    assert Schema.of(frame, frame).kinds == schema.kinds


def test_kinds_do_not_depend_on_the_sample() -> None:
    """A column is an identifier if both samples together have too many categories.

    Each sample has 101 categories, and the other sample has none of them.
    """
    x, y = (
        pd.DataFrame({"a": range(2020), "c": [f"{s}{i % 101}" for i in range(2020)]}) for s in "xy"
    )
    for pair, use in (((x, y), "omit"), ((x, x), "category")):
        assert Schema.of(*map(scan, pair)).columns[1].use == use


def test_style_of_numbers_from_all_rows() -> None:
    """Check that a comma is the decimal mark in all chunks if it is in one of them."""
    frame = pd.DataFrame({"price": ["1,500"] * 500 + ["2,25"] * 500})
    source = scan(frame, chunk_rows=100)
    schema = Schema.of(source, source)
    assert {*schema.read(source).numbers.ravel()} == {1.5, 2.25}


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        ([["1", "2"], ["3", ""]], "int64"),
        ([["1", "NA"], ["2.5"]], "double"),
        ([["", "NA"], ["3"]], "int64"),
        ([["true"], ["False", ""]], "bool"),
        ([["2020-01-01"], ["2020-02-01 10:00:00"]], "timestamp[us]"),
        ([["1"], ["true"]], "string"),
        ([["true"], ["1"]], "string"),
        ([["true", "1"]], "string"),
        ([["true"], ["1.5"]], "string"),
        ([["1"], ["x"], ["2"]], "string"),
        ([["NA", ""], [""]], None),
    ],
)
def test_types_of_strings(chunks: list[list[str]], kind: str | None) -> None:
    import pyarrow as pa

    found: str | None = None
    for chunk in chunks:
        found = narrowed_type(pa.array(chunk), found)
    assert found == kind


def test_a_late_word_in_a_text_file(tmp_path: Path) -> None:
    """A string in the last line of a column of numbers is noticed.

    The error of a distance names its line. A test reads all rows, and the column is a category.
    """
    lines = ["a,b", *(f"{i},{i % 3}" for i in range(200_000)), "7,none of these"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    options = {"n_directions": 5, "levels": 3, "random_state": 0}
    with pytest.raises(isodepth.errors.UnreadableFileError, match=r"line 200002.*'none of these'"):
        isodepth.distance(scan(tmp_path / "t.csv"), np.ones((9, 2)), **options)
    with pytest.warns(isodepth.errors.ColumnWarning, match=r"'b'.*'none of these' is not a number"):
        schema = Schema.of(scan(tmp_path / "t.csv"), scan(tmp_path / "t.csv"))
    assert schema.category_names == ("b",)


def test_types_of_files_that_contradict(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1.0, 2.0]}).to_parquet(tmp_path / "1.parquet")
    (tmp_path / "2.csv").write_text("a\nx\ny\n")
    source = scan(tmp_path)
    with pytest.raises(InvalidInputError, match=r"type text in text files and of type number in"):
        Schema.of(source, source)
    # Numbers in a text file are strings if another file contains strings.
    pd.DataFrame({"a": ["x", "y"]}).to_parquet(tmp_path / "1.parquet")
    (tmp_path / "2.csv").write_text("a\n1\n2\n")
    with pytest.warns(isodepth.errors.ColumnWarning, match="'a'.* of 8 values are numbers"):
        schema = Schema.of(scan(tmp_path), scan(tmp_path))
    assert schema.category_names == ("a",)


@pytest.mark.parametrize("form", ["frames", "parquet", "csv", "dask"])
def test_distances_use_the_numbers(form: str, tmp_path: Path) -> None:
    pytest.importorskip("dask" if form == "dask" else "pandas")
    x, y = scanned(form, X, tmp_path / "x"), scanned(form, Y, tmp_path / "y")
    options = {"n_directions": 11, "levels": 5, "refine": 0, "random_state": 0}
    options |= {"nan_policy": "omit"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", isodepth.errors.ScaleWarning)
        for kinds in (None, KINDS):
            compared = isodepth.compare(x, y, kinds=kinds, scale="pooled", **options)
            expected = isodepth.compare(X, Y, kinds=kinds, scale="pooled", **options)
            assert compared.distance == pytest.approx(expected.distance, rel=1e-12)
            assert kinds_and_uses(compared.kinds) == kinds_and_uses(expected.kinds)
            assert compared.columns == expected.columns
    with pytest.warns(isodepth.errors.ColumnWarning, match="compares the numeric columns.*site"):
        isodepth.distance(x, y, **options)
    with pytest.raises(isodepth.errors.IsodepthError, match=r"'(site|price|ok)'"):
        isodepth.Metric(**options).region_table(x)


def test_without_a_numeric_column() -> None:
    frame = pd.DataFrame({"a": list("xyz") * 9})
    with pytest.raises(isodepth.errors.NotNumbersError, match="no numeric column"):
        isodepth.distance(scan(frame), scan(frame))


def test_weights_are_not_a_column() -> None:
    frame = X.dropna().assign(weight=1.0)
    options = {"n_directions": 5, "levels": 3, "refine": 0, "random_state": 0, "scale": None}
    weighted = isodepth.compare(scan(frame, weights="weight"), scan(X.dropna()), **options)
    assert "weight" not in weighted.columns
    with pytest.raises(
        isodepth.errors.UnreadableFileError, match="weights in column 'site' are of type"
    ):
        scan(frame, weights="site")


@pytest.mark.parametrize("convert", [pd.DataFrame, pa.table])
def test_the_first_row_is_compared_without_a_warning(convert: Any) -> None:
    """`scan` warns of large integers, and reading the chunks later does not warn again.

    The first row of each reading is converted, to compare it with that of the first reading.
    """
    values = {"t": 10**17 + np.arange(50, dtype=np.int64), "u": np.arange(50)}
    with pytest.warns(ColumnWarning, match="beyond 2"):
        source = isodepth.scan(lambda: iter([convert(values)]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [len(chunk.table) for chunk in source._parts[0].raw_chunks(100)] == [50]


@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
@pytest.mark.parametrize("kinds", [{"t": 2**62}, None])
def test_large_integers_of_frames_are_subtracted_before_they_are_rounded(kinds: Any) -> None:
    rng = np.random.default_rng(9)
    pair = [pd.DataFrame({"t": 2**62 + rng.integers(low, low + 999, 400)}) for low in (0, 500)]
    options: dict[str, Any] = {"n_permutations": 19, "random_state": 0}
    found = isodepth.two_sample_test(*(scan([x]) for x in pair), kinds=kinds, **options)
    expected = isodepth.two_sample_test(*pair, kinds={"t": 2**62}, **options)
    assert found.headline == expected.headline


# In text files, integers from 2**63 on are floats.
@pytest.mark.parametrize(("form", "least"), [
    *itertools.product(["frame", "function", "parquet"], [2**63 - 50, 2**64 - 200, 17 * 10**17]),
    ("csv", 17 * 10**17),
])  # fmt: skip
@pytest.mark.parametrize("word", [False, True])
@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
def test_large_integers_have_the_results_of_frames(
    least: int, word: bool, form: str, tmp_path: Path
) -> None:
    """Unsigned integers from 2**63 on, and times in nanoseconds, are not rounded in chunks."""
    rng, frames, sources = np.random.default_rng(9), [], []
    for side in (0, 30):
        values = [least + side + int(k) for k in rng.integers(0, 100, 300)]
        frame = pd.DataFrame({"t": np.array(values, np.uint64 if least > 2**62 else np.int64)})
        frame["x"] = rng.normal(size=300)
        frames.append(frame.assign(word="u") if word else frame)
        path = tmp_path / f"{side}.{form}"
        if form == "csv":
            frames[-1].to_csv(path, index=False)
        elif form == "parquet":
            frames[-1].to_parquet(path)
        cut = [frames[-1][first : first + 50] for first in range(0, 300, 50)]
        data = {"frame": frames[-1], "function": lambda cut=cut: iter(cut)}
        sources.append(scan(data.get(form, path)))
    options: dict[str, Any] = {"levels": 5, "refine": 0, "n_directions": 9, "random_state": 0}
    found, expected = (
        isodepth.compare(*pair, scale="pooled", **options) for pair in (sources, frames)
    )
    assert found.distance == pytest.approx(expected.distance, rel=1e-12)
    found, expected = (
        isodepth.two_sample_test(*pair, n_permutations=99, random_state=0)
        for pair in (sources, frames)
    )
    assert [each.text for each in found.changes] == [each.text for each in expected.changes]
    verdicts = [isodepth.Monitor(x, random_state=0).check(y) for x, y in (sources, frames)]
    assert verdicts[0] == verdicts[1]


def test_integers_of_different_types_in_two_chunks() -> None:
    low, high = (pa.table({"t": pa.array([v, v + 9], type_)}) for v, type_ in (
        (2**62, pa.int64()), (2**63, pa.uint64())))  # fmt: skip
    source = scan([low, high])
    numbers = Schema.of(source, source, row_numbers=False, kinds={"t": 2**62}).read(source).numbers
    assert numbers[:, 0].tolist() == [0, 9, 2.0**62, 2.0**62]


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize(
    ("seeds", "sizes", "change"),
    [
        ((0, 0, 1), (60, 60, 60), "other values in the first row"),
        ((0, 0, 0), (60, 60, 59), "120 rows, then 118"),
        ((0, 0, 0), (60, 0, 0), "at least one row, then 0"),
    ],
)
def test_a_function_must_give_the_same_rows_at_every_call(
    frames: bool, seeds: tuple[int, ...], sizes: tuple[int, ...], change: str
) -> None:
    """A function of chunks that returns other rows at a later call raises an error.

    The first call is that of `scan`, which reads only the first chunk.
    """
    calls = itertools.count()

    def chunks() -> Iterator[Any]:
        call = next(calls)
        rng = np.random.default_rng(seeds[call])
        for _ in range(2):
            rows = rng.normal(size=(sizes[call], 2))
            frame = pd.DataFrame(rows, columns=["a", "b"])
            yield frame.assign(word="u") if frames else rows

    (part,) = isodepth.scan(chunks)._parts
    readings = itertools.chain(part.raw_chunks(100), part.raw_chunks(100))
    with pytest.raises(InvalidInputError, match=rf"chunks has changed .*\({change}\); the data"):
        list(readings)


def with_entry(frame: pd.DataFrame, column: str, value: Any) -> pd.DataFrame:
    """Return a frame in which the last value of a column is replaced."""
    return frame.assign(**{column: [*frame[column][:-1], value]})


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("number", lambda f: with_entry(f, "number", 0.25)),
        ("number", lambda f: with_entry(f, "number", None)),
        ("large", lambda f: with_entry(f, "large", 2**60 + 1)),
        ("word", lambda f: with_entry(f, "word", "abd")),
        ("word", lambda f: with_entry(f, "word", None)),
        ("word", lambda f: f.assign(word=[*f["word"][:-2], "a", "bcabc"])),
        ("day", lambda f: with_entry(f, "day", pd.Timestamp("2000-01-02"))),
        ("flag", lambda f: with_entry(f, "flag", False)),
        ("number", lambda f: f.iloc[[*range(7), 8, 7, 9]]),  # another order of the rows
        ("", lambda f: f),  # an array
    ],
)
@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
def test_a_function_must_give_the_same_values_at_every_call(column: str, change: Any) -> None:
    frame = pd.DataFrame({"number": np.arange(10.0), "large": 2**60, "word": "abc", "flag": True})
    frame["day"] = pd.Timestamp("2000-01-01")
    calls = itertools.count()

    def chunks() -> Iterator[Any]:
        own = change(frame) if (late := next(calls) > 1) else frame
        rows = own if column else frame[["number"]].to_numpy() + late * np.eye(10, 1, -9)
        yield rows[:4]
        yield rows[4:]

    source = isodepth.scan(chunks)
    (part,) = source._parts
    where = f" in column '{column}'" if column else ""
    reading = part.raw_chunks if column else part.read
    assert sum(1 for _ in reading(100)) == 2
    with pytest.raises(InvalidInputError, match=rf"\(10 rows, then other values{where}\); the"):
        list(reading(100))
