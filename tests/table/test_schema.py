"""Tables and schemas: one decision for all samples, one conversion for all formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isodepth
from isodepth.base.fold import Fold
from isodepth.errors import InvalidInputError
from isodepth.table.profile import ColumnProfile, ProfileFold, StringCounts
from isodepth.table.raw import RawChunk, raw_table
from isodepth.table.table import Schema, Table, tables_of

pytestmark = pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")


def frame(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    words = rng.choice(["a", "b", "NA"], n)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n).round(3),
            "word": np.where(rng.random(n) < 0.1, None, words),
            "flag": rng.random(n) < 0.5,
            "code": rng.choice(["01", "02", "x"], n),
            "price": rng.choice(["$1,500.00", "$2"], n),
            "day": rng.choice(["2024-01-01", "2024-02-01"], n),
            "id": [f"row {i}" for i in range(n)],
        }
    )


def as_lists(table: Table) -> list[Any]:
    texts = [table.texts(name) for name in table.schema.category_names]
    return [np.nan_to_num(table.numbers, nan=-9).tolist(), *texts]


def test_all_formats_give_equal_tables(tmp_path: Path) -> None:
    X, Y = frame(60), frame(50, 1)
    forms: list[Any] = [(X, Y), (pl.from_pandas(X), pl.from_pandas(Y))]
    forms.append((pa.Table.from_pandas(X), pa.Table.from_pandas(Y)))
    for ending in ("csv", "parquet"):
        paths = [tmp_path / f"{name}.{ending}" for name in "xy"]
        for path, part in zip(paths, (X, Y), strict=True):
            part.to_csv(path, index=False) if ending == "csv" else part.to_parquet(path)
        forms.append([*map(isodepth.scan, paths)])
        forms.append([isodepth.scan(path, chunk_rows=7) for path in paths])
    forms.append((X, forms[-1][1]))
    found = []
    for pair in forms:
        x, y = tables_of(*pair)
        uses = [(each.name, each.use, each.categories) for each in x.schema.columns]
        found.append([uses, as_lists(x), as_lists(y)])
    assert found[0][0][3] == ("code", "category", ("01", "02", "x"))
    assert [use for _, use, _ in found[0][0]] == [
        "numeric",
        *3 * ["category"],
        "numeric",
        *2 * ["omit"],
    ]
    assert all(each == found[0] for each in found)


def test_the_schema_does_not_depend_on_the_assignment_of_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if there are more distinct strings than are kept."""
    monkeypatch.setattr("isodepth.table.profile._MOST_STRINGS", 250)
    rng = np.random.default_rng(0)
    pool = pd.DataFrame(
        {
            "few": rng.choice([*map(str, range(300)), "unknown"], 600),
            "numbers": [*map(str, rng.normal(size=597).round(4)), "x", "y", "-"],
            "words": rng.choice([f"w{i}" for i in range(190)], 600),
            "both": [*map(str, range(300)), *(f"V{i}" for i in range(300))],
        }
    )
    schemas = []
    for cut in (1, 100, 300, 599):
        rows = rng.permutation(600)
        columns = Schema.of(pool.iloc[rows[:cut]], pool.iloc[rows[cut:]]).columns
        schemas.append([(each.name, each.kind, each.categories, each.option) for each in columns])
    assert all(schema == schemas[0] for schema in schemas)
    assert [kind for _, kind, *_ in schemas[0]] == ["numeric", "numeric", "category", "identifier"]


def test_kept_strings_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isodepth.table.profile._MOST_STRINGS", 50)
    rng = np.random.default_rng(0)
    table = pa.table({"v": [f"v{i}" for i in rng.integers(0, 5000, 3000)]})
    fold = ProfileFold(["v"])
    whole = fold.run([RawChunk(table, "X")])["v"].words
    for size in (1, 17, 1000):
        parts = [fold.start() for _ in range(3)]
        for at, first in enumerate(range(0, 3000, size)):
            fold.step(parts[at % 3], RawChunk(table.slice(first, size), "X", start=first), 1)
        for part in parts[1:]:
            fold.merge(parts[0], part)
        assert fold.finish(parts[0])["v"].words == whole
    assert len(whole.counts) == 50
    assert whole.n_rows == 3000
    distinct = len(set(table["v"].to_pylist()))
    assert abs(whole.n_distinct - distinct) < 0.5 * distinct
    assert {value: table["v"].to_pylist().count(value) for value in whole.counts} == whole.counts


