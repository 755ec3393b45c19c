"""Sources of every kind give the same sample at every reading, and raise clear errors."""

from __future__ import annotations

import decimal
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import isodepth
from isodepth import scan
from isodepth.errors import InvalidInputError, UnreadableFileError
from isodepth.stream.source import Source
from isodepth.typing import RandomLevels

POINTS = np.random.default_rng(0).normal(size=(60, 3))
FRAME = pd.DataFrame(POINTS, columns=["x", "y", "z"])
OPTIONS = {"levels": 5, "n_directions": 11, "random_state": 0}


def rows_of(source: Source, rows: int = 7) -> np.ndarray:
    return np.concatenate([chunk.values for chunk in source._chunks(rows)])


def write_parquet(folder: Path) -> Path:
    folder.mkdir()
    FRAME[:25].to_parquet(folder / "a.parquet", row_group_size=10)
    FRAME[:0].to_parquet(folder / "b.parquet")
    FRAME[25:].to_parquet(folder / "c.parquet", row_group_size=100)
    (folder / "_SUCCESS").touch()
    return folder


def write_csv(folder: Path) -> Path:
    folder.mkdir()
    FRAME[:25].to_csv(folder / "a.csv", index=False)
    (folder / "b.csv").touch()
    FRAME[:0].to_csv(folder / "c.csv", index=False)
    FRAME[25:].to_csv(folder / "d.csv", index=False)
    return folder


def all_sources(folder: Path) -> dict[str, Source]:
    np.save(folder / "points.npy", POINTS)
    return {
        "parquet": scan(write_parquet(folder / "parquet")),
        "csv": scan(write_csv(folder / "csv")),
        "npy": scan(folder / "points.npy"),
        "map": scan(np.load(folder / "points.npy", mmap_mode="r")),
        "frame": scan(FRAME),
        "list": scan([POINTS[:1], POINTS[:0], POINTS[1:]]),
        "frames": scan([FRAME[:30], FRAME[30:]]),
        "call": scan(lambda: iter([POINTS[:40], POINTS[:0], POINTS[40:]])),
        "pieces": scan(POINTS, chunk_rows=2),
    }


@pytest.mark.parametrize(
    "kind", ["parquet", "csv", "npy", "map", "frame", "list", "frames", "call", "pieces"]
)
def test_every_kind(kind: str, tmp_path: Path) -> None:
    source = all_sources(tmp_path)[kind]
    for rows in (1, 7, 1000):
        assert np.array_equal(rows_of(source, rows), POINTS)
        assert max(len(chunk.values) for chunk in source._chunks(rows)) <= rows
    named = kind in ("parquet", "csv", "frame", "frames")
    assert source.columns == (("x", "y", "z") if named else None)
    assert source.n_rows == (None if kind in ("csv", "call") else 60)
    expected = isodepth.Metric(**OPTIONS).region_table(FRAME if named else POINTS)
    found = isodepth.Metric(**OPTIONS).region_table(source)
    assert np.array_equal(found.values, expected.values)
    assert found.columns == expected.columns


def test_columns_and_weights(tmp_path: Path) -> None:
    frame = FRAME.assign(name="a", weight=np.arange(60.0), count=1)
    frame.to_parquet(tmp_path / "t.parquet")
    source = scan(tmp_path / "t.parquet", ["z", "x"], weights="weight")
    assert source.columns == ("z", "x")
    assert source.weighted
    expected = isodepth.Metric(**OPTIONS).region_table(frame[["z", "x"]], weights=frame["weight"])
    assert np.array_equal(isodepth.Metric(**OPTIONS).region_table(source).values, expected.values)
    assert scan(POINTS, [2, 0]).n_features == 2
    assert np.array_equal(rows_of(scan(POINTS, [2, 0])), POINTS[:, [2, 0]])


def test_precision_as_in_memory(tmp_path: Path) -> None:
    single = FRAME.astype("float32")
    single.to_parquet(tmp_path / "single.parquet")
    FRAME.to_parquet(tmp_path / "double.parquet")
    assert scan(tmp_path / "single.parquet").dtype == "float32"
    assert scan(tmp_path).dtype == "float64"
    assert scan(single.to_numpy()).dtype == "float32"
    assert scan([single.to_numpy(), POINTS]).dtype == "float64"
    assert scan(tmp_path, dtype="float32").dtype == "float32"
    both = isodepth.Metric(**OPTIONS).region_table(
        np.concatenate([FRAME, single.astype("float64")])
    )
    assert np.array_equal(
        isodepth.Metric(**OPTIONS).region_table(scan(tmp_path)).values, both.values
    )


