"""Matrices of all pairs: an entry depends on its two samples only, not on threads or memory."""

from __future__ import annotations

import inspect
import json
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from strategies import orders

import isodepth
from isodepth import Metric, region_tables
from isodepth.errors import ColumnWarning, InvalidInputError, InvalidOptionError
from isodepth.metric.region_table import RegionTables
from isodepth.table import validation

OPTIONS = {"levels": 6, "n_directions": 20, "random_state": 0}


def make_bags(count: int, d: int = 3, number: int = 0) -> list[np.ndarray]:
    """Return `count` samples of different sizes, locations and scales; `number` is the seed."""
    rng = np.random.default_rng([number, count, d])
    return [
        rng.standard_t(4, (int(rng.integers(d + 3, 40)), d)) * rng.uniform(0.5, 2, d)
        + rng.normal(0, 2, d)
        for _ in range(count)
    ]


BAGS = make_bags(150)


def pairwise(*samples: Any, **options: Any) -> np.ndarray:
    """Return the result of `isodepth.pairwise` as an array."""
    return isodepth.pairwise(*samples, **options).values


MATRIX = pairwise(BAGS, **OPTIONS)


# -- the entries ----------------------------------------------------------------------------------


@seed(7)
@settings(max_examples=40, deadline=None)
@given(
    number=st.integers(0, 10**6),
    d=st.integers(1, 5),
    p=orders(),
    depth=st.sampled_from(["halfspace", "projection", "irw", "ai_irw"]),
    normalize=st.booleans(),
    data=st.data(),
)
def test_entries_are_those_of_the_metric(number, d, p, depth, normalize, data) -> None:
    bags = make_bags(4, d, number)
    rng = np.random.default_rng(number)
    weights = [rng.integers(1, 4, len(bag)) if data.draw(st.booleans()) else None for bag in bags]
    options = {**OPTIONS, "depth": depth, "p": p, "normalize": normalize}
    matrix = pairwise(bags, weights=weights, **options)
    metric = Metric(**options, refine=0)
    for i in range(4):
        for j in range(4):
            expected = metric.distance(bags[i], bags[j], weights=(weights[i], weights[j]))
            assert matrix[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_the_matrix_is_exactly_symmetric_with_a_zero_diagonal() -> None:
    assert MATRIX.shape == (150, 150)
    assert MATRIX.dtype == np.float64
    assert (MATRIX == MATRIX.T).all()
    assert (np.diag(MATRIX) == 0).all()
    assert (MATRIX[~np.eye(150, dtype=bool)] > 0).all()


@pytest.mark.parametrize("count", [1, 2, 64, 65, 129, 149])
def test_entries_do_not_depend_on_other_samples(count: int) -> None:
    order = np.random.default_rng(1).permutation(150)[:count]
    some, bags = BAGS[:7], [BAGS[i] for i in order]
    assert (pairwise(bags, **OPTIONS, n_jobs=1 + count % 3) == MATRIX[np.ix_(order, order)]).all()
    assert (pairwise(some, bags, **OPTIONS) == MATRIX[:7, order]).all()
    assert (pairwise(bags, some, **OPTIONS) == MATRIX[order, :7]).all()


def test_tables_have_the_distances_of_their_samples() -> None:
    stack = region_tables(BAGS, **OPTIONS)
    assert (pairwise(stack) == MATRIX).all()
    assert (pairwise(list(stack), n_jobs=2) == MATRIX).all()
    assert (pairwise(stack[:9], list(stack[9:])) == MATRIX[:9, 9:]).all()
    assert stack[3].distance_to(stack[8]) == MATRIX[3, 8]


def test_a_table_of_a_list_is_the_table_of_a_sample() -> None:
    stack = region_tables(BAGS[:10], **OPTIONS)
    assert isinstance(stack, RegionTables)
    metric = Metric(**OPTIONS)
    for bag, table in zip(BAGS, stack, strict=False):
        alone = metric.region_table(bag)
        assert (alone.values == table.values).all()
        assert alone.signature == table.signature
    assert "10 tables" in repr(stack)


def test_float32_tables_and_data() -> None:
    coarse = pairwise(BAGS[:20], **OPTIONS, table_dtype="float32")
    size = max(np.abs(bag).max() for bag in BAGS[:20]) * np.sqrt(3)
    # Two values rounded by 2**-25 of their size each, and their difference once more.
    assert np.abs(coarse - MATRIX[:20, :20]).max() <= 3 * 2.0**-24 * size
    single = [bag.astype(np.float32) for bag in BAGS[:20]]
    upcast = pairwise(single, **OPTIONS, dtype="float64")
    doubled = pairwise([bag.astype(np.float64) for bag in single], **OPTIONS)
    assert (upcast == doubled).all()


def test_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(3)
    bags = BAGS[:6]
    weights = [rng.integers(1, 4, len(bag)) for bag in bags]
    repeated = [np.repeat(bag, w, axis=0) for bag, w in zip(bags, weights, strict=True)]
    mixed = pairwise(bags[:2], bags[2:], weights=(weights[:2], weights[2:]), **OPTIONS)
    assert (mixed == pairwise(repeated[:2], repeated[2:], **OPTIONS)).all()
    half = pairwise(bags[:2], bags[2:], weights=(None, weights[2:]), **OPTIONS)
    assert (half == pairwise(bags[:2], repeated[2:], **OPTIONS)).all()


def test_many_kinds_of_collections() -> None:
    cube = np.random.default_rng(4).normal(size=(5, 9, 2))
    expected = pairwise(list(cube), **OPTIONS)
    for given_as in (cube, tuple(cube), cube.tolist(), (bag for bag in cube)):
        found = pairwise(given_as, **OPTIONS)
        assert type(found) is np.ndarray
        assert (found == expected).all()


def test_without_a_seed_the_directions_are_shared_but_new() -> None:
    bags = [BAGS[0], BAGS[0], BAGS[1]]
    first, second = (pairwise(bags, levels=3, n_directions=3) for _ in range(2))
    assert first[0, 1] == 0
    assert first[0, 2] == first[1, 2] != second[0, 2]
    drawn = pairwise(bags, **{**OPTIONS, "random_state": np.random.default_rng(5)})
    again = pairwise(bags, **{**OPTIONS, "random_state": np.random.default_rng(5)})
    assert (drawn == again).all()


def test_the_default_is_a_grid_of_twenty_levels() -> None:
    default = pairwise(BAGS[:3], random_state=0)
    assert (default == pairwise(BAGS[:3], random_state=0, levels=20, refine=0)).all()


# -- output ---------------------------------------------------------------------------------------


def test_out_takes_the_result(tmp_path: Path) -> None:
    for dtype in (np.float64, np.float32):
        file = np.memmap(tmp_path / "matrix", dtype=dtype, mode="w+", shape=(150, 150))
        assert np.shares_memory(pairwise(BAGS, out=file, **OPTIONS), file)
        del file
        again = np.memmap(tmp_path / "matrix", dtype=dtype, mode="r", shape=(150, 150))
        assert (again == MATRIX.astype(dtype)).all()
    window = np.zeros((300, 160))
    pairwise(BAGS, out=window[::2, 10:], **OPTIONS)
    assert (window[::2, 10:] == MATRIX).all()
    assert not window[1::2].any()


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((3, 2)), r"shape \(3, 3\), got .* \(3, 2\)"),
        (np.empty((3, 3), dtype=int), "float array or memory map .* int64"),
        ([[0.0] * 3] * 3, "got a list"),
        (np.broadcast_to(0.0, (3, 3)), "writable"),
    ],
)
def test_out_that_cannot_take_it(out: object, message: str) -> None:
    with pytest.raises(InvalidOptionError, match=message):
        pairwise(BAGS[:3], out=out, **OPTIONS)  # type: ignore[arg-type]