def test_values_that_the_schema_does_not_know_are_not_missing() -> None:
    schema = Schema.of(pd.DataFrame({"v": ["a", "b"], "w": [1.0, 2.0]}))
    table = schema.read(pd.DataFrame({"w": [1, 2, 2, 3, 4], "v": ["new", "b", None, "old", "new"]}))
    assert table.codes[:, 0].tolist() == [2, 1, -1, 3, 2]
    assert table.words(0) == ("a", "b", "new", "old")
    assert table.texts("v") == ["new", "b", None, "old", "new"]
    other = schema.read(pd.DataFrame({"w": [3, 1, 2], "v": ["old", "new", None]}))
    assert other.hashes().tolist() == [table.hashes()[i] for i in (3, 0, 2)]
    assert len({*table.hashes().tolist()}) == 5
    pooled = Table.pooled(table, other)
    assert pooled.texts("v") == table.texts("v") + other.texts("v")
    assert pooled.hashes().tolist() == [*table.hashes(), *other.hashes()]
    part = pooled.take([5, 0])
    assert part.texts("v") == ["old", "new"]
    assert part.origin.place(1) == ("", 0)
    assert np.isnan(table.matrix).sum() == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_are_not_copied(dtype: type, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(dtype)
    np.save(tmp_path / "x.npy", X)
    for array in (X, np.load(tmp_path / "x.npy", mmap_mode="r")):
        table = Schema.of(array, labels=["X"]).read(array)
        assert np.shares_memory(table.numbers, array)
        assert table.numbers.dtype == dtype
    assert table.schema.names == ("column 0", "column 1", "column 2")
    assert table.schema.kinds == ()


def test_tensors_stay_as_they_are() -> None:
    torch = pytest.importorskip("torch")
    X = torch.zeros((4, 2))
    (table,) = tables_of(X, labels=["X"])
    assert table.numbers is X
    assert len(table) == 4


def test_a_schema_is_stored_as_json() -> None:
    X = frame(60)
    kinds = {"day": "numeric", "word": ["NA", "a", "b"]}
    schema = Schema.of(X, labels=["the reference"], kinds=kinds)
    again = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert again == schema
    batch = frame(10, 3)
    assert as_lists(again.read(batch)) == as_lists(schema.read(batch))
    with pytest.raises(KeyError):
        Schema.from_json(schema.to_json() | {"columns": [{"name": "x", "notes": [["NO", {}]]}]})


def test_later_samples_of_other_types_are_refused() -> None:
    schema = Schema.of(pd.DataFrame({"v": ["01", "2", "A"] * 9}), labels=["the reference"])
    with pytest.raises(InvalidInputError, match="such as '01' in the reference and int64 in Y"):
        schema.read(pd.DataFrame({"v": [1, 2]}), "Y", hint=". Not counted.")
    assert schema.read(pd.DataFrame({"v": ["2"]})).codes.tolist() == [[1]]
    numbers = Schema.of(pd.DataFrame({"v": [1.0, 2.0]}), labels=["the reference"])
    for values in (["$1,500"], ["a"], pd.to_datetime(["2024-01-01"])):
        with pytest.raises(InvalidInputError, match="'v' holds numbers in the reference"):
            numbers.read(pd.DataFrame({"v": values}))
    assert numbers.read(pd.DataFrame({"v": ["1.5", None]})).numbers[0, 0] == 1.5


def test_a_fold_over_memory_and_files(tmp_path: Path) -> None:
    class Sums(Fold):
        def start(self) -> list[Any]:
            return []

        def step(self, state: list[Any], chunk: Table, n_threads: int) -> None:
            numbers = chunk.origin.row_numbers(len(chunk))
            state += [*zip(numbers.tolist(), chunk.numbers[:, 0], chunk.texts("word"), strict=True)]

        def finish(self, state: list[Any]) -> list[Any]:
            return sorted(state)

    X = frame(60)
    schema = Schema.of(X)
    expected = schema.run(Sums(), X)
    assert len(expected) == 60
    X.to_csv(tmp_path / "x.csv", index=False)
    source = isodepth.scan(tmp_path / "x.csv")
    assert Schema.of(source).run(Sums(), source) == expected


def test_integers_beyond_the_floats_share_one_offset() -> None:
    low = 2**60
    X, Y = (pd.DataFrame({"v": low + np.arange(9) % 4 + shift}) for shift in (0, 7))
    x, y = tables_of(X, Y)
    assert (y.numbers.min() - x.numbers.min()) == 7
    assert x.schema["v"].base == y.schema["v"].base > low - 300_000


def test_profiles_of_numbers_have_no_strings() -> None:
    table = raw_table(pd.DataFrame({"v": [1.5, None], "n": [1, 2]}), "X")
    profiles = ProfileFold(["v", "n"]).run([RawChunk(table, "X")])
    assert isinstance(profiles["v"], ColumnProfile)
    assert profiles["v"].words == StringCounts() == profiles["n"].words
    assert (profiles["v"].n_values, profiles["n"].ends) == (1, (1, 2))


def test_different_new_words_have_different_hashes() -> None:
    """Test the words "plumless" and "buckeroo", whose 32-bit checksums (CRC-32) are equal."""
    schema = Schema.of(pd.DataFrame({"word": ["a", "b", "a", "b"]}), labels=["X"])
    table = schema.read(pd.DataFrame({"word": ["plumless", "buckeroo", "plumless"]}))
    hashes = table.hashes()
    assert (hashes[0] == hashes[2], hashes[0] == hashes[1]) == (True, False)