def test_columns_are_matched_by_name() -> None:
    turned = isodepth.distance(scan(FRAME), scan(FRAME[["z", "x", "y"]] + 1), refine=0, **OPTIONS)
    assert turned == isodepth.distance(POINTS, POINTS + 1, refine=0, **OPTIONS)
    with pytest.raises(InvalidInputError, match="they have no column in common; rename"):
        isodepth.distance(scan(FRAME), scan(FRAME.set_axis(list("abc"), axis=1)), **OPTIONS)


@pytest.mark.parametrize(
    ("data", "options", "match"),
    [
        ([], {}, "empty list"),
        (3, {}, "scan takes a file or folder"),
        (POINTS[:, 0], {}, "must be a table"),
        ([POINTS, POINTS[:, :2]], {}, "'2' is only in chunk 0"),
        ([POINTS, FRAME.set_axis(["0", "1", "2"], axis=1)], {}, "chunk 0 and chunk 1 name"),
        ([FRAME.set_axis(["0", "1", "2"], axis=1), POINTS], {}, "chunk 0 and chunk 1 name"),
        (FRAME, {"columns": ["x", "w"]}, "no column 'w'"),
        (FRAME, {"columns": ["x", "x"]}, "selected twice"),
        (FRAME, {"columns": "x"}, r"write \['x'\]"),
        (FRAME, {"columns": []}, "columns is empty"),
        (FRAME, {"columns": ["x"], "weights": "x"}, "for points and for weights"),
        (lambda: 3, {}, "must return an iterator"),
        (list, {}, "returns no rows"),
        ((POINTS[i : i + 10] for i in range(0, 60, 10)), {}, "give a function that makes"),
        (iter([POINTS]).__iter__, {}, "same iterator at every call"),
    ],
)
def test_invalid_sources_are_refused(data: object, options: dict, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        scan(data, **options)


def test_missing_and_foreign_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="no such file"):
        scan(tmp_path / "nothing")
    with pytest.raises(UnreadableFileError, match="has no file"):
        scan(tmp_path)
    (tmp_path / "notes.txt").touch()
    with pytest.raises(UnreadableFileError, match=r"ends in '\.txt'"):
        scan(tmp_path / "notes.txt")
    np.save(tmp_path / "a.npy", POINTS)
    with pytest.raises(UnreadableFileError, match=r"notes\.txt in this folder is not a table"):
        scan(tmp_path)
    (tmp_path / "notes.txt").unlink()
    FRAME.to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(InvalidInputError, match=r"'2' are only in .*a\.npy, 'x', 'y', 'z' are"):
        scan(tmp_path)


def test_every_file_of_a_folder_is_read(tmp_path: Path) -> None:
    """Files of different formats, with columns in any order, form one sample."""
    FRAME[:10].to_csv(tmp_path / "1.csv", index=False)
    FRAME[10:20].to_csv(tmp_path / "2.csv.gz", index=False, sep=";", decimal=",")
    FRAME[20:30].to_csv(tmp_path / "3.tsv", index=False, sep="\t")
    FRAME[30:50][["z", "y", "x"]].to_parquet(tmp_path / "5.parquet")
    FRAME[50:].assign(y=[decimal.Decimal(repr(y)) for y in FRAME["y"][50:]]).to_parquet(
        tmp_path / "6.parquet"
    )
    source = scan(tmp_path)
    assert source.columns == ("x", "y", "z")
    for rows in (3, 1000):
        np.testing.assert_allclose(rows_of(source, rows), POINTS, rtol=1e-15)  # decimals round
    np.testing.assert_array_equal(rows_of(scan(tmp_path, ["z", "x"])), POINTS[:, [2, 0]])


