"""Every entry point of the core refuses arrays that its kernels cannot handle.

With one of these arrays, a kernel would access memory outside of its arrays, or not end.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import isodepth
from isodepth import _core

N, D, K, LEVELS = 12, 3, 5, 4
RNG = np.random.default_rng(0)
POINTS, OTHERS = RNG.standard_normal((2, N, D))
DIRECTIONS = RNG.standard_normal((K, D))
WEIGHTS = np.arange(1, N + 1)
SIZES = np.array([1, 4, 4, N])
MASSES = np.arange(1, N + 1) / N
BITS = 2
WORDS = RNG.integers(1, 2**63, (1, N), dtype=np.uint64)
# Row 0 is in the second sample in all labelings, and row 1 in the first: no sample is empty.
WORDS[0, 0], WORDS[0, 1] = 0, 2**64 - 1
TABLES = RNG.standard_normal((2, LEVELS, 2 * K))
NUMBERS = {"n_threads": 1, "memory_mb": 10.0}


ALONG = np.ones(K)
DEPTH = {"points": POINTS, "directions": DIRECTIONS, "weights": WEIGHTS, "queries": OTHERS}
HULLS = {"first": POINTS, "second": OTHERS, "stops": np.stack([SIZES, SIZES])}
CELLS = {"middles": ALONG, "scales": ALONG, "bits": BITS}
THREAD = {"n_threads": 1}
LABELS = {"words": WORDS, "count": 64} | THREAD
CHUNK = {"points": POINTS, "center": np.zeros(D), "directions": DIRECTIONS, "weights": WEIGHTS}
#: Valid arguments of every entry point.
CALLS: dict[str, dict[str, Any]] = {
    "largest_outlyingness": DEPTH | NUMBERS,
    "smallest_halfspace": DEPTH | NUMBERS,
    "mean_rank_weight": DEPTH | NUMBERS,
    "centered_rank_sums": {"points": POINTS, "directions": DIRECTIONS, "weights": WEIGHTS},
    "mean_squared_rank": {
        "distances": np.abs(np.subtract.outer(MASSES, MASSES)), "shares": np.full(N, 1 / N),
    } | THREAD,
    "project": {"points": POINTS, "directions": DIRECTIONS} | THREAD,
    "order": {"values": MASSES} | THREAD,
    "take_rows": {"rows": POINTS, "order": np.arange(N)} | THREAD,
    "center_and_exponent": {"points": POINTS},
    "distinct_rows": {"rows": POINTS, "weights": WEIGHTS} | THREAD,
    "quantile": {"rows": POINTS.T.copy(), "q": 0.3, "weights": WEIGHTS} | THREAD,
    "gaps": {
        "x": POINTS, "y": OTHERS, "prefix_sizes_x": SIZES, "prefix_sizes_y": SIZES,
        "directions": DIRECTIONS, "q": 2.0,
    } | NUMBERS,
    "refined_gaps": {
        "x": POINTS, "y": OTHERS, "prefix_sizes_x": SIZES, "prefix_sizes_y": SIZES,
        "shares": np.full(LEVELS, 1 / LEVELS), "directions": DIRECTIONS, "n_ascents": 3, "steps": 5,
        "slack": 0.01, "points_x": POINTS, "points_y": OTHERS, "exponent": 0, "limit": 1e9,
    } | NUMBERS,
    "supports": {"ordered": POINTS, "prefix_sizes": SIZES, "directions": DIRECTIONS} | NUMBERS,
    "table_distances": {
        "rows": TABLES, "columns": TABLES + 1, "p": 2.0, "q": 2.0, "length": 1.0,
    } | THREAD,
    "tie_ends": {"falling": -MASSES, "tolerance": 0.0},
    "merge_levels": {
        "masses_x": MASSES, "counts_x": WEIGHTS, "masses_y": MASSES, "counts_y": WEIGHTS,
        "end": 0.9, "last": 0.8,
    },
    "power_mean": {"gaps": MASSES, "shares": MASSES, "p": 2.0, "length": 1.0},
    "nearest_in_hull": {"points": POINTS, "queries": OTHERS},
    "hull_levels": HULLS | {"attained": np.zeros(LEVELS), "slack": 0.01, "limit": 1e9},
    "ascent": HULLS | THREAD | {
        "starts": DIRECTIONS, "n_ascents": 3, "steps": 5, "slack": 0.01,
    },
    "halfspace_masses": {"points": POINTS, "masses": WEIGHTS, "queries": OTHERS} | THREAD,
    "label_distances": LABELS | {
        "points": POINTS, "directions": DIRECTIONS, "betas": np.array([0.0, 0.5]), "q": 2.0,
        "p": 2.0,
    },
    "share_differences": LABELS | {
        "values": POINTS.T.copy(), "cuts": 9, "clip": (0.25, 0.75),
        "limits": np.tile([-9.0, 9.0], (POINTS.shape[1], 1)),
    },
    "Chunk": CHUNK | THREAD | {"exponent": 0},
    "Chunk.numbers_inside": {
        "low": -ALONG, "high": ALONG, "most": np.full(K, 99), "centers": 0 * ALONG, "typical": 1.0,
    },
    "Chunk.count_rank_cells": CELLS | {"counts": np.zeros((K, 16 << BITS), dtype=np.int64)},
    "Chunk.outlyingness": {"medians": ALONG, "mads": ALONG, "scales": ALONG, "typical": 1.0},
    "Chunk.rank_bounds": CELLS | {"bounds": np.ones((K, 16 << BITS, 2)), "smallest": True},
}  # fmt: skip
#: Numbers outside of their range.
WRONG_NUMBERS: dict[str, list[tuple[str, Any]]] = {
    "quantile": [("q", -0.1), ("q", 1.1), ("q", np.nan)],
    "take_rows": [("order", np.full(N, N)), ("order", np.full(N, -1))],
    "gaps": [("q", 0.5), ("q", np.nan), ("n_threads", 0), ("memory_mb", -1.0)],
    "refined_gaps": [
        ("n_ascents", -1),
        ("steps", -1),
        ("slack", np.nan),
        ("limit", np.nan),
        ("points_y", 1e200 * POINTS),
        ("n_threads", 0),
    ],
    "table_distances": [("q", 0.5), ("p", 0.0), ("p", np.nan), ("length", -1.0)],
    "power_mean": [("p", 0.0), ("p", np.nan), ("gaps", -MASSES)],
    "merge_levels": [("last", 1.5), ("last", np.nan), ("masses_x", MASSES[::-1].copy())],
    "hull_levels": [("slack", -1.0), ("slack", np.nan), ("limit", np.nan)],
    "ascent": [("n_ascents", 0), ("steps", -1), ("slack", np.nan)],
    "label_distances": [("count", 0), ("count", 65), ("betas", np.array([1.0])), ("q", 0.0)],
    "share_differences": [
        ("count", 0),
        ("count", 65),
        ("cuts", 0),
        ("words", 0 * WORDS),
        ("clip", (0.5, 0.5)),
        ("clip", (-0.1, 0.5)),
        ("clip", (0.5, np.nan)),
    ],
    "Chunk": [("exponent", 10**6), ("n_threads", 0)],
    "Chunk.count_rank_cells": [("bits", -1), ("bits", 30), ("bits", BITS + 1)],
    "Chunk.rank_bounds": [("bits", -1), ("bits", 30), ("bits", BITS + 1)],
    "nearest_in_hull": [("points", 1e200 * POINTS), ("queries", 1e200 * POINTS)],
    "halfspace_masses": [("points", POINTS[:, :1].copy()), ("points", 1e300 * POINTS)],
}
#: Arrays that may hold any values, or be empty, or have any length.
INFINITE = {
    ("take_rows", "rows"),
    ("Chunk.numbers_inside", "low"),
    ("Chunk.numbers_inside", "high"),
}
EMPTY = {(name, "queries") for name in CALLS}
ANY_LENGTH = {
    ("order", "values"), ("take_rows", "order"), ("tie_ends", "falling"),
    ("label_distances", "betas"), ("supports", "prefix_sizes"),
}  # fmt: skip
SIZE_NAMES = {"weights", "masses", "prefix_sizes", "prefix_sizes_x", "prefix_sizes_y", "stops"}


def at_odd_address(array: np.ndarray) -> np.ndarray:
    """Return a contiguous copy that is not aligned in memory."""
    moved = np.ndarray(array.shape, array.dtype, buffer=bytearray(array.nbytes + 1), offset=1)
    moved[...] = array
    return moved


def wrong_arrays(call: str, name: str, array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield pairs of a description and an invalid variant of `array`.

    `array` is the valid argument `name` of the entry point `call`.
    """
    place = call, name
    if place not in EMPTY:
        yield "empty", np.empty((0, *array.shape[1:]), array.dtype)
    yield "another number of dimensions", array[None]
    yield "an odd address", at_odd_address(array)
    # A chunk converts its arrays; all other entry points take them as they are.
    taken = not call.startswith("Chunk")
    if taken:
        yield "another dtype", array.astype(np.int16)
    if array.ndim > 1:
        if taken:
            yield "another order", np.asfortranarray(np.concatenate([array, array]))
        if array.ndim == 2 and place not in EMPTY | {("order", "values")}:
            yield "no columns", np.empty((len(array), 0), array.dtype)
    else:
        if taken:
            yield "every other value", np.repeat(array, 2)[::2]
        if place not in ANY_LENGTH and len(array) > 1:
            yield "too short", array[:-1].copy()
            yield "too long", np.append(array, array[-1:])
    if array.dtype == np.float64:
        for value in () if place in INFINITE else (np.nan, np.inf, -np.inf):
            wrong = array.copy()
            wrong.flat[array.size // 2] = value
            yield f"a value {value}", wrong
    if name in SIZE_NAMES:
        for value in (-1, 2**62):
            wrong = array.copy()
            wrong.flat[array.size // 2] = value
            yield f"a size of {value}", wrong


def cases() -> Iterator[Any]:
    for call, arguments in CALLS.items():
        for name, value in arguments.items():
            if isinstance(value, np.ndarray):
                for what, wrong in wrong_arrays(call, name, value):
                    yield pytest.param(call, name, wrong, id=f"{call}-{name}-{what}")
        for name, value in WRONG_NUMBERS.get(call, []):
            yield pytest.param(call, name, value, id=f"{call}-{name}-{str(value)[:9]}")


def run(call: str, **changed: Any) -> None:
    """Call the entry point `call` of the core with valid arguments, some replaced by `changed`.

    Every array has its own allocation, so that a sanitizer detects an access outside of the array.
    """
    arguments = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in CALLS[call].items()
    }
    function = getattr(_core, call, _core.Chunk64)
    if call.startswith("Chunk."):
        function = getattr(_core.Chunk64(**CALLS["Chunk"]), call.removeprefix("Chunk."))
    function(**{**arguments, **changed})


def test_all_entry_points_are_listed() -> None:
    module = import_module(f"isodepth._core.{_core.instruction_set}")
    names = {name for name, value in vars(module).items() if callable(value) and name[0] != "_"}
    assert names - {"StopFlag", "Chunk32", "Chunk64"} == {
        name for name in CALLS if not name.startswith("Chunk")
    }


@pytest.mark.parametrize("call", CALLS)
def test_valid_arguments_are_accepted(call: str) -> None:
    run(call)


@pytest.mark.parametrize(("call", "name", "wrong"), list(cases()))
def test_wrong_arguments_are_refused(call: str, name: str, wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError, IndexError)):
        run(call, **{name: wrong})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_more_values_than_a_sort_can_index_are_refused(dtype: str) -> None:
    # The memory pages of these zeros are never accessed.
    with pytest.raises(ValueError, match=r"2\*\*30"):
        _core.order(np.zeros(2**30, dtype))
    with pytest.raises(ValueError, match=r"2\*\*30"):
        _core.smallest_halfspace(np.zeros((2**30, 1), dtype), np.ones((1, 1), dtype))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_outliers_among_more_values_than_a_float_counts(dtype: str, n_threads: int) -> None:
    values = np.random.default_rng(0).standard_normal(2**23 + 2).astype(dtype)
    values[[5, 77, -1]] = 1e30, -1e30, 2e30
    order = _core.order(values, n_threads)
    assert (np.diff(values[order]) >= 0).all()
    assert order[-1] == len(values) - 1
    depth = _core.smallest_halfspace(values[:, None], np.ones((1, 1), dtype), n_threads=n_threads)
    expected = np.empty(len(values), dtype=np.int64)
    # Equal values have the mass of all of them on both sides.
    rising = values[order]
    first = np.searchsorted(rising, rising)
    last = np.searchsorted(rising, rising, side="right")
    expected[order] = np.minimum(last, len(values) - first)
    np.testing.assert_array_equal(depth, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_samples_that_are_not_aligned_are_copied(dtype: str) -> None:
    x, y = POINTS.astype(dtype), OTHERS.astype(dtype)
    expected = isodepth.distance(x, y, random_state=0)
    moved = at_odd_address(x)
    assert moved.flags.c_contiguous
    assert not moved.flags.aligned
    assert isodepth.distance(moved, at_odd_address(y), random_state=0) == expected
    assert isodepth.distance(moved, y, weights=(at_odd_address(WEIGHTS), None), random_state=0) == (
        isodepth.distance(x, y, weights=(WEIGHTS, None), random_state=0)
    )
