"""Loops that are translated against the same functions run by Python."""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth.engine.compiled.lite.kinds import LiteError
from isodepth.engine.compiled.lite.loop import loop

_FACTOR = 3
_TABLE = (0.25, 0.5)


class Room(NamedTuple):
    """A record, to be passed on and taken apart."""

    values: Any
    index: Any


def outcome(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """What is returned, and the arguments afterwards."""
    arguments = copy.deepcopy(arguments)
    return function(*arguments), arguments


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a is b if a is None else np.array_equal(a, b, equal_nan=True)


def check(function: Any, *arguments: Any) -> None:
    """Python and machine code give the same bits, and leave the same bits behind."""
    with np.errstate(all="ignore"):
        wanted = outcome(function.__wrapped__, arguments)
    found = outcome(function, arguments)
    assert same(found, wanted), (found, wanted)
    if isinstance(wanted[0], bool):
        assert isinstance(found[0], bool)


@loop
def _arithmetic(x, y, i, j, out):
    out[0] = x + y
    out[1] = x - 2 * y
    out[2] = x * y - -x
    out[3] = x / y
    out[4] = i // j
    out[5] = i % j
    out[6] = (i << 2) + (i >> 1)
    out[7] = (i & 6) | (j & 1)
    out[8] = abs(x) + abs(i)
    out[9] = min(i, j) - max(i, j)
    out[10] = math.sqrt(abs(x)) + x * x
    out[11] = -x
    out[12] = i / j
    out[13] = np.int64(x * 8.0)
    out[14] = _FACTOR * _TABLE[1] + _TABLE[out.itemsize // 8] + np.inf
    out[15] = abs(x) ** y
    out[16] = (i ^ j) + (~i)
    out[17] = i & ~(-1 << (j & 63))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(0.1, 3.0), st.integers(-1000, 1000), st.integers(1, 1000))
def test_arithmetic(x: float, y: float, i: int, j: int) -> None:
    check(_arithmetic, x, y, i, j, np.zeros(18))


@loop
def _square(x):
    return x**2


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.floats(-1e6, 1e6))
def test_squares_are_products(x: float) -> None:
    # The power of a C library may be off by an ulp, and is on some machines.
    assert _square(x) == x * x


@loop
def _hypotenuse(x, y):
    return math.hypot(x, y)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(0.1, 3.0))
def test_hypotenuse(x: float, y: float) -> None:
    # The system's own, which rounds to one of the two neighbors; Python has another.
    assert abs(_hypotenuse(x, y) - math.hypot(x, y)) <= math.ulp(math.hypot(x, y))


@loop
def _logarithms(x, out):
    out[0] = math.exp(x)
    out[1] = math.expm1(x)
    out[2] = math.log(abs(x) + 0.5)
    out[3] = math.log1p(abs(x))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.floats(-500, 500))
def test_exponentials_and_logarithms(x: float) -> None:
    found, wanted = np.zeros(4), np.zeros(4)
    _logarithms(x, found)
    _logarithms.__wrapped__(x, wanted)
    # The same library of C in most cases; where it is not, the last digit may differ.
    np.testing.assert_allclose(found, wanted, rtol=2 * np.finfo(float).eps)


@loop
def _comparisons(a, b, c, out):
    out[0] = a < b
    out[1] = a <= b
    out[2] = a > b
    out[3] = a >= b
    out[4] = a == b
    out[5] = a != b
    out[6] = a <= b < c
    out[7] = a < b and b < c
    out[8] = a < b or b < c
    out[9] = not a < b
    out[10] = (a < b) & (b < c)
    out[11] = (a < b) | (b < c)


@pytest.mark.parametrize("kind", [float, int, np.float32])
def test_comparisons(kind: Any) -> None:
    for a in range(3):
        for b in range(3):
            for c in range(3):
                check(_comparisons, kind(a), kind(b), kind(c), np.zeros(12, dtype=np.int64))


def test_nothing_compares_with_nan() -> None:
    for a, b in ((np.nan, 1.0), (1.0, np.nan), (np.nan, np.nan)):
        check(_comparisons, a, b, 1.0, np.zeros(12, dtype=np.int64))


@loop
def _control(values, stop):
    total = 0
    for i in range(values.shape[0]):
        if values[i] < 0:
            continue
        if i == stop:
            break
        total += i
    else_total = 0.0
    for i in range(values.shape[0] - 1, -1, -1):
        else_total = else_total * 0.5 + values[i]
    for i in range(1, values.shape[0], 3):
        else_total += values[i]
    count = 0
    while True:
        count += 1
        if count * count > stop:
            break
    sign = 1 if total > count else -1
    wide = sign
    wide = wide + 0.5
    return total, else_total, count, sign, wide, total > 3


@pytest.mark.parametrize("n", [0, 1, 2, 17])
def test_control(n: int) -> None:
    values = np.random.default_rng(n).standard_normal(n)
    for stop in (0, 3, 100):
        check(_control, values, stop)