def test_odd_cells_in_chunks(tmp_path: Path) -> None:
    """Quoted cells with newlines, and missing cells, are read.

    They may also be in columns that are not selected.
    """
    rows = [(i, ["yes", 'no\n"1, 2"'][i % 2], ["", "NA", i][i % 3]) for i in range(40)]
    frame = pd.DataFrame(rows, columns=["a", "text", "b"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    values = rows_of(scan(tmp_path / "t.csv", ["b", "a"]))
    np.testing.assert_array_equal(values, [[b if a % 3 == 2 else np.nan, a] for a, _, b in rows])
    with pytest.raises(UnreadableFileError, match=r"line 2, column 2 \('text'\): 'yes' is not a n"):
        rows_of(scan(tmp_path / "t.csv", ["a", "text"]))
    (tmp_path / "t.csv").write_text('a,b\n1,x\n2,"y\n3,z\n')
    with pytest.raises(UnreadableFileError, match="quotes are damaged"):
        rows_of(scan(tmp_path / "t.csv", ["a"]))


def test_sources_without_rows_are_refused(tmp_path: Path) -> None:
    FRAME[:0].to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match="it has no row"):
        isodepth.Metric(**OPTIONS).region_table(scan(tmp_path))
    zeros = np.column_stack([POINTS, np.zeros(60)])
    with pytest.raises(InvalidInputError, match="all weights are zero"):
        isodepth.Metric(**OPTIONS).region_table(scan(zeros, weights=3))


# -- damage ---------------------------------------------------------------------------------------


def test_damage_inside_a_row_group(tmp_path: Path) -> None:
    """If the header of a Parquet file is intact, an error about damage names the row group."""
    folder = write_parquet(tmp_path / "parquet")
    file = folder / "a.parquet"
    with pq.ParquetFile(file) as opened:
        column = opened.metadata.row_group(1).column(0)
        start, size = column.data_page_offset, column.total_compressed_size
    content = bytearray(file.read_bytes())
    content[start : start + size] = b"\xff" * size
    file.write_bytes(content)
    with pytest.raises(UnreadableFileError, match=r"a\.parquet, row group 1: it is damaged"):
        isodepth.distance(scan(folder), POINTS, **OPTIONS)


def test_a_schema_that_differs(tmp_path: Path) -> None:
    folder = write_parquet(tmp_path / "parquet")
    FRAME.rename(columns={"y": "w"}).to_parquet(folder / "d.parquet")
    with pytest.raises(InvalidInputError, match=r"'y' is only in .*a\.parquet, 'w' is only in"):
        scan(folder)
    FRAME.astype({"y": str}).to_parquet(folder / "d.parquet")
    with pytest.raises(UnreadableFileError, match=r"d\.parquet: column 'y' is of type"):
        scan(folder)
    # The order of the columns is not a part of the schema.
    FRAME[["z", "x", "y"]].to_parquet(folder / "d.parquet")
    assert np.array_equal(rows_of(scan(folder)), np.concatenate([POINTS, POINTS]))


def test_missing_values(tmp_path: Path) -> None:
    holes = POINTS.copy()
    holes[13:53, 1] = np.nan
    table = pa.table({name: holes[:, j] for j, name in enumerate("xyz")})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=10)
    for source, match in (
        (scan(tmp_path), r"t\.parquet, row group 1 contains 7 NaN.*row 3"),
        (scan(holes, chunk_rows=10), r"array contains 7 NaN.*row 13"),
        (scan(lambda: [POINTS, holes]), r"chunk 1 contains 40 NaN.*row 13"),
    ):
        with pytest.raises(InvalidInputError, match=match):
            isodepth.distance(source, POINTS, **OPTIONS)
    options = {"scale": None, "nan_policy": "omit", "refine": 0, **OPTIONS}
    comparison = isodepth.compare(scan(tmp_path), POINTS, **options)
    kept = holes[~np.isnan(holes).any(axis=1)]
    whole = isodepth.compare(holes, POINTS, **options)
    assert comparison.distance == isodepth.distance(kept, POINTS, refine=0, **OPTIONS)
    assert [side.n_dropped for side in (comparison.missing.x, comparison.missing.y)] == [40, 0]
    counts = [each.missing.x.counts.values() for each in (comparison, whole)]
    assert list(counts[0]) == list(counts[1])
    every = pa.table({"x": pa.array([None, None], pa.float64()), "y": [1.0, 2.0]})
    pq.write_table(every, tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match="every row has a missing value"):
        isodepth.Metric(nan_policy="omit", **OPTIONS).region_table(scan(tmp_path))


