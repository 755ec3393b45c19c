"""Vector instructions on tiles of 64 bytes, for loops that a compiler does not vectorise itself.

These few operations on whole tiles stay in registers; LLVM maps them to whatever vectors the
processor has. `plain_lanes` has the same operations as loops. Types of what is loaded and stored
are given with every instruction: pointers of LLVM do not know what they point to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from isodepth.engine.compiled.jit import called_by_numba
from isodepth.engine.compiled.lite.kinds import FLOATS, Array, LiteError, Number
from isodepth.engine.compiled.lite.writer import Writer

#: The size of a tile.
TILE_BYTES = 64
#: What comparisons may take for granted: there are no NaN, and zeros have no sign.
_FINITE = "nnan nsz"


@called_by_numba
class Operation:
    """An operation on tiles: a text for LLVM, and the name of a loop that does the same."""

    def __init__(self, write: Callable[..., Any], plain_name: str) -> None:
        self._write = write
        self._plain_name = plain_name

    def write_call(self, out: Writer, *values: Any) -> Any:
        """Write its instructions; called while a loop is translated."""
        return self._write(out, *values)

    @property
    def by_numba(self) -> Any:
        """The loop that does the same."""
        import isodepth.engine.compiled.plain_lanes as plain

        return getattr(plain, self._plain_name)

    def __call__(self, *arguments: Any) -> Any:
        return self.by_numba(*arguments)


def _check_arrays(name: str, *arrays: Any, index: Any = None) -> None:
    """Refuse, while translating, arrays whose numbers do not lie as the instructions take them."""
    for array in arrays:
        if not isinstance(array, Array) or not array.type.dense:
            raise LiteError(f"{name} takes C-contiguous arrays, got {array}")
        real = arrays[0].type.element
        if array.type.element != real or array.element.kind not in FLOATS:
            raise LiteError(f"{name} takes arrays of one float dtype, got {real} and {array}")
    if index is not None and not (
        isinstance(index, Array) and index.type.dense and index.type.element == "q"
    ):
        raise LiteError(f"{name} takes a C-contiguous array of int64 numbers, got {index}")


class _Lanes:
    """Writes operations on tiles of one kind of float."""

    def __init__(self, out: Writer, array: Array) -> None:
        self.out = out
        self.number = array.element.kind
        self.bits = 8 * array.element.size
        self.width = TILE_BYTES // array.element.size
        self.type = f"<{self.width} x {self.number}>"
        self.mask = f"<{self.width} x i1>"

    def index(self, value: Any, factor: int = 1) -> str:
        """A whole number, perhaps times another."""
        text = self.out.cast(value, "i64").text
        return text if factor == 1 else self.out.set(f"mul nsw i64 {text}, {factor}")

    def sum(self, a: str, b: str | int) -> str:
        return self.out.set(f"add nsw i64 {a}, {b}")

    def _tile(self, array: Array, place: str) -> str:
        """Where the tile begins that starts at the flat `place` of an array."""
        return self.out.set(f"getelementptr {self.number}, ptr {array.data}, i64 {place}")

    def load(self, array: Array, place: str) -> str:
        return self.out.set(
            f"load {self.type}, ptr {self._tile(array, place)}, align {self.bits // 8}"
        )

    def store(self, vector: str, array: Array, place: str) -> None:
        at = self._tile(array, place)
        self.out.do(f"store {self.type} {vector}, ptr {at}, align {self.bits // 8}")

    def repeat(self, number: str) -> str:
        first = self.out.set(f"insertelement {self.type} poison, {self.number} {number}, i32 0")
        everywhere = f"<{self.width} x i32> zeroinitializer"
        return self.out.set(f"shufflevector {self.type} {first}, {self.type} poison, {everywhere}")

    def float_call(self, name: str, *arguments: str) -> str:
        given = [(self.type, one) for one in arguments]
        return self.out.call(f"llvm.{name}.v{self.width}f{self.bits}", self.type, *given)

    def larger(self, a: str, b: str) -> str:
        return self._choose(self.exceeds(a, b), a, b)

    def smaller(self, a: str, b: str) -> str:
        return self._choose(self.exceeds(b, a), a, b)

    def _choose(self, mask: str, a: str, b: str) -> str:
        return self.out.set(f"select {self.mask} {mask}, {self.type} {a}, {self.type} {b}")

    def exceeds(self, a: str, b: str) -> str:
        return self.out.set(f"fcmp {_FINITE} ogt {self.type} {a}, {b}")

    def either(self, a: str, b: str) -> str:
        return self.out.set(f"or {self.mask} {a}, {b}")

    def distance(self, a: str, b: str) -> str:
        return self.float_call("fabs", self.out.set(f"fsub {self.type} {a}, {b}"))

    def any(self, mask: str) -> str:
        """Whether any lane of a mask is set."""
        wide = f"<{self.width} x i{self.bits}>"
        lanes = self.out.set(f"sext {self.mask} {mask} to {wide}")
        name = f"llvm.vector.reduce.umax.v{self.width}i{self.bits}"
        found = self.out.call(name, f"i{self.bits}", (wide, lanes))
        return self.out.set(f"icmp ne i{self.bits} {found}, 0")

    def extreme(self, which: str, vector: str) -> Number:
        name = f"llvm.vector.reduce.{which}.v{self.width}f{self.bits}"
        found = self.out.call(name, self.number, (self.type, vector), flags=_FINITE)
        return Number(self.number, found)

    def products(self, tiles: Array, tile: Any, rows: Array, row: Any, height: int) -> list[str]:
        """Products of one tile with `height` rows, summed over the columns in their order."""
        out, d = self.out, tiles.shape[1]
        tile_start = self.out.set(f"mul nsw i64 {self.index(tile, self.width)}, {d}")
        starts = []
        for k in range(height):
            start = out.set(f"mul nsw i64 {self.sum(self.index(row), k)}, {d}")
            starts.append(self._tile(rows, start))
        sums = [out.place(self.type) for _ in range(height)]
        for total in sums:
            out.do(f"store {self.type} zeroinitializer, ptr {total}")
        with out.loop(d) as column:
            side = self.load(
                tiles, self.sum(tile_start, out.set(f"mul nsw i64 {column}, {self.width}"))
            )
            for start, total in zip(starts, sums, strict=True):
                at = out.set(f"getelementptr {self.number}, ptr {start}, i64 {column}")
                number = self.repeat(out.set(f"load {self.number}, ptr {at}"))
                before = out.set(f"load {self.type}, ptr {total}")
                after = self.float_call("fmuladd", number, side, before)
                out.do(f"store {self.type} {after}, ptr {total}")
        return [out.set(f"load {self.type}, ptr {total}") for total in sums]


def _multiplier(height: int) -> Callable[..., None]:
    """`multiply(tiles, tile, rows, row, out, place, stride)`.

    Writes the products of one tile with `height` rows, from `row` on, to the flat places `place`,
    `place + stride`, ... of `out`.
    """

    def multiply(
        out: Writer, tiles: Any, tile: Any, rows: Any, row: Any, to: Any, place: Any, stride: Any
    ) -> None:
        _check_arrays("multiply", tiles, rows, to)
        vectors = _Lanes(out, tiles)
        at = vectors.index(place)
        for k, vector in enumerate(vectors.products(tiles, tile, rows, row, height)):
            vectors.store(vector, to, vectors.sum(at, vectors.index(stride, k) if k else 0))

    return multiply


def _follower(height: int) -> Callable[..., Number]:
    """`follow(tiles, tile, rows, row, range_, tops, lows, moves, place)`.

    Widens `range_` (2, lanes), the lowest and highest products so far with each lane of a tile, to
    `height` more rows, from `row` on. For every row that widens it anywhere, `moves[place]` is its
    number, `place` rises by one, and that row of `lows` and `tops` (., lanes) is the new range.
    Returns the new place; what comes after it may be overwritten.
    """

    def follow(
        out: Writer, tiles: Any, tile: Any, rows: Any, row: Any, range_: Any, tops: Any, lows: Any,
        moves: Any, place: Any,
    ) -> Number:  # fmt: skip
        _check_arrays("follow", tiles, rows, range_, tops, lows, index=moves)
        vectors = _Lanes(out, tiles)
        products = vectors.products(tiles, tile, rows, row, height)
        ends = ["0", str(vectors.width)]
        low, top = (vectors.load(range_, end) for end in ends)
        highest = functools.reduce(vectors.larger, products)
        lowest = functools.reduce(vectors.smaller, products)
        at = vectors.index(place)
        result = [out.place("i64")]
        out.keep(Number("i64", at), "i64", result)
        wider = vectors.either(vectors.exceeds(highest, top), vectors.exceeds(low, lowest))
        some, done = out.label(), out.label()
        out.branch(vectors.any(wider), some, done)
        out.begin(some)
        for k, product in enumerate(products):
            wider = vectors.either(vectors.exceeds(product, top), vectors.exceeds(low, product))
            low, top = vectors.smaller(product, low), vectors.larger(product, top)
            number = vectors.sum(vectors.index(row), k)
            moved = out.set(f"getelementptr i64, ptr {moves.data}, i64 {at}")
            out.do(f"store i64 {number}, ptr {moved}")
            after = out.set(f"mul nsw i64 {vectors.sum(at, 1)}, {vectors.width}")
            vectors.store(low, lows, after)
            vectors.store(top, tops, after)
            at = vectors.sum(at, out.set(f"zext i1 {vectors.any(wider)} to i64"))
        for vector, end in zip((low, top), ends, strict=True):
            vectors.store(vector, range_, end)
        out.keep(Number("i64", at), "i64", result)
        out.begin(done)
        return out.kept("i64", result)  # type: ignore[no-any-return]

    return follow


def _widest_gap(out: Writer, tops: Any, lows: Any, one: Any, other: Any, gaps: Any) -> Number:
    """The largest distance of two tops or two lows, of rows `one` and `other` of (., lanes) arrays.

    The largest of each lane go to `gaps` (lanes,).
    """
    _check_arrays("widest_gap", tops, lows, gaps)
    vectors = _Lanes(out, tops)
    first, second = (vectors.index(row, vectors.width) for row in (one, other))
    above, below = (
        vectors.distance(vectors.load(array, first), vectors.load(array, second))
        for array in (tops, lows)
    )
    gap = vectors.larger(above, below)
    vectors.store(gap, gaps, "0")
    return vectors.extreme("fmax", gap)


def _nearest(folded: bool) -> Callable[..., Number]:
    """`nearest(values, place, center, target)`.

    The smallest distance to `target` of the tile of `values` (n,) that starts at `place`, or if
    `folded`, of their distances to `center`.
    """

    def nearest(out: Writer, values: Any, place: Any, center: Any, target: Any) -> Number:
        _check_arrays("nearest", values)
        vectors = _Lanes(out, values)
        middle, aim = (
            vectors.repeat(out.cast(number, vectors.number).text) for number in (center, target)
        )
        tile = vectors.load(values, vectors.index(place))
        if folded:
            tile = vectors.distance(tile, middle)
        return vectors.extreme("fmin", vectors.distance(tile, aim))

    return nearest


multiply_four = Operation(_multiplier(4), "multiply_four")
multiply_one = Operation(_multiplier(1), "multiply_one")
follow_four = Operation(_follower(4), "follow_four")
follow_one = Operation(_follower(1), "follow_one")
widest_gap = Operation(_widest_gap, "widest_gap")
nearest = Operation(_nearest(False), "nearest")
nearest_folded = Operation(_nearest(True), "nearest_folded")