@loop
def _two_kinds(flag):
    """Returns an integer or a float: a float, wherever it ends."""
    if flag:
        return 1
    return 0.5


def test_results_take_the_wider_kind() -> None:
    assert (_two_kinds(True), _two_kinds(False)) == (1.0, 0.5)
    assert isinstance(_two_kinds(True), float)


@loop
def _arrays(room, table, flags, small):
    values, index = room
    n, d = table.shape
    for i in range(n):
        row = table[i]
        for k in range(d):
            row[k] += values[k] * i
    chosen = table[0] if n > 1 else values
    part = values[1:]
    front = room.values[: d - 1]
    for k in range(part.shape[0]):
        part[k] = part[k] + chosen[k]
    for i in range(index.shape[0]):
        index[i] += small[i] + flags[i]
        flags[i] = not flags[i]
        small[i] -= 250
    return front.shape[0], table[n - 1, d - 1]


@pytest.mark.parametrize("real", ["float32", "float64"])
@pytest.mark.parametrize("whole", ["int64", "int32", "uint32", "uint8"])
def test_arrays(real: str, whole: str) -> None:
    rng = np.random.default_rng(0)
    room = Room(rng.standard_normal(3).astype(real), np.arange(4).astype(whole))
    flags = np.array([True, False, True, False])
    # Numbers of eight bits wrap around, as they do in NumPy.
    small = np.array([251, 252, 253, 255], dtype=np.uint8)
    for n in (1, 2):
        check(_arrays, room, rng.standard_normal((n, 3)).astype(real), flags, small)


@loop
def _sum_of(table):
    total = 0.0
    for i in range(table.shape[0]):
        for k in range(table.shape[1]):
            total += table[i, k]
        table[i, 0] = total
        last = table[i]
        last[1] = -1.0
    return total


def test_arrays_that_are_not_contiguous() -> None:
    base = np.random.default_rng(1).standard_normal((6, 8))
    for view in (base[::2], base[:, 1:5], base.T, base[::-1, ::-2], base[1:3]):
        copied = view.copy()
        assert _sum_of(view) == _sum_of.__wrapped__(copied)
        assert np.array_equal(view, copied)


@loop
def _single(x, out):
    real = out.dtype.type
    half = real(0.5)
    out[0] = half * x + real(0.1)
    out[1] = x / real(3)
    out[2] = np.sqrt(x)
    out[3] = np.float64(x) * 0.1


def test_single_precision_rounds_once_a_step() -> None:
    for x in np.random.default_rng(2).random(50).astype(np.float32):
        check(_single, x, np.zeros(4, dtype=np.float32))


@loop
def _twice(x):
    return x + x


@loop
def _calls(i, x):
    return _twice(i), _twice(x), _twice(_twice(1))


def test_calls() -> None:
    check(_calls, 3, 0.1)
    check(_calls, np.int64(3), np.float64(0.1))


@loop(fastmath={"nnan", "nsz"})
def _largest(values):
    largest = values[0]
    for i in range(values.shape[0]):
        largest = values[i] if values[i] > largest else largest
    return largest


def test_liberties_of_arithmetic_are_passed_on() -> None:
    check(_largest, np.random.default_rng(3).standard_normal(101))
    assert _largest.lite_source.flags == "nnan nsz"


def test_numba_gives_the_same() -> None:
    for function, arguments in (
        (_arithmetic, (-2.5, 0.75, -7, 3, np.zeros(18))),
        (_control, (np.arange(5.0), 3)),
        (_calls, (3, 0.1)),
    ):
        translated, compiled = (outcome(f, arguments) for f in (function, function.by_numba))
        assert same(translated, compiled)


# What is not in the subset is refused, with the line.


@loop
def _makes_a_list(x):
    return [x]


@loop
def _loops_over_an_array(values):
    for value in values:
        return value
    return 0.0


@loop
def _is_two_things(values):
    thing = values
    thing = 1.0
    return thing


@loop
def _calls_something_else(x):
    return math.gamma(x)


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        (_makes_a_list, (1,), "List is not translated"),
        (_loops_over_an_array, (np.zeros(2),), "only loops over a range"),
        (_is_two_things, (np.zeros(2),), "cannot be both"),
        (_calls_something_else, (1.0,), "gamma.* is not translated"),
        (_twice, ("text",), "arrays and numbers, got 'text'"),
        (_calls, (1,), "takes 2 arguments, got 1"),
    ],
)
def test_what_is_not_translated_is_refused(
    function: Any, arguments: tuple[Any, ...], reason: str
) -> None:
    with pytest.raises(LiteError, match=reason):
        function(*arguments)


def test_arrays_of_other_numbers_are_left_to_numba() -> None:
    assert _largest(np.array([1, 5, 3], dtype=np.int16)) == 5


def test_source_that_is_not_there_is_an_error() -> None:
    made = {"loop": loop, "__name__": "made"}
    exec("@loop\ndef made(x):\n    return x\n", made)
    with pytest.raises(LiteError, match="source of made"):
        made["made"](1.0)  # type: ignore[operator]