def test_a_progress_bar_shows_both_steps(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    assert (pairwise(BAGS, progress=True, **OPTIONS) == MATRIX).all()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "regions: 100%" in shown.err
    assert "150/150" in shown.err
    assert "distances: 100%" in shown.err
    pairwise(BAGS[:3], **OPTIONS)
    assert capsys.readouterr().err == ""


def test_no_bar_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(
        isodepth.errors.MissingExtraError, match=r"pip install 'isodepth\[progress\]'"
    ):
        pairwise(BAGS[:3], progress=True, **OPTIONS)


# -- invalid input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "samples is empty"),
        (BAGS[0], "an array of shape"),
        ("abc", "sequence of samples"),
        (3, "sequence of samples"),
        ([BAGS[0], BAGS[1][:, :2]], r"got 3 in samples\[0\] and 2 in samples\[1\]"),
        ([BAGS[0], np.where(BAGS[1] > 0, np.nan, BAGS[1])], r"samples\[1\] contains"),
        ([BAGS[0], [["a", "b", "c"]]], r"samples\[1\] must hold real numbers"),
        ([BAGS[0], BAGS[1].astype(np.float32)], r"samples\[1\].*float32.* dtype='float64'"),
        ([BAGS[0].astype(np.float32), BAGS[1]], r"samples\[1\] has dtype float64"),
    ],
)
def test_bad_samples_are_named(samples: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        pairwise(samples, **OPTIONS)  # type: ignore[arg-type]


def test_other_must_be_like_the_samples() -> None:
    with pytest.raises(InvalidInputError, match="columns differ: 3 and 2"):
        pairwise(BAGS[:2], [bag[:, :2] for bag in BAGS[:2]], **OPTIONS)
    with pytest.raises(InvalidInputError, match="differ in dtype"):
        pairwise(BAGS[:2], [bag.astype(np.float32) for bag in BAGS[:2]], **OPTIONS)
    with pytest.raises(InvalidInputError, match="differ in random_state"):
        pairwise(
            region_tables(BAGS[:2], **OPTIONS),
            region_tables(BAGS[:2], **{**OPTIONS, "random_state": 1}),
        )


def test_columns_must_have_the_same_names() -> None:
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame(bag, columns=list("abc")) for bag in BAGS[:3]]
    assert (pairwise(frames, **OPTIONS) == MATRIX[:3, :3]).all()
    assert region_tables(frames, **OPTIONS)[0].columns == ("a", "b", "c")
    frames[2] = frames[2].rename(columns={"a": "z"})
    named = {"may": BAGS[0], "june": np.where(BAGS[1] > 0, np.nan, BAGS[1])}
    for function in (isodepth.pairwise, isodepth.region_tables):
        with pytest.raises(InvalidInputError, match=r"samples\['june'\] contains"):
            function(named)
    with pytest.raises(InvalidInputError, match=r"'a' is only in samples\[0\], 'z' is only in"):
        pairwise(frames, **OPTIONS)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([None], "one entry for each of 2 samples, got 1"),
        (5, "must be a sequence"),
        ([np.ones(2), None], r"weights of samples\[0\] must have one number for each"),
        ([1, 2], r"weights of samples\[0\]"),
    ],
)
def test_bad_weights_are_named(weights: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        pairwise(BAGS[:2], weights=weights, **OPTIONS)


def test_bad_options() -> None:
    with pytest.raises(InvalidOptionError, match="cannot be refined, got refine=20"):
        region_tables(BAGS[:2], refine=20)
    with pytest.raises(InvalidOptionError, match="did you mean 'n_directions'"):
        pairwise(BAGS[:2], n_direction=20)
    for function in (isodepth.pairwise, region_tables):
        assert inspect.signature(function).parameters["levels"].annotation == "int"
        for levels in ("exact", "monte-carlo"):
            words = f"levels must be an integer >= 1, got '{levels}'; region tables need a fixed"
            with pytest.raises(InvalidOptionError, match=words):
                function(BAGS[:2], levels=levels)
        with pytest.raises(InvalidOptionError, match=r"^tables need .* got gap='exact'"):
            function(BAGS[:2], gap="exact")
    stack = region_tables(BAGS[:2], **OPTIONS)
    with pytest.raises(InvalidOptionError, match="p has no effect on tables"):
        pairwise(stack, p=1)
    for bad in (0, -2, 1.5, True):
        with pytest.raises(InvalidOptionError, match="n_jobs must be an integer"):
            pairwise(stack, n_jobs=bad)
    with pytest.raises(InvalidOptionError, match="weights has no effect on tables"):
        pairwise(stack, weights=[None, None])
    with pytest.raises(InvalidInputError, match=r"samples\[1\] is ndarray"):
        pairwise([stack[0], BAGS[0]])
    for first, second in ((stack, BAGS[:2]), (BAGS[:2], stack)):
        with pytest.raises(InvalidInputError, match="must both be tables or samples"):
            pairwise(first, second)


@pytest.mark.parametrize("scale", [None, "pooled", [1.0, 2.0, 3.0]])
def test_each_sample_is_checked_once(scale: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []

    def read_sample(X: Any, weights: Any, name: str, *args: Any, **options: Any) -> Any:
        checked.append(name)
        return validation.read_sample(X, weights, name, *args, **options)

    monkeypatch.setattr("isodepth.metric.metric.read_sample", read_sample)
    pairwise(BAGS[:3], BAGS[3:5], scale=scale, **OPTIONS)
    assert sorted(checked) == ["other[0]", "other[1]", *(f"samples[{i}]" for i in range(3))]


def test_chunks_and_arrays_share_a_scale() -> None:
    mixed = pairwise([isodepth.scan([BAGS[0]])], BAGS[1:3], scale="pooled", **OPTIONS)
    expected = pairwise(BAGS[:1], BAGS[1:3], scale="pooled", **OPTIONS)
    assert mixed == pytest.approx(expected, rel=1e-9)


def test_a_depth_that_cannot_order_warns_once() -> None:
    bags = [np.eye(3) + i for i in range(5)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pairwise(bags, **OPTIONS)
    assert [w.category for w in caught] == [isodepth.errors.DegenerateDepthWarning]
    assert caught[0].filename == __file__


# -- interrupts -----------------------------------------------------------------------------------

INTERRUPTED = """
import signal, sys, threading, time
import numpy as np
from isodepth import pairwise, region_tables
# Whoever runs the tests in the background may have told its children to ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
bags = [rng.normal(size=(300, 3)) for _ in range(4)]
work = region_tables(bags, n_directions=100, random_state=0)
if sys.argv[1] == "distances":
    work = [work[i % 4] for i in range(20_000)]
    options = {}
else:
    work = [bags[i % 4] for i in range(20_000)]
    options = {"n_directions": 100, "random_state": 0}
reached = threading.Event()
def announce():
    reached.wait()
    print("working", flush=True)
announcer = threading.Thread(target=announce)
announcer.start()
import tqdm.auto
class Bar(tqdm.auto.tqdm):
    def update(self, n=1):
        super().update(n)
        reached.set()
tqdm.auto.tqdm = Bar
try:
    pairwise(work, n_jobs=3, progress=True, **options)
except KeyboardInterrupt:
    announcer.join()
    # A thread caught in the middle of being started is not waited for; it ends without working.
    for _ in range(100):
        if threading.active_count() > 1:
            time.sleep(0.01)
    print("interrupted", threading.active_count(), flush=True)
"""


@pytest.mark.parametrize("phase", ["regions", "distances"])
def test_an_interrupt_ends_all_threads_soon(phase: str) -> None:
    pytest.importorskip("tqdm")
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, phase],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "working\n"
        child.send_signal(signal.SIGINT)
        # The whole matrix would take minutes. The tasks that are running take less than a second.
        out, _ = child.communicate(timeout=300)
    finally:
        child.kill()
        child.wait()
    assert out == "interrupted 1\n"
    assert child.returncode == 0


def test_a_matrix_has_its_settings_by_the_names_of_the_options() -> None:
    matrix = isodepth.pairwise(BAGS[:2], p=np.inf, levels=5, n_directions=7, random_state=3)
    wanted = {"p": np.inf, "levels": 5, "n_directions": 7, "random_state": 3, "depth": "projection"}
    assert matrix.settings is not None
    assert matrix.settings.items() >= wanted.items()
    assert matrix.settings.keys() <= {*inspect.signature(isodepth.pairwise).parameters, "gap"}
    in_json = json.loads(matrix.to_json())["settings"]
    assert in_json == matrix.settings | {"p": "inf", "q": "inf"}
    assert matrix.settings["q"] == np.inf
    tables = isodepth.region_tables(BAGS[:2], levels=5, random_state=4)
    assert isodepth.pairwise(tables).settings["random_state"] == 4  # type: ignore[index]


def test_settings_with_the_dtype_of_tables_repeat_the_distances() -> None:
    """The settings of a matrix contain `table_dtype`, so that they repeat its distances."""
    matrix = isodepth.pairwise(BAGS[:3], n_directions=7, random_state=3, table_dtype="float32")
    assert matrix.settings is not None
    again = isodepth.pairwise(BAGS[:3], **matrix.settings)
    assert np.array_equal(again, matrix)
    assert again.settings == matrix.settings


@pytest.mark.parametrize("function", [isodepth.pairwise, isodepth.region_tables])
def test_dropped_rows_are_reported(function: Any) -> None:
    bags = [
        pd.DataFrame(bag, columns=list("ab"))
        for bag in np.random.default_rng(0).normal(size=(3, 50, 2))
    ]
    bags[1].loc[:19, "b"] = np.nan
    options = {"nan_policy": "omit", "n_directions": 5, "random_state": 0}
    with pytest.warns(ColumnWarning, match=r"20 of 150 rows dropped: missing values in b \(20\)"):
        function(bags, **options)
