"""Integers that number the rows are not compared: in memory, in chunks, in files, by a monitor."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isodepth
from isodepth.errors import ColumnWarning, NotNumbersError
from isodepth.rows.rows import TwoSamples
from isodepth.table.row_numbers import INCREASES, NUMBERS, RowNumbers, numbering_note


def table(n, seed, first=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"id": np.arange(first, first + n), "v": rng.normal(size=n)})


def note_of(result, column="id"):
    (kind,) = [each for each in result.kinds if each.column == column]
    return kind.use, kind.note


def quick(X, Y, **options):
    return isodepth.two_sample_test(X, Y, n_permutations=19, random_state=0, **options)


def naive_note(samples):
    """The definition of `numbering_note`, in plain Python."""
    if max(map(len, samples)) >= 10 and all(
        all(a < b for a, b in pairwise(each)) for each in samples
    ):
        return INCREASES
    pooled = sorted(value for each in samples for value in each)
    gapless = pooled == list(range(pooled[0], pooled[0] + len(pooled)))
    return NUMBERS if len(pooled) >= 20 and gapless else ""


@pytest.mark.parametrize("seed", range(40))
def test_the_rule_is_that_of_the_definition_for_any_chunks_in_any_order(seed):
    rng = np.random.default_rng(seed)
    pooled = np.arange(rng.integers(20, 40)) + int(rng.integers(-5, 2**40))
    if seed % 4 == 1:
        rng.shuffle(pooled)
    if seed % 4 == 2:  # one repeated value
        pooled[rng.integers(len(pooled) - 1)] += 1
    if seed % 4 == 3:  # two values exchanged
        i, j = rng.choice(len(pooled), 2, replace=False)
        pooled[[i, j]] = pooled[[j, i]]
    samples = np.split(pooled, [rng.integers(2, 18)])
    summaries = []
    for sample in samples:
        chunks = [
            RowNumbers.of(pa.array(part), first)
            for first, part in zip(range(0, 99, 5), np.split(sample, range(5, len(sample), 5)),
                                   strict=False)
            if len(part)
        ]  # fmt: skip
        rng.shuffle(chunks)
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole = None if whole is None or chunk is None else whole.merged(chunk)
        summaries.append(whole)
    assert numbering_note(summaries) == naive_note([each.tolist() for each in samples])


def test_the_order_of_exchangeable_rows_decides_with_the_stated_probability():
    """Of all orders of n + m values, 1 / (n! m!) increase in both samples, and fewer with ties."""
    for values, bound in ((range(6), 20), ([0, 1, 2, 2, 3, 4], 20)):
        orders = [(order[:3], order[3:]) for order in permutations(values)]
        found = sum(
            all(part is not None and part.increases() for part in map(summary, order))
            for order in orders
        )
        assert found == bound if len(set(values)) == 6 else found <= bound  # 720 / (3! 3!) = 20


def summary(values):
    return RowNumbers.of(pa.array(values))


def test_row_numbers_do_not_take_the_headline():
    X, Y = table(200, 0), table(100, 1, 200)
    Y["v"] += 1
    result = quick(X, Y)
    assert result.headline.startswith("Y differs from X (p = 0.05): v: ")
    assert note_of(result) == ("omit", INCREASES)
    assert "id (increases in every row)" in repr(result)
    compared = quick(X, Y, kinds={"id": "numeric"})
    assert ("id",) in [change.columns for change in compared.changes]


def test_shuffled_row_numbers_are_left_out_if_the_samples_have_all_of_them():
    pooled = table(300, 0).sample(frac=1, random_state=0)
    result = quick(pooled[:200], pooled[200:])
    assert note_of(result) == ("omit", NUMBERS)
    # One number is missing: a gap.
    assert note_of(quick(pooled[:200], pooled[201:]))[0] == "numeric"


def test_floats_short_samples_missing_values_and_repeated_integers_are_compared():
    X, Y = table(30, 0), table(30, 1, 40)

    def use(X, Y, column="id"):
        return note_of(TwoSamples.read(X, Y), column)[0]

    assert use(X, Y) == use(X, Y[:3]) == "omit"
    assert use(X.astype(float), Y.astype(float)) == "numeric"
    assert use(X[:9], Y[:9]) == "numeric"
    assert use(X.replace({"id": {3: 4}}), Y) == "numeric"
    assert use(X.replace({"id": {3: None}}), Y) == "numeric"
    unnamed = [frame.set_axis([0, 1], axis=1) for frame in (X, Y)]
    assert use(*unnamed, "0") == "numeric"  # columns without names


@pytest.mark.parametrize("shuffled", [False, True])
def test_all_containers_and_files_leave_out_the_same_columns(tmp_path, shuffled):
    pooled = table(300, 0)
    pooled["near"] = [*range(100), 99, *range(101, 300)]  # one repeated value
    if shuffled:
        pooled = pooled.sample(frac=1, random_state=0)
    frames = [part.reset_index(drop=True) for part in (pooled[:200], pooled[200:])]
    expected = quick(*frames)
    assert [each.use for each in expected.kinds] == ["omit", "numeric", "numeric"]
    makers = [pl.from_pandas, pa.Table.from_pandas, isodepth.scan]
    pairs = [[make(each) for each in frames] for make in makers]
    pairs.append([each.astype({"id": str}) for each in frames])
    pairs.append([isodepth.scan(lambda f=f: iter([f[:60], f[60:]])) for f in frames])
    for ending in ("csv", "parquet"):
        paths = [tmp_path / f"{name}.{ending}" for name in "xy"]
        for frame, path in zip(frames, paths, strict=True):
            if ending == "csv":
                frame.to_csv(path, index=False)
            else:
                frame.to_parquet(path, row_group_size=60)
        pairs.append([isodepth.scan(path) for path in paths])
        pairs.append([isodepth.scan(path, chunk_rows=70) for path in paths])
    for pair in pairs:
        result = quick(*pair)
        assert result.pvalue == expected.pvalue
        assert note_of(result) == note_of(expected)
        assert note_of(result, "near")[0] == "numeric"


def test_a_random_subset_of_a_source_does_not_decide():
    rng = np.random.default_rng(0)
    n = 40_000
    near = np.arange(n)
    near[n // 2] -= 1  # one repeated value, which random rows rarely have
    frame = pd.DataFrame({"id": np.arange(n), "near": near, "v": rng.normal(size=n)})
    result = quick(isodepth.scan(frame), isodepth.scan(frame), max_rows=200)
    assert [each.use for each in result.kinds] == ["omit", "numeric", "numeric"]


def test_distances_leave_out_row_numbers_with_a_warning():
    X, Y = table(50, 0), table(50, 1, 50)
    with pytest.warns(ColumnWarning, match="left out: id"):
        value = isodepth.distance(X, Y, random_state=0)
    assert value == isodepth.distance(X[["v"]], Y[["v"]], random_state=0)
    in_chunks = isodepth.compare(isodepth.scan(X), isodepth.scan(Y), random_state=0)
    assert [each.use for each in in_chunks.kinds] == ["omit", "numeric"]
    with pytest.raises(NotNumbersError, match=r"kinds=\{'id': 'numeric'\} compares id"):
        isodepth.compare(X[["id"]], Y[["id"]])


def test_half_of_the_columns_are_compared_without_counting_row_numbers():
    X, Y = ({name: np.arange(first, first + 50) for name in ("id", "key")} for first in (0, 9))
    rng = np.random.default_rng(0)
    X, Y = (pd.DataFrame(each | {"v": rng.normal(size=50)}) for each in (X, Y))
    assert "could be compared" not in quick(X, Y)._repr_html_()


@pytest.mark.parametrize("read", [lambda frame: frame, isodepth.scan], ids=["memory", "chunks"])
def test_a_monitor_leaves_out_row_numbers_and_reads_the_next_ones(read):
    monitor = isodepth.Monitor(read(table(300, 0)), random_state=0)
    assert monitor.columns == ("v",)
    assert note_of(monitor) == ("omit", INCREASES)
    for batch in range(3):
        assert not monitor.check(read(table(100, batch + 1, 300 + 100 * batch))).alarm
    other = isodepth.Monitor(read(table(300, 0)), kinds={"id": "numeric"}, random_state=0)
    assert other.check(read(table(100, 1, 300))).alarm


def test_a_batch_does_not_decide_about_a_column_of_the_reference():
    rng = np.random.default_rng(0)
    reference = pd.DataFrame({"n": rng.integers(0, 1000, 300), "v": rng.normal(size=300)})
    monitor = isodepth.Monitor(reference, random_state=0)
    batch = reference.sample(60, random_state=0).drop_duplicates("n").sort_values("n")
    assert monitor.check(batch).n_rows == len(batch)