def test_csv_faults_name_the_line(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    lines = ["x,y"] + [f"{i},{i * i}" for i in range(30)]
    for line, fault, match in (
        (20, "3,four", r"line 21, column 2 \('y'\): 'four' is not a number"),
        (20, "3", r"line 21 has 1 cell"),
        (20, "3,", r"t\.csv contains 1 NaN.*at row 19"),
    ):
        file.write_text("\n".join(lines[:line] + [fault] + lines[line:]) + "\n")
        with pytest.raises((InvalidInputError, UnreadableFileError), match=match):
            isodepth.Metric(**OPTIONS).region_table(scan(file, chunk_rows=7))


def test_options_that_are_refused_for_chunks() -> None:
    source = scan(POINTS)
    for options, match in (
        ({"levels": RandomLevels(5)}, "fixed grid of levels"),
        ({"gap": "exact"}, "gap='exact'"),
        ({"refine": 5}, "refine=5"),
        ({"weights": (np.ones(60), None)}, "name the column"),
    ):
        with pytest.raises(isodepth.errors.IsodepthError, match=match):
            isodepth.distance(source, source, **options)


def test_a_comparison_has_all_output_except_for_rows() -> None:
    """The texts and figures of a comparison of sources equal those of the same samples as arrays.

    Output that needs the rows of the samples is an exception.
    """
    x, y = POINTS, POINTS[:50] + [3, 0, 0]
    parts = isodepth.compare(scan([x[:7], x[7:]]), scan(y), scale=None, refine=0, **OPTIONS)
    whole = isodepth.compare(x, y, scale=None, refine=0, **OPTIONS)
    assert parts.to_frame().equals(whole.to_frame())
    mine, expected = parts.to_dict(), whole.to_dict()
    assert mine.pop("distance_bounds") == [whole.distance] * 2
    assert mine == expected
    assert np.array_equal(parts.gap_directions, whole.gap_directions)
    shown = str(parts).splitlines()
    assert shown.pop(1) == "  read in chunks: 5 levels, 11 directions, no refinement"
    assert shown[:2] == str(whole).splitlines()[:2]
    assert "levels=5" in parts.signature
    assert "refine=0" in parts.signature
    with pytest.raises(InvalidInputError, match="the gradient needs the rows"):
        parts.gradient()
    for call in (isodepth.ProjectionDepth().fit, isodepth.Metric().regions):
        with pytest.raises(InvalidInputError, match=r"Source\(array: 60 rows"):
            call(scan(POINTS))


@pytest.mark.parametrize(
    "options", [{"q": 2}, {"scale": "pooled"}, {"scale": "reference"}, {"p": 1}]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_settings_as_in_memory(options: dict, dtype: str) -> None:
    x = POINTS.astype(dtype)
    y = (3 * POINTS + 1).astype(dtype)
    x[:45, 1] = 0.5  # three quarters of a column are equal
    options = {"scale": None, "refine": 0, **OPTIONS, **options}
    comparison = isodepth.compare(scan([x[:9], x[9:]]), scan(y), **options)
    expected = isodepth.compare(x, y, **options)
    tolerance = 1e-6 if dtype == "float32" else 1e-14
    assert comparison.distance == pytest.approx(expected.distance, rel=tolerance)
    assert np.allclose(comparison.gaps, expected.gaps, rtol=tolerance)
    found, wanted = (
        {each.column: each.fraction for each in result.contributions}
        for result in (comparison, expected)
    )
    assert found == pytest.approx(wanted, abs=100 * tolerance)


def test_chunks_of_a_function_have_one_precision() -> None:
    single, double = np.zeros((4, 2), np.float32), np.full((4, 2), 1 / 3)
    mixed = scan(lambda: [single, double])
    with pytest.raises(InvalidInputError, match=r"chunk 1 has dtype float64.*dtype='float64'"):
        list(mixed._chunks(10))
    for dtype in ("float32", "float64"):
        assert len(list(scan(lambda: [single, double], dtype=dtype)._chunks(10))) == 2
    assert scan(lambda: [double, single]).dtype == "float64"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX systems")
def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "rows.csv"
    os.mkfifo(pipe)
    with pytest.raises(UnreadableFileError, match="pipe"):
        scan(pipe)
